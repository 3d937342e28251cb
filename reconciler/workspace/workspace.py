"""Loading of a workspace: every file is read and every complaint collected in one run."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from reconciler.kinds.judge_spec import SpecReport
from reconciler.model import Manifest, Ref
from reconciler.model.quoting import listed
from reconciler.project import ProjectFile
from reconciler.runtime.cache import NO_CACHE, Cache
from reconciler.runtime.progress import Deed, Waits
from reconciler.syntax.diagnostic import Complaint, Suppressed
from reconciler.syntax.files import (
    LARGEST_WORKSPACE,
    PROJECT_FILE,
    File,
    Files,
    display_name,
    find_files,
)
from reconciler.syntax.sources import Sources, reading_ahead
from reconciler.workspace.build import Loader, read_side_files
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.selection import EVERYTHING, Selection, homes_of
from reconciler.workspace.silence import MOST_COMPLAINTS, Silencing, place_of, reported_once
from reconciler.workspace.workspace_cache import Lookup
from reconciler.workspace.workspace_checks import (
    complain_by_features,
    complain_of_lost_references,
    query_complaints,
    workspace_complaints,
)

MOST_IN_ALL = 10 * MOST_COMPLAINTS
"""Limit of complaints in all environments: one mistake counts in each environment."""


NOTHING: Mapping[Path, str] = MappingProxyType({})
NO_SETTINGS = ProjectFile()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Everything under the paths of a run.

    `elsewhere` are manifests that `metadata.environments` limits to other environments. `read` are
    all files that were read, also exports. `suppressed` are the complaints that are not reported,
    with the reason; `idle` are comments that ignore nothing here. `left_out` was not selected, and
    `unheeded` counts its errors. `side_files` is what files that are no manifests hold, by the
    setting that names them. `unselected` are the members of `elsewhere` that would not be selected
    there either. `beside` are the manifests of files that the run is not about, None if these files
    were not read.
    """

    manifests: tuple[Manifest, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    elsewhere: tuple[Ref, ...] = ()
    files: int = 0
    read: tuple[Path, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    idle: tuple[Complaint, ...] = ()
    left_out: tuple[Manifest, ...] = ()
    unheeded: int = 0
    side_files: Mapping[str, Any] = field(default_factory=dict)
    unselected: tuple[Ref, ...] = ()
    beside: tuple[Manifest, ...] | None = None

    @property
    def known(self) -> Iterator[Ref]:
        """Yield all declared resources: selected or not, here or in other environments."""
        yield from (manifest.ref for manifest in (*self.manifests, *self.left_out))
        yield from self.elsewhere

    @property
    def errors(self) -> tuple[Complaint, ...]:
        """Return the complaints that stop a run."""
        return tuple(complaint for complaint in self.complaints if complaint.is_error)


def load_workspace(
    paths: Sequence[Path],
    root: Path,
    scope: Scope,
    settings: ProjectFile = NO_SETTINGS,
) -> Workspace:
    """Read every manifest under `paths`, except those that the project file excludes.

    No content of a file raises an error: all errors are complaints, sorted by file and line.
    """
    found = find_files(paths, root, settings.exclude, settings.limits.files)
    return _load(found, sources_of(paths, root, settings.limits.size), scope, settings, Waits())


def load_workspaces(
    paths: Sequence[Path],
    root: Path,
    scopes: Sequence[Scope],
    settings: ProjectFile = NO_SETTINGS,
    *,
    waits: Waits | None = None,
    instead: Mapping[Path, str] = NOTHING,
    cache: Cache = NO_CACHE,
) -> dict[str, Workspace]:
    """Read every manifest once, and return the workspace of each environment by name.

    `instead` has texts that replace files. Unchanged files are taken from `cache`, with the same
    result.
    """
    waits = waits or Waits()
    with waits.step(Deed.LOADING):
        found = find_files(paths, root, settings.exclude, settings.limits.files)
    sources = sources_of(paths, root, settings.limits.size, kept=len(scopes) > 1)
    sources.instead = instead
    scopes = with_homes(
        scopes,
        lambda plain: load_workspaces(
            paths, root, plain, settings, waits=waits, instead=instead, cache=cache
        ),
    )
    if instead or found.complaints or not cache.is_on:
        return _load_all(found, sources, scopes, settings, waits)
    lookup = Lookup(cache=cache, found=found, roots=sources.roots, settings=settings, scopes=scopes)
    with waits.step(Deed.LOADING, total=len(found.files)) as step:
        known = lookup.get()
        step.done = 0 if known is None else len(found.files)
    if known is not None:
        return {name: Workspace(**values) for name, values in known.items()}
    sources.digests = {}
    made = _load_all(found, sources, scopes, settings, waits)
    with waits.step(Deed.LOADING):
        packed = lookup.put([*map(_fields_of, made.values())], sources.digests)
    return {name: replace(workspace, **packed.get(name, {})) for name, workspace in made.items()}


def _fields_of(workspace: Workspace) -> dict[str, Any]:
    names = (field.name for field in fields(workspace) if field.name != "read")
    return {name: getattr(workspace, name) for name in names}


def sources_of(
    paths: Sequence[Path], root: Path, largest: int = LARGEST_WORKSPACE, *, kept: bool = False
) -> Sources[SpecReport]:
    """Return the sources of a run, not read yet: the root, and folders of paths outside of it."""
    return Sources[SpecReport]((root.resolve(), *_outside(paths, root)), kept=kept, largest=largest)


def _load_all(
    found: Files,
    sources: Sources[SpecReport],
    scopes: Sequence[Scope],
    settings: ProjectFile,
    waits: Waits,
) -> dict[str, Workspace]:
    """Read the manifests in each environment, until there are too many complaints in all."""
    made: dict[str, Workspace] = {}
    reported = 0
    for scope in scopes:
        if reported >= MOST_IN_ALL:
            message = "there is too much to complain of: this environment is unchecked"
            unchecked = Complaint.of_file(PROJECT_FILE, "M115", message)
            made[scope.environment] = Workspace(complaints=(unchecked,))
            continue
        made[scope.environment] = _load(found, sources, scope, settings, waits)
        reported += len(made[scope.environment].complaints)
    return made


def _load(
    found: Files,
    sources: Sources[SpecReport],
    scope: Scope,
    settings: ProjectFile,
    waits: Waits,
) -> Workspace:
    sources.begin()
    silencing = Silencing(settings.checks, [rule.name for rule in settings.own_rules])
    loader = Loader(found.root, sources, scope, settings.environments, silencing)
    loader.complaints.extend(found.complaints)
    unread = [] if sources.readings or sources.instead else found.files
    with reading_ahead(unread, sources.roots) as ahead:
        for file in waits.each(Deed.LOADING, found.files):
            sources.arrived = file, ahead.take(file)
            loader.load(file)
    with waits.step(Deed.CHECKING, total=len(found.files)) as step:
        workspace = _checked(loader, found, settings)
        step.done = len(found.files)
    return replace(workspace, read=tuple(sources.paths))


def _checked(loader: Loader, found: Files, settings: ProjectFile) -> Workspace:
    """Check what was read, and return the workspace."""
    loader.complain_of_strays()
    scope, declared = loader.scope, loader.declared
    loader.complaints.extend(workspace_complaints(loader))
    complain_of_lost_references(loader)
    loader.complain_of_unused()
    loader.complaints.extend(query_complaints(loader, settings))
    complain_by_features(loader, settings)
    side_files = read_side_files(loader, settings)
    manifests = tuple(manifest.manifest for manifest in declared)
    loader.taken.targets.update(
        str(ref) for found in declared if found.selected for ref in found.manifest.references
    )
    outcome = loader.silencing.told(sorted(set(reported_once(loader.complaints))), manifests)

    def is_about(complaint: Complaint) -> bool:
        return loader.taken.is_about(complaint, scope.selection)

    about = tuple(filter(is_about, outcome.complaints))
    left = [manifest.manifest for manifest in declared if not manifest.selected]
    is_ours = scope.selection.is_about
    return Workspace(
        manifests=tuple(manifest.manifest for manifest in declared if manifest.selected),
        complaints=about,
        elsewhere=tuple(loader.elsewhere),
        files=sum(is_ours(file.name) for file in found.files) - loader.side_files,
        suppressed=tuple(entry for entry in outcome.suppressed if is_about(entry.complaint)),
        idle=outcome.idle,
        left_out=tuple(manifest for manifest in left if is_ours(manifest.source.file)),
        unheeded=sum(complaint.is_error for complaint in outcome.complaints)
        - sum(complaint.is_error for complaint in about),
        side_files=side_files,
        unselected=tuple(ref for ref in loader.elsewhere if str(ref) in loader.taken.left),
        beside=None
        if scope.selection.within is None
        else tuple(manifest for manifest in left if not is_ours(manifest.source.file)),
    )


def wrong_in(
    texts: Mapping[Path, str],
    file: Path,
    root: Path,
    scope: Scope,
    environments: Mapping[str, object],
) -> Complaint | None:
    """Return the first error in a manifest that is not written yet, or None.

    `texts` are the texts of `file` and of the files that it names. References are not checked.
    """
    sources = Sources[SpecReport](
        (root,), instead={path.resolve(): text for path, text in texts.items()}
    )
    loader = Loader(root, sources, scope, environments)
    loader.load(File(file, display_name(file, root), named=True))
    return next((complaint for complaint in loader.complaints if complaint.is_error), None)


def _outside(paths: Sequence[Path], root: Path) -> Iterator[Path]:
    """Yield the folders of paths outside the root; links inside the root are not followed."""
    for path in paths:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
        if not absolute.is_relative_to(root):
            folder = absolute if os.path.isdir(path) else absolute.parent  # noqa: PTH112 - never raises
            with suppress(OSError, RuntimeError):
                yield folder.resolve()


@dataclass(slots=True)
class TakenFiles:
    """Names of files: `taken` with selected resources, `left` with others only.

    It is not known what the `broken` files declare.
    """

    selection: Selection
    taken: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    known: set[Ref] = field(default_factory=set)

    def has(self, file: str) -> bool:
        """Return whether a file has selected resources, or may have them if it cannot be read."""
        if file in self.taken:
            return True
        if file in self.broken:
            return self.selection.may_take_from(file)
        return file not in self.left and self.selection.takes_whole(file)

    def note(self, loader: Loader) -> None:
        """Record the files of one environment."""
        met = loader.taken
        self.known.update(ref for name in (*met.refs, *met.left) if (ref := Ref.parse(name)))
        self.taken |= met.files
        self.left |= met.left_files
        for manifest in loader.declared:
            (self.taken if manifest.selected else self.left).add(manifest.manifest.source.file)
        for complaint in loader.complaints:
            # A document with M201 is no manifest and declares nothing.
            if not complaint.is_error or complaint.code == "M201":
                continue
            if complaint.ref in met.refs:
                self.taken.add(complaint.file)
            elif complaint.ref in met.left:
                self.left.add(complaint.file)
            else:
                self.broken.add(complaint.file)


def files_taken(
    paths: Sequence[Path],
    root: Path,
    scopes: Sequence[Scope],
    settings: ProjectFile,
    selection: Selection,
) -> TakenFiles:
    """Read every manifest under `paths`, and return the files that a scope selects from.

    Errors in manifests are not reported here. Raises UsageError if a resource is selected by name
    and no manifest declares it.
    """
    files = TakenFiles(selection)
    for loader in load_each(paths, root, scopes, settings):
        loader.complain_of_strays()
        files.note(loader)
    selection.check_named(files.known)
    return files


def with_homes(
    scopes: Sequence[Scope], read: Callable[[Sequence[Scope]], Mapping[str, Workspace]]
) -> Sequence[Scope]:
    """Return scopes with selections that know which resources are in other shards.

    All manifests are read for that, without secrets: names and references contain none.
    """
    if not any(scope.selection.shard for scope in scopes):
        return scopes
    plain = [
        replace(scope.without_secrets, selection=EVERYTHING, unread=frozenset(), ruled=False)
        for scope in scopes
    ]
    found = read(plain)
    return [
        replace(
            scope, selection=scope.selection.at_homes(homes_of(found[scope.environment].manifests))
        )
        for scope in scopes
    ]


def load_each(
    paths: Sequence[Path], root: Path, scopes: Sequence[Scope], settings: ProjectFile
) -> Iterator[Loader]:
    """Yield the loader of each scope, after it has read every manifest under `paths`."""
    found = find_files(paths, root, settings.exclude, settings.limits.files)
    sources = sources_of(paths, root, settings.limits.size, kept=len(scopes) > 1)
    for scope in with_homes(scopes, lambda plain: load_workspaces(paths, root, plain, settings)):
        sources.begin()
        loader = Loader(found.root, sources, scope, settings.environments)
        for file in found.files:
            loader.load(file)
        yield loader


MOST_NAMED = 5

T = TypeVar("T")


def everywhere(workspaces: Mapping[str, Workspace], *, are_all: bool = False) -> Workspace:
    """Return one workspace for all environments, which are given by name.

    A complaint that holds in only some environments names them. A manifest is in `elsewhere` only
    if no environment has it. With `are_all`, the input covers every environment and every file of
    the project, so settings that are idle in all of them are reported too.
    """
    idle = (
        set.intersection(*(set(workspace.idle) for workspace in workspaces.values()))
        if are_all
        else set()
    )

    def all_of(values: Callable[[Workspace], Iterable[T]]) -> dict[T, None]:
        return dict.fromkeys(chain.from_iterable(map(values, workspaces.values())))

    manifests: dict[Ref, Manifest] = {}
    for workspace in workspaces.values():
        for manifest in workspace.manifests:
            manifests.setdefault(manifest.ref, manifest)
    left = {
        manifest.ref: manifest
        for workspace in workspaces.values()
        for manifest in workspace.left_out
        if manifest.ref not in manifests
    }
    declared = manifests.values()
    limited = all_of(lambda workspace: workspace.elsewhere)
    return Workspace(
        manifests=tuple(
            sorted(declared, key=lambda manifest: (manifest.source.file, manifest.source.line))
        ),
        complaints=tuple(sorted((*_merged(workspaces), *idle))),
        elsewhere=tuple(ref for ref in limited if ref not in manifests),
        files=max((workspace.files for workspace in workspaces.values()), default=0),
        read=tuple(all_of(lambda workspace: workspace.read)),
        suppressed=tuple(sorted(all_of(lambda workspace: workspace.suppressed))),
        left_out=tuple(left.values()),
        unheeded=max((workspace.unheeded for workspace in workspaces.values()), default=0),
        unselected=tuple(all_of(lambda workspace: workspace.unselected)),
    )


def _merged(workspaces: Mapping[str, Workspace]) -> list[Complaint]:
    holding: dict[Complaint, list[str]] = defaultdict(list)
    for name, workspace in workspaces.items():
        for complaint in workspace.complaints:
            holding[complaint].append(name)
    merged: list[Complaint] = []
    # Complaints at the same place that differ only by environment are merged into one.
    by_place: dict[tuple[object, ...], list[Complaint]] = defaultdict(list)
    for complaint, names in holding.items():
        holds_everywhere = len(names) == len(workspaces)
        (merged if holds_everywhere else by_place[place_of(complaint)]).append(complaint)
    return [*merged, *(_in_some(group, holding) for group in by_place.values())]


def _in_some(group: Sequence[Complaint], holding: Mapping[Complaint, Sequence[str]]) -> Complaint:
    first = group[0]
    names = tuple(dict.fromkeys(name for complaint in group for name in holding[complaint]))
    message = f"{first.message} (in {listed(names, MOST_NAMED)})"
    return replace(first, message=message, environments=names)
