"""The commands of a job that write nothing to the service; without a key, on an emulator."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.ci.checkout import place_of, refuse_links
from reconciler.ci.conversation import Conversation
from reconciler.ci.ended import Compared, Ended, PlanNotFound, has_work
from reconciler.ci.runner import Inputs
from reconciler.ci.trust import (
    Barred,
    OverBase,
    Use,
    Whole,
    in_folder,
    nothing_known,
    with_settings_of,
)
from reconciler.ci.using import opened, use_of
from reconciler.console import Console, data, redacted, stdout_style, words
from reconciler.errors import ExitCode, GuardRefused, InvalidInput, ReconcilerError, Stale, worst
from reconciler.forge.event import Event
from reconciler.kinds import BY_NAME
from reconciler.manifests.changed import Revision, workspace_at
from reconciler.manifests.expressions import Scope, withheld_from
from reconciler.manifests.workspace import Workspace
from reconciler.project import (
    Environment,
    Project,
    choose_environment,
    choose_target,
)
from reconciler.report.complaints.text import complaints_summary, complaints_text
from reconciler.report.drift import drift_text
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.text import plan_text
from reconciler.resource import Manifest, Plan
from reconciler.session.applying import Consent, plan_and_apply
from reconciler.session.checking import Checked, check, check_in
from reconciler.session.opening import Bench, open_workspace
from reconciler.session.planning import (
    check_writable,
    drift_now,
    exit_code_of,
    failures_of,
    plan_now,
    write_private,
)
from reconciler.session.projects import Asked, is_whole, lead_here
from reconciler.source.files import PROJECT_FILE

_AGREED = Consent(yes=True, allow_destroy=True, new_journal=True, override="nobody else sees it")


def usable_offline(use: Use, own: Project) -> Project:
    """Give what a change is planned with where no key can go anywhere, whatever it says."""
    match use:
        case Whole(project=project) | OverBase(project=project):
            return project
        case Barred():
            known = nothing_known(own.settings)
            return replace(own, settings=with_settings_of(known, own.settings))


def plan_offline(use: Use, project: Project, ended: Ended, asked: Asked) -> Plan:
    """Plan a project on an emulator that holds what the base branch declares, as far as known."""
    name, environment = choose_environment(project, asked.environment)
    lead_here(asked, project, name)
    scope = Scope(name, environment.variables, withheld=withheld_from(os.environ))
    workspace = open_workspace(asked, project, scope)
    ended.environment = name
    with TemporaryDirectory(prefix="reconciler-") as folder:
        place = Path(folder)
        environment = in_folder(Environment(guards=environment.guards), place)
        whole = is_whole(asked, project)
        target = choose_target(project, name, environment, {})
        bench = Bench(
            project,
            name,
            environment,
            target,
            _on_emulator(workspace),
            whole,
            waits=asked.waits,
            voice=asked.voice,
        )
        ended.compared = Compared.NOTHING
        if isinstance(use, OverBase) and _apply_base(use, bench, asked, place / "base"):
            ended.compared = Compared.BASE
        words(f"no live comparison, as there is no key: {ended.compared.value}")
        return asyncio.run(plan_now(bench, bench.journal().history))


def _apply_base(use: OverBase, bench: Bench, asked: Asked, folder: Path) -> bool:
    """Apply what the base branch declares; tell whether that could be done."""
    file = use.project.file or use.project.root / PROJECT_FILE
    found = place_of(file, os.environ)
    if found is None:
        return False
    revision = Revision(found.commits.top.resolve(), use.commit, "the base branch")
    scope = Scope(bench.name, {}, withheld=withheld_from(os.environ))
    folder.mkdir()
    try:
        declared = workspace_at(revision, folder, use.project, scope, asked.paths)
        if declared.errors:
            return False
        base = replace(bench, workspace=_on_emulator(declared), whole=True)
        _, applied = plan_and_apply(base, lambda _: _AGREED, "ci plan", verbose=False, quiet=True)
    except ReconcilerError as error:
        words(f"the base branch's manifests cannot be applied to an emulator: {error}")
        return False
    if applied is not None and applied.signal_code is not None:
        raise KeyboardInterrupt
    return applied is not None


def _on_emulator(workspace: Workspace) -> Workspace:
    """Give the manifests without the ids that only the service has given out."""
    return replace(workspace, manifests=tuple(map(_without_given_id, workspace.manifests)))


def _without_given_id(manifest: Manifest) -> Manifest:
    kind = BY_NAME[manifest.ref.kind]
    is_own = kind.id_form.required or kind.findable
    return manifest if is_own else replace(manifest, remote_id=None)


def asked_by(inputs: Inputs, ended: Ended) -> Asked:
    """Give the flags that these inputs stand for; the default path is the project file's own."""
    paths = () if inputs.path == "." else (Path(inputs.path),)
    project = Path(inputs.project) if inputs.project else None
    return Asked(
        paths,
        inputs.environment or None,
        project,
        verbose=False,
        quiet=False,
        waits=ended.waits,
        voice=Console(),
    )


def validate_now(asked: Asked, ended: Ended) -> None:
    """Check the manifests, offline, and note every complaint.

    Raises InvalidInput where there are errors, once all of them are told, and
    where a link leads to the manifests.
    """
    for path in asked.paths:
        refuse_links(path)
    _note(check(asked, in_all=True), ended)


def _checked(asked: Asked, secrets: Mapping[str, str] | None) -> Checked:
    for path in asked.paths:
        refuse_links(path)
    return check(asked, secrets)


def _note(checked: Checked, ended: Ended) -> Project:
    workspace = checked.workspace
    ended.environment, ended.folder = checked.environment, checked.folder
    ended.complaints = workspace.complaints
    ended.resources, ended.files = len(workspace.manifests), workspace.files
    summary = complaints_summary(workspace.complaints, ended.resources, ended.files)
    if workspace.errors or ended.command == "validate":
        data(complaints_text(workspace.complaints, stdout_style(verbose=False)))
        words("\n".join(filter(None, (summary, checked.advice))))
    if workspace.errors or checked.project is None:
        raise InvalidInput(summary)
    return checked.project


def _examined(
    inputs: Inputs, event: Event, ended: Ended, secrets: Mapping[str, str] | None
) -> tuple[Project, Use]:
    """Check the manifests, and decide what may be used of them.

    With `secrets`, those that the manifests name must be there. Raises
    InvalidInput where something is wrong.
    """
    asked = asked_by(inputs, ended)
    checked = _checked(asked, secrets)
    if checked.project is None:
        return _note(checked, ended), Barred("the project file is not valid")
    use = use_of(event, inputs, checked.project, checked.workspace.read)
    if not isinstance(use, Barred):
        name, _ = choose_environment(use.project, asked.environment)
        if name != checked.environment:
            # The change has another default environment than its base branch.
            checked = check_in(use.project, asked, secrets)
    return _note(checked, ended), use


@contextmanager
def open_for(
    inputs: Inputs, event: Event, ended: Ended, *, writing: bool = False
) -> Iterator[Bench]:
    """Check the manifests, decide what may be used of them, and open it.

    Raises InvalidInput where they are wrong, and GuardRefused for what only an
    untrusted change says, and for any of it where something would be written.
    """
    _, use = _examined(inputs, event, ended, os.environ)
    if writing and isinstance(use, OverBase):
        raise GuardRefused(
            f"an apply is of what was merged, and this is an untrusted change ({use.why}): "
            "merge it, and apply on the default branch or one of `trustedBranches:`"
        )
    with opened(use, event, inputs, ended, asked_by(inputs, ended)) as bench:
        yield bench


def plan_for(talk: Conversation, ended: Ended, *, has_key: bool) -> None:
    """Plan, show it, and keep it in its file; on an empty emulator where there can be no key."""
    inputs, event = talk.inputs, talk.event
    _remove_earlier(inputs.plan_file)
    check_writable(inputs.plan_file)
    if event.has_no_secrets and not has_key:
        made = _planned_without_key(inputs, event, ended)
    else:
        with open_for(inputs, event, ended) as bench:
            made = asyncio.run(plan_now(bench, bench.journal().history))
    ended.plan = made
    write_private(inputs.plan_file, redacted(plan_json(made)))
    data(plan_text(made, stdout_style(verbose=False)))
    failures = failures_of(made)
    if failures:
        ended.fail(worst(failures), ["the plan is not complete, or cannot be applied as it is"])
    elif has_work(made):
        ended.code = ExitCode.DIFFERENT
    if event.name == "merge_group":
        _check_queued(talk, ended, made)


def _remove_earlier(file: Path) -> None:
    """Remove an earlier plan, which must not be applied once a later one failed."""
    refuse_links(file)
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def _planned_without_key(inputs: Inputs, event: Event, ended: Ended) -> Plan:
    """Plan a change that comes without a key."""
    asked = asked_by(inputs, ended)
    own, use = _examined(inputs, event, ended, None)
    project = usable_offline(use, own)
    _, environment = choose_environment(project, asked.environment)
    if environment.emulator is not None and not isinstance(use, Barred):
        with opened(use, event, inputs, ended, asked) as bench:
            return asyncio.run(plan_now(bench, bench.journal().history))
    return plan_offline(use, project, ended, asked)


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
    with open_for(talk.inputs, talk.event, ended) as bench:
        found = asyncio.run(drift_now(bench, bench.journal().history))
    ended.drifts = found
    data(drift_text(found, stdout_style(verbose=False)))
    code = exit_code_of(found)
    if code not in (ExitCode.DONE, ExitCode.DIFFERENT):
        ended.fail(code, ["some resources could not be read"])
    ended.code = code
