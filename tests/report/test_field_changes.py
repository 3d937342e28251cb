"""What a write does to the fields, in words: values, line diffs, and which part they are about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_plans import TEXTS, VALUES, a_change
from sample_plans import (
    alert,
    created,
    dashboard,
    plan_of_three,
    policies,
    policy,
    rewritten,
    updated,
    widget,
)

from reconciler.document import ABSENT, Json, differences, turned
from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import Unit
from reconciler.kinds.shape import NOTHING, Facts, facts_at
from reconciler.kinds.times import duration
from reconciler.model import Action, Change, Drift, Ref, Source
from reconciler.redaction.templates import RefHole, Template
from reconciler.report.changes.field_changes import (
    DiffLine,
    FieldChange,
    diff_lines,
    drift_changes,
    field_changes,
    line_diff,
    pieces,
)
from reconciler.report.labels import spoken_value
from reconciler.report.safe import safe

PRIORITY = facts_at(BY_NAME["AlertDefinition"].spec, ("priority",))
WINDOW = facts_at(BY_NAME["SLO"].spec, ("sloTimeFrame",))
QUERY = "sum by (region, code) (rate(requests_total[5m])) and on (region) up == 1 or vector(0)"


@pytest.mark.parametrize(
    ("document", "facts", "words"),
    [
        (99.5, Facts(unit=Unit.PERCENT), "99.5 %"),
        (99.0, Facts(unit=Unit.PERCENT), "99 %"),
        (90, Facts(unit=Unit.MINUTES), "1 h 30 min"),
        ("21600s", Facts(unit=Unit.SECONDS), "6 h"),
        ("250", Facts(unit=Unit.MILLISECONDS), "250 ms"),
        (0, Facts(unit=Unit.SECONDS), "0 s"),
        ("soon", Facts(unit=Unit.SECONDS), '"soon"'),
        (True, Facts(unit=Unit.SECONDS), "true"),
        ("ALERT_DEF_PRIORITY_P1", PRIORITY, "P1"),
        ("P1", PRIORITY, '"P1"'),
        ("SLO_TIME_FRAME_28_DAYS", WINDOW, "28 days"),
        ('level:"error"', NOTHING, "'level:\"error\"'"),
        ('"it\'s"', NOTHING, '"\\"it\'s\\""'),
        (ABSENT, NOTHING, "(absent)"),
        (Template((RefHole(Ref("SLO", "one")),)), NOTHING, "(known after apply: SLO/one)"),
        ([1, "a"], NOTHING, '[1, "a"]'),
    ],
)
def test_values_are_said_as_people_say_them(document: Json, facts: Facts, words: str) -> None:
    """Units, enumerations and quotes are those of people; what is not known is JSON."""
    assert spoken_value(document, facts) == words


@given(one=st.integers(1, 10**9), other=st.integers(1, 10**9))
def test_durations_are_exact(one: int, other: int) -> None:
    """Two times are said alike only if they are the same."""
    assert (duration(one) == duration(other)) == (one == other)


@given(one=TEXTS | VALUES, other=TEXTS | VALUES)
def test_two_values_never_read_the_same(one: Json, other: Json) -> None:
    """The words of two values are the same only where their JSON is."""
    if spoken_value(one) == spoken_value(other):
        assert safe(repr(one)) == safe(repr(other)) or one == other


@given(text=TEXTS | st.text() | st.text("ab ,.|+and\n", max_size=400))
def test_pieces_are_the_whole_text(text: str) -> None:
    """However a long text is broken, nothing of it is lost."""
    assert "".join(pieces(text)) == text


@given(before=st.text("ab \n", max_size=60), after=st.text("ab \n", max_size=60))
def test_both_texts_stand_in_their_diff(before: str, after: str) -> None:
    """Without what comes, a diff is the text before; without what goes, the text after."""
    assume(before != after)

    lines = line_diff(before, after, context=100)

    for text, sign in ((before, "-"), (after, "+")):
        kept = [line.text for line in lines if line.sign in (" ", sign)]
        assert kept == [piece.removesuffix("\n") for piece in pieces(text)]


def test_a_long_query_is_a_line_diff() -> None:
    """Of a long query only the piece that changed is marked; the rest stands around it."""
    (change,) = field_changes(
        updated(
            "Dashboard",
            "one",
            dashboard("One", widget("Rate", QUERY * 3)),
            dashboard("One", widget("Rate", (QUERY * 3).replace("vector(0)", "vector(1)", 1))),
        )
    )

    signs = [line.sign for line in change.lines]
    assert change.subject == 'widget "Rate" in section "Orders"'
    assert signs.count("-") == signs.count("+") == 1
    assert any("vector(1)" in line.text for line in change.lines if line.sign == "+")


def test_lines_that_look_the_same_are_json() -> None:
    """Where two texts differ in what a line cannot show, their JSON shows it."""
    (change,) = field_changes(
        rewritten("one", {"description": "first\nsecond"}, {"description": "first\nsecond\n"})
    )

    assert change.lines == ()
    assert change.after == '"first\\nsecond\\n"'


def test_same_words_are_told_apart() -> None:
    """900s and 900 are one time to people, and two values to the service."""
    (change,) = field_changes(
        updated(
            "Dashboard",
            "one",
            {"dashboard": {"relativeTimeFrame": "900s"}},
            {"dashboard": {"relativeTimeFrame": "900"}},
        )
    )

    assert (change.before, change.after) == ('"900s"', '"900"')


def test_a_set_loses_and_gains_members() -> None:
    """Of a set it is said who goes and who comes: its order means nothing."""
    before, after = policy("Audit", "HIGH"), policy("Audit", "HIGH")
    assert isinstance(after, dict)
    after["logRules"] = {"severities": ["SEVERITY_ERROR", "SEVERITY_INFO"]}

    (change,) = field_changes(updated("LogPolicySet", "one", policies(before), policies(after)))

    assert change.lines == (
        DiffLine("-", "DEBUG"),
        DiffLine("+", "ERROR"),
        DiffLine("…", "1 the same"),
    )


def test_a_name_is_not_said_twice() -> None:
    """What comes or goes is called by its name, which is left out of what it holds."""
    changes = field_changes(plan_of_three().changes[-1])

    added = next(change for change in changes if change.operation == "add")
    assert added.subject == 'policy "Health checks"'
    assert added.position == "at place 2 of 4"
    assert "name" not in [leaf.field for leaf in added.leaves]


def test_nested_ids_are_no_content() -> None:
    """Ids that were derived from the place are left out of what a create holds."""
    (change,) = field_changes(created("Dashboard", "one", dashboard("One", widget("A", "up"))))

    assert not [leaf for leaf in change.leaves if leaf.field.startswith("id")]
    assert [leaf.text for leaf in change.leaves if leaf.field.endswith("query")] == ['"up"']


@given(change=a_change())
def test_all_words_are_safe(change: Change) -> None:
    """Whatever a manifest says, each text of a difference is safe and on one line."""
    for field_change in field_changes(change):
        texts = [
            field_change.subject,
            field_change.field,
            field_change.before,
            field_change.after,
            field_change.position,
        ]
        texts += [line.text for line in field_change.lines]
        texts += [
            part for leaf in field_change.leaves for part in (leaf.subject, leaf.field, leaf.text)
        ]
        assert [safe(text) for text in texts] == texts


@given(change=a_change())
def test_no_difference_is_left_out(change: Change) -> None:
    """Every difference of a write is said once, and every field of what is new."""
    expected = (
        [difference.path for difference in change.differences] if change.action.writes else []
    )
    if change.action in (Action.CREATE, Action.ASSERT):
        expected = [(key,) for key in change.body]

    assert sorted(
        map(repr, (field_change.path for field_change in field_changes(change)))
    ) == sorted(map(repr, expected))


def test_fields_of_the_resource_come_first() -> None:
    """What is said of the resource itself stands before what is said of its parts."""
    before, after = alert("A"), alert("B")
    for minutes, spec in ((5, before), (10, after)):
        webhooks: Json = [{"minutes": minutes}]
        spec["notificationGroup"] = {"webhooks": webhooks}
        spec["zone"] = minutes

    found = field_changes(rewritten("one", before, after))

    assert [field_change.subject for field_change in found] == [
        "",
        "",
        "webhook 1 of notificationGroup",
    ]


def test_a_diff_has_a_heading_for_each_part() -> None:
    """In a fenced diff the part stands once, and its fields below it."""
    found = [
        FieldChange(
            path=("a", "x"),
            subject="widget 1",
            field="title",
            operation="change",
            before='"A"',
            after='"B"',
        ),
        FieldChange(
            path=("a", "y"),
            subject="widget 1",
            field="width",
            operation="change",
            before="1",
            after="2",
        ),
    ]

    assert list(diff_lines(found)) == [
        "@@ widget 1 @@",
        '- title: "A"',
        '+ title: "B"',
        "- width: 1",
        "+ width: 2",
    ]


def test_a_list_turned_round() -> None:
    """What moves and stands where it stood is said to pass its neighbours, not to move nowhere."""
    names = ("Audit", "Noise", "Errors")
    before = policies(*(policy(name, "LOW") for name in names))
    after = policies(*(policy(name, "LOW") for name in reversed(names)))
    found = field_changes(updated("LogPolicySet", "log-policies", before, after))

    assert {field_change.operation for field_change in found} == {"move"}
    assert "past its neighbours, still at place 2" in {
        field_change.position for field_change in found
    }
    assert all(
        field_change.position.count("place") == 2 or "still" in field_change.position
        for field_change in found
    )


def _in_rows(*rows: list[Json]) -> dict[str, Json]:
    """Give the spec of a dashboard of one section and some rows."""
    spec = dashboard("One")
    body: Any = spec["dashboard"]
    body["layout"]["sections"][0]["rows"] = [
        {"id": {"value": f"row {number}"}, "widgets": widgets}
        for number, widgets in enumerate(rows)
    ]
    return spec


@pytest.mark.promise("P14")
def test_a_move_to_another_row() -> None:
    """What comes from another list is said to move, with both lists, and is nowhere removed."""
    latency, errors, new = (widget(title, "sum(x)") for title in ("Latency", "Errors", "New"))
    before = _in_rows([latency, errors], [])
    after = _in_rows([latency], [new, {**errors, "title": "Faults"}])

    found = field_changes(updated("Dashboard", "one", before, after))

    place = 'of row 1 of section "Orders"'
    assert [
        (field_change.operation, field_change.subject, field_change.field) for field_change in found
    ] == [
        ("add", 'widget "New" in section "Orders"', ""),
        ("move", 'widget "Faults" in section "Orders"', ""),
        ("change", 'widget "Faults" in section "Orders"', "title"),
    ]
    assert found[1].position == f"from place 2 {place} to place 2 {place.replace('1', '2')}"


@pytest.mark.promise("P14")
def test_a_move_to_another_row_by_hand() -> None:
    """Drift tells a move between lists as it went, from where it was applied to where it is."""
    latency, errors = (widget(title, "sum(x)") for title in ("Latency", "Errors"))
    applied, live = _in_rows([latency, errors], []), _in_rows([latency], [errors])
    shape = BY_NAME["Dashboard"].shape
    found = tuple(turned(differences(live, applied, shape)))
    source = Source("one.yaml", 1)

    (told,) = drift_changes(
        Drift(
            ref=Ref("Dashboard", "one"),
            source=source,
            state="drifted",
            differences=found,
            live=live,
        )
    )

    assert told.operation == "move"
    assert told.subject == 'widget "Errors" in section "Orders"'
    assert told.position.startswith("from place 2 of row 1")
    assert "to place 1 of row 2" in told.position
