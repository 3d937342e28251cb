"""`init`: a workspace that works at once, and nothing written over."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from harness.doors import on_terminal, typed
from harness.golden import Golden
from harness.workspaces import VIEW

from reconciler.kinds import KINDS
from reconciler.syntax.files import find_files
from reconciler.syntax.read_text import read_text

ROOT = Path(__file__).parent.parent.parent
BIN = Path(sys.executable).parent
FLOWS = ROOT / "examples" / "workflows" / ".github" / "workflows"
ADDRESS = "https://observe.example.org"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def state(folder: Path) -> dict[str, bytes]:
    """Give every file of a folder."""
    found = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


def document(file: Path) -> Any:
    """Read a YAML file of one document."""
    (read,) = read_text(file.read_text(encoding="utf-8")).documents
    return read.value


def test_what_init_makes_works_at_once(home: Path, golden: Golden) -> None:
    """Its last words are three commands, which end well as they stand; then all is kept."""
    made = typed("init", "shop")
    advised = [line.strip() for line in made.err.splitlines()[-3:]]
    ended = [typed(*line.split()[1:]) for line in (*advised[:2], f"{advised[2]} --yes")]
    again = typed("plan", "shop", "--format", "json").json

    assert (made.code, [one.code for one in ended]) == (0, [0, 0, 0]), [one.err for one in ended]
    assert [line.split()[:2] for line in advised] == [
        ["reconciler", name] for name in ("validate", "plan", "apply")
    ]
    golden(ended[0].err)
    kept = {"keep": 5, "keepUnseen": 2}
    assert again["summary"] == {"create": 0, "update": 0, "assert": 0, **kept, "blocked": 0}
    assert {change["kind"] for change in again["changes"]} == {kind.name for kind in KINDS}
    assert sorted(made.out.split()) == sorted(
        f"shop/{name}"
        for name in state(home / "shop")
        if not name.startswith("shop/.reconciler") and not name.startswith(".reconciler")
    )


def test_validate_in_all_environments(home: Path) -> None:
    """In every environment that it names, nothing is complained of and no example is elsewhere."""
    assert typed("init", "--base-url", ADDRESS, "-e", "live").code == 0
    checked = typed("validate", "--format", "json")
    elsewhere = typed("validate", "-e", "live")

    assert (checked.code, checked.json["complaints"]) == (0, [])
    assert "0 resources" in elsewhere.err
    assert document(home / "reconciler.yaml")["environments"]["live"]["baseUrl"] == ADDRESS


def test_a_second_init_changes_nothing(home: Path, golden: Golden) -> None:
    """A second run writes nothing, even where examples are gone, and says what it left."""
    typed("init")
    (home / "examples" / "SLO.yaml").unlink()
    before = state(home)
    again = typed("init", "--format", "json")

    assert (again.code, again.json["created"], state(home)) == (0, [], before)
    assert set(again.json["kept"]) == {text for text in before if not text.startswith("examples/")}
    golden(again.err)


def test_files_that_are_there_stay(home: Path) -> None:
    """Whatever stands where a file would go stays as it is: a file, a link, another case."""
    (home / ".gitignore").write_text("mine\n")
    (home / ".PRE-commit-config.yaml").write_text("mine\n")
    (home / ".vscode").mkdir()
    (home / ".vscode" / "settings.json").symlink_to("nowhere")
    made = typed("init", "--format", "json")

    kept = {".gitignore", ".pre-commit-config.yaml", ".vscode/settings.json"}
    assert (made.code, set(made.json["kept"])) == (0, kept)
    assert (home / ".gitignore").read_text() == "mine\n"
    assert (home / ".PRE-commit-config.yaml").read_text() == "mine\n"
    assert not (home / ".vscode" / "nowhere").exists()


def test_a_link_out_of_the_folder(home: Path) -> None:
    """Nothing is written through a link that leads out, and the project file is not begun."""
    (home / "elsewhere").mkdir()
    (home / "shop").mkdir()
    (home / "shop" / ".vscode").symlink_to(home / "elsewhere")
    made = typed("init", "shop")

    assert made.code == 4
    assert "leads out of" in made.err
    assert state(home / "elsewhere") == {}
    assert not (home / "shop" / "reconciler.yaml").exists()


def test_the_workflows_are_those_of_the_examples(home: Path) -> None:
    """For the examples' address and name, init writes the examples' own workflows.

    Where they differ, copy those that were changed to the other place.
    """
    typed("init", "--base-url", "https://api.example.com")
    made = {file.name: file.read_text() for file in (home / ".github" / "workflows").iterdir()}

    assert made == {name: (FLOWS / name).read_text() for name in made}
    assert set(made) == {"plan.yml", "apply.yml", "drift.yml"}


@pytest.mark.parametrize("given", [[], ["--base-url", ADDRESS, "-e", "eu-1"]], ids=len)
def test_the_workflows_fit_the_action(home: Path, given: list[str]) -> None:
    """Workflows pass the forge's schema, name inputs of the action, and lead where it was said."""
    typed("init", *given)
    flows = [*(home / ".github" / "workflows").iterdir()]
    checked = subprocess.run(
        [BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *flows],
        capture_output=True,
        check=False,
        text=True,
    )
    inputs = document(ROOT / "action.yml")["inputs"].keys()
    steps = [
        step for flow in flows for job in document(flow)["jobs"].values() for step in job["steps"]
    ]
    ours = [step["with"] for step in steps if step.get("uses", "").startswith("example-org/")]

    assert checked.returncode == 0, checked.stdout
    assert len(ours) == 3
    for value in ours:
        assert value.keys() - inputs == set()
        assert value.get("base-url", "") == (ADDRESS if given else "")
        assert value["environment"] == ("eu-1" if given else "production")


def test_what_init_writes_is_laid_out(home: Path) -> None:
    """All that init writes stands in the one layout, and names a schema that is there."""
    typed("init", "--base-url", ADDRESS)
    files = [home / "reconciler.yaml", *(home / "examples").iterdir()]
    leads = [
        re.match(r"# yaml-language-server: \$schema=(.*)\n", file.read_text()) for file in files
    ]

    assert typed("fmt", "--check").code == 0
    assert [file for file, led in zip(files, leads, strict=True) if led is None] == []
    assert all(
        (file.parent / led[1]).is_file() for file, led in zip(files, leads, strict=True) if led
    )


def test_the_hooks_are_the_projects(home: Path) -> None:
    """The hooks are those that this project offers, run as they are installed."""
    typed("init")
    ((repository),) = document(home / ".pre-commit-config.yaml")["repos"]
    offered = document(ROOT / ".pre-commit-hooks.yaml")
    checked = subprocess.run(
        [BIN / "pre-commit", "validate-config", home / ".pre-commit-config.yaml"],
        capture_output=True,
        check=False,
    )

    same = ("id", "name", "entry", "files", "pass_filenames", "require_serial")
    assert checked.returncode == 0, checked.stdout
    assert [{name: hook[name] for name in same} for hook in repository["hooks"]] == [
        {name: hook[name] for name in same} for hook in offered
    ]


def test_the_settings_of_editors(home: Path) -> None:
    """Each schema that an editor is led to is there, as `schema` prints it, for its files."""
    typed("init")
    settings = json.loads((home / ".vscode" / "settings.json").read_text())["yaml.schemas"]
    printed = [typed("schema", name).json for name in ("project", "manifest")]

    assert [json.loads((home / name).read_text()) for name in settings] == printed
    assert [*settings.values()][0::2] == ["reconciler.yaml"]
    assert "examples/**/*.yaml" in settings[".vscode/reconciler-manifest.schema.json"]


@pytest.mark.promise("S39")
@pytest.mark.parametrize(
    "listed", ["", "manifests: [., ops/more]", "manifests: [team/a/two.yaml, ops/, one.yml]"]
)
def test_editors_know_all_manifests(home: Path, listed: str) -> None:
    """Editors read every YAML file of `manifests:` as a manifest, and no file of another tool."""
    for name in ("one.yml", "team/a/two.yaml", "team/three.yml", "ops/more/four.yaml", "a/b.json"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("{}" if name.endswith("json") else VIEW)
    if listed:
        (home / "reconciler.yaml").write_text(f"{listed}\nenvironments: {{}}\n")

    assert typed("init").code == 0
    folder = home / ".vscode"
    globs = json.loads((folder / "settings.json").read_text())["yaml.schemas"]
    known = {
        file.relative_to(home).as_posix()
        for glob in globs[".vscode/reconciler-manifest.schema.json"]
        for file in home.glob(glob)
    }

    places = ["team/a/two.yaml", "ops", "one.yml"] if "one" in listed else ["."]
    read = find_files([home / place for place in places], home).files
    meant = {file.name for file in read if not file.is_json}
    assert known - {name for name in known if name.startswith("examples/")} == {
        name for name in meant if not name.startswith("examples/")
    }
    assert json.loads((folder / "extensions.json").read_text()) == {
        "recommendations": ["redhat.vscode-yaml"]
    }


def test_what_is_asked_for_on_a_terminal(tmp_path: Path) -> None:
    """A terminal is asked for address and name, again where an answer will not do."""
    shown = on_terminal(["init"], tmp_path, typed=f"ftp://x\n{ADDRESS}/\nlocal\nlive\n")

    assert shown.code == 0
    assert shown.terminal.count("Base URL of your service") == 2
    assert shown.terminal.count("environment called? [production]") == 2
    assert f"baseUrl: {ADDRESS}\n" in (tmp_path / "reconciler.yaml").read_text()
    assert shown.terminal.splitlines()[-1].strip() == "reconciler apply -e local"


def test_an_address_is_never_changed(home: Path) -> None:
    """An address that holds a word of the templates stays what it is."""
    typed("init", "--base-url", "https://production.example.org", "-e", "live")

    environments = document(home / "reconciler.yaml")["environments"]
    assert environments["live"]["baseUrl"] == "https://production.example.org"


def test_more_for_a_workspace_that_is_there(home: Path) -> None:
    """Workflows of a workspace lead to the one service that its project file names."""
    (home / "reconciler.yaml").write_text(
        f"environments:\n  eu: {{baseUrl: '{ADDRESS}'}}\n  local: {{emulator: {{data: x.db}}}}\n"
    )
    typed("init")

    flow = document(home / ".github" / "workflows" / "apply.yml")
    given = flow["jobs"]["apply"]["steps"][1]["with"]
    assert (given["environment"], given["base-url"]) == ("eu", ADDRESS)
    assert not (home / "examples").exists()


def test_what_is_left_to_do_is_said(home: Path, golden: Golden) -> None:
    """Below the root of a repository, and beside other YAML, it says what a person has to do."""
    (home / ".git").mkdir()
    (home / "ops").mkdir()
    (home / "ops" / "compose.yaml").write_text("services: {}\n")
    said = typed("init", "ops").err

    golden(said)


def test_every_template_is_used(home: Path) -> None:
    """No template lies about that init does not write."""
    typed("init")
    templates = [
        path
        for path in Path(str(files("reconciler.operations") / "template")).rglob("*")
        if path.is_file()
    ]

    assert len(templates) == len([*(state(home))]) - 4


@pytest.mark.parametrize("leads", ["out", "file"])
def test_nothing_before_every_place_is_good(home: Path, leads: str) -> None:
    """Where one file cannot be, nothing is made, neither in the folder nor outside."""
    (home / "a").mkdir()
    (home / "out").mkdir()
    place = home / "a" / ".github"
    if leads == "out":
        place.symlink_to(home / "out")
    else:
        place.write_text("mine")

    ran = typed("init", "a")

    assert ran.code == 4
    assert [path.name for path in (home / "a").iterdir()] == [".github"]
    assert not [*(home / "out").iterdir()]


@pytest.mark.promise("S33")
@pytest.mark.parametrize("code", ["L901", "L902"])
def test_a_query_that_cannot_be_parsed(tmp_path: Path, code: str) -> None:
    """In a new workspace a broken query is an error."""
    typed("init", str(tmp_path))
    kind, query = ("SLO", "sum(") if code == "L901" else ("SavedView", "level:(error")
    file = tmp_path / "examples" / f"{kind}.yaml"
    text, count = re.subn(r"(?m)^( +(?:- )?query:) .*$", rf"\1 '{query}'", file.read_text("utf-8"))
    assert count
    file.write_text(text, encoding="utf-8")

    ran = typed("validate", "--project", str(tmp_path / "reconciler.yaml"))

    assert (ran.code, f"error[{code}]" in ran.out) == (4, True)


@pytest.mark.promise("S43")
@pytest.mark.parametrize(
    ("words", "default"), [((), "local"), (("--base-url", ADDRESS, "-e", "eu-1"), "eu-1")]
)
def test_the_default_environment(home: Path, words: tuple[str, ...], default: str) -> None:
    """A workspace for a service has that service as its default, and any other one the emulator."""
    assert typed("init", *words).code == 0

    assert document(home / "reconciler.yaml")["defaultEnvironment"] == default
