"""What is one slip of the fingers from a known word is led back to that word.

A slip that two known words are equally near to says nothing of which was meant: such are
counted apart, and may be no more than a few.
"""

from __future__ import annotations

import os
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import click
import pytest

from reconciler.cli.overview import COMMANDS
from reconciler.cli.root import cli
from reconciler.features.explain.field_reference import PROJECT, roots
from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.checks import lint
from reconciler.kinds.field_traits import KnownValues, Part
from reconciler.kinds.shape import Facts, facts_of
from reconciler.syntax.suggestions import nearest, shortened
from reconciler.workspace.envelope import METADATA_FIELDS
from reconciler.workspace.envelope import REQUIRED_FIELDS as FIELDS

SHARE = 0.97
MOST_AMBIGUOUS = 0.005
KEYS = string.ascii_lowercase if os.environ.get("ALL_SLIPS") else "ex"
"""Keys that are inserted; a doubled one is inserted everywhere."""

Near = Callable[[str], str]


def slips_of(word: str, keys: str) -> Iterator[tuple[str, str]]:
    """Yield what becomes of a word by one slip, each with the word for it."""
    for at in range(len(word) - 1):
        if word[at] != word[at + 1]:
            yield "swap", f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"
    for at, key in enumerate(word):
        yield "drop", word[:at] + word[at + 1 :]
        yield "case", word[:at] + key.swapcase() + word[at + 1 :]
        yield "insert", word[:at] + key + word[at:]
    for at in range(len(word) + 1):
        for key in keys:
            yield "insert", word[:at] + key + word[at:]


@dataclass
class Score:
    """How many slips of one sort were led back, and what became of the others."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    ambiguous: int = 0

    def add(self, words: Sequence[str], near: Near, keys: str = KEYS) -> None:
        """Try every slip of some words that stand in one place."""
        slips = {word: {*slips_of(word, keys)} for word in words}
        meant = defaultdict(set)
        for word, made in slips.items():
            for _, slip in made:
                meant[slip].add(word)
        for word, made in slips.items():
            for how, slip in made:
                if (slip in words and slip != word) or len(meant[slip]) > 1:
                    self.ambiguous += 1
                elif slip and slip != word:
                    (self.right if near(slip) == word else self.wrong)[how] += 1

    def is_good(self) -> bool:
        """Tell whether enough of each sort is led back, and few are ambiguous."""
        sorts = {*self.right, *self.wrong}
        shares = [self.right[sort] / (self.right[sort] + self.wrong[sort]) for sort in sorts]
        whole = self.right.total() + self.wrong.total()
        return min(shares) >= SHARE and self.ambiguous <= MOST_AMBIGUOUS * whole


def models() -> Sequence[type[Part]]:
    """Give every model of every kind, once."""
    found: dict[type[Part], None] = {}

    def collect(facts: Facts | None) -> None:
        if facts is None or (facts.part is not None and facts.part in found):
            return
        collect(facts.items)
        collect(facts.values)
        if facts.part is not None:
            found[facts.part] = None
            for inside in facts_of(facts.part).values():
                collect(inside)

    for kind in KINDS:
        collect(Facts(part=kind.spec))
    return list(found)


def listings() -> Sequence[KnownValues]:
    """Give every enumeration of every kind, once."""
    every = [fact for model in models() for fact in facts_of(model).values()]
    inside = [facts.items for facts in every if facts.items is not None]
    return list({facts.listed: None for facts in (*every, *inside) if facts.listed is not None})


def near_to(words: Sequence[str]) -> Near:
    """Give what is meant by a slip of one of some words."""
    return lambda slip: nearest(slip, words)


def near_option(options: Sequence[str]) -> Near:
    """Give the option that the parser of command lines names first."""
    return lambda slip: next((one[2:] for one in get_close_matches(f"--{slip}", options)), "")


def near_field(model: type[Part]) -> Near:
    """Give what a manifest is told that has a slip of a field in an object of this model."""

    def near(slip: str) -> str:
        found = [finding for finding in lint({slip: None}, model) if finding.path == (slip,)]
        return next((_named(finding.message, finding.suggestion) for finding in found), "")

    return near


def _named(message: str, suggestion: str) -> str:
    """Of a field that the service sets, the complaint names it and says what to do instead."""
    return message.split("`")[1] if "cannot be declared" in message else suggestion


@pytest.mark.slow
def test_a_slip_of_a_field() -> None:
    """Nearly every slip of a field is led back to it, whatever stands beside it in its object."""
    score = Score()

    for model in models():
        score.add(list(facts_of(model)), near_field(model))

    assert score.is_good(), score


@pytest.mark.slow
def test_a_slip_of_a_value() -> None:
    """Nearly every slip of a value of an enumeration is led back to it."""
    score = Score()

    for listed in listings():
        score.add(listed.values, listed.near)

    assert score.is_good(), score


def test_a_slip_of_what_stands_around() -> None:
    """Nearly every slip of a kind, of a field of the envelope, and of a setting is led back."""
    score = Score()

    for words in (list(BY_NAME), FIELDS, METADATA_FIELDS):
        score.add(words, near_to(words))
    project = roots()[PROJECT]
    for one in (project, *project.inside()):
        if one.fields:
            names = [inside.name for inside in one.fields]
            score.add(names, near_to(names))

    assert score.is_good(), score


def commands(command: click.Command, context: click.Context) -> Iterator[click.Command]:
    """Yield a command and all below it."""
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, context)


def test_a_slip_of_a_command_or_an_option() -> None:
    """Nearly every slip of a command, and of a long option of one, is led back to it."""
    score = Score()
    context = click.Context(cli)

    score.add(list(COMMANDS), near_to(list(COMMANDS)))
    for command in commands(cli, context):
        if isinstance(command, click.Group) and command is not cli:
            names = command.list_commands(context)
            score.add(names, near_to(names))
        options = [opt for flag in command.params for opt in flag.opts if opt.startswith("--")]
        long = [option.removeprefix("--") for option in options]
        # The parser's own way to a near option.
        score.add(
            long,
            near_option(options),
        )

    assert score.is_good(), score


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("prod", ("local", "production"), "production"),
        ("stg", ("staging", "production"), "staging"),
        ("dev", ("development", "devices"), ""),
        ("Alert", ("AlertDefinition", "SLO"), "AlertDefinition"),
        ("View", ("SavedView", "SLO"), "SavedView"),
        ("prodution", ("local", "production"), "production"),
        ("p", ("local", "production"), ""),
        ("Pod", ("SLO", "Dashboard"), ""),
    ],
)
def test_short_names(word: str, known: tuple[str, ...], meant: str) -> None:
    """A name that people shorten is told apart only where one known name can be meant."""
    assert shortened(word, known) == meant
