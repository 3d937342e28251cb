"""`living`: what others made is imported, edited live, adopted, edited in git, and rolled back.

One world is a service of its own in this process, of any profile, with objects of all five kinds
that another client made. After each deed the plan keeps everything, no value that nobody
meant to change is lost, and no edit of what can be read is missed.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock
from uuid import UUID

from harness.emulated import Emulated
from harness.profiles import profile, reads_of
from imports import KINDS, World
from living_judge import Path, answered, is_due, is_filled_in, lost, shown
from stage import Stage, Tally
from world_content import Content, Spec
from world_deeds import alert_id, unlisted
from world_edits import with_ids
from world_laws import unseen
from world_others import Others, without_times
from world_service import ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS, WEB, Live
from worlds import drawing

from reconciler.emulator import (
    alert_definition_endpoints,
    dashboard_endpoints,
    log_policy_endpoints,
    slo_endpoints,
)
from reconciler.syntax.read_text import read_text

CONSENT = ("--yes", "--allow-destroy", "--override-guard", "campaign")
IN_PART = 3
BY_HAND = ("something else: edit", "still change it: edit")
"""Why an edit is left to a person, as docs/adopt.md says."""


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
            ids = [record["dashboard"] if kind == "Dashboard" else record for record in records]
            found[kind] = {str(own["id"]): record for own, record in zip(ids, records, strict=True)}
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

    @contextmanager
    def _service(self) -> Iterator[None]:
        """Let the ids of the service follow from the number too, so that a world repeats."""
        chance = drawing(self.number)

        def uuid4() -> UUID:
            return UUID(int=chance.getrandbits(128))

        with ExitStack() as patches:
            patches.enter_context(super()._service())
            for module in (slo_endpoints, log_policy_endpoints, alert_definition_endpoints):
                patches.enter_context(mock.patch.object(module, "uuid4", uuid4))
            patches.enter_context(mock.patch.object(dashboard_endpoints, "secrets", chance))
            yield

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
            ids = [str(value["id"]) for value in self._stored(tables[kind])]
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
        before = self._answered(person)
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
        stored, after = person.live(), self._answered(person)
        person.emulated.app.state.store.close()
        places = [
            place
            for place in lost(before, after)
            if not is_due(place, before, after)
            and not is_filled_in(place, before, after)
            and not is_filled_in(place, after, before)
        ]
        planned = self._plan()["changes"]
        seen = {_record_of(value) for value in planned if value["action"] != "keep"}
        missed = [place for place in places if place[:2] not in seen]
        assert not missed, f"edits missed: {_first(missed, before, after)}"
        tally.counts["edits seen"] += len({place[:2] for place in places})
        ran = self._run("adopt", "--all", "--format", "json")
        if ran.code == IN_PART:
            told = json.loads(ran.out)["resources"]
            left = {value["ref"]: value["note"] for value in told if value["state"] == "refused"}
            assert {value["state"] for value in told} <= {"adopted", "same", "unseen", "refused"}, (
                told
            )
            odd = [note for note in left.values() if not any(words in note for words in BY_HAND)]
            assert not odd, f"not adopted: {odd}"
            changes = self._plan()["changes"]
            assert left.keys() == {
                change["ref"] for change in changes if change["action"] != "keep"
            }
            tally.counts["adopting refused"] += 1
            return False
        assert ran.code == 0, ("adopt", ran.code, ran.out[-600:], ran.err[-600:])
        self._keeps("adopt")
        self._applied_without_a_write("adopt", stored)
        return True

    # What we do.

    def _edit_git(self, chance: random.Random, tally: Tally) -> None:
        """Edit manifests, apply, and roll back: only what was edited changes, and comes back."""
        person = self._person()
        before = self._answered(person)
        texts = self._described(chance)
        if not texts:
            return
        edits = {
            (*_record_of(change), *_path_in_record(change["ref"], field["path"]))
            for change in self._plan()["changes"]
            for field in change["fields"]
        }
        assert len(edits) == len(texts), f"not what was edited: {edits}"
        applied = self._run("apply", *CONSENT)
        assert applied.code == 0, ("apply", applied.code, applied.out[-600:], applied.err[-600:])
        self._keeps("apply")
        written = self._answered(person)
        places = [
            place
            for place in lost(before, written)
            if place not in edits
            and not is_filled_in(place, before, written)
            and not is_due(place, before, written)
        ]
        assert not places, f"values lost by an apply: {_first(places, before, written)}"
        undone = self._run("rollback", "last", *CONSENT)
        assert undone.code == 0, ("rollback", undone.code, undone.out[-600:], undone.err[-600:])
        back = self._answered(person)
        both = (*lost(before, back), *lost(back, before))
        places = [
            place
            for place in both
            if not is_filled_in(place, before, back) and not is_due(place, before, back)
        ]
        assert not places, f"not as before the run: {_first(places, before, back)}"
        person.emulated.app.state.store.close()
        for file, text in texts.items():
            (self.folder / file).write_text(text, encoding="utf-8")
        self._keeps("rollback")
        tally.counts["rolled back"] += 1

    def _answered(self, person: Person) -> Live:
        return answered(person.live(), profile(self.profile))

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
            (change["ref"], change["action"], change["fields"][:2], change["notes"])
            for change in plan["changes"]
            if change["action"] != "keep"
        ]
        assert not odd, f"not settled after {after}: {odd[:3]}"
        assert plan["orphans"] == plan["unsettled"] == [], after

    def _applied_without_a_write(self, after: str, live: Live) -> None:
        ran = self._run("apply", *CONSENT)
        assert ran.code == 0, (after, ran.code, ran.err[-600:])
        person = self._person()
        now = person.live()
        person.emulated.app.state.store.close()
        assert now == live, f"an apply after {after} wrote: {_first(lost(live, now), live, now)}"


def _record_of(change: dict[str, Any]) -> tuple[str, str]:
    """Return the kind and id of what a change of a plan is about."""
    kind = change["ref"].partition("/")[0]
    return kind, "all" if kind == "LogPolicySet" else str(change["remoteId"])


def _path_in_record(ref: str, path: list[str]) -> tuple[str, ...]:
    wrapped = ("alertDefProperties",) if ref.startswith("AlertDefinition/") else ()
    return (*wrapped, *path)


def _first(places: Iterable[Path], before: Live, after: Live) -> list[str]:
    return [shown(place, before, after) for place in [*places][:3]]
