"""Consent in a plan: a block for each guard, with its resources and each remedy once."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sample_objections import plan, planned

from reconciler.errors import GuardRefused
from reconciler.model import (
    FROZEN,
    Action,
    GuardViolation,
    LastEdit,
    LooksLike,
    OverwritesEdit,
    Plan,
    Ref,
)
from reconciler.operations.apply_plan import Consent, check
from reconciler.operations.open_project import Reporter
from reconciler.planning.guards import objections
from reconciler.project import Guards
from reconciler.report.html import plan_html
from reconciler.report.plan.document import plan_document
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.table import Style

ANN = LastEdit(who="ann@example.com", at="2025-01-31T09:00:00Z")

TITLE = (("dashboard", "title"),)


REMEDIES = "<details><summary>Remedies</summary>"


def edited(count: int) -> Plan:
    """Return a plan that undoes so many edits of a colleague."""
    changes = (
        planned(
            Ref("Dashboard", f"board-{number}"),
            Action.UPDATE,
            OverwritesEdit(TITLE * number, ANN),
        )
        for number in range(1, count + 1)
    )
    made = plan(*changes)
    return replace(made, guarded=objections(made, Guards()))


def consent_in(form: str, made: Plan) -> list[str]:
    """Return the lines about consent in a report of a plan."""
    match form:
        case "text":
            lines = plan_text(made, Style()).splitlines()
            start = next(at for at, line in enumerate(lines) if "must consent" in line)
            return [line for line in lines[start:] if "must consent" in line or line[:2] == "  "]
        case "markdown":
            _, _, block = plan_markdown(made).partition("⚠️ **")
            return [line for line in block.partition("\n| ")[0].splitlines() if line]
        case "html":
            _, _, rest = plan_html(made).partition('class="attention"')
            return rest.partition("</section>")[0].split("<li>")[1:]
        case _:
            with pytest.raises(GuardRefused) as raised:
                check(made, Consent(yes=True), Reporter())
            return str(raised.value).splitlines()


@pytest.mark.promise("S20")
@pytest.mark.parametrize("form", ["text", "markdown", "html", "error"])
def test_five_edits_of_others_are_one_block(form: str) -> None:
    """Five edits of others take at most 12 lines: each is said once, and each remedy is."""
    made = edited(5)

    lines = consent_in(form, made)
    shown = re.sub("<[^>]*>", "", "\n".join(lines))

    assert len(lines) <= 12
    assert shown.count("someone changed since our last write would be undone") == 5
    assert len(re.findall("ann.{0,6}@.{0,6}example", shown)) == 5
    for remedy in ("review the plan", "declare what is live", "in an earlier merge", "REASON"):
        assert shown.count(remedy) == 1
    assert " ".join(f"Dashboard/board-{number}" for number in range(1, 6)) in shown


@pytest.mark.promise("S20")
def test_grouping_changes_no_key() -> None:
    """In JSON each objection keeps its own key, figures and remedies."""
    lone = {guard.key: guard for number in range(1, 6) for guard in edited(number).guarded[-1:]}

    documents = plan_document(edited(5))["guards"]

    assert {guard.key for guard in edited(5).guarded} == lone.keys()
    assert [document["waysOut"] for document in documents] == [
        list(guard.remedies) for guard in lone.values()
    ]


def test_many_names_stay_readable() -> None:
    """A remedy of more resources than a line can name counts them, and the block names each."""
    lines = consent_in("text", edited(60))

    assert max(map(len, lines)) < 200
    assert sum("Dashboard/board-" in line for line in lines) == 60


def test_a_comment_counts_what_it_leaves_out() -> None:
    """A comment lists the first resources of a guard, and says how many it leaves out."""
    changes = (
        planned(Ref("Dashboard", f"board-{number}"), Action.UPDATE, OverwritesEdit(TITLE, ANN))
        for number in range(60)
    )
    made = plan(*changes)
    alike = replace(made, guarded=objections(made, Guards()))

    for each in (edited(60), alike):
        lines = consent_in("markdown", each)
        start = next(at for at, line in enumerate(lines) if "overwrites-edit" in line)
        block = "\n".join(lines[start : lines.index(REMEDIES, start)])
        (rest,) = re.findall(r"and (\d+) more", block)
        assert block.count("`Dashboard/board-") + int(rest) == 60


def test_the_prose_of_a_guard_is_no_code() -> None:
    """In a comment only names, commands and values of a guard are code, and no sentence is."""
    lines = consent_in("markdown", edited(5))

    prose = re.sub("`[^`]*`", "", "\n".join(lines))

    assert prose.count("would be undone") == 5
    assert "declare what is live" in prose
    assert not re.search("Dashboard|ann@|--override-guard", prose)


def test_a_rename_of_several_says_what_to_type() -> None:
    """Commands that take one resource are given once, as none could name several."""
    made = plan(
        *(
            planned(Ref("SLO", f"new-{name}"), Action.CREATE, LooksLike((Ref("SLO", name),)))
            for name in ("a", "b")
        )
    )
    made = replace(made, guarded=objections(made, Guards()))

    shown = "\n".join(consent_in("text", made))

    assert (shown.count("journal rename"), shown.count("journal forget")) == (1, 1)
    assert "OLD NEW" in shown


@pytest.mark.parametrize("form", ["text", "markdown", "html", "error"])
def test_a_remedy_of_one_reason_follows_it(form: str) -> None:
    """What helps against one reason alone follows that reason; what helps against all is last."""
    both = [
        GuardViolation(said=f"reason {name}", remedies=(f"only {name}", "for both"), code=FROZEN)
        for name in ("one", "two")
    ]
    made = plan(planned(Ref("Dashboard", "board"), Action.UPDATE))

    shown = "\n".join(consent_in(form, replace(made, guarded=tuple(both))))

    words = ("reason one", "only one", "reason two", "only two", "for both")
    assert re.findall("|".join(words), shown) == [*words]
    assert form == "html" or "2 reasons" in shown
