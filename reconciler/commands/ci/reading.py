"""The commands of a job that write nothing to the service: validate, plan, drift.

They call what the plain commands call, and note what came of it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.assumptions import Assumptions
from reconciler.commands.checking import check
from reconciler.commands.ci.conversation import Conversation
from reconciler.commands.ci.ended import CHANGES, Ended, PlanNotFound, has_work
from reconciler.commands.ci.inputs import Inputs
from reconciler.commands.ci.trust import refuse_elsewhere, refuse_foreign_checkout
from reconciler.commands.drift import drift_now, exit_code_of
from reconciler.commands.opening import (
    Asked,
    Bench,
    is_whole,
    open_bench,
    open_project,
    open_workspace,
    read_project,
)
from reconciler.commands.output import data, stdout_style, words
from reconciler.commands.plan import check_writable, failures_of, plan_now, write_private
from reconciler.errors import InvalidInput, Stale, worst
from reconciler.forge.event import Event
from reconciler.journal.history import History
from reconciler.manifests.expressions import Scope
from reconciler.project import Embedded, Project, choose_environment
from reconciler.report.complaints.text import complaints_summary, complaints_text
from reconciler.report.drift.text import drift_text
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.text import plan_text
from reconciler.resource import Plan


def asked_by(inputs: Inputs) -> Asked:
    """Give the flags that these inputs stand for; the default path is the project file's own."""
    paths = () if inputs.path == "." else (Path(inputs.path),)
    project = Path(inputs.project) if inputs.project else None
    return Asked(paths, inputs.environment or None, project, verbose=False, quiet=False)


def validate_now(asked: Asked, ended: Ended, secrets: Mapping[str, str] | None = None) -> None:
    """Check the manifests and note every complaint.

    With `secrets`, those must be there. Raises InvalidInput where there are
    errors, once all of them are told.
    """
    checked = check(asked, secrets)
    workspace = checked.workspace
    ended.environment, ended.folder = checked.environment, checked.folder
    ended.complaints = workspace.complaints
    ended.resources, ended.files = len(workspace.manifests), workspace.files
    summary = complaints_summary(workspace.complaints, ended.resources, ended.files)
    if workspace.errors or ended.command == "validate":
        data(complaints_text(workspace.complaints, stdout_style(verbose=False)))
        words(summary)
    if workspace.errors:
        raise InvalidInput(summary)


def open_for(inputs: Inputs, event: Event, ended: Ended, asked: Asked) -> Bench:
    """Do all that comes before the first request; here it is decided where the key may go.

    Raises GuardRefused for what only an untrusted change says.
    """
    validate_now(asked, ended, os.environ)
    project = open_project(asked)
    refuse_foreign_checkout(event, inputs, project.root)
    name, environment = choose_environment(project, asked.environment)
    refuse_elsewhere(event, inputs, project, name, environment)
    return open_bench(asked)


def plan_for(talk: Conversation, ended: Ended, *, has_key: bool) -> None:
    """Plan, show it, and keep it in its file; on an empty emulator where there can be no key."""
    inputs, event, asked = talk.inputs, talk.event, asked_by(talk.inputs)
    # An earlier plan must not be applied once a later one failed.
    inputs.plan_file.unlink(missing_ok=True)
    check_writable(inputs.plan_file)
    with ExitStack() as stack:
        if event.has_no_secrets and not has_key and not _is_embedded(asked):
            ended.is_offline = True
            folder = Path(stack.enter_context(TemporaryDirectory()))
            bench, history = _offline_bench(asked, ended, folder), History()
            words("no live comparison: planned on an empty emulator, as there is no key")
        else:
            bench = open_for(inputs, event, ended, asked)
            history = bench.journal().history
        made = asyncio.run(plan_now(bench, history))
    ended.plan = made
    write_private(inputs.plan_file, plan_json(made))
    data(plan_text(made, stdout_style(verbose=False)))
    failures = failures_of(made)
    if failures:
        ended.fail(worst(failures), ["the plan is not complete, or cannot be applied as it is"])
    elif has_work(made):
        ended.code = CHANGES
    if event.name == "merge_group":
        _check_queued(talk, ended, made)


def _is_embedded(asked: Asked) -> bool:
    project, _ = read_project(asked)
    if project is None:
        return False
    return choose_environment(project, asked.environment)[1].emulator is not None


def _offline_bench(asked: Asked, ended: Ended, folder: Path) -> Bench:
    """Put the emulator in the place of the service; secrets stand for themselves."""
    validate_now(asked, ended)
    project: Project = open_project(asked)
    name, environment = choose_environment(project, asked.environment)
    environment = environment.model_copy(update={"api": Assumptions()})
    workspace = open_workspace(asked, project, Scope(name, environment.variables))
    target = Embedded(folder / "offline.db")
    return Bench(project, name, environment, target, workspace, is_whole(asked, project))


def _check_queued(talk: Conversation, ended: Ended, made: Plan) -> None:
    """Compare what a merge queue would merge with what was reviewed, and leave the comment alone.

    Raises Stale where it is another plan, and PlanNotFound where there was none.
    """
    if talk.repository is None or talk.inputs.comment == "never" or not has_work(made):
        return
    reviewed = talk.reviewed(ended.environment)
    if reviewed is None or not reviewed.marker.digest:
        raise PlanNotFound("no plan of this pull request was reviewed: plan it before it is queued")
    if reviewed.marker.digest != made.digest:
        raise Stale(
            f"the merge would not be what was reviewed: expected {reviewed.marker.digest}, "
            f"is {made.digest}"
        )


def drift_for(talk: Conversation, ended: Ended) -> None:
    """Compare live with what was last applied."""
    bench = open_for(talk.inputs, talk.event, ended, asked_by(talk.inputs))
    found = asyncio.run(drift_now(bench, bench.journal().history))
    ended.drifts = found
    data(drift_text(found, stdout_style(verbose=False)))
    code = exit_code_of(found)
    if code not in (0, CHANGES):
        ended.fail(code, ["some resources could not be read"])
    ended.code = code
