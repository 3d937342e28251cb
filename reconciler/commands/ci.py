"""`reconciler ci`: the plain commands inside CI, with comment, summary, annotations and outputs.

Inputs come from variables, as action.yml passes them. Everything works outside of
the forge too, as far as it makes sense there. Source: docs/ci.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path

import click

from reconciler.api.secret import API_KEY, Redaction
from reconciler.ci.applying import apply_for
from reconciler.ci.conversation import Conversation, conversation
from reconciler.ci.ended import Ended, PlanNotFound, has_work
from reconciler.ci.reading import asked_by, drift_for, plan_for, validate_now
from reconciler.ci.runner import Inputs, Runner, read_inputs
from reconciler.ci.telling import outputs_of, tell
from reconciler.commands.root import first_of, tell_error
from reconciler.commands.waiting import waiting
from reconciler.console import redact_with
from reconciler.errors import SIGNALLED, ExitCode, InvalidInput, UsageError
from reconciler.forge.event import read_event
from reconciler.project import BASE_URL
from reconciler.streams import lost_by, output_lost


@click.command
@click.argument("command", required=False, metavar="validate|plan|apply|drift")
def ci(*, command: str | None) -> int:
    """Do the same inside CI: comment, summary, annotations, outputs.

    Inputs are variables, INPUT_ENVIRONMENT for `environment`, as docs/ci.md
    lists them. Changes are a result and no failure, unless `fail-on-changes`.
    """
    environ = dict(os.environ)
    runner = _runner(environ)
    runner.mask(environ)
    try:
        inputs = read_inputs(environ, command)
    except UsageError as refused:
        code = str(UsageError.exit_code)
        outputs = {"result": "failed", "exit-code": code, "failure-reason": "validation"}
        runner.write_outputs(outputs)
        runner.say("error", str(refused))
        return UsageError.exit_code
    key = environ.get("INPUT_API_KEY", "") or environ.get(API_KEY, "")
    redact_with(Redaction((key, inputs.token)))
    ended = Ended(inputs.command)
    with (
        _with(os.environ, _instead(inputs, key)),
        conversation(inputs, read_event(environ), runner, environ) as talk,
    ):
        with runner.log(), waiting(quiet=False) as ended.waits:
            _carry_out(talk, ended, has_key=bool(key.strip()))
        _note_loss(runner, ended)
        _say(talk, ended)
        _tell(talk, ended)
    if ended.code == ExitCode.DIFFERENT:
        return ExitCode.DIFFERENT if inputs.fail_on_changes else ExitCode.DONE
    return ended.code


def _runner(environ: Mapping[str, str]) -> Runner:
    output = environ.get("GITHUB_OUTPUT", "")
    summary = environ.get("GITHUB_STEP_SUMMARY", "")
    is_forge = environ.get("GITHUB_ACTIONS", "") == "true" or bool(output)
    return Runner(
        sys.stdout,
        is_forge,
        Path(output) if output else None,
        Path(summary) if summary else None,
    )


@contextmanager
def _with(environ: MutableMapping[str, str], instead: Mapping[str, str]) -> Iterator[None]:
    """Let the plain commands see what the inputs say, for a while."""
    before = {name: environ.get(name) for name in instead}
    environ.update(instead)
    try:
        yield
    finally:
        for name, value in before.items():
            del environ[name]
            if value is not None:
                environ[name] = value


def _instead(inputs: Inputs, key: str) -> dict[str, str]:
    """Give the variables of the plain commands; `validate` gets along without."""
    given = {API_KEY: key, BASE_URL: inputs.base_url}
    if inputs.command == "validate":
        return dict.fromkeys(given, "")
    return given


def _carry_out(talk: Conversation, ended: Ended, *, has_key: bool) -> None:
    """Run the command, and note its failure; nothing is raised but by a way to exit."""
    try:
        match ended.command:
            case "validate":
                validate_now(asked_by(talk.inputs, ended), ended)
            case "plan":
                plan_for(talk, ended, has_key=has_key)
            case "apply":
                apply_for(talk, ended)
            case _:
                drift_for(talk, ended)
    except SystemExit:
        raise
    except BaseException as raised:  # noqa: BLE001 - as in root.py: a job is told of everything
        error = first_of(raised)
        code = tell_error(error)
        ended.is_logged = True
        lines = str(error).splitlines() or [type(error).__name__]
        if code in SIGNALLED:
            lines = ["stopped by a signal"]
        if isinstance(error, InvalidInput) and ended.complaint_lines:
            lines = ended.complaint_lines
        reason = "plan-not-found" if isinstance(error, PlanNotFound) else ""
        ended.fail(code, lines, reason)


def _note_loss(runner: Runner, ended: Ended) -> None:
    """Fail a run that went well where its log was lost; the comment and the files still tell it."""
    why = lost_by(runner.stream)
    if why is not None and ended.code in (ExitCode.DONE, ExitCode.DIFFERENT):
        error = output_lost(why)
        ended.fail(error.exit_code, [str(error)])


def _say(talk: Conversation, ended: Ended) -> None:
    """Let the comment say what is so now; a queued merge leaves the reviewed one alone."""
    if ended.code in SIGNALLED and ended.applied is None:
        return
    if ended.command == "apply":
        if ended.applied is None or (ended.plan is not None and has_work(ended.plan)):
            talk.show_applied(ended)
    elif ended.command == "plan" and talk.event.name != "merge_group":
        if ended.plan is None:
            talk.show_failure(ended)
        else:
            talk.show_plan(ended, ended.plan)


def _tell(talk: Conversation, ended: Ended) -> None:
    """Write what the job reads; a file that cannot be written fails a run that went well."""
    try:
        tell(talk, ended)
    except InvalidInput as error:
        went_well = ended.code in (ExitCode.DONE, ExitCode.DIFFERENT)
        worse = error.exit_code if went_well else ended.code
        ended.fail(worse, [*ended.errors, str(error)], ended.reason)
        talk.runner.say("error", str(error))
    talk.runner.write_outputs(outputs_of(talk.inputs, ended))
