"""Requests to the separate process: the verdict of each rule on each document.

If the process dies, it is started again without the rule that was too expensive, so that the other
rules still give their verdicts.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from threading import Thread
from typing import IO, Self, TypeAlias, cast

from reconciler.document import Json
from reconciler.errors import MissingExtra, ReconcilerError
from reconciler.features.rules.rule_settings import Rule

APART = Path(__file__).with_name("cel_worker.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that judging may cost: seconds of the processor, seconds in all, bytes.

    `cpu` is for all rules about one document. If that is too little, each rule alone gets `cpu`
    again. `cpu` ends a process that computes too long, `wall` a process that does not run at all.
    """

    cpu: float = 0.2
    wall: float = 10.0
    in_all: float = 60.0
    memory: int = 512 << 20


class Died(Exception):
    """The process ended before it answered everything; the message says why."""


@dataclass(slots=True)
class Process:
    """A running process. Where it stalls, it is killed."""

    bounds: Bounds
    _process: subprocess.Popen[bytes] = field(init=False)
    _unread: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own file, run by our own Python
            [sys.executable, "-I", "-B", str(APART)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            # Signals to the run are handled by the run, not by this process.
            start_new_session=True,
        )

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.communicate()

    def told(self, line: Json, count: int) -> Iterator[Json]:
        """Send one line to the process, and yield the `count` lines that it answers.

        Raises Died.
        """
        text = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        # A process that does not run reads nothing, and a long line would wait for it.
        Thread(target=self._write, args=(text,), daemon=True).start()
        with selectors.DefaultSelector() as ready:
            ready.register(cast("IO[bytes]", self._process.stdout), selectors.EVENT_READ)
            while count:
                if not ready.select(self.bounds.wall):
                    raise Died(self._died())
                for value in self._heard():
                    count -= 1
                    yield value

    def _write(self, text: bytes) -> None:
        sink = cast("IO[bytes]", self._process.stdin)
        # What it wrote before it died is still to be read.
        with suppress(BrokenPipeError):
            sink.write(text)
            sink.flush()

    def _heard(self) -> list[Json]:
        """Return the lines that have come. Raises Died where there will be none."""
        heard = os.read(cast("IO[bytes]", self._process.stdout).fileno(), 1 << 16)
        if not heard:
            raise Died(self._died())
        self._unread += heard
        *lines, rest = self._unread.split(b"\n")
        self._unread = bytearray(rest)
        return [json.loads(line) for line in lines]

    def _died(self) -> str:
        """Return how the process ended; if it still runs, that it did nothing for too long."""
        if self._process.poll() is None:
            try:
                self._process.wait(0.1)
            except subprocess.TimeoutExpired:
                self._process.kill()
                return f"no answer came in {self.bounds.wall:g} s"
        code = self._process.returncode
        if -code in (signal.SIGPROF, signal.SIGXCPU):
            return f"it takes more than the {self.bounds.cpu:g} s that a rule may take"
        if code == -signal.SIGABRT:
            return f"it takes more than the {self.bounds.memory >> 20} MB that a rule may take"
        return "it brought down the process that judges rules"


BOUNDS = Bounds()


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A problem of `when` or `check`: line and column in it, from 1, and the reason.

    `name` is an unknown name that it uses.
    """

    part: str
    line: int
    column: int
    said: str
    name: str = ""

    def offset(self, written: str) -> int:
        """Return the offset of the problem in the expression, from 0."""
        lines = written.split("\n")[: self.line]
        before = sum(len(line) + 1 for line in lines[:-1])
        # The library points at the last dot of an unknown name, or at the bracket after it.
        begun = lines[-1].rfind(self.name, 0, self.column + len(self.name)) if self.name else -1
        return before + (begun if begun >= 0 else self.column - 1)


class RuleAnswer(Enum):
    """The answer of a rule about a document."""

    FAILS = 0
    HOLDS = 1
    NOT_ABOUT = 2


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that gave no answer, and why.

    `is_last` means that the rule is not evaluated again in this run.
    """

    said: str
    is_last: bool = False


RuleVerdict: TypeAlias = RuleAnswer | Broken


@dataclass(frozen=True, slots=True)
class RuleInput:
    """A document, by the variables of expressions, and the rules that are about it."""

    values: Mapping[str, Json]
    rules: tuple[int, ...]


ASKED_NO_MORE = "it was too much for another resource, so it was not asked here"
NO_PROCESS = "the process that judges rules could not be started"
_NEVER_ASKED = "true"


@dataclass(slots=True)
class Judges:
    """A process that judges by a list of rules, for the duration of a `with` block."""

    rules: Sequence[Rule]
    bounds: Bounds = BOUNDS
    _process: Process = field(init=False)
    _spent: float = 0.0
    _dropped: set[int] = field(default_factory=set)
    _flaws: dict[int, tuple[RuleProblem, ...]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Start the process.

        Raises MissingExtra, or ReconcilerError where it cannot be started.
        """
        from importlib.util import find_spec  # noqa: PLC0415 - only where there are rules

        if find_spec("cel_expr_python") is None:
            raise MissingExtra("`rules:` in the project file", "rules")
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()

    def flaws(self, rule: int) -> tuple[RuleProblem, ...]:
        """Return the problems of a rule's expressions; a rule with problems is not evaluated."""
        return self._flaws.get(rule, ())

    def verdicts(self, questions: Sequence[RuleInput]) -> list[dict[int, RuleVerdict]]:
        """Return the verdict of each rule on each document, by the rule's number."""
        return [self._judged(question.values, question.rules) for question in questions]

    def _judged(self, values: Mapping[str, Json], rules: Sequence[int]) -> dict[int, RuleVerdict]:
        """Return the verdicts on a document; rules that together cost too much are asked alone."""
        found: dict[int, RuleVerdict] = {
            rule: verdict for rule in rules if (verdict := self._unasked(rule)) is not None
        }
        asked = [rule for rule in rules if rule not in found and rule not in self._flaws]
        if not asked:
            return found
        why, began = "", time.monotonic()
        try:
            (answers,) = self._process.told({"values": {**values}, "rules": [*asked]}, 1)
            found.update(zip(asked, map(_verdict, cast("list[int | str]", answers)), strict=True))
        except Died as death:
            why = str(death)
            self._process.end()
            self._begin()
        self._spent += time.monotonic() - began
        if why and len(asked) == 1:
            found[asked[0]] = Broken(why, is_last=True)
            self._dropped.add(asked[0])
        elif why:
            for rule in asked:
                found |= self._judged(values, (rule,))
        return found

    def _unasked(self, rule: int) -> Broken | None:
        """Return why a rule is not asked; None for a rule that is asked, or that has problems."""
        if rule in self._dropped:
            # A rule that was never evaluated has not passed. Otherwise, whoever may exempt one
            # resource from a rule that is too expensive for it could lift that rule for all others.
            return Broken(ASKED_NO_MORE)
        if self._spent <= self.bounds.in_all:
            return None
        self._dropped.add(rule)
        return Broken(f"all rules together take more than {self.bounds.in_all:g} s", is_last=True)

    def _begin(self) -> None:
        """Start the process, without the rules that were already too expensive."""
        lines: list[Json] = []
        while len(lines) <= len(self.rules):
            self._process = Process(self.bounds)
            lines = []
            try:
                for line in self._process.told(self._hello(), 1 + len(self.rules)):
                    lines.append(line)
            except Died as death:
                self._process.end()
                if not lines:
                    raise ReconcilerError(f"{NO_PROCESS}: {death}") from death
                self._flaws[len(lines) - 1] = (RuleProblem("check", 1, 1, str(death)),)
        for number, pair in enumerate(lines[1:]):
            when, check = cast("list[str]", pair)
            flaws = (*_flaws_in("when", when), *_flaws_in("check", check))
            if flaws:
                self._flaws[number] = flaws

    def _hello(self) -> Json:
        idle = self._dropped | self._flaws.keys()
        rules: list[Json] = [
            {
                "when": "" if number in idle else rule.when or "",
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
TOO_DEEP = "it is nested too deeply: split it into several rules"
_KINDS = {
    "INT": "a number",
    "UINT": "a number",
    "DOUBLE": "a number",
    "STRING": "text",
    "NULL": "null",
    "NULL_TYPE": "null",
}


def _flaws_in(part: str, said: str) -> Iterator[RuleProblem]:
    """Yield the problems that the library found in an expression.

    Of each line: the first problem, and all unknown names.
    """
    kind = _TYPE.fullmatch(said)
    if kind is not None:
        yield RuleProblem(part, 1, 1, _no_truth(kind[1]))
        return
    found = list(_ERROR.finditer(said))
    if said and not found:
        yield RuleProblem(
            part, 1, 1, TOO_DEEP if re.search("recursion (depth|limit)", said) else said
        )
    lines: set[str] = set()
    for match in found:
        # Further errors on the line of a syntax error are mostly about the same mistake.
        if match[1] not in lines or "undeclared" in match[3]:
            words = re.sub(r" expecting \{.*", "", match[3].replace(" (in container '')", ""))
            unknown = re.fullmatch(r"undeclared reference to '(.*)'", words)
            name = unknown[1].split(".")[0] if unknown is not None else ""
            words = f"there is no `{name}` here" if name else words
            yield RuleProblem(part, int(match[1]), int(match[2]), words, name)
        lines.add(match[1])


def _no_truth(kind: str) -> str:
    what = _KINDS.get(kind) or ("a list" if kind.startswith("LIST") else "a mapping")
    return f"it gives {what}, and must give true or false"


def _verdict(told: int | str) -> RuleVerdict:
    """Return an answer, or why there is none; common messages of the library are replaced."""
    if isinstance(told, int):
        return RuleAnswer(told)
    if (kind := _TYPE.fullmatch(told)) is not None:
        return Broken(_no_truth(kind[1]))
    for pattern, words in _REASONS:
        if (match := pattern.fullmatch(told)) is not None:
            return Broken(words.format(*(group.strip('"') for group in match.groups())))
    return Broken(told.split(": ", 1)[-1])
