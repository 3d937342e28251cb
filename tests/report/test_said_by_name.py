"""What a reader meets in every form of a plan: names in place of ids, and one order of things."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from sample_plans import (
    alert,
    asserted,
    blocked,
    created,
    dashboard,
    plan_of,
    policies,
    policy,
    rewritten,
    updated,
    widget,
)

from reconciler.document import Json
from reconciler.model import Change, GuardViolation, LastEdit, OverwritesEdit, Plan, Recalled
from reconciler.report.changes.field_changes import field_changes, subject_lines
from reconciler.report.html import plan_html
from reconciler.report.plan.document import changed_since, plan_json, read_plan
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.sections import notices
from reconciler.report.table import Style

ID = "819c93ea-2f1b-4d52-9d4c-0c9a6ee7c6c1"
ELSEWHERE = re.compile(r'title="[^"]*"|&quot;|&#34;|&#x27;|</?[a-z]+[^>]*>')
FORMS: dict[str, Callable[[Plan], str]] = {
    "text": lambda plan: " ".join(plan_text(plan, Style(width=60, terminal=True)).split()),
    "markdown": plan_markdown,
    # The exact path stands under the pointer.
    "html": lambda plan: ELSEWHERE.sub("", plan_html(plan).split("<main>")[1]),
}


def called(title: str) -> dict[str, Json]:
    """Give a widget with an id as services give them, and with much that is empty."""
    return {**widget(title, "up"), "id": {"value": ID}, "description": "", "labels": []}


def edited() -> Change:
    """Give an update that undoes what someone changed in a widget and in its title."""
    change = updated(
        "Dashboard",
        "board",
        dashboard("Board", called("Renamed")),
        dashboard("Board", called("Errors")),
    )
    paths = tuple(difference.path for difference in change.differences)
    return replace(change, reasons=(OverwritesEdit(paths, LastEdit()),))


@pytest.mark.parametrize("form", FORMS)
def test_reasons_name_no_ids(form: str) -> None:
    """A reason calls a widget by its title, and never by an id that nobody knows."""
    shown = FORMS[form](plan_of([edited()])).replace("`", "")

    assert ID not in shown
    assert "last write: widget" in shown
    assert "· title" in shown


@pytest.mark.parametrize("form", FORMS)
def test_reasons_name_members(form: str) -> None:
    """A reason calls a policy by its name, and says fields and whole members alike."""
    change = updated(
        "LogPolicySet",
        "all",
        policies(policy("block debug", "LOW")),
        policies(policy("block debug", "HIGH")),
    )
    reasons = (
        OverwritesEdit((("policies", "block debug", "logRules"),), LastEdit()),
        Recalled((("policies", "block debug"),)),
    )

    shown = re.sub('["`]', "", FORMS[form](plan_of([replace(change, reasons=reasons)])))

    assert "last write: policy block debug" in shown
    assert "policy block debug · logRules" in shown
    assert "policy block debug: not in the answer" in shown


def test_a_stale_plan_names_no_ids() -> None:
    """What differs from the reviewed plan is called by its title too."""
    change = edited()
    other = updated(
        "Dashboard",
        "board",
        dashboard("Board", called("Renamed")),
        dashboard("Board", called("Faults")),
    )

    said = changed_since(read_plan(plan_json(plan_of([change])), "a"), plan_of([other]))

    assert said == ['Dashboard/board: another update: widget "Faults" in section "Orders" · title']


@pytest.mark.parametrize("width", [60, 100, 200])
@pytest.mark.parametrize("is_added", [True, False])
def test_a_part_is_said_alike_at_every_width(width: int, *, is_added: bool) -> None:
    """A part that comes or goes has neither its ids nor what is empty, however wide it is."""
    kept = widget("Kept", "up")
    sides = dashboard("Board", kept), dashboard("Board", kept, called("Extra"))
    change = updated("Dashboard", "board", *(sides if is_added else reversed(sides)))

    lines = [*subject_lines(field_changes(change), Style(width=width, terminal=True))]

    head = f'{"+ " if is_added else "- "}widget "Extra" in section "Orders"'
    head += " at place 2 of 2" if is_added else ""
    ends = ['query: "up"', 'unit: "UNIT_SECONDS"']
    short = f"{head}: {' · '.join(ends)}"
    told = [short] if len(short) + 6 <= width else [f"{head}:", *ends]
    assert [line.strip() for line in lines] == told


def test_a_field_of_several_ends_has_one_form() -> None:
    """Whether the rules of a policy come or go whole, they are said end by end, never as JSON."""
    bare: Json = {"policy": {"name": "one"}}
    ruled: Json = {"policy": {"name": "one"}, "logRules": {"severities": ["SEVERITY_ERROR"]}}

    found = [
        field_changes(updated("LogPolicySet", "all", policies(before), policies(after)))
        for before, after in ((bare, ruled), (ruled, bare))
    ]

    assert {change.after or change.before for changes in found for change in changes} == {
        "severities: [ERROR]"
    }


@pytest.mark.parametrize("names", [(), ("a",)])
def test_a_destroy_is_announced_unless_a_guard_names_it(names: tuple[str, ...]) -> None:
    """Whether a guard tells what goes is a fact of the guard, whatever letters its words hold."""
    change = replace(edited(), destroys=("a",))
    guard = GuardViolation(
        ref=change.ref, said=" is a board", remedies=(), code="x", destroys=names
    )
    plan = replace(plan_of([change]), guarded=(guard,))

    titles = [notice.title for notice in notices(plan)]

    assert ("destroys permanently" in titles) is not bool(names)


@pytest.mark.parametrize("form", FORMS)
def test_one_order(form: str) -> None:
    """Every form begins with what may hurt: blocked, updated, asserted, and created at last."""
    plan = plan_of(
        [
            created("AlertDefinition", "fourth", alert("Fourth")),
            asserted("third", alert("Third")),
            rewritten("second", alert("Second"), alert("Second", minutes=5)),
            blocked("AlertDefinition", "first", "why"),
        ]
    )
    shown = FORMS[form](plan)
    table = shown[shown.rindex("| action |") :] if form == "markdown" else shown
    body = table[table.rindex("Search") :] if "Search" in table else table

    places = [body.index(name) for name in ("first", "second", "third", "fourth")]

    assert places == sorted(places)
