"""The kinds of resources, each loaded at its first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Final, overload

from reconciler.kinds.kind import Kind

_FOLDERS: Final = {
    "SLO": "slo",
    "AlertDefinition": "alert_definition",
    "Dashboard": "dashboard",
    "LogPolicySet": "log_policy_set",
    "SavedView": "saved_view",
}
"""The folder of each kind; its package defines the kind under that name in capitals.

They are in the order in which they are applied: a kind comes before the kinds that refer to it.
Their models are half of what a command imports, and most runs of one file use one kind.
"""


class _ByName(Mapping[str, Kind]):
    def __init__(self) -> None:
        self._loaded: dict[str, Kind] = {}

    def __getitem__(self, name: str) -> Kind:
        kind = self._loaded.get(name)
        if kind is None:
            folder = _FOLDERS[name]
            found = getattr(import_module(f"{__name__}.{folder}"), folder.upper())
            assert isinstance(found, Kind)  # noqa: S101 - each package defines its kind
            kind = self._loaded[name] = found
        return kind

    def __contains__(self, name: object) -> bool:
        return name in _FOLDERS

    def __iter__(self) -> Iterator[str]:
        return iter(_FOLDERS)

    def __len__(self) -> int:
        return len(_FOLDERS)


class _Kinds(Sequence[Kind]):
    @overload
    def __getitem__(self, index: int) -> Kind: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Kind]: ...

    def __getitem__(self, index: int | slice) -> Kind | Sequence[Kind]:
        return tuple(BY_NAME.values())[index]

    def __iter__(self) -> Iterator[Kind]:
        return iter(BY_NAME.values())

    def __len__(self) -> int:
        return len(_FOLDERS)


BY_NAME: Final[Mapping[str, Kind]] = _ByName()
"""Every kind by its name. The names are known without loading any kind."""

KINDS: Final[Sequence[Kind]] = _Kinds()
"""Every kind, in the order in which they are applied."""
