"""Lint of a workspace by the rules of practice of its kinds. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final, TypeAlias, cast

from reconciler.document import Json
from reconciler.kinds.kind import Neighbours, SpecFinding
from reconciler.model import Manifest
from reconciler.project.levels import is_on
from reconciler.syntax.diagnostic import Complaint, warning
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.workspace_checks import CheckedWorkspace

Find: TypeAlias = Callable[[dict[str, Json]], Iterator[SpecFinding]]
"""Checks one `spec`, whatever its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """A check for what works but is rarely wanted; the page of its code says why the check exists.

    It checks each resource of its kind by itself (`find`), or all of them together (`among`). A
    check that many good workspaces would fail runs only if the project file requests it (`asked`).
    """

    code: str
    find: Find | None = None
    among: Callable[[Neighbours], Iterator[tuple[Manifest, SpecFinding]]] | None = None
    asked: bool = False

    def findings(self, neighbours: Neighbours) -> Iterator[tuple[Manifest, SpecFinding]]:
        """Yield what the check finds, with the manifest that it is about."""
        if self.among is not None:
            yield from self.among(neighbours)
        elif self.find is not None:
            for manifest in neighbours.own:
                for found in self.find(manifest.spec):
                    yield manifest, found


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
    for declared in checked.declared:
        if str(declared.manifest.ref) not in broken:
            of_kinds.setdefault(declared.kind.name, []).append(declared)
    every = [declared.manifest for declared in checked.declared]
    for kind, own in of_kinds.items():
        specs = {id(declared.manifest): declared.spec for declared in own}
        neighbours = Neighbours([declared.manifest for declared in own], every, checked.elsewhere)
        for rule in practices_of(kind):
            if not is_on(rule.code, checked.settings.checks, only_asked=rule.asked):
                continue
            for manifest, (path, message, suggestion, at_key) in rule.findings(neighbours):
                finding = warning(rule.code, path, message, suggestion, at_key=at_key)
                yield specs[id(manifest)].complaint(finding)
