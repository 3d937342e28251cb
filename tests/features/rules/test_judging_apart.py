"""The process that judges rules: its bounds, its death, and what it is given. docs/rules.md."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.errors import MissingExtra, ReconcilerError
from reconciler.features.rules import ask_worker
from reconciler.features.rules.ask_worker import (
    ASKED_NO_MORE,
    Bounds,
    Broken,
    Died,
    Judges,
    Process,
    RuleAnswer,
    RuleInput,
    RuleVerdict,
)
from reconciler.features.rules.rule_settings import Rule

LONG = "a" * 100_000
TEN = "[0,1,2,3,4,5,6,7,8,9]"
DOUBLED = "'aaaaaaaaaa'" + ".replace('a', 'aaaaaaaaaa')" * 10
NESTED = f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, {TEN}.all(d, {TEN}.all(e, true)))))"
# It dies of a bound, of memory or of time, or the library meets that of memory first.
MEMORY = ("takes more than", "takes more memory than a rule may take")
HOSTILE: dict[str, tuple[str, str | tuple[str, ...]]] = {
    "loops": (NESTED, "goes through more than"),
    "doubles a text": (f"{DOUBLED}.size() > 0", MEMORY),
    "fills a list": (
        "resource.long.split('').map(x, resource.long + x).size() > 0",
        MEMORY,
    ),
    "splits and joins": (
        "resource.long.split('').map(x, resource.long).join('').size() > 0",
        "",
    ),
    "asks for a field that is missing": ("resource.nope == 1", "has()"),
    "asks for a field of null": ("resource.none.a == 1", "null"),
    "gives a number": ("resource.one", "must give true or false"),
    "compares what cannot be": ("resource.long > 1", "the types do not fit"),
    "counts too far": ("resource.list[3] == 1", "counted from 0"),
    "divides by zero": ("resource.one / 0 == 1", "divide by zero"),
    "has a wrong pattern": ("resource.long.matches('(')", "missing )"),
}
DOCUMENT: dict[str, Json] = {"long": LONG, "one": 1, "none": None, "list": [1]}


def rule(check: str, when: str = "") -> Rule:
    """Give a rule that only sees a resource."""
    return Rule(name="a", when=when or None, check=check, message="m")


GOOD = rule("resource.one == 1")


def judged(
    rules: list[Rule], *documents: Json, bounds: Bounds = ask_worker.BOUNDS
) -> list[dict[int, RuleVerdict]]:
    """Give what all rules say of each document."""
    questions = [
        RuleInput({"resource": document}, tuple(range(len(rules)))) for document in documents
    ]
    with Judges(rules, bounds) as judges:
        return judges.verdicts(questions)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_rule_is_told_and_the_others_are_judged(name: str) -> None:
    """Whatever a rule does, it ends with words that say so, and the others have their verdicts."""
    check, says = HOSTILE[name]

    (found,) = judged([GOOD, rule(check), GOOD], DOCUMENT)

    broken = found.pop(1)
    assert isinstance(broken, Broken)
    assert any(words in broken.said for words in ((says,) if isinstance(says, str) else says))
    assert found == {0: RuleAnswer.HOLDS, 2: RuleAnswer.HOLDS}


def test_what_is_nested_too_deeply() -> None:
    """An expression that the library cannot read for its depth is told in words of our own."""
    with Judges([GOOD, rule("(" * 400 + "true" + ")" * 400)]) as judges:
        told = [judges.flaws(number) for number in range(2)]

    assert [[flaw.said for flaw in flaws] for flaws in told] == [[], [ask_worker.TOO_DEEP]]


def test_what_was_too_much_is_asked_once() -> None:
    """A rule that takes too long is not held against the next documents, and the others are."""
    slow = rule(f"{DOUBLED}.size() > 0")

    found = judged([slow, GOOD], *[DOCUMENT] * 120)

    assert isinstance(found[0][0], Broken)
    assert found[0][0].is_last
    assert {value[0] for value in found[1:]} == {Broken(ASKED_NO_MORE)}
    assert {value[1] for value in found} == {RuleAnswer.HOLDS}


def test_rules_that_are_slow_together_are_judged_alone() -> None:
    """Rules that take too long all at once, and not each, are all judged."""
    heavy = rule(f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, resource.long.contains('ab') == false)))")
    few = Bounds(cpu=0.15)

    (found,) = judged([heavy] * 12, DOCUMENT, bounds=few)

    assert all(one is RuleAnswer.HOLDS or isinstance(one, Broken) for one in found.values())
    assert len(found) == 12


def test_memory_is_bounded() -> None:
    """A rule that needs more memory than it may have is told so."""
    check = "resource.long.split('').map(x, resource.long.split('')).size() > 0"
    (found,) = judged([rule(check)], DOCUMENT, bounds=Bounds(cpu=60.0, wall=60.0))

    assert isinstance(found[0], Broken)
    assert "memory" in found[0].said or "MB" in found[0].said


def test_there_is_an_end_to_all_rules() -> None:
    """Once all rules took as long as they may, the rest is told, and not judged."""
    (first, second) = judged([GOOD], DOCUMENT, DOCUMENT, bounds=Bounds(in_all=-1.0))

    assert first == {0: Broken("all rules together take more than -1 s", is_last=True)}
    assert second == {0: Broken(ASKED_NO_MORE)}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP])
def test_a_process_that_dies_or_stops_ends_in_words(number: int) -> None:
    """A process that is killed, crashes or is stopped is told as such, whatever it was at."""
    running = Process(Bounds(wall=0.2))
    try:
        os.kill(running._process.pid, number)
        with pytest.raises(Died):
            list(running.told({"rules": [], "bounds": {}}, 1))
    finally:
        running.end()


def test_what_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A process that never says that it is ready stops the run, with an error of ours."""
    empty = tmp_path / "empty.py"
    empty.write_text("")
    monkeypatch.setattr(ask_worker, "APART", empty)

    with pytest.raises(ReconcilerError, match="could not be started"), Judges([GOOD]):
        pass


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the library is not installed, it is said how to install it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(MissingExtra, match=r"pip install '.\[rules\]'"), Judges([GOOD]):
        pass


PROBE = """\
import json, os, resource, sys
exec(open({apart!r}).read().replace('if __name__ == "__main__":', "if False:"))
sys.stdin.readline()
_confine({{"memory": 512 << 20, "cpuInAll": 60}})
_tell("ready")
try:
    opened = open("/etc/hostname").read()
except OSError as error:
    opened = type(error).__name__
_tell([os.environ.get("HOME", ""), " ".join(sorted(os.environ)), opened, os.getcwd()])
"""


def test_the_process_has_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It has no environment of ours and can open no file, once it is ready to judge."""
    monkeypatch.setenv("RECONCILER_API_KEY", "canary-key-77aa")
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE.format(apart=str(ask_worker.APART)))
    monkeypatch.setattr(ask_worker, "APART", probe)
    running = Process(Bounds())
    try:
        _, told = running.told({}, 2)
    finally:
        running.end()

    assert isinstance(told, list)
    assert (told[0], told[2], told[3]) == ("", "OSError", "/")
    assert "RECONCILER" not in str(told[1])


def test_no_process_is_left_behind() -> None:
    """A process that judged is gone with the `with` that began it."""
    with Judges([GOOD]) as judges:
        running = judges._process
        assert running is not None
        pid = running._process.pid
        assert running._process.poll() is None

    assert running._process.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


NAMES = st.sampled_from(("a", "b", "c"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.sampled_from(("", "x")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=3)
PARTS = st.one_of(
    NAMES.map(lambda name: f"has(resource.{name})"),
    st.tuples(NAMES, st.sampled_from(("1", "0.5", "'x'", "null", "true"))).map(
        lambda pair: f"resource.{pair[0]} == {pair[1]}"
    ),
    st.tuples(NAMES, st.integers(-2, 2)).map(lambda pair: f"resource.{pair[0]} > {pair[1]}"),
    NAMES.map(lambda name: f"resource.{name}.all(one, one == 1)"),
    NAMES.map(lambda name: f"size(resource.{name}) > 0"),
)
CHECKS = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        inner.map(lambda one: f"!({one})"),
        st.tuples(inner, st.sampled_from(("&&", "||")), inner).map(
            lambda three: f"({three[0]}) {three[1]} ({three[2]})"
        ),
    ),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None)
@given(
    rules=st.lists(st.tuples(CHECKS, st.just("") | CHECKS), min_size=1, max_size=5),
    documents=st.lists(DOCUMENTS, min_size=1, max_size=4),
)
def test_all_at_once_is_as_one_by_one(
    rules: list[tuple[str, str]], documents: list[dict[str, Json]]
) -> None:
    """What a rule says of a document does not hang on what else is asked with it."""
    made = [rule(check, when) for check, when in rules]
    numbers = tuple(range(len(made)))
    with Judges(made) as judges:
        together = judges.verdicts(
            [RuleInput({"resource": document}, numbers) for document in documents]
        )
        parts = [
            RuleInput({"resource": document}, (number,))
            for document in documents
            for number in numbers
        ]
        single = iter(judges.verdicts(parts))
        alone = [{number: next(single)[number] for number in numbers} for _ in documents]

    assert together == alone


def test_when_comes_first() -> None:
    """A rule whose `when` is false says nothing, whatever its `check` would come to."""
    (found,) = judged([rule("resource.nope", "resource.one == 2"), rule("false", "true")], DOCUMENT)

    assert found == {0: RuleAnswer.NOT_ABOUT, 1: RuleAnswer.FAILS}
