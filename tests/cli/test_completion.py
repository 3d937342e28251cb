"""What shells are offered while somebody types."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from click.shell_completion import FishComplete, ZshComplete
from harness.doors import command, typed
from harness.warm import warm_folder
from harness.workspaces import ALERT, DASHBOARD, PROJECT, SLO, VIEW, Workspace, project_at
from write_tree import tree_text

from reconciler.cli.complete import FILE, SHELLS, VARIABLE, read_tree
from reconciler.cli.overview import COMMANDS

LABELLED = SLO.replace("name: checkout}", "name: checkout, labels: {team: payments, name: a}}")
BLOCK = """\
# apiVersion: in words
apiVersion: reconciler/v1
kind: "Dashboard"
metadata:
  # kind: none
  labels:
    team: "search"
    tier: '1'

  name: front # end
spec: {dashboard: {name: not-this, layout: {sections: []}}}
"""
JSON = """\
{"apiVersion": "reconciler/v1", "kind": "SavedView",
 "metadata": {"labels": {"team": "core"}, "name": "in-json"}, "spec": {"name": "x"}}
"""


EACH = ALERT.replace("name: errors", 'name: "${each:service}-errors"')


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    """Give a project with manifests in each style, and one file that cannot be read."""
    made = project_at(tmp_path, slo=LABELLED, block=BLOCK, view=VIEW, broken="kind: [\n  name: x")
    made.write("more/a.json", JSON)
    made.write("odd.yaml", VIEW.replace("errors", "'$(touch hacked) `x` *'"))
    return made


def completed(root: Path, *words: str, shell: str = "bash") -> subprocess.CompletedProcess[str]:
    """Let a shell's script ask for what may stand for the last word, in a process of its own."""
    environ = {**os.environ, VARIABLE: f"{shell}_complete", "COMP_CWORD": str(len(words))}
    environ["COMP_WORDS"] = " ".join(("reconciler", *words))
    if shell == "fish":
        environ["COMP_CWORD"] = words[-1]
    return subprocess.run(
        command(), cwd=root, env=environ, capture_output=True, text=True, check=False
    )


BASH_ASKS = """\
eval "$(reconciler completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_reconciler_completion reconciler
printf '%s\\n' "${COMPREPLY[@]}"
"""


def in_bash(root: Path, *words: str) -> list[str]:
    """Give what bash itself offers, its words split as it splits them; nothing else is said."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    path = f"{warm_folder()}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        [bash, "-c", BASH_ASKS, "asks", "reconciler", *words],
        cwd=root,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr == ""
    return sorted(ran.stdout.split())


def test_the_tree_is_as_the_commands_have_it() -> None:
    """The data that completion reads says of every command what the command says."""
    assert FILE.read_text(encoding="utf-8") == tree_text()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("pl",), ["plan"]),
        (("plan", "--sel"), ["--select"]),
        (("plan", "--format", "j"), ["json", "jsonl"]),
        (("plan", "--format", "=", "j"), ["json", "jsonl"]),
        (("plan", "-e", ""), ["local"]),
        (("adopt", "S"), ["SLO/checkout", "SavedView/errors", "SavedView/in-json"]),
        (("plan", "--select", "Dash"), ["Dashboard/front"]),
        (("plan", "--select", "kind", "=", "S"), ["SLO", "SavedView"]),
        (("plan", "--select", "label.team", "="), ["core", "payments", "search"]),
        (("plan", "--select", "kind", "=", "SLO,label.ti"), ["SLO,label.tier=1"]),
        (("plan", "--exclude", "file", "=", "m"), ["more/a.json"]),
        (("plan", "--select", "=", "kind", "=", "D"), ["Dashboard"]),
        (("journal", "for"), ["forget"]),
        (("journal", "forget", "SLO"), ["SLO/checkout"]),
        (("schema", "plan"), ["plan", "plan-line"]),
        (("plan", "-e", "nothing-like-it"), []),
        (("explain", "--expanded", "SLO"), ["SLO/checkout"]),
        (("explain", "M30"), [f"M30{nth}" for nth in range(1, 10)]),
        (("fmt", "--select", "Dash"), ["Dashboard/front"]),
        (("graph", "--format", "mer"), ["mermaid"]),
    ],
)
def test_bash(made: Workspace, words: tuple[str, ...], offered: list[str]) -> None:
    """Bash offers commands, options, values, names, kinds, labels, files and environments."""
    assert in_bash(made.root, *words) == offered


def test_what_is_repeated(tmp_path: Path) -> None:
    """Names that items of a `forEach` make are offered, those of a file of the project too."""
    (tmp_path / "outside.yaml").write_text("- service: outside\n", encoding="utf-8")
    (tmp_path / "shop").mkdir()
    made = project_at(
        tmp_path / "shop",
        f"{PROJECT}rules: [{{name: owner, check: 'true', message: Name one.}}]\n",
        here=EACH + "forEach:\n  - {service: shop}\n  - service: till\n",
        file=EACH + "forEach: ${file:more/services.yaml}\n",
        out=EACH + "forEach: ${file:../outside.yaml}\n",
    )
    made.write("more/services.yaml", "- service: basket\n")

    names = [f"AlertDefinition/{one}-errors" for one in ("basket", "shop", "till")]
    assert in_bash(made.root, "adopt", "A") == names
    assert in_bash(made.root, "explain", "R/o") == ["R/owner"]


def test_runs(made: Workspace) -> None:
    """A rollback is offered the runs of the journal, the last first."""
    (made.root / "broken.yaml").unlink()
    (made.root / "odd.yaml").unlink()
    (made.root / "more/a.json").unlink()
    assert made.apply().code == 0

    offered = in_bash(made.root, "rollback", "")

    history = typed("journal", "history", "--path", str(made.root), "--format", "json")
    assert offered == sorted(["last", *(value["run"] for value in history.json)])


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize("word", ["", "Sav", "'", '"', "$(x)", "kind=", "é", "label.\\"])
def test_quiet(made: Workspace, shell: str, word: str) -> None:
    """Whatever is typed, and however broken the project is, nothing is said on stderr."""
    made.settle("environments: [\n")
    ran = completed(made.root, "plan", "--select", word, shell=shell)

    assert ran.stderr == ""
    assert "$(" not in ran.stdout
    assert "*" not in ran.stdout


@pytest.mark.parametrize("instruction", ["", "tcsh_complete", "bash_", "_", "bash_complete"])
def test_odd_requests(tmp_path: Path, instruction: str) -> None:
    """A request that no script of ours makes is answered without a word of complaint."""
    ran = subprocess.run(
        command(),
        cwd=tmp_path,
        env={**os.environ, VARIABLE: instruction},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == ("", "")


def test_no_secret_is_offered(made: Workspace) -> None:
    """What is offered comes from names: no value of the environment or a manifest is in it."""
    made.write("secret.yaml", VIEW.replace("name: Errors", "name: ${secret:TOKEN} literal-secret"))
    for term in ("", "S", "label."):
        out = completed(made.root, "plan", "--select", term).stdout
        assert "TOKEN" not in out
        assert "literal" not in out


def test_nothing_heavy_is_imported(made: Workspace) -> None:
    """Completing names imports no model, no client and none of the commands."""
    code = (
        "import sys; from reconciler.cli.complete import answer; answer('bash_complete');"
        "heavy = {'pydantic', 'httpx', 'reconciler.kinds', 'reconciler.cli.plan'};"
        "sys.exit(' '.join(sorted(heavy & sys.modules.keys())) or 0)"
    )
    environ = {**os.environ, "COMP_WORDS": "reconciler adopt S", "COMP_CWORD": "2"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=made.root,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "SLO/checkout" in ran.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts(shell: str) -> None:
    """Each script names the command, and how it asks for words."""
    ran = typed("completion", shell)

    assert ran.code == 0
    assert f"{VARIABLE}={shell}_complete" in ran.out
    if shell != "bash":
        template = {"zsh": ZshComplete, "fish": FishComplete}[shell].source_template
        assert ran.out.count("\n") >= template.count("\n") - 1


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(made: Workspace, shell: str) -> None:
    """Zsh and fish are offered the same names in their own forms."""
    out = completed(made.root, "adopt", "Dash", shell=shell).stdout

    assert "Dashboard/front" in out
    assert DASHBOARD not in out


def test_a_command_that_is_gone_is_not_completed() -> None:
    """The tree has each command of the program, and none of a feature that was deleted."""
    assert [*read_tree()["commands"]] == [*COMMANDS]

    # The order of the table comes back too.
    with mock.patch.dict(COMMANDS):
        del COMMANDS["audit"]

        assert "audit" not in read_tree()["commands"]


INTERRUPTED = """\
import os, signal, sys, time
from reconciler.cli import complete

def stall():
    sys.stdout.write("half")
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)

complete.read_tree = stall
from reconciler.__main__ import main
main()
"""


@pytest.mark.promise("S40")
@pytest.mark.parametrize("shell", SHELLS)
def test_an_interrupted_answer(shell: str) -> None:
    """Ctrl-C while an answer is made prints nothing over the typed line, and ends with 130."""
    environ = {**os.environ, VARIABLE: f"{shell}_complete"}
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], env=environ, capture_output=True, check=False
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")
