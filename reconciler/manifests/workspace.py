"""From paths to manifests: every file read, every complaint collected in one run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from reconciler.complaint import Complaint
from reconciler.manifests.crosschecks import complain_of_lost_references, workspace_complaints
from reconciler.manifests.expressions import Scope
from reconciler.manifests.files import Files, find_files
from reconciler.manifests.loading import Loader
from reconciler.manifests.sources import Sources
from reconciler.resource import Manifest, Ref
from reconciler.waits import Deed, Waits

NOTHING: Mapping[Path, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Workspace:
    """Everything under the paths of a run.

    `elsewhere` are the manifests that `metadata.environments` limits to others, and
    `read` is every file that was read, exports too.
    """

    manifests: tuple[Manifest, ...]
    complaints: tuple[Complaint, ...]
    elsewhere: tuple[Ref, ...] = ()
    files: int = 0
    read: tuple[Path, ...] = ()

    @property
    def errors(self) -> tuple[Complaint, ...]:
        """The complaints that stop a run."""
        return tuple(complaint for complaint in self.complaints if complaint.is_error)


def load_workspace(
    paths: Sequence[Path],
    root: Path,
    scope: Scope,
    environments: Mapping[str, object],
    exclude: Sequence[str] = (),
    *,
    waits: Waits | None = None,
) -> Workspace:
    """Read every manifest under `paths`, but for what `exclude` leads to.

    Nothing is raised for what a file holds: complaints say it all, sorted by
    file and line.
    """
    found = find_files(paths, root, exclude)
    return _load(found, sources_of(paths, root), scope, environments, waits)


def load_workspaces(
    paths: Sequence[Path],
    root: Path,
    scopes: Sequence[Scope],
    environments: Mapping[str, object],
    exclude: Sequence[str] = (),
    *,
    waits: Waits | None = None,
    instead: Mapping[Path, str] = NOTHING,
) -> dict[str, Workspace]:
    """Read every manifest once, and give what it is in each environment, by its name.

    `instead` are the texts of files that are not read.
    """
    found = find_files(paths, root, exclude)
    sources = sources_of(paths, root, kept=len(scopes) > 1)
    sources.instead = instead
    return {one.environment: _load(found, sources, one, environments, waits) for one in scopes}


def sources_of(paths: Sequence[Path], root: Path, *, kept: bool = False) -> Sources:
    """Give the files of a run, none of them read; those outside are of paths that lead there."""
    return Sources((root.resolve(), *_outside(paths, root)), kept=kept)


def _load(
    found: Files,
    sources: Sources,
    scope: Scope,
    environments: Mapping[str, object],
    waits: Waits | None,
) -> Workspace:
    sources.begin()
    loader = Loader(found.root, sources, scope, environments)
    loader.complaints.extend(found.complaints)
    for file in (waits or Waits()).each(Deed.LOADING, found.files):
        loader.load(file)
    loader.complain_of_strays()
    declared = loader.declared
    loader.complaints.extend(workspace_complaints(loader))
    complain_of_lost_references(loader)
    return Workspace(
        tuple(one.manifest for one in declared),
        tuple(sorted(set(loader.complaints))),
        tuple(loader.elsewhere),
        len(found.files),
        tuple(sources.paths),
    )


def _outside(paths: Sequence[Path], root: Path) -> Iterator[Path]:
    """Yield the folders of paths that are plainly elsewhere; a link inside the root is not."""
    for path in paths:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
        if not absolute.is_relative_to(root):
            folder = absolute if os.path.isdir(path) else absolute.parent  # noqa: PTH112 - never raises
            with suppress(OSError, RuntimeError):
                yield folder.resolve()
