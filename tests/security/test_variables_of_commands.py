"""A command of a secret that runs for a change gets no variable that leads into the checkout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from reconciler.operations.secret_sources import Allowed, Secrets
from reconciler.project import Project
from reconciler.project.settings import SecretPlace
from reconciler.workspace.expression_scope import withheld_from

SHOWS = "import json, os; print(json.dumps([os.getcwd(), dict(os.environ)]))"
LISTS = ("PATH", "PYTHONPATH", "NODE_PATH", "LD_LIBRARY_PATH", "PERL5LIB", "RUBYLIB", "CLASSPATH")
INTO = {
    "PYTHONHOME": "{there}/python",
    "PYTHONSTARTUP": "{there}/start.py",
    "BASH_ENV": "{there}/env.sh",
    "ENV": "$MINE/env.sh",
    "MINE": "{there}",
    "GIT_DIR": "{there}/.git",
    "GIT_CONFIG_GLOBAL": "{there}/gitconfig",
    "GIT_CONFIG_PARAMETERS": "'core.hooksPath={there}/hooks'",
    "GIT_EXEC_PATH": "{there}/git-core",
    "JAVA_TOOL_OPTIONS": "-Xmx1g -javaagent:{there}/agent.jar=x",
    "NODE_OPTIONS": "--require ./start.js",
    "RUBYOPT": "-r{there}/start",
    "PERL5OPT": "-I{there}/lib -Mstart",
    "LD_PRELOAD": "{there}/x.so",
    "OPENSSL_CONF": "file://{there}/openssl.cnf",
    "HOME": "{there}/home",
    "TMPDIR": "{there}/tmp",
    "PWD": "{there}",
    "ANY_NAME": "x/../../{name}/y {there}/z",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout with a tool in it; a link from outside leads in."""
    root = tmp_path / "checkout"
    for folder in (root / ".git", root / "bin", root / "tmp"):
        folder.mkdir(parents=True)
    (root / "start.js").write_text("")
    (root / "bin" / "tool").write_text("#!/bin/sh\necho theirs\n")
    (root / "bin" / "tool").chmod(0o755)
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "tool").write_text("#!/bin/sh\necho ours\n")
    (tmp_path / "ours" / "tool").chmod(0o755)
    (tmp_path / "way").symlink_to(root)
    return root


def looked_up(
    root: Path, environ: Mapping[str, str], *words: str, allowed: Allowed = Allowed.OUTSIDE
) -> tuple[str, list[str]]:
    """Return what a command prints, and what is said of it."""
    said: list[str] = []
    secrets = Secrets(
        environ=environ,
        project=Project(root),
        environment="local",
        places={"TOKEN": SecretPlace(command=list(words))},
        withheld=withheld_from(environ),
        allowed=allowed,
        limit=60.0,
        say=said.append,
    )
    return secrets.get("TOKEN", ""), said


@pytest.mark.promise("S30")
@pytest.mark.parametrize("way", ["checkout", "way"])
def test_no_variable_leads_in(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    """No variable, and no entry of one, leads into the checkout, and those that did are named."""
    there, outside = tmp_path / way, str(tmp_path / "ours")
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("TMPDIR", str(there / "tmp"))
    entries = [f"{there}/lib", "lib", "", "./bin", outside, str(tmp_path)]
    environ = {name: value.format(there=there, name="checkout") for name, value in INTO.items()}
    environ |= dict.fromkeys(LISTS, os.pathsep.join(entries))
    environ |= {"KEPT": "a value", "URL": "https://example.com/lib", "EMPTY": ""}
    shown, said = looked_up(checkout, environ, sys.executable, "-c", SHOWS)
    folder, got = json.loads(shown)

    assert {name: got.get(name) for name in LISTS} == dict.fromkeys(LISTS, outside)
    assert set(got) - {"LC_CTYPE"} == {*LISTS, "KEPT", "URL", "EMPTY"}
    assert not Path(folder).is_relative_to(checkout)
    assert len(said) == 1
    assert all(name in said[0] for name in (*LISTS, *INTO))


@pytest.mark.promise("S30")
@pytest.mark.parametrize("entry", ["{root}/bin", "bin", "{root}/../way/bin"])
def test_the_program_of_the_path(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, entry: str
) -> None:
    """A program is looked for past the entries that lead into the checkout."""
    monkeypatch.chdir(checkout)
    path = os.pathsep.join((entry.format(root=checkout), str(tmp_path / "ours"), "/usr/bin:/bin"))

    assert looked_up(checkout, {"PATH": path}, "tool")[0] == "ours"


@pytest.mark.promise("S30")
def test_the_workspace_is_of_the_change(checkout: Path, tmp_path: Path) -> None:
    """What another checkout of the same workspace holds is left out too."""
    environ = {"PATH": f"{tmp_path}/ours:/usr/bin:/bin", "GITHUB_WORKSPACE": str(tmp_path)}

    assert looked_up(checkout, environ, "tool")[0] == ""


@pytest.mark.promise("S30")
def test_what_was_reviewed_keeps_its_variables(checkout: Path) -> None:
    """A command of a reviewed checkout runs with the variables as they are."""
    environ = {"PATH": f"{checkout}/bin:/usr/bin:/bin", "HOME": str(checkout)}

    assert looked_up(checkout, environ, "tool", allowed=Allowed.ALL) == ("theirs", [])
