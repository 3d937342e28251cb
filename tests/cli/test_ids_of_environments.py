"""`metadata.ids`: what one environment calls a resource is nothing to another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from harness.doors import APPLY, KEY, Ran, in_this_process
from harness.routes import VIEWS
from harness.served import Served, served
from harness.sites import ALERT_ID

pytestmark = pytest.mark.promise("P18")

UNSET = {"RECONCILER_BASE_URL": ""}
MANIFESTS = """\
# What every environment has.
apiVersion: reconciler/v1
kind: SavedView
metadata:
  name: errors   # of all teams
  labels: {team: a}
spec:
  name: Errors
  timeSelection: {quickSelection: {seconds: 900}}
---
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
"""
OTHERS = {"name": "Of others", "timeSelection": {"quickSelection": {"seconds": 60}}}
ALERT = f"""\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {{name: errors, ids: {{production: {ALERT_ID}}}}}
spec: {{name: Errors, type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED, logsImmediate: {{}}}}
"""


@pytest.fixture
def production(service: Served) -> Served:
    return service


@pytest.fixture
def staging() -> Iterator[Served]:
    with served() as service:
        yield service


@pytest.fixture
def folder(tmp_path: Path, production: Served, staging: Served) -> Path:
    """Give a workspace of two environments, each with a service of its own."""
    (tmp_path / "reconciler.yaml").write_text(
        "environments:\n"
        f"  production: {{baseUrl: '{production.base_url}', guards: {{allow: [takes-over]}}}}\n"
        f"  staging: {{baseUrl: '{staging.base_url}', guards: {{allow: [takes-over]}}}}\n"
    )
    (tmp_path / "all.yaml").write_text(MANIFESTS)
    return tmp_path


def run(folder: Path, environment: str, *arguments: str) -> Ran:
    """Run one command in an environment."""
    return in_this_process(folder, "", *arguments, "-e", environment, more=UNSET)


def actions(folder: Path, environment: str) -> dict[str, str]:
    """Give the action of each resource in the plan of an environment."""
    ended = run(folder, environment, "plan", "--format", "json")
    assert ended.code == 0, ended.err
    return {change["ref"]: change["action"] for change in json.loads(ended.out)["changes"]}


def make_view_of_others(service: Served) -> None:
    """Let others have a view, with the first id that a service gives out."""
    url = f"{service.base_url}/mgmt/openapi/latest{VIEWS}"
    answer = httpx.post(url, json=OTHERS, headers={"Authorization": KEY})
    assert answer.status_code == 200, answer.text


def views(service: Served) -> list[str]:
    """Give the names of all views, by id."""
    rows = service.rows("SELECT json_extract(record, '$.name') FROM saved_views ORDER BY id")
    return [name for (name,) in rows]


def test_no_stranger_is_overwritten(folder: Path, production: Served, staging: Served) -> None:
    """Ids of production in manifests are nothing to staging: a view of others there stays."""
    make_view_of_others(staging)
    assert run(folder, "production", *APPLY, "--yes").code == 0

    ended = run(folder, "production", "journal", "write-ids")
    assert (ended.code, ended.out) == (0, "2 ids written\n"), ended.err
    (folder / ".reconciler" / "production.journal.jsonl").unlink()

    assert actions(folder, "production") == {"SavedView/errors": "assert", "SLO/checkout": "keep"}
    assert actions(folder, "staging") == {"SavedView/errors": "create", "SLO/checkout": "create"}
    assert run(folder, "staging", *APPLY, "--yes").code == 0
    assert views(staging) == ["Of others", "Errors"]
    assert views(production) == ["Errors"]


def test_each_environment_adds_its_own(folder: Path) -> None:
    """Each environment writes its ids beside those of others, comments and layout kept."""
    for environment in ("production", "staging"):
        assert run(folder, environment, *APPLY, "--yes").code == 0
        assert run(folder, environment, "journal", "write-ids").out == "2 ids written\n"

    text = (folder / "all.yaml").read_text()
    view = text.partition("---")[0]
    assert view == MANIFESTS.partition("---")[0].replace(
        "labels: {team: a}\n", "labels: {team: a}\n  ids:\n    production: 1\n    staging: 1\n"
    )
    assert text.count("production: ") == 2
    for environment in ("production", "staging"):
        assert run(folder, environment, "journal", "write-ids").out == "0 ids written\n"
        assert actions(folder, environment)["SLO/checkout"] == "keep"


def test_one_environment(tmp_path: Path, production: Served) -> None:
    """Where the project has one environment with a target, `metadata.id` is written."""
    (tmp_path / "reconciler.yaml").write_text(
        f"environments: {{production: {{baseUrl: '{production.base_url}', "
        "guards: {allow: [takes-over]}}, later: {}}"
    )
    (tmp_path / "all.yaml").write_text(MANIFESTS)
    assert run(tmp_path, "production", *APPLY, "--yes").code == 0

    assert run(tmp_path, "production", "journal", "write-ids").code == 0

    assert "  id: 1\n" in (tmp_path / "all.yaml").read_text()
    assert "ids:" not in (tmp_path / "all.yaml").read_text()


def test_an_alert_of_one_environment(folder: Path) -> None:
    """An alert is an error only in the environment that its `ids` do not name."""
    (folder / "all.yaml").write_text(ALERT)

    named, unnamed = (run(folder, one, "validate") for one in ("production", "staging"))

    assert named.code == 0, named.out + named.err
    assert unnamed.code == 4
    assert "M206" in unnamed.out + unnamed.err
    assert actions(folder, "production") == {"AlertDefinition/errors": "assert"}


def test_an_alert_elsewhere(folder: Path) -> None:
    """An alert that is limited to the environments of its ids is no error in others."""
    limited = ALERT.replace("{name: errors", "{name: errors, environments: [production]")
    (folder / "all.yaml").write_text(limited)

    assert run(folder, "staging", "validate").code == 0


@pytest.mark.parametrize(
    ("project", "environment"),
    [("manifests: [.]\n", "default"), ("environments: {production: {}}\n", "production")],
)
def test_ids_alone(tmp_path: Path, project: str, environment: str) -> None:
    """`ids` count wherever the environment has a name: in a small project, and without one."""
    (tmp_path / "reconciler.yaml").write_text(project)
    text = ALERT.replace("production", environment)
    (tmp_path / "all.yaml").write_text(text)

    ended = in_this_process(tmp_path, "", "validate", more=UNSET)

    assert ended.code == 0, ended.out + ended.err
