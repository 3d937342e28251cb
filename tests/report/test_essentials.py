"""What a reviewer sees of something new: the few fields that its kind names."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from harness.unsafe_text import unsafe_in
from html_reading import Reader
from hypothesis import given
from random_plans import TEXTS, filled
from sample_plans import NEW_SLO as SLO
from sample_plans import created, dashboard, new_resources, plan_of, updated

from reconciler.document import Json
from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.kind import ANY_STEP, Essential, Kind
from reconciler.kinds.shape import NOTHING, Facts, facts_of
from reconciler.model import Action, Change, Evidence, Unknown
from reconciler.report.changes.field_changes import essentials_of, field_changes, packed
from reconciler.report.html import plan_html
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.table import Style

pytestmark = pytest.mark.promise("P50")

NEW_BY_KIND = {change.ref.kind: change for change in new_resources()}
NEW = {
    "SLO": (
        NEW_BY_KIND["SLO"],
        [
            *("targetThresholdPercentage: 99.5 %", "sloTimeFrame: 28 days"),
            *('goodEvents: "good"', 'totalEvents: "all"'),
        ],
    ),
    "AlertDefinition": (
        NEW_BY_KIND["AlertDefinition"],
        [
            *("enabled: false", "deleted: true", 'promql: "up == 0"', "priority: P4"),
            *("type: METRIC_THRESHOLD", "threshold: 0, 5", "integrationId: 7"),
        ],
    ),
    "SavedView": (
        NEW_BY_KIND["SavedView"],
        ["viewType: LOGS", "quickSelection: 15 min", 'query: "level:error"'],
    ),
    "Dashboard": (
        NEW_BY_KIND["Dashboard"],
        ['widgets: 5 ("W0", "W1", "W2", …)'],
    ),
    "LogPolicySet": (NEW_BY_KIND["LogPolicySet"], ['policies: 1 ("Noise")']),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_names_what_matters(kind: Kind) -> None:
    """Each kind names a few fields that matter, all of them fields that it knows."""
    unknown = [essential.path for essential in kind.essentials if not is_known(kind, essential)]

    assert kind.essentials
    assert unknown == []
    assert len({essential.path for essential in kind.essentials}) == len(kind.essentials)


def is_known(kind: Kind, essential: Essential) -> bool:
    """Tell whether a path leads to a field of the kind's model, by one way at least."""
    ways = [Facts(part=kind.spec)]
    path = essential.path
    # The model leaves open what the definition of a widget holds.
    for step in path[: path.index("definition")] if "definition" in path else path:
        ways = [inner for facts in ways for inner in steps(facts, step)]
    return bool(ways)


def steps(facts: Facts, step: str) -> list[Facts]:
    """Give where a step leads; an item of a list only by the sign for any."""
    if facts.part is not None:
        known = facts_of(facts.part)
        return [*known.values()] if step == ANY_STEP else ([known[step]] if step in known else [])
    inner = facts.items or facts.values
    return [inner] if inner is not None and inner is not NOTHING and step == ANY_STEP else []


@pytest.mark.parametrize("kind", BY_NAME)
def test_what_is_said_of_something_new(kind: str) -> None:
    """The fields that matter are said in order, without what goes without saying."""
    change, wanted = NEW[kind]

    assert [*essentials_of(change)] == wanted


def charted(title: str, query: str) -> dict[str, Json]:
    """Return a widget with a tooltip before its query, as the service stores it."""
    asked: Json = {"query": {"metrics": {"promqlQuery": {"value": query}}}, "unit": "UNIT_SECONDS"}
    tooltip: Json = {"type": "TOOLTIP_TYPE_ALL", "showLabels": False}
    chart: Json = {"tooltip": tooltip, "stackedLine": "NONE", "queryDefinitions": [asked]}
    return {"title": title, "appearance": {"width": 0}, "definition": {"lineChart": chart}}


@pytest.mark.promise("S23")
def test_a_removed_widget_says_its_query_first() -> None:
    """Of a part that goes the title is first and its query second; `tooltip.type` is last."""
    both = dashboard("One", charted("Up", "up"), charted("Down", "down"))
    change = updated("Dashboard", "one", both, dashboard("One", charted("Up", "up")))

    lines = plan_text(plan_of([change]), Style()).splitlines()

    start = next(at for at, line in enumerate(lines) if '- widget "Down"' in line)
    fields = [line.split(":")[0].strip() for line in lines[start + 1 : lines.index("", start)]]
    assert fields[0] == "query"
    assert fields[-2:] == ["tooltip.type", "tooltip.showLabels"]


@pytest.mark.promise("S23")
def test_queries_are_not_hidden_by_options() -> None:
    """Several queries of a widget come before its own options, with the names that they have."""
    (change,) = field_changes(
        created("Dashboard", "one", dashboard("One", charted("Up", "up"), charted("Down", "down")))
    )

    fields = [leaf.field for leaf in change.leaves if not leaf.subject]

    assert fields[0] == "name"
    assert [field for field in fields if field.endswith(", query")] == fields[1:3]


@pytest.mark.promise("S23")
def test_a_new_dashboard_says_titles_and_queries_first() -> None:
    """Titles of widgets come first and queries next; sections are left out."""
    widgets = (charted(title, title.lower()) for title in ("Up", "Down", "Left", "Right"))
    change = created("Dashboard", "one", dashboard("One", *widgets))

    said = essentials_of(change)

    assert said[:2] == (
        'widgets: 4 ("Up", "Down", "Left", …)',
        'queries: "up", "down", "left", …',
    )
    assert not any("sections" in text for text in said)


@pytest.mark.parametrize("kind", BY_NAME)
def test_every_report_says_it(kind: str) -> None:
    """Terminal, comment and page say the fields that matter before anything is opened."""
    change, wanted = NEW[kind]
    plan = plan_of([change])
    rows = (line for line in plan_markdown(plan).splitlines() if line.startswith("| "))
    row = next(line for line in rows if str(change.ref) in line)
    summary = re.search(r"<summary><span.*?</summary>", plan_html(plan), re.DOTALL)

    assert summary is not None
    for said in wanted:
        assert said in plan_text(plan, Style(width=200))
        assert said in row
        assert said in unescape(summary.group())


@pytest.mark.parametrize("kind", BY_NAME)
def test_all_of_it_is_there_for_who_asks(kind: str) -> None:
    """With -v, in the fold of a comment and in an open card, every declared field is there."""
    change, _ = NEW[kind]
    plan = plan_of([change])
    whole = (
        plan_text(plan, Style(width=200, verbose=True)),
        plan_markdown(plan),
        "".join("".join(words) for words in Reader(plan_html(plan)).words.values()),
    )

    assert [key for key in change.body if not all(f"{key}" in text for text in whole)] == []


def test_an_update_says_what_differs() -> None:
    """An update names no field that stays as it is."""
    plan = plan_of([updated("SLO", "checkout", SLO, {**SLO, "targetThresholdPercentage": 99})])

    assert essentials_of(plan.changes[0]) == ()
    assert "sloTimeFrame" not in plan_text(plan, Style())


def test_a_long_plan_is_read_to_its_end() -> None:
    """Where much is new, each has one line of fields, and the end says how to see all of them."""
    many = ({**SLO, "description": f"Number {number}"} for number in range(40))
    plan = plan_of(created("SLO", f"checkout-{at:02}", element) for at, element in enumerate(many))
    lines = plan_text(plan, Style()).splitlines()

    first = next(at for at, line in enumerate(lines) if "checkout-00" in line)
    assert "targetThresholdPercentage: 99.5 %" in lines[first + 1]
    assert "checkout-01" in lines[first + 2]
    assert sum(line.startswith("-v ") for line in lines) == 1


def test_what_is_new_and_all_the_same_is_said_once() -> None:
    """Many new resources stand together only where every field of them is the same."""
    same = [created("SLO", f"same-{number}", SLO) for number in range(6)]
    other = created("SLO", "other", {**SLO, "description": "Another"})
    lines = plan_text(plan_of([*same, other]), Style()).splitlines()

    assert sum("targetThresholdPercentage" in line for line in lines) == 2
    assert "  + 6 alike  live" in lines
    assert any(line.startswith("  + other ") for line in lines)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_fit_the_terminal(width: int) -> None:
    """No line of fields is wider than the terminal, and as many stand side by side as fit."""
    sli: Json = {"goodEvents": {"query": "日本 " * 200}}
    query = {**SLO, "requestBasedMetricSli": sli}
    text = plan_text(plan_of([created("SLO", "one", query)]), Style(width=width))
    lines = [line for line in text.splitlines() if line.startswith("      ")]

    assert len(lines) > 1
    assert packed([line.strip() for line in lines], width - 6) == [line.strip() for line in lines]
    assert lines[-1].strip().startswith("may fail") or "…" in lines[-1]


@given(text=TEXTS)
def test_fields_that_matter_are_foreign_text(text: str) -> None:
    """Whatever stands in them, what is said is one line of safe text for each field."""
    for kind in KINDS:
        change = created(kind.name, "new", filled(kind, text))
        for said in essentials_of(change):
            assert unsafe_in(said) == set()
            assert "\n" not in said


def test_what_nobody_compared_with_is_said() -> None:
    """Also where a kind can be read, a write without having seen says its content."""
    change: Change = replace(
        created("SLO", "checkout", SLO),
        action=Action.ASSERT,
        evidence=Evidence.NONE,
        observation=Unknown(None, "not asked"),
    )

    assert essentials_of(change) == essentials_of(created("SLO", "checkout", SLO))
    assert BY_NAME["SLO"].essentials


def test_a_short_update_is_said_in_the_table() -> None:
    """The row of a comment has the few short values that change, else the places that do."""
    short = updated("SLO", "short", SLO, {**SLO, "targetThresholdPercentage": 99})
    long = updated("SLO", "long", SLO, {**SLO, "description": "y" * 200})
    gone = updated("SLO", "gone", {**SLO, "labels": {"a": "b"}}, SLO)
    text = plan_markdown(plan_of([short, long, gone]))
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `~`")]

    assert {row[1]: row[2] for row in rows} == {
        "`SLO/short`": "`targetThresholdPercentage: 99.5 % → 99 %`",
        "`SLO/long`": "`description`",
        "`SLO/gone`": "`- labels`",
    }
