"""Every campaign, bounded: what `make campaign` runs at length, on each change a little of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness.warm import warm_program
from system_calls import why_not

from reconciler.runtime.cache import VARIABLE

HERE = Path(__file__).parent
POINTS = int(os.environ.get("CAMPAIGN_POINTS", "12"))


def campaign(*words: str) -> list[dict[str, Any]]:
    """Run campaigns in a process of their own, which has no thread when it forks."""
    names = ("PATH", "HOME", "LANG", "TMPDIR", VARIABLE)
    kept = {name: os.environ[name] for name in names if name in os.environ}
    ended = subprocess.run(
        warm_program(str(HERE / "run_campaigns.py"), *words),
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_kill_points() -> None:
    """Wherever a run is killed, nothing is lost, doubled or torn, and the next ends the work."""
    (told,) = campaign(f"kill:{POINTS}")

    assert told["cases"] == POINTS
    assert told["killed"] > POINTS * 0.9
    assert told["in doubt"] > 0


def test_lost_answers() -> None:
    """Whatever answer is lost, cut or replaced by an error, no write is doubled or forgotten."""
    lost, storm, cut = campaign("lost:6", "storm:1", "cut:3")

    assert (lost["cases"], storm["cases"], cut["cases"]) == (6, 1, 3)
    assert lost["in doubt"] > 0


def test_caches() -> None:
    """With what an earlier run kept, whatever became of it, a run says what it says without."""
    (told,) = campaign("cache:24")

    assert told["cases"] == 24
    assert told["kept"] > 5


def test_templates() -> None:
    """Overrides, items, variables and files come to what an expansion without our code gives."""
    (told,) = campaign("template:60")

    assert told["cases"] == 60
    assert min(told["with items"], told["with overrides"], told["files"]) > 20


def test_adopting() -> None:
    """Edits come in with the fewest lines, conflicts are told, and no kill halves a manifest."""
    edits, texts, kills = campaign("adopt:4", "adopt-text:20", "adopt-kill:3")

    assert (edits["cases"], texts["cases"], kills["cases"]) == (4, 20, 3)
    assert texts["changed lines"] <= 1.1 * texts["least lines"]
    assert kills["killed"] > 0


def test_formatting() -> None:
    """Whatever the style of a text, its layout says the same, keeps comments, and is the last."""
    (told,) = campaign("fmt:100")

    assert told["cases"] == 100
    assert told["changed"] > 60
    assert told["with comments"] > 50


def test_company() -> None:
    """Rivals, edits of others and signals: one run writes, and overwrites nothing that it saw."""
    race, stop, edit, add, signals = campaign(
        "race:1", "stop:1", "edit:6", "second-writer:8", "signal:6"
    )

    assert race["winners"] == race["cases"] == stop["cases"] == 1
    assert edit["caught"] > 0
    assert add.get("caught", 0) + add.get("told", 0) > 0
    assert signals.get("exit 130", 0) + signals.get("exit 143", 0) > 0


def test_several_machines() -> None:
    """Of machines that share a journal one applies; a lock that outlives or outwaits is taken."""
    *races, kill, stop = campaign("race-git:1", "race-s3:1", "kill-git:1", "stop-s3:1")

    for race in races:
        assert race["winners"] == race["cases"] == 1
        assert race["losers"] >= 1
    assert kill["killed"] > 0
    assert stop["taken over"] == 1


def test_worlds() -> None:
    """In odd worlds every apply settles, does what was planned, and sees what others did."""
    (told,) = campaign("worlds:4")

    assert told["cases"] == 4
    assert told["deeds: applies"] > 4
    assert told["deeds: live"] > 0


@pytest.mark.promise("S2")
def test_living() -> None:
    """What others made and edit live comes in, goes out and comes back, whatever service has it."""
    (told,) = campaign("living:4")

    assert told["cases"] == 4
    assert min(told["edits seen"], told["rolled back"]) > 0


def test_rollbacks() -> None:
    """What a run wrote is undone, or the plan says what cannot be; also where it is killed."""
    undone, killed = campaign("rollback:3", "kill-rollback:3")

    assert (undone["cases"], killed["cases"]) == (3, 3)
    assert undone["said: put-back"] > 0
    assert killed["killed"] > 0


def test_power_loss() -> None:
    """Whatever a disk lost with the power, the journal is readable and knows all that was sent."""
    (told,) = campaign("power:1")

    assert told["states"] > 30
    assert told["out of order, refused"] > 0
    assert told["read by the program"] > 0


def test_system_calls() -> None:
    """An error or a death at a system call ends with the right code, and tears no journal."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    (told,) = campaign("calls:2")

    assert told["cases"] == 2
    assert told["exit 8"] > 0


def test_imports() -> None:
    """Whatever a service holds, once imported all of it is kept, and nothing is imported twice."""
    told, killed = campaign("import:16", "kill-import:4")

    assert told["cases"] >= 16
    assert killed["cases"] == 4
    assert killed["killed"] > 0
    assert told["references"] > 0
    assert told["imported again"] == told["not settled"] == 0
