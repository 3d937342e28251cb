"""How much of a kind one apply may change. Source: failure-cases.md, R23."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from reconciler.document import value_at
from reconciler.kinds import KINDS
from reconciler.kinds.kind import Kind
from reconciler.project import Guards, Limits
from reconciler.resource import Action, Change, Objection, Plan, Remembered, Seen

TOO_MANY = "too-many-changes"


@dataclass(slots=True)
class _Figures:
    """What is known of a kind, and what of it would change, by the word for how."""

    known: int = 0
    changed: Counter[str] = field(default_factory=Counter)

    def add(self, kind: Kind, change: Change) -> None:
        if kind.destroyable:
            self._add_members(kind, change)
            return
        word = _word(kind, change)
        if isinstance(change.observation, Seen | Remembered):
            self.known += 1
            if change.action is Action.UPDATE:
                self.changed[word or "updated"] += 1
        elif change.action is Action.ASSERT and word:
            # What nobody has seen counts only where it is weakened, and then on both sides:
            # else a lost journal would be a way around the limit, or lift it for the rest.
            self.known += 1
            self.changed[word] += 1

    def _add_members(self, kind: Kind, change: Change) -> None:
        """Count the members of a list, where one write covers many."""
        observed = change.observation
        live = value_at(observed.document, kind.destroyable) if isinstance(observed, Seen) else None
        depth = len(kind.destroyable)
        touched = {
            one.path[: depth + 1]
            for one in change.differences
            if len(one.path) > depth and one.operation != "add"
        }
        self.known += len(live) if isinstance(live, list) else 0
        # Destroyed members of one name are fewer places than losses.
        self.changed["destroyed"] += len(change.destroys)
        self.changed["updated"] += max(0, len(touched) - len(change.destroys))


def _word(kind: Kind, change: Change) -> str:
    """Say how a resource changes by the first thing it loses, "" where it loses nothing."""
    words = (weakening.counted for weakening in kind.weakens(change))
    return next((word for word in words if word), "")


def exceeded_limits(plan: Plan, guards: Guards) -> Iterator[Objection]:
    """Yield one objection for each kind of which too much would change.

    Creates do not count, nor does what is neither seen nor remembered and is not weakened.
    """
    for kind in KINDS:
        figures = _Figures()
        for change in plan.changes:
            if change.ref.kind == kind.name:
                figures.add(kind, change)
        limits = guards.of(kind.name)
        if figures.changed.total() > _allowed(figures.known, limits):
            yield _objection(kind, figures, limits, plan.environment)


def _allowed(known: int, limits: Limits) -> int:
    """Give how many may change at once; all that are known where no limit holds."""
    share = known * limits.max_change_percent // 100 if known >= limits.minimum else known
    return share if limits.max_changes is None else min(share, limits.max_changes)


def _objection(kind: Kind, figures: _Figures, limits: Limits, environment: str) -> Objection:
    changed, known = figures.changed.total(), figures.known
    allowed = _allowed(known, limits)
    share = f" ({changed * 100 / known:.4g} %)" if known else ""
    noun = "members" if kind.destroyable else "resources"
    ways = ", ".join(f"{count} {word}" for word, count in figures.changed.most_common() if count)
    by_share = limits.max_changes is None or allowed < limits.max_changes
    limit = f"{limits.max_change_percent} %, so {allowed}" if by_share else f"{allowed}"
    setting = "maxChangePercent" if by_share else "maxChanges"
    said = (
        f"{changed} of {known} known {kind.name} {noun} would change{share}: {ways}; "
        f"the guard allows {limit} in one apply"
    )
    where = f"`guards: {{{setting}: N}}` of `{environment}` in reconciler.yaml"
    ways_out = (
        f"split the change, so that at most {allowed} change at once",
        f"in an earlier merge, set {where}",
        "apply with `--override-guard REASON`, which the journal keeps",
    )
    return Objection(None, said, ways_out, TOO_MANY)
