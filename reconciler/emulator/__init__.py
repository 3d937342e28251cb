"""The whole management API on one machine: a Starlette application over SQLite.

It does what the API document says (docs/endpoints.md); what that leaves open
follows the profile (docs/emulator.md). Nothing here comes from the rest of the
package, so that one misreading of the API cannot cancel itself out. Names are
loaded on first use, as a command that does not start the emulator must not pay
for it.
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
    from reconciler.emulator.seeding import SEEDS
    from reconciler.emulator.serving import serve
    from reconciler.emulator.wire_models import utc_now

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
    "DroppedConnectionError": "reconciler.emulator.faults",
    "Fault": "reconciler.emulator.faults",
    "Faults": "reconciler.emulator.faults",
    "Profile": "reconciler.emulator.profile",
    "Rule": "reconciler.emulator.faults",
    "UnreadableSettingsError": "reconciler.emulator.profile",
    "load_faults": "reconciler.emulator.faults",
    "load_profile": "reconciler.emulator.profile",
    "profile_of": "reconciler.emulator.profile",
    "UnreadableDataError": "reconciler.emulator.database",
    "SEEDS": "reconciler.emulator.seeding",
    "tick": "reconciler.emulator.life",
    "create_app": "reconciler.emulator.app",
    "serve": "reconciler.emulator.serving",
    "utc_now": "reconciler.emulator.wire_models",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
