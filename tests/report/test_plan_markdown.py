"""A plan as a comment on a pull request."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token
from random_plans import HOSTILE, MARK, TEXTS, plans
from sample_plans import (
    alert,
    blocked,
    created,
    plan_of,
    plan_of_against,
    plan_of_drifted,
    plan_of_new,
    plan_of_none,
    plan_of_three,
    plan_of_three_hundred,
    plan_with_signals,
    rewritten,
)

from reconciler.model import GuardLevel, GuardViolation, Plan
from reconciler.report.markdown import COMMENT_BYTES, code, element, fenced, table_row
from reconciler.report.plan.formats import plan_markdown
from reconciler.runtime.advice import in_job

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
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OURS = re.compile(
    r"<details( open)?><summary><code>[^<>]*</code> [a-z]+(, [a-z]+)?( and [0-9,]+ alike)?"
    r"( <code>[^<>]*</code>)?</summary>\s*|</details>\s*|</?sub>|<br>"
    r"|<details><summary>and [0-9,]+ more</summary>\s*"
)


def tokens(markdown: str) -> Iterator[Token]:
    """Yield every token, those inside of lines too."""
    for token in PARSER.parse(markdown):
        yield token
        yield from token.children or ()


def spoken(markdown: str) -> str:
    """Give all text that a reader's browser would take as markdown, code left out."""
    words = []
    for token in tokens(markdown):
        if token.type in ("html_block", "html_inline"):
            assert OURS.fullmatch(token.content), token.content
        elif token.type == "text" or token.type not in ("fence", "code_inline", "inline"):
            words.append(token.content)
    return "".join(words)


@pytest.mark.parametrize("name", PLANS)
def test_what_a_reviewer_reads(name: str) -> None:
    """The comment for a plan is the one that was looked at and found good."""
    golden = (GOLDEN / f"plan-{name}.md").read_text(encoding="utf-8")

    assert plan_markdown(PLANS[name]()) == golden


@settings(max_examples=settings().max_examples // 4)
@given(plan=plans())
def test_it_fits_a_comment(plan: Plan) -> None:
    """No plan is longer than a comment may be; counts, table and digest are always there."""
    markdown = plan_markdown(plan)

    assert len(markdown.encode()) <= COMMENT_BYTES
    assert markdown.startswith("### Plan for `")
    assert plan.digest in markdown
    todo = sum(change.action.is_to_do for change in plan.changes)
    assert ("| action | resource |" in markdown) == (todo > 0)


@given(text=TEXTS)
def test_a_code_span_holds_in_a_cell(text: str) -> None:
    """Any text is one code span in one cell, and the cell behind it is still there."""
    table = f"| a | b |\n|---|---|\n{table_row(code(text, 80), 'end')}\n"

    found = [token.type for token in tokens(table) if token.type in ("td_open", "code_inline")]

    assert found == ["td_open", "code_inline", "td_open"]
    assert "end" in spoken(table)
    assert MARK not in spoken(table)


@pytest.mark.parametrize("text", ["a|b", "|", r"a\|b", "`|`"])
def test_a_bar_is_shown_as_it_is(text: str) -> None:
    """A code span shows the same text in a table and outside of it."""
    shown = f"{code(text)}\n\n| a |\n|---|\n{table_row(code(text))}\n"

    spans = [token.content.strip() for token in tokens(shown) if token.type == "code_inline"]

    assert spans == [text, text]


@pytest.mark.parametrize("text", HOSTILE)
def test_an_element_holds_any_text(text: str) -> None:
    """Inside an element, only letters, digits and a few signs stand as themselves."""
    inside = element("code", text).removeprefix("<code>").removesuffix("</code>")

    assert not re.search(r"[<>`@|*:\[\]]|#(?!\d+;)|&(?!#\d+;)", inside)
    assert html.unescape(inside).isprintable() or text == "\u3164"


def test_a_fence_outgrows_what_is_inside() -> None:
    """Backticks in a value cannot close the fence around it."""
    block = fenced("diff", ["````", "+ x"])

    (token,) = PARSER.parse(block)
    assert token.content == "````\n+ x\n"


def test_the_largest_diffs_are_left_out_first() -> None:
    """With no room for all, the small diffs stay, and the comment counts what is missing."""
    small = rewritten("small", alert("A"), alert("B"))
    huge = [
        created(
            "SavedView", f"huge-{index}", {"name": f"{index}", "query": "q" * 3_000 + str(index)}
        )
        for index in range(4)
    ]
    plan = plan_of([small, *huge])
    whole = plan_markdown(plan)

    short = plan_markdown(plan, len(whole.encode()) - 1)

    assert "of 5 diffs left out: see the whole plan." in short
    assert "<code>AlertDefinition&#" not in short
    assert '- name: "A"' in short
    assert len(short) < len(whole)


def test_the_first_lines_say_what_may_hurt() -> None:
    """Destroys, unsettled creates and orphans stand before the table."""
    head, _, _ = plan_markdown(plan_of_three_hundred()).partition("| action |")

    assert "**destroys permanently**: `LogPolicySet/log-policies`: loses `Search`" in head
    assert "**in doubt**: `SavedView/errors`: the answer to its create was lost" in head
    assert "`reconciler journal settle -e production SavedView/errors --never-happened`" in head
    assert "**blocked**: `SLO/objective-00`" in head
    assert "**unverified**: `AlertDefinition/region-00-lag`" in head
    assert "**no longer declared**: `SavedView/old-errors`" in head


@pytest.mark.parametrize("level", ["review", "explicit"])
def test_what_needs_consent_is_marked(level: GuardLevel) -> None:
    """Only rows of unmet guards are marked, and remedies are folded where a review consents."""
    changes = [rewritten(name, alert("A"), alert(name)) for name in ("a", "b")]
    guard = GuardViolation(
        ref=changes[0].ref, said=" is dear", remedies=("leave it",), code="x", own_level=level
    )
    plan = plan_of(changes)

    with in_job():
        unmet = plan_markdown(replace(plan, guarded=(guard,)))
        met = plan_markdown(replace(plan, guarded=(replace(guard, is_met=True),)))

    marked = [line for line in unmet.splitlines() if line.startswith("| ⚠️")]
    assert ["`AlertDefinition/a`" in line for line in marked] == [True]
    assert "| ⚠️" not in met
    assert ("merging consents" in unmet) is (level == "review")
    assert ("<summary>Remedies</summary>" in unmet) is (level == "review")


@pytest.mark.parametrize("count", [1, 2])
def test_why_it_is_blocked_is_said_once(count: int) -> None:
    """The reason of a blocked resource is in one place of the comment: its notice, or its row."""
    plan = plan_of([blocked("SLO", f"s{nth}", f"why {nth}") for nth in range(count)])

    markdown = plan_markdown(plan)

    assert [markdown.count(f"why {nth}") for nth in range(count)] == [1] * count


@pytest.mark.parametrize("place", [1, 2])
def test_a_note_of_several_rows_is_said_once(place: int) -> None:
    """A note that several rows share is once below the table, and each row refers to it."""
    plan = plan_of([blocked("SLO", f"s{nth}", f"why {nth % place}") for nth in range(4)])

    rows, _, below = plan_markdown(plan).partition("\n\n<sub>")

    for nth in range(place):
        assert rows.count(f"| ({nth + 1}) |") == 4 // place
        assert f"({nth + 1}) `why {nth}`</sub>" in below
    assert "why" not in rows


def test_a_row_without_a_diff_has_its_place() -> None:
    """A change that has no diff has the line of its manifest in its row."""
    assert "`SLO/s` in `slo/s.yaml:1` |" in plan_markdown(plan_of([blocked("SLO", "s", "why")]))


def test_who_must_do_what_comes_first() -> None:
    """Below the title is the number of consents that each person must still give, by code."""
    plan = plan_of_three()
    levels: tuple[tuple[GuardLevel, bool], ...] = (
        ("review", False),
        ("explicit", False),
        ("explicit", False),
        ("explicit", True),
    )
    guards = tuple(
        GuardViolation(said=f"{nth}", remedies=(), code=f"c{nth}", own_level=level, is_met=is_met)
        for nth, (level, is_met) in enumerate(levels)
    )
    guards = (replace(guards[1], said="another"), *guards)

    asking = plan_markdown(replace(plan, guarded=guards)).split("\n")[2]
    met = plan_markdown(replace(plan, guarded=guards[-1:])).split("\n")[2]

    assert re.findall(r"[0-9]+ \(.*?\)", asking) == ["1 (`c0`)", "3 (`c1` 2, `c2` 1)"]
    assert "c3" not in asking
    assert re.findall(r"[0-9]+ \(.*?\)", met) == []


def test_what_needs_consent_comes_first() -> None:
    """The row and the diff of an unmet guard are above those of other changes."""
    changes = [rewritten(name, alert("A"), alert(name)) for name in ("a", "b", "c")]
    guard = GuardViolation(ref=changes[1].ref, said=" is dear", remedies=(), code="x")

    markdown = plan_markdown(replace(plan_of(changes), guarded=(guard,)))

    rows = re.findall(r"^\| .*`AlertDefinition/(\w)`", markdown, re.MULTILINE)
    diffs = re.findall(r"<summary><code>AlertDefinition/(\w)</code>", markdown)
    assert rows == diffs == ["b", "a", "c"]


@pytest.mark.parametrize("name", ["three", "drifted"])
def test_what_comes_and_goes_is_named_first(name: str) -> None:
    """A row that cuts names the removed and the added parts before any edit."""
    rows = plan_markdown(PLANS[name]()).splitlines()

    (row,) = (row for row in rows if row.startswith("| ") and "`LogPolicySet/" in row)
    places = re.findall(r"`(- |\+ )?[^`]*policy [^`]*`", row)
    assert places[:2] == ["- ", "+ "]
    assert " more |" in row


def test_what_is_alike_is_one_row_and_one_diff() -> None:
    """One change to many resources is read once, and all of them are named below it."""
    markdown = plan_markdown(plan_of_three_hundred())

    assert markdown.count("`AlertDefinition/service-000-errors` and 179 alike") == 1
    assert markdown.count('+ entityLabels.team: "platform"') == 1
    assert all(f"service-{index:03}-errors" in markdown for index in range(180))
    assert all(f"objective-{index:02}" in markdown for index in range(14))
