"""A copy of the house, on which a task of CONTRIBUTING is performed as its text says it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(
    *("__pycache__", ".git", ".venv", ".reconciler", "build", "mutants", ".*_cache", ".hypothesis"),
    # Else this would copy and run itself.
    "test_recipes.py",
)

CODES = "reconciler/report/explanations/codes/"
QUIET = ("-q", "-x", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist")
WRITING = """
import runpy, sys
sys.path[:0] = ["scripts", "tests", "tests/report"]
for name in (
    "scripts/write_schemas.py",
    "scripts/write_openapi.py",
    "scripts/write_endpoints.py",
    "scripts/write_pages.py",
    "scripts/write_reference.py",
    "tests/report/write_goldens.py",
):
    runpy.run_path(name, run_name="__main__")
"""


def task_named(start: str) -> str:
    """Give the text of the task whose heading begins so."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tasks = page.split("## Tasks")[1].split("\n## ")[0].split("\n\n**")
    (task,) = [task for task in tasks if task.lstrip("*").startswith(start)]
    return task


@dataclass
class Workbench:
    """A copy of the house in a folder, and which of its files were changed."""

    folder: Path
    touched: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Copy what is needed to run laws."""
        shutil.copytree(ROOT, self.folder, ignore=LEFT_OUT, copy_function=shutil.copyfile)
        # Some laws ask git which files there are.
        subprocess.run(["git", "init", "-q"], cwd=self.folder, check=True)  # noqa: S607 - of the PATH

    def write(self, name: str, text: str) -> None:
        """Make a new file."""
        file = self.folder / name
        assert not file.exists(), f"{name} is there already"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.touched.add(name)

    def likewise(self, name: str, other: str, words: Mapping[str, str]) -> None:
        """Make a file of the text of another, with words in the place of words."""
        text = (self.folder / other).read_text(encoding="utf-8")
        for old, new in words.items():
            text = text.replace(old, new)
        self.write(name, text)

    def explain(self, code: str, family: str, title: str) -> None:
        """Write the page of a code that no sample can show."""
        head = f"---\nfamily: {family}\n---\n\n# {code}: {title}\n\n"
        text = "It is so.\n\nIt matters.\n\n## For example\n\nSo.\n\n## What to do\n\nNothing.\n"
        self.write(f"{CODES}{code}.md", f"{head}{text}")

    def replace(self, name: str, old: str, new: str) -> None:
        """Put a text in the place of one that stands once in a file."""
        file = self.folder / name
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has {text.count(old)} times {old!r}"
        file.write_text(text.replace(old, new), encoding="utf-8")
        self.touched.add(name)

    def after(self, name: str, line: str, new: str) -> None:
        """Put lines behind the one that begins so, which stands once in a file."""
        file = self.folder / name
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        (at,) = [number for number, one in enumerate(lines) if one.startswith(line)]
        lines.insert(at + 1, new if new.endswith("\n") else f"{new}\n")
        file.write_text("".join(lines), encoding="utf-8")
        self.touched.add(name)

    def append(self, name: str, text: str) -> None:
        """Put lines at the end of a file."""
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(text)
        self.touched.add(name)

    def python(self, *arguments: str, **environ: str) -> str:
        """Run the interpreter in the copy, whose code is the one imported; give what it prints.

        Fails with that where it does not end with 0.
        """
        ran = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            # The copy comes before the house in which these tests run.
            env={**os.environ, "PYTHONPATH": str(self.folder), **environ},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]
        return ran.stdout

    def write_schemas(self) -> None:
        """Do as `make schemas`."""
        self.python("scripts/write_schemas.py")
        self.python("scripts/write_pages.py")

    def write_what_is_written(self) -> None:
        """Write schemas, tables and golden texts, as the tasks say; of complaints the new."""
        self.python("-c", WRITING)
        test = "tests/workspace/test_golden_complaints.py"
        self.python("-m", "pytest", *QUIET, "-k", "M399 or L699 or M203", test, WRITE_GOLDEN="1")

    def hold(self, *laws: str, without: str) -> None:
        """Hold the copy against laws: files of tests, or `file::law`."""
        self.python("-m", "pytest", *QUIET, "-k", without, *laws)

    def leave_out(self, name: str) -> None:
        """Take back what was done to one file."""
        source, file = ROOT / name, self.folder / name
        if source.exists():
            shutil.copyfile(source, file)
        else:
            file.unlink()

    def take_back(self) -> None:
        """Make the copy what it was before anything was done to it."""
        for name in self.touched:
            self.leave_out(name)
        self.touched.clear()

    def unnamed(self, task: str, gaps: Mapping[str, str]) -> list[str]:
        """Give the touched files that a task does not name, nor a folder that they are in.

        `gaps` are what stands in the place of `<kind>`, `<name>` and such.
        """
        for gap, one in gaps.items():
            task = task.replace(f"<{gap}>", one)
        named = set(re.findall(r"`([\w/.-]+(?:\.(?:py|md|yml|toml|jsonl?)|/))`", task))
        inside = tuple(name for name in named if name.endswith("/"))
        return sorted(one for one in self.touched - named if not one.startswith(inside))
