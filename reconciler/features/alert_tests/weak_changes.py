"""Small changes of an alert, and those that none of its tests notices."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, TypeAlias

from luqum import tree as lucene
from luqum.exceptions import ParseError
from luqum.thread import parse

from reconciler.document import Json
from reconciler.features.alert_tests.alert_test import AlertTest
from reconciler.features.alert_tests.log_alert import AlertRule, LogAlert, Measure, read_alert
from reconciler.features.alert_tests.query_match import NotEvaluatedError
from reconciler.features.alert_tests.run_tests import Failed, Rows, run_test

MOST_PARTS: Final = 100
"""Parts of a query that are left out one by one."""

_COMPARING = (Measure.COUNT, Measure.RATIO, Measure.UNIQUE, Measure.RELATIVE)
_WHOLE = (Measure.COUNT, Measure.UNIQUE)
_ARE_LISTS = ("severities", "applicationName", "subsystemName")


@dataclass(frozen=True, slots=True)
class Weakness:
    """A small change of an alert, in words."""

    change: str


_Changed: TypeAlias = tuple[str, Callable[[], LogAlert]]


def weaknesses(
    spec: Mapping[str, Json], tests: Sequence[AlertTest], rows: Rows
) -> Iterator[Weakness]:
    """Yield the small changes of an alert under which all its tests still hold."""
    for change, make in changes(spec):
        try:
            alert = make()
        except NotEvaluatedError:
            continue
        if not any(isinstance(run_test(alert, test, rows(test)), Failed) for test in tests):
            yield Weakness(change)


def changes(spec: Mapping[str, Json]) -> Iterator[_Changed]:
    """Yield each small change of an alert in words, with the changed alert.

    Thresholds are doubled and halved, windows are halved, and each filter and each part of a query
    is left out.
    """
    alert = read_alert(spec)
    for number, rule in enumerate(alert.rules):
        for changed, words in _of_rule(alert, rule):
            rules = (*alert.rules[:number], changed, *alert.rules[number + 1 :])
            which = f" of rule {number + 1}" * (len(alert.rules) > 1)
            yield f"{words}{which}", _made(alert, rules)
    for words, shorter in _of_filters(spec):
        yield words, _read(shorter)


def _made(alert: LogAlert, rules: tuple[Any, ...]) -> Callable[[], LogAlert]:
    return lambda: replace(alert, rules=rules)


def _read(spec: Mapping[str, Json]) -> Callable[[], LogAlert]:
    return lambda: read_alert(spec)


def _of_rule(alert: LogAlert, rule: AlertRule) -> Iterator[tuple[AlertRule, str]]:
    if alert.measure in _COMPARING:
        for factor, word in ((2, "doubled"), (0.5, "halved")):
            if rule.threshold:
                changed = replace(rule, threshold=rule.threshold * factor)
                if alert.measure not in _WHOLE or _differ(rule, changed):
                    yield changed, f"the threshold {word}, to {changed.threshold:g}"
    if alert.measure is not Measure.EACH_ROW and rule.window > 1 and not rule.before:
        window = rule.window // 2
        yield replace(rule, window=window), f"the window halved, to {window} minutes"


def _differ(rule: AlertRule, changed: AlertRule) -> bool:
    """Return whether two rules differ on a whole number."""
    ends = (math.floor(rule.threshold), math.floor(changed.threshold))
    numbers = range(max(min(ends), 0), max(ends) + 2)
    near = [*numbers[:3], *numbers[-3:]]
    return any(rule.holds(number) != changed.holds(number) for number in near)


def _of_filters(spec: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for part, side in _filters(spec):
        where = f" of the {side}" * (side != "logsFilter")
        simple = _simple(spec, part, side)
        labels = simple.get("labelFilters") or {}
        for key in _ARE_LISTS:
            if labels.get(key):
                changed = copy.deepcopy(dict(spec))
                del _simple(changed, part, side)["labelFilters"][key]
                yield f"the filter `{key}`{where} left out", changed
        query = str(simple.get("luceneQuery") or "")
        for shorter, gone in without_a_part(query):
            changed = copy.deepcopy(dict(spec))
            _simple(changed, part, side)["luceneQuery"] = shorter
            yield f"`{gone}` left out of the query{where}", changed


def _filters(spec: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield the part of the alert and the side of each filter that has content."""
    for part, value in spec.items():
        for side in ("logsFilter", "numerator", "denominator"):
            if isinstance(value, dict) and isinstance(value.get(side), dict):
                yield part, side


def _simple(spec: Mapping[str, Any], part: str, side: str) -> dict[str, Any]:
    return spec[part][side].get("simpleFilter") or {}


def without_a_part(query: str) -> Iterator[tuple[str, str]]:
    """Yield for each part of a query the query without it, and the part.

    A query of one part becomes empty.
    """
    try:
        tree = parse(query)
    except (ParseError, ArithmeticError, ValueError, RecursionError):
        return
    # A query of thousands of terms is made by a program, and so are its tests.
    paths = [*islice(_parts(tree), MOST_PARTS)]
    if not paths:
        yield "", query.strip()
    for path, index in paths:
        shorter = copy.deepcopy(tree)
        holder = shorter
        for step in path:
            holder = holder.children[step]
        children = list(holder.children)
        gone = children.pop(index)
        holder.children = children
        yield str(shorter).strip(), str(gone).strip()


def _parts(tree: Any) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the path of each operation, and the number of each of its operands."""
    waiting: list[tuple[Any, tuple[int, ...]]] = [(tree, ())]
    while waiting:
        node, path = waiting.pop()
        if isinstance(node, lucene.BaseOperation):
            yield from ((path, index) for index in range(len(node.children)))
        waiting += [(child, (*path, nth)) for nth, child in enumerate(node.children)]
