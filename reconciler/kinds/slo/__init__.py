"""The kind `SLO`."""

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

SLO = Kind(
    name="SLO",
    noun="slo",
    spec=SloSpec,
    id_form=UUID,
    observe=observe,
    write=write,
    check=check,
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
