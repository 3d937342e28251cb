"""What is said of codes is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness.doors import typed
from harness.explained import EXPLAINED as SAID
from harness.explained import explained
from harness.workspaces import Workspace

from reconciler.errors import ExitCode
from reconciler.model import GUARDS, Reason, Remark
from reconciler.report.explanations import pages
from reconciler.report.explanations.pages import FAMILIES, Explanation, Sample, code_markdown
from reconciler.syntax.diagnostic import AUDITED, CODES

FOLDER = Path(pages.__file__).with_name("codes")
EXITS = {f"exit-{code.value}": code.words for code in ExitCode}
SHOWN = [explanation for explanation in SAID.values() if explanation.command]
TOLD_IN_PLANS = {value.code for base in (Reason, Remark) for value in base.__subclasses__()}
ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs"


OPENED = """
import sys
from pathlib import Path
read = []
def noted(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".md"):
        read.append(Path(arguments[0]).stem)
sys.addaudithook(noted)
from reconciler.cli.root import run
ended = run(sys.argv[1:])
print("\\nread:", *read, file=sys.stderr)
sys.exit(ended)
"""

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
    """Every complaint, guard, reason, remark and exit code has a page, and nothing else has."""
    known = {*CODES, *AUDITED, *GUARDS, *TOLD_IN_PLANS, *EXITS}

    assert {file.name for file in FOLDER.iterdir()} == {f"{code}.md" for code in known}
    assert set(SAID) == known
    assert {explanation.code for explanation in SHOWN} == set(CODES)


def test_a_page_has_the_title_that_is_reported() -> None:
    """A code that reports name in words is called so on its page."""
    titles = {**CODES, **AUDITED, **EXITS}

    assert {code: SAID[code].title for code in titles} == titles
    assert all(titles.values())


@pytest.mark.parametrize("code", SAID)
def test_a_page_is_read_whole(code: str) -> None:
    """A page holds what is read of it and nothing else, and repeats nothing of its family."""
    one = explained(code)
    (family,) = (name for name, family in FAMILIES.items() if family == one.family)
    head = {"family": family}
    if one.command != one.family.command:
        head["command"] = one.command
    if one.page != one.family.page:
        head["page"] = one.page
    if one.advises:
        head["advises"] = one.advises
    lines = "".join(f"{name}: {value}\n" for name, value in head.items())
    text = f"---\n{lines}---\n\n# {code}: {one.title}\n\n{code_markdown(one, '##')}"

    assert (FOLDER / f"{code}.md").read_text(encoding="utf-8") == text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("explain L203", ["L203"]),
        ("explain 11 --format json", ["exit-11"]),
        ("explain SLO.name", []),
        ("validate --project examples/reconciler.yaml", []),
        ("plan --project examples/reconciler.yaml", []),
    ],
)
def test_a_page_is_read_when_it_is_asked_for(command: str, read: list[str]) -> None:
    """`explain` reads the page of its code alone, and other commands read none."""
    ran = subprocess.run(
        [sys.executable, "-c", OPENED, *command.split()],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.splitlines()[-1].split() == ["read:", *read]


@pytest.mark.parametrize("code", ["M000", "../pages", "R/owner", ""])
def test_a_code_without_a_page(code: str) -> None:
    """What no page is called after is not explained, and is looked for in no other folder."""
    assert pages.explanation(code) is None


def test_an_explanation_says_something() -> None:
    """An explanation tells in sentences what the code means and why, and shows both samples."""
    for explanation in SAID.values():
        assert explanation.means.endswith("."), explanation.code
        assert explanation.why.endswith("."), explanation.code
        assert explanation.means != explanation.why
        for sample in (explanation.wrong, explanation.right):
            assert sample.files or sample.typed or sample.says, explanation.code
        assert (PAGES / f"{explanation.page}.md").exists()


@pytest.mark.parametrize("asked", ["project", "reconciler.yaml", "freeze", "watch"])
def test_the_project_file_is_explained(asked: str) -> None:
    """The project file as a whole, and its parts, are explained as kinds are."""
    ran = typed("explain", asked)

    assert ran.code == 0, ran.err
    assert ran.out


def test_reasons_are_told_as_in_the_docs() -> None:
    """What docs/reasons.md says of a reason or a remark is its title."""
    text = (PAGES / "reasons.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[`([a-z-]+)`\]\(.+?\) \| (.+?) \| .*\|$", text, re.MULTILINE))

    assert rows == {code: SAID[code].title for code in TOLD_IN_PLANS}
