"""What is kept because nobody can read it is counted apart from what was read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from sample_plans import kept, plan_of, rewritten

from reconciler.ci.forge import Marker
from reconciler.ci.result import Origin, plan_comment
from reconciler.document import digest
from reconciler.model import Drift, DriftReport, DriftState, Plan, Ref, Source
from reconciler.report.applied_formats import applied_text
from reconciler.report.drift_formats import drift_markdown, drift_text
from reconciler.report.html import drift_html, plan_html
from reconciler.report.plan.document import plan_document, plan_json, plan_jsonl, read_plan
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.table import Style

SAID = "2 as declared, 3 as last written (cannot be read)"
READ = [kept("SLO", "a"), kept("Dashboard", "b")]
REMEMBERED = [kept("AlertDefinition", "c"), kept("SavedView", "d"), kept("SavedView", "e")]
MARKER = Marker(environment="production", root=".")


def text_of(html: str) -> str:
    """Return what a page says, without its elements."""
    return re.sub(r"<[^>]*>", "", html)


FORMS: dict[str, Callable[[Plan], str]] = {
    "text": lambda made: plan_text(made, Style()),
    "markdown": plan_markdown,
    "html": lambda made: text_of(plan_html(made)),
    "comment": lambda made: plan_comment(made, MARKER, Origin()),
    "applied": lambda made: applied_text([], {}, Style(), plan=made),
}


@pytest.mark.promise("S10")
@pytest.mark.parametrize("form", FORMS)
def test_nothing_to_do(form: str) -> None:
    """A plan that does nothing parts what it read from what no read shows."""
    said = FORMS[form](plan_of([*READ, *REMEMBERED]))

    assert SAID in said
    assert "5 as declared" not in said


@pytest.mark.promise("S10")
@pytest.mark.parametrize("form", ["text", "markdown", "html", "comment"])
def test_something_to_do(form: str) -> None:
    """A plan that changes something parts what it keeps in the same words."""
    change = rewritten("f", {"name": "f"}, {"name": "g"})

    said = FORMS[form](plan_of([*READ, *REMEMBERED, change]))

    assert SAID in said


@pytest.mark.promise("S10")
def test_all_read() -> None:
    """Of a plan whose every resource was read nothing is as last written."""
    assert "Nothing to do: 2 as declared.\n" in plan_text(plan_of(READ), Style())
    assert plan_document(plan_of(READ))["summary"]["keepUnseen"] == 0


@pytest.mark.promise("S10")
def test_json() -> None:
    """`keep` is the sum in JSON, and `keepUnseen` counts those of it that no read shows."""
    made = plan_of([*READ, *REMEMBERED])

    for summary in (
        json.loads(plan_json(made))["summary"],
        json.loads(plan_jsonl(made).splitlines()[0])["plan"]["summary"],
    ):
        assert (summary["keep"], summary["keepUnseen"]) == (5, 3)


@pytest.mark.promise("S10")
def test_plan_file_without_the_count() -> None:
    """A plan file that an earlier release wrote without `keepUnseen` is still read."""
    document: dict[str, Any] = dict(plan_document(plan_of(READ)))
    document["summary"] = {"create": 0, "update": 0, "assert": 0, "keep": 2, "blocked": 0}
    document["sum"] = digest({name: value for name, value in document.items() if name != "sum"})

    assert read_plan(json.dumps(document), "plan.json")["summary"]["keepUnseen"] == 0


def look() -> DriftReport:
    """Return a look at two resources that were read and three that cannot be."""
    states: list[DriftState] = ["same", "same", "unseen", "unseen", "unseen"]
    found = [
        Drift(ref=Ref("SLO", f"n{number}"), source=Source("a.yaml", number + 1), state=state)
        for number, state in enumerate(states)
    ]
    return DriftReport(found)


@pytest.mark.promise("S10")
@pytest.mark.parametrize(
    "said",
    [
        drift_text(look(), Style()),
        drift_markdown(look(), "production"),
        text_of(drift_html(look(), "production", "https://api.example.com")),
    ],
)
def test_drift(said: str) -> None:
    """A look for drift says of nothing that no read shows that it did not drift."""
    assert "2 as applied, 3 that" in said
    assert "5 resources" not in said
