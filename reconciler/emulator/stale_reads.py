"""Reads that do not see the latest write yet, as of a service with replicas."""

from collections import Counter

from reconciler.emulator.store import Store


class StaleReads:
    """Gives the store to read from: after a write, for some reads the one of before."""

    def __init__(self, live: Store, reads: int) -> None:
        self._live = live
        self._reads = reads
        self._before: Store | None = None
        self._answered: Counter[str] = Counter()

    def before_write(self) -> None:
        """Remember all data as it is now."""
        if self._reads:
            if self._before is not None:
                self._before.close()
            self._before = self._live.copy()
            self._answered.clear()

    def store_for(self, address: str) -> Store:
        """Give the data that a read of this address sees; it counts as one read."""
        if self._before is None or self._answered[address] >= self._reads:
            return self._live
        self._answered[address] += 1
        return self._before
