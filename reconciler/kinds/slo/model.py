"""What stands under `spec:` of an SLO."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from reconciler.document import Json
from reconciler.kinds.fields import (
    OWN_ID,
    AtMost,
    Names,
    Number,
    ObservedPart,
    Part,
    ReadOnly,
    StringMap,
    Text,
    Unit,
    Unordered,
    Wrapper,
    closed,
    known,
)
from reconciler.queries import Language, queries_named
from reconciler.queries import Query as Stated
from reconciler.source.diagnostic import Finding, warning

SLIS: Final = ("requestBasedMetricSli", "windowBasedMetricSli")
WINDOW: Final = known("WINDOW_SLO_WINDOW_", "UNSPECIFIED", "1_MINUTE", "5_MINUTES")
OPERATOR: Final = known(
    "COMPARISON_OPERATOR_",
    "UNSPECIFIED",
    "GREATER_THAN",
    "GREATER_THAN_OR_EQUALS",
    "LESS_THAN",
    "LESS_THAN_OR_EQUALS",
)
MISSING_DATA: Final = known("MISSING_DATA_STRATEGY_", "UNSPECIFIED", "UNCOUNTED", "GOOD", "BAD")


class Query(ObservedPart):
    """A metric query."""

    needed: ClassVar[tuple[str, ...]] = ("query",)

    query: Text = None


class RequestBasedMetricSli(ObservedPart):
    """The share of good events in all events."""

    needed: ClassVar[tuple[str, ...]] = ("goodEvents", "totalEvents")

    good_events: Query | None = None
    total_events: Query | None = None


class WindowBasedMetricSli(ObservedPart):
    """The share of windows in which a metric is on the right side of a threshold."""

    needed: ClassVar[tuple[str, ...]] = ("query", "window", "comparisonOperator", "threshold")

    query: Query | None = None
    window: Annotated[Text, WINDOW] = None
    comparison_operator: Annotated[Text, OPERATOR] = None
    threshold: Number = None
    missing_data_strategy: Annotated[Text, MISSING_DATA] = None


class Grouping(Part):
    """The labels for whose values the objective is kept separately."""

    labels: Annotated[Names, Unordered()] = None


class SloSpec(Part):
    """A service-level objective."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(SLIS),)
    wrappers: ClassVar[tuple[Wrapper, ...]] = (Wrapper(("slo",), ("effectedSloAlertIds",)),)

    name: str
    target_threshold_percentage: Annotated[
        float, AtMost(100, 0), Unit.PERCENT, Field(description="The objective, in per cent.")
    ]
    description: Text = None
    grouping: Grouping | None = None
    labels: StringMap = None
    slo_time_frame: Annotated[
        Text,
        closed("SLO_TIME_FRAME_", "UNSPECIFIED", "7_DAYS", "14_DAYS", "21_DAYS", "28_DAYS"),
    ] = None
    request_based_metric_sli: RequestBasedMetricSli | None = None
    window_based_metric_sli: WindowBasedMetricSli | None = None

    id: Annotated[Any, OWN_ID] = None
    creator: Annotated[Any, ReadOnly()] = None
    create_time: Annotated[Any, ReadOnly()] = None
    update_time: Annotated[Any, ReadOnly()] = None
    revision: Annotated[Any, ReadOnly()] = None
    type: Annotated[Any, ReadOnly()] = None


def check(spec: dict[str, Json]) -> Iterator[Finding]:
    """Yield warnings where an SLO measures nothing, or where its target may be a share of 1."""
    target = spec.get("targetThresholdPercentage")
    if isinstance(target, int | float) and 0 < target < 1:
        path = ("targetThresholdPercentage",)
        said = f"{target} is less than 1 %; the target is given in per cent"
        yield warning("M314", path, said, format((Decimal(str(target)) * 100).normalize(), "f"))
    if all(spec.get(sli) is None for sli in SLIS):
        said = "an SLO measures nothing without an indicator"
        yield warning("M310", (), said, " or ".join(SLIS))


def queries(spec: dict[str, Json]) -> Iterator[Stated]:
    """Yield the metric queries of the indicators."""
    for sli in SLIS:
        yield from queries_named(spec.get(sli), {"query": Language.PROMQL}, (sli,))
