"""What commands say of manifests beside their answer: every error, and few warnings."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.doors import typed
from harness.golden import Golden

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


@pytest.mark.parametrize("command", ["plan", "drift"])
def test_few_warnings_beside_an_answer(command: str, golden: Golden) -> None:
    """A warning of each code is told, the rest is counted with the way to see it; -v tells all."""
    warned(8)

    some, every = typed(command), typed(command, "-v")

    assert some.err.count("warning[") == 1
    golden(some.err)
    assert every.err.count("warning[") == typed("validate").out.count("warning[") == 8
    assert "more warning" not in every.err


def test_three_warnings_are_all() -> None:
    """Nothing is counted where nothing is left out."""
    warned(3)

    told = typed("plan").err

    assert (told.count("warning["), "more warning" in told) == (3, False)


def test_every_error_is_told() -> None:
    """Errors are told however many there are, before the warnings."""
    warned(5)
    for number in range(25):
        Path(f"{number}.yaml").write_text(WRONG)

    told = typed("plan")

    assert told.code == 4
    assert (told.err.count("error[") >= 25, told.err.count("warning[")) == (True, 1)
    assert "and 4 more warnings (4 " in told.err
