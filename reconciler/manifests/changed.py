"""Which resources differ from what an earlier revision declared.

What is compared is what the manifests say, not their text: a comment or another
layout is no change, while a changed variable or `spec.file` changes each
manifest that uses it. A manifest that was not valid then counts as changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.document import canonical_text
from reconciler.manifests.expressions import Scope
from reconciler.manifests.project_file import load_project
from reconciler.manifests.revision import Revision, write_files
from reconciler.manifests.workspace import Workspace, load_workspace
from reconciler.project import Project
from reconciler.resource import Manifest, Ref


@dataclass(frozen=True, slots=True)
class Changed:
    """A part of a workspace: what changed, what depends on that, and what all these refer to.

    `deleted` was declared in the revision and is declared no more.
    """

    since: Revision
    manifests: tuple[Manifest, ...]
    not_examined: int
    deleted: tuple[Ref, ...]


def changed_since(
    revision: Revision, workspace: Workspace, project: Project, scope: Scope, paths: Sequence[Path]
) -> Changed:
    """Compare a workspace, as it is in the working tree, with the same of a revision.

    `paths` are the arguments of the run, empty where the project file says what
    to read. Raises UsageError where the revision cannot be read.
    """
    with TemporaryDirectory(prefix="reconciler-") as folder:
        old = workspace_at(revision, Path(folder), project, scope, paths)
    before = {one.ref: one for one in old.manifests}
    now = {one.ref: one for one in workspace.manifests}
    touched = {ref for ref, one in now.items() if ref not in before or _differ(before[ref], one)}
    part = _with_dependants(touched, now)
    _add_all(part, lambda ref: now[ref].references & now.keys())
    known = now.keys() | set(workspace.elsewhere)
    return Changed(
        revision,
        tuple(one for one in workspace.manifests if one.ref in part),
        len(now) - len(part),
        tuple(sorted(ref for ref in before if ref not in known)),
    )


def workspace_at(
    revision: Revision, folder: Path, project: Project, scope: Scope, paths: Sequence[Path]
) -> Workspace:
    """Read the workspace of a revision, with the project file and the variables of then.

    Its files are written into an empty folder. Raises UsageError where the
    revision cannot be read.
    """
    write_files(revision, folder)
    folder = folder.resolve()

    def then(path: Path) -> Path | None:
        real = path.resolve()
        inside = real.is_relative_to(revision.top)
        return folder / real.relative_to(revision.top) if inside else None

    root = then(project.root) or folder
    old = Project(root)
    file = then(project.file) if project.file is not None else None
    if file is not None and file.is_file():
        old = load_project(file)[0] or old
    environment = old.settings.environments.get(scope.environment)
    scope = replace(scope, variables=environment.variables if environment is not None else {})
    asked = [moved for path in paths if (moved := then(path)) is not None]
    if not paths:
        asked = [root / path for path in old.settings.manifests]
    found = [path for path in asked if path.exists()]
    settings = old.settings
    return load_workspace(found, root, scope, settings.environments, settings.exclude)


def _differ(before: Manifest, now: Manifest) -> bool:
    """Tell whether two manifests declare something else; where they stand does not matter."""
    around = replace(before, spec=now.spec, source=now.source) != now
    return around or canonical_text(before.spec) != canonical_text(now.spec)


def _with_dependants(touched: set[Ref], now: Mapping[Ref, Manifest]) -> set[Ref]:
    dependants: dict[Ref, list[Ref]] = {}
    for ref, one in now.items():
        for wanted in one.references:
            dependants.setdefault(wanted, []).append(ref)
    part = set(touched)
    _add_all(part, lambda ref: dependants.get(ref, ()))
    return part


def _add_all(part: set[Ref], beside: Callable[[Ref], Iterable[Ref]]) -> None:
    """Add what stands beside each member, and beside that, to the end."""
    waiting = list(part)
    while waiting:
        new = set(beside(waiting.pop())) - part
        part |= new
        waiting.extend(new)
