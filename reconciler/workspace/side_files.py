"""Files of a workspace that are no manifests: a setting of an environment names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reconciler.runtime.rows import Rows

if TYPE_CHECKING:
    from reconciler.project import ProjectFile
    from reconciler.workspace.build import Making


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFiles:
    """Files that the setting of a feature names, and how they are read.

    `names` returns the files of a setting, relative to the project's folder. `read` returns their
    content for the environment of a loader, which keeps the complaints. `packed` turns a content
    into JSON for the cache, and `unpacked` turns that back.
    """

    names: Callable[[Any], Iterable[str]]
    read: Callable[[Making, ProjectFile, Any], Any]
    packed: Callable[[Any], Any]
    unpacked: Callable[[Any], Any]


SIDE_FILES: Final = Rows[SideFiles]("workspace-files")
"""By the name of the setting."""


def paths_of_side_files(root: Path, environments: Mapping[str, object]) -> frozenset[Path]:
    """Return the real paths of the files that the settings of all environments name."""
    return frozenset(
        (root / file).resolve()
        for environment in environments.values()
        for name, setting in _settings(environment)
        for file in SIDE_FILES.load(name).names(setting)
    )


def read_side_files(loader: Making, settings: ProjectFile) -> dict[str, Any]:
    """Return what the files of the loader's environment hold, by the name of the setting."""
    environment = settings.environments.get(loader.scope.environment)
    return {
        name: SIDE_FILES.load(name).read(loader, settings, setting)
        for name, setting in _settings(environment)
    }


def _settings(environment: object) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each setting of an environment that names files."""
    for name in SIDE_FILES:
        setting = getattr(environment, name, None)
        if setting is not None:
            yield name, setting
