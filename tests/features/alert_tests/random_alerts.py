"""Random alerts with rows, and two evaluators of them compared.

`python tests/features/alert_tests/random_alerts.py COUNT [SEED]` compares COUNT pairs, prints what
they hold, and ends with 1 where the evaluators disagree.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, TypeVar

# As a script, the file is not below the folders that pytest adds.
sys.path.append(str(Path(__file__).parent))

from plain_evaluator import MINUTE, PARTS, PlainVerdict, plainly_judged, window_length

from reconciler.features.alert_tests.alert_test import MONDAY, rows_in_order
from reconciler.features.alert_tests.evaluate import evaluate
from reconciler.features.alert_tests.log_alert import read_alert

T = TypeVar("T")
Rows = list[dict[str, Any]]
# The part of a type, its rows, and how many minutes it is watched.
Drawn = tuple[dict[str, Any], Rows, int | None]
HOUR = 60  # in minutes, as `until` is
WORDS = ("red", "Red", "green", "blue", "a.b", "it's", "x_y", "7", "12", "naïve", "reddish")
JOINTS = (" ", " ", "-", ", ", "/", ": ", ". ")
LABEL_NAMES = ("applicationName", "subsystem", "severity")
NAMES = ("svc", "event", "n", "deep.er", "tags", "flag", *LABEL_NAMES)
SERVICES = ("cart", "Cart", "pay", "pay-eu")
SEVERITIES = ("debug", "verbose", "info", "warning", "error", "critical")
MORE, LESS = (
    ("MORE_THAN_OR_UNSPECIFIED", "MORE_THAN_OR_EQUALS"),
    ("LESS_THAN", "LESS_THAN_OR_EQUALS"),
)
RELATIVE = {
    "PREVIOUS_HOUR_OR_UNSPECIFIED": 2,
    "SAME_HOUR_YESTERDAY": 25,
    "SAME_HOUR_LAST_WEEK": 169,
    "YESTERDAY": 48,
    "SAME_DAY_LAST_WEEK": 192,
    "SAME_DAY_LAST_MONTH": 744,
}
# Two of these in one alert are not many minutes to look at.
SHORT = ("PREVIOUS_HOUR_OR_UNSPECIFIED", "SAME_HOUR_YESTERDAY", "YESTERDAY")
TERMS = (*["word"] * 5, "phrase", "phrase", "star", "question", "regex", "escape", "boost")
FIELD_TERMS = ("range", "open range", "text range", "greater", "less")
REGULAR_EXPRESSIONS = (
    *("/[a-m].*/", "/r.d/", "/(red|pay).?/", "/ED|red/", "/^red$/", "/[^a]+/", r"/\d+/"),
    "/red.*blue/",
)
DAYS = (
    "MONDAY_OR_UNSPECIFIED",
    *("TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"),
    "SUNDAY",
)
COUNT_WINDOWS = (
    *("MINUTES_5_OR_UNSPECIFIED", "MINUTES_5_OR_UNSPECIFIED", "MINUTES_10", "MINUTES_10"),
    *("MINUTES_15", "MINUTES_20", "MINUTES_30", "HOUR_1", "HOURS_2", "HOURS_4"),
)
UNIQUE_WINDOWS = (
    *("MINUTE_1_OR_UNSPECIFIED", "MINUTES_5", "MINUTES_10", "MINUTES_15", "MINUTES_20"),
    *("MINUTES_30", "HOURS_1", "HOURS_2"),
)
NEW_WINDOWS = (
    *("HOURS_12_OR_UNSPECIFIED", "HOURS_12_OR_UNSPECIFIED", "HOURS_24", "HOURS_48", "HOURS_72"),
    *("WEEK_1", "MONTH_1", "MONTHS_2", "MONTHS_3"),
)
# Each is to be in a hundredth of the pairs.
TRAITS = (
    *PARTS,
    *(f"comparison {how}" for how in (*MORE, *LESS)),
    *(f"ratio {how}" for how in (*MORE, *LESS)),
    *(f"relative {how}" for how in (*MORE, *LESS)),
    *(f"compared to {name}" for name in RELATIVE),
    *(f"label {name}" for name in ("IS_OR_UNSPECIFIED", "INCLUDES", "STARTS_WITH", "ENDS_WITH")),
    *(f"query {name}" for name in ("and", "or", "not", "minus", "plus", "implicit", "group")),
    *(f"query {name}" for name in ("word", "phrase", "star", "question", "regex", "escape")),
    *(f"query {name}" for name in ("range", "open range", "text range", "greater", "less")),
    *(f"query {name}" for name in ("field", "field group", "exists", "label field", "boost")),
    *("severities", "group by", "undetected", "ignore infinity", "several rules", "priority"),
    *("active by day", "active by night", "days", "until", "another start", "repeat", "plain line"),
)


@dataclass
class Pair:
    """A random alert with rows, and what it holds."""

    spec: dict[str, Any]
    rows: Rows
    until: int | None
    start: int
    traits: set[str] = field(default_factory=set)


class RandomPair:
    """Draws one pair of an alert and its rows."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.traits: set[str] = set()
        self.start = MONDAY
        if self.chance(0.3):
            self.traits.add("another start")
            self.start += random.randrange(14 * 24) * HOUR * MINUTE + random.randrange(3) * MINUTE

    def chance(self, share: float) -> bool:
        """Return true in such a share of the draws."""
        return self.random.random() < share

    def one(self, choices: Iterable[T]) -> T:
        """Return one of the choices."""
        return self.random.choice([*choices])

    def trait(self, trait: str, share: float) -> bool:
        """Return true in such a share of the draws, and keep the trait of it."""
        if met := self.chance(share):
            self.traits.add(trait)
        return met

    # Rows.

    def value(self) -> str:
        """Draw the value of a field: one to three words."""
        words = self.random.choices(WORDS, k=self.one((1, 1, 2, 3)))
        return "".join(word + self.one(JOINTS) for word in words[:-1]) + words[-1]

    def line(self) -> Any:
        """Draw a line."""
        if self.trait("plain line", 0.1):
            return self.value()
        line: dict[str, Any] = {
            "event": self.value(),
            "svc": self.one(SERVICES),
            "n": self.one((7, 8, 12.0, 2.5, -3, "7", "12x", None)),
            "deep": {"er": self.value()},
            "tags": [self.value() for _ in range(self.random.randrange(3))],
            "flag": self.chance(0.5),
            "severity": self.one(SERVICES),
        }
        shares = {"severity": 0.1}
        return {name: part for name, part in line.items() if self.chance(shares.get(name, 0.75))}

    def rows(self, count: int, places: list[int], spread: int) -> Rows:
        """Draw rows at most `spread` seconds around places, which are in minutes."""
        drawn: Rows = []
        for _ in range(count):
            second = 60 * self.one(places) + self.one(
                (0, 0, 1, 30, self.random.randrange(-spread, spread))
            )
            row: dict[str, Any] = {"at": f"{max(second, 0)}s", "text": self.line()}
            if self.chance(0.9):
                row["application"] = self.one(SERVICES)
            if self.chance(0.9):
                row["subsystem"] = self.one(SERVICES)
            if self.chance(0.8):
                row["severity"] = self.one(SEVERITIES)
            if drawn and self.chance(0.4):
                row = {**self.one(drawn), "at": row["at"]}
            if self.trait("repeat", 0.1):
                row["repeat"] = {
                    "times": self.one((2, 3, 6)),
                    "every": self.one(("0s", "30s", "1m")),
                }
            drawn.append(row)
        return drawn

    # Queries.

    def term(self, within: bool) -> str:
        """Draw a term; `within` a field group it has no field of its own."""
        if within or self.chance(0.35):
            return self.leaf(TERMS)
        name = self.one(NAMES)
        self.traits.add("query field")
        if self.trait("query exists", 0.15):
            return self.one((f"{name}:*", f"_exists_:{name}"))
        if name in LABEL_NAMES:
            self.traits.add("query label field")
            name = self.one(("", "metadata.")) + name
        return f"{name}:{self.leaf(TERMS + FIELD_TERMS)}"

    def leaf(self, kinds: tuple[str, ...]) -> str:
        """Draw what is looked for in a value."""
        kind = self.one(kinds)
        self.traits.add(f"query {kind}")
        word = self.one((*WORDS, *SERVICES, "true", *SEVERITIES))
        low, high = sorted(self.random.sample((2, 2.5, 7, 8, 11, 12), 2))
        texts = self.random.sample(("A", "blue", "cart", "green", "Pay", "red", "z"), 2)
        first, last = sorted(texts, key=str.lower)
        left, right = self.one("[{"), self.one("]}")
        return {
            "word": word,
            "phrase": f'"{self.value()}"',
            "star": self.one((word[:2] + "*", "*" + word[-2:], word[0] + "*" + word[-1])),
            "question": word[:1] + "?" + word[2:],
            "regex": self.one(REGULAR_EXPRESSIONS),
            "escape": self.one((r"red\ green", r"pay\-eu", r"pay\*", r"re\d", r"a\.b")),
            "boost": f"{word}^2",
            "range": f"{left}{low} TO {high}{right}",
            "open range": self.one(
                (f"{left}{low} TO *{right}", f"{left}* TO {high}{right}", "[* TO *]")
            ),
            "text range": f"{left}{first} TO {last}{right}",
            "greater": self.one((">", ">=")) + self.one((str(low), first)),
            "less": self.one(("<", "<=")) + self.one((str(high), last)),
        }[kind]

    def query(self, depth: int = 2, *, within: bool = False) -> str:
        """Draw a query, or a part of one."""
        return self.joined(depth, within=within)[1]

    def joined(self, depth: int, *, within: bool) -> tuple[str, str]:
        """Draw how the parts of a query are joined, and the query."""
        if depth == 0 or self.chance(0.35):
            return "term", self.term(within)
        if not within and self.trait("query field group", 0.1):
            return "term", f"{self.one(NAMES)}:({self.query(1, within=True)})"
        if self.trait("query not", 0.05):
            return "not", f"NOT ({self.query(depth - 1, within=within)})"
        kind = self.one(("and", "and", "or", "or", "implicit", "implicit", "not", "plus", "minus"))
        self.traits.add(f"query {kind}")
        left, right = (
            self.part(*self.joined(depth - 1, within=within), parent=kind) for _ in range(2)
        )
        signed = {
            "and": ("and", f"{left} AND {right}"),
            "or": ("or", f"{left} OR {right}"),
            "implicit": ("implicit", f"{left} {right}"),
            "not": self.one(
                (
                    ("and", f"{left} AND NOT {right}"),
                    ("or", f"{left} OR NOT {right}"),
                    ("not", f"{left} NOT {right}"),
                )
            ),
            "plus": self.one((("plus", f"+{left} {right}"), ("plus", f"{left} +{right}"))),
            "minus": self.one((("minus", f"{left} -{right}"), ("minus", f"-{left} -{right}"))),
        }
        return signed[kind]

    def part(self, kind: str, query: str, *, parent: str) -> str:
        """Return a part of a query, in brackets where it would be unclear without them."""
        clear = {"and": ("and", "or"), "or": ("and", "or"), "implicit": ("implicit", "plus")}
        if kind == "term" or (kind in clear.get(parent, ()) and self.chance(0.6)):
            return query
        self.traits.add("query group")
        return f"({query})"

    def logs_filter(self) -> dict[str, Any]:
        """Draw a filter of lines."""
        simple: dict[str, Any] = {
            "luceneQuery": self.query() if self.chance(self.one((0.4, 0.9))) else ""
        }
        labels: dict[str, Any] = {}
        for name in ("applicationName", "subsystemName"):
            if self.chance(0.12):
                labels[name] = [self.label() for _ in range(self.one((0, 1, 2, 2)))]
        if self.trait("severities", 0.15):
            labels["severities"] = [
                "LOG_SEVERITY_" + severity.upper().replace("VERBOSE", "VERBOSE_UNSPECIFIED")
                for severity in self.random.sample(SEVERITIES, 3)
            ]
        if labels:
            simple["labelFilters"] = labels
        return {"simpleFilter": simple}

    def label(self) -> dict[str, str]:
        """Draw a condition on a label."""
        how = self.one(("IS_OR_UNSPECIFIED", "INCLUDES", "STARTS_WITH", "ENDS_WITH"))
        self.traits.add(f"label {how}")
        name = self.one(SERVICES)
        value = {"INCLUDES": name[1:3], "STARTS_WITH": name[:2], "ENDS_WITH": name[-2:]}
        return {"operation": f"LOG_FILTER_OPERATION_TYPE_{how}", "value": value.get(how, name)}

    # Alerts.

    def rest(self) -> dict[str, Any]:
        """Draw what all types have: groups, priority, schedule."""
        rest: dict[str, Any] = {}
        if self.trait("group by", 0.4):
            keys = ("svc", "svc", "deep.er", "n", "flag", "application", "metadata.severity")
            rest["groupByKeys"] = self.random.sample(keys, self.one((1, 1, 2)))
        if self.trait("priority", 0.5):
            rest["priority"] = self.priority()
        if self.chance(0.25):
            begin, end = self.around(), self.around()
            self.traits.add("active by day" if begin <= end else "active by night")
            rest["activeOn"] = {
                name: {"hours": minute // 60, "minutes": minute % 60}
                for name, minute in (("startTime", begin), ("endTime", end))
            }
            if self.trait("days", 0.6):
                days = self.random.sample(DAYS, 4)
                rest["activeOn"]["dayOfWeek"] = [f"DAY_OF_WEEK_{day}" for day in days]
        return rest

    def around(self) -> int:
        """Draw a minute of the day; more often one that is near the rows."""
        near = self.start // MINUTE + self.random.randrange(-10, 40)
        return (near if self.chance(0.6) else self.random.randrange(1440)) % 1440

    def priority(self) -> str:
        """Draw a priority."""
        return "ALERT_DEF_PRIORITY_" + self.one(("P1", "P2", "P3", "P4", "P5_OR_UNSPECIFIED"))

    def rules(self, condition: Callable[[], dict[str, Any]], *, many: bool = True) -> Rows:
        """Draw rules."""
        rules = [
            {"condition": condition()} for _ in range(self.one((1, 1, 1, 2, 3)) if many else 1)
        ]
        if len(rules) > 1:
            self.traits.add("several rules")
        for rule in rules:
            if self.chance(0.5):
                rule["override"] = {"priority": self.priority()}
        return rules

    def comparison(self, trait: str, prefix: str) -> str:
        """Draw a side of a threshold."""
        how = self.one((*MORE, *LESS))
        self.traits.add(f"{trait} {how}")
        return f"{prefix}_CONDITION_TYPE_{how}"

    def silent(self) -> dict[str, Any]:
        """Draw what happens to groups without rows."""
        if not self.trait("undetected", 0.4):
            return {}
        return {"undetectedValuesManagement": {"triggerUndetectedValues": self.chance(0.85)}}

    def pair(self) -> Pair:
        """Draw a pair."""
        name = self.one((*PARTS, "logsThreshold", "logsThreshold", "logsTimeRelativeThreshold"))
        self.traits.add(name)
        part, rows, until = {
            "logsImmediate": self.immediate,
            "logsThreshold": self.threshold,
            "logsRatioThreshold": self.ratio,
            "logsTimeRelativeThreshold": self.relative,
            "logsUniqueCount": self.unique,
            "logsNewValue": self.new_value,
        }[name]()
        if until is not None:
            self.traits.add("until")
        pair = Pair({name: part, **self.rest()}, rows, until, self.start, self.traits)
        self.aim(pair, part)
        return pair

    def aim(self, pair: Pair, part: dict[str, Any]) -> None:
        """Move thresholds next to counts that are met, in most draws."""
        aimed = [rule["condition"] for rule in part.get("rules", []) if self.chance(0.75)]
        aimed = [rule for rule in aimed if {"threshold", "maxUniqueCount"} & rule.keys()]
        counts = (
            plainly_judged(pair.spec, rows_of(pair), pair.until, pair.start).counts if aimed else []
        )
        for condition in aimed:
            if not counts:
                return
            value, limit = self.one(counts)
            if "maxUniqueCount" in condition:
                condition["maxUniqueCount"] = str(max(0, int(value) - self.one((0, 0, 1, 1, 2))))
            elif "comparedTo" in condition or "numerator" in part:
                below = limit / condition["threshold"]
                condition["threshold"] = max(0, value - self.one((0, 0, 1))) / (below or 1) or 0.5
            else:
                condition["threshold"] = max(0, int(value) + self.one((-1, 0, 0, 1)))

    def immediate(self) -> Drawn:
        """Draw an alert on each line."""
        rows = self.rows(self.one((1, 2, 3, 6)), [0, 2, 30], 90)
        return {"logsFilter": self.logs_filter()}, rows, self.one((None, None, 2, 30))

    def spread(self, length: int) -> tuple[Rows, int | None]:
        """Draw rows near the edges of a window, and how long it is watched."""
        rows = self.rows(self.one((2, 4, 7, 10)), [0, length, length, length + 2, 2 * length], 150)
        return rows, self.one((None, length, length + 3, 2 * length + 5))

    def windows(self, prefix: str, names: tuple[str, ...]) -> Callable[[], str]:
        """Draw the windows of rules: mostly one for all rules of an alert."""
        one = self.one(names)
        return lambda: f"{prefix}_WINDOW_VALUE_{one if self.chance(0.8) else self.one(names)}"

    def threshold(self) -> Drawn:
        """Draw an alert on a number of lines."""
        window = self.windows("LOGS_TIME", COUNT_WINDOWS)
        rules = self.rules(
            lambda: {
                "conditionType": self.comparison("comparison", "LOGS_THRESHOLD"),
                "threshold": self.random.randrange(5),
                "timeWindow": {"logsTimeWindowSpecificValue": window()},
            }
        )
        rows, until = self.spread(self.longest(rules))
        return {"logsFilter": self.logs_filter(), "rules": rules, **self.silent()}, rows, until

    def longest(self, rules: Rows) -> int:
        """Return the longest window of rules, in minutes."""
        return max(window_length(rule["condition"]["timeWindow"]) for rule in rules) // MINUTE

    def ratio(self) -> Drawn:
        """Draw an alert on the ratio of two numbers of lines."""
        window = self.windows("LOGS_RATIO_TIME", COUNT_WINDOWS)
        rules = self.rules(
            lambda: {
                "conditionType": self.comparison("ratio", "LOGS_RATIO"),
                "threshold": self.one((0.5, 1, 1.5, 2)),
                "timeWindow": {"logsRatioTimeWindowSpecificValue": window()},
            }
        )
        part = {"numerator": self.logs_filter(), "denominator": self.logs_filter(), "rules": rules}
        rows, until = self.spread(self.longest(rules))
        return {**part, **self.silent(), **self.infinite()}, rows, until

    def infinite(self) -> dict[str, Any]:
        """Draw what something by nothing is."""
        drawn = self.trait("ignore infinity", 0.4)
        return {"ignoreInfinity": self.chance(0.8)} if drawn else {}

    def relative(self) -> Drawn:
        """Draw an alert on the ratio of now and then."""
        names = [self.one(RELATIVE)]
        if names[0] in SHORT and self.chance(0.2):
            names.append(self.one(SHORT))
        rules = self.rules(
            lambda: {
                "conditionType": self.comparison("relative", "LOGS_TIME_RELATIVE"),
                "threshold": self.one((0.5, 1, 1.5, 2)),
                "comparedTo": f"LOGS_TIME_RELATIVE_COMPARED_TO_{self.one(names)}",
            }
        )
        self.traits.update(f"compared to {name}" for name in names)
        both = max(RELATIVE[name] for name in names) * HOUR
        length = HOUR if "HOUR" in names[0] else 24 * HOUR
        part = {"logsFilter": self.logs_filter(), "rules": rules}
        places = [0, length // 2, length, both - length, both - length // 2, both]
        rows = self.rows(self.one((3, 5, 8)), places, 150)
        until = both + self.one((0, 1, 5, 30))
        return {**part, **self.silent(), **self.infinite()}, rows, until

    def unique(self) -> Drawn:
        """Draw an alert on a number of values."""
        window = self.windows("LOGS_UNIQUE_VALUE_TIME", UNIQUE_WINDOWS)
        rules = self.rules(
            lambda: {
                "maxUniqueCount": str(self.random.randrange(3)),
                "timeWindow": {"logsUniqueValueTimeWindowSpecificValue": window()},
            },
            many=False,
        )
        rows, until = self.spread(self.longest(rules))
        path = self.one(("svc", "n", "event", "deep.er", "tags", "flag", "subsystemName"))
        part = {"uniqueCountKeypath": path, "logsFilter": self.logs_filter(), "rules": rules}
        return part, rows, until

    def new_value(self) -> Drawn:
        """Draw an alert on a value that is new."""
        window = self.windows("LOGS_NEW_VALUE_TIME", NEW_WINDOWS)
        rules = self.rules(
            lambda: {
                "keypathToTrack": self.one(
                    ("svc", "n", "event", "deep.er", "flag", "subsystemName")
                ),
                "timeWindow": {"logsNewValueTimeWindowSpecificValue": window()},
            },
            many=False,
        )
        length = self.longest(rules)
        rows = self.rows(self.one((2, 3, 5)), [0, 1, length, length + 1, 2 * length], 90)
        until = self.one((None, None, length))
        return {"logsFilter": self.logs_filter(), "rules": rules}, rows, until


def rows_of(pair: Pair) -> Rows:
    """Return the rows of a pair, of which a caller may change each."""
    return copy.deepcopy(pair.rows)


def random_pair(random: Random) -> Pair:
    """Return a random alert with rows."""
    return RandomPair(random).pair()


def both_judge(pair: Pair) -> tuple[dict[Any, int], PlainVerdict]:
    """Return the groups that fire with their priorities, by the tool, and the plain verdict."""

    def wrong(number: int, error: Exception) -> None:
        raise AssertionError((number, error))

    rows = rows_in_order(rows_of(pair), pair.start, wrong, sort=True)
    end = None if pair.until is None else pair.start + pair.until * MINUTE
    fired = evaluate(read_alert(pair.spec), rows, pair.start, end).fired
    return dict(fired), plainly_judged(pair.spec, rows_of(pair), pair.until, pair.start)


def disagreement(pair: Pair) -> str:
    """Return how two evaluators disagree, or nothing; the pair is shown with as few rows as do."""
    fired, plain = both_judge(pair)
    if fired == plain.fired:
        return ""
    for row in [*pair.rows]:
        fewer = Pair(
            pair.spec, [kept for kept in pair.rows if kept is not row], pair.until, pair.start
        )
        tool, plain_fewer = both_judge(fewer)
        if tool != plain_fewer.fired:
            return disagreement(fewer)
    start = timedelta(milliseconds=pair.start - MONDAY)
    lines = (
        f"{pair.spec}",
        f"rows {pair.rows}",
        f"start +{start}, until {pair.until}",
        f"tool {fired}, plain {plain.fired}",
    )
    return "\n  ".join(lines)


def traits_of(pair: Pair) -> set[str]:
    """Return what a pair holds; `near` is within one row of a threshold."""
    verdict = plainly_judged(pair.spec, rows_of(pair), pair.until, pair.start)
    near = any(abs(value - limit) <= 1 for value, limit in verdict.counts)
    return pair.traits | ({"fires"} if verdict.fired else set()) | ({"near"} if near else set())


def main(pairs: int, seed: int) -> int:
    """Compare, and print each disagreement and the shares of the draw."""
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    shares: Counter[str] = Counter()
    disagreeing = 0
    for number in count(1):
        pair = random_pair(random)
        if words := disagreement(pair):
            disagreeing += 1
            say(words)
        shares.update(traits_of(pair))
        if number % 5000 == 0 or number == pairs:
            say(f"{number:,} pairs from seed {seed}: {disagreeing:,} disagree")
        if number == pairs:
            break
    for trait in ("fires", "near", *TRAITS):
        say(f"{shares[trait] / pairs:7.1%}  {trait}")
    return 1 if disagreeing else 0


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    counted, *seeds = (int(text) for text in sys.argv[1:])
    sys.exit(main(counted, *seeds or [1]))
