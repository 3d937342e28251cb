"""Results of rules and their examples, for a terminal and as JSON. Source: docs/rules.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

from pydantic import Field
from typing_extensions import TypedDict

from reconciler.features.rules.rule_settings import Rule
from reconciler.report.complaints.document import ComplaintDocument, complaint_document
from reconciler.report.safe import json_text
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import Complaint


class TestedRuleDocument(TypedDict):
    """A rule."""

    code: Annotated[str, Field(description="R/NAME, as findings and guards have it.")]
    on: Literal["resource", "plan"]
    severity: Literal["error", "warning"]
    examples: Annotated[int, Field(ge=0)]
    failed: Annotated[
        int, Field(ge=0, description="Examples that did not come out as they should.")
    ]


class RuleTestsDocument(TypedDict):
    """Output of `rules test --format json`."""

    valid: Annotated[bool, Field(description="Whether none of the complaints is an error.")]
    rules: list[TestedRuleDocument]
    complaints: list[ComplaintDocument]


class _Tested(Protocol):
    @property
    def rule(self) -> Rule: ...
    @property
    def examples(self) -> int: ...
    @property
    def failed(self) -> int: ...


def rule_tests_json(rules: Sequence[_Tested], complaints: Sequence[Complaint]) -> str:
    """Return the JSON of schemas/rule-tests.schema.json, ending in a line break."""
    document: RuleTestsDocument = {
        "valid": not any(complaint.is_error for complaint in complaints),
        "rules": [
            {
                "code": rule.rule.code,
                "on": rule.rule.on,
                "severity": rule.rule.severity,
                "examples": rule.examples,
                "failed": rule.failed,
            }
            for rule in rules
        ],
        "complaints": [complaint_document(complaint) for complaint in complaints],
    }
    return json_text(document)


def rule_tests_summary(rules: Sequence[_Tested], complaints: Sequence[Complaint]) -> str:
    """Return the results of all rules in one line."""
    if not rules and not complaints:
        return "the project file has no rules: docs/rules.md says how to write one"
    count = sum(rule.examples for rule in rules)
    failed = sum(rule.failed for rule in rules)
    held = f"{plural(len(rules), 'rule')} tested with {plural(count, 'example')}"
    if failed:
        return f"{held}: {failed} came out as they should not"
    wrong = sum(complaint.is_error for complaint in complaints)
    return f"{held}: {plural(wrong, 'error')}" if wrong else f"{held}: all came out as they should"
