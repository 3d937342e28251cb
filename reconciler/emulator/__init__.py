"""The whole management API on one machine: a Starlette application over SQLite.

Source: management-api.md; what it leaves open follows api-facts.md. Nothing
here comes from the rest of the package, so that one misreading of the API
cannot cancel itself out. Names are loaded on first use, as a command that
does not start the emulator must not pay for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.emulator.app import create_app
    from reconciler.emulator.clock import utc_now
    from reconciler.emulator.serving import serve
    from reconciler.emulator.store import UnreadableDataError

__all__ = ["UnreadableDataError", "create_app", "serve", "utc_now"]

_HOMES = {
    "UnreadableDataError": "reconciler.emulator.store",
    "create_app": "reconciler.emulator.app",
    "serve": "reconciler.emulator.serving",
    "utc_now": "reconciler.emulator.clock",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
