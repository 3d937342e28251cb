"""OpenSLO v1: an objective becomes an SLO. Source: https://github.com/OpenSLO/OpenSLO. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from reconciler.document import Json, Path
from reconciler.importing.converting import (
    MOST_MADE,
    Conversion,
    Converted,
    Notes,
    at,
    bracketed,
    named,
    number_of,
    objects_at,
    plain,
    seconds_of,
    text_at,
)
from reconciler.kinds.slo import SLO
from reconciler.manifests.strangers import is_openslo

DAY = 86_400
FRAMES = {days * DAY: f"SLO_TIME_FRAME_{days}_DAYS" for days in (7, 14, 21, 28)}
WINDOWS = {60: "WINDOW_SLO_WINDOW_1_MINUTE", 300: "WINDOW_SLO_WINDOW_5_MINUTES"}
OPERATORS = {
    "lt": "COMPARISON_OPERATOR_LESS_THAN",
    "lte": "COMPARISON_OPERATOR_LESS_THAN_OR_EQUALS",
    "gt": "COMPARISON_OPERATOR_GREATER_THAN",
    "gte": "COMPARISON_OPERATOR_GREATER_THAN_OR_EQUALS",
}
PROMQL_SOURCES = ("prom", "thanos", "cortex", "mimir", "victoria")
QUERY_NAMES = ("query", "promql", "expr", "queryString")
VERSION = "openslo/v1"
_OBJECTIVE = "slo"
_INDICATOR = "sli"
_SLICES = "timeslices"
_RATIO_SLICES = "ratiotimeslices"


class _NotMapped(Exception):
    """An objective that no SLO here can be, and why."""


@dataclass(slots=True)
class _Draft:
    """One SLO as it comes about."""

    spec: dict[str, Json]
    comments: dict[Path, str] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)


recognise = is_openslo


def convert(document: Json, source: str, beside: Sequence[Json] = ()) -> Conversion:
    """Give an SLO for each objective; an indicator may stand beside, in a document of its own."""
    notes = Notes()
    kind, version = text_at(document, "kind").casefold(), text_at(document, "apiVersion")
    called = f"{named(text_at(document, 'kind'))} `{named(text_at(document, 'metadata', 'name'))}`"
    called = f"{called} ({source})"
    if version != VERSION:
        notes.leave(called, f"it is of {named(version)}, and only {VERSION} is read")
    elif kind == _OBJECTIVE:
        return _objectives(document, called, beside)
    elif kind != _INDICATOR:
        notes.leave(called, "only objectives become manifests: it has no counterpart here")
    return Conversion(left_behind=notes.all)


def _objectives(document: Json, called: str, beside: Sequence[Json]) -> Conversion:
    notes = Notes()
    objectives = objects_at(document, "spec", "objectives")
    many = len(objectives) > 1
    made: list[Converted] = []
    for number, objective in enumerate(objectives[:MOST_MADE], 1):
        try:
            made.append(_converted(document, objective, beside, number=number if many else 0))
        except _NotMapped as why:
            notes.leave(f"{called}, objective {number}" if many else called, str(why))
    if not objectives:
        notes.leave(called, "it has no objectives")
    if len(objectives) > MOST_MADE:
        notes.leave(called, f"of its objectives only the first {MOST_MADE:,} are read")
    return Conversion(tuple(made), notes.all)


def _converted(
    document: Json, objective: dict[str, Json], beside: Sequence[Json], *, number: int
) -> Converted:
    name = text_at(document, "metadata", "name")
    title = text_at(document, "metadata", "displayName") or name
    if number:
        title = f"{title}: {text_at(objective, 'displayName') or f'objective {number}'}"
    draft = _Draft({"name": title})
    description = text_at(document, "spec", "description")
    if description:
        draft.spec["description"] = description
    draft.spec["targetThresholdPercentage"] = plain(_target(objective))
    _put_frame(draft, document)
    _put_labels(draft, document)
    _put_indicator(draft, document, objective, beside)
    for what, value in (
        ("alertPolicies", at(document, "spec", "alertPolicies")),
        ("annotations", at(document, "metadata", "annotations")),
        ("compositeWeight", objective.get("compositeWeight")),
    ):
        if value:
            draft.notes.leave(what, "it has no counterpart in an SLO here")
    suffix = f"-{number}" if number else ""
    return Converted(SLO, f"{name}{suffix}", draft.spec, draft.comments, draft.notes.all)


def _target(objective: dict[str, Json]) -> Decimal:
    share, per_cent = (number_of(objective.get(key)) for key in ("target", "targetPercent"))
    target = share * 100 if share is not None else per_cent
    if target is None or not 0 < target <= 100:  # noqa: PLR2004 - per cent
        raise _NotMapped("it has neither a `target` from 0 to 1 nor a `targetPercent`")
    return target


def _put_frame(draft: _Draft, document: Json) -> None:
    """Choose the longest time frame that is not longer than what was meant."""
    windows = objects_at(document, "spec", "timeWindow")
    written = text_at(windows[0], "duration") if windows else ""
    # A month and longer are no fixed number of days.
    meant = seconds_of(written) or (31 * DAY if written[-1:] in ("M", "Q", "Y") else None)
    if meant is None:
        draft.notes.leave("timeWindow", "its duration cannot be read: choose an sloTimeFrame")
        return
    frame = max((one for one in FRAMES if one <= meant), default=min(FRAMES))
    draft.spec["sloTimeFrame"] = FRAMES[frame]
    if frame != meant:
        said = f"{named(written)} in OpenSLO: the service knows 7, 14, 21 and 28 days"
        draft.comments["sloTimeFrame",] = said
        draft.notes.leave("timeWindow", f"{said}; {frame // DAY} days were taken")
    if windows[0].get("isRolling") is False or windows[0].get("calendar"):
        draft.notes.leave("timeWindow.calendar", "time frames here always end now")


def _put_labels(draft: _Draft, document: Json) -> None:
    labels: dict[str, Json] = {}
    if service := text_at(document, "spec", "service"):
        labels["service"] = service
    given = at(document, "metadata", "labels")
    for key, value in given.items() if isinstance(given, dict) else ():
        values = value if isinstance(value, list) else [value]
        labels[key] = ",".join(one for one in values if isinstance(one, str))
    if labels:
        draft.spec["labels"] = labels


def _put_indicator(
    draft: _Draft, document: Json, objective: dict[str, Json], beside: Sequence[Json]
) -> None:
    indicator = _indicator(document, objective, beside)
    method = text_at(document, "spec", "budgetingMethod").casefold()
    ratio, threshold = at(indicator, "ratioMetric"), at(indicator, "thresholdMetric")
    if isinstance(ratio, dict):
        good, total = _good_and_total(draft, ratio)
        if method in (_SLICES, _RATIO_SLICES):
            _put_slices_of_ratio(draft, objective, good, total)
        else:
            draft.spec["requestBasedMetricSli"] = {
                "goodEvents": {"query": good},
                "totalEvents": {"query": total},
            }
    elif isinstance(threshold, dict):
        operator = OPERATORS.get(text_at(objective, "op").casefold())
        value = number_of(objective.get("value"))
        if operator is None or value is None:
            raise _NotMapped("its threshold needs `op` (lt, lte, gt or gte) and `value`")
        query = _query(draft, threshold, "thresholdMetric")
        _put_windows(draft, objective, query, operator, value)
        if method != _SLICES:
            said = "its budget counts measurements; here windows of time are counted"
            draft.notes.leave("budgetingMethod", said)
    else:
        raise _NotMapped("its indicator has neither a ratioMetric nor a thresholdMetric")


def _indicator(document: Json, objective: dict[str, Json], beside: Sequence[Json]) -> Json:
    for holder in (objective, at(document, "spec")):
        inline = at(holder, "indicator", "spec")
        if isinstance(inline, dict):
            return inline
        name = text_at(holder, "indicatorRef")
        if not name:
            continue
        for other in beside:
            is_indicator = recognise(other) and text_at(other, "kind").casefold() == _INDICATOR
            if is_indicator and text_at(other, "metadata", "name") == name:
                return at(other, "spec")
        said = f"its indicator `{named(name)}` does not stand in the same file: put both into one"
        raise _NotMapped(said)
    raise _NotMapped("it has no indicator")


def _good_and_total(draft: _Draft, ratio: dict[str, Json]) -> tuple[str, str]:
    total, good, bad = (ratio.get(part) for part in ("total", "good", "bad"))
    if not isinstance(total, dict) or not (isinstance(good, dict) or isinstance(bad, dict)):
        raise _NotMapped("its ratioMetric needs `total`, and `good` or `bad`; `raw` is not mapped")
    whole = _query(draft, total, "total")
    if ratio.get("counter") is True:
        said = "the queries are as they were: see that each counts events, as `increase` does"
        draft.notes.leave("ratioMetric.counter", said)
    if isinstance(good, dict):
        return _query(draft, good, "good"), whole
    failed = _query(draft, bad, "bad")
    # Where nothing failed there may be no series at all, and a difference with it would be none.
    whole_, failed = bracketed(whole), bracketed(failed)
    return f"{whole_} - ({failed} or {whole_} * 0)", whole


def _put_slices_of_ratio(draft: _Draft, objective: dict[str, Json], good: str, total: str) -> None:
    least = number_of(objective.get("timeSliceTarget"))
    if least is None:
        raise _NotMapped("its time slices need a `timeSliceTarget`")
    _put_windows(
        draft, objective, f"{bracketed(good)} / {bracketed(total)}", OPERATORS["gte"], least
    )


def _put_windows(
    draft: _Draft, objective: dict[str, Json], query: str, operator: str, threshold: Decimal
) -> None:
    written = text_at(objective, "timeSliceWindow")
    meant = seconds_of(written) or 60
    window = max((one for one in WINDOWS if one <= meant), default=min(WINDOWS))
    draft.spec["windowBasedMetricSli"] = {
        "query": {"query": query},
        "window": WINDOWS[window],
        "comparisonOperator": operator,
        "threshold": plain(threshold),
    }
    if written and window != meant:
        said = f"{named(written)} in OpenSLO: the service knows windows of 1 and 5 minutes"
        draft.comments["windowBasedMetricSli", "window"] = said
        draft.notes.leave("timeSliceWindow", said)


def _query(draft: _Draft, metric: Json, part: str) -> str:
    """Give the query of a metric source. Raises _NotMapped for one that is no PromQL."""
    source = at(metric, "metricSource")
    kind = text_at(source, "type")
    if kind and not any(one in kind.casefold() for one in PROMQL_SOURCES):
        raise _NotMapped(f"`{part}` asks {named(kind)}, and an SLO here takes PromQL only")
    for key in QUERY_NAMES:
        query = text_at(source, "spec", key).strip()
        if query:
            if not kind:
                draft.notes.leave(f"{part}.metricSource", "no type is told: taken for PromQL")
            return query
    raise _NotMapped(f"`{part}` has no query")
