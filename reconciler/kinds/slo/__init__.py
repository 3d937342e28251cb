"""The kind `SLO`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconciler.kinds.kind import UUID, Essential, Kind, Objective
from reconciler.kinds.slo.model import SloSpec, check, queries
from reconciler.kinds.slo.remote import (
    TARGET_LOWERED,
    cannot_create,
    observe,
    preflight,
    weakens,
    write,
)

if TYPE_CHECKING:
    from reconciler.kinds.practice import Practice

ESSENTIALS = (
    Essential(("targetThresholdPercentage",)),
    Essential(("sloTimeFrame",)),
    Essential(("grouping", "labels"), "grouping"),
    Essential(("requestBasedMetricSli", "goodEvents", "query"), "goodEvents"),
    Essential(("requestBasedMetricSli", "totalEvents", "query"), "totalEvents"),
    Essential(("windowBasedMetricSli", "query", "query")),
    Essential(("windowBasedMetricSli", "comparisonOperator")),
    Essential(("windowBasedMetricSli", "threshold")),
    Essential(("windowBasedMetricSli", "window")),
)


def _practices() -> Sequence[Practice]:
    from reconciler.kinds.slo.practice import PRACTICES  # noqa: PLC0415 - where one is declared

    return PRACTICES


SLO = Kind(
    name="SLO",
    noun="slo",
    spec=SloSpec,
    id_form=UUID,
    observe=observe,
    write=write,
    check=check,
    practices=_practices,
    queries=queries,
    cannot_create=cannot_create,
    preflight=preflight,
    batch_size=16,
    weakens=weakens,
    consents=(TARGET_LOWERED,),
    essentials=ESSENTIALS,
    picture=Objective(("targetThresholdPercentage",), ("sloTimeFrame",)),
    limits="The API cannot find an SLO by name nor delete one: a lost create must be settled.",
)
