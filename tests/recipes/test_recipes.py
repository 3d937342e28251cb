"""Each task of CONTRIBUTING, performed on a copy of the house as its text says it.

What a task leaves out shows here: a file that is needed and not named, or a law that is red
once all that the text names is done. What is added is small, but of the form of the real thing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from book import ELSEWHERE, HOUSE, RECIPES, Recipe
from workbench import Workbench, task_named

OWN = dict.fromkeys(law for recipe in RECIPES for law in recipe.laws)
"""Those of the tasks."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """Copy the house once: each task that is performed on the copy is taken back."""
    return Workbench(tmp_path_factory.mktemp("copied") / "house")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_task_names_its_files(recipe: Recipe, bench: Workbench) -> None:
    """What a task needs to be done is in the files that its text names, and in no other."""
    said = "\n".join(map(task_named, recipe.task))
    try:
        recipe.perform(bench)

        assert bench.unnamed(said, recipe.gaps) == []
    finally:
        bench.take_back()


@pytest.mark.slow
def test_all_tasks_done(tmp_path: Path) -> None:
    """With every task done as its text says it, side by side, the laws of house and tasks hold."""
    bench = Workbench(tmp_path / "house")
    for recipe in RECIPES:
        recipe.perform(bench)
    bench.write_what_is_written()

    bench.hold(*dict.fromkeys((*HOUSE, *OWN)), without=ELSEWHERE)
