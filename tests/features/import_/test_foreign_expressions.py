"""Texts of others that read like expressions: they come in as texts, and stay what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import typed

TEXTS = [
    "${each:service}",
    "for ${each:team.name} only",
    "${file:../secret.yaml}",
    "see ${file:notes.yaml}, ${each:x}",
    "$${each:x}",
    "$$${file:y}",
    "${var:team} ${secret:TOKEN} ${ref:SLO/checkout}",
    "${each:}",
    "${FILE:x}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_stays_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What is imported declares the very text that the record has, whatever that reads like."""
    monkeypatch.chdir(tmp_path)
    Path("reconciler.yaml").write_text(
        "exclude: [exports]\nenvironments: {local: {emulator: {data: x.db}}}\n", encoding="utf-8"
    )
    (tmp_path / "exports").mkdir()
    record = {"name": text, "description": text, "layout": {"sections": []}}
    Path("exports/board.json").write_text(json.dumps(record), encoding="utf-8")

    made = typed("import", "--from", "exports", "--format", "json")
    checked = typed("validate", "--format", "json")
    planned = typed("plan", "--format", "json")

    assert made.code == 0, made.err
    assert [
        complaint for complaint in checked.json["complaints"] if complaint["severity"] == "error"
    ] == []
    assert planned.code == 0, planned.err
    (change,) = planned.json["changes"]
    assert json.dumps(text) in json.dumps(change)
    assert typed("apply", "--yes").code == 0
    again = typed("plan", "--format", "json").json
    assert [change["action"] for change in again["changes"]] == ["keep"]
