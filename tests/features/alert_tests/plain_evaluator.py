"""A second evaluator of log alerts: slow and obvious, and written from the documents alone.

It looks at all rows for each whole minute and each group, as docs/alert-tests.md and
docs/assumptions.md describe it. `random_alerts.py` compares the evaluator of the tool with it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR}
LENGTHS = {
    **dict.fromkeys(("MINUTE", "MINUTES"), MINUTE),
    **dict.fromkeys(("HOUR", "HOURS"), HOUR),
    "WEEK": 7 * DAY,
    **dict.fromkeys(("MONTH", "MONTHS"), 30 * DAY),
}
# The length of the two windows, and how far the earlier one is behind.
RELATIVE = {
    "PREVIOUS_HOUR": (HOUR, HOUR),
    "SAME_HOUR_YESTERDAY": (HOUR, DAY),
    "SAME_HOUR_LAST_WEEK": (HOUR, 7 * DAY),
    "YESTERDAY": (DAY, DAY),
    "SAME_DAY_LAST_WEEK": (DAY, 7 * DAY),
    "SAME_DAY_LAST_MONTH": (DAY, 30 * DAY),
}
LABELS = {
    **dict.fromkeys(("applicationName", "application"), "application"),
    **dict.fromkeys(("subsystemName", "subsystem"), "subsystem"),
    "severity": "severity",
}
Group = tuple[str, ...]


class PlainRow(NamedTuple):
    """A row: when it came, its labels, and its line."""

    at: int
    labels: dict[str, str]
    line: Any


# Queries.


class Term(NamedTuple):
    """One thing to look for: a word, phrase, pattern, regular expression, range or comparison."""

    kind: str
    text: str
    field: str | None


class Node(NamedTuple):
    """Parts that are joined: `any`, `all`, `not`, `must`, or `list` without an operator."""

    joined: str
    parts: list[Any]


TOKEN = re.compile(
    r"""\s*(?:
      (?P<phrase>"(?:\\.|[^"\\])*") | (?P<regex>/(?:\\.|[^/\\])*/)
    | (?P<range>[\[{]\s*(?:"[^"]*"|\S+)\s+TO\s+(?:"[^"]*"|[^\s\]}]+)\s*[\]}])
    | (?P<compare>[<>]=?(?:"[^"]*"|(?:\\.|[^\s()])+)) | (?P<boost>\^[\d.]+)
    | (?P<sign>[()+-]) | (?P<field>(?:\\.|[^\s:()\[\]{}"^<>\\])+):
    | (?P<word>(?:\\.|[^\s:()\[\]{}"^<>\\])+))""",
    re.VERBOSE,
)


class QueryReader:
    """A parser that goes down one rule a level: list, OR, AND, sign, term."""

    def __init__(self, query: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        place, query = 0, query.strip()
        while place < len(query):
            found = TOKEN.match(query, place)
            assert found, query[place:]
            kind = str(found.lastgroup)
            if kind != "boost":
                self.tokens.append((kind, found[kind]))
            place = found.end()

    def next_is(self, *tokens: tuple[str, str]) -> bool:
        """Return whether one of these comes next."""
        return bool(self.tokens) and self.tokens[0] in tokens

    def terms(self, name: str | None) -> Any:
        """Read terms without an operator between them."""
        parts = [self.either(name)]
        while self.tokens and not self.next_is(("sign", ")")):
            parts.append(self.either(name))
        return parts[0] if len(parts) == 1 else Node("list", parts)

    def either(self, name: str | None) -> Any:
        """Read terms with OR between them."""
        parts = [self.both(name)]
        while self.next_is(("word", "OR")):
            self.tokens.pop(0)
            parts.append(self.both(name))
        return parts[0] if len(parts) == 1 else Node("any", parts)

    def both(self, name: str | None) -> Any:
        """Read terms with AND between them."""
        parts = [self.signed(name)]
        while self.next_is(("word", "AND")):
            self.tokens.pop(0)
            parts.append(self.signed(name))
        return parts[0] if len(parts) == 1 else Node("all", parts)

    def signed(self, name: str | None) -> Any:
        """Read a term with what is before it."""
        if self.next_is(("word", "NOT"), ("sign", "-")):
            self.tokens.pop(0)
            return Node("not", [self.signed(name)])
        if self.next_is(("sign", "+")):
            self.tokens.pop(0)
            return Node("must", [self.signed(name)])
        kind, text = self.tokens.pop(0)
        if kind == "field":
            return self.signed(unescaped(text))
        if kind == "sign":
            inner = self.terms(name)
            self.tokens.pop(0)
            return Node("any", [inner])
        return Term(kind, text, name)


def unescaped(text: str) -> str:
    """Return a text without its backslashes."""
    return re.sub(r"\\(.)", r"\1", text)


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters."""
    return re.findall(r"\w+(?:[.']\w+)*", text.lower())


def query_matches(node: Any, row: PlainRow) -> bool:
    """Return whether a row matches a query."""
    if isinstance(node, Term):
        if node.field == "_exists_":
            return bool(values_at(row, node.text))
        return any(term_matches(node, value) for value in values_at(row, node.field))
    met = [query_matches(part, row) for part in node.parts]
    if node.joined == "not":
        return not met[0]
    if node.joined == "all":
        return all(met)
    if node.joined == "list":
        kinds = [part.joined if isinstance(part, Node) else "" for part in node.parts]
        required = [hit for hit, kind in zip(met, kinds, strict=True) if kind == "must"]
        refusals = [hit for hit, kind in zip(met, kinds, strict=True) if kind == "not"]
        free = [hit for hit, kind in zip(met, kinds, strict=True) if kind not in ("must", "not")]
        return all(required) and all(refusals) and (bool(required) or not free or any(free))
    return any(met)


def term_matches(term: Term, value: str) -> bool:
    """Return whether one value has what a term looks for."""
    if term.kind == "range":
        ends = re.findall(r'"[^"]*"|[^\s\[\]{}]+', term.text)
        low, high = ends[0], ends[2]
        return above(value, low, term.text[0] == "[", high) and below(
            value, high, term.text[-1] == "]", low
        )
    if term.kind == "compare":
        end, closed = term.text.lstrip("<>="), "=" in term.text[:2]
        side = above if term.text[0] == ">" else below
        return side(value, end, closed, "*")
    if term.kind == "regex":
        pieces = re.findall(r"\\.|\[\^?|.", term.text[1:-1])
        return pattern_matches(
            "".join("\\" + piece if piece in "$^" else piece for piece in pieces), value
        )
    if term.kind == "word" and re.search(r"[*?]", re.sub(r"\\.", "", term.text)):
        pieces = re.findall(r"\\.|.", term.text)
        joker = {"*": ".*", "?": "."}
        return pattern_matches(
            "".join(joker.get(piece, re.escape(unescaped(piece))) for piece in pieces), value
        )
    wanted = words_of(unescaped(term.text.strip('"') if term.kind == "phrase" else term.text))
    there = words_of(value)
    return any(
        there[place : place + len(wanted)] == wanted
        for place in range(len(there) - len(wanted) + 1)
    )


def pattern_matches(pattern: str, value: str) -> bool:
    """Return whether a pattern is the whole of a value, or of one of its words."""
    return any(
        re.fullmatch(pattern, whole, re.IGNORECASE | re.DOTALL)
        for whole in (value, *words_of(value))
    )


def as_number(text: str) -> float | None:
    """Return the number that a text is."""
    text = text.strip('" ')
    return float(text) if re.fullmatch(r"[+-]?\d*\.?\d+(e[+-]?\d+)?", text) else None


def above(value: str, end: str, closed: bool, other: str) -> bool:
    """Return whether a value is above the lower end of a range."""
    if end == "*":
        return True
    left, right = compared(value, end, other)
    return bool(left is not None and (left > right or (closed and left == right)))


def below(value: str, end: str, closed: bool, other: str) -> bool:
    """Return whether a value is below the upper end of a range."""
    if end == "*":
        return True
    left, right = compared(value, end, other)
    return bool(left is not None and (left < right or (closed and left == right)))


def compared(value: str, end: str, other: str) -> tuple[Any, Any]:
    """Return both sides of a comparison: as numbers where the ends are numbers, else as text."""
    if all(text == "*" or as_number(text) is not None for text in (end, other)):
        return as_number(value), as_number(end)
    return value.lower(), unescaped(end.strip('"')).lower()


# Rows.


def values_at(row: PlainRow, path: str | None) -> list[str]:
    """Return the values of a field, or of the whole line."""
    if path is None:
        return [*leaves(row.line)]
    found = [value for part in parts_at(row.line, path.split(".")) for value in own_values(part)]
    label = LABELS.get(path.removeprefix("metadata."))
    if not found and label:
        return [row.labels[label]] if row.labels[label] else []
    return found


def parts_at(line: Any, steps: list[str]) -> Iterator[Any]:
    """Find each part of a line at a path; a name may hold points itself."""
    if not steps:
        yield line
    elif isinstance(line, list):
        for part in line:
            yield from parts_at(part, steps)
    elif isinstance(line, dict):
        for count in range(1, len(steps) + 1):
            name = ".".join(steps[:count])
            if name in line:
                yield from parts_at(line[name], steps[count:])


def own_values(part: Any) -> list[str]:
    """Return the values that a field has itself."""
    if isinstance(part, list):
        return [value for item in part for value in own_values(item)]
    if isinstance(part, dict):
        return [""]
    return [*leaves(part)]


def leaves(part: Any) -> Iterator[str]:
    """Find each value of a line as text."""
    if isinstance(part, dict):
        part = [*part.values()]
    if isinstance(part, list):
        for item in part:
            yield from leaves(item)
    elif isinstance(part, bool):
        yield str(part).lower()
    elif part is not None:
        yield str(int(part) if isinstance(part, float) and part.is_integer() else part)


def duration(text: str) -> int:
    """Return a duration in milliseconds."""
    return sum(int(count) * UNITS[unit] for count, unit in re.findall(r"(\d+)([smh])", text))


def plain_rows(rows: list[dict[str, Any]], start: int) -> list[PlainRow]:
    """Return rows in the order of their times, each repetition a row of its own."""
    found = []
    for row in rows:
        line = row.get("text", "")
        if isinstance(line, str) and line.startswith("{"):
            line = json.loads(line)
        labels = {name: row.get(name, "") for name in ("application", "subsystem")}
        labels["severity"] = row.get("severity", "info").lower()
        repeat = row.get("repeat", {"times": 1, "every": "0s"})
        for number in range(repeat["times"]):
            at = start + duration(row["at"]) + number * duration(repeat["every"])
            found.append(PlainRow(at, labels, line))
    return sorted(found, key=lambda row: row.at)


# Alerts.


@dataclass
class PlainVerdict:
    """The groups that fire with their priorities; and all counts with what they are compared to.

    A count is (rows, threshold in rows): both in one unit, so that their difference is in rows.
    """

    fired: dict[Group, int] = field(default_factory=dict)
    counts: list[tuple[float, float]] = field(default_factory=list)

    def fire(self, group: Group, priority: int) -> None:
        """Keep the highest priority of a group: P1 is higher than P2."""
        self.fired[group] = min(priority, self.fired.get(group, priority))


def filtered(part: dict[str, Any], rows: list[PlainRow]) -> list[PlainRow]:
    """Return the rows that a filter lets in."""
    simple = part.get("simpleFilter", {})
    query = simple.get("luceneQuery") or ""
    node = QueryReader(query).terms(None) if query.strip() else None
    labels = simple.get("labelFilters") or {}
    return [
        row
        for row in rows
        if (node is None or query_matches(node, row))
        and label_matches(labels.get("applicationName"), row.labels["application"])
        and label_matches(labels.get("subsystemName"), row.labels["subsystem"])
        and severity_matches(labels.get("severities"), row.labels["severity"])
    ]


def label_matches(conditions: list[dict[str, str]] | None, label: str) -> bool:
    """Return whether a label meets any condition, where there is one."""
    return not conditions or any(
        {
            "IS_OR_UNSPECIFIED": label == condition["value"],
            "INCLUDES": condition["value"] in label,
            "STARTS_WITH": label.startswith(condition["value"]),
            "ENDS_WITH": label.endswith(condition["value"]),
        }[condition["operation"].removeprefix("LOG_FILTER_OPERATION_TYPE_")]
        for condition in conditions
    )


def severity_matches(severities: list[str] | None, severity: str) -> bool:
    """Return whether a severity is in a list, where there is one."""
    names = [
        name.removeprefix("LOG_SEVERITY_").removesuffix("_UNSPECIFIED") for name in severities or []
    ]
    return not names or severity.upper() in names


def group_of(row: PlainRow, keys: list[str]) -> Group | None:
    """Return the group of a row: its first value of each key."""
    found = [values_at(row, key) for key in keys]
    return tuple(values[0] for values in found) if all(found) else None


def is_active(spec: dict[str, Any], at: int) -> bool:
    """Return whether an alert is active in the minute of a time."""
    schedule = spec.get("activeOn")
    if not schedule:
        return True
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    minute = moment.hour * 60 + moment.minute
    times = {"startTime": {}, "endTime": {"hours": 23, "minutes": 59}} | schedule
    begin, end = (
        times[name].get("hours", 0) * 60 + times[name].get("minutes", 0)
        for name in ("startTime", "endTime")
    )
    days = [
        DAYS.index(day.removeprefix("DAY_OF_WEEK_").removesuffix("_OR_UNSPECIFIED"))
        for day in schedule.get("dayOfWeek", [])
    ] or [*range(7)]
    today, yesterday = moment.weekday() in days, (moment.weekday() - 1) % 7 in days
    if begin <= end:
        return today and begin <= minute <= end
    return (today and minute >= begin) or (yesterday and minute <= end)


def window_length(window: dict[str, str]) -> int:
    """Return the length of a window, in milliseconds."""
    name = next(iter(window.values())).partition("WINDOW_VALUE_")[2].removesuffix("_OR_UNSPECIFIED")
    unit, _, count = name.partition("_")
    return int(count) * LENGTHS[unit]


def priority_of(spec: dict[str, Any], rule: dict[str, Any]) -> int:
    """Return the priority of a rule: its own, else that of the alert, else 5."""
    name = rule.get("override", {}).get("priority") or spec.get("priority") or "P5"
    return int(re.findall(r"P([1-5])", name)[-1])


def meets(kind: str, value: float, threshold: float) -> bool:
    """Return whether a value is on the side of a threshold that fires."""
    side = kind.partition("CONDITION_TYPE_")[2].removesuffix("_OR_UNSPECIFIED")
    return {
        "MORE_THAN": value > threshold,
        "MORE_THAN_OR_EQUALS": value >= threshold,
        "LESS_THAN": value < threshold,
        "LESS_THAN_OR_EQUALS": value <= threshold,
    }[side]


@dataclass
class PlainEvaluation:
    """One alert on rows from start to end."""

    spec: dict[str, Any]
    rows: list[PlainRow]
    start: int
    end: int
    verdict: PlainVerdict = field(default_factory=PlainVerdict)

    def __post_init__(self) -> None:
        """Read the keys of the groups."""
        self.keys: list[str] = self.spec.get("groupByKeys") or []

    def ends(self, first: int) -> Iterator[int]:
        """Find each whole minute at which the alert is active, from so long after the start."""
        minute = math.ceil((self.start + first) / MINUTE) * MINUTE
        while minute <= self.end:
            if is_active(self.spec, minute):
                yield minute
            minute += MINUTE

    def window(self, rows: list[PlainRow], end: int, length: int) -> list[PlainRow]:
        """Return the rows of a window: open at its beginning, closed at its end."""
        return [row for row in rows if end - length < self.counted_at(row) <= end]

    def counted_at(self, row: PlainRow) -> int:
        """Return when a row counts in windows: the start of a test is in its first minute."""
        return max(row.at, self.start + 1)

    def groups(self, rows: list[PlainRow]) -> set[Group]:
        """Return the groups of rows; without keys there is one."""
        if not self.keys:
            return {()}
        return {group for row in rows if (group := group_of(row, self.keys)) is not None}

    def count(self, rows: list[PlainRow], group: Group) -> int:
        """Return how many rows are of a group."""
        return sum(group_of(row, self.keys) == group for row in rows)

    def logs_immediate(self, part: dict[str, Any]) -> None:
        """Fire on each row."""
        for row in filtered(part.get("logsFilter", {}), self.rows):
            group = group_of(row, self.keys)
            if group is not None and is_active(self.spec, row.at):
                self.verdict.fire(group, priority_of(self.spec, {}))

    def logs_threshold(self, part: dict[str, Any]) -> None:
        """Fire on more or fewer rows in a window than the threshold."""
        rows = filtered(part.get("logsFilter", {}), self.rows)
        silent = part.get("undetectedValuesManagement", {}).get("triggerUndetectedValues", False)
        for rule in part["rules"]:
            condition = rule["condition"]
            kind, limit = condition["conditionType"], condition["threshold"]
            length = window_length(condition["timeWindow"])
            for end in self.ends(length if "LESS_THAN" in kind else 0):
                inside = self.window(rows, end, length)
                known = [row for row in rows if self.counted_at(row) <= end] if silent else inside
                for group in self.groups(known):
                    count = self.count(inside, group)
                    self.verdict.counts.append((count, limit))
                    if meets(kind, count, limit):
                        self.verdict.fire(group, priority_of(self.spec, rule))

    def ratio(
        self, rule: dict[str, Any], upper: list[PlainRow], lower: list[PlainRow], infinite: bool
    ) -> None:
        """Compare one number of rows with another, for each group."""
        kind, limit = rule["condition"]["conditionType"], rule["condition"]["threshold"]
        for group in self.groups([*upper, *lower]):
            above_, below_ = self.count(upper, group), self.count(lower, group)
            if below_:
                self.verdict.counts.append((above_, limit * below_))
                fires = meets(kind, above_ / below_, limit)
            else:
                fires = bool(above_) and infinite and "MORE_THAN" in kind
            if fires:
                self.verdict.fire(group, priority_of(self.spec, rule))

    def logs_ratio_threshold(self, part: dict[str, Any]) -> None:
        """Fire on the ratio of two numbers of rows in one window."""
        upper, lower = (filtered(part[name], self.rows) for name in ("numerator", "denominator"))
        infinite = not part.get("ignoreInfinity", False)
        for rule in part["rules"]:
            length = window_length(rule["condition"]["timeWindow"])
            for end in self.ends(
                length if "LESS_THAN" in rule["condition"]["conditionType"] else 0
            ):
                self.ratio(
                    rule,
                    self.window(upper, end, length),
                    self.window(lower, end, length),
                    infinite,
                )

    def logs_time_relative_threshold(self, part: dict[str, Any]) -> None:
        """Fire on the ratio of the rows in a window and in one before it."""
        rows = filtered(part.get("logsFilter", {}), self.rows)
        infinite = not part.get("ignoreInfinity", False)
        for rule in part["rules"]:
            name = rule["condition"]["comparedTo"].partition("COMPARED_TO_")[2]
            length, behind = RELATIVE[name.removesuffix("_OR_UNSPECIFIED")]
            for end in self.ends(length + behind):
                self.ratio(
                    rule,
                    self.window(rows, end, length),
                    self.window(rows, end - behind, length),
                    infinite,
                )

    def logs_unique_count(self, part: dict[str, Any]) -> None:
        """Fire on more values in a window than the maximum."""
        rows = filtered(part.get("logsFilter", {}), self.rows)
        for rule in part["rules"]:
            limit = int(rule["condition"]["maxUniqueCount"])
            length = window_length(rule["condition"]["timeWindow"])
            for end in self.ends(0):
                inside = self.window(rows, end, length)
                for group in self.groups(inside):
                    values = {
                        value
                        for row in inside
                        if group_of(row, self.keys) == group
                        for value in values_at(row, part["uniqueCountKeypath"])
                    }
                    self.verdict.counts.append((len(values), limit))
                    if len(values) > limit:
                        self.verdict.fire(group, priority_of(self.spec, rule))

    def logs_new_value(self, part: dict[str, Any]) -> None:
        """Fire on a value that no row of the window before has; the first one is learnt."""
        rows = filtered(part.get("logsFilter", {}), self.rows)
        for rule in part["rules"]:
            path = rule["condition"]["keypathToTrack"]
            length = window_length(rule["condition"]["timeWindow"])
            seen: list[tuple[int, Group, str]] = []
            for row in rows:
                group = group_of(row, self.keys)
                if group is None:
                    continue
                for value in values_at(row, path):
                    known = [then for then in seen if then[1] == group]
                    recent = [then for then in known if then[0] > row.at - length]
                    is_new = bool(known) and all(then[2] != value for then in recent)
                    if is_new and is_active(self.spec, row.at):
                        self.verdict.fire(group, priority_of(self.spec, rule))
                    seen.append((row.at, group, value))


PARTS = {
    "logsImmediate": PlainEvaluation.logs_immediate,
    "logsThreshold": PlainEvaluation.logs_threshold,
    "logsRatioThreshold": PlainEvaluation.logs_ratio_threshold,
    "logsTimeRelativeThreshold": PlainEvaluation.logs_time_relative_threshold,
    "logsUniqueCount": PlainEvaluation.logs_unique_count,
    "logsNewValue": PlainEvaluation.logs_new_value,
}


def plainly_judged(
    spec: dict[str, Any], rows: list[dict[str, Any]], until: int | None, start: int
) -> PlainVerdict:
    """Return what an alert does on rows; `until` is in minutes from the start."""
    ordered = plain_rows(rows, start)
    if until is not None:
        end = start + until * MINUTE
    elif ordered:
        end = math.ceil(max(ordered[-1].at, start + 1) / MINUTE) * MINUTE
    else:
        return PlainVerdict()
    evaluation = PlainEvaluation(spec, [row for row in ordered if row.at <= end], start, end)
    (name,) = (name for name in PARTS if name in spec)
    PARTS[name](evaluation, spec[name])
    return evaluation.verdict
