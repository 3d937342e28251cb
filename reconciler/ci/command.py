"""`reconciler ci`: the commands inside CI, with comment, summary, annotations and outputs.

Inputs are variables, as action.yml passes them. Everything works outside of the forge too, as far
as it makes sense there. Source: docs/ci.md.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import click

from reconciler.api.secret import Redaction
from reconciler.ci.checkout import options_of, refuse_linked_inputs
from reconciler.ci.conversation import conversation
from reconciler.ci.job import Job
from reconciler.ci.result import Failure, JobResult
from reconciler.ci.runner import Runner, read_inputs
from reconciler.ci.trust import read_event
from reconciler.cli.apply import parameter_of
from reconciler.cli.console import data, redact_with
from reconciler.cli.options import waiting
from reconciler.cli.root import first_of, report_error
from reconciler.errors import SIGNALLED, ExitCode, InvalidInput, ReconcilerError, UsageError
from reconciler.operations.added_by_features import (
    ADDED_OPTIONS,
    BEFORE_LOCK,
    PROPOSING_STEPS,
    STEPS,
)
from reconciler.operations.open_project import Options, open_project
from reconciler.project import BASE_URL, MOST_SHARDS, SHARD, Environment, choose_environment
from reconciler.report.ci_documents import matrix_json
from reconciler.runtime.advice import PlanOfJob, in_job
from reconciler.runtime.connection import KEY_VARIABLE, key_of_job, keys_in, with_variables
from reconciler.runtime.progress import Waits


def environments_of(options: Options, count: int) -> list[str]:
    """Return the environments that `count` shards can be applied to, sorted by name.

    Unless the options name one, these are all environments without an embedded emulator, which
    lives on one machine. Raises UsageError for more jobs than a matrix allows, or none. Raises
    InvalidInput where an environment does not have a journal for each shard.
    """
    project = open_project(options)
    found = {
        name: environment
        for name, environment in project.settings.environments.items()
        if environment.emulator is None
    }
    if options.environment is not None:
        found = dict([choose_environment(project, options.environment)])
    if not found:
        raise UsageError("the project file has no environment with a service: name one with `-e`")
    if (jobs := len(found) * count) > MOST_SHARDS:
        raise UsageError(f"{jobs} jobs are more than the {MOST_SHARDS} that a matrix may have")
    wrong = [
        message
        for name, environment in sorted(found.items())
        if (message := _wrong(name, environment, count))
    ]
    if wrong:
        raise InvalidInput("\n".join(wrong))
    return sorted(found)


def _wrong(name: str, environment: Environment, count: int) -> str:
    """Return why the journal of an environment does not fit the number of shards, "" if it does."""
    journal = environment.journal or ""
    if count > 1 and SHARD not in journal:
        return (
            f"environment `{name}` has one journal, and its lock lets one shard work at a time: "
            f"write {SHARD} into its `journal:`, as s3://BUCKET/{name}-{SHARD}"
        )
    if count == 1 and SHARD in journal:
        return (
            f"environment `{name}` has a journal for each shard, and `--shards 1` selects none: "
            f"take {SHARD} out of its `journal:`, or say how many shards there are"
        )
    return ""


MATRIX = "matrix"
COMMANDS = ("validate", "plan", "apply", "drift", *STEPS, *PROPOSING_STEPS, MATRIX)
Command = TypeVar("Command", bound=Callable[..., int])


def _with_inputs_of_features(command: Command) -> Command:
    for name in reversed([*ADDED_OPTIONS]):
        metavar = "DURATION" if name in BEFORE_LOCK else "REASON"
        shown = ADDED_OPTIONS.load(name).in_job
        command = click.option(f"--{name}", metavar=metavar, default="", help=shown)(command)
    return command


@click.command
@click.argument("command", required=False, metavar="|".join(COMMANDS))
@_with_inputs_of_features
@click.option(
    "--shards",
    metavar="N",
    type=click.IntRange(1, MOST_SHARDS),
    help="With `matrix`: the number of shards of each environment.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "github"]),
    help="With `matrix`: print it, or append it to the outputs of the job under the name `matrix`.",
)
def ci(
    *,
    command: str | None,
    shards: int | None,
    form: str | None,
    **added: str,
) -> int:
    """Plan, apply or look for drift inside CI, with comment, summary, annotations and outputs.

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
        inputs = read_inputs(environ, command, _inputs_of_flags(command, added))
    except UsageError as refused:
        code = str(UsageError.exit_code)
        outputs = {"result": "failed", "exit-code": code, "failure-reason": "validation"}
        runner.write_outputs(outputs)
        runner.say("error", str(refused))
        return UsageError.exit_code
    key = key_of_job(environ)
    redact_with(Redaction((*keys_in(environ).values(), inputs.token)))
    given = {KEY_VARIABLE: key, BASE_URL: inputs.base_url}
    if inputs.command == "validate":
        given = dict.fromkeys(given, "")
    with (
        with_variables(given),
        conversation(inputs, read_event(environ), runner, environ) as talk,
    ):
        with runner.log(), waiting(quiet=False) as waits, _own_folder() as cache_folder:
            options = options_of(inputs, waits, cache_folder)
            result = JobResult(command=inputs.command)
            job = Job(talk=talk, options=options, has_key=bool(key.strip()), result=result)
            # Where another command advises an apply, a person runs it.
            plan = PlanOfJob(inputs.artifact, inputs.plan_file.name)
            with in_job(plan) if inputs.command in ("plan", "apply") else nullcontext():
                _carry_out(job)
        job.tell()
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


def _inputs_of_flags(command: str | None, added: Mapping[str, str]) -> dict[str, str]:
    flags = {name: text for name in ADDED_OPTIONS if (text := added[parameter_of(name)])}
    if flags and command != "apply":
        raise UsageError(f"--{next(iter(flags))} is for `reconciler ci apply`")
    return flags


def _runner(environ: Mapping[str, str]) -> Runner:
    output = environ.get("GITHUB_OUTPUT", "")
    summary = environ.get("GITHUB_STEP_SUMMARY", "")
    return Runner(
        stream=sys.stdout,
        is_forge=environ.get("GITHUB_ACTIONS", "") == "true" or bool(output),
        output=Path(output) if output else None,
        summary=Path(summary) if summary else None,
    )


def _carry_out(job: Job) -> None:
    """Run the command; its result has what ended it early, and only SystemExit is raised."""
    try:
        job.run()
    except SystemExit:
        raise
    except BaseException as raised:  # noqa: BLE001 - as in root.py: a job reports every error
        error = first_of(raised)
        job.result.failure = failure_by(error, report_error(error), job.result)


def failure_by(error: BaseException, code: int, result: JobResult) -> Failure:
    """Return the failure of a run that ended early, for a reason that the log has already."""
    lines = str(error).splitlines() or [type(error).__name__]
    if code in SIGNALLED:
        lines = ["stopped by a signal"]
    said = ""
    if isinstance(error, InvalidInput) and result.complaint_lines:
        lines, said = result.complaint_lines, result.complaint_words
    own = error.failure_reason if isinstance(error, ReconcilerError) else ""
    return Failure(code=code, errors=lines, is_logged=True, own_reason=own, said=said)
