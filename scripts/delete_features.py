"""`make deletion`: show that the program works without each of its features.

For each feature (those of FEATURES="watch audit", else all), the tree is copied, and the feature is
deleted from the copy: its folder, its entry in the table, its lines in pyproject.toml, and the
tests and scripts that import it. The rest must be importable and keep the floors, show help, write
its schemas, and check, plan and apply a copy of examples/ without the settings of the feature, on a
command line and in a job. Nothing that it prints may advise a command that is not there.

A line a feature says OK, or what failed first. The exit code is 1 where something failed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from reconciler.features import FEATURES

ROOT: Final = Path(__file__).resolve().parent.parent
TABLE: Final = Path("reconciler/features/__init__.py")
WORKERS: Final = 2
SETTINGS_OF: Final = {"environment-settings": "environments", "project-settings": ""}
"""The sorts of rows whose keys are settings of the project file, and where these are."""

MODULES: Final = """
import pkgutil
from importlib import import_module
import reconciler
from reconciler.features import FEATURES
for found in pkgutil.walk_packages(reconciler.__path__, "reconciler."):
    _, package, feature, *_ = [*found.name.split("."), ""]
    is_gone = package == "features" and feature and feature not in FEATURES
    if not is_gone and found.name != "reconciler.__main__":
        import_module(found.name)
"""
HELP: Final = """
import sys
import click
from reconciler.cli.other_tools import COMMAND_WORDS
from reconciler.cli.root import cli, run
context = click.Context(cli)
def show(group, *words):
    assert run([*words, "--help"]) == 0, f"{' '.join(words)} --help"
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            show(group.get_command(context, name), *words, name)
show(cli)
for word in " ".join(COMMAND_WORDS).split():
    run([word])
"""
RUNS: Final = """
import sys
from reconciler.cli.root import run
for line in sys.argv[1:]:
    code = run(line.split())
    assert code == 0, f"`{line}` ends with {code}"
"""
LINES: Final = (
    *("validate", "validate --format json", "validate --format junit", "validate --format sarif"),
    *("plan", "plan --format json", "plan --format markdown", "plan --format html"),
    *("apply --yes", "plan", "drift", "drift --format html", "journal history", "ci plan"),
)
CONTRACT: Final = "[[tool.importlinter.contracts]]"
BROKEN: Final = re.compile(r"^(.+?) BROKEN", re.MULTILINE)
ADVISED: Final = re.compile(r"`reconciler ([a-z]\w*)")


class Failure(Exception):
    """A proof that failed, and why; `printed` is what a process printed."""

    def __init__(self, why: str, printed: str = "") -> None:
        super().__init__(why)
        self.printed = printed


@dataclass(frozen=True)
class Rest:
    """A copy of the project in a folder, without a feature."""

    folder: Path
    feature: str

    def run(self, *command: str, place: str = ".", **environ: str) -> str:
        """Run Python in a folder of the copy, and return stdout and stderr. Raises Failure."""
        own = ("RECONCILER_", "GITHUB_", "INPUT_", "RUNNER_")
        kept = {name: text for name, text in os.environ.items() if not name.startswith(own)}
        path = os.pathsep.join((str(self.folder), str(self.folder / "scripts")))
        ran = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder / place,
            # What the first process compiles serves the others.
            env={**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "", **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
        )
        if ran.returncode:
            said = [line for line in ran.stdout.splitlines() if line.strip()]
            raise Failure(said[-1] if said else f"it ended with {ran.returncode}", ran.stdout)
        return ran.stdout


def delete(feature: str, folder: Path) -> Rest:
    """Copy the project into an empty folder, without a feature, and return the copy."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],  # noqa: S607 - git of the PATH
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not _belongs_to(feature, Path(name)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    _rewrite(folder / TABLE, lambda text: without_entry(text, feature))
    _rewrite(folder / "pyproject.toml", lambda text: without_contracts(text, feature))
    for file in (folder / "examples").rglob("reconciler.yaml"):
        for named in side_files(file.read_text("utf-8"), feature):
            (file.parent / named).unlink(missing_ok=True)
        _rewrite(file, lambda text: without_settings(text, feature))
    return Rest(folder, feature)


def _belongs_to(feature: str, file: Path) -> bool:
    """Return whether a file is in the folder of a feature, or a test or script that imports it."""
    if file.parts[1:3] == ("features", feature):
        return True
    is_python = file.parts[0] in {"tests", "scripts"} and file.suffix == ".py"
    own = re.compile(rf"^ *(?:from|import) reconciler\.features\.{feature}\b", re.MULTILINE)
    return is_python and own.search((ROOT / file).read_text("utf-8")) is not None


def _rewrite(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text("utf-8")), "utf-8")


def without_entry(table: str, feature: str) -> str:
    """Return the text of the table of features without one of them."""
    lines = table.splitlines(keepends=True)
    for node in ast.walk(ast.parse(table)):
        if isinstance(node, ast.Dict):
            for key, rows in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == feature and key.col_offset == 4:  # noqa: PLR2004 - of the outermost mapping
                    del lines[key.lineno - 1 : rows.end_lineno]
                    return "".join(lines)
    raise Failure(f"the table has no feature {feature}")


def without_contracts(text: str, feature: str) -> str:
    """Return the text of pyproject.toml without a feature in contracts, and those of it alone."""
    named = re.compile(rf'"reconciler\.features\.{feature}\b[^"]*",?[ \n]*')
    head, *contracts = named.sub("", text).split(CONTRACT)
    return CONTRACT.join([head, *(part for part in contracts if "importers = []" not in part)])


def without_settings(text: str, feature: str) -> str:
    """Return the text of a project file without the settings of a feature."""
    project: dict[str, Any] = yaml.safe_load(text)
    for sort, place in SETTINGS_OF.items():
        for settings in project.get(place, {}).values() if place else (project,):
            for name in FEATURES[feature].get(sort, ()):
                settings.pop(name, None)
    return yaml.safe_dump(project, sort_keys=False)


def side_files(text: str, feature: str) -> Iterator[str]:
    """Yield the files that the settings of a feature name; without it they look like manifests."""
    for environment in yaml.safe_load(text).get("environments", {}).values():
        for name in FEATURES[feature].get("workspace-files", ()):
            if (setting := environment.get(name)) is not None:
                yield setting if isinstance(setting, str) else setting["file"]


def imports(rest: Rest) -> str:
    """Import every module."""
    return rest.run("-c", MODULES)


def floors(rest: Rest) -> str:
    """Check what imports what."""
    linter = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    try:
        rest.run("-c", linter, "--no-cache")
    except Failure as failure:
        broken = BROKEN.findall(failure.printed)
        raise Failure(f"lint-imports: {'; '.join(broken) or failure}") from None
    return ""


def shows_help(rest: Rest) -> str:
    """Show the help of every command, and the answers to the commands of other tools."""
    return rest.run("-m", "reconciler", "--help") + rest.run("-c", HELP)


def writes(rest: Rest) -> str:
    """Write the schemas and the command tree."""
    return rest.run("scripts/write_schemas.py") + rest.run("scripts/write_tree.py")


def works(rest: Rest) -> str:
    """Check, plan and apply the examples, and plan them in a job."""
    commit = committed(rest.folder / "examples")
    event = rest.folder / "event.json"
    repository = {"id": 1, "full_name": "team/shop", "default_branch": "main"}
    event.write_text(json.dumps({"ref": "refs/heads/main", "repository": repository}))
    files = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary", "RUNNER_TEMP": "."}
    return rest.run(
        *("-c", RUNS, *LINES),
        place="examples",
        GITHUB_ACTIONS="true",
        GITHUB_EVENT_NAME="push",
        GITHUB_EVENT_PATH=str(event),
        GITHUB_REPOSITORY="team/shop",
        GITHUB_SERVER_URL="https://forge.example.com",
        GITHUB_REF="refs/heads/main",
        GITHUB_SHA=commit,
        GITHUB_RUN_ID="1",
        **{name: str(rest.folder / file) for name, file in files.items()},
    )


def committed(folder: Path) -> str:
    """Make a repository of a folder, and return the commit of what is there."""
    person = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    lines = ("init", "--quiet"), ("add", "."), (*person, "commit", "--quiet", "--message", "All")
    for line in lines:
        subprocess.run(["git", *line], cwd=folder, check=True)  # noqa: S607 - git of the PATH
    newest = ["git", "rev-parse", "HEAD"]
    return subprocess.run(newest, cwd=folder, capture_output=True, check=True, text=True).stdout[
        :-1
    ]


PROOFS: Final[Sequence[Callable[[Rest], str]]] = (imports, floors, shows_help, writes, works)


def failures(rest: Rest, proofs: Sequence[Callable[[Rest], str]] = PROOFS) -> Iterator[str]:
    """Yield what fails without the feature: the proof, and why."""
    printed = ""
    for proof in proofs:
        try:
            printed += proof(rest)
        except Failure as failure:
            yield f"{proof.__name__}: {failure}"
    try:
        names = "from reconciler.cli.overview import COMMANDS; print(*COMMANDS)"
        advised = {*ADVISED.findall(printed)} - {*rest.run("-c", names).split()}
    except Failure as failure:
        yield f"commands: {failure}"
    else:
        yield from (f"advice: there is no `reconciler {word}`" for word in sorted(advised))


def verdict(feature: str, *, keep_going: bool) -> list[str]:
    """Return what fails without a feature: nothing, or the first failure; all with `keep_going`."""
    with tempfile.TemporaryDirectory() as folder:
        found = failures(delete(feature, Path(folder)))
        return list(found) if keep_going else [line for line in (next(found, ""),) if line]


def main() -> None:
    """Print a line a feature."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("features", nargs="*", metavar="FEATURE", help="left out: all")
    parser.add_argument("--keep-going", action="store_true", help="print every failure")
    options = parser.parse_args()
    chosen = options.features or list(FEATURES)
    if unknown := [name for name in chosen if name not in FEATURES]:
        parser.error(f"no feature: {', '.join(unknown)} (known: {', '.join(FEATURES)})")
    failed = False
    with ThreadPoolExecutor(WORKERS) as pool:
        verdicts = pool.map(lambda name: verdict(name, keep_going=options.keep_going), chosen)
        for name, lines in zip(chosen, verdicts, strict=True):
            print(f"{name:20}{f'{chr(10):21}'.join(lines) or 'OK'}", flush=True)
            failed = failed or bool(lines)
    sys.exit(failed)


if __name__ == "__main__":
    main()
