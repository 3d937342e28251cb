"""The kind `SLO`."""

from reconciler.kinds.essential import Essential
from reconciler.kinds.ids import UUID
from reconciler.kinds.kind import Kind
from reconciler.kinds.picture import Objective
from reconciler.kinds.slo.model import SloSpec, check
from reconciler.kinds.slo.remote import cannot_create, observe, preflight, write
from reconciler.kinds.slo.weakening import TARGET_LOWERED, weakens

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
    spec=SloSpec,
    id_form=UUID,
    observe=observe,
    write=write,
    check=check,
    cannot_create=cannot_create,
    preflight=preflight,
    batch_size=16,
    weakens=weakens,
    consents=(TARGET_LOWERED,),
    essentials=ESSENTIALS,
    picture=Objective(("targetThresholdPercentage",), ("sloTimeFrame",)),
    limits="The API cannot find an SLO by name nor delete one: a lost create must be settled.",
)
