"""The whole management API on one machine: a Starlette application over SQLite.

It does what the API document says (docs/endpoints.md); what that leaves open follows the profile
(docs/emulator.md). Nothing here comes from the rest of the package: if both misread the API in the
same way, no test would show it. The server of its own is in `serving`, as an emulator inside the
process must not pay for it.
"""

from reconciler.emulator.app import create_app
from reconciler.emulator.database import UnreadableDataError
from reconciler.emulator.faults import DroppedConnectionError, Fault, Faults, Rule
from reconciler.emulator.life import tick
from reconciler.emulator.profile import (
    Profile,
    UnreadableSettingsError,
    load_settings,
    settings_of,
)
from reconciler.emulator.resources import SEEDS
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
    "load_settings",
    "settings_of",
    "tick",
    "utc_now",
]
