"""A job of a runner, as far as one step sees it: variables, and files for outputs and summary."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "scripts" / "run_action.py"
DEFAULTS = {
    "INPUT_COMMAND": "plan",
    "INPUT_PATH": ".",
    "INPUT_ENVIRONMENT": "",
    "INPUT_PROJECT": "",
    "INPUT_BASE_URL": "",
    "INPUT_API_KEY": "",
    "INPUT_PLAN_FILE": "",
    "INPUT_ALLOW_DESTROY": "false",
    "INPUT_FAIL_ON_CHANGES": "false",
    "INPUT_VERSION": "",
}


@dataclass(frozen=True)
class Step:
    """What one step did: its exit code, the log, its outputs and its part of the summary."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def spoken(self) -> list[str]:
        """The lines of the log that the runner would take as commands to itself."""
        return [
            line
            for line in self.log.splitlines()
            if line.lstrip().startswith("::") or "##[" in line
        ]


@dataclass(frozen=True)
class Job:
    """One job: a workspace, and a temporary folder that its steps share."""

    workspace: Path
    temporary: Path
    environ: dict[str, str] = field(default_factory=dict)

    def step(self, command: str, **inputs: str) -> Step:
        """Run the action's script as the runner would."""
        output, summary = self.temporary / "output", self.temporary / "summary"
        output.write_text("")
        summary.write_text("")
        given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RECONCILER_", "GITHUB_", "RUNNER_", "INPUT_"))
        }
        ran = subprocess.run(
            [sys.executable, "-I", SCRIPT],
            cwd=self.workspace,
            env={
                **kept,
                **DEFAULTS,
                "INPUT_COMMAND": command,
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_EVENT_NAME": "pull_request",
                "RUNNER_TEMP": str(self.temporary),
                **self.environ,
                **given,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return Step(
            ran.returncode,
            ran.stdout.decode("utf-8"),
            outputs_in(output.read_text(encoding="utf-8")),
            summary.read_text(encoding="utf-8"),
        )


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
