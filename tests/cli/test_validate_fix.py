"""`validate --fix`: what it writes, what it only shows, and how it ends."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.workspaces import VIEW, Workspace

from reconciler.errors import InvalidInput
from reconciler.operations import repair_manifests
from reconciler.workspace import fixes

pytestmark = pytest.mark.promise("P39")

PASTED = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  slo:
    # by hand
    name: Checkout
    creator: somebody   # who
    create_time: 2025-01-31
    target_threshold_percentage: "99.9"
    requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: "all"}}
"""
REPAIRED = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  # by hand
  name: Checkout
  # who
  targetThresholdPercentage: 99.9
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: "all"}}
"""
DIFF_HEAD = "--- a/slo.yaml\n+++ b/slo.yaml\n@@ -2,10 +2,8 @@\n"


def test_repaired(workspace: Workspace, golden: Golden) -> None:
    """A repaired file has its mode and byte-order mark, says how much it was, and plans."""
    file = workspace.write("slo.yaml", "\ufeff" + PASTED)
    file.chmod(0o640)

    ran = workspace.run("validate", "--fix")

    assert (ran.code, ran.out) == (0, "")
    golden(ran.err)
    assert file.read_text(encoding="utf-8") == "\ufeff" + REPAIRED
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in workspace.root.iterdir()) == ["reconciler.yaml", "slo.yaml"]
    assert [change["action"] for change in workspace.plan()["changes"]] == ["create"]


def test_changed_meanwhile(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A file that somebody saves between reading and repairing stays as they saved it."""
    workspace.write("slo.yaml", PASTED)

    def then_saved(*asked: Any) -> fixes.Fixes:
        found = find_fixes(*asked)
        workspace.write("slo.yaml", PASTED + "# more\n")
        return found

    find_fixes = fixes.find_fixes
    monkeypatch.setattr(repair_manifests, "find_fixes", then_saved)
    ran = workspace.run("validate", "--fix")

    assert ran.code == InvalidInput.exit_code
    golden(ran.err)
    assert (workspace.root / "slo.yaml").read_text(encoding="utf-8") == PASTED + "# more\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_missing_version(workspace: Workspace, ending: str) -> None:
    """A missing `apiVersion` is written above the first key, and the rest is repaired too."""
    file = workspace.write("slo.yaml", "")
    _, _, without = PASTED.partition("\n")
    file.write_bytes(f"# ours\n{without}".replace("\n", ending).encode())

    ran = workspace.run("validate", "--fix")

    assert ran.code == 0
    assert file.read_bytes() == f"# ours\n{REPAIRED}".replace("\n", ending).encode()


def test_a_missing_version_in_braces(workspace: Workspace) -> None:
    """In braces a missing `apiVersion` becomes the first member; an empty one is left."""
    rest = "kind: SLO, metadata: {name: a}, spec: {}}"
    file = workspace.write("a.yaml", "{" + rest)
    empty = workspace.write("b.yaml", "{apiVersion: , " + rest)

    workspace.run("validate", "--fix")

    assert file.read_text("utf-8") == "{apiVersion: reconciler/v1, " + rest
    assert empty.read_text("utf-8") == "{apiVersion: , " + rest


def test_shown(workspace: Workspace, golden: Golden) -> None:
    """`--diff` writes nothing, prints the change, and ends as the repair would."""
    file = workspace.write("slo.yaml", PASTED)

    ran = workspace.run("validate", "--fix", "--diff")

    assert ran.code == 0
    assert ran.out.startswith(DIFF_HEAD)
    assert "\n-    name: Checkout\n" in ran.out
    assert "\n+  name: Checkout\n" in ran.out
    golden(ran.err)
    assert file.read_text(encoding="utf-8") == PASTED


@pytest.mark.parametrize("more", [(), ("--diff",)])
def test_what_is_left(workspace: Workspace, more: tuple[str, ...]) -> None:
    """Exit 4 says that something is left, which is told as ever."""
    workspace.write("slo.yaml", PASTED.replace('"99.9"', "nearly all"))

    ran = workspace.run("validate", "--fix", *more)

    assert ran.code == 4
    assert ran.out.count("[M301]") + ran.err.count("[M301]") == 1
    assert "[M305]" not in ran.out + ran.err


@pytest.mark.parametrize("more", [(), ("--diff",)])
def test_as_json(workspace: Workspace, more: tuple[str, ...]) -> None:
    """In JSON the repairs stand beside what is left; without `--fix` there are none."""
    workspace.write("slo.yaml", PASTED)

    ran = workspace.run("validate", "--fix", "--format", "json", *more)

    assert (ran.code, ran.json["valid"], ran.json["complaints"]) == (0, True, [])
    [fix] = ran.json["fixes"]
    assert (fix["file"], fix["repairs"]) == ("slo.yaml", 5)
    assert fix["diff"].startswith(DIFF_HEAD)
    assert "fixes" not in workspace.run("validate", "--format", "json").json


def test_nothing_to_do(workspace: Workspace) -> None:
    """A file with nothing to repair is not written, not even as it was."""
    file = workspace.write("slo.yaml", REPAIRED)
    before = file.stat()

    ran = workspace.run("validate", "--fix")

    assert ran.code == 0
    assert "nothing to repair\n" in ran.err
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("more", [(), ("--diff",)])
@pytest.mark.parametrize("fixable", [False, True])
def test_a_file_that_is_left(
    workspace: Workspace, more: tuple[str, ...], golden: Golden, *, fixable: bool
) -> None:
    """A file that a mistake in its text keeps from a repair is named, with that line."""
    doubled = VIEW.replace("name: Errors", "name: Errors\n  name: Twice")
    text = f"{PASTED}---\n{doubled}"
    file = workspace.write("both.yaml", text)
    workspace.write("view.yaml", doubled.replace("errors", "others"))
    if fixable:
        workspace.write("slo.yaml", PASTED)

    ran = workspace.run("validate", "--fix", *more)

    assert ran.code == 4
    assert "nothing to repair" not in ran.err
    golden("".join(line for line in ran.err.splitlines(keepends=True) if "repair" in line))
    assert file.read_text("utf-8") == text


@pytest.mark.parametrize("flags", [("--diff",), ("--fix", "--diff", "--format", "sarif")])
def test_flags_that_do_not_fit(workspace: Workspace, flags: tuple[str, ...]) -> None:
    """`--diff` needs `--fix`, and a format that can hold it."""
    workspace.write("slo.yaml", PASTED)

    assert workspace.run("validate", *flags).code == 64


def test_an_export(workspace: Workspace) -> None:
    """Of an export only its numbers in quotes are mistakes, and they alone are repaired."""
    widget = {"definition": {"markdown": {}}, "appearance": {"width": "7"}, "created_at": "x"}
    record: dict[str, Any] = {"authorId": "me", "dashboard": {"name": "Shop"}}
    record["dashboard"]["layout"] = {"sections": [{"rows": [{"widgets": [widget]}]}]}
    export = workspace.write("one/shop.json", json.dumps(record, indent=1))
    text = export.read_text("utf-8")
    workspace.write(
        "shop.yaml",
        "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {name: shop}\n"
        "spec: {file: one/shop.json}\n",
    )

    assert workspace.run("validate").code == 4
    ran = workspace.run("validate", "--fix")

    assert ran.code == 0
    assert export.read_text("utf-8") == text.replace('"7"', "7")


def test_a_link_inside(workspace: Workspace) -> None:
    """A link stays a link, and what it leads to is repaired once."""
    workspace.write("real/slo.yaml", PASTED)
    link = workspace.root / "slo.yaml"
    link.symlink_to("real/slo.yaml")

    workspace.run("validate", "--fix")

    assert link.is_symlink()
    assert link.read_text("utf-8") == REPAIRED


def test_a_link_outside(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What a link of the project leads out to is neither read nor written."""
    outside = tmp_path_factory.mktemp("outside") / "slo.yaml"
    outside.write_text(PASTED, encoding="utf-8")
    (workspace.root / "slo.yaml").symlink_to(outside)

    ran = workspace.run("validate", "--fix")

    assert ran.code == 4
    assert "[M112]" in ran.out
    assert outside.read_text("utf-8") == PASTED


def test_a_write_that_fails(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A write that fails leaves the file as it was and nothing beside it."""
    file = workspace.write("slo.yaml", PASTED)

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    ran = workspace.run("validate", "--fix")

    assert ran.code == 4
    golden(ran.err)
    assert file.read_text("utf-8") == PASTED
    assert sorted(path.name for path in workspace.root.iterdir()) == ["reconciler.yaml", "slo.yaml"]


def test_foreign_text_in_a_diff(workspace: Workspace) -> None:
    """A diff shows a character that commands a terminal by its number."""
    workspace.write("slo.yaml", PASTED.replace("# who", "# who \u2028 ##[error]x"))

    ran = workspace.run("validate", "--fix", "--diff")

    assert "\u2028" not in ran.out
    assert "##[" not in ran.out


def test_a_bare_export(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A record that is no manifest is told by its kind, with what makes one that validates."""
    monkeypatch.chdir(workspace.root.parent)
    workspace.write("shop.json", json.dumps({"name": "Shop", "layout": {"sections": []}}))
    workspace.write("view.yaml", "name: x\ntimeSelection: {quickSelection: {seconds: 9}}\n")

    ran = workspace.run("validate", "--format", "json")

    told = {complaint["file"]: complaint for complaint in ran.json["complaints"]}
    golden(told["shop.json"]["message"])
    assert told["view.yaml"]["code"] == "M201"
    golden(told["view.yaml"]["message"])
    _, _, manifest = told["shop.json"]["suggestion"].partition("write a manifest next to it: ")
    workspace.write("shop.yaml", manifest)
    remedy = told["view.yaml"]["suggestion"]
    assert remedy.endswith("`, then remove it here")
    advised = shlex.split(remedy.split("`")[1].removeprefix("reconciler "))
    assert typed(*advised).code == 0
    (workspace.root / "view.yaml").unlink()
    assert workspace.run("validate").code == 0
    assert (workspace.root / "SavedView" / "x.yaml").exists()
    assert workspace.run("validate", "--format", "json").json["complaints"] == []
