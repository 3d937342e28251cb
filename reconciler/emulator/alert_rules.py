"""What makes the service refuse one alert definition of a bulk replace.

Bounds of single fields stand in the model; here are those that need a look at
the type, or inside its part. Source: docs/assumptions.md.
"""

import re

from reconciler.emulator.models.alert_definition import AlertDefProperties
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.rendering import as_json

_RULES_AT_MOST = {
    "logsAnomaly": 1,
    "logsNewValue": 1,
    "logsUniqueCount": 1,
    "metricAnomaly": 1,
    "tracingThreshold": 1,
}
_PARTS = (
    "logsImmediate",
    "logsThreshold",
    "logsAnomaly",
    "logsRatioThreshold",
    "logsNewValue",
    "logsUniqueCount",
    "logsTimeRelativeThreshold",
    "metricThreshold",
    "metricAnomaly",
    "tracingImmediate",
    "tracingThreshold",
    "flow",
    "sloThreshold",
)
_LONGEST_PROMQL = 65_535
_LONGEST_DELAY_MS = 10_800_000
_MOST_RULES = 5
_MOST_STAGES = 30


def type_of(part: str) -> str:
    """Name the alert type that goes with a part: `metricThreshold` has `..._METRIC_THRESHOLD`."""
    words = re.sub(r"(?=[A-Z])", "_", part).upper()
    ending = "_OR_UNSPECIFIED" if part == "logsImmediate" else ""
    return f"ALERT_DEF_TYPE_{words}{ending}"


def complaint_about(properties: AlertDefProperties) -> str | None:
    """Say what is wrong with a definition, or None.

    A definition without any part is taken: the API document does not show the
    parts, so it cannot demand one.
    """
    sent = as_json(properties)
    parts = [part for part in _PARTS if part in sent]
    for part in parts:
        if properties.type != type_of(part):
            return f"{part} does not go with {properties.type}"
    complaints = (_complaint_about_part(part, sent[part]) for part in parts)
    return next(filter(None, complaints), None)


def _complaint_about_part(part: str, content: JsonObject) -> str | None:
    most_rules = _RULES_AT_MOST.get(part, _MOST_RULES)
    if not _is_count(content.get("rules"), most_rules):
        return f"{part}.rules: 1 to {most_rules}"
    if not _is_count(content.get("stages"), _MOST_STAGES):
        return f"{part}.stages: 1 to {_MOST_STAGES}"
    if _milliseconds(content.get("evaluationDelayMs")) > _LONGEST_DELAY_MS:
        return f"{part}.evaluationDelayMs: at most {_LONGEST_DELAY_MS}"
    if len(_promql(content)) > _LONGEST_PROMQL:
        return f"{part}.metricFilter.promql: at most {_LONGEST_PROMQL} characters"
    return None


def _is_count(items: object, most: int) -> bool:
    """Whether a list that is there has one to `most` items."""
    return items is None or (isinstance(items, list) and 1 <= len(items) <= most)


def _milliseconds(delay: object) -> int:
    match delay:
        case int():
            return delay
        case str() if delay.isdecimal():
            return int(delay)
        case _:
            return 0


def _promql(content: JsonObject) -> str:
    match content:
        case {"metricFilter": {"promql": str(query)}}:
            return query
        case _:
            return ""
