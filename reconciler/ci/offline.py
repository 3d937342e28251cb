"""A change without a key: planned on the emulator, against what its base branch declares.

The base branch's manifests are applied to an emulator that nobody else sees, and
the change is planned on it. Secrets stand for themselves in both.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.ci.checkout import place_of
from reconciler.ci.ended import Compared, Ended
from reconciler.ci.trust import (
    Barred,
    OverBase,
    Use,
    Whole,
    in_folder,
    nothing_known,
    with_settings_of,
)
from reconciler.console import words
from reconciler.errors import ReconcilerError
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
from reconciler.resource import Manifest, Plan
from reconciler.session.applying import plan_and_apply
from reconciler.session.consent import Consent
from reconciler.session.opening import Asked, Bench, is_whole, lead_here, open_workspace
from reconciler.session.planning import plan_now
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
