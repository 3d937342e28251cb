"""What an apply did and what drifted, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import pytest
from harness.golden import Golden
from harness.unsafe_text import unsafe_in
from hypothesis import given
from hypothesis import strategies as st
from random_plans import TEXTS, VALUES, a_difference
from sample_plans import plan_of

from reconciler.document import ABSENT, Difference
from reconciler.model import (
    Drift,
    DriftReport,
    Ignored,
    InDoubt,
    LastEdit,
    Outcome,
    Ref,
    Refused,
    Remedy,
    ServerInfo,
    Skipped,
    Source,
    Unchanged,
    Written,
)
from reconciler.report.applied_formats import (
    MOST_REWRITTEN,
    applied_json,
    applied_text,
    outcome_line,
    word,
)
from reconciler.report.drift_formats import MOST_FIELDS, drift_json, drift_text
from reconciler.report.table import Style

ALERT, VIEW = Ref("AlertDefinition", "errors"), Ref("SavedView", "errors")
PLAIN = Style()
ONE_OF_EACH: tuple[Outcome, ...] = (
    Written(ALERT, "id", "affects 1 alert"),
    Unchanged(Ref("SLO", "same"), "id"),
    Refused(Ref("SLO", "wrong"), "the service said no"),
    Skipped(Ref("Dashboard", "later"), "depends on SLO/wrong"),
    InDoubt(VIEW, "the answer was lost"),
)
REFS = st.builds(Ref, TEXTS, TEXTS)
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Written, REFS, TEXTS, TEXTS),
    st.builds(Unchanged, REFS, TEXTS, TEXTS),
    st.builds(Refused, REFS, TEXTS),
    st.builds(Skipped, REFS, TEXTS),
    st.builds(InDoubt, REFS, TEXTS),
)
DRIFTS = st.builds(
    Drift,
    ref=REFS,
    source=st.builds(Source, TEXTS, st.just(1)),
    state=st.sampled_from(["same", "drifted", "gone", "unseen", "unapplied"]),
    differences=st.lists(a_difference(), max_size=3).map(tuple),
    note=TEXTS,
    live=VALUES,
    cause=st.sampled_from([None, "edited", "rewritten"]),
    edit=st.builds(LastEdit, who=TEXTS, at=TEXTS, how=TEXTS, revision=TEXTS),
    ignored=st.lists(st.builds(Ignored, a_difference(), TEXTS, TEXTS), max_size=2).map(tuple),
    remedies=st.lists(
        st.builds(Remedy, st.sampled_from(["put-back", "take-over"]), TEXTS, TEXTS, TEXTS),
        max_size=2,
    ).map(tuple),
    is_new=st.sampled_from([None, True, False]),
    since=TEXTS,
)
LOOKS = st.builds(
    DriftReport,
    st.lists(DRIFTS, max_size=5),
    since=TEXTS,
    idle=st.lists(TEXTS, max_size=2).map(tuple),
    aimless=st.lists(TEXTS, max_size=2).map(tuple),
)


def test_the_words_of_outcomes() -> None:
    """Every outcome has its word of the contract."""
    words = [word(outcome) for outcome in ONE_OF_EACH]

    assert words == ["written", "unchanged", "refused", "skipped", "inDoubt"]


def test_the_closing_words() -> None:
    """The end of an apply counts what happened, and says what a person has to do."""
    assert applied_text(ONE_OF_EACH, {}, PLAIN) == (
        "1 written, 1 unchanged, 1 refused, 1 skipped, 1 in doubt.\n"
        "Not done (depends on SLO/wrong): Dashboard/later\n"
        "Look for SavedView/errors, then run:\n"
        "  reconciler journal settle SavedView/errors --id ID    or    --never-happened\n"
    )
    assert applied_text((), {}, PLAIN) == "Nothing to do.\n"


def test_the_lines_of_a_run() -> None:
    """Each outcome is one line that names the resource and says why."""
    assert [outcome_line(outcome, PLAIN, {}) for outcome in ONE_OF_EACH] == [
        "  written   AlertDefinition/errors (id): affects 1 alert",
        "  unchanged SLO/same",
        "  refused   SLO/wrong: the service said no",
        "  skipped   Dashboard/later: depends on SLO/wrong",
        "  in doubt  SavedView/errors: the answer was lost",
    ]


def test_alerts_are_named() -> None:
    """An alert that a write affects has its name before its id, as far as the name is known."""
    affected = ServerInfo(alerts=("2F6A", "0b8f"))
    outcome = Written(Ref("SLO", "checkout"), "id", "affects 2 alerts", told=affected)

    line = outcome_line(outcome, PLAIN, {"2f6a": ALERT})

    assert line.endswith(f": {ALERT} (2F6A), 0b8f")


@pytest.mark.parametrize("more", [0, 3])
def test_what_the_service_stored_otherwise(more: int) -> None:
    """Fields that the service changed are listed, up to five of a resource."""
    found = tuple(
        Difference(("target", index), 99.9, 99.9000015) for index in range(MOST_REWRITTEN + more)
    )

    lines = applied_text(ONE_OF_EACH[:1], {ALERT: found}, PLAIN).splitlines()

    assert lines[0].startswith(f"The service stored {MOST_REWRITTEN + more} fields of")
    assert lines[1] == "  target[0]: sent 99.9, stored 99.9000015"
    assert (f"  and {more} more" in lines) == (more > 0)
    assert lines[-1] == "1 written."


@given(outcomes=st.lists(OUTCOMES, max_size=5), found=st.lists(a_difference(), max_size=3))
def test_foreign_text_in_outcomes_is_harmless(
    outcomes: Sequence[Outcome], found: list[Difference]
) -> None:
    """No message of the service and no name can move the cursor, and the JSON is sound."""
    rewritten = {outcome.ref: tuple(found) for outcome in outcomes}
    text = applied_text(outcomes, rewritten, PLAIN)
    lines = "".join(outcome_line(outcome, PLAIN, {}) for outcome in outcomes)

    document = json.loads(applied_json(outcomes, plan_of([])))

    assert unsafe_in(text + lines) == set()
    assert sum(document["summary"].values()) == len(outcomes)
    assert [outcome["ref"] for outcome in document["outcomes"]] == [
        str(outcome.ref) for outcome in outcomes
    ]


def drifted(
    *found: Difference, state: Literal["drifted", "gone"] = "drifted", note: str = ""
) -> Drift:
    """Give a drift of one dashboard."""
    source = Source("dashboards/checkout.yaml", 3)
    return Drift(
        ref=Ref("Dashboard", "checkout"),
        source=source,
        state=state,
        differences=found,
        note=note,
        live={"title": "Live"},
    )


def test_what_drifted_field_by_field() -> None:
    """Each field shows what was applied and what is live; what is gone says so."""
    gone = drifted(state="gone", note="the service has no dashboard with the slug checkout")
    field = drifted(Difference(("title",), "Applied", "Live"), note="live was last changed by ada")

    assert drift_text(DriftReport([field, gone]), PLAIN) == (
        "  ~ Dashboard/checkout  dashboards/checkout.yaml:3\n"
        "      live was last changed by ada\n"
        "      applied (-) → live (+)\n"
        '      ~ title: "Applied" → "Live"\n'
        "\n"
        "  - Dashboard/checkout  dashboards/checkout.yaml:3\n"
        "      gone: the service has no dashboard with the slug checkout\n"
        "\n"
        "2 resources drifted, 0 as applied.\n"
    )


def test_no_drift_is_one_line() -> None:
    """Without drift there is one line, which says what could not be looked at."""
    source = Source("a.yaml", 1)
    drifts = [
        Drift(ref=ALERT, source=source, state="unseen"),
        Drift(ref=VIEW, source=source, state="same"),
        Drift(ref=VIEW, source=source, state="unapplied"),
    ]

    assert drift_text(DriftReport(drifts), PLAIN) == (
        "No drift, 1 as applied, 1 that the API cannot show, 1 never applied.\n"
    )
    assert len(drift_text(DriftReport(drifts), Style(verbose=True)).splitlines()) == 4


def test_long_drifts_are_folded() -> None:
    """Of many fields the first are shown, and -v shows them all."""
    found = [Difference((f"field{index}",), 1, 2) for index in range(MOST_FIELDS + 4)]

    assert "and 4 fields more (-v shows them)" in drift_text(DriftReport([drifted(*found)]), PLAIN)
    assert "more" not in drift_text(DriftReport([drifted(*found)]), Style(verbose=True))


def test_a_move_by_hand(golden: Golden) -> None:
    """What only moved says from where and to where, and has no values to show."""
    text = drift_text(DriftReport([drifted(Difference(("rows", "a"), 0, 1, "move"))]), PLAIN)

    golden(text)


@given(look=LOOKS)
def test_foreign_text_in_drift_is_harmless(look: DriftReport) -> None:
    """What somebody typed into a dashboard cannot move the cursor, and the JSON is sound."""
    document = json.loads(drift_json(look, "local", "emulator"))

    for style in (PLAIN, Style(verbose=True)):
        assert unsafe_in(drift_text(look, style)) == set()
    assert document["drifted"] == any(drift.drifted for drift in look.found)
    assert sum(document["summary"].values()) == len(look.found)
    assert document["ignored"] == sum(len(drift.ignored) for drift in look.found)


def test_sides_that_are_absent_are_left_out_of_drift() -> None:
    """As in a plan, an absent side has no key."""
    drift = drifted(Difference(("title",), "Applied", ABSENT, "remove"))

    (resource,) = json.loads(drift_json(DriftReport([drift]), "local", "emulator"))["resources"]

    assert resource["fields"] == [{"path": ["title"], "operation": "remove", "before": "Applied"}]
