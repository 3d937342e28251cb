"""Numbers of a pasted list that contradict it: nobody is told to remove what says the order."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest
from pasted_records import SPECS
from workspaces import PROJECT, Workspace


@pytest.mark.parametrize(
    ("orders", "said"),
    [
        ((3, 2, 1), "in this order first: `three`, `two`, `one`; then remove `order`"),
        ((2, 2, 1), "in the order that is meant first; then remove `order`"),
        ((3, 2, None), "in the order that is meant first; then remove `order`"),
    ],
)
def test_contradicted_places(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    orders: tuple[int | None, ...],
    said: str,
) -> None:
    """Where `order` contradicts the list it is one complaint, with the order that it tells."""
    workspace = Workspace(tmp_path, capsys)
    workspace.write("reconciler.yaml", PROJECT)
    spec = deepcopy(SPECS["LogPolicySet"])
    for item, order in zip(spec["policies"], orders, strict=True):
        item["policy"] |= {"order": order, "companyId": 7}
    manifest = {"apiVersion": "reconciler/v1", "kind": "LogPolicySet", "metadata": {"name": "p"}}
    workspace.write("p.json", json.dumps({**manifest, "spec": spec}))

    ran = workspace.run("validate", "--format", "json", "--fix")

    assert [one["message"] for one in ran.json["errors"] if "`order`" in one["message"]] == [
        f"`order` contradicts the places in the list, which alone count: put the items {said}"
    ]
