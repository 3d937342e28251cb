"""A run that dies between any two of its steps, and what the next one makes of it.

Every request and every append to the journal is a point; the run dies before
it, after it, or (for a request) after the service carried it out and before
the answer was read. The laws are I1, I2, I3, I5 and I6 of docs/reliability.md.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    assert_settled,
    dashboard,
    manifest,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.emulator import create_app
from reconciler.journal.entries import Entry, Settled
from reconciler.journal.journal import Journal
from reconciler.model import Manifest, Ref, RemoteId
from reconciler.redaction.templates import RefHole, Template

pytestmark = pytest.mark.slow

SLO = Ref("SLO", "checkout")
VIEW = Ref("SavedView", "errors")


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: here only the process dies."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Crash(BaseException):
    """The process dies here: nothing after it runs but what the system does."""


@dataclass
class Death:
    """Dies at one point, counted over requests and appends."""

    point: int
    passed: int = 0

    def comes(self) -> bool:
        """Tell whether this is the point."""
        self.passed += 1
        return self.passed == self.point + 1


def declared(version: str) -> list[Manifest]:
    """Give one resource of each kind, the alert after the SLO that it watches."""
    watching: dict[str, Json] = {
        "name": version,
        "type": "ALERT_DEF_TYPE_SLO_THRESHOLD",
        "sloThreshold": {
            "sloDefinition": {"sloId": Template((RefHole(SLO),))},
            "errorBudget": {"rules": [{"condition": {"threshold": 10}}]},
        },
    }
    return [
        manifest("SLO/checkout", {**SLO_SPEC, "description": version}),
        manifest("AlertDefinition/plain", {**ALERT_SPEC, "name": version}, ALERT_ID),
        manifest("AlertDefinition/watching", watching, ALERT_ID[:-1] + "2"),
        dashboard(description=version),
        policy_set(policy("a", description=version), policy("b")),
        manifest("SavedView/errors", {**VIEW_SPEC, "name": version, "isCompactMode": True}),
    ]


def site_in(folder: Path) -> Site:
    """Give a service that knows the two alerts, and a new folder for its journal."""
    folder.mkdir()
    return Site(folder, create_app(alert_ids=[ALERT_ID, ALERT_ID[:-1] + "2"]))


def applied_once(folder: Path) -> Site:
    """Give a service on which the first version was applied."""
    site = site_in(folder)
    site.apply(*declared("one"))
    return site


def copied(site: Site, folder: Path) -> Site:
    """Give the same service and journal once more, for one death of their own."""
    other = site_in(folder)
    site.app.state.store._connection.backup(other.app.state.store._connection)
    shutil.copytree(site.root, folder, dirs_exist_ok=True)
    return other


def die(monkeypatch: pytest.MonkeyPatch, site: Site, point: int, moment: str) -> Death:
    """Let the process die at a point: before, within or after it."""
    death = Death(point)
    append, handle = Journal.append, type(site.wire).handle_async_request

    def appending(journal: Journal, entries: Sequence[Entry], **_: object) -> None:
        here = death.comes()
        if here and moment == "before":
            raise Crash
        append(journal, entries)
        if here and moment == "within":
            file = Path(journal.place)
            file.write_bytes(file.read_bytes()[:-9])
        if here:
            raise Crash

    async def handling(wire: object, request: httpx.Request) -> httpx.Response:
        here = death.comes()
        if here and moment == "before":
            raise Crash
        response = await handle(wire, request)  # type: ignore[arg-type]  # the wire itself
        if here:
            raise Crash
        await asyncio.sleep(0)
        return response

    monkeypatch.setattr(Journal, "append", appending)
    monkeypatch.setattr(type(site.wire), "handle_async_request", handling)
    return death


def dies(site: Site) -> bool:
    """Apply the second version, and tell whether the run died on the way."""
    try:
        site.apply(*declared("two"))
    except Crash:
        return True
    except BaseExceptionGroup as group:
        if group.subgroup(Crash) is None:
            raise
        return True
    return False


def true_id(site: Site, ref: Ref) -> RemoteId | None:
    """Look into the service as a person would, in its web interface."""
    table = "slos" if ref == SLO else "saved_views"
    row = site.app.state.store.row(f"SELECT id FROM {table}")  # noqa: S608 - one of two names
    return None if row is None else row[0]


def settle_all(site: Site) -> int:
    """Say of every unsettled create what became of it; give their number."""
    journal = site.journal
    unsettled = journal.history.unsettled()
    with journal.locked():
        for ref in unsettled:
            if ref in (SLO, VIEW):
                journal.append([Settled(at=journal.now(), ref=ref, remote_id=true_id(site, ref))])
    return len(unsettled)


def count(site: Site, table: str) -> int:
    """Count the rows of a table of the service."""
    (number,) = site.app.state.store.row(f"SELECT count(*) FROM {table}")  # noqa: S608 - ours
    return int(number)


def check_recovery(site: Site, *manifests: Manifest) -> None:
    """Check I1, I2, I3, I5 and I6: what exists is known, once, and one more run ends it."""
    known = site.journal.history
    for ref in (SLO, VIEW):
        if true_id(site, ref) is not None:
            forgotten = known.of(ref).remote_id != true_id(site, ref)
            assert not forgotten or ref in known.unsettled()
    settle_all(site)
    applied = site.apply(*manifests)
    assert applied.exit_codes == set(), applied.outcomes
    for table in ("slos", "dashboards", "saved_views"):
        assert count(site, table) == 1
    assert_settled(site, *manifests)


# Found by running on: a run that passes its point has met its last request. Every second is
# enough: what dies after one point leaves what dies before the next one leaves.
STRIDE = int(os.environ.get("CRASH_STRIDE", "2"))
POINTS = range(0, 60, STRIDE)
MOMENTS = ("before", "within", "after")


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("first", [True, False])
def test_death_at_every_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, first: bool
) -> None:
    """Wherever a run dies, nothing is forgotten or doubled, and the next run ends the work."""
    died = 0
    begun = site_in(tmp_path / "begun") if first else applied_once(tmp_path / "begun")
    for point in POINTS:
        site = copied(begun, tmp_path / str(point))
        with monkeypatch.context() as context:
            death = die(context, site, point, moment)
            died += dies(site)
        check_recovery(site, *declared("two"))
        if death.passed <= point:
            break

    assert died == point // STRIDE
    assert point >= 20


@pytest.mark.parametrize("moment", ["before", "after"])
def test_death_and_second_thoughts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Wherever a run dies, going back to what was declared before it goes all the way back."""
    begun = applied_once(tmp_path / "begun")
    for point in POINTS:
        site = copied(begun, tmp_path / str(point))
        with monkeypatch.context() as context:
            death = die(context, site, point, moment)
            dies(site)
        check_recovery(site, *declared("one"))
        records = site.app.state.store.rows("SELECT record FROM alert_definitions")
        assert all('"two"' not in record for (record,) in records)
        if death.passed <= point:
            break


def test_death_in_the_recovery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recovery may die as well, anywhere."""
    for point in range(0, 40, 3):
        site = site_in(tmp_path / str(point))
        for offset, moment in enumerate(("after", "before", "within", "after")):
            with monkeypatch.context() as context:
                die(context, site, point + offset, moment)
                dies(site)
            settle_all(site)
        check_recovery(site, *declared("two"))
