"""Lint of a workspace by the rules of practice of its kinds. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Final, cast

from reconciler.features.lint.lint_rule import LintRule
from reconciler.kinds.spec_finding import Neighbours
from reconciler.project.levels import Level, is_on
from reconciler.syntax.diagnostic import Complaint, warning
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.workspace_checks import CheckedWorkspace

_MODULES: Final = {
    "SLO": "slo",
    "AlertDefinition": "alert_definition",
    "Dashboard": "dashboard",
    "LogPolicySet": "log_policy_set",
    "SavedView": "saved_view",
}
"""The module of each kind with rules of practice, which names them PRACTICES."""


@cache
def practices_of(kind: str) -> Sequence[LintRule]:
    """Import and return the lint rules of a kind."""
    if kind not in _MODULES:
        return ()
    module = import_module(f"{__package__}.{_MODULES[kind]}")
    return cast("Sequence[LintRule]", module.PRACTICES)


@cache
def off_by_default() -> frozenset[str]:
    """Return the codes of the lint rules that run only if `checks:` names them."""
    return frozenset(
        practice.code for kind in _MODULES for practice in practices_of(kind) if practice.asked
    )


def practice_complaints(checked: CheckedWorkspace) -> Iterator[Complaint]:
    """Yield warnings about what works but is unwise; resources with errors are skipped."""
    broken = {complaint.ref for complaint in checked.complaints if complaint.is_error}
    of_kinds: dict[str, list[DeclaredManifest]] = {}
    for manifest in checked.declared:
        if str(manifest.manifest.ref) not in broken:
            of_kinds.setdefault(manifest.kind.name, []).append(manifest)
    for kind, own in of_kinds.items():
        alone, among = _enabled(kind, checked.settings.checks)
        for manifest in own:
            yield from _alone(manifest, alone)
        yield from _among(own, checked, among)


def _enabled(kind: str, levels: Mapping[str, Level]) -> tuple[list[LintRule], list[LintRule]]:
    """Return the enabled rules of a kind: those for one resource, and those for all."""
    wanted = [
        practice
        for practice in practices_of(kind)
        if is_on(practice.code, levels, only_asked=practice.asked)
    ]
    return [practice for practice in wanted if practice.find], [
        practice for practice in wanted if practice.among
    ]


def _alone(declared: DeclaredManifest, practices: list[LintRule]) -> Iterator[Complaint]:
    spec = declared.manifest.spec
    for practice in practices:
        assert practice.find is not None  # noqa: S101 - selected above
        for found in practice.find(spec):
            path, message, suggestion, at_key = found
            yield declared.spec.complaint(
                warning(practice.code, path, message, suggestion, at_key=at_key)
            )


def _among(
    own: list[DeclaredManifest], checked: CheckedWorkspace, practices: list[LintRule]
) -> Iterator[Complaint]:
    if not practices:
        return
    places = {id(manifest.manifest): manifest.spec for manifest in own}
    every = [manifest.manifest for manifest in checked.declared]
    neighbours = Neighbours([manifest.manifest for manifest in own], every, checked.elsewhere)
    for practice in practices:
        assert practice.among is not None  # noqa: S101 - selected above
        for manifest, (path, message, suggestion, at_key) in practice.among(neighbours):
            finding = warning(practice.code, path, message, suggestion, at_key=at_key)
            yield places[id(manifest)].complaint(finding)
