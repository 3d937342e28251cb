"""The whole management API on one machine: a Starlette application over SQLite.

It does what the API document says (docs/endpoints.md); what that leaves open follows the profile
(docs/emulator.md). Nothing here comes from the rest of the package: if both misread the API in the
same way, no test would show it. Names are loaded on first use, as a command that does not start the
emulator must not pay for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.emulator.app import create_app
    from reconciler.emulator.database import UnreadableDataError
    from reconciler.emulator.faults import DroppedConnectionError, Fault, Faults, Rule, load_faults
    from reconciler.emulator.life import tick
    from reconciler.emulator.profile import (
        Profile,
        UnreadableSettingsError,
        load_profile,
        profile_of,
    )
    from reconciler.emulator.resources import SEEDS
    from reconciler.emulator.serving import serve
    from reconciler.emulator.wire import utc_now

__all__ = [
    "SEEDS",
    "DroppedConnectionError",
    "Fault",
    "Faults",
    "Profile",
    "Rule",
    "UnreadableDataError",
    "UnreadableSettingsError",
    "create_app",
    "load_faults",
    "load_profile",
    "profile_of",
    "serve",
    "tick",
    "utc_now",
]

_HOMES = {
    "app": ("create_app",),
    "database": ("UnreadableDataError",),
    "faults": ("DroppedConnectionError", "Fault", "Faults", "Rule", "load_faults"),
    "life": ("tick",),
    "profile": ("Profile", "UnreadableSettingsError", "load_profile", "profile_of"),
    "resources": ("SEEDS",),
    "serving": ("serve",),
    "wire": ("utc_now",),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
