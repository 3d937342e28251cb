"""Statistics of the results of applied changes. Source: docs/evidence.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Changes, each a write of one resource, and what happened to them within a day.

    A change is `reverted` if a later write declares what was declared before it, and `hot_fixed` if
    a later write declares something else again; it may be `noisier` as well. `troubled` counts
    changes with any of these. `young` counts changes less than a day old, so that more may come.
    `repaired` counts the changes after which a write declared something else; `median` and `p90`
    are the seconds until then, None if there are none.
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
    """Statistics of a journal over a period; `since` is "" for all of it.

    `put_back` counts writes that were undone in their own run, as samples had another result.
    `compacted` counts the changes of runs in the period without known resources. Both are in no
    other count. The team "" is an unknown team, and a week is named by its Monday.
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
