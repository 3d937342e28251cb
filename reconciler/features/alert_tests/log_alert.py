"""A log alert as it is evaluated: which rows count, by which rules, in which groups, and when.

Source: the API document for the names of the parts, docs/assumptions.md for their inner forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, TypeAlias

from reconciler.document import Json, texts_in
from reconciler.features.alert_tests.log_row import SEVERITIES, LogRow, Values, text_of, values_of
from reconciler.features.alert_tests.query_match import (
    Matches,
    NotEvaluatedError,
    matcher,
    number_of,
)
from reconciler.redaction.templates import Template

GroupValues: TypeAlias = tuple[str, ...]
Mapped: TypeAlias = Mapping[str, Json]

HOUR, DAY = 60, 24 * 60
"""Minutes."""


class Measure(Enum):
    """The value that a rule compares with its threshold."""

    EACH_ROW = "row"
    COUNT = "number of rows"
    RATIO = "ratio of rows"
    NEW_VALUE = "new value"
    UNIQUE = "number of different values"
    RELATIVE = "ratio of rows to those before"


@dataclass(frozen=True, slots=True)
class AlertRule:
    """A condition. `window` is in minutes; `before` is how many minutes earlier RELATIVE looks."""

    priority: int
    window: int = 1
    threshold: float = 0.0
    more: bool = True
    or_equal: bool = False
    before: int = 0

    def holds(self, value: float) -> bool:
        """Return whether a value is on the rule's side of the threshold."""
        if value == self.threshold:
            return self.or_equal
        return (value > self.threshold) is self.more


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times at which an alert may fire: days (Monday is 0), and minutes of the day, in UTC.

    The minute `end` is inside. If `end` is before `start`, the time goes past midnight; the part
    after midnight belongs to the day of `start`.
    """

    days: frozenset[int]
    start: int
    end: int

    def holds(self, minute: int) -> bool:
        """Return whether the minute (since 1970) is inside."""
        day, time = divmod(minute, DAY)
        # 1970 began on a Thursday.
        if self.start <= self.end:
            return (day + 3) % 7 in self.days and self.start <= time <= self.end
        return (time >= self.start and (day + 3) % 7 in self.days) or (
            time <= self.end and (day + 2) % 7 in self.days
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAlert:
    """A log alert. `counted` has one filter, or those of numerator and denominator.

    `tracked` lists the values of a row that are compared with those of other rows.
    """

    measure: Measure
    counted: tuple[Matches, ...]
    rules: tuple[AlertRule, ...]
    keys: tuple[str, ...] = ()
    tracked: Values = lambda _: [""]
    ignore_infinity: bool = False
    silence_triggers: bool = False
    schedule: Schedule | None = None
    group_of: Callable[[LogRow], GroupValues | None] = lambda _: ()


def read_alert(spec: Mapped) -> LogAlert:
    """Read the `spec` of an alert definition.

    Raises NotEvaluatedError for one that cannot be evaluated without the service.
    """
    present = [part for part in _READERS if isinstance(spec.get(part), dict)]
    if not present:
        of_type = str(spec.get("type", "")).removeprefix("ALERT_DEF_TYPE_")
        named = of_type.removesuffix("_OR_UNSPECIFIED").replace("_", " ").lower()
        raise NotEvaluatedError(f"alerts of type {named or 'unknown'} are not evaluated")
    part = _mapping(spec, present[0])
    judged = {key: value for key, value in spec.items() if key in (present[0], *_BESIDE)}
    if any(isinstance(text, Template) for text in texts_in(judged)):
        raise NotEvaluatedError("it has a secret or a reference, which only an apply fills in")
    keys = tuple(str(key) for key in _list(spec, "groupByKeys"))
    alert = _READERS[present[0]](part, _priority(spec, _LOWEST))
    return replace(
        alert,
        keys=keys,
        group_of=_grouping(keys),
        ignore_infinity=part.get("ignoreInfinity") is True,
        silence_triggers=_mapping(part, "undetectedValuesManagement").get("triggerUndetectedValues")
        is True,
        schedule=_schedule(spec),
    )


def _immediate(part: Mapped, priority: int) -> LogAlert:
    counted = (_filter(part, "logsFilter"),)
    return LogAlert(measure=Measure.EACH_ROW, counted=counted, rules=(AlertRule(priority),))


def _threshold(part: Mapped, priority: int) -> LogAlert:
    window = ("logsTimeWindowSpecificValue", 5)
    rules = tuple(_compared(rule, priority, *window) for rule in _rules(part))
    return LogAlert(measure=Measure.COUNT, counted=(_filter(part, "logsFilter"),), rules=rules)


def _ratio(part: Mapped, priority: int) -> LogAlert:
    for_whom = str(part.get("groupByFor", _BOTH))
    if not for_whom.endswith(_BOTH):
        raise NotEvaluatedError(f"`groupByFor: {for_whom}` is not evaluated")
    window = ("logsRatioTimeWindowSpecificValue", 5)
    rules = tuple(_compared(rule, priority, *window) for rule in _rules(part))
    sides = (_filter(part, "numerator"), _filter(part, "denominator"))
    return LogAlert(measure=Measure.RATIO, counted=sides, rules=rules)


def _new_value(part: Mapped, priority: int) -> LogAlert:
    rules = _rules(part)
    tracked = {_text(_mapping(rule, "condition"), "keypathToTrack") for rule in rules}
    if len(tracked) != 1:
        raise NotEvaluatedError("rules that track different fields are not evaluated")
    window = ("logsNewValueTimeWindowSpecificValue", 12 * HOUR)
    return LogAlert(
        measure=Measure.NEW_VALUE,
        counted=(_filter(part, "logsFilter"),),
        rules=tuple(
            AlertRule(_priority_of(rule, priority), _window(rule, *window)) for rule in rules
        ),
        tracked=values_of(tracked.pop()),
    )


def _unique(part: Mapped, priority: int) -> LogAlert:
    window = ("logsUniqueValueTimeWindowSpecificValue", 1)
    rules = tuple(
        AlertRule(
            _priority_of(rule, priority),
            _window(rule, *window),
            _number(_mapping(rule, "condition").get("maxUniqueCount", 0), "maxUniqueCount"),
        )
        for rule in _rules(part)
    )
    return LogAlert(
        measure=Measure.UNIQUE,
        counted=(_filter(part, "logsFilter"),),
        rules=rules,
        tracked=values_of(_text(part, "uniqueCountKeypath")),
    )


_COMPARED_TO: Final = {
    "PREVIOUS_HOUR": (HOUR, HOUR),
    "SAME_HOUR_YESTERDAY": (HOUR, DAY),
    "SAME_HOUR_LAST_WEEK": (HOUR, 7 * DAY),
    "YESTERDAY": (DAY, DAY),
    "SAME_DAY_LAST_WEEK": (DAY, 7 * DAY),
    "SAME_DAY_LAST_MONTH": (DAY, 30 * DAY),
}
"""The compared window, and how much earlier the other window is, both in minutes."""


def _relative(part: Mapped, priority: int) -> LogAlert:
    rules = []
    for rule in _rules(part):
        named = str(_mapping(rule, "condition").get("comparedTo", "PREVIOUS_HOUR"))
        found = _COMPARED_TO.get(
            named.removeprefix("LOGS_TIME_RELATIVE_COMPARED_TO_").removesuffix("_OR_UNSPECIFIED")
        )
        if found is None:
            raise NotEvaluatedError(f"`comparedTo: {named}` is not evaluated")
        compared = _compared(rule, priority, "", found[0])
        rules.append(replace(compared, before=found[1]))
    return LogAlert(
        measure=Measure.RELATIVE, counted=(_filter(part, "logsFilter"),), rules=tuple(rules)
    )


_READERS: Final[Mapping[str, Callable[[Mapped, int], LogAlert]]] = {
    "logsImmediate": _immediate,
    "logsThreshold": _threshold,
    "logsRatioThreshold": _ratio,
    "logsNewValue": _new_value,
    "logsUniqueCount": _unique,
    "logsTimeRelativeThreshold": _relative,
}

_BESIDE: Final = ("groupByKeys", "activeOn", "priority")
"""Fields of an alert that decide when it fires, next to the part of its type."""

_BOTH: Final = "BOTH_OR_UNSPECIFIED"
_COMPARISON = re.compile(r"LOGS_[A-Z_]*CONDITION_TYPE_(MORE|LESS)_THAN(_OR_EQUALS)?")
_WINDOW = re.compile(r"_(MINUTE|HOUR|WEEK|MONTH)S?_(\d{1,4})")
_UNITS: Final = {"MINUTE": 1, "HOUR": HOUR, "WEEK": 7 * DAY, "MONTH": 30 * DAY}
_PRIORITY = re.compile(r"ALERT_DEF_PRIORITY_P([1-5])")
_LOWEST: Final = 5
_UNSPECIFIED: Final = "_OR_UNSPECIFIED"


def _compared(rule: Mapped, priority: int, window: str, minutes: int) -> AlertRule:
    condition = _mapping(rule, "condition")
    written = str(condition.get("conditionType", "LOGS_CONDITION_TYPE_MORE_THAN"))
    found = _COMPARISON.fullmatch(written.removesuffix(_UNSPECIFIED))
    if found is None:
        raise NotEvaluatedError(f"`conditionType: {written}` is not evaluated")
    return AlertRule(
        _priority_of(rule, priority),
        _window(rule, window, minutes),
        _number(condition.get("threshold", 0), "threshold"),
        found[1] == "MORE",
        found[2] is not None,
    )


def _window(rule: Mapped, key: str, minutes: int) -> int:
    window = _mapping(_mapping(rule, "condition"), "timeWindow")
    if window.keys() - {key}:
        raise NotEvaluatedError(f"`timeWindow` with {', '.join(sorted(window))} is not evaluated")
    written = window.get(key)
    if written is None:
        return minutes
    found = _WINDOW.search(str(written))
    if found is None or not int(found[2]):
        raise NotEvaluatedError(f"`{key}: {written}` is not evaluated")
    return _UNITS[found[1]] * int(found[2])


def _filter(part: Mapped, side: str) -> Matches:
    """Return whether a row counts: its severity, its labels and the query."""
    given = _mapping(part, side)
    if given.keys() - {"simpleFilter"}:
        raise NotEvaluatedError(f"`{side}` with {', '.join(sorted(given))} is not evaluated")
    simple = _mapping(given, "simpleFilter")
    labels = _mapping(simple, "labelFilters")
    tests: list[Matches] = []
    severities = frozenset(map(_severity, _list(labels, "severities")))
    if severities:
        tests.append(lambda row: row.severity in severities)
    for key, name in (("applicationName", "application"), ("subsystemName", "subsystem")):
        conditions = [_label(condition) for condition in _list(labels, key)]
        if conditions:
            tests.append(_label_holds(name, conditions))
    query = _text(simple, "luceneQuery")
    if query.strip():
        tests.append(matcher(query))
    if len(tests) == 1:
        return tests[0]
    return lambda row: all(test(row) for test in tests)


def _label_holds(name: str, conditions: Sequence[Callable[[str], bool]]) -> Matches:
    return lambda row: any(holds(getattr(row, name)) for holds in conditions)


def _label(condition: Json) -> Callable[[str], bool]:
    if not isinstance(condition, dict):
        raise NotEvaluatedError("a condition on a label must be a mapping")
    value = _text(condition, "value")
    operation = str(condition.get("operation", "IS"))
    match operation.removeprefix("LOG_FILTER_OPERATION_TYPE_").removesuffix(_UNSPECIFIED):
        case "IS":
            return lambda label: label == value
        case "INCLUDES":
            return lambda label: value in label
        case "STARTS_WITH":
            return lambda label: label.startswith(value)
        case "ENDS_WITH":
            return lambda label: label.endswith(value)
        case _:
            raise NotEvaluatedError(f"`operation: {operation}` is not evaluated")


def _severity(written: Json) -> str:
    text = str(written).removeprefix("LOG_SEVERITY_").removesuffix("_UNSPECIFIED").lower()
    if text not in SEVERITIES:
        raise NotEvaluatedError(f"the severity {written} is not evaluated")
    return text


def _grouping(keys: Sequence[str]) -> Callable[[LogRow], GroupValues | None]:
    """Return the group of a row: its values of the keys; None if it lacks one of them."""
    columns = [values_of(key) for key in keys]

    def group_of(row: LogRow) -> GroupValues | None:
        group = []
        for values in columns:
            text = next(filter(None, map(text_of, values(row))), None)
            if text is None:
                return None
            group.append(text)
        return tuple(group)

    return group_of


_WEEK: Final = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")


def _schedule(spec: Mapped) -> Schedule | None:
    if not isinstance(spec.get("activeOn"), dict):
        return None
    active = _mapping(spec, "activeOn")
    days = set()
    for day in _list(active, "dayOfWeek"):
        name = str(day).removeprefix("DAY_OF_WEEK_").removesuffix(_UNSPECIFIED)
        if name not in _WEEK:
            raise NotEvaluatedError(f"the day {day} is not evaluated")
        days.add(_WEEK.index(name))
    start = _time(_mapping(active, "startTime"))
    end = _time(_mapping(active, "endTime")) if active.get("endTime") else DAY - 1
    return Schedule(frozenset(days or range(len(_WEEK))), start, end)


def _time(of_day: Mapped) -> int:
    hours, minutes = (int(_number(of_day.get(key, 0), key)) for key in ("hours", "minutes"))
    minute = hours * HOUR + minutes
    if not 0 <= minute < DAY:
        raise NotEvaluatedError(f"the time {hours}:{minutes:02} is not evaluated")
    return minute


def _priority(holder: Mapped, inherited: int) -> int:
    """Return 1 for P1 to 5 for P5."""
    written = holder.get("priority")
    if written is None:
        return inherited
    found = _PRIORITY.match(str(written))
    if found is None:
        raise NotEvaluatedError(f"the priority {written} is not evaluated")
    return int(found[1])


def _priority_of(rule: Mapped, inherited: int) -> int:
    return _priority(_mapping(rule, "override"), inherited)


def _rules(part: Mapped) -> list[dict[str, Json]]:
    rules = [rule for rule in _list(part, "rules") if isinstance(rule, dict)]
    if not rules:
        raise NotEvaluatedError("an alert without `rules` is not evaluated")
    return rules


def _mapping(holder: Mapped, key: str) -> Mapped:
    value = holder.get(key)
    if value is not None and not isinstance(value, dict):
        raise NotEvaluatedError(f"`{key}` must be a mapping")
    return value or {}


def _list(holder: Mapped, key: str) -> list[Json]:
    value = holder.get(key)
    if value is not None and not isinstance(value, list):
        raise NotEvaluatedError(f"`{key}` must be a list")
    return value or []


def _text(holder: Mapped, key: str) -> str:
    value = holder.get(key)
    if value is not None and not isinstance(value, str):
        raise NotEvaluatedError(f"`{key}` must be a text")
    return value or ""


def _number(value: Json, name: str) -> float:
    number = number_of(text_of(value))
    if number is None:
        raise NotEvaluatedError(f"`{name}` must be a number")
    return number
