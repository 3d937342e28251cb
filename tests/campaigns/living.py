"""`living`: what others made is imported, edited live, adopted, edited in git, and rolled back.

One world is a service of its own in this process, of any profile, with objects of all five kinds
that another client made. After each deed the plan keeps everything, no value that nobody
meant to change is lost, and no edit of what can be read is missed.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.emulated import Emulated
from harness.profiles import profile, reads_of
from imports import KINDS, World
from stage import Stage, Tally
from world_content import Content, Spec
from world_deeds import alert_id, unlisted
from world_edits import with_ids
from world_laws import OWNED, unseen
from world_others import Others, without_times
from world_service import ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS, WEB, Live
from worlds import drawing

from reconciler.source.reading import read_text

CONSENT = ("--yes", "--allow-destroy", "--override-guard", "campaign")
MOVING = OWNED | frozenset(
    (
        *("alertVersionId", "createdTime", "updatedTime", "lastTriggeredTime", "status"),
        *("authorId", "authorName", "createdOriginType", "updatedOriginType"),
        *("updaterAuthorId", "updaterName", "lockerAuthorId", "lockerName", "companyId"),
    )
)
"""What a service sets anew at a write."""
LARGEST_ROUNDED = 1e4
IN_PART = 3


def live_first(stage: Stage, count: int, seed: int) -> Tally:
    """Live through so many worlds; a broken law is told with its world."""
    tally = Tally()
    for number in range(seed * 100_000, seed * 100_000 + count):
        folder = stage.root / f"living{number}"
        folder.mkdir()
        world = Living(number, folder)
        try:
            world.live(tally)
        except AssertionError as broken:
            tally.fail("L", f"world {number} {dict(world.profile)}: {broken}"[:3000])
        tally.counts["cases"] += 1
        shutil.rmtree(folder)
    return tally


@dataclass(frozen=True)
class Person:
    """The service as somebody else has it: over the API, and in the web interface."""

    emulated: Emulated

    def api(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Ask an endpoint of the API."""
        answer = self.emulated.send(method, path, body)
        return answer.status, answer.body

    def live(self) -> Live:
        """Return all there is, by kind and id."""
        found: Live = {}
        for kind, what in WEB.items():
            records = self.emulated.web(what)
            if kind == "LogPolicySet":
                found[kind] = {"all": records}
                continue
            ids = [one["dashboard"] if kind == "Dashboard" else one for one in records]
            found[kind] = {str(own["id"]): one for own, one in zip(ids, records, strict=True)}
        return found


class Living(World):
    """A world that begins with what is live."""

    def live(self, tally: Tally) -> None:
        """Live through all of it. Raises AssertionError."""
        chance = drawing(self.number)
        with self._service():
            self._settle()
            self._make(chance)
            self._import_all(chance, tally)
            self._keeps("import")
            if self._edit_live(chance, tally):
                self._edit_git(chance, tally)

    def _settle(self) -> None:
        super()._settle()
        reads = reads_of(self.profile)
        file = self.folder / "reconciler.yaml"
        project = json.loads(file.read_text(encoding="utf-8"))
        project["environments"]["local"]["api"].update({"reads": reads} if reads else {})
        file.write_text(json.dumps(project), encoding="utf-8")

    def _person(self) -> Person:
        ids = [alert_id(f"#{index}") for index in range(3)]
        chosen = profile(self.profile)
        return Person(Emulated(self.folder / "data.db", alert_ids=ids, profile=chosen))

    def _content(self, chance: random.Random) -> Content:
        return Content(chance, self.profile, plain_policies=True)

    def _import_all(self, chance: random.Random, tally: Tally, *, again: bool = False) -> None:
        """Import what can be read from the service, so that it has a base, and the rest too."""
        readable = {"AlertDefinition", "SavedView"} - unseen(self.profile) - unlisted(self.profile)
        nouns = {"AlertDefinition": "alert", "SavedView": "view"}
        tables = {"AlertDefinition": "alert_definitions", "SavedView": "saved_views"}
        for kind in sorted(readable):
            ids = [str(one["id"]) for one in self._stored(tables[kind])]
            ran = self._run("import", nouns[kind], "--", *ids)
            assert ran.code == 0, (kind, ran)
        super()._import_all(chance, tally, again=again)

    # What others do.

    def _make(self, chance: random.Random) -> None:
        """Let somebody make one or two of each kind; a dashboard has a slug or none."""
        person, content = self._person(), self._content(chance)
        for kind in KINDS:
            for index in range(0 if kind in unlisted(self.profile) else chance.randint(1, 2)):
                spec = content.spec(kind, f"{kind}{index}x", [])
                status = self._made(person, kind, index, spec, content)
                assert status in (200, 201, 409), (kind, status, spec)
        if self._has_policies:
            policies = content.spec("LogPolicySet", "", [])
            status, answer = person.api("POST", OVERWRITE, policies)
            assert status in (200, 201), answer
        person.emulated.app.state.store.close()

    def _made(self, person: Person, kind: str, index: int, spec: Spec, content: Content) -> int:
        match kind:
            case "SLO":
                return person.api("POST", SLOS, spec)[0]
            case "AlertDefinition":
                item = {"id": alert_id(f"#{index}"), "alertDefProperties": spec}
                return person.api("PUT", ALERTS, {"alertDefsToReplace": [item]})[0]
            case "Dashboard":
                board = without_times(spec["dashboard"])
                if self.profile.get("requiredFields") == "observed" or content.sometimes(0.7):
                    board = with_ids(board, content)
                if content.sometimes(0.7):
                    board.pop("slugName", None)
                body = {**spec, "dashboard": board, "requestId": f"theirs {index}"}
                return person.api("POST", DASHBOARDS, body)[0]
            case _:
                spec.pop("isCompactMode", None)
                return person.api("POST", VIEWS, spec)[0]

    def _edit_live(self, chance: random.Random, tally: Tally) -> bool:
        """Let somebody edit what can be read: it is seen, adopted, and then all is kept.

        Returns whether all of it was adopted.
        """
        person = self._person()
        before = person.live()
        others = Others(person, self._content(chance))  # type: ignore[arg-type]  # asks as a service does
        blind = {*unseen(self.profile), *unlisted(self.profile)}
        for kind, held in before.items():
            frozen = kind == "SLO" and self.profile.get("slis") == "documented"
            hidden = kind == "LogPolicySet" and self.profile.get("policySeverities") != "returned"
            if (
                kind in blind
                or frozen
                or hidden
                or (kind == "LogPolicySet" and not self._has_policies)
            ):
                continue
            for own in held:
                tally.counts["live edits"] += others.edit(kind, own, f"E{own}x")
        after = person.live()
        person.emulated.app.state.store.close()
        edited = {kind for kind in before if [*_lost(before[kind], after[kind])]}
        if not edited:
            return True
        planned = self._plan()["changes"]
        seen = {one["ref"].partition("/")[0] for one in planned if one["action"] != "keep"}
        assert edited <= seen, f"edits missed: {edited - seen}: {_first(before, after)}"
        tally.counts["edits seen"] += len(edited)
        ran = self._run("adopt", "--all")
        if ran.code == IN_PART and "cannot be edited without a change of something else" in ran.out:
            # As docs/adopt.md says: a person edits such a text.
            tally.counts["adopting refused"] += 1
            return False
        assert ran.code == 0, ("adopt", ran.code, ran.out[-600:], ran.err[-600:])
        self._keeps("adopt")
        self._applied_without_a_write("adopt", after)
        return True

    # What we do.

    def _edit_git(self, chance: random.Random, tally: Tally) -> None:
        """Edit manifests, apply, and roll back: only what was edited changes, and comes back."""
        person = self._person()
        before = person.live()
        texts = self._described(chance)
        if not texts:
            return
        applied = self._run("apply", *CONSENT)
        assert applied.code == 0, ("apply", applied.code, applied.out[-600:], applied.err[-600:])
        self._keeps("apply")
        written = person.live()
        lost = [*_lost(before, written, ignoring=frozenset(("description", "name")))]
        assert not lost, f"values lost by an apply: {lost[:3]}"
        undone = self._run("rollback", "last", *CONSENT)
        assert undone.code == 0, ("rollback", undone.code, undone.out[-600:], undone.err[-600:])
        left = [*_lost(before, person.live()), *_lost(person.live(), before)]
        assert not left, f"not as before the run: {left[:3]}"
        person.emulated.app.state.store.close()
        for file, text in texts.items():
            (self.folder / file).write_text(text, encoding="utf-8")
        self._keeps("rollback")
        tally.counts["rolled back"] += 1

    def _described(self, chance: random.Random) -> dict[str, str]:
        """Give some manifests another description; returns what they said before, by file."""
        texts: dict[str, str] = {}
        skipped = {*unseen(self.profile), *unlisted(self.profile)}
        if self.profile.get("slis") == "documented":
            skipped.add("SLO")
        for file in self._manifests():
            text = file.read_text(encoding="utf-8")
            document: Any = read_text(text).documents[0].value
            kind = document["kind"]
            spec = document["spec"].get("dashboard", document["spec"])
            if kind in skipped or kind in ("LogPolicySet", "SavedView") or "file" in spec:
                continue
            if chance.random() < 0.8:
                texts[str(file.relative_to(self.folder))] = text
                # What nobody declared is not put back by a rollback of what was declared.
                field = "description" if "description" in spec else "name"
                spec[field] = f"{spec[field][:40]} git {chance.randint(1, 99)}"
                file.write_text(json.dumps(document), encoding="utf-8")
        return texts

    def _manifests(self) -> list[Any]:
        files = self.folder.rglob("*.yaml")
        apart = (".exports", ".reconciler")
        return sorted(
            file
            for file in files
            if file.name != "reconciler.yaml" and not set(apart) & {*file.parts}
        )

    def _keeps(self, after: str) -> None:
        """See that nothing is left to do."""
        plan = self._plan()
        odd = [
            (one["ref"], one["action"], one["fields"][:2], one["notes"])
            for one in plan["changes"]
            if one["action"] != "keep"
        ]
        assert not odd, f"not settled after {after}: {odd[:3]}"
        assert plan["orphans"] == plan["unsettled"] == [], after

    def _applied_without_a_write(self, after: str, live: Live) -> None:
        ran = self._run("apply", *CONSENT)
        assert ran.code == 0, (after, ran.code, ran.err[-600:])
        person = self._person()
        now = person.live()
        person.emulated.app.state.store.close()
        assert now == live, f"an apply after {after} wrote: {[*_lost(live, now)][:3]}"


def _first(before: Any, after: Any) -> list[str]:
    return [*_lost(before, after)][:3]


def _lost(
    before: Any, after: Any, place: str = "", ignoring: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield the values of one side that the other has otherwise, or not at all.

    What a service sets anew is none of them, and a zero is as good as nothing. Lists of
    plain values are sets, as services may order them.
    """
    if isinstance(before, dict):
        there = after if isinstance(after, dict) else {}
        for key, value in before.items():
            # Keys inside what is opaque may be called so too, and are compared with the rest.
            if key not in (MOVING | ignoring if place.count(".") < 4 else ignoring):
                yield from _lost(value, there.get(key), f"{place}.{key}", ignoring)
    elif isinstance(before, list) and any(isinstance(one, dict | list) for one in before):
        others = after if isinstance(after, list) else []
        if len(others) != len(before):
            yield f"{place}: {len(before)} items became {len(others)}"
            return
        for at, (one, other) in enumerate(zip(before, others, strict=True)):
            yield from _lost(one, other, f"{place}[{at}]", ignoring)
    elif _plain(before) != _plain(after):
        yield f"{place}: {before!r:.80} became {after!r:.80}"


def _plain(value: Any) -> Any:
    """Return a value so that zeros are equal, and lists of plain values are sets."""
    if isinstance(value, list):
        return sorted(map(str, value)) or None
    if isinstance(value, float):
        # A service may answer with 32 bits, and such an answer is written back.
        return round(value, 3) if abs(value) < LARGEST_ROUNDED else f"{value:.4g}"
    if isinstance(value, str):
        return None if value.endswith("UNSPECIFIED") and value.isupper() else value or None
    return value or None if not isinstance(value, dict) else value
