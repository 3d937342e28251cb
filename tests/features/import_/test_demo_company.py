"""What the demo holds is what people see first: nothing of it is doubted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import KEY, typed
from harness.served import served

from reconciler.emulator.resources import REQUESTS


def test_the_demo_validates_without_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything the demo is seeded with imports, and validates, but for practice."""
    exports = tmp_path / "exports"
    exports.mkdir()
    for number, (_, body) in enumerate(REQUESTS):
        (exports / f"{number}.json").write_text(json.dumps(body.get("alertDefsToReplace", body)))
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    Path("reconciler.yaml").write_text("environments: {local: {emulator: {data: x.db}}}\n")

    made = typed("import", "--from", "../exports", "--format", "json")
    checked = typed("validate", "--format", "json")

    assert len(made.json["imported"]) == 23, made.err
    told = {complaint["code"] for complaint in checked.json["complaints"]}
    assert (checked.code, {code for code in told if not code.startswith("L")}) == (0, set())


def test_an_import_works_right_after_init(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the examples of `init` still there, what `--all` writes is valid in each environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECONCILER_API_KEY", KEY)
    with served(seed="demo") as service:
        typed("init", "--base-url", service.base_url)
        made = typed("import", "--all", "--format", "json")
        checked = typed("validate")
        planned = typed("plan", "--format", "json").json["changes"]
        local = typed("plan", "-e", "local", "--format", "json").json["changes"]

    assert [resource["ref"] for resource in made.json["imported"]] == [
        "LogPolicySet/log-policy-set"
    ]
    assert checked.code == 0, checked.out
    assert [change["action"] for change in planned] == ["keep"]
    assert "LogPolicySet/example-log-policies" in [change["ref"] for change in local]
