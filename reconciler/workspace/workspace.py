"""Loading of a workspace: every file is read and every complaint collected in one run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType

from reconciler.document import Json
from reconciler.kinds.judge_spec import SpecReport
from reconciler.model import Ref
from reconciler.project import ProjectFile
from reconciler.runtime.cache import NO_CACHE, Cache
from reconciler.runtime.progress import Deed, Waits
from reconciler.syntax.diagnostic import Complaint, Finding, warning
from reconciler.syntax.display_names import display_name
from reconciler.syntax.files import LARGEST_WORKSPACE, PROJECT_FILE, File, Files, find_files
from reconciler.syntax.sources import Sources, reading_ahead
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.complaint_collector import MOST_COMPLAINTS
from reconciler.workspace.expression_scope import Scope, reference_findings
from reconciler.workspace.for_each import reported_once
from reconciler.workspace.loader import Loader
from reconciler.workspace.shard_homes import with_homes
from reconciler.workspace.side_files import read_side_files
from reconciler.workspace.silence import Silencing
from reconciler.workspace.workspace_cache import CachedWorkspace, Lookup
from reconciler.workspace.workspace_checks import complain_by_features, query_complaints

MOST_IN_ALL = 10 * MOST_COMPLAINTS
"""Limit of complaints in all environments: one mistake counts in each environment."""


def workspace_complaints(loader: Loader) -> Iterator[Complaint]:
    """Yield complaints about conflicts between the manifests of a workspace."""
    for check in (_twins, _shared_ids, _singletons, _cycles):
        yield from check(loader)


def _twins(loader: Loader) -> Iterator[Complaint]:
    """Yield complaints about manifests that share a name, id or other identity."""
    names: dict[Ref, DeclaredManifest] = {}
    identities: dict[tuple[str, str, str], DeclaredManifest] = {}
    for declared in loader.declared:
        manifest = declared.manifest
        other = names.setdefault(manifest.ref, declared)
        if other is not declared:
            message = f"`{manifest.ref}` is declared at {other.manifest.source} already"
            message += ": rename one, or remove it"
            path = ("metadata", "name")
            yield declared.text.complaint(Finding("M401", path, message))
            continue
        shared = dict(declared.kind.identities(manifest))
        if manifest.remote_id is not None:
            shared["id"] = str(manifest.remote_id)
        for what, value in shared.items():
            twin = identities.setdefault((manifest.ref.kind, what, value.casefold()), declared)
            if twin is not declared:
                message = f"`{twin.manifest.ref}` at {twin.manifest.source} has this {what} too"
                path = ("metadata", "id" if what == "id" else "name")
                message += f": `{value}`; remove one of the two"
                yield declared.text.complaint(Finding("M402", path, message))


def _shared_ids(loader: Loader) -> Iterator[Complaint]:
    """Yield a warning for each id that services count up, if several environments use it."""
    for manifest in loader.declared:
        metadata = _metadata(manifest)
        value = metadata.get("id") if manifest.manifest.remote_id is not None else None
        limits = metadata.get("environments")
        names = limits if isinstance(limits, list) else sorted(loader.environments)
        if manifest.kind.id_form.counted and isinstance(value, int) and len(names) > 1:
            message = (
                f"the id {value} is used in {', '.join(map(str, names))}, and may be another "
                f"{manifest.kind.name} in each: write `ids: {{ENVIRONMENT: {value}}}`"
            )
            yield manifest.text.complaint(warning("M209", ("metadata", "id"), message))


def _metadata(declared: DeclaredManifest) -> dict[str, Json]:
    """Return `metadata` as it is written, with its expressions."""
    document = declared.text.document.value
    metadata = document.get("metadata") if isinstance(document, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _singletons(loader: Loader) -> Iterator[Complaint]:
    first: dict[str, DeclaredManifest] = {}
    for manifest in loader.declared:
        if not manifest.kind.singleton:
            continue
        other = first.setdefault(manifest.kind.name, manifest)
        if other is not manifest:
            message = (
                f"there is one {manifest.kind.name} for the whole service, and "
                f"`{other.manifest.ref}` at {other.manifest.source} is it: put all in one manifest"
            )
            yield manifest.text.complaint(Finding("M403", ("kind",), message))


def complain_of_lost_references(loader: Loader) -> None:
    """Report the references that have no target in this environment."""
    known = dict.fromkeys(loader.elsewhere, False)
    known |= {manifest.manifest.ref: True for manifest in loader.declared}
    # A manifest that cannot be read has its own complaint, so a reference to it is valid.
    known |= dict.fromkeys(loader.unusable, True)
    for manifest in loader.declared:
        for text, references in manifest.references:
            findings = reference_findings(references, known, loader.scope.environment)
            loader.complain(text, findings)


def _cycles(loader: Loader) -> Iterator[Complaint]:
    """Yield one complaint for each cycle of references, at a manifest of it."""
    by_ref = {manifest.manifest.ref: manifest for manifest in loader.declared}
    done: set[Ref] = set()
    for start in by_ref:
        cycle = _cycle_from(start, by_ref, done)
        if cycle:
            message = "references form a cycle, so take one of them out: "
            message += " → ".join(map(str, (*cycle, cycle[0])))
            declared = by_ref[cycle[0]]
            text, reference = next(
                (text, reference)
                for text, references in declared.references
                for reference in references
                if reference.ref in cycle
            )
            yield text.complaint(Finding("M405", reference.path, message, spot=reference.spot))


def _cycle_from(start: Ref, by_ref: Mapping[Ref, DeclaredManifest], done: set[Ref]) -> list[Ref]:
    """Return the first cycle, depth first without recursion, or an empty list."""
    trail: dict[Ref, None] = {}
    stack: list[tuple[Ref, bool]] = [(start, False)]
    while stack:
        ref, left = stack.pop()
        if left:
            trail.popitem()
            done.add(ref)
            continue
        if ref in done or ref not in by_ref:
            continue
        if ref in trail:
            done.update(trail)
            walked = list(trail)
            return walked[walked.index(ref) :]
        trail[ref] = None
        stack.append((ref, True))
        stack.extend((inner, False) for inner in sorted(by_ref[ref].manifest.references))
    return []


NOTHING: Mapping[Path, str] = MappingProxyType({})
NO_SETTINGS = ProjectFile()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace(CachedWorkspace):
    """Everything under the paths of a run; `read` are all files that were read, also exports."""

    read: tuple[Path, ...] = ()

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
    *,
    waits: Waits | None = None,
) -> Workspace:
    """Read every manifest under `paths`, except those that the project file excludes.

    No content of a file raises an error: all errors are complaints, sorted by file and line.
    """
    found = find_files(paths, root, settings.exclude, settings.limits.files)
    return _load(found, sources_of(paths, root, settings.limits.size), scope, settings, waits)


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
    known = lookup.get()
    if known is not None:
        kept, read = known
        return {name: _workspace(workspace, read) for name, workspace in kept.items()}
    sources.digests = {}
    made = _load_all(found, sources, scopes, settings, waits)
    packed = lookup.put([*made.values()], sources.digests) or {}
    return {
        name: replace(workspace, manifests=packed[name].manifests, left_out=packed[name].left_out)
        if name in packed
        else workspace
        for name, workspace in made.items()
    }


def _workspace(kept: CachedWorkspace, read: tuple[Path, ...]) -> Workspace:
    return Workspace(
        **{field.name: getattr(kept, field.name) for field in fields(CachedWorkspace)}, read=read
    )


def sources_of(
    paths: Sequence[Path], root: Path, largest: int = LARGEST_WORKSPACE, *, kept: bool = False
) -> Sources[SpecReport]:
    """Return the sources of a run, not read yet; folders outside come from their paths."""
    return Sources[SpecReport]((root.resolve(), *_outside(paths, root)), kept=kept, largest=largest)


def _load_all(
    found: Files,
    sources: Sources[SpecReport],
    scopes: Sequence[Scope],
    settings: ProjectFile,
    waits: Waits | None,
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
    waits: Waits | None,
) -> Workspace:
    sources.begin()
    silencing = Silencing(settings.checks, [rule.name for rule in settings.own_rules])
    loader = Loader(found.root, sources, scope, settings.environments, silencing)
    loader.complaints.extend(found.complaints)
    unread = [] if sources.readings or sources.instead else found.files
    with reading_ahead(unread, sources.roots) as ahead:
        for file in (waits or Waits()).each(Deed.LOADING, found.files):
            sources.arrived = file, ahead.take(file)
            loader.load(file)
    loader.complain_of_strays()
    declared = loader.declared
    loader.complaints.extend(workspace_complaints(loader))
    complain_of_lost_references(loader)
    loader.complain_of_unused()
    loader.complaints.extend(query_complaints(loader, settings))
    complain_by_features(loader, settings)
    side_files = read_side_files(loader, settings)
    manifests = tuple(manifest.manifest for manifest in declared)
    outcome = silencing.told(sorted(set(reported_once(loader.complaints))), manifests)
    about = [
        complaint
        for complaint in outcome.complaints
        if loader.taken.is_about(complaint, scope.selection)
    ]
    silenced = [
        suppressed
        for suppressed in outcome.suppressed
        if loader.taken.is_about(suppressed.complaint, scope.selection)
    ]
    return Workspace(
        manifests=tuple(manifest.manifest for manifest in declared if manifest.selected),
        complaints=tuple(about),
        elsewhere=tuple(loader.elsewhere),
        files=len(found.files) - loader.side_files,
        read=tuple(sources.paths),
        suppressed=tuple(silenced),
        idle=outcome.idle,
        left_out=tuple(manifest.manifest for manifest in declared if not manifest.selected),
        unheeded=sum(complaint.is_error for complaint in outcome.complaints)
        - sum(complaint.is_error for complaint in about),
        side_files=side_files,
        unselected=tuple(ref for ref in loader.elsewhere if str(ref) in loader.taken.left),
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
