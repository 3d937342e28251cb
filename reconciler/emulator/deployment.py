"""One running service: its data, who may call it, its clock, and how it behaves."""

from dataclasses import dataclass

from reconciler.emulator.authorisation import Keys
from reconciler.emulator.clock import Clock
from reconciler.emulator.profile import Profile
from reconciler.emulator.stale_reads import StaleReads
from reconciler.emulator.store import Store


@dataclass(frozen=True)
class Deployment:
    """What every endpoint of one service shares."""

    store: Store
    keys: Keys
    clock: Clock
    profile: Profile
    stale_reads: StaleReads
