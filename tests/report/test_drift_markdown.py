"""What drifted, as a comment or a summary."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from random_plans import MARK
from sample_plans import updated
from test_outcomes import LOOKS
from test_plan_markdown import spoken

from reconciler.model import Drift, DriftReport, Ref, Remedy, Source
from reconciler.report.drift_formats import drift_markdown
from reconciler.report.markdown import COMMENT_BYTES


def drifted(name: str, text: str = "Live") -> Drift:
    """Give a drift of one field."""
    found = updated("SavedView", name, {"name": "Applied"}, {"name": text}).differences
    return Drift(
        ref=Ref("SavedView", name),
        source=Source("views.yaml", 1),
        state="drifted",
        differences=found,
    )


def test_what_drifted_is_a_table_and_a_diff() -> None:
    """A comment counts, names what drifted, and says which side of the diff is live."""
    gone = Drift(
        ref=Ref("Dashboard", "one"), source=Source("a.yaml", 1), state="gone", note="no such slug"
    )

    assert drift_markdown(DriftReport([drifted("errors"), gone]), "production") == (
        "### Drift of `production`: 2 resources drifted, 0 as applied\n"
        "\n"
        "| state | resource | fields | note |\n"
        "|---|---|--:|---|\n"
        "| drifted | `SavedView/errors` | 1 |  |\n"
        "| gone | `Dashboard/one` |  | `no such slug` |\n"
        "\n"
        "\n"
        "<details open><summary><code>SavedView/errors</code> drifted</summary>\n"
        "\n"
        "```diff\n"
        "# - applied\n"
        "# + live\n"
        '- name: "Applied"\n'
        '+ name: "Live"\n'
        "```\n"
        "</details>\n"
    )


def test_what_is_new_has_a_column() -> None:
    """Where drift was remembered, rows say since when it is known, and have room for notes."""
    note = "severities cannot be seen; " * 7
    at = "2026-01-31T09:00:00Z"
    new = replace(drifted("one"), note=note, is_new=True, since=at)
    known = replace(drifted("two"), is_new=False, since=at)

    rows = drift_markdown(DriftReport([new, known], since=at), "local").splitlines()[2:6]

    assert rows == [
        "| state | resource | fields | since | note |",
        "|---|---|--:|---|---|",
        f"| drifted | `SavedView/one` | 1 | `new since {at}` | `{note}` |",
        f"| drifted | `SavedView/two` | 1 | `known since {at}` |  |",
    ]


def test_no_drift_is_one_line() -> None:
    """Without drift there is a headline, and no table."""
    calm = Drift(ref=Ref("SLO", "one"), source=Source("a.yaml", 1), state="same")

    markdown = drift_markdown(DriftReport([calm]), "local")

    assert markdown.splitlines()[0] == "### Drift of `local`: no drift, 1 as applied"
    assert "|" not in markdown


def test_what_could_not_be_read_is_named() -> None:
    """A resource whose answer was of no use is neither drifted nor calm."""
    unread = Drift(
        ref=Ref("SLO", "one"), source=Source("a.yaml", 1), state="unread", note="500", exit_code=9
    )

    markdown = drift_markdown(DriftReport([unread]), "local")

    assert "no drift, 0 as applied, 1 that could not be read" in markdown
    assert "| unread | `SLO/one` |  | `500` |" in markdown


def test_a_long_drift_leaves_out_whole_diffs() -> None:
    """What does not fit is left out whole, and counted."""
    many = [drifted(f"view-{number}", "x" * 5_000 + str(number)) for number in range(400)]

    markdown = drift_markdown(DriftReport(many), "local")

    assert len(markdown.encode()) <= COMMENT_BYTES
    assert " of 400 diffs left out: see what `drift -v` prints." in markdown
    assert "and 350 more" in markdown
    assert markdown.count("```") % 2 == 0


@settings(max_examples=settings().max_examples // 2)
@given(look=LOOKS)
def test_foreign_text_stands_only_in_code(look: DriftReport) -> None:
    """Whatever somebody typed into the service, it stands in code and nowhere else."""
    assert MARK not in spoken(drift_markdown(look, MARK))


def test_the_rest_leaves_room_for_diffs() -> None:
    """However long names, notes and commands are, what is no diff takes two thirds at most."""
    long = "x" * 3_000
    way = Remedy("put-back", long, long, long)
    many = [
        replace(drifted(f"view-{number}"), note=long, remedies=(way, way), since=long, is_new=True)
        for number in range(400)
    ]

    markdown = drift_markdown(DriftReport(many, idle=(long,) * 40, aimless=(long,) * 40), "local")

    assert len(markdown.encode()) <= COMMENT_BYTES
    assert len(markdown.partition("<details")[0].encode()) <= COMMENT_BYTES * 2 // 3


def test_an_alert_has_nothing_to_show() -> None:
    """What the API cannot show is counted and not listed."""
    unseen = Drift(
        ref=Ref("AlertDefinition", "one"),
        source=Source("a.yaml", 1),
        state="unseen",
        note="no read",
    )

    markdown = drift_markdown(DriftReport([unseen]), "local")

    assert (
        markdown == "### Drift of `local`: no drift, 0 as applied, 1 that the API cannot show\n\n"
    )
