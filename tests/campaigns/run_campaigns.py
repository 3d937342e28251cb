"""Runs campaigns and prints what they counted, one line of JSON each.

    python tests/campaigns/run_campaigns.py kill:10000 lost:2000 --seed 3

A name without a number takes that of the whole campaign; without names, all run.
Exit 1 where a law was broken; the first faults follow on stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

# As pytest does for every folder of tests: what they share stands above.
sys.path.append(str(Path(__file__).parent.parent))

from adopting import adopt_edits, adopt_texts, kill_adoptions
from caches import keep_caches
from formatting import format_texts
from imports import import_worlds, kill_imports
from kill_points import kill_at_points
from live_edits import edit_between
from living import live_first
from lost_answers import cut_answers, lose_answers, storm
from power_loss import lose_power
from races import race, stop_holders
from rollbacks import kill_rollbacks, roll_back
from second_writer import add_between
from shared_races import kill_on_bucket, kill_on_git, race_on_bucket, race_on_git
from shared_stops import stop_on_bucket, stop_on_git
from signals_sent import send_signals
from stage import Stage, Tally, stage
from system_calls import break_calls, why_not
from templates import expand_templates
from world_runs import live_worlds

Campaign = Callable[[Stage, int, int], Tally]

CAMPAIGNS: dict[str, tuple[Campaign, int]] = {
    "kill": (kill_at_points, int(os.environ.get("CAMPAIGN_POINTS", "10000"))),
    "calls": (break_calls, 500),
    "power": (lose_power, 200),
    "lost": (lose_answers, 10_000),
    "storm": (storm, 1_000),
    "cut": (cut_answers, 10_000),
    "race": (race, 1_000),
    "race-git": (race_on_git, 1_000),
    "race-s3": (race_on_bucket, 1_000),
    "kill-git": (kill_on_git, 500),
    "kill-s3": (kill_on_bucket, 500),
    "stop": (stop_holders, 500),
    "stop-git": (stop_on_git, 500),
    "stop-s3": (stop_on_bucket, 500),
    "edit": (edit_between, 10_000),
    "second-writer": (add_between, 1_000),
    "signal": (send_signals, 1_000),
    "worlds": (live_worlds, 2_000),
    "living": (live_first, 2_000),
    "rollback": (roll_back, 1_000),
    "kill-rollback": (kill_rollbacks, 1_000),
    "import": (import_worlds, 2_000),
    "kill-import": (kill_imports, 1_000),
    "adopt": (adopt_edits, 10_000),
    "adopt-text": (adopt_texts, 10_000),
    "adopt-kill": (kill_adoptions, 500),
    "cache": (keep_caches, 5_000),
    "fmt": (format_texts, 100_000),
    "template": (expand_templates, 10_000),
}


def _worked() -> float:
    """Give the processor time of this process and all its children, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def wanted(words: list[str]) -> dict[str, int]:
    """Read `name` and `name:count`; all where nothing is named."""
    counts = {}
    for word in words or list(CAMPAIGNS):
        name, _, count = word.partition(":")
        counts[name] = int(count) if count else CAMPAIGNS[name][1]
    return counts


def main() -> int:
    """Run what is asked for, one after another."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CAMPAIGNS)}, each with :COUNT")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other worlds")
    asked = parser.parse_args()
    faults = 0
    for name, count in wanted(asked.names).items():
        if name == "calls" and why_not():
            sys.stdout.write(json.dumps({"campaign": name, "skipped": why_not()}) + "\n")
            continue
        with stage() as made:
            began, worked = time.monotonic(), _worked()
            tally = CAMPAIGNS[name][0](made, count, asked.seed)
            seconds = time.monotonic() - began
        # The emulator's share is known once its process has ended.
        processor = _worked() - worked
        faults += len(tally.faults)
        rate = round(tally.counts["cases"] / seconds, 1)
        told = {
            "campaign": name,
            "seconds": round(seconds, 1),
            "processorSeconds": round(processor, 1),
            "casesPerSecond": rate,
        }
        sys.stdout.write(json.dumps({**told, **dict(sorted(tally.counts.items()))}) + "\n")
        sys.stdout.flush()
        for said in tally.faults:
            sys.stderr.write(f"{name}: {said}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
