"""Lint rules for alert definitions. Source: docs/practice.md."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import partial

from reconciler.document import Json, Path
from reconciler.features.lint.lint import LintRule
from reconciler.kinds.alert_definition import (
    GROUPS,
    is_awake,
    off_for_good,
    reaches_somebody,
    undescribed,
    without_runbook,
)
from reconciler.kinds.alert_definition.parts import TYPE_OF
from reconciler.kinds.kind import SpecFinding, lists_in, number_of, text_of
from reconciler.kinds.shape import EACH, places
from reconciler.redaction.templates import Template
from reconciler.syntax.diagnostic import Advice

NEVER, ALWAYS = "never", "always"
WAYS_OUT = {
    NEVER: Advice("write a threshold that can be crossed"),
    ALWAYS: Advice("write a threshold that is not crossed all the time"),
}
WHOLE = 100
"""Per cent. A ratio may also be written as a share of 1, so 1 proves nothing."""

_COMPARED = re.compile(r"LOGS_(?:THRESHOLD|RATIO)_CONDITION_TYPE_(MORE|LESS)_THAN(_OR_EQUALS)?")
_UNSAID = "_OR_UNSPECIFIED"


def crossings(spec: dict[str, Json], outcome: str) -> Iterator[SpecFinding]:
    """Yield the thresholds that are crossed `never`, or `always`."""
    for part in ("logsThreshold", "logsRatioThreshold"):
        for path, rule in places(spec, part, "rules", EACH, "condition"):
            if isinstance(rule, dict):
                is_share = part == "logsRatioThreshold" and _is_share(spec[part])
                crossed, message = _crossed(rule, is_share=is_share)
                if crossed == outcome:
                    yield SpecFinding((*path, "threshold"), message, WAYS_OUT[outcome])
    if outcome == NEVER:
        yield from _beyond_the_window(spec)
    else:
        yield from _unique_counts(spec)


def _crossed(condition: Mapping[str, Json], *, is_share: bool) -> tuple[str, str]:
    """Return how often a count or a ratio of counts crosses a threshold, and why; "" if it depends.

    A condition is more than or less than a threshold, with or without the threshold itself.
    """
    threshold, text = number_of(condition.get("threshold")), text_of(condition.get("conditionType"))
    found = _COMPARED.fullmatch(text.removesuffix(_UNSAID)) if text is not None else None
    if threshold is None or found is None:
        return "", ""
    is_more, or_equals = found[1] == "MORE", found[2] is not None
    why = "a count is never below 0"
    if threshold < 0 or (threshold == 0 and or_equals == is_more):
        outcome = ALWAYS if is_more else NEVER
    elif is_share and (threshold > WHOLE or (threshold == WHOLE and or_equals != is_more)):
        outcome = NEVER if is_more else ALWAYS
        why = "these lines are a part of those, so at most 100 % of them"
    else:
        return "", ""
    how = f"{found[1].lower()} than{' or equal to' if or_equals else ''}"
    return outcome, f"{how} {condition.get('threshold')} is {outcome} true: {why}"


def _is_share(part: Json) -> bool:
    """Return whether all lines of a ratio's numerator are also in its denominator."""
    if not isinstance(part, dict):
        return False
    upper, lower = (_filter(part.get(side)) for side in ("numerator", "denominator"))
    if upper is None or lower is None:
        return False
    if not lower:
        return True
    severities = "severities"
    rest = [
        {key: value for key, value in side.items() if key != severities} for side in (upper, lower)
    ]
    own, all_of_them = (lists_in(side, severities) for side in (upper, lower))
    narrower = bool(own) and all(value in all_of_them for value in own)
    return rest[0] == rest[1] and (own == all_of_them or not all_of_them or narrower)


def _filter(side: Json) -> dict[str, Json] | None:
    """Return a filter as one flat mapping without empty values; None if it has other parts."""
    if not isinstance(side, dict) or side.keys() - {"simpleFilter"}:
        return None
    simple = side.get("simpleFilter", {})
    labels = simple.get("labelFilters", {}) if isinstance(simple, dict) else None
    if not isinstance(simple, dict) or not isinstance(labels, dict):
        return None
    flat = {**{key: value for key, value in simple.items() if key != "labelFilters"}, **labels}
    return {key: value for key, value in flat.items() if value not in (None, "", [])}


_SHARES: Mapping[tuple[str, ...], str] = {
    ("rules", EACH, "condition", "forOverPct"): "a window has no more than 100 % of its time",
    ("missingValues", "minNonNullValuesPct"): "no more than 100 % of the values can be there",
}


def _beyond_the_window(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    for steps, why in _SHARES.items():
        for path, share in places(spec, "metricThreshold", *steps):
            number = number_of(share)
            if number is not None and number > WHOLE:
                yield SpecFinding(path, f"{share} % is never reached: {why}", "100")


def _unique_counts(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    steps = ("logsUniqueCount", "rules", EACH, "condition", "maxUniqueCount")
    for path, most in places(spec, *steps):
        number = number_of(most)
        if number is not None and number < 0:
            yield SpecFinding(
                path, f"more than {most} is always true: a count is never below 0", WAYS_OUT[ALWAYS]
            )


_WINDOWS = {
    "logsThreshold": [("timeWindow", "logsTimeWindowSpecificValue")],
    "logsAnomaly": [("timeWindow", "logsTimeWindowSpecificValue")],
    "logsRatioThreshold": [("timeWindow", "logsRatioTimeWindowSpecificValue")],
    "metricThreshold": [
        ("ofTheLast", "metricTimeWindowSpecificValue"),
        ("ofTheLast", "metricTimeWindowDynamicDuration"),
    ],
}
"""Where the condition of a rule has its window, by the part of the alert."""

_VALUE = re.compile(r"(?:LOGS|METRIC|LOGS_RATIO)_TIME_WINDOW_VALUE_(MINUTE|HOUR)S?_(\d{1,4})")
_DURATION = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?")
_MINUTES = {"MINUTE": 1, "HOUR": 60}
MILLISECONDS = 60_000


def short_windows(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    """Yield evaluation delays that are longer than the shortest window of their rules."""
    for part, forms in _WINDOWS.items():
        delay = next((value for _, value in places(spec, part, "evaluationDelayMs")), None)
        waited = number_of(delay)
        windows = (
            minutes_of(value)
            for inside in forms
            for _, value in places(spec, part, "rules", EACH, "condition", *inside)
        )
        shortest = min(filter(None, windows), default=math.inf)
        if waited is not None and waited > shortest * MILLISECONDS:
            message = (
                f"the alert waits {waited / MILLISECONDS:g} minutes for late data, longer than its "
                f"window of {shortest:g}: what it reports is over by then"
            )
            advice = Advice("wait less, or widen the window")
            yield SpecFinding((part, "evaluationDelayMs"), message, advice)


def minutes_of(value: Json) -> float | None:
    """Return a window in minutes; None if it is unknown, or empty."""
    text = text_of(value)
    if text is None:
        return None
    listed = _VALUE.fullmatch(text.removesuffix(_UNSAID))
    if listed is not None:
        return _MINUTES[listed[1]] * int(listed[2]) or None
    parts = _DURATION.fullmatch(text)
    if parts is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    return (hours * 60 + minutes + seconds / 60) or None


MOST_URGENT = "ALERT_DEF_PRIORITY_P1"


def _unheard(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    urgent: list[Path] = [("priority",)] if spec.get("priority") == MOST_URGENT else []
    for steps in (("rules", EACH), ("errorBudget", "rules", EACH)):
        for part in TYPE_OF.keys() & spec.keys():
            for path, value in places(spec, part, *steps, "override", "priority"):
                urgent += [path] if value == MOST_URGENT else []
    groups = [value for steps in GROUPS for _, value in places(spec, *steps)]
    if urgent and is_awake(spec) and not any(map(reaches_somebody, groups)):
        message = "this alert is a P1, and its notification group has no recipient"
        if not groups:
            message = "this alert is a P1, and has no notification group: no one is notified"
        remedy = Advice("add `notificationGroup: {router: {}}`, or a recipient; else lower it")
        yield SpecFinding(urgent[0], message, remedy)


def _grouped_otherwise(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    own = spec.get("groupByKeys")
    keys = own if isinstance(own, list) else []
    at_once = any(spec.get(part) is not None for part in ("logsImmediate", "tracingImmediate"))
    if at_once or any(isinstance(key, Template) for key in keys):
        return
    for steps in GROUPS:
        for path, key in places(spec, *steps, "groupByKeys", EACH):
            text = text_of(key)
            if text is not None and text not in keys:
                message = (
                    f"the alert is not grouped by `{text}`, so that its notification cannot be"
                )
                remedy = Advice(f"add `{text}` to `groupByKeys` of the alert, or remove it here")
                yield SpecFinding(path, message, remedy)


def _reported_too_often(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    settings = spec.get("incidentsSettings")
    again = number_of(settings.get("minutes")) if isinstance(settings, dict) else None
    if again is None:
        return
    for steps in GROUPS:
        for path, minutes in places(spec, *steps, "webhooks", EACH, "minutes"):
            number = number_of(minutes)
            if number is not None and number < again:
                message = (
                    f"the webhook notifies every {number:g} minutes, and its incident "
                    f"every {again:g}"
                )
                yield SpecFinding(path, message, f"{again:g}")


PRACTICES = (
    LintRule(code="L201", find=undescribed),
    LintRule(code="L202", asked=True, find=without_runbook),
    LintRule(code="L203", find=_unheard),
    LintRule(code="L204", find=_grouped_otherwise),
    LintRule(code="L205", find=_reported_too_often),
    LintRule(code="L206", find=partial(crossings, outcome=NEVER)),
    LintRule(code="L207", find=partial(crossings, outcome=ALWAYS)),
    LintRule(code="L208", find=short_windows),
    LintRule(code="L209", asked=True, find=off_for_good),
)
