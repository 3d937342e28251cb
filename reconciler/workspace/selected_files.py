"""Files that contain selected resources, for operations on whole files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.model import Ref
from reconciler.project import ProjectFile
from reconciler.syntax.files import find_files
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.loader import Loader
from reconciler.workspace.selection import Selection
from reconciler.workspace.shard_homes import with_homes
from reconciler.workspace.workspace import load_workspaces, sources_of


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
    found = find_files(paths, root, settings.exclude, settings.limits.files)
    sources = sources_of(paths, root, settings.limits.size, kept=len(scopes) > 1)
    files = TakenFiles(selection)
    scopes = with_homes(scopes, lambda plain: load_workspaces(paths, root, plain, settings))
    for scope in scopes:
        sources.begin()
        loader = Loader(found.root, sources, scope, settings.environments)
        for file in found.files:
            loader.load(file)
        loader.complain_of_strays()
        files.note(loader)
    selection.check_named(files.known)
    return files
