"""OpenSLO v1: an objective becomes an SLO. Source: https://github.com/OpenSLO/OpenSLO. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from reconciler.document import Json, Path
from reconciler.features.import_.records import (
    ALONE,
    MOST_MADE,
    Beside,
    Conversion,
    Converted,
    Fields,
    Notes,
    bracketed,
    named,
    plain,
    seconds_of,
)
from reconciler.kinds.slo import SLO
from reconciler.workspace.envelope import is_openslo

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
VERSION = "openslo/v1"
_INDICATOR = "sli"
_SLICES = "timeslices"


class _NotMapped(Exception):
    """An objective that has no equivalent SLO here, and the reason."""


@dataclass(slots=True)
class _Draft:
    spec: dict[str, Json]
    comments: dict[Path, str] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)


recognise = is_openslo


def convert(document: Json, source: str, beside: Beside = ALONE) -> Conversion:
    """Return an SLO for each objective; an indicator may be in another document of the file."""
    notes = Notes()
    fields = Fields(document)
    kind, version = fields.text("kind").casefold(), fields.text("apiVersion")
    name = fields.inner("metadata").text("name")
    called = f"{named(fields.text('kind'))} `{named(name)}` ({source})"
    is_objective = kind == "slo"
    if version != VERSION:
        reason = f"it is of {named(version)}, and only {VERSION} is read"
        notes.leave(called, reason, is_whole=is_objective)
    elif is_objective:
        return _objectives(fields, called, beside)
    elif kind != _INDICATOR:
        notes.leave(called, "only objectives become manifests: it has no counterpart here")
    elif name not in _in_file(beside)[1]:
        notes.leave(called, "no objective of this file refers to it")
    return Conversion(left_behind=notes.all)


@lru_cache(maxsize=1)
def _in_file(beside: Beside) -> tuple[Mapping[str, dict[str, Json]], Collection[str]]:
    """Return the indicators of a file by name, and the names that objectives refer to."""
    indicators: dict[str, dict[str, Json]] = {}
    referred_to: set[str] = set()
    for document in beside.documents:
        if not (recognise(document) and isinstance(document, dict)):
            continue
        fields = Fields(document)
        if fields.text("kind").casefold() == _INDICATOR:
            indicators.setdefault(fields.inner("metadata").text("name"), document)
        else:
            spec = fields.inner("spec")
            referred_to.update(
                fields.text("indicatorRef") for fields in (spec, *spec.each("objectives"))
            )
    return indicators, referred_to


def _objectives(fields: Fields, called: str, beside: Beside) -> Conversion:
    notes = Notes()
    spec = fields.inner("spec")
    objectives = spec.each("objectives")
    made: list[Converted] = []
    for number, objective in enumerate(objectives[:MOST_MADE], 1):
        # Each objective is read alone, so that what it leaves behind is reported with it.
        alone: dict[str, Json] = {**spec.document, "objectives": [objective.document]}
        document = Fields({**fields.document, "spec": alone})
        many = len(objectives) > 1
        try:
            made.append(_converted(document, beside, number=number if many else 0))
        except _NotMapped as why:
            what = f"{called}, objective {number}" if many else called
            notes.leave(what, str(why), is_whole=True)
    if not objectives:
        notes.leave(called, "it has no objectives", is_whole=True)
    if len(objectives) > MOST_MADE:
        reason = f"of its objectives only the first {MOST_MADE:,} are read"
        notes.leave(called, reason, is_whole=True)
    return Conversion(tuple(made), notes.all)


def _converted(document: Fields, beside: Beside, *, number: int) -> Converted:
    document.take("apiVersion", "kind")
    metadata, spec = document.inner("metadata"), document.inner("spec")
    (objective,) = spec.each("objectives")
    name = metadata.text("name")
    title = metadata.text("displayName") or name
    if number:
        title = f"{title}: {objective.text('displayName') or f'objective {number}'}"
    draft = _Draft({"name": title})
    if description := spec.text("description"):
        draft.spec["description"] = description
    draft.spec["targetThresholdPercentage"] = plain(_target(objective))
    _put_frame(draft, spec)
    _put_labels(draft, spec, metadata)
    _put_indicator(draft, spec, objective, beside)
    draft.notes.unread("", document)
    suffix = f"-{number}" if number else ""
    return Converted(SLO, f"{name}{suffix}", draft.spec, draft.comments, draft.notes.all)


def _target(objective: Fields) -> Decimal:
    share = objective.number("target")
    target = share * 100 if share is not None else objective.number("targetPercent")
    if target is None or not 0 < target <= 100:  # noqa: PLR2004 - per cent
        raise _NotMapped("it has neither a `target` from 0 to 1 nor a `targetPercent`")
    return target


def _put_frame(draft: _Draft, spec: Fields) -> None:
    """Set the longest time frame that is not longer than the declared window."""
    window = next(iter(spec.each("timeWindow")), Fields({}))
    written = window.text("duration")
    # A month or more is no fixed number of days.
    seconds = seconds_of(written) or (31 * DAY if written[-1:] in ("M", "Q", "Y") else None)
    if seconds is None:
        draft.notes.leave("timeWindow", "its duration cannot be read: choose an sloTimeFrame")
        return
    frame = max((number for number in FRAMES if number <= seconds), default=min(FRAMES))
    draft.spec["sloTimeFrame"] = FRAMES[frame]
    if frame != seconds:
        comment = f"{named(written)} in OpenSLO: the service knows 7, 14, 21 and 28 days"
        draft.comments["sloTimeFrame",] = comment
        draft.notes.leave("timeWindow", f"{comment}; {frame // DAY} days were taken")
    if ("isRolling" in window and not window.flag("isRolling")) or "calendar" in window:
        window.value("calendar")
        draft.notes.leave("timeWindow: isRolling, calendar", "time frames here always end now")


def _put_labels(draft: _Draft, spec: Fields, metadata: Fields) -> None:
    labels: dict[str, Json] = {}
    if service := spec.text("service"):
        labels["service"] = service
    given = metadata.inner("labels")
    for key, value in given.document.items():
        if isinstance(value, list) and all(isinstance(element, str) for element in value):
            given.value(key)
            labels[key] = ",".join(map(str, value))
        elif (text := given.scalar(key)) is not None:
            labels[key] = text
    if "service" in given and service and labels["service"] != service:
        draft.notes.leave(f"service: {named(service)}", "a label of the same name is there")
    if labels:
        draft.spec["labels"] = labels


def _put_indicator(draft: _Draft, spec: Fields, objective: Fields, beside: Beside) -> None:
    called, indicator = _indicator(spec, objective, beside)
    written = spec.text("budgetingMethod")
    metric = indicator.inner("spec")
    if metric.inner("ratioMetric").document:
        _put_ratio(draft, objective, metric.inner("ratioMetric"), written)
    elif metric.inner("thresholdMetric").document:
        operator = OPERATORS.get(objective.text("op").casefold())
        value = objective.number("value")
        if operator is None or value is None:
            raise _NotMapped("its threshold needs `op` (lt, lte, gt or gte) and `value`")
        query = _query(draft, metric.inner("thresholdMetric"), "thresholdMetric")
        _put_windows(draft, objective, query, operator, value)
        if written.casefold() != _SLICES:
            reason = "its budget counts measurements; here windows of time are counted"
            draft.notes.leave(f"budgetingMethod: {named(written)}", reason)
    else:
        raise _NotMapped("its indicator has neither a ratioMetric nor a thresholdMetric")
    if called:
        indicator.take("apiVersion", "kind")
        indicator.inner("metadata").take("name")
        draft.notes.unread(called, indicator)


def _indicator(spec: Fields, objective: Fields, beside: Beside) -> tuple[str, Fields]:
    """Return an indicator, and its name in reports if it is a document of its own."""
    for holder in (objective, spec):
        inline = holder.inner("indicator")
        if "spec" in inline:
            return "", inline
        name = holder.text("indicatorRef")
        if not name:
            continue
        found = _in_file(beside)[0].get(name)
        if found is not None:
            return f"SLI `{named(name)}`", Fields(found)
        raise _NotMapped(f"its indicator `{named(name)}` is in no document of this file: add it")
    raise _NotMapped("it has no indicator")


def _put_ratio(draft: _Draft, objective: Fields, ratio: Fields, method: str) -> None:
    good, total = _good_and_total(draft, ratio)
    if method.casefold() in (_SLICES, "ratiotimeslices"):
        least = objective.number("timeSliceTarget")
        if least is None:
            raise _NotMapped("its time slices need a `timeSliceTarget`")
        share = f"{bracketed(good)} / {bracketed(total)}"
        _put_windows(draft, objective, share, OPERATORS["gte"], least)
        return
    if method.casefold() != "occurrences":
        reason = "events are counted, as with Occurrences"
        draft.notes.leave(f"budgetingMethod: {named(method)}", reason)
    draft.spec["requestBasedMetricSli"] = {
        "goodEvents": {"query": good},
        "totalEvents": {"query": total},
    }


def _good_and_total(draft: _Draft, ratio: Fields) -> tuple[str, str]:
    if "total" not in ratio or not ("good" in ratio or "bad" in ratio):
        raise _NotMapped("its ratioMetric needs `total`, and `good` or `bad`; `raw` is not mapped")
    whole = _query(draft, ratio.inner("total"), "total")
    if ratio.flag("counter"):
        reason = "the queries are as they were: see that each counts events, as `increase` does"
        draft.notes.leave("ratioMetric.counter", reason)
    if "good" in ratio:
        return _query(draft, ratio.inner("good"), "good"), whole
    failed = _query(draft, ratio.inner("bad"), "bad")
    # Without failures there may be no series, and then the difference would have none either.
    whole_, failed = bracketed(whole), bracketed(failed)
    return f"{whole_} - ({failed} or {whole_} * 0)", whole


def _put_windows(
    draft: _Draft, objective: Fields, query: str, operator: str, threshold: Decimal
) -> None:
    written = objective.text("timeSliceWindow")
    seconds = seconds_of(written) if written else 60
    if seconds is None:
        draft.notes.leave(f"timeSliceWindow: {named(written)}", "it cannot be read: 1 minute")
        seconds = 60
    window = max((number for number in WINDOWS if number <= seconds), default=min(WINDOWS))
    draft.spec["windowBasedMetricSli"] = {
        "query": {"query": query},
        "window": WINDOWS[window],
        "comparisonOperator": operator,
        "threshold": plain(threshold),
    }
    if written and window != seconds:
        comment = f"{named(written)} in OpenSLO: the service knows windows of 1 and 5 minutes"
        draft.comments["windowBasedMetricSli", "window"] = comment
        draft.notes.leave("timeSliceWindow", comment)


def _query(draft: _Draft, metric: Fields, part: str) -> str:
    """Return the query of a metric source. Raises _NotMapped for a source other than PromQL."""
    source = metric.inner("metricSource")
    kind = source.text("type")
    if kind and not any(promql_source in kind.casefold() for promql_source in PROMQL_SOURCES):
        raise _NotMapped(f"`{part}` asks {named(kind)}, and an SLO here takes PromQL only")
    spec = source.inner("spec")
    for key in ("query", "promql", "expr", "queryString"):
        query = spec.text(key).strip()
        if query:
            if not kind:
                draft.notes.leave(f"{part}.metricSource", "no type is given: taken for PromQL")
            return query
    raise _NotMapped(f"`{part}` has no query")
