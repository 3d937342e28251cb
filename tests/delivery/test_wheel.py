"""The wheel as somebody gets it: built here, installed beside nothing but what it needs.

Nothing is fetched: it is built with the locked tools of these tests, and its
dependencies are lent by the environment that the tests run in.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from harness.workspaces import examples_here
from runner import ROOT

from reconciler import __version__

DISTRIBUTION = "observability-reconciler"
# Another project's name on public indexes, and ours, which is not there yet.
BY_NAME = re.compile(r"[\"']?(?:observability-)?reconciler(?:\[[a-z,]*\])?[\"'`.,)]*")
PIN = re.compile(r"^([a-z0-9-]+)==", re.MULTILINE)
MODULES = """\
import importlib, pkgutil, reconciler
for module in pkgutil.walk_packages(reconciler.__path__, "reconciler."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            print(missing.name)
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and the folder that commands run in."""

    bin: Path
    folder: Path
    wheel: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment with nothing of ours but its folder."""
        program, *arguments = command
        return subprocess.run(
            [self.bin / program, *arguments],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
        )

    @property
    def about(self) -> Message:
        """What the wheel says of itself."""
        with ZipFile(self.wheel) as packed:
            (name,) = (one for one in packed.namelist() if one.endswith(".dist-info/METADATA"))
            return HeaderParser().parsestr(packed.read(name).decode("utf-8"))


def pip(*arguments: str | Path) -> None:
    """Run the pip of these tests, which may ask no index."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    command = (sys.executable, "-m", "pip", *quiet, *arguments)
    ran = subprocess.run(command, cwd="/", capture_output=True, check=False, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def lend(lock: Path, packages: Path) -> None:
    """Put links to the locked packages into an environment, and to nothing beside them."""
    for name in PIN.findall(lock.read_text(encoding="utf-8")):
        lent = distribution(name)
        for first in {file.parts[0] for file in lent.files or () if file.parts[0] != ".."}:
            place = packages / first
            if not place.exists():
                place.symlink_to(Path(str(lent.locate_file(first))))


def tracked_below(folder: str) -> list[str]:
    """Return the files of the repository below a folder that are committed, or would be."""
    listed = ("ls-files", "--cached", "--others", "--exclude-standard", folder)
    return subprocess.run(
        ["git", "-C", str(ROOT), *listed],  # noqa: S607 - git of the PATH
        capture_output=True,
        check=True,
        text=True,
    ).stdout.splitlines()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Build the wheel, and install it where only its locked dependencies are."""
    made = tmp_path_factory.mktemp("made")
    build = ("--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir")
    pip("wheel", *build, "--wheel-dir", made / "wheels", ROOT)
    (wheel,) = (made / "wheels").iterdir()
    environment = made / "environment"
    plain = ("--without-pip", "--symlinks")
    subprocess.run([sys.executable, "-I", "-m", "venv", *plain, environment], check=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    lend(ROOT / "requirements" / "runtime.txt", packages)
    # Not --no-deps: what the wheel asks for has to be there already.
    pip("--python", environment / "bin" / "python", "install", "--no-index", wheel)
    shutil.copytree(
        ROOT / "examples", made / "shop", ignore=shutil.ignore_patterns(".reconciler", "workflows")
    )
    yield Installed(environment / "bin", made / "shop", wheel)
    shutil.rmtree(made)


@pytest.mark.promise("P47")
def test_the_wheel_works_without_its_repository(installed: Installed) -> None:
    """The wheel, outside the repository and beside its locked dependencies alone, does its work."""
    told = installed.run("reconciler", "--version")
    place = installed.run("python", "-I", "-c", "import reconciler; print(reconciler.__file__)")
    ended = [
        installed.run("reconciler", *command.split())
        for command in (
            *("validate", "apply --yes", "plan --exit-code", "drift", "schema plan"),
            *("plan --format html", "explain L203", "explain 11"),
        )
    ]
    begun = [
        installed.run("reconciler", *command.split(), "../begun")
        for command in ("init", "validate")
    ]

    assert (told.returncode, told.stdout.split()) == (0, ["reconciler", __version__])
    assert place.stdout.startswith(str(installed.bin.parent))
    assert [one.returncode for one in ended] == [0] * len(ended), [one.stderr for one in ended]
    kept = [int(count) for count in re.findall(r"(\d+) as (?:declared|last)", ended[2].stdout)]
    assert sum(kept) == 2 * examples_here()
    assert [one.returncode for one in begun] == [0, 0], [one.stderr for one in begun]
    assert "5 resources in 5 files: " in begun[1].stderr


PROGRAM = "from reconciler.runtime.cache import program; print(program())"


def test_the_same_wheel_in_another_job(installed: Installed) -> None:
    """For a cache it is the same program when installed anew, and another one once edited."""
    (packages,) = installed.bin.parent.glob("lib/python3*/site-packages")
    first = installed.run("python", "-I", "-c", PROGRAM).stdout
    pip("--python", installed.bin / "python", "uninstall", "--yes", DISTRIBUTION)
    pip("--python", installed.bin / "python", "install", "--no-index", installed.wheel)
    os.utime(packages, (0, 0))
    for file in (packages / "reconciler").rglob("*.py"):
        os.utime(file, (0, 0))
    again = installed.run("python", "-I", "-c", PROGRAM).stdout

    beside = packages / "another-1.0.dist-info"
    beside.mkdir()
    with_another = installed.run("python", "-I", "-c", PROGRAM).stdout
    beside.rmdir()
    edited = packages / "reconciler" / "runtime" / "failpoints.py"
    text = edited.read_bytes()
    edited.write_bytes(text + b"\n")
    after_an_edit = installed.run("python", "-I", "-c", PROGRAM).stdout
    edited.write_bytes(text)

    assert len(first.strip()) == 64
    assert again == first
    assert len({first, with_another, after_an_edit}) == 3


@pytest.mark.promise("P47")
def test_every_module_of_the_wheel_loads(installed: Installed) -> None:
    """Each module loads beside the locked dependencies, but for those that an extra is for."""
    loaded = installed.run("python", "-I", "-c", MODULES)

    assert (loaded.stderr, set(loaded.stdout.split())) == ("", {"obstore", "cel_expr_python"})


@pytest.mark.promise("P47")
def test_every_file_of_the_package_is_in_the_wheel(installed: Installed) -> None:
    """The wheel has each file below reconciler/, also what is no Python, byte for byte."""
    kept = {
        name: (ROOT / name).read_bytes()
        for name in tracked_below("reconciler")
        if (ROOT / name).is_file()
    }
    with ZipFile(installed.wheel) as packed:
        held = {
            name: packed.read(name)
            for name in packed.namelist()
            if name.startswith("reconciler/") and not name.endswith("/")
        }

    assert held.keys() == kept.keys()
    assert held == kept


@pytest.mark.promise("P47")
def test_what_the_wheel_is_called(installed: Installed) -> None:
    """The distribution has a name of its own; command and package keep theirs."""
    about = installed.about

    assert (about["Name"], about["Version"]) == (DISTRIBUTION, __version__)
    assert installed.wheel.name.startswith("observability_reconciler-")
    assert sorted(about.get_all("Provides-Extra") or ()) == ["plot", "remote", "rules"]
    # No home that is not there is named: there is no public one yet.
    assert about.get_all("Project-URL") is None
    assert (installed.bin / "reconciler").is_file()


@pytest.mark.promise("P47")
def test_an_extra_that_is_missing(installed: Installed) -> None:
    """Where an extra is missing, the way to it is a checkout, whatever needs the extra."""
    project = installed.folder.parent / "bucket" / "reconciler.yaml"
    project.parent.mkdir()
    project.write_text(
        "environments: {local: {emulator: {data: x.db}, journal: 's3://bucket/journal'}}\n",
        encoding="utf-8",
    )
    asked = [
        installed.run("reconciler", "usage", "--png", "usage.png"),
        installed.run("reconciler", "plan", "--project", str(project)),
    ]

    assert [one.returncode for one in asked] == [64, 64], [one.stderr for one in asked]
    for one, extra in zip(asked, ("plot", "remote"), strict=True):
        assert f"pip install '.[{extra}]'" in one.stderr


@pytest.mark.promise("P47")
def test_nobody_is_told_to_install_by_name() -> None:
    """No page, message or script installs this project by its name from an index.

    The name `reconciler` belongs to an unrelated package there.
    """
    found = []
    for name in tracked_below("."):
        file = ROOT / name
        if file.suffix == ".png" or not file.is_file() or file == Path(__file__):
            continue
        text = file.read_text(encoding="utf-8").replace("\\\n", " ")
        found += [(name, line) for line in text.splitlines() if installs_by_name(line)]

    assert found == []


def installs_by_name(line: str) -> bool:
    """Tell whether a line runs `pip install` for this project by name, of any index."""
    before, _, arguments = line.partition(" install ")
    if not re.search(r"\bpip\b|\$\{pip|\$\(PIP\)|\bpipx\b|\buv tool\b", before):
        return False
    words = arguments.split()
    return "--no-index" not in words and any(BY_NAME.fullmatch(word) for word in words)


@pytest.mark.promise("P47")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("run `pip install 'reconciler[remote]'` first", True),
        ('"pip install observability-reconciler"', True),
        ("pipx install reconciler.", True),
        ("pip install '.[remote]'", False),
        ("pip install --no-deps .", False),
        ("pip install --no-index --find-links /wheels observability-reconciler", False),
        ("python -m venv reconciler", False),
    ],
)
def test_what_installs_by_name(line: str, told: bool) -> None:
    """The search above sees each way of writing it, and no other."""
    assert installs_by_name(line) is told
