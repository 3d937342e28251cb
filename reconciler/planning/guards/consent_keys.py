"""The objections that a review of a plan consents to, as keys that fit into a comment. Pure.

Source: docs/guards.md.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from reconciler.model import GuardViolation
from reconciler.model.guard_levels import REVIEW_LEVEL, whole_key

MOST_LISTED: Final = 40


def listing_of(guarded: Sequence[GuardViolation]) -> tuple[str, ...]:
    """Return the keys of what a review consents to; where there are many, one key a code."""
    by_code = _by_code(guarded)
    keys = [key for keys in by_code.values() for key in keys]
    if len(keys) <= MOST_LISTED:
        return tuple(keys)
    return tuple(whole_key(code, keys) for code, keys in by_code.items())


def listed_of(guarded: Sequence[GuardViolation], listing: Collection[str]) -> frozenset[str]:
    """Return the keys of the objections that a list covers."""
    whole = {code for code, keys in _by_code(guarded).items() if whole_key(code, keys) in listing}
    return frozenset(
        objection.key
        for objection in guarded
        if objection.key in listing or objection.code in whole
    )


def _by_code(guarded: Sequence[GuardViolation]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for objection in guarded:
        if objection.level == REVIEW_LEVEL:
            found.setdefault(objection.code, []).append(objection.key)
    return found
