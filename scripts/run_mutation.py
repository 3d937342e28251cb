"""`make mutation`: change the code in small ways, and see which changes the tests notice.

    python scripts/run_mutation.py merge journal --sample 200 --seed 1

Each part is worked on in a copy in build/mutation/, and PART-survivors.txt there shows those
that nobody noticed; `--again` runs only these, with what the tests are by now. A mutant that
only changes words for people is counted apart and not run: a wording is no law.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutation"
TABLE = "[tool.mutmut]\n"
COPIED = ("reconciler", "tests", "scripts", "examples", "schemas", "docs")
KILLED = ("noticed", "timeout")


@dataclass(frozen=True)
class Part:
    """What is mutated, and the tests that are to notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "merge": Part(
        ("reconciler/document/merge.py", "reconciler/document/compare.py"),
        (
            "tests/document",
            "tests/planning/test_causes_of_drift.py",
            "tests/planning/test_left_out.py",
            "tests/applying/test_members_not_stored.py",
        ),
    ),
    "planning": Part(
        tuple(
            f"reconciler/planning/{name}.py"
            for name in ("consequences", "decide", "decision_cache", "find_drift", "make_plan")
        ),
        (
            "tests/planning",
            "tests/cli/test_drift_command.py",
            "tests/cli/test_kept_decisions.py",
            "tests/features/rollback/test_undone_in_part.py",
            "tests/guards/test_protection.py",
            "--deselect=tests/cli/test_kept_decisions.py::test_random_worlds",
            "--deselect=tests/planning/test_convergence.py",
            "--deselect=tests/planning/test_differences_of_plans.py",
        ),
    ),
    "guards": Part(
        ("reconciler/planning/guards/*.py",),
        (
            "tests/guards",
            # It counts repairs as long as there is time, and a busy machine has less.
            "--deselect=tests/guards/test_settings.py::test_odd_protection",
        ),
    ),
    "journal": Part(
        tuple(
            f"reconciler/journal/{name}.py"
            for name in (
                "content",
                "entries",
                "file_store",
                "history",
                "journal",
                "store",
            )
        ),
        (
            *(
                f"tests/journal/test_{name}.py"
                for name in (
                    "addresses",
                    "before",
                    "compacting",
                    "entries",
                    "file_examples",
                    "file_faults",
                    "file_store",
                    "history",
                    "journal_asks",
                    "journal_lines",
                    "lock_waiting",
                    "memory_examples",
                    "moves_stopped",
                    "moving",
                    "names",
                    "private_folder",
                    "provenance",
                    "remembered_end",
                    "runs",
                    "saving",
                    "told",
                )
            ),
            "tests/planning/test_secrets.py::test_older_seals_follow_a_resource",
            # Of moves, those between files: what other stores do is slow, and a matter of theirs.
            *(
                f"--deselect=tests/journal/test_moving.py::{name}"
                for name in (
                    "test_carried",
                    "test_there_and_back",
                    "test_not_over_another",
                    "test_locked",
                )
            ),
        ),
    ),
    "alerts": Part(
        tuple(
            f"reconciler/features/alert_tests/{name}.py"
            for name in ("evaluate", "log_alert", "log_row", "query_match")
        ),
        (
            "tests/features/alert_tests",
            "--deselect=tests/features/alert_tests/test_change_tests.py",
        ),
    ),
    "redaction": Part(
        ("reconciler/api/secret.py", "reconciler/redaction/templates.py"),
        (
            "tests/api/test_redaction_examples.py",
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


@dataclass(frozen=True)
class Mutant:
    """One function, and how it is changed."""

    name: str
    original: ast.AST
    changed: ast.AST

    @property
    def changes_words_only(self) -> bool:
        """Whether the two are one but for prose."""
        one, other = (
            ast.dump(_WithoutWords().visit(copy.deepcopy(tree)))
            for tree in (self.original, self.changed)
        )
        return one == other

    @property
    def difference(self) -> str:
        """The lines that differ."""
        one, other = (ast.unparse(tree).splitlines() for tree in (self.original, self.changed))
        lines = list(difflib.unified_diff(one, other, n=0, lineterm=""))[2:]
        return "\n".join(f"    {line}" for line in lines if not line.startswith("@@"))


class _WithoutWords(ast.NodeTransformer):
    """What is left of code without prose: no text with a space in it, no words of an error."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        prose = isinstance(node.value, str) and " " in node.value
        return ast.Constant("") if prose else node

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        return node


def mutants_of(folder: Path, part: Part) -> Iterator[Mutant]:
    """Yield every mutant of a part."""
    for pattern in part.files:
        paths = sorted(folder.glob(pattern))
        if not paths:
            raise SystemExit(f"{pattern} is not there: name what is to be mutated as it is called")
        for path in paths:
            relative = path.relative_to(folder)
            mutated = mutate_file_contents(str(relative), path.read_text())
            functions = dict(_functions(mutated.code))
            for name in mutated.mutant_names:
                original = functions[name.partition("__mutmut_")[0] + "__mutmut_orig"]
                yield Mutant(get_mutant_name(relative, name), original, functions[name])


def _functions(code: str) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "__mutmut_" in node.name:
            name, node.name = node.name, node.name.partition("__mutmut_")[0]
            yield name, node


def run_mutants(folder: Path, names: Sequence[str], children: int) -> dict[str, str]:
    """Map each mutant to what became of it. Ends the program where tests fail without one."""
    log = folder / "run.log"
    mutmut = str(Path(sys.executable).with_name("mutmut"))
    forked = str(folder / "scripts" / "forked_mutants.py")
    asked, told = folder / "names.txt", folder / "results.txt"
    asked.write_text("\n".join(names))
    memory = Path("/dev/shm")  # noqa: S108 - the system's own folder in memory
    with (
        log.open("w") as stream,
        # What a disk takes to sync, it would take for each mutant.
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as temporary,
    ):
        # Of plugins, those that the settings name are enough.
        environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TMPDIR": temporary}
        for command, place in (
            # One mutant is run by the tool itself, which finds out what the tests reach.
            ([mutmut, "run", "--max-children", "1", names[0]], folder),
            ([sys.executable, forked, str(asked), str(told), str(children)], folder / "mutants"),
        ):
            ran = subprocess.run(
                command,
                cwd=place,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=environ,
                check=False,
            )
            if ran.returncode:
                sys.exit(f"the tests do not pass without a mutant: see {log}")
    lines = (line.split() for line in told.read_text().splitlines())
    return dict(lines)


def run_part(name: str, children: int, chosen: Callable[[list[str]], list[str]]) -> None:
    """Run the chosen mutants of one part, and print how many were noticed and which were not."""
    part = PARTS[name]
    folder = copied(name, part)
    # The tool reads its settings where it stands.
    os.chdir(folder)
    mutants = {mutant.name: mutant for mutant in mutants_of(folder, part)}
    everything = [mutant.name for mutant in mutants.values() if not mutant.changes_words_only]
    names = chosen(everything)
    if not names:
        print(f"{name}: none of {len(everything)} mutants was chosen")
        return
    results = run_mutants(folder, names, children)
    counts = Counter(results.values())
    killed = sum(counts[text] for text in KILLED)
    print(
        f"{name}: {len(everything)} mutants (and {len(mutants) - len(everything)} of words only, "
        f"not run), {len(names)} run, {killed} noticed: {killed / len(names):.1%} {dict(counts)}",
        flush=True,
    )
    survivors = survivors_file(name)
    survivors.write_text(
        "".join(
            f"{result}: {mutant}\n{mutants[mutant].difference}\n"
            for mutant, result in results.items()
            if result not in KILLED
        )
    )
    print(f"  the others: {survivors}")


def survivors_file(name: str) -> Path:
    """Give where the mutants of a part that nobody noticed are listed."""
    return WORK / f"{name}-survivors.txt"


def survivors_of(name: str) -> set[str]:
    """Give the mutants that nobody noticed the last time."""
    file = survivors_file(name)
    if not file.exists():
        sys.exit(f"{name} did not run yet: {file} is missing")
    lines = file.read_text().splitlines()
    return {line.partition(": ")[2] for line in lines if line[:1].isalpha()}


def main() -> None:
    """Run what was asked for, part by part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--sample", type=int, default=0, help="mutants of each part; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--children", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="only those that survived last time")
    asked = parser.parse_args()
    for name in asked.parts:
        last = survivors_of(name) if asked.again else set()

        def chosen(names: list[str], last: set[str] = last) -> list[str]:
            names = [one for one in names if one in last or not asked.again]
            if 0 < asked.sample < len(names):
                sample = random.Random(asked.seed).sample(names, asked.sample)  # noqa: S311 - no secret
                return sorted(sample)
            return names

        run_part(name, asked.children, chosen)


if __name__ == "__main__":
    main()
