"""A manifest with another name: what an apply says of it, once."""

from __future__ import annotations

from pathlib import Path

from harness.workspaces import PROJECT, project_at

BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec: {dashboard: {name: Checkout, slugName: checkout, layout: {sections: []}}}
"""


def test_a_new_name_is_said_once(tmp_path: Path) -> None:
    """An apply that only takes up another name says which; the next one has nothing to say."""
    made = project_at(tmp_path.resolve(), PROJECT, board=BOARD)
    assert made.apply().code == 0
    known = made.plan()["changes"][0]["remoteId"]
    made.write("board.yaml", BOARD.replace("{name: checkout}", f"{{name: shop, id: {known}}}"))

    first, second = made.apply(), made.apply()

    said = "Dashboard/shop is what Dashboard/checkout was, and called so from now on."
    assert (first.code, second.code) == (0, 0), first.err
    assert said in first.out
    assert said not in second.out
