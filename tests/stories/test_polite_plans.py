"""Plans of services that take only so much, and of those that know when nothing changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import httpx
import pytest
from harness.doors import APPLY, KEY, environment, typed_at
from harness.routes import DASHBOARDS
from harness.served import served
from harness.workspaces import Workspace

from reconciler.emulator import Profile, settings_of
from reconciler.runtime.cache import VARIABLE

BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {{name: board-{number}}}
spec:
  dashboard: {{name: Board {number}, layout: {{sections: []}}}}
"""
ASSUMING = "environments: {{local: {{api: {{conditionalReads: {}}}}}}}\n"


def boards(folder: Path, count: int, project: str = "environments: {local: {}}\n") -> Path:
    """Write so many dashboards."""
    made = Workspace(folder)
    made.settle(project)
    made.write("all.yaml", "---\n".join(BOARD.format(number=number) for number in range(count)))
    return made.root


def test_a_service_that_takes_so_many_a_second(tmp_path: Path) -> None:
    """A plan of many waits as long as the service asks, and few of its requests are refused."""
    root = boards(tmp_path / "work", 90)
    with served() as service:
        typed = environment(service.base_url)
        assert typed_at(root, typed, *APPLY, "--yes").code == 0
        limit = {"above": 40, "fault": {"status": 429, "retryAfter": "1"}}
        service.switch.misbehave(limit)
        service.switch.asked = 0
        ran = typed_at(root, typed, "plan", "--exit-code")

    assert ran.code == 0, ran.err
    assert service.switch.asked < 90 * 1.5


@pytest.mark.parametrize(
    ("etags", "assumed", "answer"),
    [("strong", "true", 304), ("strong", "false", 200), ("weak", "true", 200)],
)
def test_what_the_service_knows_by_name(
    tmp_path: Path, etags: str, assumed: str, answer: int
) -> None:
    """A document with a strong ETag is not sent again; with a weak one, or if told so, it is."""
    root = boards(tmp_path / "work", 6, ASSUMING.format(assumed))
    with served(profile=settings_of(Profile, {"etags": etags})) as service:
        typed = environment(service.base_url, **{VARIABLE: str(tmp_path / "cache")})
        assert typed_at(root, typed, *APPLY, "--yes").code == 0
        statuses, plans = [], []
        for _ in range(3):
            service.switch.app.state.requests.clear()
            plans.append(typed_at(root, typed, "plan", "--format", "json"))
            asked = service.switch.app.state.requests
            statuses.append(Counter(value.status for value in asked if DASHBOARDS in value.path))

    assert len({plan.out for plan in plans}) == 1
    assert statuses[-1] == {answer: 6}


def test_an_edit_behind_an_etag(tmp_path: Path) -> None:
    """What was edited has another ETag, and is read."""
    root = boards(tmp_path / "work", 2)
    with served(profile=Profile(etags="strong")) as service:
        typed = environment(service.base_url, **{VARIABLE: str(tmp_path / "cache")})
        assert typed_at(root, typed, *APPLY, "--yes").code == 0
        typed_at(root, typed, "plan")
        asked = {
            request.path for request in service.switch.app.state.requests if request.method == "GET"
        }
        path = min(value for value in asked if f"{DASHBOARDS}/" in value)
        with httpx.Client(base_url=service.base_url, headers={"Authorization": KEY}) as client:
            board = {**client.get(path).json()["dashboard"], "name": "Board One"}
            body = {"dashboard": board, "requestId": "by-hand"}
            client.put(path.rpartition("/")[0], json=body).raise_for_status()
        ran = typed_at(root, typed, "plan", "--exit-code")

    assert ran.code == 2, ran.err
