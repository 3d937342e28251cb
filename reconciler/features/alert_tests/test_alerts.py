"""Tests of the alerts of a workspace, offline. Source: docs/alert-tests.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reconciler.features.alert_tests.alert_test import AlertTest, tests_of
from reconciler.features.alert_tests.row_files import RowReader
from reconciler.features.alert_tests.run_tests import (
    Failed,
    Held,
    NotEvaluated,
    Result,
    Unusable,
    run_tests,
)
from reconciler.features.alert_tests.weak_changes import Weakness, weaknesses
from reconciler.kinds import BY_NAME
from reconciler.model import Manifest, Ref
from reconciler.operations.check_project import check
from reconciler.operations.open_project import Options
from reconciler.syntax.diagnostic import Complaint, Finding, Lines, Severity, complaint_at

FAILS: Final = "T101"
NOT_EVALUATED: Final = "T102"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedAlert:
    """An alert, the results of its tests, and complaints about what does not hold or cannot be run.

    `unnoticed` are the small changes of the alert that no test notices; None if not looked for.
    """

    ref: Ref
    results: tuple[Result, ...]
    complaints: tuple[Complaint, ...]
    unnoticed: tuple[Weakness, ...] | None = None

    @property
    def is_good(self) -> bool:
        """Return whether every test was evaluated and holds."""
        return all(isinstance(result, Held) for result in self.results) and not self.complaints


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """The results of all alerts with tests, and complaints about manifests and rows."""

    alerts: tuple[TestedAlert, ...]
    untested: int
    complaints: tuple[Complaint, ...]

    @property
    def is_good(self) -> bool:
        """Return whether no complaint is an error."""
        return not any(complaint.is_error for complaint in self.complaints)

    @property
    def unnoticed(self) -> int:
        """The number of small changes that no test notices."""
        return sum(len(alert.unnoticed or ()) for alert in self.alerts)


def with_tests(manifests: Sequence[Manifest]) -> Iterator[tuple[Manifest, list[AlertTest]]]:
    """Yield each manifest that has tests, and its tests."""
    for manifest in manifests:
        if manifest.added and (tests := tests_of(manifest.added)):
            yield manifest, tests


def test_alert(
    manifest: Manifest, tests: Sequence[AlertTest], root: Path, *, strict: bool, weak: bool
) -> TestedAlert:
    """Run the tests of a manifest below the folder `root`.

    With `strict`, what cannot be evaluated is an error. With `weak`, small changes are tried too.
    """
    results: list[Result] = []
    complaints: list[Complaint] = []
    for test in tests:
        reader = RowReader(root)
        (result,) = run_tests(manifest.spec, [test], reader.rows)
        complaints += map(_named(manifest), reader.complaints)
        results.append(Unusable(test) if reader.complaints else result)
        match results[-1]:
            case Failed(message=message):
                complaints.append(_complaint(manifest, test, root, Finding(FAILS, (), message)))
            case NotEvaluated(reason=reason):
                severity = Severity.ERROR if strict else Severity.WARNING
                finding = Finding(NOT_EVALUATED, (), f"not evaluated: {reason}", severity)
                complaints.append(_complaint(manifest, test, root, finding))
            case _:
                pass
    unnoticed = None
    if weak and results and all(isinstance(result, Held) for result in results):
        unnoticed = tuple(weaknesses(manifest.spec, tests, RowReader(root).rows))
    return TestedAlert(
        ref=manifest.ref,
        results=tuple(results),
        complaints=tuple(complaints),
        unnoticed=unnoticed,
    )


def run(options: Options, *, strict: bool, weak: bool) -> TestReport:
    """Run the tests of the selected alerts of an environment, if its manifests have no errors.

    Raises UsageError for a missing project file or environment.
    """
    checked = check(options)
    errors = checked.workspace.errors
    if errors or checked.project is None:
        return TestReport(alerts=(), untested=0, complaints=errors)
    manifests, root = checked.workspace.manifests, checked.project.root
    alerts = [
        test_alert(manifest, tests, root, strict=strict, weak=weak)
        for manifest, tests in with_tests(manifests)
    ]
    fire = sum(BY_NAME[manifest.ref.kind].fires for manifest in manifests)
    return TestReport(
        alerts=tuple(alerts),
        untested=fire - len(alerts),
        complaints=tuple(found for alert in alerts for found in alert.complaints),
    )


def _named(manifest: Manifest) -> Callable[[Complaint], Complaint]:
    return lambda complaint: replace(complaint, ref=str(manifest.ref), item=manifest.source.item)


def _complaint(manifest: Manifest, test: AlertTest, root: Path, finding: Finding) -> Complaint:
    file, line, column = test.place
    try:
        text = (root / file).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        text = ""
    named = replace(finding, message=f"{test.name}: {finding.message}")
    return _named(manifest)(complaint_at(file, Lines(text), line, column, named))
