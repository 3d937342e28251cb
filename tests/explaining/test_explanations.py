"""What is said of codes is so."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import get_args

import pytest
from harness.doors import typed
from harness.workspaces import Workspace

from reconciler.errors import ExitCode
from reconciler.explaining.explanation import Explanation, Sample
from reconciler.explaining.families import FAMILIES, explanations
from reconciler.resource import Reason, Remark
from reconciler.resource.guard_levels import GUARDS
from reconciler.source.diagnostic import AUDITED, CODES

SAID = explanations()
SHOWN = [one for one in SAID.values() if one.command]
TOLD_IN_PLANS = {one.code for union in (Reason, Remark) for one in get_args(union)}
PAGES = Path(__file__).parents[2] / "docs"


# More than a thousand mistakes are mistakes too.
BESIDE = {"M103": {"M301"}, "M115": {"M102"}}


def codes_of(
    sample: Sample, one: Explanation, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> set[str]:
    """Give the codes that are told of a sample, laid out in a folder of its own."""
    folder.mkdir()
    for name, content in sample.files.items():
        (folder / name).write_text(content, encoding="utf-8")
    for line in sample.typed:
        subprocess.run(["sh", "-c", line], cwd=folder, check=True, env=dict(os.environ))  # noqa: S607 - as printed
    for name, value in sample.environ.items():
        monkeypatch.setenv(name, value)
    ran = Workspace(folder).run(one.command, "-v")
    told = set(re.findall(r"^(?:error|warning)\[(\w+)\]", ran.out + ran.err, re.MULTILINE))
    # Samples are short, and no models of good practice but where that is what they show.
    return {code for code in told if not code.startswith("L") or one.code.startswith("L")}


@pytest.mark.parametrize("one", SHOWN, ids=lambda one: one.code)
def test_the_wrong_sample(
    one: Explanation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong sample of a diagnostic is told of by exactly that code."""
    assert codes_of(one.wrong, one, tmp_path / "wrong", monkeypatch) == {
        one.code,
        *BESIDE.get(one.code, ()),
    }


@pytest.mark.parametrize("one", SHOWN, ids=lambda one: one.code)
def test_the_right_sample(
    one: Explanation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right sample of a diagnostic is told of by nothing at all."""
    assert codes_of(one.right, one, tmp_path / "right", monkeypatch) == set()


def test_everything_with_a_code_is_explained() -> None:
    """Every complaint, guard, reason, remark and exit code is explained, and nothing else is."""
    exits = {f"exit-{code.value}" for code in ExitCode}

    assert set(SAID) == {*CODES, *AUDITED, *GUARDS, *TOLD_IN_PLANS, *exits}
    assert {one.code for one in SHOWN} == set(CODES)


def test_an_explanation_says_something() -> None:
    """An explanation tells in sentences what the code means and why, and shows both samples."""
    for one in SAID.values():
        assert one.means.endswith("."), one.code
        assert one.why.endswith("."), one.code
        assert one.means != one.why
        for sample in (one.wrong, one.right):
            assert sample.files or sample.typed or sample.says, one.code
        assert (PAGES / f"{one.page}.md").exists()


@pytest.mark.parametrize("asked", ["project", "reconciler.yaml", "freeze", "watch"])
def test_the_project_file_is_explained(asked: str) -> None:
    """The project file as a whole, and its parts, are explained as kinds are."""
    ran = typed("explain", asked)

    assert ran.code == 0, ran.err
    assert ran.out


def test_a_code_is_explained_once() -> None:
    """No two families explain one code, so that each has one page."""
    every = [one.code for family in FAMILIES for one in family.explanations]

    assert len(every) == len(set(every))


def test_reasons_are_told_as_in_the_docs() -> None:
    """What docs/plan.md says of a reason or a remark is its title, but for links and guards."""
    text = (PAGES / "plan.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.+?) \| .*\|$", text, re.MULTILINE))
    plain = {code: re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", said) for code, said in rows.items()}

    assert rows.keys() >= TOLD_IN_PLANS
    assert plain.items() >= {(code, SAID[code].title) for code in TOLD_IN_PLANS - set(GUARDS)}
