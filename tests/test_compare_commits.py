"""The comparison of two commits finds what differs, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
import pytest
from compare_commits import Pair, allowed_in, commands_of, report
from compare_scenarios import LINES, Scenario, scenarios
from compare_world import ROOT, Tree, World

from reconciler.cli.drift import drift

pytestmark = pytest.mark.slow


def round_of(world: World) -> None:
    """Play a short scenario in which ids are given out and a journal is written."""
    world.copy_examples()
    world.run("apply --new-journal --yes")
    world.run("plan")
    world.run("validate no-such-file")


ROUND = Scenario("worlds", "round", round_of)


def test_one_word_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tree is like itself though it gives out ids, and one changed word is a difference."""
    changed = tmp_path / "changed"
    shutil.copytree(ROOT / "reconciler", changed / "reconciler")
    for file in changed.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "Nothing to do" in text:
            file.write_text(text.replace("Nothing to do", "Nought to do"), encoding="utf-8")

    found = []
    for head in (ROOT, changed):
        pair = Pair(ROOT, head, tmp_path / "place")
        found.append(pair.compare(ROUND))
        pair.close()

    same, other = found
    assert (same.runs, same.differences) == (3, [])
    assert [one.name for one in other.differences] == ["worlds: round #2: plan: stdout"]
    assert "-Nothing to do" in other.differences[0].diff
    assert report(found, {}) == 1
    assert report(found, {"worlds: round *: stdout": "said otherwise"}) == 0
    assert capsys.readouterr().out.count("+Nought to do") == 1


def test_every_command_is_played(tmp_path: Path) -> None:
    """Each command that `--help` shows has its lines, and one without them stops the comparison."""
    tree = Tree("head", ROOT)
    formats, groups = commands_of(tree, tmp_path)
    tree.close()

    assert set(formats) == set(LINES)
    assert {"", "journal"} <= set(groups)
    (form,) = (option for option in drift.params if option.name == "form")
    assert isinstance(form.type, click.Choice)
    assert formats["drift"] == [*form.type.choices]
    with pytest.raises(KeyError, match="no-such"):
        list(scenarios({**formats, "no-such": []}, groups, []))


def test_a_meant_difference_has_its_reason(tmp_path: Path) -> None:
    """A pattern of `--allow` without a reason is refused."""
    file = tmp_path / "allowed"
    file.write_text("# this release\nhelp: *  # new words\n\n", encoding="utf-8")
    assert allowed_in(file) == {"help: *": "new words"}

    file.write_text("help: *\n", encoding="utf-8")
    with pytest.raises(ValueError, match="help"):
        allowed_in(file)
