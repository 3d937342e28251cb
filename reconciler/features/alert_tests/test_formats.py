"""The results of tests of alerts: in words, as JSON, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, assert_never

from pydantic import Field
from typing_extensions import TypedDict

from reconciler.features.alert_tests.run_tests import Failed, Held, NotEvaluated, Result, Unusable
from reconciler.features.alert_tests.test_alerts import TestedAlert, TestReport
from reconciler.report.ci_documents import JUnitCase, junit
from reconciler.report.complaints.document import ComplaintDocument, complaint_document
from reconciler.report.safe import json_text, safe
from reconciler.report.words import plural


class TestResultDocument(TypedDict):
    """A test."""

    name: str
    result: Literal["holds", "fails", "not-evaluated", "unusable"]
    file: str
    line: int
    rows: Annotated[int, Field(description="Rows that match the filters of the alert.")]
    message: Annotated[str, Field(description="What was expected and what was seen; or why not.")]


class TestedAlertDocument(TypedDict):
    """An alert with tests."""

    ref: str
    tests: list[TestResultDocument]
    unnoticed: Annotated[
        list[str] | None,
        Field(description="Small changes that no test notices; null where none was tried."),
    ]


class AlertTestsDocument(TypedDict):
    """Output of `test --format json`."""

    valid: Annotated[bool, Field(description="Whether none of the complaints is an error.")]
    alerts: list[TestedAlertDocument]
    untested: Annotated[int, Field(ge=0, description="Alert definitions without a test.")]
    complaints: list[ComplaintDocument]


def _document(result: Result) -> TestResultDocument:
    file, line, _ = result.test.place
    name: Literal["holds", "fails", "not-evaluated", "unusable"]
    match result:
        case Held(verdict=verdict):
            name, rows, message = "holds", verdict.counted, ""
        case Failed(verdict=verdict, message=words):
            name, rows, message = "fails", verdict.counted, words
        case NotEvaluated(reason=reason):
            name, rows, message = "not-evaluated", 0, reason
        case Unusable(reason=reason):
            name, rows, message = "unusable", 0, reason
        case _:
            assert_never(result)
    return {
        "name": result.test.name,
        "result": name,
        "file": file,
        "line": line,
        "rows": rows,
        "message": message,
    }


def tests_json(report: TestReport) -> str:
    """Return the JSON of schemas/alert-tests.schema.json, ending in a line break."""
    document: AlertTestsDocument = {
        "valid": report.is_good,
        "alerts": [
            {
                "ref": str(alert.ref),
                "tests": [*map(_document, alert.results)],
                "unnoticed": None
                if alert.unnoticed is None
                else [weakness.change for weakness in alert.unnoticed],
            }
            for alert in report.alerts
        ],
        "untested": report.untested,
        "complaints": [complaint_document(complaint) for complaint in report.complaints],
    }
    return json_text(document)


def tests_junit(report: TestReport) -> str:
    """Return the XML: each test is a case of its alert."""
    return junit("reconciler test", [*_cases(report.alerts)])


_STATES: Final[Mapping[str, Literal["passed", "failure", "skipped", "error"]]] = {
    "holds": "passed",
    "fails": "failure",
    "not-evaluated": "skipped",
    "unusable": "error",
}


def _cases(alerts: Sequence[TestedAlert]) -> Iterator[JUnitCase]:
    for alert in alerts:
        for result in alert.results:
            found = _document(result)
            state, message = _STATES[found["result"]], found["message"]
            details = (message,) if message else ()
            yield JUnitCase(str(alert.ref), found["name"], state, message, details, found["file"])


def tests_summary(report: TestReport, *, weak: bool) -> str:
    """Return the result in a line, and with `weak` the changes that no test notices."""
    results = [result for alert in report.alerts for result in alert.results]
    held = sum(isinstance(result, Held) for result in results)
    failed = sum(isinstance(result, Failed) for result in results)
    others = sum(isinstance(result, NotEvaluated) for result in results)
    unusable = len(results) - held - failed - others
    errors = sum(complaint.is_error for complaint in report.complaints)
    if errors and not report.alerts:
        return f"no test was run: the manifests have {plural(errors, 'error')}"
    holding = f"{plural(held, 'test')} of {plural(len(report.alerts), 'alert')}"
    counts = [f"{holding} hold{'s' * (held == 1)}"]
    counts += [f"{failed} {'does' if failed == 1 else 'do'} not"] * bool(failed)
    counts += [f"{others} not evaluated"] * bool(others)
    counts += [f"{unusable} without usable rows"] * bool(unusable)
    if report.untested:
        counts.append(f"{plural(report.untested, 'alert')} without a test")
    lines = [", ".join(counts)]
    for alert in report.alerts if weak else ():
        if alert.unnoticed is None:
            lines.append(f"{safe(str(alert.ref))}: not tried, as not every test was run and holds")
        elif not alert.unnoticed:
            lines.append(f"{safe(str(alert.ref))}: every small change breaks a test")
        else:
            lines.append(f"{safe(str(alert.ref))}: no test notices")
            lines += [f"  {safe(weakness.change)}" for weakness in alert.unnoticed]
    return "\n".join(lines)
