"""What became of what was applied, as numbers. Source: docs/evidence.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Changes, a write of one resource each, and what became of them within a day.

    One is `reverted` where a later write declares what was declared before it, `hot_fixed` where
    one declares something else again, and may be `noisier` beside; `troubled` are those with any
    of it. The `young` are not a day old, so that more may come. `median` and `p90` are the
    seconds until the next write that declared otherwise, of those that are `repaired`; None
    of none.
    """

    changes: int
    resources: int
    reverted: int
    hot_fixed: int
    noisier: int
    troubled: int
    young: int
    repaired: int
    median: float | None
    p90: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a journal tells of a time; `since` is "" for all that it knows.

    `put_back` are writes that were undone in their own run, as samples came out otherwise, and
    `compacted` the changes of runs of that time whose resources are not known any more: both are
    in no other count. The team "" stands for an unknown one, and a week is named by its Monday.
    """

    since: str
    until: str
    applies: int
    rollbacks: int
    put_back: int
    compacted: int
    whole: Counts
    teams: Mapping[str, Counts]
    weeks: Mapping[str, Counts]
