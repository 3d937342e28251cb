"""Makefile, locks, action, image and hook: declared once, and in step with each other."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import demo
import pytest
from harness.warm import warm_folder
from runner import ROOT

from reconciler.ci.result import OUTPUTS, RESULTS
from reconciler.ci.runner import FLAG, INPUTS, NO_FLAG
from reconciler.syntax.read_text import read_text

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def document(name: str) -> Any:
    """Read a YAML file of the project."""
    (read,) = read_text((ROOT / name).read_text(encoding="utf-8")).documents
    return read.value


def locked(name: str) -> set[str]:
    """Give the pins of a lock: name, version and where they hold."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9-]+==[^\\\n]*?) \\$", text, re.MULTILINE))


ACTION = document("action.yml")
STEPS = ACTION["runs"]["steps"]


@pytest.mark.parametrize("smaller", ["runtime", "build"])
def test_locks_agree(smaller: str) -> None:
    """What is tested is what is delivered: the lock of the tests holds the other two."""
    assert locked(smaller) - locked("dev") == set()


def test_dependencies_are_locked() -> None:
    """Every dependency of the project is in its lock, and nothing is locked without a hash."""
    wanted = {
        re.split(r"[<>=]", dependency)[0].replace(".", "-")
        for dependency in PROJECT["project"]["dependencies"]
    }

    assert wanted - {pin.partition("==")[0] for pin in locked("runtime")} == set()
    for file in (ROOT / "requirements").iterdir():
        pins = re.findall(r"^\S+==", file.read_text("utf-8"), re.MULTILINE)
        assert len(locked(file.stem)) == len(pins) > 0


def test_targets_are_told() -> None:
    """`make help` lists every target that is meant to be typed."""
    (phony,) = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    told = subprocess.run(
        ["make", "--no-print-directory", "-C", str(ROOT), "help"],  # noqa: S607 - make of the PATH
        capture_output=True,
        check=True,
        text=True,
    ).stdout

    assert re.findall(r"^  make (\w+) ", told, re.MULTILINE) == phony.replace("\\\n", " ").split()


def test_what_the_readme_says_is_what_runs() -> None:
    """The two commands of the README exist, and CI runs the second as it stands there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert re.findall(r"^make \w+", readme, re.MULTILINE)[:2] == ["make demo", "make test"]
    assert re.findall(r"^make .*?(?= 2>)", ci, re.MULTILINE) == ["make test"]


def test_the_action_is_thin() -> None:
    """The steps of action.yml are few lines, take inputs as variables, and pin what they use."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")

    assert len(text.partition("\nruns:\n")[2].splitlines()) < 10
    assert not any("${{" in step.get("run", "") for step in STEPS)
    for step in STEPS:
        assert "uses" not in step or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])


def test_the_action_hands_over_its_inputs() -> None:
    """Every input of the command line is one of the action, and reaches it by its name."""
    (handed,) = [step["env"] for step in STEPS if "env" in step]
    names = {name: f"INPUT_{name.upper().replace('-', '_')}" for name in INPUTS}
    defaults = {name: about["default"] for name, about in ACTION["inputs"].items()}

    assert handed == {names[name]: f"${{{{ inputs.{name} }}}}" for name in names}
    assert defaults == {name: given[0] for name, given in INPUTS.items()} | {
        "token": "${{ github.token }}"
    }


@pytest.mark.promise("S49")
def test_the_quick_ways_to_install() -> None:
    """The README names the quick ways to install before the slow one, and stays short."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert readme.index("`pipx install .`") < readme.index("pip install --no-deps .`")
    assert len(readme.split()) <= 900


def test_the_action_tells_what_its_inputs_may_say() -> None:
    """The description of an input names all of its values."""
    for name, choices in INPUTS.items():
        said = ACTION["inputs"][name]["description"]
        flags = choices in (FLAG, NO_FLAG)
        wanted = [choice for choice in choices if choice and (not flags or choice == "true")]
        assert [choice for choice in wanted if f"`{choice}`" not in said] == [], name


def test_the_action_gives_its_outputs() -> None:
    """Every output is the command's own of that name, and none is missing."""
    own = {name: about["value"] for name, about in ACTION["outputs"].items()}
    results = ACTION["outputs"]["result"]["description"]

    assert own == {name: f"${{{{ steps.run.outputs.{name} }}}}" for name in OUTPUTS}
    assert set(re.findall(r"`([a-z-]+)`", results)) == set(RESULTS)


@pytest.mark.parametrize("step", [step for step in STEPS if "run" in step], ids=range(2))
def test_the_shell_of_the_action(step: dict[str, str]) -> None:
    """The shell lines of the action have no findings."""
    checked = subprocess.run(
        [Path(sys.executable).with_name("shellcheck"), "--shell", step["shell"], "-"],
        input=step["run"],
        capture_output=True,
        check=False,
        text=True,
    )

    assert checked.stdout == ""


def test_the_image() -> None:
    """The base is the builder's choice, and the last stage runs as nobody, with no pip."""
    last = DOCKERFILE.split("\nFROM ")[-1]

    assert re.findall(r"^ARG BASE.*|^FROM .*", DOCKERFILE, re.MULTILINE) == [
        *("ARG BASE", "FROM ${BASE} AS build", "FROM ${BASE}")
    ]
    assert DOCKERFILE.count("--require-hashes") == 2
    assert "USER 65532:65532" in last
    # `ssh-keygen` serves only a user with a name.
    assert "echo reconciler:x:65532:65532:" in last
    assert 'ENTRYPOINT ["reconciler"]' in last
    assert not re.search(r"\bpip\b|venv|gcc", last)


def test_the_hook() -> None:
    """The hooks check the whole workspace at once, with commands that exist."""
    hooks = document(".pre-commit-hooks.yaml")

    assert [hook["id"] for hook in hooks] == ["reconciler-validate", "reconciler-fmt"]
    for hook in hooks:
        assert hook["require_serial"]
        command, *_ = hook["entry"].split()
        assert {one.value for one in entry_points(group="console_scripts", name=command)} == {
            PROJECT["project"]["scripts"][command]
        }
    assert not hooks[0]["pass_filenames"]


def play(folder: Path) -> subprocess.CompletedProcess[str]:
    """Play the demo of a copy of the project."""
    return subprocess.run(
        [sys.executable, folder / "scripts" / "demo.py"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.mark.promise("S47")
def test_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The demo goes as it should, is read in two minutes, and shows whose edit it undoes."""
    monkeypatch.setattr(demo, "COMMAND", warm_folder() / "reconciler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    code = demo.main()

    out, err = capfd.readouterr()
    assert (code, out.count("\n$ reconciler ")) == (0, 9), err
    assert len(out.splitlines()) <= 120
    assert (out.count("\n  + "), out.count("\n  ! ")) == (3, 4)
    assert " by alice@example.com" in out
    assert "relativeTimeFrame: 15 min → 6 h" in out


def test_a_demo_that_goes_wrong(tmp_path: Path) -> None:
    """A step that is not as expected fails the demo, and is named."""
    for name in ("scripts", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    broken = tmp_path / "examples" / "checkout" / "more.yaml"
    broken.write_text("kind: Dashboard\n", encoding="utf-8")
    played = play(tmp_path)

    assert played.returncode == 1
    assert " at step 1: " in played.stderr
