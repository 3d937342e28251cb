"""Live edits of what templates, overrides and files make: in the right place, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.golden import Golden
from harness.workspaces import PROJECT, Workspace, project_at
from test_adopt import adopt, edit_live, text_of

VARIABLES = PROJECT + "    variables: {team: payments}\n"
BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard:
    name: Checkout
    description: of all   # of spec
    relativeTimeFrame: 900s
    off: {}
    variables:
      - name: region
        displayName: Region
    layout: {sections: []}
"""
OVERRIDES = """\
overrides:
  local:
    dashboard:
      description: here   # of local
"""
EACH = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: "${each:slug}"}
forEach:
  - {slug: checkout, title: Checkout}
  - {slug: search, title: Search}
spec:
  dashboard:
    name: ${each:title}
    description: first
    off: {}
    layout: {sections: []}
"""


def applied(root: Path, **manifests: str) -> Workspace:
    made = project_at(root.resolve(), VARIABLES, **manifests)
    ran = made.apply()
    assert ran.code == 0, ran.err
    return made


def describe(board: Any) -> None:
    board["description"] = "edited live"


def actions(made: Workspace) -> set[str]:
    return {change["action"] for change in made.plan()["changes"]}


def test_an_overridden_value_is_adopted_in_the_override(tmp_path: Path) -> None:
    """What came from an override is edited there, and `spec` stays what it is elsewhere."""
    made = applied(tmp_path, board=BOARD + OVERRIDES)
    edit_live(made, describe)

    ran = adopt(made, "--all")

    assert ran.code == 0, ran.err
    expected = BOARD + OVERRIDES.replace("here ", "edited live ")
    assert text_of(made) == expected
    assert actions(made) == {"keep"}


def test_what_stays_is_adopted_in_spec(tmp_path: Path) -> None:
    """What no override says is edited in `spec`, beside one that does."""
    made = applied(tmp_path, board=BOARD + OVERRIDES)

    def narrow(board: Any) -> None:
        board["relativeTimeFrame"] = "60s"
        describe(board)

    edit_live(made, narrow)

    assert adopt(made, "--all").code == 0
    assert "relativeTimeFrame: 60s" in text_of(made)
    assert "description: of all   # of spec" in text_of(made)
    assert actions(made) == {"keep"}


def test_one_of_several_is_not_edited(tmp_path: Path) -> None:
    """What one of several items makes is refused by name of the item, and no file is touched."""
    made = applied(tmp_path, board=EACH)
    edit_live(made, describe, "search")

    ran = adopt(made, "--all")

    assert ran.code == 3
    assert "forEach" in ran.out + ran.err
    assert "item 2 (slug: search)" in ran.out + ran.err
    assert text_of(made) == EACH


def test_an_included_part_is_not_edited(tmp_path: Path) -> None:
    """What a file gives is refused, naming the expression, and no file is touched."""
    text = BOARD.replace("layout: {sections: []}", "layout: ${file:layout.yaml}").replace(
        "description: of all   # of spec", "description: ${file:words.yaml}"
    )
    made = applied(tmp_path, board=text, layout="{sections: []}\n", words="of all\n")
    edit_live(made, describe)

    ran = adopt(made, "--all")

    assert ran.code == 3
    assert "${file:words.yaml}" in ran.out + ran.err
    assert text_of(made) == text


def test_the_way_out_of_an_item(tmp_path: Path, golden: Golden) -> None:
    """What an item of a template makes is taken over by hand, and drift says so."""
    made = applied(tmp_path, board=EACH)
    edit_live(made, describe)

    looked = made.run("drift", "--format", "json").json["resources"]

    (found,) = [value for value in looked if value["waysOut"]]
    (way,) = [value for value in found["waysOut"] if value["way"] == "take-over"]
    golden(way["said"])


@pytest.mark.promise("S20")
def test_no_adopt_for_an_item(tmp_path: Path) -> None:
    """A guard about an item of a `forEach` names no `adopt`, which would be refused."""
    made = applied(tmp_path, board=EACH)
    edit_live(made, describe)

    (guard,) = made.plan()["guards"]

    assert not any("reconciler adopt" in way for way in guard["waysOut"])
    assert any("by hand" in way for way in guard["waysOut"])


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_what_other_environments_share_is_said(tmp_path: Path, form: str) -> None:
    """An edit of what another environment declares too names it; one below `overrides` does not."""
    more = "  production: {emulator: {data: p.db}, variables: {team: payments}}\n"
    for name, text, is_shared in (("one", BOARD, True), ("two", BOARD + OVERRIDES, False)):
        (tmp_path / name).mkdir()
        made = project_at((tmp_path / name).resolve(), VARIABLES + more, board=text)
        assert made.apply("-e", "local").code == 0
        edit_live(made, describe)

        ran = adopt(made, "--all", "-e", "local", "--format", form)

        assert ran.code == 0, ran.err
        assert ("of production too" in ran.out) is is_shared


@pytest.mark.promise("S43")
def test_other_environments_are_named_once(tmp_path: Path) -> None:
    """Where several edits count in another environment too, a last line says so, with a count."""
    boards = {name: BOARD.replace("checkout", name) for name in ("checkout", "search", "stock")}
    made = applied(tmp_path, **boards)
    made.settle(f"{VARIABLES}  production: {{variables: {{team: a}}}}\ndefaultEnvironment: local\n")
    edit_live(made, describe, "search")
    alone = adopt(made, "--all", "--dry-run")
    edit_live(made, describe, "checkout")

    both = adopt(made, "--all")

    words = ["are those of production too", "is that of production too"]
    for ran, counts in ((alone, [0, 1]), (both, [1, 0])):
        text = " ".join(ran.out.split())
        assert [text.count(word) for word in words] == counts, ran.out
    # It is about all of them, so it comes last and belongs to no manifest's block.
    assert both.out.splitlines()[-1].startswith("2 manifests are those of production too")
