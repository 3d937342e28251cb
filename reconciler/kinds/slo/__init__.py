"""The kind `SLO`: its `spec:`, its risky changes, and SLOs that no alert watches."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Annotated, ClassVar, Final

from reconciler.document import Json, Missing, value_at
from reconciler.kinds import field_traits as of
from reconciler.kinds import kind
from reconciler.kinds.shape import places
from reconciler.kinds.times import days_in, failing_time
from reconciler.model import Action, Change, Manifest, Ref
from reconciler.queries import Language, queries_named
from reconciler.queries import Query as Stated
from reconciler.redaction.templates import references_in
from reconciler.syntax.diagnostic import Advice, Finding, warning
from reconciler.syntax.expressions import ExpressionKind, expression

SLIS: Final = ("requestBasedMetricSli", "windowBasedMetricSli")
WINDOW: Final = of.known("WINDOW_SLO_WINDOW_", "UNSPECIFIED", "1_MINUTE", "5_MINUTES")
OPERATOR: Final = of.known(
    "COMPARISON_OPERATOR_",
    "UNSPECIFIED",
    "GREATER_THAN",
    "GREATER_THAN_OR_EQUALS",
    "LESS_THAN",
    "LESS_THAN_OR_EQUALS",
)
MISSING_DATA: Final = of.known("MISSING_DATA_STRATEGY_", "UNSPECIFIED", "UNCOUNTED", "GOOD", "BAD")


class MetricQuery(of.ObservedPart):
    """A metric query."""

    query: Annotated[of.Text, of.Needed()] = None
    """The query, in the language of the metrics; it is sent as written."""


class RequestBasedMetricSli(of.ObservedPart):
    """The share of good events in all events."""

    good_events: Annotated[MetricQuery | None, of.Needed()] = None
    """The query that counts the good events."""
    total_events: Annotated[MetricQuery | None, of.Needed()] = None
    """The query that counts all events, good and bad."""


class WindowBasedMetricSli(of.ObservedPart):
    """The share of windows in which a metric is on the right side of a threshold."""

    query: Annotated[MetricQuery | None, of.Needed()] = None
    """The metric that is compared with the threshold in each window."""
    window: Annotated[of.Text, of.Needed(), WINDOW] = None
    """The length of one window."""
    comparison_operator: Annotated[of.Text, of.Needed(), OPERATOR] = None
    """How the metric is compared with the threshold; a window that meets it is good."""
    threshold: Annotated[of.Number, of.Needed()] = None
    """The number that the metric is compared with."""
    missing_data_strategy: Annotated[of.Text, MISSING_DATA] = None
    """How a window without data counts: not at all, as good or as bad."""


class Grouping(of.Part):
    """The labels; the objective applies separately to each of their values."""

    labels: Annotated[of.TextList, of.Unordered()] = None
    """The names of the labels; a service may return more than were written."""


class SloSpec(of.Part):
    """A service-level objective."""

    alternatives: ClassVar[of.Choices] = (frozenset(SLIS),)
    wrappers: ClassVar[tuple[of.Wrapper, ...]] = (of.Wrapper(("slo",), ("effectedSloAlertIds",)),)
    read_only: ClassVar[of.ReadOnlyFields] = {
        "id": of.own_id("The id of the SLO, assigned by the service."),
        "creator": of.ReadOnly("The creator of the SLO."),
        "createTime": of.ReadOnly("When the SLO was created."),
        "updateTime": of.ReadOnly("When the SLO was last changed."),
        "revision": of.ReadOnly("The number and time of the version."),
        "type": of.ReadOnly(
            "The type of the SLO; the API document has only the name of the field."
        ),
    }

    name: str
    """The name of the SLO for people.

    It need not be unique, as the service does not search by it.
    """
    target_threshold_percentage: Annotated[float, of.AtMost(100, 0, certain=True), of.Unit.PERCENT]
    """The objective, in per cent: 99.9 and not 0.999."""
    description: of.Text = None
    """What the SLO is about, for people."""
    grouping: Grouping | None = None
    """Applies the objective separately to each combination of values of some labels."""
    labels: of.StringMap = None
    """Labels of the SLO itself, text by name."""
    slo_time_frame: Annotated[
        of.Text,
        of.closed("SLO_TIME_FRAME_", "UNSPECIFIED", "7_DAYS", "14_DAYS", "21_DAYS", "28_DAYS"),
    ] = None
    """The period of the objective; the API document allows no other value."""
    request_based_metric_sli: RequestBasedMetricSli | None = None
    """Measures the share of good events. The API document names it for creates."""
    window_based_metric_sli: WindowBasedMetricSli | None = None
    """Measures the share of good windows. The API document names it for replaces and validation.
    """


def check(spec: dict[str, Json]) -> Iterator[Finding]:
    """Yield an error if an SLO measures nothing, a warning if its target may be a share of 1."""
    target = spec.get("targetThresholdPercentage")
    if isinstance(target, int | float) and 0 < target < 1:
        path = ("targetThresholdPercentage",)
        message = f"{target} is less than 1 %; the target is given in per cent"
        yield warning("M314", path, message, format((Decimal(str(target)) * 100).normalize(), "f"))
    if all(spec.get(sli) is None for sli in SLIS):
        message = "an SLO measures nothing without an indicator"
        yield Finding("M310", (), message, suggestion=Advice(f"write {' or '.join(SLIS)}"))


def queries(spec: dict[str, Json]) -> Iterator[Stated]:
    """Yield the metric queries of the indicators."""
    for sli in SLIS:
        yield from queries_named(spec.get(sli), {"query": Language.PROMQL}, (sli,))


TARGET_LOWERED = "slo-target-lowered"
_TARGET = ("targetThresholdPercentage",)
_WINDOW = ("sloTimeFrame",)


def weakens(change: Change) -> Iterator[kind.RiskyChange]:
    """Yield a lowered target, except a target that only the service rounded.

    The declared target is compared with live, and with the last applied target if someone changed
    live since.
    """
    if change.action not in (Action.UPDATE, Action.KEEP):
        return
    applied, live = (
        next((kind.number_of(found.before) for found in differences if found.path == _TARGET), None)
        for differences in (change.since_applied, change.differences)
    )
    declared = kind.number_of(value_at(change.declared, _TARGET))
    known = [number for number in (applied, live) if number is not None]
    if declared is None or not known or declared >= max(known):
        return
    after = of.Unit.PERCENT.of(declared)
    if applied is None:
        message = f"its target would go down from {of.Unit.PERCENT.of(known[0])} to {after}"
        message += f"; {_failing(change, declared, known[0])}"
    else:
        # Without a difference, live is as declared.
        now = of.Unit.PERCENT.of(declared if live is None else live)
        message = (
            f"its target would go down to {after}: "
            f"last applied was {of.Unit.PERCENT.of(applied)}, live is {now}"
            f"; {_failing(change, declared)}"
        )
    yield kind.RiskyChange(TARGET_LOWERED, message, "lowered in target", kind.ConsentRule.ALWAYS)


def _failing(change: Change, after: float, before: float | None = None) -> str:
    """Return what may fail after a change, and where `before` is known, also until now."""
    window = value_at(change.declared, _WINDOW)
    edits = (found.before for found in change.differences if found.path == _WINDOW)
    then = f"{_share(after, window)} may fail then"
    return then if before is None else f"{_share(before, next(edits, window))} may fail now, {then}"


def _share(target: float, window: Json | Missing) -> str:
    days = days_in(window)
    return (
        of.Unit.PERCENT.of(round(100 - target, 9)) if days is None else failing_time(target, days)
    )


ALERT = "AlertDefinition"
WATCHED = ("sloThreshold", "sloDefinition", "sloId")


def unwatched(neighbours: kind.Neighbours) -> Iterator[tuple[Manifest, kind.SpecFinding]]:
    """Yield the SLOs that no alert watches, in a workspace with alerts that watch SLOs.

    Alerts of other environments might watch them, so with such alerts nothing is yielded. An SLO
    without an id is left out if an alert watches an unknown id.
    """
    if any(ref.kind == ALERT for ref in neighbours.elsewhere):
        return
    watched: set[Ref] = set()
    ids: set[str] = set()
    for manifest in neighbours.every:
        for _, value in places(manifest.spec, *WATCHED):
            watched |= references_in(value)
            text = kind.text_of(value)
            if text is not None:
                ids.add(text.casefold())
    ours = {
        str(manifest.remote_id).casefold()
        for manifest in neighbours.own
        if manifest.remote_id is not None
    }
    if not watched and not ids & ours:
        return
    are_all_known = ids <= ours
    for slo in neighbours.own:
        has_watch = slo.ref in watched or str(slo.remote_id).casefold() in ids
        if not has_watch and (slo.remote_id is not None or are_all_known):
            message = (
                "no alert of this workspace watches this SLO: no one is notified when it is missed"
            )
            watching = expression(ExpressionKind.REFERENCE, str(slo.ref))
            remedy = Advice(f"watch it by `sloThreshold` with `sloId: {watching}`")
            yield slo, kind.SpecFinding(("name",), message, remedy)


ESSENTIALS = (
    kind.Essential(("targetThresholdPercentage",)),
    kind.Essential(("sloTimeFrame",)),
    kind.Essential(("grouping", "labels"), "grouping"),
    kind.Essential(("requestBasedMetricSli", "goodEvents", "query"), "goodEvents"),
    kind.Essential(("requestBasedMetricSli", "totalEvents", "query"), "totalEvents"),
    kind.Essential(("windowBasedMetricSli", "query", "query")),
    kind.Essential(("windowBasedMetricSli", "comparisonOperator")),
    kind.Essential(("windowBasedMetricSli", "threshold")),
    kind.Essential(("windowBasedMetricSli", "window")),
)


EXAMPLE: Final[dict[str, Json]] = {
    "name": "Checkout availability",
    "targetThresholdPercentage": 99.9,
    "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
    "requestBasedMetricSli": {
        "goodEvents": {"query": 'sum(http_requests_total{code!~"5.."})'},
        "totalEvents": {"query": "sum(http_requests_total)"},
    },
}

SLO = kind.Kind(
    name="SLO",
    noun="slo",
    spec=SloSpec,
    id_form=kind.UUID,
    check=check,
    queries=queries,
    cannot_create=partial(kind.gives_out_ids, what="SLO", short="SLO"),
    batch_size=16,
    weakens=weakens,
    bearing=kind.Bearing((("labels",),)),
    consents=(TARGET_LOWERED,),
    risky=(_TARGET,),
    essentials=ESSENTIALS,
    picture=kind.Objective(("targetThresholdPercentage",), ("sloTimeFrame",)),
    endpoints=(
        kind.Endpoint(11, "POST", "/v1/slo/slos", "makes it"),
        kind.Endpoint(12, "PUT", "/v1/slo/slos", "replaces it"),
        kind.Endpoint(13, "GET", "/v1/slo/slos/{id}", "reads it", sends=False),
        kind.Endpoint(14, "POST", "/v1/slo/slos/validate", "asks what its alerts say", tells=False),
    ),
    example=EXAMPLE,
    limits="The API cannot find an SLO by name nor delete one: a lost create must be settled.",
)
