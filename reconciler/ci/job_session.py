"""Session of a job: its manifests, what may be used of them, and which target it may use.

Without a key the target is an emulator inside the job. `trust.py` decides what may be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from reconciler.ci.checkout import is_brought, place_of, refuse_links, use_of
from reconciler.ci.forge.event import Event
from reconciler.ci.result import PlanBasis
from reconciler.ci.runner import Inputs
from reconciler.ci.trust import (
    Barred,
    OverBase,
    ProjectTrust,
    Whole,
    barred_paths,
    barred_target,
    journal_file,
    nothing_known,
    with_settings_of,
)
from reconciler.cli.console import Console, words
from reconciler.document import Json
from reconciler.errors import GuardRefused, InvalidInput, ReconcilerError
from reconciler.model import Plan, Ref
from reconciler.operations.check_project import Checked, check, check_in
from reconciler.operations.offline import Offline, in_folder, opened_offline
from reconciler.operations.open_project import Options, Reporter, lead_here
from reconciler.operations.open_session import Session, session_of
from reconciler.operations.secret_sources import Allowed
from reconciler.planning.guards import UnderReview
from reconciler.project import (
    Environment,
    Project,
    choose_environment,
    in_shard,
    journal_place,
)
from reconciler.project.settings import InGit
from reconciler.report.safe import safe
from reconciler.runtime.progress import Waits
from reconciler.runtime.rows import Rows
from reconciler.workspace.revision import Revision, declared_at
from reconciler.workspace.selection import EVERYTHING, of_shard
from reconciler.workspace.workspace import Workspace

Compare: TypeAlias = Callable[[Plan, str, Callable[[], tuple[Plan, tuple[Ref, ...]]]], Plan]
"""Returns a plan with what it finds in the plan against a commit of the base branch.

That plan is made by a function, which also returns the resources that the emulator refused, and
raises ReconcilerError.
"""

BASE_COMPARISONS: Final = Rows[Compare]("base-comparisons")
"""By the member of the JSON of a plan."""


def options_of(inputs: Inputs, waits: Waits, kept_in: Path | None = None) -> Options:
    """Return the options of these inputs; the default path is the project file's own.

    What one step of a job reads is cached in a folder of the job for the next step. A cache of an
    earlier job is not used: a change may have influenced it.
    """
    return Options(
        paths=() if inputs.path == "." else (Path(inputs.path),),
        environment=inputs.environment or None,
        project=Path(inputs.project) if inputs.project else None,
        verbose=False,
        quiet=False,
        waits=waits,
        kept_in=kept_in,
        reporter=Console(),
        selection=EVERYTHING if inputs.shard is None else of_shard(inputs.shard),
    )


def refuse_linked_inputs(options: Options) -> None:
    """Refuse links in the paths of manifests or project file, before any file is read."""
    for path in (*options.paths, *filter(None, [options.project])):
        refuse_links(path)


def check_manifests(
    options: Options, secrets: Mapping[str, str] | None = None, *, in_all: bool = False
) -> Checked:
    """Check the manifests, as `validate` does. Raises InvalidInput where a link leads to them."""
    refuse_linked_inputs(options)
    return check(options, secrets, in_all=in_all)


def check_and_judge(
    event: Event, inputs: Inputs, options: Options, secrets: Mapping[str, str] | None
) -> tuple[Checked, ProjectTrust]:
    """Check the manifests, and decide what may be used of them.

    With `secrets`, those that the manifests name must be there. Raises InvalidInput where a link
    leads to the manifests or the project file.
    """
    checked = check_manifests(options, secrets)
    if checked.project is None:
        return checked, Barred(why="the project file is not valid")
    use = use_of(event, inputs, checked.project, checked.workspace.read)
    if not isinstance(use, Barred):
        name, _ = choose_environment(use.project, options.environment)
        if name != checked.environment:
            # The change has another default environment than its base branch.
            checked = check_in(use.project, options, secrets)
    return checked, use


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Trusted settings of a job, and the environment `name` that the key may be used for."""

    use: Whole | OverBase
    name: str
    environment: Environment


def admit(use: ProjectTrust, event: Event, inputs: Inputs, options: Options) -> Admitted:
    """Return the environment that the key may be used for; print where other settings are used.

    Raises GuardRefused where project, target, paths or journal are not trusted, and UsageError for
    an unknown environment.
    """
    if isinstance(use, Barred):
        raise GuardRefused(use.why)
    name, environment = choose_environment(use.project, options.environment)
    environment = in_shard(environment, options.shard)
    why = barred_target(event, use, name, environment, inputs.base_url)
    if why := why or barred_paths(use, name, environment) or _barred_journal(event, use, name):
        raise GuardRefused(why)
    if isinstance(use, Whole) and use.outdated:
        words(
            "settings are those of the default branch's newest commit, which has "
            f"{safe(', '.join(use.outdated))} otherwise than this checkout"
        )
    if isinstance(use, OverBase):
        words(
            f"untrusted change ({safe(use.why)}): its manifests and variables are used with the "
            "base branch's settings"
        )
    return Admitted(use=use, name=name, environment=environment)


@contextmanager
def opened(
    admitted: Admitted, options: Options, event: Event, *, may_lack: bool = False
) -> Iterator[Session]:
    """Open a session with the admitted settings; with `may_lack`, secrets need not be set.

    Raises InvalidInput for wrong manifests, and GuardRefused for a journal that a change adds.
    """
    use, environment = admitted.use, admitted.environment
    with TemporaryDirectory(prefix="reconciler-") as folder:
        if isinstance(use, OverBase):
            environment = _confined(use, admitted.name, environment, Path(folder))
        allowed = places_allowed(use, event)
        session = session_of(
            options, use.project, admitted.name, environment, allowed, may_lack=may_lack
        )
        if isinstance(use, OverBase):
            base = cache(partial(_base_workspace, use, session, options))
            review = UnderReview(base=lambda: _specs_in(base()))
            session = replace(_unexempted(session), base=base, review=review)
        yield session


def _base_workspace(use: OverBase, session: Session, options: Options) -> Workspace | None:
    """Return what the base branch declares; None where that cannot be read, or is not valid."""
    try:
        with TemporaryDirectory(prefix="reconciler-") as folder:
            scope = session.scope(options)
            found = declared_at(base_of(use), Path(folder), use.project, scope, options.paths)
    except ReconcilerError as error:
        words(safe(f"the base branch cannot be compared: {error}"))
        return None
    return None if found.wrong else found.workspace


def _specs_in(workspace: Workspace | None) -> dict[Ref, Json] | None:
    if workspace is None:
        return None
    return {manifest.ref: manifest.spec for manifest in workspace.manifests}


def _unexempted(session: Session) -> Session:
    """Return a session without the exemptions in the manifests of a change.

    Consent to a guard needs an earlier merge. Exemptions from complaints were applied when the
    manifests were read.
    """
    manifests = tuple(replace(manifest, exempt={}) for manifest in session.workspace.manifests)
    return replace(session, workspace=replace(session.workspace, manifests=manifests))


def places_allowed(use: Whole | OverBase, event: Event) -> Allowed:
    """Return which sources of secrets a run may use: none that a change can influence.

    Only variables may be used for the change of a fork, and where the review is unknown.
    """
    if event.has_no_secrets or event.is_fork or (isinstance(use, Whole) and not use.anywhere):
        return Allowed.NOTHING
    return Allowed.ALL if isinstance(use, Whole) else Allowed.OUTSIDE


def _barred_journal(event: Event, use: Whole | OverBase, name: str) -> str:
    """Return why a journal in git may not be used, "" where it may.

    Git finds its server by the configuration of the repository around the project, which may hold
    commands. A nested repository may come from the change.
    """
    _, environment = choose_environment(use.project, name)
    if not event.name or not isinstance(journal_place(use.project, name, environment), InGit):
        return ""
    place = place_of(use.project)
    if place is None or not place.nested:
        return ""
    return (
        f"environment `{name}` keeps its journal in git, and the project is in a repository "
        "inside of another: check it out by itself, or keep the journal in a bucket"
    )


def _confined(use: OverBase, name: str, environment: Environment, folder: Path) -> Environment:
    """Return an environment with files of the run where files of the change cannot replace them.

    Raises GuardRefused for a journal that the change adds.
    """
    if environment.emulator is not None:
        return in_folder(environment, folder)
    file, place = journal_file(journal_place(use.project, name, environment)), place_of(use.project)
    if (
        file is not None
        and place is not None
        and is_brought(place, place.commits.head(), use.commit, file)
    ):
        raise GuardRefused(
            f"the change brings a journal of its own ({file.name}), and only that of the "
            "base branch is believed"
        )
    return environment


def has_own_emulator(use: ProjectTrust, options: Options) -> bool:
    """Return whether a job needs no key for the target of its environment."""
    return (
        not isinstance(use, Barred)
        and choose_environment(use.project, options.environment)[1].emulator is not None
    )


@contextmanager
def opened_without_key(
    use: ProjectTrust, own: Project, options: Options
) -> Iterator[tuple[Offline, PlanBasis]]:
    """Open a project on an emulator with what the base branch declares, as far as known.

    Yield it with the basis of its plan. `own` is the project as the change has it. Raises
    InvalidInput for wrong manifests.
    """
    if isinstance(use, Barred):
        project = replace(own, settings=with_settings_of(nothing_known(own.settings), own.settings))
    else:
        project = use.project
    name, environment = choose_environment(project, options.environment)
    lead_here(options, project, name)
    with opened_offline(options, project, name, environment) as begun:
        offline = begun
        compared = PlanBasis.NOTHING
        if not isinstance(use, Whole):
            offline = replace(offline, session=_unexempted(offline.session))
        if isinstance(use, OverBase):
            try:
                offline, compared = offline.holding(base_of(use)), PlanBasis.BASE
            except ReconcilerError as error:
                for line in str(error).splitlines():
                    words(safe(line))
        words(f"no live comparison, as there is no key: {compared.value}")
        yield offline, compared


def beside_base(made: Plan, admitted: Admitted, options: Options) -> Plan:
    """Return a plan of the service with what features find in the plan against the base branch.

    Only for a change of a branch, and without further requests.
    """
    use = admitted.use
    if not isinstance(use, OverBase):
        return made

    def planned() -> tuple[Plan, tuple[Ref, ...]]:
        silenced, revision = replace(options, quiet=True, reporter=Reporter()), base_of(use)
        with opened_offline(silenced, use.project, admitted.name, admitted.environment) as offline:
            held = offline.holding(revision)
            return held.plan(), held.refused

    for compare in BASE_COMPARISONS.all():
        made = compare(made, use.commit, planned)
    return made


def base_of(use: OverBase) -> Revision:
    """Return the base branch's commit. Raises InvalidInput where there is no repository."""
    found = place_of(use.project)
    if found is None:
        raise InvalidInput("the base branch cannot be read, as the project is in no repository")
    return Revision(found.commits.top.resolve(), use.commit, "the base branch")
