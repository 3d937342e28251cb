"""Plans that were approved, and what happened since: only what was reviewed is applied.

`APPROVED_PLANS=1000` tries a thousand.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from ci_jobs import Shop, a_shop
from processes import KEY

PLANS = int(os.environ.get("APPROVED_PLANS", "10"))
ROOT = "/mgmt/openapi/latest/v1/dashboards"


@pytest.fixture
def shop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    with a_shop(tmp_path, capsys) as opened:
        monkeypatch.chdir(opened.root)
        yield opened


def live_edit(shop: Shop, number: int, *, touch: bool) -> None:
    """Let somebody save the dashboard: as it is, which moves its time, or with another name."""
    with httpx.Client(base_url=shop.service.base_url, headers={"Authorization": KEY}) as client:
        found = client.get(f"{ROOT}/by-slug/checkout").raise_for_status().json()
        dashboard: dict[str, Any] = found["dashboard"]
        if not touch:
            dashboard["description"] = f"by hand {number}"
        body = {"dashboard": dashboard, "requestId": f"r{number}"}
        client.put(f"{ROOT}/dashboards", json=body).raise_for_status()


def rewrite(shop: Shop, change: Callable[[str], str]) -> None:
    """Change the text of the manifests."""
    file = shop.root / "all.yaml"
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


HARMLESS: dict[str, Callable[[Shop, int], None]] = {
    "nothing": lambda _shop, _number: None,
    "comment": lambda shop, number: rewrite(shop, lambda text: f"# round {number}\n{text}"),
    "spelling": lambda shop, _: rewrite(shop, lambda text: text.replace("99.9", "99.90")),
    "touch": lambda shop, number: live_edit(shop, number, touch=True),
}
HARMFUL: dict[str, Callable[[Shop, int], None]] = {
    "manifest": lambda shop, number: rewrite(
        shop, lambda text: text.replace("Checkout", f"Checkout {number}", 1)
    ),
    "live": lambda shop, number: live_edit(shop, number, touch=False),
    "gone": lambda shop, _: rewrite(shop, lambda text: text.rpartition("---\n")[0]),
}


def test_approved_plans(shop: Shop) -> None:
    """None is applied with another digest; none is refused for what moves by itself."""
    chance = random.Random(7)  # noqa: S311 - no secret
    shop.merged(require_plan="none")
    text = (shop.root / "all.yaml").read_text(encoding="utf-8")
    for number in range(PLANS):
        changed = text.replace("description: first", f"description: round {number}")
        (shop.root / "all.yaml").write_text(changed, encoding="utf-8")
        planned = shop.change()
        assert planned.outputs["result"] == "changes", (number, planned.log)
        is_harmful = number % 2 == 1
        name, since = chance.choice(sorted((HARMFUL if is_harmful else HARMLESS).items()))
        since(shop, number)
        writes = len(shop.service.writes)
        ran = shop.merged()

        wanted = (6, "stale") if is_harmful else (0, "applied")
        assert (ran.code, ran.outputs["result"]) == wanted, (number, name, ran.log)
        assert (len(shop.service.writes) == writes) is is_harmful, (number, name)
        shop.forge.requests.clear()
