"""Prometheus rule files: an alerting rule becomes an alert definition on a metric. Pure.

Source: https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/. The API cannot
create alert definitions, so the user has to pass the id of an existing definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from reconciler.document import Json, Path
from reconciler.features.import_.match_declared import content_mark
from reconciler.features.import_.records import (
    ALONE,
    MOST_MADE,
    NOTHING_ALIKE,
    Beside,
    Conversion,
    Converted,
    Fields,
    Notes,
    bracketed,
    named,
    number_of,
    plain,
    seconds_of,
    text_at,
)
from reconciler.kinds.alert_definition import ALERT_DEFINITION
from reconciler.kinds.alert_definition.parts import TYPE_OF
from reconciler.workspace.envelope import is_rule_file

PART = "metricThreshold"
SEVERITY = "severity"
PRIORITIES = {
    "page": "P1",
    "critical": "P1",
    "error": "P2",
    "high": "P2",
    "warning": "P3",
    "warn": "P3",
    "medium": "P3",
    "low": "P4",
    "info": "P5_OR_UNSPECIFIED",
    "none": "P5_OR_UNSPECIFIED",
}
MORE, LESS = "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN"
SHORTEST = 60
LONGEST_DESCRIPTION = 3_000
LONGEST_NAME = 512
LONGEST_QUERY = 65_535
DESCRIBING = ("summary", "description", "message")
RESOURCE = "monitoring.coreos.com/"
# An unclosed quote ends with the expression: no character is scanned twice.
_QUOTED = r"\"(?:[^\"\\]|\\(?:.|\Z))*(?:\"|\Z)|'(?:[^'\\]|\\(?:.|\Z))*(?:'|\Z)|`[^`]*(?:`|\Z)"
_TOKEN = re.compile(
    rf"(?P<text>{_QUOTED})|#[^\n]*|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    r"|(?P<sign>\|=|\|~|!~|=~|==|!=|>=|<=|>|<|\|)|(?P<word>[A-Za-z_:][\w:]*)|.",
    re.DOTALL,
)
_SET_OPERATORS = frozenset(("and", "or", "unless"))
_COMPARISONS = frozenset(("==", "!=", ">=", "<=", ">", "<"))
_OF_LOGS = frozenset(("|=", "|~", "|"))


@dataclass(frozen=True, slots=True)
class ThresholdQuery:
    """An expression as a query, with the threshold and the side on which the alert fires.

    With `is_firing`, the query has a series exactly where the rule fires.
    """

    query: str
    condition: str
    threshold: Decimal
    is_firing: bool = False


def _is_unit_test(document: Json) -> bool:
    return isinstance(document, dict) and {"rule_files", "tests"} <= document.keys()


def recognise(document: Json) -> bool:
    """Return whether a document has rules, or the unit tests of rules."""
    return is_rule_file(document) or _is_unit_test(document)


def convert(document: Json, source: str, beside: Beside = ALONE) -> Conversion:
    """Return an alert definition for each alerting rule that can be mapped."""
    del beside
    notes = Notes()
    if _is_unit_test(document):
        notes.leave(source, "unit tests of rules: tests on metrics are not taken")
        return Conversion((), notes.all)
    made: list[Converted] = []
    fields = Fields(document)
    is_resource = fields.text("apiVersion").startswith(RESOURCE)
    if is_resource:
        fields.take("kind")
    for group in (fields.inner("spec") if is_resource else fields).each("groups"):
        made += _alerts_of(group, source, MOST_MADE - len(made), notes)
    called = named(fields.inner("metadata").text("name"))
    notes.unread(f"PrometheusRule `{called}` ({source})" if is_resource else source, fields)
    return Conversion(tuple(made), notes.all)


def _alerts_of(group: Fields, source: str, most: int, notes: Notes) -> list[Converted]:
    # The name is reported with the other fields that have no counterpart.
    where = f"{source}, group `{named(text_at(group.document, 'name'))}`"
    of_all = _OfGroup(dict(group.inner("labels").scalars()), group.scalar("interval") or "")
    made: list[Converted] = []
    recorded: list[str] = []
    of_all.left.unread("group", group.without("rules"))
    for rule in group.each("rules"):
        name = rule.text("alert")
        called = f"alert `{named(name)}` ({where})"
        why = _why_not(rule, is_too_many=len(made) >= most)
        if not name and "record" in rule:
            recorded.append(named(str(rule.value("record"))))
        elif why:
            notes.leave(called, why, is_whole=True)
        else:
            made.append(_converted(rule, of_all))
        # The fields of a rule that is left out whole are not reported.
        rule.take_all()
    if recorded:
        reason = "the API has no recording rules: metrics that they make must come from elsewhere"
        what = f"{len(recorded)} recording rules ({where}): {', '.join(dict.fromkeys(recorded))}"
        notes.leave(what, reason, is_whole=True)
    if not made and of_all.interval:
        notes.leave(f"{where}: interval: {named(of_all.interval)}", NOTHING_ALIKE)
    for left in () if made else of_all.left.all:
        notes.leave(f"{where}: {left.what}", left.why)
    return made


@dataclass(frozen=True, slots=True)
class _OfGroup:
    """The settings of a group for all its rules, and those that have no counterpart."""

    labels: Mapping[str, str]
    interval: str
    left: Notes = field(default_factory=Notes)


def _why_not(rule: Fields, *, is_too_many: bool) -> str:
    """Return why a rule is left out whole, "" where it is not."""
    expression = rule.text("expr")
    if not rule.text("alert"):
        return "it has neither `alert` nor `record`"
    if is_too_many:
        return f"only the first {MOST_MADE:,} alerts of a file are read"
    if not 0 < len(expression) <= LONGEST_QUERY:
        return "it has no expression, or one longer than an alert can hold"
    if is_logql(expression):
        return "its expression is a query of logs (LogQL), no metric"
    return ""


def _converted(rule: Fields, group: _OfGroup) -> Converted:
    notes = Notes()
    name = rule.text("alert")
    compared = compared_in(rule.text("expr"))
    comments: dict[Path, str] = {}
    spec: dict[str, Json] = {"name": name[:LONGEST_NAME]}
    if description := _description(rule, notes):
        spec["description"] = description
    spec["enabled"] = True
    # A rule's own label takes precedence over its group's.
    all_labels = {**group.labels, **dict(rule.inner("labels").scalars())}
    labels = {key: value for key, value in all_labels.items() if "{{" not in value}
    for key in (key for key in all_labels if key not in labels):
        notes.leave(f"label {named(key)}", "it is a template, which a label here cannot be")
    severity = labels.get(SEVERITY, "")
    if severity.lower() in PRIORITIES:
        spec["priority"] = f"ALERT_DEF_PRIORITY_{PRIORITIES[severity.lower()]}"
        comments["priority",] = f"from the label {SEVERITY}: {named(severity)}"
    elif severity:
        notes.leave(f"{SEVERITY}: {named(severity)}", "no priority goes with it: choose one")
    if labels:
        spec["entityLabels"] = dict(labels)
    spec["type"] = TYPE_OF[PART]
    spec[PART] = _part(compared, _window(rule, group, notes))
    if compared.is_firing:
        comment = "1 for each series that fires; gaps count as 0, which is not above the threshold"
        comments[PART, "metricFilter"] = comment
        notes.leave("expr", "it is no comparison with a number alone, so it is kept whole")
    else:
        notes.leave("expr", "the meaning of gaps in its series is unknown: see missingValues")
    if len(name) > LONGEST_NAME:
        notes.leave("alert", f"only the first {LONGEST_NAME} characters of its name fit")
    notes.leave("receivers", "the recipients are in Alertmanager: write a notificationGroup")
    notes.unread("", rule)
    return Converted(
        ALERT_DEFINITION,
        name,
        spec,
        comments,
        (*notes.all, *group.left.all),
        all_labels,
        content_mark({**rule.document, "labels": dict(all_labels)}),
    )


def _part(compared: ThresholdQuery, window: str) -> dict[str, Json]:
    part: dict[str, Json] = {
        "metricFilter": {"promql": compared.query},
        "rules": [
            {
                "condition": {
                    "conditionType": f"METRIC_THRESHOLD_CONDITION_TYPE_{compared.condition}",
                    "threshold": plain(compared.threshold),
                    "forOverPct": 100,
                    "ofTheLast": {"metricTimeWindowDynamicDuration": window},
                }
            }
        ],
    }
    if compared.is_firing:
        part["missingValues"] = {"replaceWithZero": True}
    return part


def _window(rule: Fields, group: _OfGroup, notes: Notes) -> str:
    """Return the time for which a rule has to hold, at least a minute."""
    written = rule.text("for")
    seconds = seconds_of(written) if written else 0
    if seconds is None:
        notes.leave(f"for: {named(written)}", "it cannot be read; one minute was taken")
        seconds = 0
    elif seconds < SHORTEST:
        effect = "it fires at once" if not seconds else f"it waits for {named(written)}"
        interval = named(group.interval) or "the server's interval"
        notes.leave(
            "for", f"{effect}, evaluated at an interval of {interval}; here it holds for a minute"
        )
    elif group.interval:
        notes.leave(f"group: interval: {named(group.interval)}", NOTHING_ALIKE)
    minutes = max(1, -(-seconds // 60))
    if seconds > SHORTEST and seconds % 60:
        notes.leave(f"for: {named(written)}", f"{minutes} minutes were taken")
    hours, rest = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + (f"{rest}m" if rest or not hours else "")


def _description(rule: Fields, notes: Notes) -> str:
    annotations = dict(rule.inner("annotations").scalars())
    lines = [annotations.pop(name).strip() for name in DESCRIBING if name in annotations]
    lines += [f"{key}: {value.strip()}" for key, value in annotations.items()]
    text = "\n".join(filter(None, lines))
    if "{{" in text:
        notes.leave("annotations", "their templates are Prometheus's, and are text here")
    if len(text) > LONGEST_DESCRIPTION:
        notes.leave("annotations", f"only their first {LONGEST_DESCRIPTION:,} characters fit")
    return text[:LONGEST_DESCRIPTION]


def compared_in(expression: str) -> ThresholdQuery:
    """Return an expression as a query and a threshold, if it compares one query with a number.

    Any other expression is kept whole: `group without ()` returns 1 for each of its series.
    """
    signs = [*_top_level(expression)]
    compared = [sign for sign in signs if sign.group() in _COMPARISONS]
    if len(compared) == 1 and not any(sign.group().lower() in _SET_OPERATORS for sign in signs):
        sign = compared[0]
        left, threshold = expression[: sign.start()].strip(), number_of(expression[sign.end() :])
        condition = {">": MORE, "<": LESS}.get(sign.group())
        if condition and left and threshold is not None and number_of(left) is None:
            return ThresholdQuery(left, condition, threshold)
    whole = f"group without () {bracketed(expression)}"
    return ThresholdQuery(whole, MORE, Decimal(0), is_firing=True)


def is_logql(expression: str) -> bool:
    """Return whether a query is about logs: no metric query has a pipe or a line filter."""
    return any(match.group("sign") in _OF_LOGS for match in _TOKEN.finditer(expression))


def _top_level(expression: str) -> Iterator[re.Match[str]]:
    """Yield words and signs outside of brackets and texts."""
    depth = 0
    for token in _TOKEN.finditer(expression):
        depth += bool(token.group("open")) - bool(token.group("close"))
        if depth == 0 and (token.group("sign") or token.group("word")):
            yield token
