"""Decisions that are made while the answers about others are waited for. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter

from reconciler.model import Change, Manifest, Observation, Ref, Seen
from reconciler.planning.decide import Knowledge, decide
from reconciler.planning.decision_cache import Decided


@dataclass(frozen=True, slots=True)
class EarlyDecisions:
    """What was decided before all was observed; it counts where nothing that it rests on moved.

    `known` gives what is known of a resource that is observed so, its references left out. What
    is `decided` is remembered where nothing is to be said of it, with what `cover` gives.
    """

    known: Callable[[Ref, Observation], Knowledge]
    cover: Callable[[Change], str]
    decided: Decided | None = None
    made: dict[Ref, tuple[Knowledge, Change]] = field(default_factory=dict)

    def observed(self, manifest: Manifest, observation: Observation) -> Observation:
        """Decide what refers to nothing: no answer about another can change that.

        Gives what is still needed of the observation: of most of many resources no document.
        """
        if not isinstance(observation, Seen) or manifest.references:
            return observation
        knowledge = self.known(manifest.ref, observation)
        change = decide(manifest, knowledge)
        if self.decided is not None:
            left = self.decided.let_go(manifest, change, self.cover)
            if left is not None:
                knowledge.memory.fold()
                manifest.fold()
                return left
        self.made[manifest.ref] = knowledge, change
        return observation

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
        value is other or (isinstance(value, str) and value == other)
        for value, other in zip(_RESTS_ON(before), _RESTS_ON(now), strict=True)
    )
