"""Applying and rolling back while it is frozen: what is refused, what breaks it, who waits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.workspaces import SLO, Workspace

from reconciler.errors import GuardRefused
from reconciler.features.freeze import freeze_guard as freeze_wait
from reconciler.features.freeze.freeze_guard import wait_for_thaw
from reconciler.journal.entries import Unfrozen
from reconciler.journal.store import LockTimeout
from reconciler.operations import plan_and_drift
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import begin_session

GUARD, USAGE = 11, 64
PROJECT = """\
environments:
  local:
    emulator: {data: .reconciler/local.db}
    freeze:
      windows: [{cron: "CRON", for: FOR, timezone: Europe/Berlin, reason: sale}]
"""
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    found = Workspace(tmp_path)
    found.write("slo.yaml", SLO)
    always(found)
    return found


def always(shop: Workspace, cron: str = "* * * * *", lasts: str = "2m") -> None:
    """Let it be frozen at all times, or as given."""
    shop.settle(PROJECT.replace("CRON", cron).replace("FOR", lasts))


def thawed(shop: Workspace) -> None:
    """Let it be frozen no more."""
    shop.settle("environments: {local: {emulator: {data: .reconciler/local.db}}}\n")


def test_only_broken_glass(shop: Workspace, golden: Golden) -> None:
    """No reviewed plan, override or other consent lifts a freeze; --break-glass does, once."""
    plan = shop.root / "plan.json"
    digest = shop.plan("--out", str(plan))["digest"]
    guards = shop.plan()["guards"]
    assert [guard["code"] for guard in guards] == ["frozen"]

    every = ("--override-guard", "x", "--allow-destroy", "--new-journal")
    for consent in (["--yes"], ["--expect", digest], ["--plan", str(plan)]):
        refused = shop.run("apply", *consent, *every)
        assert refused.code == GUARD
        assert "[frozen]" in refused.err
    ran = shop.run("apply", "--expect", digest, "--break-glass", " the target is wrong ")
    assert ran.code == 0, ran.err
    always(shop, "0 0 1 1 *", "1m")
    shown = typed("journal", "show", "--project", str(shop.root / "reconciler.yaml"))
    golden(shown.out)
    history = typed(
        "journal", "history", "--format", "json", "--project", str(shop.root / "reconciler.yaml")
    )
    assert [value["unfrozen"] for value in history.json] == [["the target is wrong"]]


def test_no_reason_holds_a_secret(shop: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that somebody types into a reason is hidden before the journal has it."""
    thawed(shop)
    assert shop.run("apply", "--yes").code == 0
    shop.write("slo.yaml", SLO.replace("99.9", "99"))
    always(shop)
    monkeypatch.setenv("RECONCILER_API_KEY", "the-key-of-all")
    monkeypatch.setenv("KEY", "hunter2-hunter2")
    shop.write(
        "secret.yaml",
        SLO.replace("checkout", "other").replace("query: good", 'query: "${secret:KEY}"'),
    )
    why = "it is hunter2-hunter2, or the-key-of-all"

    ran = shop.run("apply", "--yes", "--break-glass", why, "--override-guard", why)

    assert ran.code == 0, ran.err
    kept = "".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in shop.root.rglob("*journal.jsonl")
    )
    assert kept.count("it is ***, or ***") == 2
    assert "hunter2" not in kept
    assert "the-key-of-all" not in kept


def test_nothing_was_frozen(shop: Workspace) -> None:
    """A glass that was broken for nothing is told of, and the journal keeps none of it."""
    thawed(shop)

    ran = shop.run("apply", "--yes", "--break-glass", "it burns")

    assert ran.code == 0, ran.err
    assert "not needed" in ran.err
    assert "it burns" not in "".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in shop.root.rglob("*journal.jsonl")
    )


def test_nothing_else_is_lifted(shop: Workspace) -> None:
    """--break-glass lifts no other guard."""
    thawed(shop)
    assert shop.run("apply", "--yes").code == 0
    shop.write("slo.yaml", SLO.replace("99.9", "99"))
    always(shop)

    refused = shop.run("apply", "--yes", "--break-glass", "it burns")
    ran = shop.run("apply", "--yes", "--break-glass", "it burns", "--override-guard", "agreed")

    assert refused.code == GUARD
    assert "slo-target-lowered" in refused.err
    assert "[frozen]" not in refused.err
    assert ran.code == 0, ran.err


def test_rollback(shop: Workspace) -> None:
    """A rollback is frozen like an apply, and breaks the glass like one."""
    thawed(shop)
    assert shop.run("apply", "--yes").code == 0
    shop.write("slo.yaml", SLO.replace("name: Checkout", "name: Check out"))
    assert shop.run("apply", "--yes").code == 0
    always(shop)
    project = str(shop.root / "reconciler.yaml")

    refused = typed("rollback", "last", "--yes", "--project", project)
    ran = typed("rollback", "last", "--yes", "--break-glass", "worse", "--project", project)

    assert (refused.code, ran.code) == (GUARD, 0), ran.err


def test_nothing_to_write(shop: Workspace) -> None:
    """With nothing to write an apply goes well while it is frozen, and breaks nothing."""
    thawed(shop)
    assert shop.run("apply", "--yes").code == 0
    always(shop)

    ran = shop.run("apply", "--yes", "--break-glass", "just in case")

    assert ran.code == 0
    found = (shop.root / ".reconciler/journal.jsonl", *shop.root.rglob("*journal*"))
    assert not any('"unfrozen"' in path.read_text("utf-8") for path in found if path.is_file())


@pytest.mark.parametrize(
    "flags",
    [
        ["--break-glass", " "],
        ["--wait-freeze", "25h"],
        ["--wait-freeze", "soon"],
        ["--wait-freeze", "1h", "--break-glass", "x"],
    ],
)
def test_wrong_flags(shop: Workspace, flags: list[str]) -> None:
    """A reason that says nothing, a time that is none, and both at once are usage errors."""
    assert shop.run("apply", "--yes", *flags).code == USAGE


class Time:
    """A clock that only moves while somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = NOON
        self.slept: list[float] = []
        for place in (plan_and_drift, freeze_wait):
            monkeypatch.setattr(place, "now", lambda: self.now)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def seconds(self) -> float:
        """Give the time as seconds that never go back."""
        return self.now.timestamp()

    def patience(self, hours: float) -> LockTimeout:
        """Give so much time to whoever waits."""
        return LockTimeout(hours * 3600, self.seconds, self.sleep)


def waits(shop: Workspace, patience: LockTimeout) -> None:
    """Wait as an apply does."""
    project = shop.root / "reconciler.yaml"
    wait_for_thaw(
        begin_session(
            Options(
                paths=(shop.root,), environment=None, project=project, verbose=False, quiet=False
            )
        ),
        patience,
    )


def test_waiting_for_a_window(shop: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits goes on right after the last of the windows, and locks nothing meanwhile."""
    always(shop, "0 12,13 * * *", "90m")
    time = Time(monkeypatch)

    waits(shop, time.patience(3))

    assert time.now == NOON + timedelta(hours=1, minutes=30)
    assert max(time.slept) <= 60


def test_not_waiting_in_vain(shop: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the windows end later than anybody waits, it is refused at once."""
    always(shop, "0 12 * * *", "5h")
    time = Time(monkeypatch)

    with pytest.raises(GuardRefused, match="is frozen until 2026-11-22 17:00"):
        waits(shop, time.patience(2))

    assert time.slept == []


def test_waiting_without_an_end(shop: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where windows have no end in sight, nothing is waited for."""
    always(shop)
    time = Time(monkeypatch)

    with pytest.raises(GuardRefused):
        waits(shop, time.patience(0.1))

    assert time.slept == []


def test_older_journals() -> None:
    """What broke a freeze is an entry of its own, which no other kind of entry is read as."""
    entry = Unfrozen(at="2026-11-22T12:00:00Z", reason="it burns")

    assert (entry.entry, entry.frozen) == ("unfrozen", "")
