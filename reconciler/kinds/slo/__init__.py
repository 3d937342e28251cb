"""The kind `SLO`."""

from __future__ import annotations

from reconciler.document import Json
from reconciler.kinds.kind import UUID, Bearing, Endpoint, Essential, Kind, Objective
from reconciler.kinds.slo import model

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


def example() -> dict[str, Json]:
    """Return a small, useful `spec`."""
    return {
        "name": "Checkout availability",
        "targetThresholdPercentage": 99.9,
        "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
        "requestBasedMetricSli": {
            "goodEvents": {"query": 'sum(http_requests_total{code!~"5.."})'},
            "totalEvents": {"query": "sum(http_requests_total)"},
        },
    }


ENDPOINTS = (
    Endpoint(11, "POST", "/v1/slo/slos", "makes it"),
    Endpoint(12, "PUT", "/v1/slo/slos", "replaces it"),
    Endpoint(13, "GET", "/v1/slo/slos/{id}", "reads it", sends=False),
    Endpoint(14, "POST", "/v1/slo/slos/validate", "asks what its alerts say", tells=False),
)

SLO = Kind(
    name="SLO",
    noun="slo",
    spec=model.SloSpec,
    id_form=UUID,
    check=model.check,
    queries=model.queries,
    cannot_create=model.cannot_create,
    batch_size=16,
    weakens=model.weakens,
    bearing=Bearing((("labels",),)),
    consents=(model.TARGET_LOWERED,),
    essentials=ESSENTIALS,
    picture=Objective(("targetThresholdPercentage",), ("sloTimeFrame",)),
    endpoints=ENDPOINTS,
    example=example,
    limits="The API cannot find an SLO by name nor delete one: a lost create must be settled.",
)
