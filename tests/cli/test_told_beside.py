"""What commands say of manifests next to their answer: every error, and one line of warnings."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from harness.doors import typed

POLICY = "    - policy: {{name: p{0}, description: '', priority: PRIORITY_TYPE_LOW}}\n"
WRONG = "apiVersion: reconciler/v1\nkind: SavedView\nmetadata: {name: NOT OURS}\nspec: {}\n"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reconciler.yaml").write_text("environments: {local: {emulator: {data: .x/x.db}}}\n")


def warned(count: int) -> None:
    """Write a manifest that is warned about so many times."""
    head = "apiVersion: reconciler/v1\nkind: LogPolicySet\nmetadata: {name: all}\nspec:\n"
    items = "".join(POLICY.format(number) for number in range(count))
    Path("all.yaml").write_text(f"{head}  policies:\n{items}")


@pytest.mark.promise("S19")
@pytest.mark.parametrize("command", ["plan", "apply --yes", "drift", "adopt --all"])
def test_warnings_are_one_line(command: str) -> None:
    """A command that only uses manifests counts their warnings in one line; -v shows them all."""
    warned(8)
    line = command.split()

    some, every = typed(*line), typed(*line, "-v")

    assert some.err.splitlines().count("8 warnings: `reconciler validate -e local`") == 1
    assert "warning[" not in some.err
    assert every.err.count("warning[") == typed("validate", "-v").out.count("warning[") == 8
    assert "8 warnings" not in every.err


def test_warnings_lead_to_the_manifests_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in the line validates the same manifests, wherever it is typed."""
    warned(1)
    project = Path("reconciler.yaml").resolve()
    monkeypatch.chdir(project.parent.parent)

    shown = typed("plan", "--project", str(project)).err

    assert re.findall(r"1 warning: `(.+)`", shown) == [
        shlex.join(["reconciler", "validate", "-e", "local", "--project", str(project)])
    ]


@pytest.mark.promise("S19")
def test_every_error_is_told() -> None:
    """Errors are printed in full however many there are, before the line of warnings."""
    warned(5)
    for number in range(25):
        Path(f"{number}.yaml").write_text(WRONG)

    told = typed("plan")

    assert told.code == 4
    assert (told.err.count("error[") >= 25, told.err.count("warning[")) == (True, 0)
    assert re.findall(r"5 warnings: `(.+)`\n", told.err) == ["reconciler validate -e local"]
