"""What the demo holds is what people see first: nothing of it is doubted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import typed

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
