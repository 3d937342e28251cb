"""Decisions that are made while the answers about others are waited for. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter

from reconciler.planning.deciding import Knowledge, decide
from reconciler.resource import Change, Manifest, Observation, Ref, Seen


@dataclass(frozen=True, slots=True)
class Ahead:
    """What was decided before all was observed; it counts where nothing that it rests on moved.

    `known` gives what is known of a resource that is observed so, its references left out.
    """

    known: Callable[[Ref, Observation], Knowledge]
    made: dict[Ref, tuple[Knowledge, Change]] = field(default_factory=dict)

    def observed(self, manifest: Manifest, observation: Observation) -> None:
        """Decide what refers to nothing: no answer about another can change that."""
        if isinstance(observation, Seen) and not manifest.references:
            knowledge = self.known(manifest.ref, observation)
            self.made[manifest.ref] = knowledge, decide(manifest, knowledge)

    def decide(self, manifest: Manifest, knowledge: Knowledge) -> Change:
        """Give what was decided, or decide, where it was not or of other things."""
        before, change = self.made.pop(manifest.ref, (None, None))
        if before is None or change is None or not _is_same(before, knowledge):
            return decide(manifest, knowledge)
        return change


_RESTS_ON = attrgetter(*(one.name for one in fields(Knowledge) if one.name != "ids"))


def _is_same(before: Knowledge, now: Knowledge) -> bool:
    """Tell whether two are of the very same answer and memory, wherever ids of others lead."""
    return all(
        one is other or (isinstance(one, str) and one == other)
        for one, other in zip(_RESTS_ON(before), _RESTS_ON(now), strict=True)
    )
