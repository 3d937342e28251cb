"""What a laptop's apply asks consent for, by the level of each guard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import APPLY, in_this_process, on_terminal
from harness.served import Served
from harness.workspaces import PROJECT, SLO, edit, journal, project_at

from reconciler.journal.entries import OverrideEntry

LOWERED = ("targetThresholdPercentage: 99.9", "targetThresholdPercentage: 99")


@pytest.fixture
def lowered(folder: Path, service: Served) -> Path:
    """Return a folder that was applied, and declares a lower target since."""
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 0
    edit(folder, *LOWERED)
    return folder


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--yes"], 11),
        (["--expect"], 0),
        (["--plan"], 0),
        (["--yes", "--override-guard", "slo-target-lowered=agreed"], 0),
        (["--yes", "--override-guard", "takes-over=agreed"], 11),
        (["--yes", "--override-guard", "agreed"], 0),
        (["--yes", "--override-guard", "slo-target-lowerd=agreed"], 64),
        (["--yes", "--override-guard", "R/none=agreed"], 64),
        (["--yes", "--allow-destroy", "--new-journal"], 11),
    ],
)
def test_each_consent(lowered: Path, service: Served, flags: list[str], code: int) -> None:
    """A lowered target is applied by a review and by an override, and by nothing else."""
    out = lowered / "plan.json"
    assert in_this_process(lowered, service.base_url, "plan", "--out", str(out)).code == 0
    made = json.loads(out.read_text("utf-8"))
    values = {"--expect": made["digest"], "--plan": str(out)}
    given = [word for flag in flags for word in (flag, values.get(flag)) if word]

    ran = in_this_process(lowered, service.base_url, "apply", *given)

    assert [guard["level"] for guard in made["guards"]] == ["review"]
    assert ran.code == code, ran.err


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("word", "levels", "code"),
    [
        ("yes", "", 0),
        ("no", "", 0),
        ("yes", "    guards: {levels: {slo-target-lowered: explicit}}\n", 11),
    ],
)
def test_yes_on_a_terminal(tmp_path: Path, word: str, levels: str, code: int) -> None:
    """`yes` on a terminal consents to what the plan above it shows, but to nothing explicit."""
    made = project_at(tmp_path, PROJECT, slo=SLO)
    assert made.apply().code == 0
    made.settle(PROJECT + levels)
    made.write("slo.yaml", SLO.replace(*LOWERED))

    shown = on_terminal(["apply"], tmp_path, typed=f"{word}\n")

    assert shown.code == code, shown.terminal
    left = made.plan()["summary"]["update"]
    assert left == (0 if (word, code) == ("yes", 0) else 1)


@pytest.mark.promise("S16")
def test_the_journal_keeps_codes(lowered: Path, service: Served) -> None:
    """The journal keeps each reason with the guards that it lifted, and no needless ones."""
    flags = ["--override-guard", "slo-target-lowered=asked Ann", "--override-guard", "frozen=x"]

    ran = in_this_process(lowered, service.base_url, *APPLY, "--yes", *flags)

    kept = [
        entry
        for entry in journal(lowered, service.base_url).entries
        if isinstance(entry, OverrideEntry)
    ]
    assert ran.code == 0
    assert [(entry.reason, entry.codes) for entry in kept] == [
        ("asked Ann", ("slo-target-lowered",))
    ]
    assert "--override-guard frozen was" in ran.err


@pytest.mark.promise("S16")
def test_a_guard_that_appeared(lowered: Path, service: Served) -> None:
    """A guard that the reviewed plan did not list makes it stale, and is named."""
    edit(lowered, *reversed(LOWERED))
    out = lowered / "plan.json"
    assert in_this_process(lowered, service.base_url, "plan", "--out", str(out)).code == 0
    edit(lowered, *LOWERED)

    ran = in_this_process(lowered, service.base_url, *APPLY, "--plan", str(out))

    assert ran.code == 6
    assert "[slo-target-lowered]: not in" in ran.err
