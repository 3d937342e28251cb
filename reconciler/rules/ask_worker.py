"""Asking the process apart: what each rule says of each document, and what happens when it dies.

It is started anew without the rule that was too much, so that the others give their verdicts.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any, Self, TypeAlias, cast

from reconciler.document import Json
from reconciler.errors import MissingExtra, ReconcilerError
from reconciler.rules.process import Bounds, Died, Process

BOUNDS = Bounds()


@dataclass(frozen=True, slots=True)
class Expressions:
    """A rule as far as it is judged; `when` is "" for always. `variables` are what it may name."""

    when: str
    check: str
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """What is wrong with `when` or `check`: line and column in it, from 1, and why.

    `name` is what it names though there is no such thing.
    """

    part: str
    line: int
    column: int
    said: str
    name: str = ""

    def offset(self, written: str) -> int:
        """Give where it stands in the expression, from 0."""
        lines = written.split("\n")[: self.line]
        before = sum(len(line) + 1 for line in lines[:-1])
        # The library points at the last dot of what it does not know, or at the bracket after it.
        begun = lines[-1].rfind(self.name, 0, self.column + len(self.name)) if self.name else -1
        return before + (begun if begun >= 0 else self.column - 1)


class RuleAnswer(Enum):
    """What a rule says of a document, where it says anything."""

    FAILS = 0
    HOLDS = 1
    NOT_ABOUT = 2


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule gave no answer, and why. `is_last` says that it is asked no more in this run."""

    said: str
    is_last: bool = False


RuleVerdict: TypeAlias = RuleAnswer | Broken


@dataclass(frozen=True, slots=True)
class RuleInput:
    """A document by the names that expressions call its parts, and the rules that are about it."""

    values: Mapping[str, Json]
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question by its number, or one rule of it where all at once were too much."""

    number: int
    rules: tuple[int, ...]


MOST_AT_ONCE = 50
ASKED_NO_MORE = "it was too much for another resource, so it was not asked here"
NO_PROCESS = "the process that judges rules could not be started"
_NEVER_ASKED = "true"


@dataclass(slots=True)
class Judges:
    """A process that judges by a list of rules, for as long as a `with` lasts."""

    rules: Sequence[Expressions]
    bounds: Bounds = BOUNDS
    _process: Process | None = None
    _spent: float = 0.0
    _dropped: set[int] = field(default_factory=set)
    _flaws: dict[int, tuple[RuleProblem, ...]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Start it. Raises MissingExtra, or ReconcilerError where it cannot be started."""
        check_installed()
        self._begin()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        """End it."""
        if self._process is not None:
            self._process.end()

    def flaws(self, rule: int) -> tuple[RuleProblem, ...]:
        """Give what is wrong with the expressions of a rule, which is not asked then."""
        return self._flaws.get(rule, ())

    def verdicts(self, questions: Sequence[RuleInput]) -> list[dict[int, RuleVerdict]]:
        """Give what each rule says of each document, by the rule's number."""
        found: list[dict[int, RuleVerdict]] = [{} for _ in questions]
        queue = deque(_Asked(number, question.rules) for number, question in enumerate(questions))
        while queue:
            batch = self._next(queue, found)
            began = time.monotonic()
            try:
                for told in self._told(batch, questions):
                    one = batch.pop(0)
                    found[one.number].update(zip(one.rules, map(_verdict, told), strict=True))
            except Died as death:
                queue.extendleft(reversed(self._after(death, batch, found)))
            self._spent += time.monotonic() - began
        return found

    def _told(self, batch: Sequence[_Asked], questions: Sequence[RuleInput]) -> Iterator[list[Any]]:
        assert self._process is not None  # noqa: S101 - entered, so started
        asked: list[Json] = [
            {"values": {**questions[asked.number].values}, "rules": [*asked.rules]}
            for asked in batch
        ]
        for told in self._process.told(asked, len(asked)):
            yield cast("list[Any]", told)

    def _next(self, queue: deque[_Asked], found: list[dict[int, RuleVerdict]]) -> list[_Asked]:
        """Take from the queue what is asked at once, without the rules that were too much."""
        batch: list[_Asked] = []
        while queue and len(batch) < MOST_AT_ONCE:
            one = queue.popleft()
            left = []
            for rule in one.rules:
                if rule in self._dropped:
                    # What was never judged has not passed: whoever could exempt one resource from
                    # a rule that is too much for it would lift that rule for all others.
                    found[one.number][rule] = Broken(ASKED_NO_MORE)
                elif self._spent > self.bounds.in_all:
                    said = f"all rules together take more than {self.bounds.in_all:g} s"
                    found[one.number][rule] = Broken(said, is_last=True)
                    self._dropped.add(rule)
                elif rule not in self._flaws:
                    left.append(rule)
            if left:
                batch.append(_Asked(one.number, tuple(left)))
        return batch

    def _after(
        self, death: Died, batch: Sequence[_Asked], found: list[dict[int, RuleVerdict]]
    ) -> list[_Asked]:
        """Start again, and give what is still to be asked: of what was too much, rule by rule."""
        first, *rest = batch
        parts = [_Asked(first.number, (rule,)) for rule in first.rules]
        if len(parts) == 1:
            found[first.number][first.rules[0]] = Broken(str(death), is_last=True)
            self._dropped.add(first.rules[0])
            parts = []
        self._begin()
        return [*parts, *rest]

    def _begin(self) -> None:
        """Start the process, without the rules that were too much already."""
        told: list[Json] = []
        while len(told) <= len(self.rules):
            if self._process is not None:
                self._process.end()
            self._process = Process(self.bounds)
            told = []
            try:
                for line in self._process.told(self._hello(), 1 + len(self.rules)):
                    told.append(line)
            except Died as death:
                if not told:
                    self._process.end()
                    raise ReconcilerError(f"{NO_PROCESS}: {death}") from death
                self._flaws[len(told) - 1] = (RuleProblem("check", 1, 1, str(death)),)
        for number, said in enumerate(told[1:]):
            when, check = cast("list[str]", said)
            flaws = (*_flaws_in("when", when), *_flaws_in("check", check))
            if flaws:
                self._flaws[number] = flaws

    def _hello(self) -> Json:
        idle = self._dropped | self._flaws.keys()
        rules: list[Json] = [
            {
                "when": "" if number in idle else rule.when,
                "check": _NEVER_ASKED if number in idle else rule.check,
                "variables": [*rule.variables],
            }
            for number, rule in enumerate(self.rules)
        ]
        bounds: dict[str, Json] = {
            "cpu": self.bounds.cpu,
            "cpuInAll": 2 * round(self.bounds.in_all),
            "memory": self.bounds.memory,
        }
        return {"rules": rules, "bounds": bounds}


def check_installed() -> None:
    """Raise MissingExtra where the library that knows CEL is not installed."""
    from importlib.util import find_spec  # noqa: PLC0415 - only where there are rules

    if find_spec("cel_expr_python") is None:
        raise MissingExtra("`rules:` in the project file", "rules")


_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_TYPE = re.compile(r"type:(.*)")
_REASONS = (
    (
        re.compile(r"NOT_FOUND: Key not found in map : (.*)"),
        "there is no field `{0}` here: ask for it with has() first",
    ),
    (
        re.compile(r".*Applying SELECT to .*", re.DOTALL),
        "it asks for a field of what has none, as null or a text: ask for that first",
    ),
    (re.compile(r".*No matching overloads found : (.*)"), "the types do not fit: {0}"),
    (
        re.compile(r".*Index error: index=(.*) size=(.*)"),
        "there is no item {0} in a list of {1}: they are counted from 0",
    ),
    (re.compile(r".*Iteration budget.*"), "it goes through more than the 10,000 items it may"),
    (re.compile(r"memory"), "it takes more memory than a rule may take"),
)
_NESTED = re.compile("recursion (depth|limit)")
TOO_DEEP = "it is nested too deeply: split it into several rules"
_UNKNOWN = re.compile(r"undeclared reference to '(.*)'")
_EXPECTING = re.compile(r" expecting \{.*")
_CONTAINER = " (in container '')"
_KINDS = {
    "INT": "a number",
    "UINT": "a number",
    "DOUBLE": "a number",
    "STRING": "text",
    "NULL": "null",
    "NULL_TYPE": "null",
}


def _flaws_in(part: str, said: str) -> Iterator[RuleProblem]:
    """Yield what the library found wrong with an expression, the first of each place."""
    kind = _TYPE.fullmatch(said)
    if kind is not None:
        yield RuleProblem(part, 1, 1, _no_truth(kind[1]))
        return
    found = list(_ERROR.finditer(said))
    if said and not found:
        yield RuleProblem(part, 1, 1, TOO_DEEP if _NESTED.search(said) else said)
    lines: set[str] = set()
    for match in found:
        # What follows on the same line of a syntax error is mostly said of the same mistake.
        if match[1] not in lines or "undeclared" in match[3]:
            words = _EXPECTING.sub("", match[3].replace(_CONTAINER, ""))
            unknown = _UNKNOWN.fullmatch(words)
            name = unknown[1].split(".")[0] if unknown is not None else ""
            words = f"there is no `{name}` here" if name else words
            yield RuleProblem(part, int(match[1]), int(match[2]), words, name)
        lines.add(match[1])


def _no_truth(kind: str) -> str:
    what = _KINDS.get(kind) or ("a list" if kind.startswith("LIST") else "a mapping")
    return f"it gives {what}, and must give true or false"


def _verdict(told: int | str) -> RuleVerdict:
    if isinstance(told, int):
        return RuleAnswer(told)
    return Broken(_why(told))


def _why(told: str) -> str:
    """Say in our words why an expression gave no answer, where we have some."""
    kind = _TYPE.fullmatch(told)
    if kind is not None:
        return _no_truth(kind[1])
    for pattern, words in _REASONS:
        match = pattern.fullmatch(told)
        if match is not None:
            return words.format(*(group.strip('"') for group in match.groups()))
    return told.split(": ", 1)[-1]
