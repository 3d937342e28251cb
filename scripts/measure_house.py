"""Measure the house: its size, its names and words, and which files one run goes through.

`python scripts/measure_house.py` prints the figures; with `--write` they are written into
docs/architecture.md, with the map of the floors. `--of FOLDER` measures another checkout.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from house_prose import NOT_NOUNS, dialect_in

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "architecture.md"
PLAN: Final = ("plan",)
APPLY: Final = ("apply", "--yes", "--new-journal")
PATTERNS: Final = frozenset({"__init__", "command", "remote"})
"""Modules that each kind has, or each feature that brings a command."""

BEFORE: Final = (
    *("556 (83)", "61,907", "50,056", "42", "132", "91", "50", "4,129", "1,330"),
    *("164", "173", "236", "250", "91,601"),
)
"""What this script measured at 39fb4ff."""

# Runs one command line and leaves the files whose functions ran, in the order of their first
# call, and the modules that were imported.
_PROFILED: Final = """
import json, os, sys, threading
from pathlib import Path
root, report = sys.argv[1], sys.argv[2]
sys.path.insert(0, os.path.dirname(root))
sys.argv = ["reconciler", *sys.argv[3:]]
seen = {}
def note(frame, event, argument):
    code = frame.f_code
    # What runs on import says nothing of the way that a run takes.
    is_function = event == "call" and code.co_flags & 1 and code.co_name != "<module>"
    if is_function and code.co_filename.startswith(root):
        seen.setdefault(code.co_filename, len(seen))
sys.setprofile(note)
threading.setprofile(note)
try:
    from reconciler.__main__ import main
    main()
finally:
    sys.setprofile(None)
    modules = [name for name in sys.modules if name.split(".")[0] == "reconciler"]
    Path(report).write_text(json.dumps({"files": list(seen), "modules": modules}))
"""


class Flow(NamedTuple):
    """The files whose functions ran in one command, in order, and all modules it imported."""

    files: list[str]
    modules: list[str]


class House:
    """One checkout of the project."""

    def __init__(self, root: Path = ROOT) -> None:
        """Find its modules."""
        self.root = root
        self.files = sorted((root / "reconciler").rglob("*.py"))
        self.own = [file for file in self.files if "emulator" not in file.parts]

    def name_of(self, file: Path) -> str:
        """Return a file as seen from the root of the checkout."""
        return file.relative_to(self.root).as_posix()

    def flow_of(self, *words: str) -> Flow:
        """Run one command on a copy of `examples/`; the emulator's files are left out."""
        with TemporaryDirectory() as name:
            work = shutil.copytree(ROOT / "examples", Path(name) / "work")
            report = Path(name) / "report.json"
            kept = ("PATH", "HOME", "LANG", "SYSTEMROOT")
            done = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    _PROFILED,
                    str(self.root / "reconciler"),
                    str(report),
                    *words,
                ],
                cwd=work,
                env={name: os.environ[name] for name in kept if name in os.environ},
                capture_output=True,
                text=True,
                check=False,
            )
            if not report.exists():
                raise SystemExit(f"{' '.join(words)} left no profile: {done.stderr}")
            found = json.loads(report.read_text())
        files = [self.name_of(Path(file)) for file in found["files"]]
        return Flow(
            [file for file in files if not file.startswith("reconciler/emulator/")],
            [name for name in found["modules"] if not name.startswith("reconciler.emulator")],
        )

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield each figure: what it is, and the figure."""
        texts = {file: file.read_text("utf-8") for file in self.files}
        trees = {file: ast.parse(text) for file, text in texts.items()}
        lengths = [len(text.splitlines()) for text in texts.values()]
        emulator = len(self.files) - len(self.own)
        yield "files of `reconciler/` (of the emulator)", f"{len(self.files)} ({emulator})"
        yield (
            "lines of code: no docstrings, comments, blanks",
            f"{sum(map(code_lines, self.files)):,}",
        )
        statements = sum(
            isinstance(node, ast.stmt) for tree in trees.values() for node in ast.walk(tree)
        )
        yield "statements", f"{statements:,}"
        entries = {file.relative_to(self.root / "reconciler").parts[0] for file in self.files}
        yield (
            "entries at the top of `reconciler/`",
            str(len(entries - {"__init__.py", "__main__.py"})),
        )
        yield "lines of a file, median", f"{median(lengths):.0f}"
        classes = {file: set(public_names(trees[file])) for file in self.own}
        yield "public class names of more than one module", str(len(repeated(classes)))
        stems = {file: {file.stem} - PATTERNS for file in self.own}
        yield "module names used more than once", str(len(repeated(stems)))
        found = [dialect for file in self.files for dialect in dialect_in(file)]
        loops = sum(dialect.word in NOT_NOUNS for dialect in found)
        yield "words and openers to leave, in docstrings and comments", f"{len(found) - loops:,}"
        yield "loop variables that are no noun", f"{loops:,}"
        planned = self.flow_of(*PLAN)
        yield "files whose functions run in one `plan` of `examples/`", str(len(planned.files))
        for words in (("validate",), PLAN, APPLY):
            count = len(self.flow_of(*words).modules)
            yield f"modules that `{words[0]}` imports", str(count)
        tests = (file.read_text("utf-8") for file in (self.root / "tests").rglob("*.py"))
        yield "lines of `tests/`", f"{sum(len(text.splitlines()) for text in tests):,}"


def code_lines(file: Path) -> int:
    """Return the number of lines that hold code."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    with file.open("rb") as opened:
        tokens = [
            token
            for token in tokenize.tokenize(opened.readline)
            if token.type not in silent
            and token.type not in (tokenize.ENCODING, tokenize.ENDMARKER)
        ]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - docstrings)


def public_names(module: ast.Module) -> Iterator[str]:
    """Yield the public classes and aliases of types at the top of a module."""
    for node in module.body:
        match node:
            case ast.ClassDef(name=name):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind):
                if "TypeAlias" not in ast.unparse(kind):
                    continue
            case _:
                continue
        if not name.startswith("_"):
            yield name


def repeated(names: dict[Path, set[str]]) -> dict[str, list[Path]]:
    """Return the names of more than one file, each with its files."""
    places = defaultdict(list)
    for file, own in names.items():
        for name in own:
            places[name].append(file)
    return {name: files for name, files in sorted(places.items()) if len(files) > 1}


def floors() -> list[list[str]]:
    """Return the modules and packages of each floor, the highest floor first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers: list[str] = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [layer.split(" | ") for layer in layers]


def about(name: str) -> str:
    """Return the first sentence of the docstring of a module or package of ours."""
    module = ROOT / "reconciler" / name
    file = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return docstring.split("\n\n")[0].replace("\n", " ").removesuffix(" Pure.")


def map_of_floors() -> str:
    """Return the floors as a table: each module or package, and what it is."""
    rows = "".join(
        f"| {' ' if number else '**' + str(height) + '**'} | `{name}` | {about(name)} |\n"
        for height, floor in zip(range(len(floors()), 0, -1), floors(), strict=True)
        for number, name in enumerate(floor)
    )
    return f"| Floor | Module | Content |\n|--:|---|---|\n{rows}"


def table(figures: Iterable[tuple[str, str]]) -> str:
    """Return the figures next to those of an earlier commit."""
    rows = (
        f"| {words} | {before} | {figure} |\n"
        for before, (words, figure) in zip(BEFORE, figures, strict=True)
    )
    return "| | 39fb4ff | now |\n|---|--:|--:|\n" + "".join(rows)


def between(text: str, mark: str, fresh: str) -> str:
    """Put `fresh` between the marks of that name."""
    head, _, rest = text.partition(f"<!-- {mark} -->\n")
    _, _, tail = rest.partition(f"<!-- /{mark} -->\n")
    return f"{head}<!-- {mark} -->\n{fresh}<!-- /{mark} -->\n{tail}"


def main() -> None:
    """Print the figures, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/architecture.md")
    parser.add_argument("--of", type=Path, default=ROOT, help="the checkout to measure")
    options = parser.parse_args()
    figures = list(House(options.of.resolve()).figures())
    if not options.write:
        print("".join(f"{figure:>12}  {words}\n" for words, figure in figures), end="")
        return
    text = between(PAGE.read_text("utf-8"), "figures", table(figures))
    PAGE.write_text(between(text, "floors", map_of_floors()), "utf-8")


if __name__ == "__main__":
    main()
