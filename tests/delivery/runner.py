"""A runner of composite actions, as far as action.yml needs one.

It reads action.yml, fills in expressions, runs the steps with the files and
variables of a real runner, and hides what it is told to hide. It asserts the
limits: what breaks one would be lost on the forge.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.doors import command

from reconciler.report.markdown import ANNOTATIONS_OF_A_LEVEL, LARGEST_OUTPUTS
from reconciler.syntax.read_text import read_text

ROOT = Path(__file__).parent.parent.parent
SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
LARGEST_SUMMARY = 1 << 20  # of one step; above it the runner drops all of it
OWN = ("RECONCILER_", "GITHUB_", "RUNNER_", "INPUT_", "ACTIONS_")
COMMAND = re.compile(r"::([a-z-]+)( [^:]*)?::(.*)")
# `python -I -m reconciler …` needs no start of its own.
INSTALLED = """\
#!/bin/sh
case "$1 $2 $3" in
"-I -m reconciler") shift 3; exec {reconciler} "$@" ;;
*) exec {python} "$@" ;;
esac
"""
TOKENS = re.compile(r"\s*(&&|\|\||==|!=|!|\(|\)|'[^']*'|[\w.-]+)")


def action() -> dict[str, Any]:
    """Read action.yml."""
    (document,) = read_text((ROOT / "action.yml").read_text(encoding="utf-8")).documents
    assert isinstance(document.value, dict)
    return document.value


@dataclass
class Expression:
    """The text between `${{` and `}}`: names, strings, comparisons, `always()`."""

    tokens: list[str]
    contexts: Mapping[str, Any]

    def value(self) -> Any:
        """Give what it stands for; all of it must be read."""
        found = self._either()
        assert self.tokens == [], self.tokens
        return found

    def _either(self) -> Any:
        found = self._both()
        while self._take("||"):
            other = self._both()
            found = found or other
        return found

    def _both(self) -> Any:
        found = self._compared()
        while self._take("&&"):
            other = self._compared()
            found = found and other
        return found

    def _compared(self) -> Any:
        found = self._one()
        if self._take("=="):
            return found == self._one()
        if self._take("!="):
            return found != self._one()
        return found

    def _one(self) -> Any:
        if self._take("!"):
            return not self._one()
        token = self.tokens.pop(0)
        if token.startswith("'"):
            return token[1:-1]
        if self._take("("):
            assert self._take(")")
            return {"always": True, "success": not self.contexts["failed"]}[token]
        here: Any = self.contexts
        for name in token.split("."):
            here = here.get(name, "") if isinstance(here, Mapping) else ""
        return here

    def _take(self, token: str) -> bool:
        if self.tokens[:1] != [token]:
            return False
        self.tokens.pop(0)
        return True


def filled(text: str, contexts: Mapping[str, Any]) -> str:
    """Give a text with its expressions filled in."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(evaluated(found[1], contexts)), text)


def evaluated(text: str, contexts: Mapping[str, Any]) -> Any:
    """Give the value of one expression."""
    inside = text.strip().removeprefix("${{").removesuffix("}}").strip()
    tokens = TOKENS.findall(inside)
    assert "".join(tokens) == re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", inside), inside
    return Expression(tokens, contexts).value()


@dataclass
class Step:
    """What one use of the action did: the exit code that failed it, log, outputs, summary."""

    code: int = 0
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    masks: list[str] = field(default_factory=list)

    @property
    def spoken(self) -> list[str]:
        """The lines that the runner takes as commands to itself, masks aside."""
        return [
            line
            for line in self.log.splitlines()
            if (line.lstrip().startswith("::") or "##[" in line) and "::add-mask::" not in line
        ]

    def level(self, name: str) -> list[str]:
        """Give the text of the annotations of a level."""
        found = (COMMAND.fullmatch(line) for line in self.spoken)
        return [match[3] for match in found if match is not None and match[1] == name]


@dataclass
class Job:
    """One job: a workspace, and a temporary folder that its steps share.

    The step that installs is left out unless `installs`: an installed
    environment is where it would put one. With `is_cold` a run is a start of its own.
    """

    workspace: Path
    temporary: Path
    environ: dict[str, str] = field(default_factory=dict)
    token: str = ""
    installs: bool = False
    is_cold: bool = False

    def step(self, command: str, **inputs: str) -> Step:
        """Use the action as a workflow would."""
        about = action()
        github = {"token": self.token}
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        given["command"] = command
        assert given.keys() <= about["inputs"].keys()
        defaults = {name: input_["default"] for name, input_ in about["inputs"].items()}
        contexts: dict[str, Any] = {
            "github": github,
            "inputs": {
                name: given.get(name, filled(default, {"github": github}))
                for name, default in defaults.items()
            },
            "steps": {},
            "failed": False,
        }
        step = Step()
        for element in about["runs"]["steps"]:
            if evaluated(element.get("if", "success()"), contexts):
                self._do(element, contexts, step)
        step.outputs = {
            name: found
            for name, output in about["outputs"].items()
            if (found := filled(output["value"], contexts))
        }
        check_limits(step)
        return step

    def _do(self, one: Mapping[str, Any], contexts: dict[str, Any], step: Step) -> None:
        if "uses" in one:
            self._upload(one, contexts)
            return
        if "id" not in one and not self.installs:
            self._installed()
            return
        environ = {name: filled(text, contexts) for name, text in one.get("env", {}).items()}
        code, outputs = self._run(one["run"], environ, step)
        contexts["steps"][one.get("id", "")] = {"outputs": outputs}
        contexts["failed"] = contexts["failed"] or code != 0
        step.code = step.code or code

    def _run(self, script: str, environ: dict[str, str], step: Step) -> tuple[int, dict[str, str]]:
        files = {
            f"GITHUB_{name}": self.temporary / f"file-{name.lower()}"
            for name in ("OUTPUT", "STEP_SUMMARY", "ENV", "PATH")
        }
        for file in files.values():
            file.write_text("")
        place = self.temporary / "script.sh"
        place.write_text(script, encoding="utf-8")
        kept = {name: text for name, text in os.environ.items() if not name.startswith(OWN)}
        ran = subprocess.run(
            [*SHELL, place],
            cwd=self.workspace,
            env={
                **kept,
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_WORKSPACE": str(self.workspace),
                "RUNNER_TEMP": str(self.temporary),
                **{name: str(file) for name, file in files.items()},
                **self.environ,
                **environ,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self._listen(ran.stdout.decode("utf-8"), step)
        assert files["GITHUB_ENV"].read_text() == files["GITHUB_PATH"].read_text() == ""
        step.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        return ran.returncode, outputs_in(files["GITHUB_OUTPUT"].read_text(encoding="utf-8"))

    def _listen(self, said: str, step: Step) -> None:
        """Take the log line by line: what was masked before is hidden from then on."""
        for line in said.splitlines():
            found = COMMAND.fullmatch(line)
            if found is not None and found[1] == "add-mask":
                step.masks.append(found[3].replace("%0D", "\r").replace("%25", "%"))
                continue
            for mask in step.masks:
                assert mask not in line, line
            step.log += line + "\n"

    def _installed(self) -> None:
        python = self.temporary / "reconciler" / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        cold = shlex.quote(sys.executable)
        warm = f"{cold} -I -m reconciler" if self.is_cold else shlex.join(command())
        python.write_text(INSTALLED.format(reconciler=warm, python=cold), encoding="utf-8")
        python.chmod(0o755)

    def _upload(self, one: Mapping[str, Any], contexts: Mapping[str, Any]) -> None:
        """Stand in for the action that uploads: put the file where `artifacts` are."""
        given = {name: filled(text, contexts) for name, text in one["with"].items()}
        place = self.temporary / "artifacts" / given["name"]
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(given["path"], place)


def check_limits(step: Step) -> None:
    """Assert that nothing of a step would be lost on the forge."""
    assert len(step.summary.encode()) <= LARGEST_SUMMARY
    assert sum(map(len, step.outputs.values())) <= LARGEST_OUTPUTS
    for level in ("error", "warning", "notice"):
        assert len(step.level(level)) <= ANNOTATIONS_OF_A_LEVEL
    unknown = [line for line in step.spoken if not line.startswith(("::error", "::warning"))]
    assert all(line.startswith("::notice") for line in unknown), unknown


def outputs_in(text: str) -> dict[str, str]:
    """Read a file of outputs in its heredoc form; any other form is an error."""
    found = {}
    rest = text
    while rest:
        match = re.match(r"([a-z-]+)<<(\w+)\n(.*?)\n\2\n", rest, re.DOTALL)
        assert match is not None, rest
        found[match[1]] = match[3]
        rest = rest[match.end() :]
    return found
