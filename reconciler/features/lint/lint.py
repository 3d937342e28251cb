"""Lint of a workspace by the rules of practice of its kinds. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reconciler.features.lint.lint_rule import LintRule, Neighbours
from reconciler.kinds.kind import Kind
from reconciler.project import ProjectFile
from reconciler.project.levels import Level, is_on
from reconciler.syntax.diagnostic import Complaint, warning
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.loader import Loader


def practice_complaints(loader: Loader, settings: ProjectFile) -> Iterator[Complaint]:
    """Yield warnings about what works but is unwise; resources with errors are skipped."""
    broken = {complaint.ref for complaint in loader.complaints if complaint.is_error}
    of_kinds: dict[str, list[DeclaredManifest]] = {}
    for manifest in loader.declared:
        if str(manifest.manifest.ref) not in broken:
            of_kinds.setdefault(manifest.kind.name, []).append(manifest)
    for own in of_kinds.values():
        alone, among = _practices_of(own[0].kind, settings.checks)
        for manifest in own:
            yield from _alone(manifest, alone)
        yield from _among(own, loader, among)


def _practices_of(kind: Kind, levels: Mapping[str, Level]) -> tuple[list[LintRule], list[LintRule]]:
    """Return the enabled rules of a kind: those for one resource, and those for all."""
    wanted = [
        practice
        for practice in kind.practices()
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
    own: list[DeclaredManifest], loader: Loader, practices: list[LintRule]
) -> Iterator[Complaint]:
    if not practices:
        return
    places = {id(manifest.manifest): manifest.spec for manifest in own}
    every = [manifest.manifest for manifest in loader.declared]
    neighbours = Neighbours([manifest.manifest for manifest in own], every, loader.elsewhere)
    for practice in practices:
        assert practice.among is not None  # noqa: S101 - selected above
        for manifest, (path, message, suggestion, at_key) in practice.among(neighbours):
            finding = warning(practice.code, path, message, suggestion, at_key=at_key)
            yield places[id(manifest)].complaint(finding)
