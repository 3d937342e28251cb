"""`rollback --write`: the manifests as they were before a run, each value at its own place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from harness.doors import Ran, typed
from harness.repositories import begin, committed, git
from harness.workspaces import PROJECT, SLO, Workspace, project_at
from test_rollback import WATCHED

VARIABLES = (
    PROJECT
    + """\
    variables:
      team: payments  # of all
      limit: 300
      boards:
        - {slug: checkout, title: Checkout, limit: 300}   # ours
        - {slug: search, title: Search, limit: 300}
"""
)
BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard:
    name: 'Checkout'   # as it is called
    description: first   # of spec
    off: {}
    layout: {sections: []}
"""
EACH = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: "${each:slug}"}
forEach:
  - {slug: checkout, title: Checkout, limit: 300}   # ours
  - {slug: search, title: Search, limit: 300}
spec:
  dashboard:
    name: ${each:title}
    description: slower than ${each:limit} ms
    off: {}
    layout: {sections: []}
"""
ITEMS = """\
- slug: checkout
  title: Checkout   # ours
  limit: 300
- slug: search
  title: Search
  limit: 300
"""
OF_FILE = EACH.replace(
    EACH[EACH.index("forEach:") : EACH.index("spec:")], "forEach: ${file:items.yaml}\n"
)
PLACES = {
    "spec": ({"board": BOARD}, "board", "description: first", "description: second"),
    "overrides": (
        {"board": BOARD + "overrides:\n  local:\n    dashboard: {description: here}  # local\n"},
        *("board", "{description: here}", "{description: there}"),
    ),
    "an item": ({"board": EACH}, "board", "title: Checkout", "title: Cashier"),
    "a part of a text": (
        {"board": EACH},
        "board",
        "search, title: Search, limit: 300",
        "search, title: Search, limit: 5000",
    ),
    "what all items share": ({"board": EACH}, "board", "slower than", "faster than"),
    "items of a file": ({"board": OF_FILE, "items": ITEMS}, "items", "Checkout ", "Cashier "),
    "items of a variable": (
        {"board": OF_FILE.replace("${file:items.yaml}", "{var: boards}")},
        *("reconciler", "title: Checkout", "title: Cashier"),
    ),
    "an export": (
        {"board": BOARD[: BOARD.index("  dashboard:")] + "  file: export.json\n"},
        *("export.json", '"first"', '"second"'),
    ),
    "beside a reference": ({"board": WATCHED}, "board", "threshold: 10", "threshold: 20"),
    "a file": (
        {
            "board": BOARD.replace("{sections: []}", "${file:layout.yaml}"),
            "layout": "# all\nsections: []\n",
        },
        *("layout", "sections: []", "sections: [{id: {value: s}, rows: []}]"),
    ),
    "a variable": (
        {"board": BOARD.replace("first", "${var:team}")},
        *("reconciler", "team: payments", "team: billing"),
    ),
    "a variable in a text": (
        {"board": BOARD.replace("first", "over ${var:limit} ms")},
        *("reconciler", "limit: 300\n", "limit: 40\n"),
    ),
    "words around a variable": (
        {"board": BOARD.replace("first", "for ${var:team}, by night")},
        *("board", "by night", "by day"),
    ),
}


EXPORT = """\
{
  "name": "Checkout",
  "description": "first",
  "off": {},
  "layout": {"sections": []}
}
"""


def file_of(name: str) -> str:
    return name if "." in name else f"{name}.yaml"


def started(root: Path, project: str = VARIABLES, **manifests: str) -> Workspace:
    made = project_at(root.resolve(), project, **manifests)
    if "export.json" in manifests["board"]:
        made.write("export.json", EXPORT)
    ran = made.apply()
    assert ran.code == 0, ran.err
    return made


def change(made: Workspace, name: str, before: str, after: str) -> None:
    """Edit a file, and apply that."""
    file = made.root / file_of(name)
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")
    ran = made.run("apply", "--yes", "--override-guard", "a test")
    assert ran.code == 0, ran.err


def roll_back(made: Workspace, *arguments: str) -> Ran:
    project = ("--project", str(made.root / "reconciler.yaml"))
    return typed("rollback", *(arguments or ("last",)), *project)


def written_back(made: Workspace, *arguments: str) -> Ran:
    return roll_back(made, *(arguments or ("last",)), "--write")


def texts(made: Workspace) -> dict[str, str]:
    return {
        file.name: file.read_text(encoding="utf-8")
        for file in made.root.iterdir()
        if file.suffix in (".yaml", ".json")
    }


def actions(made: Workspace) -> dict[str, str]:
    return {change["ref"]: change["action"] for change in made.plan()["changes"]}


@pytest.mark.promise("S45")
@pytest.mark.parametrize("where", PLACES)
def test_each_place_is_as_before(tmp_path: Path, where: str) -> None:
    """After `rollback last --write` every byte of every file is as it was before the run."""
    manifests, name, before, after = PLACES[where]
    made = started(tmp_path, **manifests)
    was = texts(made)
    change(made, name, before, after)
    journaled = made.requests()

    ran = written_back(made)

    assert ran.code == 0, ran.out + ran.err
    assert texts(made) == was
    assert f"+++ b/{file_of(name)}" in ran.out
    assert made.requests() == journaled


@pytest.mark.promise("S45")
@pytest.mark.parametrize("where", PLACES)
def test_after_both_nothing_is_to_do(tmp_path: Path, where: str) -> None:
    """After a rollback and `rollback last --write` the next plan is all keep."""
    manifests, name, before, after = PLACES[where]
    made = started(tmp_path, **manifests)
    change(made, name, before, after)
    ran = roll_back(made, "last", "--yes")
    assert ran.code == 0, ran.err

    assert written_back(made).code == 0

    assert set(actions(made).values()) == {"keep"}


@pytest.mark.promise("S45")
def test_a_removed_field_comes_back(tmp_path: Path) -> None:
    """A field that the run removed is one new line, and no other byte changes."""
    made = started(tmp_path, board=BOARD)
    field = "    description: first   # of spec\n"
    change(made, "board", field, "")
    assert roll_back(made, "last", "--yes").code == 0

    assert written_back(made).code == 0

    now = texts(made)["board.yaml"]
    assert now.replace("    description: first\n", "") == BOARD.replace(field, "")
    assert set(actions(made).values()) == {"keep"}


@pytest.mark.promise("S45")
def test_what_the_run_created_is_listed(tmp_path: Path) -> None:
    """What the run created is listed with exit 3, and the rest is written all the same."""
    made = started(tmp_path, board=BOARD)
    made.write("slo.yaml", SLO)
    change(made, "board", "first", "second")

    ran = written_back(made, "last", "--format", "json")

    assert ran.code == 3, ran.err
    assert [(left["ref"], "created" in left["why"]) for left in ran.json["unplaced"]] == [
        ("SLO/checkout", True)
    ]
    assert texts(made)["board.yaml"] == BOARD
    assert texts(made)["slo.yaml"] == SLO


@pytest.mark.promise("S45")
def test_a_broken_manifest_is_listed(tmp_path: Path) -> None:
    """A broken manifest is listed with its error, and other files are written all the same."""
    made = started(tmp_path, board=BOARD, slo=SLO)
    made.write("slo.yaml", SLO.replace("99.9", "99.5"))
    change(made, "board", "first", "second")
    made.write("slo.yaml", SLO.replace("spec:", "spec: ["))

    ran = written_back(made)

    assert ran.code == 3, ran.err
    assert "slo.yaml:" in ran.out
    assert texts(made)["board.yaml"] == BOARD


@pytest.mark.promise("S45")
def test_a_shared_variable_stays(tmp_path: Path) -> None:
    """A variable that others use too stays, and the value is written where it was named."""
    other = BOARD.replace("name: checkout}", "name: search}").replace("Checkout", "Search")
    made = started(tmp_path, board=BOARD, other=other.replace("first", "${var:team}"))
    change(made, "board", "first", "${var:team}")

    ran = written_back(made)

    assert ran.code == 0, ran.out
    assert texts(made)["board.yaml"] == BOARD
    assert texts(made)["reconciler.yaml"] == VARIABLES


@pytest.mark.promise("S45")
def test_what_would_change_another_is_listed(tmp_path: Path) -> None:
    """What all items share stays where only one of them is wanted, and that one is listed."""
    made = started(tmp_path, board=EACH)
    change(made, "board", "slower than", "faster than")
    now = texts(made)

    ran = written_back(made, "last", "Dashboard/search")

    assert ran.code == 3
    text = " ".join(ran.out.split())
    assert re.search(r"board\.yaml:10: .* → .*also used by Dashboard/checkout", text), text
    assert texts(made) == now


TWO = f"""\
defaultEnvironment: local
{VARIABLES}  other:
    emulator: {{data: .reconciler/other.db}}
    variables: {{team: payments, limit: 300}}
"""
SEARCH = BOARD.replace("name: checkout}", "name: search, environments: [other]}")
SHARED = {
    "a manifest": (
        {"board": BOARD},
        *("board", "first", "second", "board.yaml:7", "Dashboard/checkout in other"),
    ),
    "a file": (
        {
            name: text.replace("{sections: []}", "${file:layout.yaml}")
            for name, text in (
                ("board", BOARD.replace("checkout}", "checkout, environments: [local]}")),
                ("search", SEARCH.replace("Checkout", "Search")),
            )
        }
        | {"layout": "sections: []\n"},
        *(
            "layout",
            "[]",
            "[{id: {value: s}, rows: []}]",
            "layout.yaml:1",
            "Dashboard/search in other",
        ),
    ),
    "items": (
        {"board": EACH},
        *("board", "title: Search", "title: Seeker", "board.yaml:6", "Dashboard/search in other"),
    ),
}


@pytest.mark.parametrize("where", SHARED)
def test_what_other_environments_share_stays(tmp_path: Path, where: str) -> None:
    """A place that another environment uses stays, and is listed with exit 3 and its line."""
    manifests, name, before, after, place, user = SHARED[where]
    made = started(tmp_path, TWO, **manifests)
    change(made, name, before, after)
    now = texts(made)

    ran = written_back(made, "last", "--format", "json")

    assert ran.code == 3, ran.err
    (left,) = ran.json["unplaced"]
    assert [(left["place"], left["users"]) for left in left["places"]] == [(place, [user])]
    assert ran.json["files"] == []
    assert texts(made) == now


def test_what_another_manifest_shares_stays(tmp_path: Path) -> None:
    """An included file that another manifest uses stays, and no plan promises to edit it."""
    board = BOARD.replace("{sections: []}", "${file:layout.yaml}")
    other = board.replace("checkout}", "search}").replace("Checkout", "Search")
    made = started(tmp_path, PROJECT, board=board, search=other, layout="sections: []\n")
    change(made, "layout", "[]", "[{id: {value: s}, rows: []}]")
    now = texts(made)

    ran = written_back(made, "last", "Dashboard/checkout", "--format", "json")
    assert roll_back(made, "last", "Dashboard/checkout", "--yes").code == 0
    planned = made.plan()

    assert ran.code == 3, ran.err
    assert ran.json["unplaced"][0]["places"][0]["users"] == ["Dashboard/search"]
    assert texts(made) == now
    (guard,) = planned["guards"]
    assert guard["code"] == "undoes-rollback"
    assert not any("--write" in way for way in guard["waysOut"])


FRAMES = TWO.replace("{team: payments,", "{team: payments, frame: 7200s, target: 99.5,")
FRAMES = FRAMES.replace(
    "      limit: 300\n", "      limit: 300\n      frame: 3600s\n      target: 99.9\n", 1
)
FRAMED = BOARD.replace("    off: {}", "    relativeTimeFrame: ${var:frame}")
TARGET = SLO.replace("99.9", "${var:target}")


def shared_in_part(root: Path) -> Workspace:
    """Return a workspace whose last run changed a shared field and two variables of its own."""
    other = FRAMED.replace("name: checkout}", "name: other}").replace("Checkout", "Other")
    made = started(root, FRAMES, board=FRAMED, other=other, slo=TARGET)
    made.write("board.yaml", FRAMED.replace("first", "second"))
    made.write("reconciler.yaml", FRAMES.replace("frame: 3600s", "frame: 60s"))
    change(made, "reconciler", "target: 99.9\n", "target: 99.95\n")
    return made


def test_only_the_shared_field_stays(tmp_path: Path) -> None:
    """Of a resource only the field that another environment uses stays; its variable is edited.

    Others that use that variable are not listed, and what is advised is about that field alone.
    """
    made = shared_in_part(tmp_path)

    ran = written_back(made, "last", "--format", "json")

    assert ran.code == 3, ran.err
    (left,) = ran.json["unplaced"]
    assert left["ref"] == "Dashboard/checkout"
    assert [place["place"] for place in left["places"]] == ["board.yaml:7"]
    wanted = {"local": {"dashboard": {"description": "first"}}}
    assert yaml.safe_load(left["override"]) == {"overrides": wanted}
    assert texts(made)["reconciler.yaml"] == FRAMES


@pytest.mark.promise("S45")
def test_hints_agree_with_the_edit(tmp_path: Path) -> None:
    """A rollback says of each place whether `--write` edits it or it is to be edited by hand."""
    made = shared_in_part(tmp_path)

    (remark,) = roll_back(made, "last", "--dry-run", "--format", "json").json["remarks"]
    shown = written_back(made, "last", "--dry-run", "--format", "json").json

    assert remark["byHand"] == ["board.yaml:7"]
    edited = {place.split(":")[0] for place in remark["places"] if place not in remark["byHand"]}
    assert edited == {file["file"] for file in shown["files"]} == {"reconciler.yaml"}


def test_only_what_would_change_another_stays(tmp_path: Path) -> None:
    """Of an item only the field that all items share stays; its own value is edited."""
    made = started(tmp_path, board=EACH)
    made.write("board.yaml", EACH.replace("slower than", "faster than"))
    change(made, "board", "title: Search", "title: Seeker")

    ran = written_back(made, "last", "Dashboard/search", "--format", "json")

    assert ran.code == 3, ran.err
    (left,) = ran.json["unplaced"]
    assert [place["place"] for place in left["places"]] == ["board.yaml:10"]
    assert texts(made)["board.yaml"] == EACH.replace("slower than", "faster than")


def test_no_edit_is_promised(tmp_path: Path) -> None:
    """Where `--write` would edit nothing, a rollback does not name it."""
    made = started(tmp_path, TWO, board=BOARD)
    change(made, "board", "first", "second")

    said = roll_back(made, "last", "--dry-run").err

    assert "board.yaml:7" in said
    assert "--write" not in said


def test_the_line_of_a_shared_variable_is_named(tmp_path: Path) -> None:
    """For a variable that others use too, its own line is named, with all that use it."""
    text = BOARD.replace("first", "${var:team}")
    other = text.replace("name: checkout}", "name: search}").replace("Checkout", "Search")
    theirs = TWO.replace("{team: payments,", "{team: theirs,")
    made = started(tmp_path, theirs, board=text, other=other)
    change(made, "reconciler", "team: payments  # of all", "team: billing  # of all")

    ran = written_back(made, "last", "Dashboard/checkout", "--format", "json")

    assert ran.code == 3, ran.err
    (left,) = ran.json["unplaced"]
    line = texts(made)["reconciler.yaml"].splitlines().index("      team: billing  # of all") + 1
    (place,) = left["places"]
    assert place["place"] == f"reconciler.yaml:{line}"
    assert "Dashboard/search" in place["users"]
    assert ran.json["files"] == []


WIDGETS = BOARD.replace("off: {}", "relativeTimeFrame: 3600s").replace(
    "{sections: []}",
    """
      sections:
        - id: {value: 428dc809-3f69-41e4-b804-f412d95356bf}
          options: {custom: {name: Both}}
          rows:
            - id: {value: 1f1b3c52-6f8e-4e9c-9d0b-7b1f4d3f2a10}
              appearance: {height: 19}
              widgets:
                - id: {value: 76dae4b3-c781-4dd7-9b8d-f960ce72f1db}
                  title: Notes
                  definition: {markdown: {markdownText: stays}}
                - id: {value: 41f844c9-be5c-4118-985c-5c84aa6a2a8c}
                  title: Errors
                  definition: {markdown: {markdownText: before, tooltipText: stays}}""",
)
CHANGED = WIDGETS.replace("3600s", "7200s").replace("before", "after")
OVERRIDDEN = {
    "items with ids": (WIDGETS, CHANGED, True),
    "a field of an item": (
        WIDGETS,
        CHANGED.replace("title: Errors", "title: Errors\n                  description: new"),
        True,
    ),
    # Overrides remove no item.
    "an item too many": (
        WIDGETS,
        f"{CHANGED}                - {{id: {{value: 51f844c9-be5c-4118-985c-5c84aa6a2a8c}}}}\n",
        False,
    ),
    "nothing": (BOARD, BOARD.replace("first", "second"), True),
    "another environment": (
        f"{BOARD}overrides: {{other: {{dashboard: {{relativeTimeFrame: 60s}}}}}}\n",
        f"{BOARD}overrides: {{other: {{dashboard: {{relativeTimeFrame: 60s}}}}}}\n".replace(
            "first", "second"
        ),
        True,
    ),
    # The service gave ids to its sections, and the manifest has none.
    "items without ids": (
        BOARD.replace("[]", "[{options: {custom: {name: A}}, rows: []}]"),
        BOARD.replace("[]", "[{options: {custom: {name: B}}, rows: []}]"),
        False,
    ),
}


@pytest.mark.parametrize("known", OVERRIDDEN)
def test_an_override_is_advised(tmp_path: Path, known: str) -> None:
    """With each override that is advised for a shared place, the next plan is all keep.

    Where no override can do that, none is advised.
    """
    before, after, is_advised = OVERRIDDEN[known]
    made = started(tmp_path, TWO, board=before)
    change(made, "board", before, after)
    assert roll_back(made, "last", "--yes").code == 0

    (left,) = written_back(made, "last", "--format", "json").json["unplaced"]
    text = written_back(made).out

    assert bool(left["override"]) is is_advised
    assert left["override"] in text
    made.write("board.yaml", f"{after.partition('overrides:')[0]}{left['override']}")
    if is_advised:
        assert set(actions(made).values()) == {"keep"}


def test_an_override_has_only_what_differs(tmp_path: Path) -> None:
    """An advised override has of each item its id and the fields that differ, and nothing else."""
    made = started(tmp_path, TWO, board=WIDGETS)
    change(made, "board", WIDGETS, CHANGED)

    (left,) = written_back(made, "last", "--format", "json").json["unplaced"]

    widget = {
        "id": {"value": "41f844c9-be5c-4118-985c-5c84aa6a2a8c"},
        "definition": {"markdown": {"markdownText": "before"}},
    }
    row = {"id": {"value": "1f1b3c52-6f8e-4e9c-9d0b-7b1f4d3f2a10"}, "widgets": [widget]}
    section = {"id": {"value": "428dc809-3f69-41e4-b804-f412d95356bf"}, "rows": [row]}
    wanted = {"relativeTimeFrame": "3600s", "layout": {"sections": [section]}}
    assert yaml.safe_load(left["override"]) == {"overrides": {"local": {"dashboard": wanted}}}


@pytest.mark.parametrize("known", ["items without ids", "items with ids"])
def test_the_missing_identity_is_named(tmp_path: Path, known: str) -> None:
    """Where no override can be advised as items lack their identity, the text names its field."""
    before, after, is_advised = OVERRIDDEN[known]
    made = started(tmp_path, TWO, board=before)
    change(made, "board", before, after)

    said = written_back(made).out

    assert ("`id.value`" in said) is not is_advised


def test_a_replaced_expression_is_reported(tmp_path: Path) -> None:
    """A value in place of a variable that another resource uses is listed with that resource."""
    other = BOARD.replace("name: checkout}", "name: search}").replace("Checkout", "Search")
    boards = [text.replace("first", "${var:team}") for text in (BOARD, other)]
    made = started(tmp_path, board=boards[0], other=boards[1])
    change(made, "reconciler", "team: payments", "team: billing")

    ran = written_back(made, "last", "Dashboard/checkout", "--format", "json")

    (replaced,) = ran.json["replaced"]
    assert (replaced["now"], replaced["before"]) == ('"${var:team}"', '"payments"')
    assert replaced["users"] == ["Dashboard/search"]
    assert texts(made)["board.yaml"] == BOARD.replace("first", "payments")


def test_the_commit_to_revert_is_named(tmp_path: Path) -> None:
    """Where each environment shares the places, the commit that undoes it in all is named."""
    made = started(tmp_path, TWO, board=BOARD)
    made.write(".gitignore", ".reconciler\n")
    begin(made.root)
    made.write("board.yaml", BOARD.replace("first", "second"))
    commit = committed(made.root)
    assert made.apply().code == 0

    shared = written_back(made, "last", "--format", "json").json["revert"]
    git(made.root, "revert", "--no-edit", shared.rpartition(" ")[2])

    assert commit.startswith(shared.rpartition(" ")[2])
    assert texts(made)["board.yaml"] == BOARD


@pytest.mark.parametrize("only_shown", [True, False])
def test_no_revert_over_edits(tmp_path: Path, *, only_shown: bool) -> None:
    """A commit to revert is named only if no file was edited: git refuses it over edits."""
    other = BOARD.replace("name: checkout}", "name: own, environments: [local]}")
    made = started(tmp_path, TWO, board=BOARD, other=other)
    made.write(".gitignore", ".reconciler\n")
    begin(made.root)
    made.write("other.yaml", other.replace("first", "second"))
    made.write("board.yaml", BOARD.replace("first", "second"))
    committed(made.root)
    assert made.apply().code == 0

    dry = ["--dry-run"] if only_shown else []
    ran = written_back(made, "last", "--format", "json", *dry)

    assert [file["file"] for file in ran.json["files"]] == ["other.yaml"]
    assert bool(ran.json["revert"]) is only_shown


def test_one_answer_for_an_anchor(tmp_path: Path) -> None:
    """A resource has the same places by its name as in a whole run, also below an anchor.

    Each names the other environment.
    """
    theirs = TWO.replace("    variables:\n      team", "    variables: &all\n      team")
    theirs = theirs.replace("variables: {team: payments, limit: 300}", "variables: *all")
    text = BOARD.replace("first", "${var:team}").replace("{sections: []}", "${file:layout.yaml}")
    other = text.replace("name: checkout}", "name: search}").replace("Checkout", "Search")
    made = started(tmp_path, theirs, board=text, other=other, layout="sections: []\n")
    made.write("layout.yaml", "sections: [{id: {value: s}, rows: []}]\n")
    change(made, "reconciler", "team: payments  # of all", "team: billing  # of all")

    whole, named = (
        written_back(made, "last", *refs, "--format", "json").json["unplaced"][0]["places"]
        for refs in ((), ("Dashboard/checkout",))
    )

    assert [place["place"] for place in named] == [place["place"] for place in whole]
    assert all("Dashboard/checkout in other" in place["users"] for place in (*whole, *named))


def test_what_is_overridden_elsewhere_is_edited(tmp_path: Path) -> None:
    """A value in `spec` that the other environment overrides is edited."""
    override = "overrides: {other: {dashboard: {description: theirs}}}\n"
    made = started(tmp_path, TWO, board=BOARD + override)
    change(made, "board", "first", "second")

    ran = written_back(made)

    assert ran.code == 0, ran.out
    assert texts(made)["board.yaml"] == BOARD + override


def test_an_anchor_stays(tmp_path: Path) -> None:
    """A variable with an anchor that another repeats stays; the value is written where it is used.

    Without a place for it, it is listed with exit 3.
    """
    made = started(tmp_path, board=BOARD.replace("first", "${var:team}"))
    anchored = VARIABLES.replace("team: payments", "team: &team payments")
    made.settle(anchored + "      other: *team\n")
    change(made, "reconciler", "&team payments", "&team billing")
    now = texts(made)

    ran = written_back(made)

    assert ran.code == 0, ran.out
    assert texts(made)["reconciler.yaml"] == now["reconciler.yaml"]
    assert texts(made)["board.yaml"] == BOARD.replace("first", "payments")


BROKEN = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: broken}
spec:
  nothing: ${file:layout.yaml}
"""


@pytest.mark.parametrize("error", ["nothing: ${", "nothing: [${"])
def test_what_is_broken_is_listed(tmp_path: Path, error: str) -> None:
    """A broken manifest is listed, what it names stays, and the rest is written: exit 3."""
    board, name, before, after = PLACES["a file"]
    made = started(tmp_path, **board, other=BOARD.replace("checkout", "search"))
    made.write(f"{name}.yaml", board[name].replace(before, after))
    change(made, "other", "first", "second")
    now = texts(made)
    made.write("broken.yaml", BROKEN.replace("nothing: ${", error))

    ran = written_back(made, "last", "--format", "json")

    assert ran.code == 3, ran.err
    assert {error["file"] for error in ran.json["broken"]} == {"broken.yaml"}
    (left,) = ran.json["unplaced"]
    assert (left["ref"], "broken" in str(left)) == ("Dashboard/checkout", True)
    assert texts(made)["layout.yaml"] == now["layout.yaml"]
    assert texts(made)["other.yaml"] == BOARD.replace("checkout", "search")


def test_a_variable_of_a_broken_manifest_stays(tmp_path: Path) -> None:
    """A variable that a broken manifest names stays, and the value is written in its place."""
    made = started(tmp_path, board=BOARD.replace("first", "${var:team}"))
    change(made, "reconciler", "team: payments", "team: billing")
    now = texts(made)
    made.write("broken.yaml", BROKEN.replace("${file:layout.yaml}", "[${var:team}"))

    ran = written_back(made)

    assert ran.code == 3, ran.out
    assert texts(made)["reconciler.yaml"] == now["reconciler.yaml"]
    assert texts(made)["board.yaml"] == BOARD.replace("first", "payments")


@pytest.mark.promise("S45")
def test_only_shown(tmp_path: Path) -> None:
    """With --dry-run the edit is shown, and no file is written."""
    made = started(tmp_path, board=BOARD)
    change(made, "board", "first", "second")
    now = texts(made)

    ran = written_back(made, "last", "--dry-run")

    assert (ran.code, "would be edited" in ran.out) == (0, True)
    assert "-    description: second" in ran.out
    assert texts(made) == now


@pytest.mark.promise("S45")
def test_secrets_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What held another value of a secret is listed, and no value of a secret is printed."""
    monkeypatch.setenv("TOKEN", "canary-one")
    made = started(tmp_path, board=BOARD.replace("first", "first ${secret:TOKEN}"))
    change(made, "board", "first ", "second ")
    monkeypatch.setenv("TOKEN", "canary-two")

    lost = written_back(made)
    monkeypatch.setenv("TOKEN", "canary-one")
    ran = written_back(made)

    assert (lost.code, ran.code) == (3, 0), ran.out
    assert "TOKEN" in lost.out
    assert "canary" not in lost.out + ran.out
    assert "description: first ${secret:TOKEN}" in texts(made)["board.yaml"]


@pytest.mark.promise("S45")
def test_the_place_of_the_value_is_named(tmp_path: Path) -> None:
    """A rollback names file and line of the value, and its `git log` prints the commit of it."""
    made = started(tmp_path, **PLACES["items of a file"][0])
    (made.root / ".gitignore").write_text(".reconciler\n", encoding="utf-8")
    begin(made.root)
    changed = ITEMS.replace("Checkout ", "Cashier ").replace("300\n- slug", "301\n- slug")
    made.write("items.yaml", changed)
    culprit = committed(made.root, "the change")
    assert made.apply().code == 0

    plan = roll_back(made, "last", "--dry-run", "--format", "json").json
    said = roll_back(made, "last", "--yes").err

    (remark,) = plan["remarks"]
    assert (remark["places"], remark["files"]) == (["items.yaml:2", "items.yaml:3"], ["items.yaml"])
    assert "items.yaml:2, items.yaml:3" in said
    (log,) = {*re.findall(r"`git (?:-C \S+ )?(log [^`]*)`", said)}
    assert culprit in git(made.root, *log.split())
    (line,) = {*re.findall(r"`reconciler (rollback [^`]* --write)`", said)}
    ran = typed(*line.split())
    assert ran.code == 0, ran.err
    assert set(actions(made).values()) == {"keep"}


@pytest.mark.promise("S45")
def test_what_agrees_is_not_looked_for(tmp_path: Path) -> None:
    """Where the manifests say the same already, no file, line or `git log` is named."""
    made = started(tmp_path, board=BOARD)
    begin(made.root)
    change(made, "board", "first", "second")
    made.write("board.yaml", BOARD)

    said = roll_back(made, "last", "--dry-run").err

    assert "no manifest was found that still declares" in " ".join(said.split())
    assert "git log" not in said


def test_json_is_as_promised(tmp_path: Path) -> None:
    """The JSON has a diff of each edited file."""
    made = started(tmp_path, board=BOARD)
    change(made, "board", "first", "second")

    document = json.loads(written_back(made, "last", "--format", "json").out)

    assert [file["file"] for file in document["files"]] == ["board.yaml"]
    assert (document["formatVersion"], document["dryRun"], document["unplaced"]) == (1, False, [])
