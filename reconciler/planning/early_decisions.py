"""Decisions made while other reads are in flight. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter

from reconciler.model import Change, Manifest, Observation, Ref, Seen
from reconciler.planning.decide import Knowledge, decide
from reconciler.planning.decision_cache import Decided


@dataclass(frozen=True, slots=True)
class EarlyDecisions:
    """Decisions made while reads are in flight; used only if their inputs did not change.

    `known` returns the knowledge about a resource with this observation, without the ids of its
    references. A decision without any reason or write is stored in `decided`, with the digest that
    `cover` returns.
    """

    known: Callable[[Ref, Observation], Knowledge]
    cover: Callable[[Change], str]
    decided: Decided | None = None
    made: dict[Ref, tuple[Knowledge, Change]] = field(default_factory=dict)

    def observed(self, manifest: Manifest, observation: Observation) -> Observation:
        """Decide a resource without references: no other answer can change the decision.

        Returns the observation as far as it is still needed: mostly without its document.
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
        """Return the early decision, or decide now if there is none or its inputs changed."""
        before, change = self.made.pop(manifest.ref, (None, None))
        if before is None or change is None or not _is_same(before, knowledge):
            return decide(manifest, knowledge)
        return change


_RESTS_ON = attrgetter(
    *(
        knowledge_field.name
        for knowledge_field in fields(Knowledge)
        if knowledge_field.name != "ids"
    )
)


def _is_same(before: Knowledge, now: Knowledge) -> bool:
    """Return whether two have the very same answer and memory; ids of references do not count."""
    return all(
        earlier is later or (isinstance(earlier, str) and earlier == later)
        for earlier, later in zip(_RESTS_ON(before), _RESTS_ON(now), strict=True)
    )
