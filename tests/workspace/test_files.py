from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness.golden import Golden
from harness.workspaces import PROJECT as EMULATED
from harness.workspaces import Workspace, project_at
from wrong import FILE, PROJECT, board, board_of, slo

from reconciler.syntax import files, read_text
from reconciler.syntax.files import find_files
from reconciler.workspace import silence


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    return project_at(tmp_path / "project", PROJECT)


def named(name: str) -> str:
    return slo().replace("name: checkout", f"name: {name}")


def codes(workspace: Workspace, *arguments: str) -> list[tuple[str, str]]:
    """Give code and file of every complaint about a whole project."""
    ran = workspace.run("validate", "--format", "json", *arguments)
    return [(complaint["code"], complaint["file"]) for complaint in ran.json["complaints"]]


def test_order_of_discovery(project: Workspace) -> None:
    """Files are found by name, those of a folder before those of the folders in it."""
    for name in ("b.yaml", "a/z.yml", "a/b/c.json", "a/a.yaml", "B.yaml", "x.md", "c.yaml.bak"):
        project.write(name, "")

    found = find_files([project.root], project.root)

    names = [file.name for file in found.files]
    assert names == ["B.yaml", "b.yaml", "a/a.yaml", "a/z.yml", "a/b/c.json"]


def test_hidden_files_and_folders(project: Workspace) -> None:
    """What begins with a dot is left out, also the journal's folder."""
    project.write(".github/workflows/ci.yaml", "on: push\n")
    project.write(".reconciler/x.yaml", "- x\n")
    project.write(".hidden.yaml", "- x\n")
    project.write(FILE, slo())

    assert codes(project) == []


def test_a_hidden_file_that_is_named(project: Workspace) -> None:
    """A file that is given as PATH is read, whatever its name."""
    project.write(".hidden.yaml", "- x\n")

    ran = Workspace(project.root / ".hidden.yaml").run("validate")

    assert ran.code == 4
    assert "--> .hidden.yaml:1:1" in ran.out


def test_project_files_are_no_manifests(project: Workspace) -> None:
    """A reconciler.yaml is no manifest, neither found nor named as PATH."""
    project.write("inner/reconciler.yaml", PROJECT)
    project.write(FILE, slo())

    assert codes(project, str(project.root / "reconciler.yaml")) == []


def test_a_file_by_several_names(project: Workspace, golden: Golden) -> None:
    """A file that several paths lead to is read once."""
    file = project.write("a/" + FILE, slo())

    ran = project.run("validate", str(file), str(file.parent), f"{file.parent}/../a/{FILE}")

    assert ran.code == 0
    golden(ran.err)


def test_names_that_begin_with_a_dash(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that begins with a dash is a name after `--`."""
    project.write("-q.yaml", "- x\n")
    monkeypatch.chdir(project.root)

    ran = Workspace(Path("--")).run("validate", "-q.yaml")

    assert "--> -q.yaml:1:1" in ran.out


def test_exports_are_no_strays(project: Workspace) -> None:
    """A JSON file that a manifest names by spec.file is no stray, from wherever it is named."""
    project.write("exports/shop.json", '{"name": "Shop"}')
    project.write("boards/shop.yaml", board_of("../exports/shop.json"))
    project.write("exports/other.json", '{"name": "Other"}')

    assert codes(project) == [("M113", "exports/other.json")]


@pytest.mark.parametrize("name", ["plan.json", "reviewed.yaml", "old/of-monday.json"])
def test_plans_are_no_strays(project: Workspace, name: str) -> None:
    """What `plan --out` wrote is no stray manifest, whatever it is called; other JSON is."""
    project.write("reconciler.yaml", EMULATED)
    project.write(FILE, slo())
    project.write(name, "")
    assert project.run("plan", "--out", str(project.root / name)).code == 0
    assert codes(project) == []
    ran = project.run("plan", "--out", str(project.root / name))
    assert "M113" not in ran.err

    project.write("like-a-plan.json", '{"formatVersion": 1}')

    assert codes(project) == [("M113", "like-a-plan.json")]


def test_an_export_is_named_in_its_complaints(project: Workspace, golden: Golden) -> None:
    """A complaint about an export names its file and the place in it, in either form."""
    project.write("shop.yaml", board_of("shop.json"))
    project.write("shop.json", '{"dashboard": {"name": "Shop",\n "descripton": "x"}}')

    ran = project.run("validate")

    golden(ran.out)


def test_files_outside_the_project(project: Workspace, tmp_path: Path) -> None:
    """A file outside the project is read when it is given as PATH, and named in full."""
    outside = tmp_path / "elsewhere" / FILE
    outside.parent.mkdir()
    outside.write_text(named("Bad Name"), encoding="utf-8")

    found = codes(project, str(outside))

    assert found == [("M205", str(outside))]


def test_an_export_outside_the_project(project: Workspace, tmp_path: Path) -> None:
    """A manifest cannot lead out of the project, whatever is given as PATH beside it."""
    (tmp_path / "shop.json").write_text('{"name": "Shop"}', encoding="utf-8")
    project.write("shop.yaml", board_of("../shop.json"))

    assert codes(project) == [("M404", "shop.yaml")]


def test_linked_folders(project: Workspace, tmp_path: Path) -> None:
    """A linked folder is not entered, but where the link itself is given as PATH."""
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "bad.yaml").write_text("- x\n", encoding="utf-8")
    (project.root / "inner").mkdir()
    (project.root / "inner" / "good.yaml").write_text(slo(), encoding="utf-8")
    (project.root / "link").symlink_to(outside)
    (project.root / "again").symlink_to(project.root / "inner")

    assert codes(project) == []
    assert codes(project, str(project.root / "link")) == [("M112", "link/bad.yaml")]


def test_a_project_setting_cannot_link_out(
    project: Workspace, tmp_path: Path, golden: Golden
) -> None:
    """A folder of `manifests:` that is a link out of the project is not read."""
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "bad.yaml").write_text("password: hunter2\n", encoding="utf-8")
    (project.root / "link").symlink_to(outside)
    project.write("reconciler.yaml", "manifests: [link]\n")

    ran = Workspace(Path("--project")).run("validate", str(project.root / "reconciler.yaml"))

    assert ran.code == 4
    golden(ran.out)
    assert "hunter2" not in ran.out + ran.err


def test_a_project_seen_through_a_link(project: Workspace, tmp_path: Path) -> None:
    """Files are named from the project's root, also where the root is reached by a link."""
    project.write("a/" + FILE, "- x\n")
    (tmp_path / "link").symlink_to(project.root)

    ran = Workspace(tmp_path / "link" / "a").run("validate")

    assert f"--> a/{FILE}:1:1" in ran.out


@pytest.mark.parametrize("name", ["pipe.yaml", "pipe.json"])
def test_a_pipe(project: Workspace, name: str) -> None:
    """A named pipe is refused and never waited for."""
    os.mkfifo(project.root / name)

    assert codes(project) == [("M112", name)]


def test_an_export_that_is_a_pipe(project: Workspace) -> None:
    """A pipe for an export is refused at the line that names it."""
    project.write("shop.yaml", board_of("pipe.fifo"))
    os.mkfifo(project.root / "pipe.fifo")

    assert codes(project) == [("M404", "shop.yaml")]


def test_a_sparse_file(project: Workspace) -> None:
    """A file of a size that no disk has is refused before it is read."""
    with (project.root / "huge.yaml").open("wb") as stream:
        stream.truncate(1 << 40)

    assert codes(project) == [("M110", "huge.yaml")]


def test_a_file_that_grows(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read is held to the limit, whatever size the file said it had."""
    project.write(FILE, slo("description: " + "x" * 1_000))
    monkeypatch.setattr(files, "LARGEST_FILE", 1_000)
    file = SimpleNamespace(st_mode=stat.S_IFREG, st_size=0, st_uid=os.geteuid())
    monkeypatch.setattr(os, "fstat", lambda _: file)

    assert codes(project) == [("M110", FILE)]


def test_too_many_files(project: Workspace) -> None:
    """Beyond the limit of the project file no file is read, and the first of them is named."""
    project.write("reconciler.yaml", f"{PROJECT}\nlimits: {{files: 2}}\n")
    for name in "abcd":
        project.write(f"{name}.yaml", named(name))

    ran = project.run("validate", "--format", "json")

    assert ran.json["files"] == 2
    assert [(complaint["code"], complaint["file"]) for complaint in ran.json["complaints"]] == [
        ("M115", "c.yaml")
    ]


def test_too_large_a_workspace(project: Workspace) -> None:
    """Beyond the limit of the project file no file is read, and that is said once."""
    project.write("reconciler.yaml", f"{PROJECT}\nlimits: {{megabytes: 1}}\n")
    filling = "# zebra\n" * (70 << 10)
    for name in "abcdef":
        project.write(f"{name}.yaml", named(name) + filling)

    assert codes(project) == [("M115", "c.yaml")]


def test_exports_count_each_time(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export that many manifests name counts each time, whatever limit the project file says."""
    monkeypatch.setattr(read_text, "LARGEST_AGAIN", 2_100)
    project.write("reconciler.yaml", f"{PROJECT}\nlimits: {{megabytes: 4096}}\n")
    project.write("exports/big.json", '{"name": "' + "x" * 1_000 + '"}')
    for name in "abcde":
        project.write(f"{name}.yaml", board_of("exports/big.json").replace("shop", name))

    found = codes(project)

    assert [pair for pair in found if pair[0] != "L405"] == [("M115", "e.yaml")]


def test_too_much_to_complain_of(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with too many mistakes is told to be so, is an error, and hides no other file."""
    monkeypatch.setattr(silence, "MOST_COMPLAINTS", 5)
    project.write("a.yaml", slo(*(f"zebra{number}: 1" for number in range(50))))
    project.write("b.yaml", named("Bad Name"))

    found = codes(project)

    assert found.count(("M304", "a.yaml")) == 5
    assert ("M115", "a.yaml") in found
    assert ("M205", "b.yaml") in found


def test_folders_nested_deep(project: Workspace) -> None:
    """A tree of folders deeper than any person makes is an error, not a crash."""
    inner = project.root
    for _ in range(200):
        inner = inner / "d"
    inner.mkdir(parents=True)
    (inner / "bad.yaml").write_text("- x\n", encoding="utf-8")

    found = codes(project)

    assert [code for code, _ in found] == ["M115"]


def test_a_folder_that_cannot_be_read(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be read is an error: its manifests would be missed in silence."""
    project.write("secret/a.yaml", slo())
    scan = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)

    assert codes(project) == [("M112", "secret")]


def test_a_file_that_cannot_be_opened(
    project: Workspace, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A file that may not be opened is told with the system's reason."""
    project.write(FILE, slo())
    really_open = os.open

    def refusing(path: str, flags: int, *rest: int) -> int:
        if str(path).endswith(FILE):
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", refusing)

    ran = project.run("validate")

    golden(ran.out)


@pytest.mark.parametrize("path", ["lost.yaml", "n" * 5000, "a/" * 1000])
def test_a_path_that_is_not_there(project: Workspace, path: str, golden: Golden) -> None:
    """A PATH of any length that leads to nothing is an error of the input."""
    ran = Workspace(project.root / path).run("validate")

    assert ran.code == 4
    golden(ran.out)


def test_a_link_to_itself_as_path(project: Workspace, golden: Golden) -> None:
    """A PATH that is a link to itself is an error of the input."""
    (project.root / "loop").symlink_to("loop")

    ran = Workspace(project.root / "loop").run("validate")

    assert ran.code == 4
    golden(ran.out)


def test_a_name_that_is_not_utf_8(project: Workspace) -> None:
    """A file whose name is no text is read, and shown by its bytes."""
    project.write(os.fsdecode(b"caf\xe9.yaml"), "- x\n")

    text, document = project.run("validate"), project.run("validate", "--format", "json")

    assert "caf\\xe9.yaml:1:1" in text.out
    assert document.json["complaints"][0]["file"] == r"caf\xe9.yaml"


def test_a_broken_manifest_in_json_is_no_stray(project: Workspace) -> None:
    """A JSON manifest that cannot be parsed is an error, never passed over as a stray."""
    project.write("a.json", '{"apiVersion": "reconciler/v1",, "kind": "SLO"}')

    assert [code for code, _ in codes(project)] == ["M101"]


@pytest.mark.parametrize("paths", [(), ("a.json",)])
def test_a_manifest_in_json_without_a_version(project: Workspace, paths: Sequence[str]) -> None:
    """A JSON manifest without `apiVersion` is repaired, whether its path is given or not."""
    board = '{"name": "Shop"}'
    project.write("board.json", board)
    file = project.write(
        "a.json",
        '{\n  "kind": "Dashboard",\n  "metadata": {"name": "a"},\n'
        '  "spec": {"file": "board.json"}\n}\n',
    )

    found = project.run("validate", *paths, "--format", "json").json["complaints"]
    project.run("validate", *paths, "--fix")

    assert "M202" in {complaint["code"] for complaint in found}
    repaired = json.loads(file.read_text(encoding="utf-8"))
    assert next(iter(repaired.items())) == ("apiVersion", "reconciler/v1")


def test_what_a_broken_manifest_names(project: Workspace) -> None:
    """Of files that a manifest names which cannot be parsed nobody says that they are none."""
    project.write("alerts.yaml", "x: [\nforEach: ${file:services.yaml}\nspec: {file: board.json}\n")
    project.write("services.yaml", "- {service: checkout}\n")
    project.write("board.json", '{"name": "Shop"}')
    project.write("others.yaml", "- {service: payments}\n")

    assert sorted(codes(project)) == [("M101", "alerts.yaml"), ("M201", "others.yaml")]


def test_several_manifests_in_a_file(project: Workspace, golden: Golden) -> None:
    """Each document of a file is a manifest, and empty ones between them are nothing."""
    project.write(FILE, f"---\n{slo()}---\n---\n{board()}...\n---\n")

    ran = project.run("validate")

    golden(ran.err)
