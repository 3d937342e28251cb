"""When a log alert fires on rows: pure, one pass, in the memory of one window and its groups.

A window ends at a whole minute, is open at its beginning and closed at its end. Between two changes
of a window its value is constant, so a group is judged only at these changes.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from reconciler.features.alert_tests.log_alert import (
    DAY,
    AlertRule,
    GroupValues,
    LogAlert,
    Measure,
    Schedule,
)
from reconciler.features.alert_tests.log_row import MINUTE, LogRow, text_of


@dataclass(frozen=True, slots=True)
class Judged:
    """The value of a rule for a group at a minute since 1970."""

    value: float
    minute: int
    group: GroupValues


@dataclass(slots=True)
class AlertVerdict:
    """The result of an alert on rows. `fired` has the highest priority (1 is P1) of each group.

    `counted` is the number of rows that match, of numerator and denominator together; `ungrouped`
    of these lack a key. `nearest` has for each rule the value that came nearest to firing, or that
    fired most clearly; None if no value was judged.
    """

    nearest: list[Judged | None]
    counted: int = 0
    ungrouped: int = 0
    fired: dict[GroupValues, int] = field(default_factory=dict)
    first: Judged | None = None

    @property
    def priority(self) -> int | None:
        """The highest priority that fired; 1 is P1."""
        return min(self.fired.values(), default=None)


OnValue = Callable[[int, Judged], None]
"""Called with the number of a rule and each value that is judged."""


def evaluate(
    alert: LogAlert,
    rows: Iterable[LogRow],
    start: int,
    until: int | None = None,
    on_value: OnValue | None = None,
) -> AlertVerdict:
    """Evaluate an alert on rows in the order of their times, from `start` to `until`.

    Both are milliseconds since 1970; without `until`, the evaluation ends with the minute of the
    last row. Rows after `until` do not count, nor do windows that end after it.
    """
    run = _Run(alert, start, on_value)
    end = run.start
    for row in rows:
        if until is not None and row.at > until:
            break
        end = run.add(row)
    run.advance(max(end, run.start) if until is None else until // MINUTE)
    return run.verdict


class _State(Protocol):
    """The rows of one group in the window of one rule."""

    def add(self, bucket: int, side: int, value: str, /) -> None:
        """Count a row of a side."""

    def at(self, minute: int) -> float:
        """Return the value of the window that ends at `minute`."""

    def is_empty(self) -> bool:
        """Return whether no row is in the window, or will enter it later."""


class _Count:
    """The number of rows in a window that ends `delay` minutes earlier."""

    __slots__ = ("counted", "delay", "total", "waiting", "window")

    def __init__(self, window: int, delay: int = 0) -> None:
        self.window, self.delay, self.total = window, delay, 0
        self.waiting: deque[list[int]] = deque()
        self.counted: deque[list[int]] = deque()

    def add(self, bucket: int, *_: object) -> None:
        if self.waiting and self.waiting[-1][0] == bucket:
            self.waiting[-1][1] += 1
        else:
            self.waiting.append([bucket, 1])

    def at(self, minute: int) -> float:
        end = minute - self.delay
        while self.waiting and self.waiting[0][0] <= end:
            self.counted.append(self.waiting.popleft())
            self.total += self.counted[-1][1]
        while self.counted and self.counted[0][0] <= end - self.window:
            self.total -= self.counted.popleft()[1]
        return self.total

    def is_empty(self) -> bool:
        return not self.waiting and not self.counted


class _Quotient:
    """A count divided by another count; without any row of either, the value is not a number."""

    __slots__ = ("above", "below", "is_relative")

    def __init__(self, rule: AlertRule, *, is_relative: bool) -> None:
        self.above = _Count(rule.window)
        self.below = _Count(rule.window, rule.before)
        self.is_relative = is_relative

    def add(self, bucket: int, side: int, *_: object) -> None:
        if side == 0:
            self.above.add(bucket)
        if side == 1 or self.is_relative:
            self.below.add(bucket)

    def at(self, minute: int) -> float:
        above, below = self.above.at(minute), self.below.at(minute)
        if below:
            return above / below
        return math.inf if above else math.nan

    def is_empty(self) -> bool:
        return self.above.is_empty() and self.below.is_empty()


class _Unique:
    """The number of different values in a window."""

    __slots__ = ("buckets", "times", "window")

    def __init__(self, window: int) -> None:
        self.window = window
        self.buckets: deque[tuple[int, set[str]]] = deque()
        self.times: dict[str, int] = {}

    def add(self, bucket: int, _: int, value: str) -> None:
        if not self.buckets or self.buckets[-1][0] != bucket:
            self.buckets.append((bucket, set()))
        if value not in self.buckets[-1][1]:
            self.buckets[-1][1].add(value)
            self.times[value] = self.times.get(value, 0) + 1

    def at(self, minute: int) -> float:
        while self.buckets and self.buckets[0][0] <= minute - self.window:
            for value in self.buckets.popleft()[1]:
                self.times[value] -= 1
                if not self.times[value]:
                    del self.times[value]
        return len(self.times)

    def is_empty(self) -> bool:
        return not self.buckets


def _state(alert: LogAlert, rule: AlertRule) -> _State:
    match alert.measure:
        case Measure.RATIO | Measure.RELATIVE:
            return _Quotient(rule, is_relative=alert.measure is Measure.RELATIVE)
        case Measure.UNIQUE:
            return _Unique(rule.window)
        case _:
            return _Count(rule.window)


class _Run:
    """One evaluation. `due` are the groups to judge at a minute, `minutes` a heap of its keys.

    `last` is the last minute of a group's rows.
    """

    def __init__(self, alert: LogAlert, begin: int, on_value: OnValue | None) -> None:
        self.alert, self.begin, self.on_value = alert, begin, on_value
        self.start = -(-begin // MINUTE)
        self.verdict = AlertVerdict([None] * len(alert.rules))
        self.groups: dict[GroupValues, list[_State]] = {}
        self.last: dict[GroupValues, int] = {}
        self.seen: dict[GroupValues, list[dict[str, int]]] = {}
        self.due: dict[int, set[GroupValues]] = {}
        self.minutes: list[int] = []
        if not alert.keys and alert.measure not in (Measure.EACH_ROW, Measure.NEW_VALUE):
            self._begin((), self.start)

    def add(self, row: LogRow) -> int:
        """Evaluate all minutes before that of the row, then count the row; return its minute."""
        # A window is closed at its end, and a row at the very start is in the first minute.
        bucket, alert = -(-(row.at + (row.at == self.begin)) // MINUTE), self.alert
        self.advance(bucket - 1)
        for side, counts in enumerate(alert.counted):
            if not counts(row):
                continue
            self.verdict.counted += 1
            group = alert.group_of(row)
            if group is None:
                self.verdict.ungrouped += 1
                continue
            if alert.measure is Measure.EACH_ROW:
                self._judge(0, Judged(1, row.at // MINUTE, group))
            elif alert.measure is Measure.NEW_VALUE:
                self._look_for_new(row, group)
            else:
                self._count(row, bucket, side, group)
        return bucket

    def _count(self, row: LogRow, bucket: int, side: int, group: GroupValues) -> None:
        states = self.groups.get(group) or self._begin(group, bucket)
        if self.last.get(group) != bucket:
            self.last[group] = bucket
            for rule in self.alert.rules:
                for change in (0, rule.window, rule.before, rule.before + rule.window):
                    self._plan(bucket + change, group)
        values = [text_of(value) for value in self.alert.tracked(row)]
        for state in states:
            for value in values:
                state.add(bucket, side, value)

    def _begin(self, group: GroupValues, bucket: int) -> list[_State]:
        states = self.groups[group] = [_state(self.alert, rule) for rule in self.alert.rules]
        for rule in self.alert.rules:
            self._plan(max(bucket, self._first_judged(rule)), group)
        return states

    def _first_judged(self, rule: AlertRule) -> int:
        """Return the first minute at which a rule is judged: less-than needs a whole window."""
        if rule.before:
            return self.start + rule.before + rule.window
        return self.start if rule.more else self.start + rule.window

    def _plan(self, minute: int, group: GroupValues) -> None:
        due = self.due.get(minute)
        if due is None:
            due = self.due[minute] = set()
            heapq.heappush(self.minutes, minute)
        due.add(group)

    def advance(self, last: int) -> None:
        while self.minutes and self.minutes[0] <= last:
            minute = heapq.heappop(self.minutes)
            for group in self.due.pop(minute):
                self._judge_group(group, minute)

    def _judge_group(self, group: GroupValues, minute: int) -> None:
        states, alert = self.groups.get(group), self.alert
        if states is None:
            return
        for number, state in enumerate(states):
            value = state.at(minute)
            is_silent = bool(alert.keys) and state.is_empty() and not alert.silence_triggers
            ignored = math.isnan(value) or (math.isinf(value) and alert.ignore_infinity)
            is_whole = minute >= self._first_judged(alert.rules[number])
            if is_whole and not ignored and not is_silent:
                self._judge(number, Judged(value, minute, group))
        if group and not alert.silence_triggers and all(state.is_empty() for state in states):
            del self.groups[group], self.last[group]

    def _judge(self, number: int, judged: Judged) -> None:
        rule, verdict = self.alert.rules[number], self.verdict
        if self.on_value is not None:
            self.on_value(number, judged)
        nearest = verdict.nearest[number]
        if nearest is None or (
            judged.value > nearest.value if rule.more else judged.value < nearest.value
        ):
            verdict.nearest[number] = judged
        if not rule.holds(judged.value):
            return
        schedule = self.alert.schedule
        if schedule is None or schedule.holds(judged.minute):
            verdict.first = verdict.first or judged
            fired = verdict.fired.get(judged.group, rule.priority)
            verdict.fired[judged.group] = min(fired, rule.priority)
        elif judged.group in self.groups:
            self._plan(_next_active(schedule, judged.minute), judged.group)

    def _look_for_new(self, row: LogRow, group: GroupValues) -> None:
        """Judge each value that a row tracks. The first one of a group is learnt."""
        for value in map(text_of, self.alert.tracked(row)):
            is_first = group not in self.seen
            known = self.seen.setdefault(group, [{} for _ in self.alert.rules])
            for number, times in enumerate(known):
                window = self.alert.rules[number].window * MINUTE
                while times and row.at - next(iter(times.values())) >= window:
                    del times[next(iter(times))]
                if times.pop(value, None) is None and not is_first:
                    self._judge(number, Judged(1, row.at // MINUTE, group))
                times[value] = row.at


def _next_active(schedule: Schedule, minute: int) -> int:
    """Return the next minute at which a schedule that does not hold now begins to hold."""
    day = minute // DAY
    begins = ((day + days) * DAY + schedule.start for days in count())
    return next(begin for begin in begins if begin > minute and schedule.holds(begin))
