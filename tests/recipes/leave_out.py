"""Leave out each file of each task in turn, and tell where nothing goes red.

A file that can be left out unnoticed is a place that the next one who does the task forgets.
Types and floors are asked where the tests notice nothing. Takes most of an hour; names of
recipes as arguments take only those.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from book import ELSEWHERE, HOUSE, RECIPES, Recipe
from workbench import Workbench


def is_noticed(recipe: Recipe, left_out: str, folder: Path) -> str:
    """Give what goes red without one file: `tests`, `types`, `floors`, or "" for nothing."""
    bench = Workbench(folder)
    recipe.perform(bench)
    bench.leave_out(left_out)
    try:
        if recipe.golden:
            bench.write_what_is_written()
        else:
            bench.write_schemas()
        bench.hold(*recipe.laws, *HOUSE, without=ELSEWHERE)
    except AssertionError:
        return "tests"
    for tool, name in (("mypy", "types"), ("lint-imports", "floors")):
        command = [str(Path(sys.executable).parent / tool)]
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
            return name
    return ""


def told(*lines: str) -> None:
    """Print at once."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def main() -> None:
    """Print one line a file, and what nobody noticed at the end."""
    wanted = sys.argv[1:]
    unnoticed, tried = [], 0
    for recipe in RECIPES:
        if wanted and recipe.name not in wanted:
            continue
        with TemporaryDirectory() as folder:
            bench = Workbench(Path(folder) / "house")
            recipe.perform(bench)
        for name in sorted(bench.touched):
            with TemporaryDirectory() as folder:
                by = is_noticed(recipe, name, Path(folder) / "house")
            tried += 1
            unnoticed += [] if by else [f"{recipe.name}: {name}"]
            told(f"{recipe.name}: {name}: {by or 'NOT NOTICED'}")
    told(f"{tried - len(unnoticed)} of {tried} are noticed; not:", *unnoticed)


if __name__ == "__main__":
    main()
