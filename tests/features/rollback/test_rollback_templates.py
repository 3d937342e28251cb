"""`rollback` of what a `forEach` makes names the file that makes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import typed
from harness.workspaces import project_at

PROJECT = "environments: {local: {emulator: {data: .reconciler/local.db}}}\n"
BOARDS = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata:
  name: {name}
forEach: [{{team: shop}}, {{team: pay}}]
spec:
  dashboard:
    name: "Of ${{each:team}}"
    slugName: "of-${{each:team}}"
    description: {said}
    layout: {{sections: []}}
"""
OTHER = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: "other-${each:team}"}
forEach: [{team: x}]
spec: {dashboard: {name: Other, slugName: other, layout: {sections: []}}}
"""


@pytest.mark.parametrize("name", ['"${each:team}-board"', "board-of-${each:team}"])
def test_the_file_of_a_template_is_named(tmp_path: Path, name: str) -> None:
    """A name with expressions is found by what stands around them; other templates are not."""
    boards = BOARDS.format(name=name, said="first")
    shop = project_at(tmp_path.resolve(), PROJECT, boards=boards, other=OTHER)
    assert shop.run("apply", "--yes").code == 0
    shop.write("boards.yaml", BOARDS.format(name=name, said="second"))
    assert shop.run("apply", "--yes").code == 0

    project = tmp_path.resolve() / "reconciler.yaml"
    ran = typed("rollback", "last", "--dry-run", "--format", "json", "--project", str(project))

    assert ran.code == 0, ran.err
    (remark,) = (remark for remark in json.loads(ran.out)["remarks"] if "files" in remark)
    assert len(remark["refs"]) == 2
    assert remark["files"] == ["boards.yaml"]
