"""Plans that were approved, and what happened since: only what was reviewed is applied.

`APPROVED_PLANS=1000` tries a thousand.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import httpx
from harness.doors import KEY
from harness.jobs import Jobs

PLANS = int(os.environ.get("APPROVED_PLANS", "10"))
ROOT = "/mgmt/openapi/latest/v1/dashboards"


def live_edit(jobs: Jobs, number: int, *, touch: bool) -> None:
    """Let somebody save the dashboard: as it is, which moves its time, or with another name."""
    with httpx.Client(base_url=jobs.service.base_url, headers={"Authorization": KEY}) as client:
        found = client.get(f"{ROOT}/by-slug/checkout").raise_for_status().json()
        dashboard: dict[str, Any] = found["dashboard"]
        if not touch:
            dashboard["description"] = f"by hand {number}"
        body = {"dashboard": dashboard, "requestId": f"r{number}"}
        client.put(f"{ROOT}/dashboards", json=body).raise_for_status()


def rewrite(jobs: Jobs, change: Callable[[str], str]) -> None:
    """Change the text of the manifests."""
    file = jobs.root / "all.yaml"
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


HARMLESS: dict[str, Callable[[Jobs, int], None]] = {
    "nothing": lambda _shop, _number: None,
    "comment": lambda jobs, number: rewrite(jobs, lambda text: f"# round {number}\n{text}"),
    "spelling": lambda jobs, _: rewrite(jobs, lambda text: text.replace("99.9", "99.90")),
    "touch": lambda jobs, number: live_edit(jobs, number, touch=True),
}
HARMFUL: dict[str, Callable[[Jobs, int], None]] = {
    "manifest": lambda jobs, number: rewrite(
        jobs, lambda text: text.replace("Checkout", f"Checkout {number}", 1)
    ),
    "live": lambda jobs, number: live_edit(jobs, number, touch=False),
    "gone": lambda jobs, _: rewrite(jobs, lambda text: text.rpartition("---\n")[0]),
}


def test_approved_plans(jobs: Jobs) -> None:
    """None is applied with another digest; none is refused for what moves by itself."""
    chance = random.Random(7)  # noqa: S311 - no secret
    jobs.merged(require_plan="none")
    text = (jobs.root / "all.yaml").read_text(encoding="utf-8")
    for number in range(PLANS):
        changed = text.replace("description: first", f"description: round {number}")
        (jobs.root / "all.yaml").write_text(changed, encoding="utf-8")
        planned = jobs.change()
        assert planned.outputs["result"] == "changes", (number, planned.log)
        is_harmful = number % 2 == 1
        name, since = chance.choice(sorted((HARMFUL if is_harmful else HARMLESS).items()))
        since(jobs, number)
        writes = len(jobs.service.writes)
        ran = jobs.merged()

        wanted = (6, "stale") if is_harmful else (0, "applied")
        assert (ran.code, ran.outputs["result"]) == wanted, (number, name, ran.log)
        assert (len(jobs.service.writes) == writes) is is_harmful, (number, name)
        jobs.forge.requests.clear()
