"""What action.yml runs: one command, told to the runner as summary, outputs and exit code.

All that is known about manifests, plans and the service is in the command line;
this only carries inputs in and results out. It needs the standard library and an
installed `reconciler` beside it. Source: pr-experience.md, parts 1, 2 and 5.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

COMMANDS = ("plan", "apply", "validate", "drift")
COUNTS = ("create", "update", "assert", "keep", "blocked")
WRITES = ("create", "update", "assert")
BOOLEANS = {"true": True, "false": False}
CHANGES, INVALID, GUARD, USAGE = 2, 4, 11, 64
RESULTS = {0: "no-changes", CHANGES: "changes", 3: "partial", 6: "stale", 7: "in-doubt"} | {
    GUARD: "blocked"
}
# Above 1 MiB the runner drops the whole summary.
SUMMARY_BYTES = 900 << 10
PLAN_NAME = re.compile(r"[A-Za-z0-9._-]+")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# The runner's own variables are none of a manifest's business: `${secret:NAME}` reads them all.
KEPT_BACK = ("INPUT_", "ACTIONS_", "GITHUB_", "RUNNER_")
API_KEY, BASE_URL = "RECONCILER_API_KEY", "RECONCILER_BASE_URL"


class RefusedError(Exception):
    """Inputs that no command is run with; `code` is the exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of action.yml, checked."""

    command: str
    path: str
    environment: str
    project: str
    plan_file: Path
    allow_destroy: bool
    fail_on_changes: bool


@dataclass(frozen=True, slots=True)
class Ran:
    """What the command gave. Its text is foreign: manifests speak through it."""

    code: int
    out: str
    words: str


def masked(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that make the runner hide the key; nothing may be printed before them."""
    for name in ("INPUT_API_KEY", API_KEY):
        for line in environ.get(name, "").splitlines():
            if line.strip():
                yield f"::add-mask::{escaped(line.strip())}"


def escaped(text: str) -> str:
    """Give text as the data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Check what the runner handed over. Raises RefusedError naming the input."""
    command = environ.get("INPUT_COMMAND", "")
    if command not in COMMANDS:
        raise RefusedError(f"`command` is one of {', '.join(COMMANDS)}, and not `{command}`")
    own = version("reconciler")
    if environ.get("INPUT_VERSION", "") not in ("", own):
        raise RefusedError(f"`version`: this action brings {own}; use the action at another tag")
    environment = environ.get("INPUT_ENVIRONMENT", "")
    return Inputs(
        command=command,
        path=environ.get("INPUT_PATH", ""),
        environment=environment,
        project=environ.get("INPUT_PROJECT", ""),
        plan_file=_plan_file(environ, environment),
        allow_destroy=_boolean(environ, "allow-destroy"),
        fail_on_changes=_boolean(environ, "fail-on-changes"),
    )


def _boolean(environ: Mapping[str, str], name: str) -> bool:
    given = environ.get(f"INPUT_{name.replace('-', '_').upper()}", "")
    if given in BOOLEANS:
        return BOOLEANS[given]
    meant = "true" if given.strip().casefold() in ("true", "yes", "on", "1") else "false"
    raise RefusedError(f"`{name}` is true or false, and not `{given}`: did you mean `{meant}`?")


def _plan_file(environ: Mapping[str, str], environment: str) -> Path:
    """Give where the plan is kept: by default not among the manifests, where it would be read."""
    if given := environ.get("INPUT_PLAN_FILE", ""):
        return Path(given).absolute()
    name = environment or "default"
    if not PLAN_NAME.fullmatch(name):
        raise RefusedError(f"`plan-file` is needed: `{name}` cannot be part of a file name")
    return Path(environ["RUNNER_TEMP"]) / f"plan-{name}.json"


def command_environ(environ: Mapping[str, str], command: str) -> dict[str, str]:
    """Give the variables the command runs with; the key only where it is needed and safe.

    A change can edit the project file, and with it where a key would be sent. So
    a key goes out only to the base URL that the workflow itself names. Raises
    RefusedError before anything is sent.
    """
    key = environ.get("INPUT_API_KEY", "") or environ.get(API_KEY, "")
    base_url = environ.get("INPUT_BASE_URL", "") or environ.get(BASE_URL, "")
    clean = {
        name: value
        for name, value in environ.items()
        if not name.startswith(KEPT_BACK) and name not in (API_KEY, BASE_URL)
    }
    if command == "validate":
        return clean
    if environ.get("GITHUB_EVENT_NAME", "") == "pull_request_target":
        raise RefusedError(
            f"`{command}` does not run on pull_request_target, where a stranger's manifests "
            "would meet the key: use pull_request, or the command validate",
            GUARD,
        )
    if key and not base_url:
        raise RefusedError(
            "a key needs `base-url`, the only service it may be sent to: the project file of "
            "a change could lead it elsewhere",
            GUARD,
        )
    if base_url:
        clean[BASE_URL] = base_url
    if key:
        clean[API_KEY] = key
    return clean


def arguments(inputs: Inputs) -> list[str]:
    """Give the command line. Apply writes only what the plan file says was reviewed."""
    given = [inputs.command]
    if inputs.environment:
        given.append(f"--environment={inputs.environment}")
    if inputs.project:
        given.append(f"--project={inputs.project}")
    match inputs.command:
        case "plan":
            given += ["--format=markdown", "--exit-code", f"--out={inputs.plan_file}"]
        case "apply":
            given.append(f"--plan={inputs.plan_file}")
            given += ["--allow-destroy"] if inputs.allow_destroy else []
        case _:
            pass
    # The default path stands for what the project file names.
    return [*given, "--", inputs.path] if inputs.path not in ("", ".") else given


def run(given: Sequence[str], environ: Mapping[str, str]) -> Ran:
    """Run the command, its words to the log as they come, and pass signals on to it.

    -I: no module is taken from the working folder, which may hold a stranger's
    change.
    """
    words: list[str] = []
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen(
            [sys.executable, "-I", "-m", "reconciler", *given],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
        ) as running,
    ):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda caught, _: running.send_signal(caught))
        assert running.stderr is not None  # noqa: S101 - it is a pipe
        for raw in running.stderr:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            words.append(line)
            log(line)
        code = running.wait()
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    log(text)
    return Ran(128 - code if code < 0 else code, text, "\n".join(words))


def log(text: str) -> None:
    """Print foreign text so that no line of it can speak a workflow command.

    The runner takes `::` where a line begins, and the older `##[` anywhere.
    """
    for line in text.splitlines():
        print(f"| {CONTROL.sub('', line).replace('##[', '## [')}", flush=True)


def fenced(text: str) -> str:
    """Give foreign text inside a fence that nothing in it can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{CONTROL.sub('', text).rstrip()}\n{fence}\n"


def summary(inputs: Inputs, ran: Ran) -> str:
    """Give the job summary: the plan's own markdown, or what was said, in a fence."""
    if inputs.command == "plan" and ran.out:
        return shortened(ran.out)
    said = "\n".join(text for text in (ran.words, ran.out) if text.strip())
    title = f"### reconciler {inputs.command}: exit code {ran.code}\n\n"
    return title + fenced(shortened(said)) if said else title


def shortened(text: str) -> str:
    """Give the whole lines of a text that fit into the summary."""
    raw = text.encode()
    if len(raw) <= SUMMARY_BYTES:
        return text
    kept = raw[:SUMMARY_BYTES].rpartition(b"\n")[0].decode()
    return f"{kept}\n(the rest stands in the log)\n"


def result(command: str, code: int, counts: Mapping[str, int]) -> str:
    """Give the word for what became of the run."""
    writes = sum(counts.get(name, 0) for name in WRITES)
    if command == "apply" and code == 0 and writes:
        return "applied"
    if command == "plan" and code == CHANGES and not writes:
        return "blocked"
    return RESULTS.get(code, "failed")


def plan_outputs(file: Path) -> dict[str, str]:
    """Give what the outputs say about a plan: counts, digest, place. Nothing where none is."""
    try:
        plan = json.loads(file.read_bytes())
        counts = {name: int(plan["summary"][name]) for name in COUNTS}
        digest = re.fullmatch(r"sha256:[0-9a-f]{64}", plan["digest"])
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    if digest is None:
        return {}
    return {
        **{name: str(count) for name, count in counts.items()},
        "digest": digest[0],
        "plan-path": str(file),
        "artifact-name": file.stem,
    }


def write_outputs(file: Path, outputs: Mapping[str, str]) -> None:
    """Append outputs in the form that no value can break out of."""
    with file.open("a", encoding="utf-8") as stream:
        for name, value in outputs.items():
            delimiter = secrets.token_hex(16)
            if delimiter in value:
                raise RefusedError(f"the output {name} holds its own delimiter")
            stream.write(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")


def main(environ: Mapping[str, str]) -> int:
    """Do what one step of a job asks for. Gives the exit code of the step."""
    for line in masked(environ):
        print(line, flush=True)
    output_file = Path(environ["GITHUB_OUTPUT"])
    try:
        inputs = read_inputs(environ)
        clean = command_environ(environ, inputs.command)
        if inputs.command == "plan":
            inputs.plan_file.unlink(missing_ok=True)
    except RefusedError as refused:
        print(f"::error title=reconciler::{escaped(CONTROL.sub('', str(refused)))}", flush=True)
        word = RESULTS.get(refused.code, "failed")
        write_outputs(output_file, {"result": word, "exit-code": str(refused.code)})
        return refused.code
    ran = run(arguments(inputs), clean)
    plan = plan_outputs(inputs.plan_file) if inputs.command in ("plan", "apply") else {}
    counts = {name: int(plan[name]) for name in COUNTS if name in plan}
    word = result(inputs.command, ran.code, counts)
    write_outputs(output_file, {"result": word, "exit-code": str(ran.code), **plan})
    with Path(environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as stream:
        stream.write(summary(inputs, ran))
    if ran.code == CHANGES:
        return CHANGES if inputs.fail_on_changes else 0
    if ran.code:
        print(f"::error title=reconciler::{inputs.command}: {word}, exit code {ran.code}")
    return ran.code


if __name__ == "__main__":
    sys.exit(main(os.environ))
