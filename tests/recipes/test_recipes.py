"""Each task of CONTRIBUTING, performed on a copy of the house as its text says it.

What a task leaves out shows here: a file that is needed and not named, or a law that is red
once all that the text names is done. What is added is small, but of the form of the real thing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tasks import RECIPES, Recipe
from workbench import Workbench, task_named

HOUSE = (
    "tests/test_registries.py",
    "tests/test_schemas.py::test_schemas_are_fresh",
    "tests/test_docs.py::test_what_contributing_names_is_there",
    "tests/test_house.py",
)
"""Laws that hold for every change."""
ELSEWHERE = "not one_machine_is_nowhere and not architecture"
"""What asks about the place that the copy lies in."""


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_task_names_its_files(recipe: Recipe, tmp_path: Path) -> None:
    """What a task needs to be done is in the files that its text names, and in no other."""
    bench = Workbench(tmp_path / "house")
    recipe.perform(bench)

    said = "\n".join(map(task_named, recipe.task))

    assert bench.unnamed(said, recipe.gaps) == []


def test_all_tasks_done(tmp_path: Path) -> None:
    """With every task done as its text says it, side by side, the laws of each hold."""
    bench = Workbench(tmp_path / "house")
    for recipe in RECIPES:
        recipe.perform(bench)
    bench.python("scripts/write_schemas.py")
    bench.python("-m", "pytest", "-q", *WRITING, WRITE_GOLDEN="1")

    laws = dict.fromkeys(law for recipe in RECIPES for law in recipe.laws)
    bench.hold(*HOUSE, *laws, without=ELSEWHERE)


WRITING = ("tests/manifests/test_golden_complaints.py", "-k", "M399")
