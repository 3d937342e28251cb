"""Secrets from where they live: variables, files and commands."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from harness.doors import typed
from harness.workspaces import VIEW, Workspace, project_at

from reconciler.operations.secret_sources import LARGEST, Allowed, Secrets
from reconciler.project import Project
from reconciler.project.settings import SecretPlace
from reconciler.workspace.expression_scope import withheld_from

CANARY = "c4nary-8f1e77d0"
TELLS = "import os, sys; sys.stderr.write(os.environ['OTHER']); sys.exit(3)"
PLACES = """\
environments:
  local:
    emulator: {data: .reconciler/local.db}
"""
NAMED = VIEW.replace("name: Errors", "name: Errors ${secret:TOKEN}")


def secrets(
    root: Path, allowed: Allowed = Allowed.ALL, limit: float = 20.0, **place: Any
) -> Secrets:
    """Give the secrets of a project with one place, for `TOKEN`."""
    places = {"TOKEN": SecretPlace.model_validate(place)}
    environ = {**os.environ, "RECONCILER_API_KEY": "the-key-itself", "OTHER": CANARY}
    withheld = withheld_from(environ)
    return Secrets(
        environ=environ,
        project=Project(root),
        environment="local",
        places=places,
        withheld=withheld,
        allowed=allowed,
        limit=limit,
    )


def python(code: str) -> list[str]:
    """Give the command that runs a line of Python."""
    return [sys.executable, "-c", code]


@pytest.mark.parametrize("content", ["value", "value\n", "value\r\n"])
def test_a_file(tmp_path: Path, content: str) -> None:
    """One line break at the end of a file is no part of the secret."""
    (tmp_path / "secret").write_bytes(content.encode())

    assert secrets(tmp_path, file="secret").get("TOKEN") == "value"
    assert secrets(tmp_path, file=str(tmp_path / "secret")).get("TOKEN") == "value"


def test_other_blanks_stay(tmp_path: Path) -> None:
    """Only one line break goes: blanks and further breaks belong to the secret."""
    (tmp_path / "secret").write_bytes(b" a\n\n")

    assert secrets(tmp_path, file="secret").get("TOKEN") == " a\n"


def test_a_command(tmp_path: Path) -> None:
    """A command is run once, in the project's folder, with its arguments as they are."""
    code = "import os,sys; open('ran','a').write('x'); print(os.getcwd() + sys.argv[1])"
    found = secrets(tmp_path, command=[*python(code), "$(x) ; *"])

    assert found["TOKEN"] == f"{tmp_path}$(x) ; *"
    assert found.get("TOKEN") == found["TOKEN"]
    assert (tmp_path / "ran").read_text() == "x"


def test_what_a_command_gets(tmp_path: Path) -> None:
    """A command sees the variables of the process, but neither the key nor any of ours."""
    code = "import os; print(os.environ['OTHER'] + str('RECONCILER_API_KEY' in os.environ))"

    assert secrets(tmp_path, command=python(code)).get("TOKEN") == f"{CANARY}False"


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ({"environment": "NOT_THERE_AT_ALL"}, "is not set"),
        ({"environment": "RECONCILER_API_KEY"}, "must not be sent"),
        ({"file": "missing"}, "is not there"),
        ({"file": "."}, "is not a regular file"),
        ({"file": "empty"}, "is empty"),
        ({"file": "long"}, "holds more than 64 KB"),
        ({"file": "binary"}, "is not UTF-8"),
        ({"file": "pipe"}, "is not a regular file"),
        ({"file": "link"}, "leads out of the project"),
        ({"command": ["no-such-program-here"]}, "is not found on the PATH"),
        ({"command": ["./no-such-program"]}, "cannot be run"),
        ({"command": python(TELLS)}, "with 3"),
        ({"command": python("pass")}, "is empty"),
        ({"command": python(f"print('x' * {LARGEST + 2})")}, "holds more than 64 KB"),
        ({"command": python("while True: print('x' * 99)")}, "holds more than 64 KB"),
    ],
)
def test_what_cannot_be_had(tmp_path: Path, place: dict[str, Any], why: str) -> None:
    """What is missing, empty, too long or broken is told with its place, and without a value."""
    (tmp_path / "empty").touch()
    (tmp_path / "long").write_text("x" * (LARGEST + 2))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")
    found = secrets(tmp_path, **place)

    assert found.get("TOKEN", "") == ""
    assert why in found.why("TOKEN")
    assert "secrets.TOKEN of reconciler.yaml" in found.why("TOKEN")
    assert CANARY not in found.why("TOKEN") + repr(found)


def test_a_command_without_end(tmp_path: Path) -> None:
    """A command that does not answer is ended, with all that it started."""
    code = "import subprocess, time; subprocess.Popen(['sleep', '600']); time.sleep(600)"

    assert "no answer within 0.2 s" in secrets(tmp_path, limit=0.2, command=python(code)).why(
        "TOKEN"
    )


@pytest.mark.parametrize(
    "place",
    [
        {"file": "secret"},
        {"command": ["./say"]},
        {"command": ["sh", "./say"]},
        {"command": ["sh", "say"]},
        {"command": ["env", "X=./say"]},
    ],
)
def test_a_change_brings_no_secret(tmp_path: Path, place: dict[str, Any]) -> None:
    """Over files that nobody reviewed, none of them is read or run; elsewhere nothing is."""
    (tmp_path / "secret").write_text("theirs")
    (tmp_path / "say").write_text("#!/bin/sh\necho theirs; touch ran\n")
    (tmp_path / "say").chmod(0o755)

    for allowed in (Allowed.OUTSIDE, Allowed.NOTHING):
        assert secrets(tmp_path, allowed, **place).get("TOKEN") is None
    assert not (tmp_path / "ran").exists()


def test_reviewed_places_outside(tmp_path: Path) -> None:
    """Reviewed settings may name what is outside of a change's checkout, run in no folder of it."""
    root, place = tmp_path / "checkout", tmp_path / "secret"
    root.mkdir()
    place.write_text("ours\n")

    assert secrets(root, Allowed.OUTSIDE, file=str(place)).get("TOKEN") == "ours"
    printed = secrets(root, Allowed.OUTSIDE, command=python("import os; print(os.getcwd())"))
    assert not Path(printed["TOKEN"]).is_relative_to(root)
    assert secrets(root, Allowed.NOTHING, file=str(place)).get("TOKEN") is None


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    """Give a view that names a secret, which is in a file."""
    made = project_at(tmp_path, PLACES + "secrets: {TOKEN: {file: token.txt}}\n", view=NAMED)
    made.write("token.txt", f"{CANARY}\n")
    return made


def test_from_a_file_to_the_service(made: Workspace) -> None:
    """A secret of a file is sent, and stands in no output, plan or journal."""
    outs = [made.run("plan", "--format", form) for form in ("text", "json", "markdown", "html")]
    outs += [made.run("plan", "-v"), made.apply(), made.run("drift"), made.run("validate")]

    assert [out.code for out in outs] == [0] * 8
    assert not any(CANARY in out.out + out.err for out in outs)
    journal = made.root / ".reconciler" / "local.journal.jsonl"
    assert CANARY not in journal.read_text(encoding="utf-8")
    kept = (made.root / ".reconciler").glob("local.db*")
    assert any(CANARY.encode() in path.read_bytes() for path in kept)
    assert {change["action"] for change in made.plan()["changes"]} == {"keep"}


def test_validate_runs_nothing(made: Workspace) -> None:
    """Neither validate nor a plan that selects others runs the command of a secret."""
    made.settle(f"{PLACES}secrets: {{TOKEN: {{command: [touch, {made.root}/ran]}}}}\n")
    made.write("other.yaml", VIEW.replace("errors", "other"))

    assert made.run("validate").code == 0
    assert made.run("plan", "--exclude", "SavedView/errors").code == 0
    assert not (made.root / "ran").exists()
    ran = made.run("plan")
    assert (ran.code, "M502" in ran.err, "is empty" in ran.err) == (4, True, True)
    assert (made.root / "ran").exists()


def test_the_place_of_an_environment_wins(made: Workspace) -> None:
    """What an environment says of a secret comes before what is said for all."""
    own = "    secrets: {TOKEN: {file: nowhere.txt}}\n"
    made.settle(f"{PLACES}{own}secrets: {{TOKEN: {{file: token.txt}}}}\n")

    ran = made.run("plan")

    assert ran.code == 4
    assert "environments.local.secrets.TOKEN of reconciler.yaml" in " ".join(ran.err.split())


def test_doctor_says_where(made: Workspace) -> None:
    """Doctor tells where each listed secret comes from and whether it is there, not its value."""
    ran = typed("doctor", "--project", str(made.root / "reconciler.yaml"), "--format", "json")

    told = {load["check"]: load for load in json.loads(ran.out)}
    assert told["secret TOKEN"]["state"] == "ok"
    assert "token.txt" in told["secret TOKEN"]["detail"]
    assert CANARY not in ran.out


@pytest.mark.parametrize(
    "place",
    [
        "{}",
        "{file: a, environment: B}",
        "{fil: a}",
        "{command: echo}",
        "{command: []}",
        "{file: ../a}",
        "{file: /a/../b}",
        "[]",
    ],
)
def test_wrong_places(made: Workspace, place: str) -> None:
    """A place that is none, or more than one, is complained of where it stands."""
    made.settle(f"{PLACES}secrets: {{TOKEN: {place}}}\n")

    ran = made.run("validate", "--format", "json")

    assert ran.code == 4
    assert {complaint["code"] for complaint in ran.json["complaints"]} == {"P101"}
    assert {complaint["line"] for complaint in ran.json["complaints"]} == {4}
