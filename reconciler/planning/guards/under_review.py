"""What is known about the review of a plan, before and after the merge."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from reconciler.document import Json
from reconciler.model import GuardViolation, Ref

Base: TypeAlias = Callable[[], Mapping[Ref, Json] | None]
"""Reads the `spec` of each resource that the base branch declares; None where it cannot be read."""

ViolationListing: TypeAlias = Callable[[Sequence[GuardViolation]], Collection[str]]
"""Returns the keys of the objections that the reviewed plan listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderReview:
    """Ways to find out whether a review covers a rollback that is undone; None where unknown.

    Before the merge, the base branch shows which fields the change edits. After the merge, the
    reviewed plan lists which rollbacks the change undoes.
    """

    base: Base | None = None
    listed: ViolationListing | None = None


NO_REVIEW: Final = UnderReview()
