"""Resources that changed since an earlier git revision, which is read as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.document import canonical_text
from reconciler.model import Manifest, Ref
from reconciler.project import Project
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.revision import Revision, declared_at
from reconciler.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Changed:
    """Changed manifests, their dependents, and all resources that these refer to.

    `deleted` was declared in the revision and is no longer declared.
    """

    since: Revision
    manifests: tuple[Manifest, ...]
    not_examined: int
    deleted: tuple[Ref, ...]


def changed_since(
    revision: Revision, workspace: Workspace, project: Project, scope: Scope, paths: Sequence[Path]
) -> Changed:
    """Return what changed in a workspace since a revision.

    `paths` are the arguments of the run; without any, the project file says what to read. Raises
    UsageError where the revision cannot be read.
    """
    with TemporaryDirectory(prefix="reconciler-") as folder:
        old = declared_at(revision, Path(folder), project, scope, paths).workspace
    before = {manifest.ref: manifest for manifest in old.manifests}
    now = {manifest.ref: manifest for manifest in workspace.manifests}
    touched = {
        ref for ref, manifest in now.items() if ref not in before or _differ(before[ref], manifest)
    }
    part = _with_dependants(touched, now)
    _add_all(part, lambda ref: now[ref].references & now.keys())
    known = (
        now.keys() | set(workspace.elsewhere) | {manifest.ref for manifest in workspace.left_out}
    )
    return Changed(
        revision,
        tuple(manifest for manifest in workspace.manifests if manifest.ref in part),
        len(now) - len(part),
        tuple(sorted(ref for ref in before if ref not in known)),
    )


def _differ(before: Manifest, now: Manifest) -> bool:
    """Return whether two manifests declare different things; their positions are ignored."""
    around = replace(before, spec=now.spec, source=now.source) != now
    return around or canonical_text(before.spec) != canonical_text(now.spec)


def _with_dependants(touched: set[Ref], now: Mapping[Ref, Manifest]) -> set[Ref]:
    dependants: dict[Ref, list[Ref]] = {}
    for ref, manifest in now.items():
        for wanted in manifest.references:
            dependants.setdefault(wanted, []).append(ref)
    part = set(touched)
    _add_all(part, lambda ref: dependants.get(ref, ()))
    return part


def _add_all(part: set[Ref], neighbours: Callable[[Ref], Iterable[Ref]]) -> None:
    """Add the neighbours of each member, and their neighbours, until no new one is found."""
    waiting = list(part)
    while waiting:
        new = set(neighbours(waiting.pop())) - part
        part |= new
        waiting.extend(new)
