"""Hints that could lead astray: each says what is meant, once, and loses nothing."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from pathlib import Path

import pytest
from harness.workspaces import PROJECT, Workspace
from pasted_records import SPECS


@pytest.mark.parametrize(
    ("orders", "said"),
    [
        ((3, 2, 1), "in this order first: `three`, `two`, `one`; then remove `order`"),
        ((2, 2, 1), "in the order that is meant first; then remove `order`"),
        ((3, 2, None), "in the order that is meant first; then remove `order`"),
    ],
)
def test_contradicted_places(tmp_path: Path, orders: tuple[int | None, ...], said: str) -> None:
    """Where `order` contradicts the list it is one complaint, with the order that it tells."""
    workspace = Workspace(tmp_path)
    workspace.write("reconciler.yaml", PROJECT)
    spec = deepcopy(SPECS["LogPolicySet"])
    for item, order in zip(spec["policies"], orders, strict=True):
        item["policy"] |= {"order": order, "companyId": 7}
    manifest = {"apiVersion": "reconciler/v1", "kind": "LogPolicySet", "metadata": {"name": "p"}}
    workspace.write("p.json", json.dumps({**manifest, "spec": spec}))

    ran = workspace.run("validate", "--format", "json", "--fix")

    found = [complaint for complaint in ran.json["complaints"] if "`order`" in complaint["message"]]
    assert [value["message"] for value in found] == [
        "`order` contradicts the places in the list, which alone count"
    ]
    assert found[0]["suggestion"] == f"write the items {said}"


VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: v}
spec: {name: Errors, timeSelection: {quickSelection: {seconds: SECONDS}}}
"""


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("v.yaml", VIEW.replace("SECONDS", ".nan"), ["M105"]),
        (
            "v.yaml",
            VIEW.replace("SECONDS", "900").replace("{name: E", "{<<: {a: 1}, name: E"),
            ["M103"],
        ),
        ("v.yaml", VIEW.replace("spec:", "  spec:").replace("{name: v}", "\n  name: v"), ["M208"]),
        ("v.json", '{"apiVersion": "reconciler/v1", "kind":}', ["M101"]),
    ],
)
def test_one_mistake_is_one_complaint(
    tmp_path: Path, name: str, text: str, codes: list[str]
) -> None:
    """What cannot be read is complained of once, and not of what was made of it too."""
    workspace = Workspace(tmp_path)
    workspace.write("reconciler.yaml", PROJECT)
    workspace.write(name, text)

    ran = workspace.run("validate", "--format", "json")

    assert [complaint["code"] for complaint in ran.json["complaints"]] == codes


def test_fix_keeps_hard_links(tmp_path: Path) -> None:
    """A repaired file that has two names has them still, and one text."""
    workspace = Workspace(tmp_path)
    workspace.write("reconciler.yaml", PROJECT)
    file = workspace.write("v.yaml", VIEW.replace("SECONDS", '"900"'))
    os.link(file, tmp_path / "other.txt")

    assert workspace.run("validate", "--fix").code == 0

    assert file.samefile(tmp_path / "other.txt")
    assert "seconds: 900}" in (tmp_path / "other.txt").read_text("utf-8")
