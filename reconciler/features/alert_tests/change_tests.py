"""Tests of the alerts that a change touches, for `ci validate` and `ci plan`."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import defaultdict
from pathlib import Path

from reconciler.features.alert_tests.alert_test import AlertTest, tests_of
from reconciler.features.alert_tests.run_tests import Held
from reconciler.features.alert_tests.test_alerts import test_alert
from reconciler.kinds import BY_NAME
from reconciler.model import Manifest
from reconciler.operations.added_by_features import ChangeFindings, TouchedLines
from reconciler.operations.check_project import Checked
from reconciler.report.words import plural
from reconciler.workspace.workspace import Workspace


def tests_of_change(checked: Checked, touched: TouchedLines) -> ChangeFindings:
    """Run the tests of the alerts that a change touches; of all alerts where it is unknown.

    A touched file that alerts may depend on and that declares nothing, such as the project file,
    touches all of them.
    """
    assert checked.project is not None  # noqa: S101 - as the manifests are valid
    workspace, root = checked.workspace, checked.project.root
    alerts = [manifest for manifest in workspace.manifests if BY_NAME[manifest.ref.kind].fires]
    tests = {manifest.ref: tests_of(manifest.added) for manifest in alerts}
    changed = alerts
    if touched and not _touches_all(workspace, root, touched):
        begins = _first_lines(workspace)
        changed = [
            manifest
            for manifest in alerts
            if _is_touched(manifest, begins[manifest.source.file], touched)
            or any(
                not touched.keys().isdisjoint(_files_of(test, root)) for test in tests[manifest.ref]
            )
        ]
    tested = [
        test_alert(manifest, tests[manifest.ref], root, strict=False, weak=False)
        for manifest in changed
        if tests[manifest.ref]
    ]
    if not changed:
        return ChangeFindings()
    results = [result for alert in tested for result in alert.results]
    held = sum(isinstance(result, Held) for result in results)
    change = f"{plural(len(changed), 'alert')} change{'s' * (len(changed) == 1)}"
    have = f"{len(tested)} {'has' if len(tested) == 1 else 'have'} tests"
    hold = f", {'all' if held == len(results) else f'{held} of'} {len(results)} hold"
    return ChangeFindings(
        complaints=tuple(found for alert in tested for found in alert.complaints),
        note=f"{change}: {have}{hold if results else ''}.",
    )


def _touches_all(workspace: Workspace, root: Path, touched: TouchedLines) -> bool:
    """Return whether a touched file that was read declares nothing itself."""
    declaring = {manifest.source.file for manifest in workspace.manifests}
    read = {file.resolve() for file in workspace.read}
    return any(
        name not in declaring and (root / name).resolve() in read | {root / "reconciler.yaml"}
        for name in touched
    )


def _first_lines(workspace: Workspace) -> dict[str, list[int]]:
    begins: defaultdict[str, set[int]] = defaultdict(set)
    for manifest in workspace.manifests:
        begins[manifest.source.file].add(manifest.source.line)
    return {file: sorted(lines) for file, lines in begins.items()}


def _is_touched(manifest: Manifest, begins: list[int], touched: TouchedLines) -> bool:
    """Return whether a touched line is between the first line of a manifest and the next one."""
    own = begins.index(manifest.source.line)
    return any(
        bisect_right(begins, line) - 1 == own
        for lines in touched.get(manifest.source.file, ())
        for line in (lines or (lines.start,))
    )


def _files_of(test: AlertTest, root: Path) -> set[str]:
    """Return the file of a test's rows, and the file that a link leads to, below the project."""
    if not isinstance(test.logs, str):
        return set()
    named = os.path.normpath(Path(test.place[0]).parent / test.logs)
    real = os.path.relpath(os.path.realpath(root / named), os.path.realpath(root))
    return {Path(named).as_posix(), Path(real).as_posix()}
