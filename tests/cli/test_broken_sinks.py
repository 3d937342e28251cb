"""Every command that runs without a service, and every way to lose what it prints."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from harness.doors import cold_command, command, of_a_terminal
from harness.forked import Came, Launch, Sink, run_all
from harness.golden import Golden
from harness.workspaces import SEEDED, WORKSPACE

from reconciler.cli.overview import COMMANDS
from reconciler.cli.root import cli
from reconciler.errors import worst

FULL, UNREAD = 74, 141
LOST: dict[Sink, int] = {"closed": FULL, "full": FULL, "unread": UNREAD}
BOTH: tuple[Sink, ...] = ("closed", "unread")
PARTS = 6
"""How many tests share the commands, so that several processes run them."""
VIEW = "SavedView/errors"
# What a command needs to do something; any other is run without arguments.
ARGUMENTS = {
    "adopt": ["--all"],
    "apply": ["--yes"],
    "rollback": ["last", "--yes"],
    "ci": ["validate"],
    "import": ["policies"],
    "explain": ["M303"],
    "init": ["new"],
    "journal settle": [VIEW, "--never-happened"],
    "policies test": ["--severity", "error"],
    "policies add": ["policies.json", "--yes"],
    "conformance": ["--project", "reconciler.yaml"],
    "emulator tick": ["--data", "demo.db"],
}
BESIDE = (
    *(["ci", one] for one in ("plan", "apply", "drift")),
    ["validate", "--format", "json"],
    ["plan", "--format", "html"],
    *(["events", "list", "--format", one] for one in ("json", "jsonl")),
    *(["apply", "--yes", "--format", one] for one in ("json", "jsonl")),
    ["--version"],
    ["--help"],
    ["plan", "--help"],
    ["plan", "--no-such-option"],
    ["no-such-command"],
    ["plan", "--exit-code", "--out", "plan.json"],
)
# It runs until it is stopped, and prints nothing but words.
ENDLESS = "emulator serve"
CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|sha256:[0-9a-f]+|[0-9]+|/\S+")


def leaves() -> Iterator[str]:
    """Name every command that is no group."""
    context = click.Context(cli)
    for name in COMMANDS:
        found = cli.get_command(context, name)
        if isinstance(found, click.Group):
            yield from (f"{name} {command}" for command in found.list_commands(context))
        else:
            yield name


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, demo_data: Path) -> Path:
    """Give a project on a seeded emulator, with one apply behind it and another to come."""
    root = tmp_path_factory.mktemp("sunk") / "shop"
    (root / "manifests").mkdir(parents=True)
    (root / "reconciler.yaml").write_text(SEEDED, encoding="utf-8")
    shutil.copyfile(demo_data, root / "demo.db")
    policy = {"name": "added", "priority": "PRIORITY_TYPE_HIGH"}
    (root / "policies.json").write_text(json.dumps([policy]), encoding="utf-8")
    first, *_, view = WORKSPACE.split("---\n")
    manifests = root / "manifests" / "all.yaml"
    manifests.write_text(first, encoding="utf-8")
    (came,) = run_all([Launch(str(root), ["apply", "--yes"])])
    assert came.code == 0, came.err
    manifests.write_text(f"{first}---\n{view}", encoding="utf-8")
    return root


def state(folder: Path) -> object:
    """Give what a run left behind: rows of the service, entries of the journal, files."""
    with sqlite3.connect(folder / "demo.db") as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        rows = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()  # noqa: S608 - of the schema
            for (name,) in names.fetchall()
        }
    connection.close()
    journal = folder / ".reconciler" / "local.journal.jsonl"
    entries = [json.loads(line) for line in journal.read_text("utf-8").splitlines()]
    told = [(entry.get("entry"), entry.get("ref")) for entry in entries]
    files = {path.name for path in folder.rglob("*") if path.suffix != ".kept"}
    return rows, told, files


def told(text: str) -> str:
    """Give a text without what differs from run to run."""
    return CHANGING.sub("#", text)


def sinks_of(place: int, arguments: list[str]) -> Iterator[tuple[Sink, Sink]]:
    """Yield sinks to try a command with: none lost, and of each way to lose one in turn.

    What is applied is tried with all of them.
    """
    ways: list[tuple[Sink, Sink]]
    yield "kept", "kept"
    for ways in (
        [(one, "kept") for one in LOST],
        [("kept", one) for one in LOST],
        [(one, one) for one in BOTH],
    ):
        for nth, way in enumerate(ways):
            if nth == place // PARTS % len(ways) or arguments[0] == "apply":
                yield way


@pytest.mark.promise("P42")
@pytest.mark.parametrize("part", range(PARTS))
def test_every_command_and_every_broken_sink(shop: Path, tmp_path: Path, part: int) -> None:
    """Whatever becomes of what it prints, a command does the same, and says so with its code."""
    (listed,) = run_all([Launch(str(shop), ["incidents", "list", "--open", "--format", "json"])])
    given = {**ARGUMENTS, "incidents close": [json.loads(listed.out)[0]["id"], "--yes"]}
    jobs = [[*name.split(), *given.get(name, [])] for name in leaves() if name != ENDLESS]
    jobs += BESIDE
    launches = [
        Launch(str(shutil.copytree(shop, tmp_path / f"{place}-{out}-{err}")), job, out=out, err=err)
        for place, job in enumerate(jobs)
        if place % PARTS == part
        for out, err in sinks_of(place, job)
    ]

    plain, left = Came(0, "", "", 0), None
    for launche, came in zip(launches, run_all(launches), strict=True):
        now, shown = state(Path(launche.folder)), (launche, came)
        if (launche.out, launche.err) == ("kept", "kept"):
            plain, left = came, now
        lost = launche.out != "kept" and plain.out != ""
        code = worst({plain.code, LOST[launche.out]}) if lost else plain.code
        assert came.code == code, shown
        # How much comes with a tick is a matter of the minute.
        assert now == left or launche.arguments[:2] == ["emulator", "tick"], shown
        assert "internal error" not in came.err, shown
        assert "Traceback" not in came.err, shown
        if launche.out == "kept":
            assert told(came.out) == told(plain.out), shown
        elif launche.err == "kept":
            is_said = "stdout could not be written: " in came.err
            assert is_said == (lost and launche.out != "unread"), shown


@pytest.mark.promise("P42")
def test_lost_data_is_an_exit_code_of_its_own(shop: Path, tmp_path: Path, golden: Golden) -> None:
    """A full disk behind stdout is 74 with the system's reason; a closed pipe is 141, unsaid."""
    copy = str(shutil.copytree(shop, tmp_path / "copy"))

    closed, full, unread = run_all([Launch(copy, ["plan"], out=out) for out in LOST])

    assert (closed.code, full.code, unread.code) == (74, 74, 141)
    golden(closed.err)
    golden(full.err)
    assert "stdout" not in unread.err


@pytest.mark.promise("P42")
@pytest.mark.parametrize(
    ("form", "sinks", "code"),
    [
        ("text", "2>&1 | head -1", 141),
        ("text", "2>/dev/full", 0),
        ("text", ">&- 2>&-", 74),
        ("jsonl", "| head -1", 141),
        ("jsonl", "| head -2", 141),
        ("jsonl", ">/dev/full", 74),
        ("jsonl", ">&-", 74),
    ],
)
def test_nobody_reads_an_apply(tmp_path: Path, form: str, sinks: str, code: int) -> None:
    """An apply writes and journals all of it when its words and its data are lost, by a shell."""
    (tmp_path / "reconciler.yaml").write_text(SEEDED, encoding="utf-8")
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "all.yaml").write_text(WORKSPACE, encoding="utf-8")
    # With a closed stream nothing but a start of its own is what a user's is.
    start = cold_command if "&-" in sinks else command
    line = f"set -o pipefail; {shlex.join(start('apply', '--yes', '--format', form))} {sinks}"

    ended = subprocess.run(
        ["bash", "-c", line],  # noqa: S607 - the shell of the PATH
        cwd=tmp_path,
        env=of_a_terminal(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == code, ended.stderr
    journal = (tmp_path / ".reconciler" / "local.journal.jsonl").read_text("utf-8")
    kinds = [json.loads(line).get("entry") for line in journal.splitlines()]
    assert kinds.count("written") == 5


@pytest.mark.promise("P42")
def test_closed_stdin(shop: Path, tmp_path: Path, golden: Golden) -> None:
    """Without a stdin nobody can be asked, which is a usage error and no other."""
    copy = shutil.copytree(shop, tmp_path / "copy")
    line = f"{' '.join(cold_command('apply'))} <&-"

    ended = subprocess.run(
        ["bash", "-c", line],  # noqa: S607 - the shell of the PATH
        cwd=copy,
        env=of_a_terminal(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (64, "")
    golden(ended.stderr)
