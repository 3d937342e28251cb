"""The result of an apply: the order of writes, outcomes, exit codes, and unsent changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from reconciler import model
from reconciler.document import Difference
from reconciler.errors import ExitCode, JournalError, ReconcilerError, Stale, Unsettled, worst
from reconciler.journal.entries import Started
from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.kind import Kind


def batches(changes: Sequence[model.Change]) -> Iterator[tuple[Kind, tuple[model.Change, ...]]]:
    """Yield the changes that are sent together, in order.

    A create that cannot be looked up goes alone and late, so that a crash leaves at most one of
    them unsettled (docs/journal.md).
    """
    waves: dict[int, list[model.Change]] = {}
    levels = _levels({change.ref: change for change in changes})
    for change in changes:
        if change.action.writes:
            waves.setdefault(levels[change.ref], []).append(change)
    for _, wave in sorted(waves.items()):
        alone: list[tuple[Kind, tuple[model.Change, ...]]] = []
        for kind in KINDS:
            mine = [change for change in wave if change.ref.kind == kind.name]
            lonely = [change for change in mine if goes_alone(change)]
            alone.extend((kind, (change,)) for change in lonely)
            together = [change for change in mine if not goes_alone(change)]
            for start in range(0, len(together), kind.batch_size):
                yield kind, tuple(together[start : start + kind.batch_size])
        yield from alone


def goes_alone(change: model.Change) -> bool:
    """Return whether only a person could settle a lost answer to this write."""
    return change.action is model.Action.CREATE and not BY_NAME[change.ref.kind].findable


def _levels(changes: Mapping[model.Ref, model.Change]) -> dict[model.Ref, int]:
    """Map each resource to one level more than the highest level it refers to.

    There are no cycles.
    """
    inner = {
        ref: [reference for reference in change.references if reference in changes]
        for ref, change in changes.items()
    }
    levels: dict[model.Ref, int] = {}
    for ref in TopologicalSorter(inner).static_order():
        levels[ref] = 1 + max((levels[reference] for reference in inner[ref]), default=-1)
    return levels


@dataclass(slots=True)
class Applied:
    """The result of an apply: one outcome for each change that would write, and what stopped it.

    `unjournaled` means that an outcome is known, and the journal could not take it. `unproved` has
    the result of the log samples of an overwrite, where it was not as planned. `renamed` has the
    former names of resources that the journal now knows by another name.
    """

    outcomes: list[model.Outcome] = field(default_factory=list)
    rewritten: dict[model.Ref, tuple[Difference, ...]] = field(default_factory=dict)
    overtaken: dict[model.Ref, model.Overtaken] = field(default_factory=dict)
    unproved: dict[model.Ref, str] = field(default_factory=dict)
    renamed: dict[model.Ref, model.Ref] = field(default_factory=dict)
    stopped_by: ReconcilerError | None = None
    signal_code: int | None = None
    unjournaled: bool = False

    @property
    def exit_codes(self) -> set[int]:
        """The exit codes that apply to the run; `errors.worst` chooses."""
        codes = {
            outcome.exit_code
            for outcome in self.outcomes
            if isinstance(outcome, model.Refused | model.Unconfirmed)
        }
        kinds = {type(outcome) for outcome in self.outcomes}
        found = {
            Unsettled.exit_code: model.InDoubt in kinds,
            ExitCode.PARTIAL: model.Skipped in kinds or bool(self.unproved),
            Stale.exit_code: bool(self.overtaken),
            JournalError.exit_code: self.unjournaled,
        }
        codes.update(code for code, applies in found.items() if applies)
        if self.stopped_by is not None:
            codes.add(self.stopped_by.exit_code)
        if self.signal_code is not None:
            codes.add(self.signal_code)
        return codes

    def stop(self, error: ReconcilerError) -> None:
        """End the run; of several errors the one with the first-ranked exit code is kept."""
        earlier = self.stopped_by
        if earlier is None or worst({error.exit_code, earlier.exit_code}) != earlier.exit_code:
            self.stopped_by = error


INTERRUPTED = "the run was interrupted"


def blocked(change: model.Change) -> model.Refused:
    """Return the outcome of a change that was blocked in the plan."""
    known = change.observation
    code = known.exit_code if isinstance(known, model.Unread) else ExitCode.PARTIAL
    return model.Refused(change.ref, "", code, change.reasons)


def why_skipped(
    change: model.Change, applied: Applied, failed: AbstractSet[model.Ref], *, interrupted: bool
) -> str:
    """Return why a change must not be sent any more; "" where nothing prevents it."""
    if applied.stopped_by is not None:
        return "the run had stopped"
    if interrupted:
        return INTERRUPTED
    if goes_alone(change) and any(
        isinstance(outcome, model.InDoubt) for outcome in applied.outcomes
    ):
        return "another create is in doubt, and one is enough to look for"
    bad = sorted(change.references & failed)
    return f"depends on {bad[0]}, which was not written" if bad else ""


def left(change: model.Change, pending: Started | None, run: str) -> model.Outcome:
    """Return what the journal knows of a change after its run was left.

    `pending` is the write without an answer. What was in flight stays open in the journal.
    """
    if pending is None or pending.run != run:
        return model.Skipped(change.ref, INTERRUPTED)
    if goes_alone(change) and pending.operation == "create":
        return model.InDoubt(change.ref, "the run was left while its create was in flight")
    message = "the run was left while it was in flight: the next plan shows what became of it"
    return model.Unconfirmed(change.ref, message)
