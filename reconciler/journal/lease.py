"""Who holds a journal: the record that a lock is, wherever it is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta

from reconciler.document import Json

TERM = timedelta(minutes=15)
"""How long a lease lasts without renewal: longer than a run may wait for the service.

It is renewed by the appends of a run, not in the background: nothing takes an
expired lease over by itself, so that expiry only tells a person that the holder
may be gone.
"""

RENEWED_AFTER = TERM / 3


def moment(at: datetime) -> str:
    """Give a time as entries and leases carry it: UTC, to the second."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Lease:
    """One holding of a journal. `owner` is random, so no two holdings are alike."""

    owner: str
    host: str
    pid: int
    since: str
    expires: str
    actor: str = ""
    run: str = ""

    def renewed(self, now: datetime) -> Lease:
        """Give the lease as it is after renewal."""
        return replace(self, expires=moment(now + TERM))

    @property
    def words(self) -> str:
        """Say who holds it, and since when."""
        who = f"{self.actor}, " if self.actor else ""
        return f"{who}process {self.pid} on {self.host} since {self.since}"

    @property
    def way_out(self) -> str:
        """Say until when it lasts, and what to do where its holder is gone."""
        return (
            f", at least until {self.expires}; if that run is gone, take its lock away with "
            f"`reconciler journal unlock {self.owner}`"
        )


@dataclass(frozen=True, slots=True)
class LockRecord:
    """What is kept of a lock: its holder if any, and how the journal ended at the last release.

    A journal that no longer has that end is an old copy, or cut.
    """

    lease: Lease | None = None
    ended: str = ""


def record_text(record: LockRecord) -> bytes:
    """Give a record's JSON text."""
    held = asdict(record.lease) if record.lease is not None else {}
    return (json.dumps({**held, "ended": record.ended}) + "\n").encode()


def parse_record(text: bytes) -> LockRecord:
    """Read a record; what cannot be read holds nothing and remembers nothing."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return LockRecord()
    if not isinstance(document, dict):
        return LockRecord()
    return LockRecord(_lease(document), str(document.get("ended", "")))


def _lease(document: Mapping[str, Json]) -> Lease | None:
    pid = document.get("pid")
    if not isinstance(pid, int):
        return None
    named = {field.name for field in fields(Lease)} - {"pid"}
    return Lease(pid=pid, **{name: str(document.get(name, "")) for name in named})
