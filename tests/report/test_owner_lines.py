"""Whose a change is, as a plan's comment says it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from sample_plans import plan_of_three

from reconciler.ci.job import ChangeOwners
from reconciler.model import Action, LastEdit, Plan, Seen
from reconciler.report.plan.formats import owners_markdown, plan_markdown


def owned(*owners: str, mentions: bool = False) -> Plan:
    """Give a plan of which everything has these owners."""
    plan = plan_of_three()
    by_ref = {change.ref: owners for change in plan.changes}
    return plan.with_section(ChangeOwners(by_ref, mentions))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=30, unique=True), st.booleans())
def test_foreign_owners(owners: list[str], mentions: bool) -> None:
    """Whatever is called an owner stands in a code span, or is a plain mention."""
    plan = owned(*owners, mentions=mentions)
    for line in owners_markdown(plan, plan.changes):
        tokens = [child for block in MarkdownIt().parse(line) for child in block.children or ()]
        assert {token.type for token in tokens} <= {"text", "code_inline"}
        assert "<" not in "".join(token.content for token in tokens if token.type == "text")


def test_nobody_is_notified_unasked() -> None:
    """An owner is mentioned outside of a code span only where that was asked for."""
    assert "@team/all" not in plan_markdown(owned("@team/all")).replace("`@team/all`", "")
    assert "- @team/all: " in plan_markdown(owned("@team/all", mentions=True))


def test_owners_are_no_part_of_the_digest() -> None:
    """Whose a change is changes no digest, nor what was reviewed."""
    assert owned("@a").digest == plan_of_three().digest


def test_who_changed_it_last() -> None:
    """A person who changed last what is live is named, and our own writes are not."""
    plan = plan_of_three()
    change = next(change for change in plan.changes if change.action is not Action.KEEP)
    for by_hand in (True, False):
        seen = Seen("x", {}, edit=LastEdit(who="mira", at="2026-01-02T00:00:00Z"), by_hand=by_hand)
        told = "\n".join(owners_markdown(plan, [replace(change, observation=seen)]))
        assert ("mira" in told) is by_hand
