"""`make mutation`: change the code in small ways, and see which changes the tests notice.

    python scripts/run_mutation.py merge journal --sample 200 --seed 1

Each part is worked on in a copy in build/mutation/. A mutant that only changes words
for people is counted apart and not run: a wording is no law.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.stats import status_by_exit_code
from mutmut.utils.format_utils import get_mutant_name

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutation"
TABLE = "[tool.mutmut]\n"
COPIED = ("reconciler", "tests", "scripts", "examples", "schemas", "docs")
KILLED = ("killed", "timeout", "segfault", "suspicious")


@dataclass(frozen=True)
class Part:
    """What is mutated, and the tests that are to notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "merge": Part(
        ("reconciler/document/merging.py", "reconciler/document/comparing.py"),
        ("tests/document/test_merge_examples.py", "tests/document/test_difference_examples.py"),
    ),
    "planning": Part(
        ("reconciler/planning/*.py",),
        (
            "tests/planning/test_decisions.py",
            "tests/planning/test_differences_of_plans.py",
            "tests/planning/test_doubtful_base.py",
            "tests/planning/test_secrets.py",
            "tests/planning/test_unread.py",
            "tests/planning/test_whole_plans.py",
        ),
    ),
    "guards": Part(("reconciler/guards/*.py",), ("tests/guards",)),
    "journal": Part(
        tuple(
            f"reconciler/journal/{name}.py"
            for name in (
                "chain",
                "compacting",
                "entries",
                "entry_documents",
                "file_store",
                "history",
                "journal",
                "lease",
            )
        ),
        tuple(
            f"tests/journal/test_{name}.py"
            for name in (
                "compacting",
                "file_faults",
                "file_store",
                "history",
                "journal_asks",
                "journal_lines",
            )
        ),
    ),
    "redaction": Part(
        ("reconciler/api/secret.py", "reconciler/template.py"),
        (
            "tests/api/test_secret.py",
            "tests/api/test_secret_forms.py",
            "tests/test_template.py",
            "tests/test_seals.py",
        ),
    ),
}


def settings_of(part: Part) -> str:
    """Give what the part adds to the tool's settings in pyproject.toml."""
    files, tests = json.dumps(part.files), json.dumps(part.tests)
    return f"only_mutate = {files}\npytest_add_cli_args_test_selection = {tests}\n"


def copied(name: str, part: Part) -> Path:
    """Give a fresh copy of the project that is set up to mutate one part."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    for copied_one in COPIED:
        shutil.copytree(
            ROOT / copied_one,
            folder / copied_one,
            ignore=shutil.ignore_patterns("__pycache__", ".reconciler"),
        )
    settings = (ROOT / "pyproject.toml").read_text()
    (folder / "pyproject.toml").write_text(settings.replace(TABLE, TABLE + settings_of(part)))
    return folder


class _WithoutWords(ast.NodeTransformer):
    """What is left of code without prose: no text with a space in it, no words of an error."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        prose = isinstance(node.value, str) and " " in node.value
        return ast.Constant("") if prose else node

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        return node


def mutants_of(folder: Path, part: Part) -> tuple[list[str], list[str]]:
    """Give the names of the mutants to run, and of those of words only."""
    to_run: list[str] = []
    words: list[str] = []
    for pattern in part.files:
        for path in sorted(folder.glob(pattern)):
            relative = path.relative_to(folder)
            mutated = mutate_file_contents(str(relative), path.read_text())
            texts = dict(_functions(mutated.code))
            for name in mutated.mutant_names:
                original = name.partition("__mutmut_")[0] + "__mutmut_orig"
                same = texts[name].replace(name, original) == texts[original]
                (words if same else to_run).append(get_mutant_name(relative, name))
    return to_run, words


def _functions(code: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "__mutmut_" in node.name:
            yield node.name, ast.dump(_WithoutWords().visit(node))


def results_of(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Map each mutant that was run to what became of it."""
    codes: dict[str, int | None] = {}
    for meta in (folder / "mutants").rglob("*.meta"):
        codes.update(json.loads(meta.read_text())["exit_code_by_key"])
    return {name: status_by_exit_code[codes[name]] for name in names}


def run_part(name: str, sample: int, seed: int, children: int) -> None:
    """Run the mutants of one part, and print how many were noticed and which were not."""
    part = PARTS[name]
    folder = copied(name, part)
    os.chdir(folder)
    everything, words = mutants_of(folder, part)
    names = everything
    if 0 < sample < len(everything):
        names = sorted(random.Random(seed).sample(everything, sample))  # noqa: S311 - no secret
    mutmut = str(Path(sys.executable).with_name("mutmut"))
    command = [mutmut, "run", "--max-children", str(children), *names]
    # Each mutant starts pytest anew, and its plugins cost more than most of these tests.
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with (folder / "run.log").open("w") as log:
        ran = subprocess.run(
            command, stdout=log, stderr=subprocess.STDOUT, env=environ, check=False
        )
    if ran.returncode:
        sys.exit(f"the tests of {name} do not pass without a mutant: see {folder / 'run.log'}")
    results = results_of(folder, names)
    counts = Counter(results.values())
    killed = sum(counts[one] for one in KILLED)
    print(
        f"{name}: {len(everything)} mutants (and {len(words)} of words only, not run), "
        f"{len(names)} run, {killed} noticed: {killed / len(names):.1%} {dict(counts)}",
        flush=True,
    )
    with (folder / "survivors.txt").open("w") as survivors:
        for mutant, result in results.items():
            if result not in KILLED:
                survivors.write(f"{result}: ")
                survivors.flush()
                subprocess.run([mutmut, "show", mutant], stdout=survivors, check=False)
    print(f"  the others: {folder / 'survivors.txt'}")


def main() -> None:
    """Run what was asked for, part by part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--sample", type=int, default=0, help="mutants of each part; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--children", type=int, default=2)
    asked = parser.parse_args()
    for name in asked.parts:
        run_part(name, asked.sample, asked.seed, asked.children)


if __name__ == "__main__":
    main()
