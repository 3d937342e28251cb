"""Which files of a workspace are none of ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.repositories import git
from harness.workspaces import Workspace, project_at
from hypothesis import given
from hypothesis import strategies as st
from wrong import FILE, PROJECT, board_of, slo

from reconciler.syntax import files
from reconciler.syntax.files import find_files, matches

CHART = "kind: {{ .Values.kind }}\n{{- range .Values.all }}\n"

pytestmark = pytest.mark.promise("P41")


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    return project_at(tmp_path / "project", PROJECT, checkout=slo())


def found(project: Workspace, *paths: Path, exclude: tuple[str, ...] = ()) -> list[str]:
    """Give the names of the files that a run would read, but for the good one."""
    read = find_files(paths or [project.root], project.root, exclude)
    assert read.complaints == []
    return [file.name for file in read.files if file.name != FILE]


@pytest.mark.parametrize(
    "place",
    [
        "node_modules/a/package.json",
        "web/node_modules/a/b.yaml",
        "venv/lib/x.yaml",
        ".venv/lib/x.yaml",
        ".terraform/modules/x.json",
        "our-python/lib/x.yaml",
    ],
)
def test_what_tools_install_is_not_read(project: Workspace, place: str) -> None:
    """Folders of packages and of Python, and hidden ones, are passed over in silence."""
    project.write(place, CHART)
    project.write("our-python/pyvenv.cfg", "home = /usr\n")

    ran = project.run("validate")

    assert (ran.code, ran.err) == (0, "1 resource in 1 file: 0 errors, 0 warnings\n")


@pytest.mark.parametrize("place", ["node_modules", "venv", ".hidden", "our-python"])
def test_a_folder_that_is_asked_for(project: Workspace, place: str) -> None:
    """A folder that is given as PATH is read, whatever it is called and holds."""
    project.write(f"{place}/x.yaml", slo())
    project.write("our-python/pyvenv.cfg", "home = /usr\n")

    assert found(project, project.root / place) == [f"{place}/x.yaml"]


RULES = {
    ".gitignore": "/build/\n*.tmp.yaml\n",
    "a/.gitignore": "*.json\n!kept.json\n",
    "build/x.yaml": CHART,
    "build/deep/x.yaml": CHART,
    "a/build/x.yaml": "",
    "a/x.json": CHART,
    "a/kept.json": "",
    "a/x.tmp.yaml": CHART,
    "b/x.json": "",
}
KEPT = ["a/kept.json", "a/build/x.yaml", "b/x.json"]


@pytest.mark.parametrize("place", ["project", "around", "none"])
def test_what_git_ignores_is_not_read(project: Workspace, place: str) -> None:
    """The rules of every `.gitignore` hold, in a repository, below its root and in none."""
    if place != "none":
        git(project.root if place == "project" else project.root.parent, "init")
    for name, text in RULES.items():
        project.write(name, text)

    assert found(project) == KEPT


def test_rules_above_the_project(project: Workspace) -> None:
    """A `.gitignore` between the repository's root and the project holds too."""
    git(project.root.parent, "init")
    (project.root.parent / ".gitignore").write_text("project/build/\n", encoding="utf-8")
    project.write("build/x.yaml", CHART)

    assert found(project) == []


def test_a_tracked_file_is_read(project: Workspace) -> None:
    """No rule hides a file that is in the repository: a change could take resources away so."""
    git(project.root, "init")
    for name, text in RULES.items():
        project.write(name, text)
    git(project.root, "add", "--force", "build/deep/x.yaml", "a/x.json")

    assert found(project) == ["a/kept.json", "a/x.json", *KEPT[1:], "build/deep/x.yaml"]


def test_an_ignored_folder_that_is_asked_for(project: Workspace) -> None:
    """An ignored folder is read where a person or the project file names it."""
    git(project.root, "init")
    project.write(".gitignore", "build/\n")
    project.write("build/x.yaml", slo())
    project.write("build/sub/y.yaml", slo())

    assert found(project, project.root / "build") == ["build/x.yaml", "build/sub/y.yaml"]
    assert found(project, project.root / "build/sub") == ["build/sub/y.yaml"]


def test_repositories_in_the_repository(project: Workspace) -> None:
    """A repository inside has rules of its own, and takes none from the outer one's files."""
    git(project.root, "init")
    project.write(".gitignore", "x.yaml\n")
    git(project.root, "init", "inner")
    project.write("inner/.gitignore", "y.yaml\n")
    for name in ("x.yaml", "y.yaml", "inner/x.yaml", "inner/y.yaml", "inner/deep/y.yaml"):
        project.write(name, "")
    git(project.root / "inner", "add", "x.yaml")
    git(project.root / "inner", *AUTHOR, "commit", "-m", "x")
    git(project.root, "-c", "protocol.file.allow=always", "submodule", "add", "./inner")

    assert found(project) == ["y.yaml", "inner/x.yaml"]


AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.com")


def test_without_git(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where git is not there, files that it would ignore are read."""
    project.write(".gitignore", "*.json\n")
    project.write("x.json", "")
    monkeypatch.setenv("PATH", str(project.root))

    assert found(project) == ["x.json"]


@pytest.mark.parametrize("name", [":(glob)*.yaml", "-q.yaml", "a\nb.yaml", "*.yaml", '"a".yaml'])
def test_names_that_mean_something_to_git(project: Workspace, name: str) -> None:
    """A file of any name is asked for by its name, and is not taken for a pattern or an option."""
    git(project.root, "init")
    project.write(".gitignore", "plain.yaml\n")
    project.write("plain.yaml", CHART)
    project.write(name, "")

    assert found(project) == [name]


def test_a_name_that_is_not_utf_8(project: Workspace) -> None:
    """A name that is no text is asked for by its bytes."""
    git(project.root, "init")
    name = os.fsdecode(b"caf\xe9.yaml")
    (project.root / ".gitignore").write_bytes(b"caf\xe9*\n")
    project.write(name, "")

    assert found(project) == []


def test_an_ignored_folder_is_not_complained_of(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong with a folder that git ignores is nobody's business."""
    monkeypatch.setattr(files, "DEEPEST_FOLDER", 2)
    project.write("build/a/b/c/x.yaml", "")

    complained = find_files([project.root], project.root).complaints
    project.write(".gitignore", "build/\n")
    ignored = find_files([project.root], project.root).complaints

    assert [complaint.code for complaint in complained] == ["M115"]
    assert ignored == []


@pytest.mark.parametrize(
    ("pattern", "left_out"),
    [
        ("charts", ["charts/a.yaml", "charts/sub/b.yaml"]),
        ("charts/", ["charts/a.yaml", "charts/sub/b.yaml"]),
        ("./charts", ["charts/a.yaml", "charts/sub/b.yaml"]),
        ("charts/**", ["charts/a.yaml", "charts/sub/b.yaml"]),
        ("charts/*.yaml", ["charts/a.yaml"]),
        ("charts/*/*.yaml", ["charts/sub/b.yaml"]),
        ("*/a.yaml", ["charts/a.yaml", "teams/a.yaml"]),
        ("**/a.yaml", ["a.yaml", "charts/a.yaml", "teams/a.yaml", "teams/x/charts/a.yaml"]),
        ("a.yaml", ["a.yaml"]),
        ("**/charts", ["charts/a.yaml", "charts/sub/b.yaml", "teams/x/charts/a.yaml"]),
        ("teams/**/charts/?.yaml", ["teams/x/charts/a.yaml"]),
        ("Charts", []),
        ("chart", []),
    ],
)
def test_exclude(project: Workspace, pattern: str, left_out: list[str]) -> None:
    """A glob of `exclude:` is seen from the project file, and takes all below a folder with it."""
    names = ["a.yaml", "charts/a.yaml", "charts/sub/b.yaml", "teams/a.yaml"]
    names.append("teams/x/charts/a.yaml")
    for name in names:
        project.write(name, "")

    left = found(project, exclude=(pattern,))

    assert sorted(left) == sorted(set(names) - set(left_out))


def test_what_is_excluded_stops_nothing(project: Workspace) -> None:
    """A chart that is excluded is not read, from any folder, but where it is given as PATH."""
    project.write("reconciler.yaml", PROJECT + "exclude: [charts]\n")
    project.write("charts/x.yaml", CHART)

    assert project.run("validate").code == 0
    assert project.run("plan").code == 0
    assert Workspace(project.root / "charts/x.yaml").run("validate").code == 4
    assert Workspace(project.root / "charts").run("validate").code == 4


def test_an_excluded_export(project: Workspace) -> None:
    """An export that is excluded is no stray, and is read where a manifest names it."""
    project.write("reconciler.yaml", PROJECT + "exclude: [exports]\n")
    project.write("exports/shop.json", '{"name": "Shop"}')
    project.write("exports/other.json", '{"name": "Other"}')
    project.write("shop.yaml", board_of("exports/shop.json"))

    ran = project.run("validate")

    assert (ran.code, ran.err) == (0, "2 resources in 2 files: 0 errors, 0 warnings\n")


STEPS = st.lists(st.text("ab.*?[]", min_size=1, max_size=3), min_size=1, max_size=5).filter(
    lambda steps: not {".", "..", "**"} & set(steps)
)


@given(steps=STEPS, data=st.data())
def test_globs(steps: list[str], data: st.DataObject) -> None:
    """A path matches itself with any of its steps opened, at any depth, and takes what is below."""
    plain = ["x" + "".join(c for c in step if c not in "*?[]") for step in steps]
    opened = [data.draw(st.sampled_from((step, "*", step + "*", "**"))) for step in plain]

    assert matches("/".join(plain), "/".join(opened))
    assert matches("/".join([*plain, "below", "it"]), "/".join(opened))
    assert matches("/".join(["above", *plain]), "**/" + "/".join(plain))
    assert not matches("/".join(["above", *plain]), "/".join(plain))
    assert not matches("/".join(plain), "/".join([*plain, "*"]))


def test_many_stars_end() -> None:
    """A glob of many stars is tried in time that does not double with each of them."""
    assert not matches("/".join(["a"] * 60), "/".join(["**", "a"] * 30 + ["b"]))


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
@pytest.mark.parametrize("place", ["", "manifests", ".."])
def test_rules_that_are_no_file(
    tmp_path: Path,
    project: Workspace,
    make: Callable[[Path], None],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A `.gitignore` that is a pipe or a device is complained of by name, and git is not asked."""
    git(tmp_path, "init", "--quiet")
    folder = project.root / place
    folder.mkdir(exist_ok=True)
    make(folder / ".gitignore")
    asked: list[object] = []
    monkeypatch.setattr(files, "ask", lambda *arguments, **_: asked.append(arguments))

    read = find_files([project.root], project.root)

    assert [
        (complaint.file.endswith(".gitignore"), complaint.code) for complaint in read.complaints
    ] == [(True, "M112")]
    assert ([file.name for file in read.files], asked) == ([FILE], [])
