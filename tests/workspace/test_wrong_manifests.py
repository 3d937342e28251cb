from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness.doors import command
from harness.workspaces import Workspace
from wrong import PROJECT, Wrong
from wrong_manifests import MANIFESTS
from wrong_practice import PRACTICES
from wrong_projects import PROJECTS
from wrong_texts import LIMITS, TEXTS
from wrong_workspaces import WORKSPACES

from reconciler.syntax.diagnostic import CODES

ALL = [*TEXTS, *MANIFESTS, *WORKSPACES, *PRACTICES, *PROJECTS]
VALIDATED = [case for case in ALL if case.command == "validate" and case not in PROJECTS]
GENEROUS = 60


def laid_out(case: Wrong, root: Path) -> None:
    """Write the files of a case, and a good project file where it brings none."""
    files = {"reconciler.yaml": PROJECT, **case.files}
    for name, content in files.items():
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for link, target in case.links.items():
        (root / link).symlink_to(target)


def place_of(complaint: dict[str, object]) -> str:
    if not complaint["line"]:
        return str(complaint["file"])
    return f"{complaint['file']}:{complaint['line']}:{complaint['column']}"


@pytest.mark.parametrize("case", VALIDATED, ids=str)
def test_a_wrong_manifest(case: Wrong, tmp_path: Path) -> None:
    """A wrong manifest is told by its code, its place, what is wrong and what to write."""
    laid_out(case, tmp_path)

    ran = Workspace(tmp_path).run("validate", "--format", "json")

    assert ran.code == case.exits, ran.out
    assert "internal error" not in ran.err
    told = [
        (complaint["code"], place_of(complaint), complaint["suggestion"])
        for complaint in ran.json["complaints"]
    ]
    assert (case.code, case.at, case.suggests) in told
    messages = [
        complaint["message"]
        for complaint in ran.json["complaints"]
        if place_of(complaint) == case.at
    ]
    assert any(case.says in message for message in messages), messages


@pytest.mark.parametrize("case", [case for case in ALL if case not in VALIDATED], ids=str)
def test_what_stops_a_run_before_the_manifests(case: Wrong, tmp_path: Path) -> None:
    """A wrong project file or an unset secret is exit 4, told with code, place and why."""
    laid_out(case, tmp_path)

    ran = Workspace(tmp_path).run(case.command)

    assert ran.code == case.exits
    # What these find is their result; to any other command it is a word beside it.
    told = ran.out if case.command in ("validate", "rules test", "test") else ran.err
    blocks = [part for part in told.split("\n\n") if f"[{case.code}]" in part]
    about = [block for block in blocks if f"--> {case.at}" in block]
    assert any(case.says in text and case.suggests in text for text in about), told


def test_the_cases_cover_the_codes() -> None:
    """Every code is produced by a case, and no case asks for a code that is not listed."""
    assert {case.code for case in ALL} == set(CODES)


def _processes(cases: Sequence[Wrong], root: Path) -> list[subprocess.CompletedProcess[bytes]]:
    done = []
    for index, case in enumerate(cases):
        folder = root / str(index)
        folder.mkdir()
        laid_out(case, folder)
        done.append(
            subprocess.run(
                command("validate", "."),
                cwd=folder,
                capture_output=True,
                timeout=GENEROUS,
                check=False,
            )
        )
    return done


@pytest.mark.slow
def test_limits_in_processes_of_their_own(tmp_path: Path) -> None:
    """What kills or hangs common parsers ends in exit 4 and a complaint, not in a signal."""
    deadly = [case for case in LIMITS if case.code in ("M108", "M109", "M107")]

    done = _processes(deadly, tmp_path)

    assert [one.returncode for one in done] == [4] * len(deadly)
    assert all(
        f"error[{case.code}]".encode() in one.stdout for case, one in zip(deadly, done, strict=True)
    )
    assert not any(b"Traceback" in one.stderr for one in done)
