"""Files that a person names and the system does not take."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.doors import Ran
from harness.golden import Golden
from harness.workspaces import Shop

from reconciler.cli.service_records import check_picture
from reconciler.emulator.database import LogFile
from reconciler.errors import InvalidInput
from reconciler.operations.plan_and_drift import write_private
from reconciler.report.complaints.for_ci import begins_sarif, complaints_sarif

LONG = "a" * 300


@pytest.fixture
def unusable(shop: Shop) -> None:
    """Put things into the project that are no file to keep data in."""
    shop.write("afile", "hello")
    shop.write("garbage", "this is no database" * 400)
    (shop.root / "folder").mkdir()
    (shop.root / "loop").symlink_to("loop")
    (shop.root / "dangling").symlink_to("nowhere/file")


@pytest.mark.promise("P42")
@pytest.mark.usefixtures("unusable")
@pytest.mark.parametrize(
    "data",
    ["afile", "garbage", "folder", "afile/x.db", "loop", "dangling", LONG, "/dev/full", "/proc/x"],
)
@pytest.mark.parametrize("command", ["plan", "apply --yes", "drift", "events list", "doctor"])
def test_emulator_file(shop: Shop, data: str, command: str) -> None:
    """An emulator file that cannot be used is 4 for every command, and named with the reason."""
    shop.settle(f"environments: {{local: {{emulator: {{data: {data}}}}}}}")

    ran = shop.run(*command.split())

    assert ran.code == 4, ran.err
    assert f" {shop.root / data}: " in ran.out + ran.err
    assert "internal error" not in ran.err


@pytest.mark.promise("P42")
@pytest.mark.usefixtures("unusable")
@pytest.mark.parametrize("data", ["garbage", "folder", "afile/x.db", "loop", LONG])
def test_data_of_a_served_emulator(shop: Shop, data: str) -> None:
    """The same is 4 for an emulator that is to serve."""
    ran = shop.run("emulator", "serve", "--port", "0", "--data", data)

    assert ran.code == 4
    assert f" {data}: " in ran.err


def said(ran: Ran) -> str:
    """Give all that was printed."""
    return ran.out + ran.err


@pytest.mark.promise("P42")
@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "--project", LONG],
        ["doctor", "--project", LONG],
        ["validate", LONG],
        ["plan", "--out", LONG],
        ["plan", "--out", f"{LONG}/plan.json"],
        ["apply", "--plan", LONG],
        ["usage", "--png", LONG],
        ["usage", "--png", f"{LONG}/usage.png"],
        ["policies", "test", "--file", LONG],
        ["policies", "add", LONG, "--yes"],
        ["emulator", "tick", "--data", LONG],
        *(
            ["emulator", "serve", "--port", "0", f"--{one}", LONG]
            for one in ("data", "faults", "profile", "keys", "log")
        ),
    ],
    ids=lambda arguments: " ".join(arguments).replace(LONG, "LONG"),
)
def test_names_that_are_too_long(shop: Shop, arguments: list[str]) -> None:
    """A name that no file can have is a fault of the command line or of a file, and no other."""
    ran = shop.run(*arguments)

    assert ran.code in (4, 64), said(ran)
    assert LONG in said(ran)


@pytest.mark.promise("P42")
@pytest.mark.parametrize("name", ["INPUT_PLAN_FILE", "INPUT_PROJECT", "INPUT_SARIF_FILE"])
@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
def test_long_names_in_ci(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    """So it is with the inputs of a job."""
    monkeypatch.setenv(name, LONG)
    monkeypatch.setenv("INPUT_REQUIRE_PLAN", "file")

    ran = shop.run("ci", command)

    assert ran.code in (0, 4, 11, 64), said(ran)
    assert "internal error" not in said(ran)


@pytest.mark.promise("P42")
def test_plan_into_what_is_no_file(shop: Shop, golden: Golden) -> None:
    """A plan is written into files only: a device would get the rights of a private file."""
    pipe = shop.root / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o644)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    ran = shop.run("plan", "--out", str(pipe))
    os.close(reader)

    assert ran.code == 4
    golden(ran.err)
    assert stat.S_IMODE(pipe.stat().st_mode) == 0o644


def write_report(file: Path) -> None:
    """Write a report of no complaints."""
    write_private(file, complaints_sarif([]), begins_sarif)


@pytest.mark.parametrize("write", [check_picture, LogFile, write_report])
def test_files_of_others_stay(tmp_path: Path, write: Callable[[Path], object]) -> None:
    """No picture, request log or report is written over a file that was none before."""
    file = tmp_path / "notes.txt"
    file.write_text("mine", "utf-8")

    with pytest.raises((InvalidInput, OSError), match="remove it first, or name another"):
        write(file)

    assert file.read_text("utf-8") == "mine"


def test_own_report_is_replaced(tmp_path: Path) -> None:
    """A report stands where an earlier one was."""
    file = tmp_path / "all.sarif"
    for _ in range(2):
        write_report(file)

    assert file.read_text("utf-8") == complaints_sarif([])
