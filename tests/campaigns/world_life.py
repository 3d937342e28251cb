"""A world lived through: its deeds done, and each time planned, applied and planned again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forks import Ended, command
from world_deeds import WAITING_DEEDS, Deed, World
from world_expectations import OVERWRITING, only, unexpected
from world_laws import Round, Wanted, broken, secrets_are_kept, unseen
from world_others import Others
from world_service import Service
from world_workspace import Files

JOURNALS = (".reconciler/journal.jsonl", "elsewhere/j.jsonl", ".reconciler/a b.jsonl")
REFUSED_BY_GUARD = 11
IN_PART = 3
CONSENTED = frozenset(("destroys", "destroys-all", "overwrites-edit", "takes-over"))
"""Guards that a reviewed plan and `--allow-destroy` answer."""


class LawBrokenError(Exception):
    """A law does not hold: its name, and what was seen."""

    def __init__(self, law: str, said: str) -> None:
        super().__init__(f"{law}: {said}")
        self.law = law


@dataclass
class Life:
    """A folder, a service, and what is declared at the moment."""

    world: World
    folder: Path
    service: Service
    around: Mapping[str, str]
    counts: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    journal: str = JOURNALS[0]
    kept: list[tuple[bytes, dict[str, str | None]]] = field(default_factory=list)
    done: dict[str, frozenset[str]] = field(default_factory=dict)
    files: Files = field(init=False)

    def __post_init__(self) -> None:
        """Begin with no manifest."""
        self.files = Files(self.world.profile)

    def live(self) -> None:
        """Live through all of it. Raises LawBrokenError."""
        for number, step in enumerate(self.world.steps):
            self.told.append(f"step {number}")
            self.done.clear()
            for deed in step:
                if self._do(deed):
                    self.counts[deed.what] += 1
                    self.done[deed.what] = self.done.get(deed.what, frozenset()) | {deed.thing}
                    self.told.append(f"  {deed}")
            self.files.write(self.folder, self.journal)
            self._turn()

    # What happens between two applies.

    def _do(self, deed: Deed) -> bool:
        deeds: dict[str, Callable[[Deed], bool]] = {
            "declare": self.files.declare,
            "edit": self.files.edit,
            "live": self._live_edit,
            "move": self.files.move,
            "rename": self.files.rename,
            "pin": self.files.pin,
            "remove": self.files.remove,
            "restore": self.files.restore,
            "delete": self._delete,
            "foreign": self._foreign,
            "lose journal": self._lose_journal,
            "move journal": self._move_journal,
            "roll back journal": self._roll_back,
        }
        return deeds[deed.what](deed)

    def _live_edit(self, deed: Deed) -> bool:
        thing = self.files.things.get(deed.thing)
        if thing is None or (thing.kind == "SLO" and self.files.still):
            return False
        others = Others(self.service, self.files.content(deed))
        if not others.edit(thing.kind, thing.known, thing.word):
            return False
        if thing.kind in unseen(self.world.profile) or thing.kind in self._hides_severities:
            self.files.blind.add(thing.ref)
        return True

    def _delete(self, deed: Deed) -> bool:
        thing = self.files.things.get(deed.thing)
        if thing is None or thing.known is None or thing.kind == "LogPolicySet":
            return False
        if not Others(self.service, self.files.content(deed)).delete(thing.kind, thing.known):
            return False
        if thing.kind == "AlertDefinition":
            del self.files.things[deed.thing]  # nobody but a person can make it again
            return True
        if thing.kind in unseen(self.world.profile):
            self.files.hopeless.add(thing.ref)
            self.files.blind.add(thing.ref)
            return True
        thing.remote_id = thing.known = None
        self.counts["deleted " + thing.kind] += 1
        return True

    def _foreign(self, deed: Deed) -> bool:
        return Others(self.service, self.files.content(deed)).make(deed.kind, deed.seed % 10_000)

    @property
    def _hides_severities(self) -> Sequence[str]:
        """The kind whose edits by others may not be seen, where that is so."""
        hidden = self.world.profile.get("policySeverities") != "returned"
        return ("LogPolicySet",) if hidden and "severities" in WAITING_DEEDS else ()

    # What befalls the journal.

    @property
    def _book(self) -> Path:
        return self.folder / self.journal

    @property
    def _may_repeat(self) -> bool:
        """Whether a create that was answered long ago may be sent again as the same request."""
        return "repeated request" in WAITING_DEEDS and self.counts["deleted Dashboard"] > 0

    @property
    def _may_forget(self) -> bool:
        """Whether a journal may be lost here, and all be well again after an apply.

        What a service rewrites is told from what others did by the journal alone, and
        an SLO that stays as it was made could not be written again.
        """
        rewrites = any(one.kind == "SLO" for one in self.files.things.values())
        return self._book.exists() and not self._may_repeat and not (self.files.still and rewrites)

    def _lose_journal(self, _: Deed) -> bool:
        if not self._may_forget:
            return False
        self._book.unlink()
        self.files.removed.clear()
        for thing in self.files.things.values():
            # As the guard says: the ids first, of what nobody could find again.
            if thing.known is not None and not thing.is_found:
                thing.remote_id = int(thing.known) if thing.kind == "SavedView" else thing.known
        self.kept.clear()
        self.files.renamed.clear()
        return True

    def _move_journal(self, deed: Deed) -> bool:
        if not self._book.exists():
            return False
        chance, before = deed.chance, self._book
        free = [journal for journal in JOURNALS if not (self.folder / journal).exists()]
        if not free:
            return False
        place = chance.choice(free)
        if chance.random() < 0.5:
            if self.run("journal", "move", "--to", place).code != 0:
                raise LawBrokenError("journal_moves", f"{self.journal} cannot be moved to {place}")
        else:
            (self.folder / place).parent.mkdir(mode=0o700, exist_ok=True)
            before.rename(self.folder / place)
        self.journal = place
        # Whoever moves it says so in the project file, or nobody would find it to move it again.
        self.files.write(self.folder, place)
        self.kept.clear()
        return True

    def _roll_back(self, deed: Deed) -> bool:
        known = {one.ref: one.known for one in self.files.things.values() if not one.is_found}
        fit = [
            book
            for book, refs in self.kept
            if all(refs.get(ref) == remote_id for ref, remote_id in known.items())
        ]
        if not fit or not self._may_forget:
            return False
        self._book.write_bytes(deed.chance.choice(fit))
        self.files.removed.clear()
        self.files.renamed.clear()
        for thing in self.files.things.values():
            if thing.kind in (*unseen(self.world.profile), *self._hides_severities):
                self.files.blind.add(thing.ref)
        return True

    # A turn: plan, apply, plan.

    def run(self, *arguments: str) -> Ended:
        """Run one command. Raises LawBrokenError where it ends in a bug or tells a secret."""
        ended = command(self.folder, self.around, *arguments)
        self.told.append(f"  reconciler {' '.join(arguments)}  -> {ended.code}")
        for said in secrets_are_kept(ended):
            raise LawBrokenError("secrets_are_kept", said)
        return ended

    def _plan(self) -> dict[str, Any]:
        ended = self.run("plan", "--format", "json")
        self.counts["plans"] += 1
        if ended.code != 0:
            raise LawBrokenError("plans", f"plan ended with {ended.code}: {ended.err[-800:]}")
        plan: dict[str, Any] = json.loads(ended.out)
        return plan

    def _rename(self) -> None:
        """Tell the journal of new names."""
        for before, after in self.files.renamed:
            if self.run("journal", "rename", before, after).code != 0:
                raise LawBrokenError("renames", f"{before} cannot be renamed to {after}")
        self.files.renamed.clear()

    def _plan_renames(self) -> dict[str, Any]:
        """Plan; new names are told to the journal before, or once a guard has asked for it."""
        if self.counts["rename"] % 2:
            self._rename()
        plan = self._plan()
        news = {new: old for old, new in self.files.renamed}
        asked = {guard["ref"] for guard in plan["guards"] if guard["code"] == "looks-like-rename"}
        for thing in self.files.things.values():
            untold = thing.ref in news and only(self.done, thing, "rename")
            if untold and thing.ref not in asked:
                raise LawBrokenError("bare_renames_are_refused", f"{thing.ref}: {plan['guards']}")
        if not asked & news.keys():
            return plan
        self._rename()
        return self._plan()

    def _turn(self) -> None:
        self.service.requests()
        declared = tuple(Wanted(one.ref, one.spec) for one in self.files.things.values())
        turn = Round(declared, self.world.profile, self.service.live())
        if not declared:
            return
        turn.plan = self._plan_renames()
        turn.asked_by_plan = self.service.requests()
        self.files.renamed.clear()
        for law, said in unexpected(turn, self.done, self.files):
            raise LawBrokenError(law, said)
        self._try_without_review(turn.plan)
        turn.applied = self._apply(turn.plan)
        turn.asked_by_apply = self.service.requests()
        self._forgive(turn)
        turn.after = self.service.live()
        turn.again = self._plan()
        turn.asked_again = self.service.requests()
        turn.blind, turn.hopeless = frozenset(self.files.blind), frozenset(self.files.hopeless)
        for law, said in broken(turn):
            raise LawBrokenError(law, said)
        self._remember(turn)

    def _try_without_review(self, plan: dict[str, Any]) -> None:
        """See that `--yes` alone undoes nothing that others did."""
        if not {guard["code"] for guard in plan["guards"]} & OVERWRITING:
            return
        refused = self.run("apply", "--yes", "--allow-destroy", "--new-journal")
        self.counts["refused without review"] += 1
        if refused.code != REFUSED_BY_GUARD or any(
            request.writes for request in self.service.requests()
        ):
            raise LawBrokenError("guards", f"--yes undoes what others did: exit {refused.code}")

    def _apply(self, plan: dict[str, Any]) -> Ended:
        """Apply the plan that was shown, with the consent that its guards need."""
        words = ["apply", "--expect", plan["digest"], "--format", "json", "--allow-destroy"]
        guards = {guard["code"] for guard in plan["guards"]} - CONSENTED
        if guards:
            refused = self.run(*words)
            if refused.code != REFUSED_BY_GUARD:
                raise LawBrokenError("guards", f"{sorted(guards)}: exit {refused.code}")
            if any(request.writes for request in self.service.requests()):
                raise LawBrokenError("guards", f"{sorted(guards)}: refused, and written")
        if "new-journal" in guards:
            words.append("--new-journal")
        if guards - {"new-journal"}:
            words += ["--override-guard", "campaign"]
        self.counts["applies"] += 1
        return self.run(*words)

    def _forgive(self, turn: Round) -> None:
        """Let an apply fail for what cannot be written any more, and for nothing else."""
        applied = turn.applied
        assert applied is not None
        if applied.code == 0:
            return
        outcomes = json.loads(applied.out)["outcomes"] if applied.code == IN_PART else []
        failed = {
            outcome["ref"]
            for outcome in outcomes
            if outcome["outcome"] not in ("written", "unchanged")
        }
        if not failed or not failed <= self.files.hopeless:
            said = f"exit {applied.code}: {applied.out[-600:]} {applied.err[-600:]}"
            raise LawBrokenError("applies", said)
        self.counts["refused for what is gone"] += 1

    def _remember(self, turn: Round) -> None:
        """Note the ids that the service gave, and what can be judged again."""
        ids = turn.ids(turn.again)
        for thing in self.files.things.values():
            thing.known = ids.get(thing.ref, thing.known)
            change = turn.changes[thing.ref]
            if change["action"] != "keep":
                self.files.blind.discard(thing.ref)
                self.counts["changes"] += 1
        if self._book.exists():
            known = {one.ref: one.known for one in self.files.things.values()}
            self.kept.append((self._book.read_bytes(), known))
