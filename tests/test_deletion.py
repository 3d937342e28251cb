"""Each feature can be deleted: nothing imports it, and all else works without it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest
from delete_features import MODULES, failures, without_contracts, without_entry, without_settings
from delete_features import delete as deleted

from reconciler.features import FEATURES
from reconciler.runtime.rows import Rows

ROOT: Final = Path(__file__).parent.parent
FOLDER: Final = ROOT / "reconciler" / "features"
ROWS: Final = [
    (sort, key) for feature in FEATURES.values() for sort, rows in feature.items() for key in rows
]
ALONE: Final = f"""
import os
import sys
from reconciler.features import FEATURES

class Gone:
    def find_spec(self, name, path=None, target=None):
        package, _, feature = name.removeprefix("reconciler.").partition(".")
        if package == "features" and feature and feature.split(".")[0] not in FEATURES:
            raise ModuleNotFoundError(f"{{name}} is gone")

def listed():
    from reconciler.cli.overview import _commands
    return [*_commands()]

table = {{**FEATURES}}
FEATURES.clear()
sys.meta_path.insert(0, Gone())
{MODULES}
print("", *listed(), flush=True)
for alone in table:
    child = os.fork()
    if child == 0:
        FEATURES[alone] = table[alone]
        {MODULES.replace(chr(10), chr(10) + " " * 8)}
        print(alone, *listed(), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{{alone}} does not work alone")
"""
"""Prints which commands there are without features, and then with each alone."""


def head() -> int:
    """Return the number that is the hash of the checked out commit; 0 where there is none."""
    ran = subprocess.run(
        ["git", "rev-parse", "HEAD"],  # noqa: S607 - git of the PATH
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    return int(ran.stdout.strip() or "0", 16)


CHOSEN: Final = list(FEATURES)[head() % len(FEATURES)]


def test_the_table_names_every_folder() -> None:
    """Each feature of the table is a folder, and each folder a feature of the table."""
    folders = {file.parent.name for file in FOLDER.glob("*/__init__.py")}

    assert sorted(FEATURES) == sorted(folders)


@pytest.mark.parametrize(("sort", "key"), sorted({*ROWS}))
def test_every_row_names_something(sort: str, key: str) -> None:
    """Each row can be loaded, and rows of one sort and key name one thing."""
    named = Rows[object](sort).load(key)

    assert named is not None
    for name, feature in FEATURES.items():
        if address := feature.get(sort, {}).get(key):
            module, _, attribute = address.partition(" ")[0].partition(":")
            folder = import_module(f"reconciler.features.{name}.{module}")
            assert getattr(folder, attribute) is named


def test_every_sort_of_row_is_read() -> None:
    """Each sort of row in the table is one that some part of the program reads."""
    texts = (file.read_text("utf-8") for file in (ROOT / "reconciler").rglob("*.py"))
    read = {sort for text in texts for sort in re.findall(r"\bRows(?:\[.+\])?\(\"([\w-]+)\"", text)}

    assert {sort for sort, _ in ROWS} <= read | {"commands"}


@pytest.mark.slow
def test_nothing_imports_a_feature() -> None:
    """The core can be imported without features, and each of them alone; help has its commands."""
    ran = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, check=False, text=True
    )

    assert ran.returncode == 0, ran.stderr
    core, *others = (line.split(" ") for line in ran.stdout.splitlines())
    assert [feature for feature, *_ in others] == [*FEATURES]
    for feature, *listed in others:
        assert {*listed} - {*core} == {*FEATURES[feature].get("commands", ())}
        assert {*core} - {"", *listed} == set()


@pytest.mark.slow
def test_all_else_works_without_a_feature(tmp_path: Path) -> None:
    """One feature, another one by commit, is deleted from a copy, and the copy works."""
    assert [*failures(deleted(CHOSEN, tmp_path))] == [], CHOSEN


def test_an_entry_is_deleted() -> None:
    """The entry of a feature is cut out of the table, and the others stay as they are."""
    table = 'FEATURES = {\n    "a": {\n        "rows": {"k": "m:n"},\n    },\n    "b": {},\n}\n'

    assert without_entry(table, "a") == 'FEATURES = {\n    "b": {},\n}\n'
    assert without_entry(without_entry(table, "b"), "a") == "FEATURES = {\n}\n"


def test_contracts_are_deleted() -> None:
    """A contract names the feature no longer, and one about its own packages goes with it."""
    mark = "[[tool.importlinter.contracts]]\n"
    contracts = (
        f'{mark}name = "A"\nallowed_importers = ["reconciler.features.a.b"]\n',
        f'{mark}name = "B"\nallowed_importers = ["reconciler.cli", "reconciler.features.a"]\n',
    )

    assert without_contracts("".join(contracts), "a") == (
        f'{mark}name = "B"\nallowed_importers = ["reconciler.cli", ]\n'
    )


def test_settings_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a feature are cut out of a project file, wherever they are."""
    rows = {"environment-settings": {"freeze": "m:n"}, "project-settings": {"rules": "m:n"}}
    monkeypatch.setitem(FEATURES, "freeze", rows)
    project = "rules: []\nenvironments:\n  local: {freeze: {}, journal: here}\n"

    assert without_settings(project, "freeze") == "environments:\n  local:\n    journal: here\n"
