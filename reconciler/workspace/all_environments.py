"""Merging of the workspaces of all environments into one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from reconciler.model import Manifest, Ref
from reconciler.syntax.diagnostic import Complaint
from reconciler.workspace.workspace import Workspace

MOST_NAMED = 5

_Place: TypeAlias = tuple[object, ...]


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
    limited = {ref: None for workspace in workspaces.values() for ref in workspace.elsewhere}
    files = max((workspace.files for workspace in workspaces.values()), default=0)
    return Workspace(
        manifests=tuple(
            sorted(
                manifests.values(),
                key=lambda manifest: (manifest.source.file, manifest.source.line),
            )
        ),
        complaints=tuple(sorted((*_merged(workspaces), *idle))),
        elsewhere=tuple(ref for ref in limited if ref not in manifests),
        files=files,
        read=tuple({path for workspace in workspaces.values() for path in workspace.read}),
        suppressed=tuple(
            sorted(
                {
                    suppressed
                    for workspace in workspaces.values()
                    for suppressed in workspace.suppressed
                }
            )
        ),
        left_out=tuple(left.values()),
        unheeded=max((workspace.unheeded for workspace in workspaces.values()), default=0),
        unselected=tuple(
            {ref: None for workspace in workspaces.values() for ref in workspace.unselected}
        ),
    )


def _merged(workspaces: Mapping[str, Workspace]) -> list[Complaint]:
    holding: dict[Complaint, list[str]] = defaultdict(list)
    for name, workspace in workspaces.items():
        for complaint in workspace.complaints:
            holding[complaint].append(name)
    everywhere = [
        complaint for complaint, names in holding.items() if len(names) == len(workspaces)
    ]
    # Complaints at the same place that differ only by environment are merged into one.
    by_place: dict[_Place, list[Complaint]] = defaultdict(list)
    for complaint, names in holding.items():
        if len(names) < len(workspaces):
            by_place[_place_of(complaint)].append(complaint)
    return [*everywhere, *(_in_some(group, holding) for group in by_place.values())]


def _place_of(complaint: Complaint) -> _Place:
    return (complaint.file, complaint.line, complaint.column, complaint.code, complaint.path)


def _in_some(group: Sequence[Complaint], holding: Mapping[Complaint, Sequence[str]]) -> Complaint:
    first = group[0]
    names = tuple(dict.fromkeys(name for complaint in group for name in holding[complaint]))
    more = len(names) - MOST_NAMED
    named = ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return replace(first, message=f"{first.message} (in {named})", environments=names)
