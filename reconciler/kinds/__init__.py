"""The kinds of resources, each loaded at its first use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Final

from reconciler.kinds.kind import Kind
from reconciler.model import Action, Change
from reconciler.runtime.rows import Loaded

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


def _load(name: str) -> Kind:
    folder = _FOLDERS[name]
    found = getattr(import_module(f"{__name__}.{folder}"), folder.upper())
    assert isinstance(found, Kind)  # noqa: S101 - each package defines its kind
    return found


BY_NAME: Final[Mapping[str, Kind]] = Loaded(lambda: _FOLDERS, _load)
"""Every kind by its name. The names are known without loading any kind."""

KINDS: Final[Collection[Kind]] = BY_NAME.values()
"""Every kind, in the order in which they are applied."""


def is_unfindable_create(change: Change) -> bool:
    """Return whether a change creates what cannot be looked up: a lost answer needs a person."""
    return change.action is Action.CREATE and not BY_NAME[change.ref.kind].findable
