"""`reconciler ci`: the commands inside CI, with comment, summary, annotations and outputs.

Inputs are variables, as action.yml passes them. Everything works outside of the forge too, as far
as it makes sense there. Source: docs/ci.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from reconciler.api.secret import Redaction
from reconciler.ci.conversation import conversation
from reconciler.ci.forge.event import read_event
from reconciler.ci.job import Job
from reconciler.ci.job_session import options_of, refuse_linked_inputs
from reconciler.ci.matrix_environments import environments_of
from reconciler.ci.result import JobResult
from reconciler.ci.runner import Inputs, Runner, read_inputs
from reconciler.ci.steps import ended_by, with_found
from reconciler.cli.console import data, redact_with
from reconciler.cli.lock_wait import waiting
from reconciler.cli.root import first_of, report_error
from reconciler.errors import ExitCode, UsageError
from reconciler.project import BASE_URL, MOST_SHARDS
from reconciler.report.matrix import matrix_json
from reconciler.runtime.advice import in_job
from reconciler.runtime.keys import key_of_job, keys_in, with_key
from reconciler.runtime.progress import Waits

MATRIX = "matrix"


@click.command
@click.argument("command", required=False, metavar="validate|plan|apply|drift|watch|matrix")
@click.option(
    "--break-glass",
    metavar="REASON",
    default="",
    help="With apply: the input break-glass, to apply in an emergency though it is frozen.",
)
@click.option(
    "--wait-freeze",
    metavar="DURATION",
    default="",
    help="With apply: the input wait-freeze, to wait for the end of a freeze, as 30m or 2h.",
)
@click.option(
    "--shards",
    metavar="N",
    type=click.IntRange(1, MOST_SHARDS),
    help="With matrix: how many shards each environment has.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "github"]),
    help="With matrix: print it, or append it to the job's outputs as `matrix`.",
)
def ci(
    *,
    command: str | None,
    break_glass: str,
    wait_freeze: str,
    shards: int | None,
    form: str | None,
) -> int:
    """Do the same inside CI: comment, summary, annotations, outputs.

    `matrix` prints the environments and shards for the CI system's own matrix;
    it needs no key and no network.

    Inputs are variables, INPUT_ENVIRONMENT for `environment`, as docs/ci.md
    lists them. Changes are a result and no failure, unless `fail-on-changes`.
    """
    environ = dict(os.environ)
    runner = _runner(environ)
    if command == MATRIX:
        return _matrix(environ, runner, shards, form)
    if shards is not None or form is not None:
        raise UsageError(f"--{'format' if shards is None else 'shards'} is for `ci {MATRIX}`")
    runner.mask(environ)
    try:
        inputs = read_inputs(environ, command, _flags(command, break_glass, wait_freeze))
    except UsageError as refused:
        code = str(UsageError.exit_code)
        outputs = {"result": "failed", "exit-code": code, "failure-reason": "validation"}
        runner.write_outputs(outputs)
        runner.say("error", str(refused))
        return UsageError.exit_code
    key = key_of_job(environ)
    redact_with(Redaction((*keys_in(environ).values(), inputs.token)))
    with (
        _with(os.environ, _instead(inputs, key)),
        conversation(inputs, read_event(environ), runner, environ) as talk,
    ):
        with runner.log(), waiting(quiet=False) as waits, _own_folder() as cache_folder:
            options = options_of(inputs, waits, cache_folder)
            job = Job(talk=talk, options=options, has_key=bool(key.strip()))
            # The plan of `watch` is a rollback, which a person applies with `rollback`.
            with in_job() if inputs.command in ("plan", "apply") else nullcontext():
                result = _carried_out(job)
        result = job.tell(result)
    if result.code == ExitCode.DIFFERENT:
        return ExitCode.DIFFERENT if inputs.fail_on_changes else ExitCode.DONE
    return result.code


@contextmanager
def _own_folder() -> Iterator[Path | None]:
    """Yield a folder that is removed with the job; None where none can be created."""
    try:
        made = TemporaryDirectory(prefix="reconciler-", ignore_cleanup_errors=True)
    except OSError:
        yield None
        return
    with made as folder:
        yield Path(folder)


def _matrix(
    environ: Mapping[str, str], runner: Runner, shards: int | None, form: str | None
) -> int:
    """Print the matrix, or append it to the outputs. Raises UsageError without an outputs file."""
    if shards is None:
        raise UsageError("say how many shards each environment has: `--shards 4`, or 1 for none")
    if form == "github" and runner.output is None:
        raise UsageError("GITHUB_OUTPUT names no file to append to: take `--format json`")
    options = options_of(read_inputs(environ, "plan"), Waits())
    refuse_linked_inputs(options)
    made = matrix_json(environments_of(options, shards), shards)
    if form == "github":
        runner.write_outputs({MATRIX: made})
        return ExitCode.DONE
    return data(f"{made}\n")


def _flags(command: str | None, break_glass: str, wait_freeze: str) -> dict[str, str]:
    """Return the inputs that the flags set. Raises UsageError with another command."""
    given = {"break-glass": break_glass, "wait-freeze": wait_freeze}
    flags = {name: text for name, text in given.items() if text}
    if flags and command != "apply":
        raise UsageError(f"--{next(iter(flags))} is for `reconciler ci apply`")
    return flags


def _runner(environ: Mapping[str, str]) -> Runner:
    output = environ.get("GITHUB_OUTPUT", "")
    summary = environ.get("GITHUB_STEP_SUMMARY", "")
    is_forge = environ.get("GITHUB_ACTIONS", "") == "true" or bool(output)
    return Runner(
        stream=sys.stdout,
        is_forge=is_forge,
        output=Path(output) if output else None,
        summary=Path(summary) if summary else None,
    )


@contextmanager
def _with(environ: MutableMapping[str, str], instead: Mapping[str, str]) -> Iterator[None]:
    """Set the variables of the commands from the inputs, until the end of the block."""
    before = {name: environ.get(name) for name in instead}
    environ.update(instead)
    try:
        yield
    finally:
        for name, previous in before.items():
            del environ[name]
            if previous is not None:
                environ[name] = previous


def _instead(inputs: Inputs, key: str) -> dict[str, str]:
    """Return the variables of the commands; `validate` needs none of them."""
    given = {**with_key(key), BASE_URL: inputs.base_url}
    if inputs.command == "validate":
        return dict.fromkeys(given, "")
    return given


def _carried_out(job: Job) -> JobResult:
    """Run the command, and return the results of its steps; only SystemExit is raised."""
    result = JobResult(command=job.talk.inputs.command)
    try:
        for found in job.steps():
            result = with_found(result, found)
    except SystemExit:
        raise
    except BaseException as raised:  # noqa: BLE001 - as in root.py: a job reports every error
        error = first_of(raised)
        return ended_by(result, error, report_error(error))
    return result
