"""A plan on a terminal."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from harness.golden import Golden
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import plans
from sample_plans import (
    alert,
    created,
    kept,
    plan_of,
    plan_of_against,
    plan_of_drifted,
    plan_of_new,
    plan_of_none,
    plan_of_three,
    plan_of_three_hundred,
    plan_with_signals,
    policy_change,
    rewritten,
)

from reconciler.model import Action, GuardViolation, Plan
from reconciler.report.changes.field_changes import GOES_ON, broken_to
from reconciler.report.counts import summary
from reconciler.report.plan.formats import plan_text
from reconciler.report.safe import columns
from reconciler.report.table import Style

GOLDEN = Path(__file__).parent / "golden"
PLANS = {
    "none": plan_of_none,
    "new": plan_of_new,
    "against": plan_of_against,
    "drifted": plan_of_drifted,
    "three": plan_of_three,
    "three-hundred": plan_of_three_hundred,
    "signals": plan_with_signals,
}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
NARROW = Style(width=60)
COPIED = re.compile("Digest sha256:| +reconciler ")


@pytest.mark.parametrize("name", PLANS)
def test_what_a_person_reads(name: str) -> None:
    """The report of a plan is the one that was looked at and found good."""
    golden = (GOLDEN / f"plan-{name}.txt").read_text(encoding="utf-8")

    assert plan_text(PLANS[name](), Style()) == golden


@pytest.mark.parametrize("make", PLANS.values(), ids=PLANS)
def test_colour_adds_nothing_but_colour(make: object) -> None:
    """Without its escape sequences, coloured text is the plain text; plain text has none."""
    assert callable(make)
    plain, coloured = (plan_text(make(), Style(colour=colour)) for colour in (False, True))

    assert "\x1b" not in plain
    assert coloured != plain
    assert ESCAPE.sub("", coloured) == plain


@given(plan=plans(most=40), verbose=st.booleans())
def test_foreign_text_is_harmless(plan: Plan, verbose: bool) -> None:
    """No control, bidirectional or invisible character of a manifest reaches the terminal."""
    text = plan_text(plan, Style(verbose=verbose))

    unsafe = {
        character
        for character in text.replace("\n", "")
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }
    assert unsafe == set()
    assert "##[" not in text
    assert not any(line.startswith("::") for line in text.splitlines())


@settings(max_examples=settings().max_examples // 2)
@given(plan=plans(most=60))
def test_no_update_is_hidden(plan: Plan) -> None:
    """Each resource that an apply would overwrite or cannot write is named, however many."""
    said = re.sub(r"\s+", "", plan_text(plan, NARROW))

    for change in plan.changes:
        if change.action in (Action.UPDATE, Action.BLOCKED):
            number = re.search(r"\d+$", change.ref.name)
            assert number is None or number.group() in said


def test_three_hundred_changes_fit_a_few_screens() -> None:
    """What is the same for two hundred alerts is said once, and every one of them is named."""
    text = plan_text(plan_of_three_hundred(), Style())

    assert text.count('entityLabels.team: "shop" → "platform"') == 1
    assert all(f"service-{index:03}-errors" in text for index in range(180))
    assert len(text.splitlines()) < 300


def test_verbose_lists_everything() -> None:
    """With -v every resource has its own line, unchanged ones and folded creates too."""
    plan = plan_of_three_hundred()

    lines = plan_text(plan, Style(verbose=True)).splitlines()

    heads = [
        line for line in lines if re.match(r"  [=+~!x] \S+ +(live|journal|unseen|unread) ", line)
    ]
    assert len(heads) == len(plan.declared)
    assert not any("-v" in line for line in lines)


def test_creates_say_their_fields_when_asked() -> None:
    """A create says what matters; -v shows all that would be created."""
    plan = plan_of([created("SavedView", "errors", {"name": "Errors"})])

    assert '+ name: "Errors"' not in plan_text(plan, Style())
    assert '+ name: "Errors"' in plan_text(plan, Style(verbose=True))


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_values_fit_the_width(width: int) -> None:
    """Only a path or a name may be longer than the terminal is wide."""
    lines = plan_text(plan_of_three(), Style(width=width, terminal=True)).splitlines()

    too_long = [line for line in lines if len(line) > width]
    paths = r"      +[~+↕-] .*?(: moves from place \d+ to place \d+| at place \d+ of \d+|)?:?$"
    titles = r"  ~ |Digest "
    assert [line for line in too_long if not re.match(f"{paths}|{titles}", line)] == []


def test_a_long_value_shows_where_it_changed() -> None:
    """Of two long texts the part that differs is shown; in a pipe nothing in it is broken."""
    before = alert("a" * 500 + " old end")
    plan = plan_of([rewritten("long", before, alert("a" * 500 + " new end"))])

    text = plan_text(plan, Style(terminal=True))
    piped = plan_text(plan, Style())

    assert "a" * 500 + " old end\n" in piped

    assert "old end" in text
    assert "new end" in text
    assert max(map(len, text.splitlines())) <= 100


def test_what_is_destroyed_is_said_twice(golden: Golden) -> None:
    """A destroy stands in the counts and at its resource, with whether it was ours."""
    text = plan_text(plan_of([policy_change()]), Style())

    assert "1 destroyed permanently" in text.splitlines()[0]
    golden(text)


def test_added_policies_say_their_place(golden: Golden) -> None:
    """Order is meaning in a policy set, so an added policy says where it would stand."""
    text = plan_text(plan_of([policy_change()]), Style())

    golden(text)


def test_words_are_explained_only_where_they_stand() -> None:
    """The legend explains what this plan says, and nothing else."""
    nothing = plan_text(plan_of([kept("SLO", "one")]), Style())
    journal = plan_text(plan_of([rewritten("one", alert("A"), alert("B"))]), Style())

    assert "the API cannot show it" not in nothing
    assert "journal  the API cannot show it" in journal
    assert "unseen   " not in journal


def test_a_log_has_the_counts_on_one_line() -> None:
    """Where no terminal would break it, the first line has all of the counts, however long."""
    plan = plan_of_three_hundred()
    log, screen = (plan_text(plan, Style(width=60, terminal=one)) for one in (False, True))

    assert log.splitlines()[0].endswith(": " + summary(plan))
    assert max(map(len, screen.splitlines()[:3])) <= 60


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("name", PLANS)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """On a terminal only what is copied whole, a digest or a command, may be wider than it."""
    style = Style(width=width, terminal=True)
    shown = plan_text(PLANS[name](), style) + plan_text(PLANS[name](), replace(style, verbose=True))
    wider = [line for line in shown.splitlines() if columns(line) > width]

    assert [text for text in wider if not COPIED.match(text)] == []


TEXTS = st.text(st.sampled_from("ab ,(漢e\u0301 "), max_size=200)


@given(TEXTS, st.integers(20, 90), st.booleans())
def test_pieces_of_a_broken_line(text: str, room: int, goes_on: bool) -> None:
    """Each piece has room and tells whether the line goes on; the pieces say all its words."""
    text = text.strip(" ") + (GOES_ON if goes_on else "")
    *first, last = broken_to(text, room)

    assert all(columns(one) <= room for one in (*first, last))
    assert all(text.endswith(GOES_ON) for text in first)
    assert last.endswith(GOES_ON) is goes_on
    said = "".join(one.removesuffix(GOES_ON) for one in (*first, last))
    assert said.replace(" ", "") == text.removesuffix(GOES_ON).replace(" ", "")


@pytest.mark.parametrize("width", [100, 200])
def test_long_values_stand_one_below_the_other(width: int) -> None:
    """Two long values are not said on one line, however wide the terminal is."""
    before, after = "a" * 60 + " old", "a" * 60 + " new"
    plan = plan_of([rewritten("long", alert(before), alert(after))])
    lines = [line.strip() for line in plan_text(plan, Style(width=width)).splitlines()]

    assert f'- "{before}"' in lines
    assert f'+ "{after}"' in lines


def test_consent_can_be_told_apart() -> None:
    """What each guard says is further left than its remedies."""
    guards = [
        GuardViolation(said=f"one of {name}", remedies=(f"leave {name}",), code=code)
        for name, code in (("a", "destroys"), ("b", "protected"))
    ]
    plan = replace(plan_of([policy_change()]), guarded=tuple(guards))
    lines = plan_text(plan, Style()).splitlines()

    assert [line for line in lines if "one of" in line] == ["    one of a", "    one of b"]
    assert [line for line in lines if "leave" in line] == ["      - leave a", "      - leave b"]
