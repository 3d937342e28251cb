"""`fmt`: what it writes, what it only shows, what it leaves alone, and how it ends."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.workspaces import Workspace

from reconciler.errors import ExitCode, InvalidInput
from reconciler.features.fmt import command

UNTIDY = """\
kind:   SLO   # which
apiVersion: reconciler/v1
metadata: {name: checkout,labels: {team:   shop}}
spec:
    name: Checkout


    targetThresholdPercentage: 99.90
    requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: "all"}}
"""
TIDY = """\
apiVersion: reconciler/v1
kind: SLO   # which
metadata: {name: checkout, labels: {team: shop}}
spec:
  name: Checkout

  targetThresholdPercentage: 99.90
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: "all"}}
"""
BROKEN = "a: [1\n"
EXPORTED = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: board}
spec: {file: board.export}
"""


def text_of(workspace: Workspace, name: str) -> str:
    return (workspace.root / name).read_bytes().decode("utf-8")


def test_written(workspace: Workspace) -> None:
    """A file is written in its layout, with its mode and mark, and named; then it rests."""
    file = workspace.write("slo.yaml", "\ufeff" + UNTIDY)
    file.chmod(0o640)

    ran, again = workspace.run("fmt"), workspace.run("fmt")

    assert (ran.code, ran.out) == (0, "slo.yaml\n")
    assert "formatted 1 file" in ran.err
    assert text_of(workspace, "slo.yaml") == "\ufeff" + TIDY
    assert file.stat().st_mode & 0o777 == 0o640
    assert (again.code, again.out) == (0, "")


def test_checked(workspace: Workspace) -> None:
    """`--check` names what would change, ends with 2, and writes nothing; of good files with 0."""
    workspace.write("slo.yaml", UNTIDY)

    ran = workspace.run("fmt", "--check")
    kept = text_of(workspace, "slo.yaml")
    workspace.write("slo.yaml", TIDY)

    assert (ran.code, ran.out) == (ExitCode.DIFFERENT, "slo.yaml\n")
    assert "would format 1 file" in ran.err
    assert kept == UNTIDY
    assert workspace.run("fmt", "--check").code == 0


def test_shown(workspace: Workspace) -> None:
    """`--diff` prints the change and ends with 0, with `--check` with 2, and writes nothing."""
    workspace.write("slo.yaml", UNTIDY)

    ran, checked = workspace.run("fmt", "--diff"), workspace.run("fmt", "--diff", "--check")

    assert (ran.code, checked.code) == (0, ExitCode.DIFFERENT)
    assert ran.out == checked.out
    assert ran.out.startswith("--- a/slo.yaml\n+++ b/slo.yaml\n@@ ")
    assert "+  name: Checkout\n" in ran.out
    assert text_of(workspace, "slo.yaml") == UNTIDY


def test_broken_beside_good(workspace: Workspace) -> None:
    """A file that cannot be read is complained of and left alone; the others are written."""
    workspace.write("slo.yaml", UNTIDY)
    workspace.write("broken.yaml", BROKEN)
    workspace.write("odd.yaml", "\ufeff\ufeff" + UNTIDY)

    ran = workspace.run("fmt")

    assert ran.code == InvalidInput.exit_code
    assert "error[M101]" in ran.err
    assert "broken.yaml:1:4" in ran.err
    assert "error[M118]" in ran.err
    assert text_of(workspace, "slo.yaml") == TIDY
    assert text_of(workspace, "broken.yaml") == BROKEN
    assert text_of(workspace, "odd.yaml") == "\ufeff\ufeff" + UNTIDY


def test_exports_and_the_project_file(workspace: Workspace) -> None:
    """Without paths the project file is laid out too, and each export that a manifest names."""
    project = text_of(workspace, "reconciler.yaml")
    workspace.write("reconciler.yaml", project + "\n\n\n")
    workspace.write("board.yaml", EXPORTED)
    workspace.write("board.export", '{"name":"Board",\n"layout":{}}')

    ran = workspace.run("fmt")

    assert ran.out.split() == ["reconciler.yaml", "board.export"]
    assert text_of(workspace, "board.export") == '{\n  "name": "Board",\n  "layout": {}\n}\n'
    assert text_of(workspace, "reconciler.yaml") == project


def test_ignored_unless_named(workspace: Workspace) -> None:
    """What git ignores stays as it is, unless it is named."""
    workspace.write(".gitignore", "slo.yaml\n")
    workspace.write("slo.yaml", UNTIDY)

    assert workspace.run("fmt", "--check").code == 0
    assert (
        workspace.run("fmt", "--check", str(workspace.root / "slo.yaml")).code == ExitCode.DIFFERENT
    )


@pytest.mark.parametrize(
    ("content", "out", "code"),
    [
        (b"a:\n- 1\n", "a:\n  - 1\n", 0),
        (b'{"a":1}', '{"a": 1}\n', 0),
        (BROKEN.encode(), "", 4),
        (b"\xff", "", 4),
    ],
)
def test_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes, out: str, code: int) -> None:
    """`-` lays out what comes in and prints it, or says what is wrong with it."""

    class Fed(io.StringIO):
        buffer = io.BytesIO(content)

    monkeypatch.setattr(sys, "stdin", Fed())
    ran = typed("fmt", "-")

    assert (ran.code, ran.out) == (code, out)
    assert bool(ran.err) == (code != 0)


def test_modelines(workspace: Workspace) -> None:
    """`--modeline` names the schema that is there, once, first, seen from the file."""
    workspace.write("a/slo.yaml", TIDY)
    refused = workspace.run("fmt", "--modeline")
    for name in ("manifest", "project"):
        workspace.write(f".vscode/reconciler-{name}.schema.json", "{}")

    ran, again = workspace.run("fmt", "--modeline"), workspace.run("fmt", "--modeline")

    assert (refused.code, "reconciler init" in refused.err) == (64, True)
    assert (ran.code, again.out) == (0, "")
    line = "# yaml-language-server: $schema="
    expected = f"{line}../.vscode/reconciler-manifest.schema.json\n"
    assert text_of(workspace, "a/slo.yaml") == expected + TIDY
    expected = f"{line}.vscode/reconciler-project.schema.json\n"
    assert text_of(workspace, "reconciler.yaml").startswith(expected)


def test_changed_meanwhile(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that somebody saves between reading and writing stays as they saved it."""
    find = command.find_untidy
    workspace.write("slo.yaml", UNTIDY)

    def then_saved(*asked: Any, **more: Any) -> Any:
        found = find(*asked, **more)
        workspace.write("slo.yaml", UNTIDY + "# more\n")
        return found

    monkeypatch.setattr("reconciler.features.fmt.command.find_untidy", then_saved)
    ran = workspace.run("fmt")

    assert ran.code == InvalidInput.exit_code
    assert text_of(workspace, "slo.yaml") == UNTIDY + "# more\n"


def test_a_selection(workspace: Workspace, golden: Golden) -> None:
    """Only files that hold what is selected are laid out, exports too; the others are counted."""
    project = text_of(workspace, "reconciler.yaml") + "\n\n\n"
    workspace.write("reconciler.yaml", project)
    workspace.write("slo.yaml", UNTIDY)
    workspace.write("both.yaml", UNTIDY.replace("checkout", "second") + "---\n" + EXPORTED)
    workspace.write("board.export", '{"name":"Board",\n"layout":{}}')
    wrong = UNTIDY.replace("checkout", "third") + "    zebra: 1\n    name2: [\n"
    workspace.write("far/broken.yaml", wrong)

    board = workspace.run("fmt", "--check", "--select", "kind=Dashboard", "--exclude", "file=far/*")
    labelled = workspace.run("fmt", "--check", "--select", "label.team=shop", "--exclude", "*/s*")
    by_file = workspace.run("fmt", "--select", "file=slo.yaml")

    assert board.out.split() == ["both.yaml", "board.export"]
    golden(board.err)
    assert (labelled.code, labelled.out) == (InvalidInput.exit_code, "slo.yaml\n")
    assert "far/broken.yaml" in labelled.err
    assert (by_file.code, by_file.out) == (0, "slo.yaml\n")
    assert text_of(workspace, "slo.yaml") == TIDY
    assert text_of(workspace, "reconciler.yaml") == project


def test_a_selection_of_what_is_wrong(workspace: Workspace) -> None:
    """A manifest that is wrong and can be read is told by its kind, name and labels."""
    workspace.write("slo.yaml", UNTIDY + "    zebra: {}\n    description: 5\n")

    taken = workspace.run("fmt", "--check", "--select", "SLO/checkout")
    left = workspace.run("fmt", "--check", "--exclude", "label.team=shop", "--exclude", "file=r*")
    missing = workspace.run("fmt", "--select", "SLO/chekout")

    assert (taken.code, taken.out) == (ExitCode.DIFFERENT, "slo.yaml\n")
    assert (left.code, left.out) == (0, "")
    assert missing.code == 64
    assert "SLO/checkout" in missing.err
    assert typed("fmt", "-", "--select", "kind=SLO").code == 64


def test_files_that_declare_nothing(workspace: Workspace) -> None:
    """A file that is put in, or the project file, is selected by its place alone."""
    workspace.write("slo.yaml", TIDY)
    workspace.write("parts/items.yaml", "-   {a: 1}\n")

    by_kind = workspace.run("fmt", "--check", "--select", "kind=SLO")
    by_place = workspace.run("fmt", "--check", "--select", "file=parts/*")
    but = workspace.run("fmt", "--check", "--exclude", "file=parts/*")

    assert (by_kind.code, by_kind.out) == (0, "")
    assert by_place.out == "parts/items.yaml\n"
    assert (but.code, but.out) == (0, "")
