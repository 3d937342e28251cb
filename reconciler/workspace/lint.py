"""Holding a workspace against the checks of practice of its kinds. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reconciler.kinds.kind import Kind
from reconciler.kinds.lint_rule import LintRule, Neighbours
from reconciler.project import ProjectFile
from reconciler.project.levels import Level, is_on
from reconciler.syntax.diagnostic import Complaint, warning
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.loader import Loader


def practice_complaints(loader: Loader, settings: ProjectFile) -> Iterator[Complaint]:
    """Yield what works and is still unwise; a resource with errors is not looked at."""
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
    """Give the checks of a kind that are on: of one resource, and of all."""
    wanted = [
        practice
        for practice in kind.practices()
        if is_on(practice.code, levels, only_asked=practice.asked)
    ]
    return [one for one in wanted if one.find], [one for one in wanted if one.among]


def _alone(one: DeclaredManifest, practices: list[LintRule]) -> Iterator[Complaint]:
    spec = one.manifest.spec
    for practice in practices:
        assert practice.find is not None  # noqa: S101 - told apart above
        for found in practice.find(spec):
            path, said, suggestion, at_key = found
            yield one.spec.complaint(warning(practice.code, path, said, suggestion, at_key=at_key))


def _among(
    own: list[DeclaredManifest], loader: Loader, practices: list[LintRule]
) -> Iterator[Complaint]:
    if not practices:
        return
    places = {id(manifest.manifest): manifest.spec for manifest in own}
    every = [manifest.manifest for manifest in loader.declared]
    neighbours = Neighbours([manifest.manifest for manifest in own], every, loader.elsewhere)
    for practice in practices:
        assert practice.among is not None  # noqa: S101 - told apart above
        for manifest, (path, said, suggestion, at_key) in practice.among(neighbours):
            finding = warning(practice.code, path, said, suggestion, at_key=at_key)
            yield places[id(manifest)].complaint(finding)
