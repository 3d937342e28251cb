"""What an audit looks like, in each format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types
from sample_audits import SAMPLES, an_audit

from reconciler.cli.schema import schemas
from reconciler.features.audit.audit_rule import Audit
from reconciler.features.audit.command import (
    audit_html,
    audit_json,
    audit_markdown,
    audit_sarif,
    audit_text,
)
from reconciler.report.markdown import COMMENT_BYTES
from reconciler.report.table import Style
from reconciler.syntax.diagnostic import AUDITED

GOLDEN = Path(__file__).parent / "golden"


def told(audit: Audit, form: str) -> str:
    """Give the report of a format."""
    return audit_text(audit, Style()) if form == "txt" else audit_markdown(audit, "production")


@pytest.mark.parametrize("form", ["txt", "md"])
@pytest.mark.parametrize("name", SAMPLES)
def test_what_a_reader_gets(name: str, form: str) -> None:
    """An audit is told in the words that were looked at."""
    golden = (GOLDEN / f"audit-{name}.{form}").read_text(encoding="utf-8")

    assert told(SAMPLES[name](), form) == golden


@pytest.mark.parametrize("name", SAMPLES)
def test_json_is_as_its_schema_says(name: str) -> None:
    """The JSON of an audit has the form that `schema audited` prints."""
    document = json.loads(audit_json(SAMPLES[name](), "production", "https://api.example.com"))

    Draft202012Validator(schemas()["audited"]).validate(document)


def test_sarif_is_a_run_of_its_own() -> None:
    """The SARIF of an audit has its own category, the codes of audits as rules, and its notes."""
    run: Any = json.loads(audit_sarif(an_audit(), "shop", "production"))["runs"][0]

    assert run["automationDetails"]["id"] == "reconciler/audit/production/"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(AUDITED)
    assert [result["ruleId"] for result in run["results"]] == ["A105", "A102"]
    assert [result["level"] for result in run["results"]] == ["error", "warning"]
    assert len(run["invocations"][0]["toolExecutionNotifications"]) == 2
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "shop/alerts/pods.yaml"


def test_markdown_fits_a_comment() -> None:
    """However much is found, the table is within what a comment may hold, and says what is left."""
    from dataclasses import replace  # noqa: PLC0415 - for this alone

    one = an_audit().found[0]
    many = tuple(
        replace(one, complaint=replace(one.complaint, line=line, message="x" * 250))
        for line in range(1, 2_000)
    )
    text = audit_markdown(replace(an_audit(), found=many), "production")

    assert len(text.encode()) <= COMMENT_BYTES
    assert "more: `audit`" in text


def test_the_page_holds_every_finding() -> None:
    """The page has each finding with its evidence, and what could not be judged."""
    page = audit_html(an_audit(), "production", "https://api.example.com", "two")

    assert page.count('<details class="change ') == 2
    assert "<b>" not in page
    assert "alert events" in page
    assert "2026-02-02" in page
