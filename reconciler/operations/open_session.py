"""Sessions: the workspace, journal and API client that a command works with."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from reconciler.document import Json
from reconciler.errors import InvalidInput
from reconciler.model import Manifest
from reconciler.operations.open_project import (
    Options,
    Reporter,
    is_part,
    is_whole,
    lead_here,
    manifest_paths,
    now,
    open_project,
    store_at,
    today,
    warn_of_lost_end,
)
from reconciler.operations.secret_sources import Allowed, Secrets, named_secrets, secrets_of
from reconciler.project import (
    Embedded,
    Environment,
    Project,
    Target,
    choose_environment,
    choose_target,
    in_shard,
    journal_setting,
)
from reconciler.report import counts as unplanned
from reconciler.report.complaints.document import complaints_summary, warnings_in_short
from reconciler.runtime.cache import NO_CACHE, VARIABLE, Cache, open_cache
from reconciler.runtime.connection import keys_in
from reconciler.runtime.progress import Deed, Waits
from reconciler.runtime.rows import Rows
from reconciler.syntax.expressions import ANY_PATTERN, OPEN_PATTERN
from reconciler.syntax.files import find_files, is_plan_file, read_file
from reconciler.workspace.expression_scope import LOST_REFERENCE, WITHHELD, Scope, withheld_from
from reconciler.workspace.selection import EVERYTHING
from reconciler.workspace.workspace import NOTHING, Workspace, load_workspaces

if TYPE_CHECKING:
    import httpx

    from reconciler.api.client import Api
    from reconciler.api.secret import Redaction
    from reconciler.journal.journal import Journal
    from reconciler.model import Against, Manifest, Plan, Ref, Selected
    from reconciler.planning.decide import PlanTarget
    from reconciler.planning.guards import UnderReview


Answer = TypeVar("Answer")


def open_workspace(
    options: Options, project: Project, scope: Scope, *, for_part: bool = False
) -> Workspace:
    """Read all manifests and report errors; warnings are only counted, unless `verbose`.

    With `for_part`, warnings are not counted yet: only some of them are about the part. Raises
    InvalidInput where a complaint is an error.
    """
    workspace = read_workspace(options, project, scope)
    is_whole_shown = options.verbose and not options.quiet
    shown = workspace.complaints if is_whole_shown else workspace.errors
    if shown:
        options.reporter.complain(shown)
    warnings = len(workspace.complaints) - len(shown)
    if warnings and not (options.quiet or for_part):
        options.reporter.say(warnings_in_short(warnings))
    if workspace.errors:
        for plan in filter(is_plan_file, options.paths):
            options.reporter.say(unplanned.misplaced_plan(str(plan)))
        raise InvalidInput(counts_of(workspace))
    options.selection.check_named(workspace.known)
    advice = advice_on_nothing(options, project, workspace, scope.environment)
    for remark in filter(None, (advice, unplanned.describe_unheeded(workspace.unheeded))):
        if not options.quiet:
            options.reporter.say(remark)
    return workspace


def counts_of(workspace: Workspace) -> str:
    """Return how much was checked, and how many complaints there are."""
    count, ignored = len(workspace.manifests), len(workspace.suppressed)
    return complaints_summary(workspace.complaints, count, workspace.files, ignored)


def advice_on_nothing(
    options: Options, project: Project, workspace: Workspace, environment: str
) -> str:
    """Return advice where nothing is declared for an environment; "" where something is."""
    if workspace.manifests or workspace.errors:
        return ""
    if workspace.left_out:
        return unplanned.none_selected(len(workspace.left_out))
    if workspace.elsewhere:
        names = sorted(project.settings.environments)
        return unplanned.none_for(environment, len(workspace.elsewhere), names)
    is_finding = any(complaint.suggestion for complaint in workspace.complaints)
    where = [str(path) for path in manifest_paths(options, project)]
    return unplanned.no_manifests(where, is_finding=is_finding)


def read_workspace(options: Options, project: Project, scope: Scope) -> Workspace:
    """Return the manifests as one environment sees them."""
    return read_workspaces(options, project, [scope])[scope.environment]


def cache_of(options: Options, project: Project) -> Cache:
    """Return the cache of a run: what earlier runs kept, and what this run keeps."""
    if options.kept_in is not None:
        return open_cache({VARIABLE: str(options.kept_in)}, project.root)
    return open_cache(os.environ, project.root) if options.cached else NO_CACHE


def read_workspaces(
    options: Options,
    project: Project,
    scopes: Sequence[Scope],
    instead: Mapping[Path, str] = NOTHING,
) -> dict[str, Workspace]:
    """Read all manifests, and hide values that they must not hold: a code frame would show them.

    `instead` has texts that replace the content of files.
    """
    read = partial(
        load_workspaces,
        root=project.root,
        settings=project.settings,
        waits=options.waits,
        instead=instead,
        cache=cache_of(options, project),
    )
    paths = manifest_paths(options, project)
    workspaces = read(paths, scopes=scopes)
    if is_part(options, project) and any(
        complaint.code == LOST_REFERENCE
        for workspace in workspaces.values()
        for complaint in workspace.complaints
    ):
        within = _files_of(paths, project)
        about = [
            replace(scope, selection=replace(scope.selection, within=within)) for scope in scopes
        ]
        rest = [project.root / path for path in project.settings.manifests]
        workspaces = read([*paths, *rest], scopes=about)
    for scope in scopes:
        if any(
            complaint.code == WITHHELD for complaint in workspaces[scope.environment].complaints
        ):
            from reconciler.api.secret import Redaction  # noqa: PLC0415 - not for validate

            options.reporter.hide(Redaction(scope.withheld.values.values()))
    for setting in ACCEPTED:
        if setting in project.settings.model_fields_set:
            accept = ACCEPTED.load(setting)
            workspaces = {name: accept(project, found) for name, found in workspaces.items()}
    return workspaces


def _files_of(paths: Sequence[Path], project: Project) -> frozenset[str]:
    """Return the names of the files under paths, and of what cannot be read there."""
    settings = project.settings
    found = find_files(paths, project.root, settings.exclude, settings.limits.files)
    return frozenset(place.name for place in found.files) | frozenset(
        complaint.file for complaint in found.complaints
    )


Accept: TypeAlias = Callable[[Project, Workspace], Workspace]
"""Returns the workspace with all complaints suppressed that the project accepts."""

ACCEPTED: Final = Rows[Accept]("accepted-complaints")
"""The key is the setting of the project file with the accepted complaints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """All that a command works with when it talks to the service.

    `others` are manifests of the project that are not examined, `selected` is how the examined
    manifests were chosen, and `named` are secrets to hide although no manifest was read for them.
    `early` reads the journal once, for the salt of the manifests' secrets and for all else. If
    manifests come from the journal, `prepare` is called after the lock is taken. Then `rework`
    changes the plan before its guards, and `recorded_as` is the command that the journal records;
    "" for a run that writes what a commit declares. `review` is what is known of the review of the
    declaration. `base` reads what the base branch of a change declares, None where that cannot be
    read. `against` is the commit that an emulator holds in place of a service. `paths` are the
    given paths, relative to the project's folder, none if they cover all. `waits` records what the
    run waits for, and `reporter` is where it reports.
    """

    project: Project
    name: str
    environment: Environment
    target: Target
    workspace: Workspace
    whole: bool
    others: tuple[Manifest, ...] = ()
    selected: Selected | None = None
    paths: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    secrets: Secrets | None = None
    early: Callable[[], Journal] | None = None
    prepare: Callable[[Session, Journal], Session] = lambda session, _: session
    rework: Callable[[Plan, PlanTarget], Plan] | None = None
    recorded_as: str = ""
    review: UnderReview | None = None
    base: Callable[[], Workspace | None] | None = None
    against: Against | None = None
    waits: Waits = field(default_factory=Waits)
    reporter: Reporter = field(default_factory=Reporter)

    def journal(self, *, needed: bool = False) -> Journal:
        """Return the journal of the environment, after reading it; warn once of a lost end.

        Raises JournalError or InvalidInput; with `needed`, also where the journal is gone.
        """
        journal = self.early() if self.early is not None else read_journal(self)
        if needed:
            journal.refuse_gone()
        warn_of_lost_end(journal, self.reporter)
        return journal

    def ask(self, question: Callable[[Api], Awaitable[Answer]]) -> Answer:
        """Return the answer of the service to a question, over an API client of its own."""
        import asyncio  # noqa: PLC0415 - not for validate

        async def answer() -> Answer:
            async with open_api(self) as api:
                return await question(api)

        return asyncio.run(answer())

    def unread_journal(self) -> Journal:
        """Return the journal of the environment, not read yet."""
        place = journal_setting(self.project, self.name, self.environment)
        return self.journal_at(place, self.target.name)

    def journal_at(self, place: str, target: str) -> Journal:
        """Return the journal of a target at a place, as in the project file; not read yet.

        Raises as `store_at` does.
        """
        from reconciler.journal.journal import Journal  # noqa: PLC0415 - not for validate
        from reconciler.journal.provenance import actor_of  # noqa: PLC0415 - with it

        return Journal(
            store=store_at(self.project, place),
            environment=self.name,
            target=target,
            clock=now,
            who=partial(actor_of, os.environ, self.project.root),
            tell=self.reporter.say,
            look=partial(store_at, self.project),
            waits=self.waits,
        )

    def scope(self, options: Options) -> Scope:
        """Return what expressions may name here, with the secrets that were looked up."""
        withheld, secrets = withheld_from(os.environ), self.secrets
        if secrets is None:
            secrets = secrets_of(self.project, self.name, self.environment, os.environ)
        return Scope(
            self.name,
            self.environment.variables,
            secrets,
            salt=self.salt,
            withheld=withheld,
            today=today(),
            selection=options.selection,
            why_unset=secrets.why,
        )

    def salt(self) -> str:
        """Return the salt of the seals that replace secrets. Raises as `journal` does."""
        return self.journal().salt


WaysBack: TypeAlias = Callable[[Session, "Journal", str, "Sequence[Ref]"], Session]
"""Return a session with manifests that declare some resources as they were before a run."""

WAYS_BACK: Final = Rows[WaysBack]("ways-back")
"""The key is a value of `onNoisier`."""


ReviewSettings: TypeAlias = Callable[[Options, Project], Project]
"""Returns a project with the settings that bind its runs, before an environment is chosen."""

REVIEWED: Final = Rows[ReviewSettings]("reviewed-settings")
"""The key is the name of the feature; each row gets the project that the row before returned."""


def reviewed(options: Options, project: Project) -> Project:
    """Return a project with the settings that bind its runs."""
    for review in REVIEWED.all():
        project = review(options, project)
    return project


def read_journal(session: Session) -> Journal:
    """Read the journal of a session.

    Raises JournalError, or InvalidInput for the journal of another target.
    """
    with session.waits.step(Deed.REMEMBERING):
        journal = session.unread_journal()
        journal.load()
    return journal


def open_environment(options: Options, project: Project | None = None) -> Session:
    """Open a session for a command that needs nothing but the project file and the journal.

    `project` is the project, where it was opened already.
    """
    project = project or open_project(options)
    return _of_environment(options, project, *choose_environment(project, options.environment))


def open_target(options: Options) -> Session:
    """Open a session for a command that needs nothing from manifests but the secrets to hide."""
    session = open_environment(options, reviewed(options, open_project(options)))
    named = named_secrets(options, session.project, session.name, session.environment)
    return replace(session, named=named)


def _of_environment(
    options: Options, project: Project, name: str, environment: Environment
) -> Session:
    """Return a session without manifests for an environment."""
    environment = in_shard(environment, options.shard)
    lead_here(options, project, name)
    session = Session(
        project=project,
        name=name,
        environment=environment,
        target=choose_target(project, name, environment, os.environ),
        workspace=Workspace(),
        whole=False,
        waits=options.waits,
        reporter=options.reporter,
    )
    return replace(session, early=cache(partial(read_journal, session)))


_MADE_NAME = re.compile(
    r"""\bname["']?\s*:\s*"""
    rf"""("[^"\n]*{OPEN_PATTERN}[^"\n]*"|'[^'\n]*{OPEN_PATTERN}[^'\n]*'"""
    rf"""|[^\s"',#]*{OPEN_PATTERN}[^\s"',#]*)"""
)
_EXPRESSION = re.compile(ANY_PATTERN)


def files_naming(project: Project, refs: Sequence[Ref]) -> tuple[str, ...]:
    """Return the files, relative to the project, that contain kind and name of a resource.

    The files may be broken, so nothing is parsed. A file that only looks like a match is included.
    """
    looks = [_declaration(ref) for ref in refs]
    found: list[str] = []
    paths = [project.root / path for path in project.settings.manifests]
    for file in find_files(
        paths, project.root, project.settings.exclude, project.settings.limits.files
    ).files:
        text = read_file(file.path, file.name, (project.root.resolve(),))
        if isinstance(text, str) and any(
            kind.search(text) and (name.search(text) or _is_made_of(text, ref.name))
            for (kind, name), ref in zip(looks, refs, strict=True)
        ):
            found.append(os.path.relpath(file.path, project.root))
    return tuple(found)


def _is_made_of(text: str, name: str) -> bool:
    """Return whether a text has a name with expressions that may result in this name."""
    for found in _MADE_NAME.finditer(text):
        likes = map(re.escape, _EXPRESSION.split(found[1].strip("\"'")))
        if re.fullmatch("[A-Za-z0-9._-]*".join(likes), name):
            return True
    return False


def _declaration(ref: Ref) -> tuple[re.Pattern[str], re.Pattern[str]]:
    kind, name = (
        re.compile(rf"""\b{key}["']?\s*:\s*["']?{re.escape(text)}(?![\w.-])""")
        for key, text in (("kind", ref.kind), ("name", ref.name))
    )
    return kind, name


def begin_session(options: Options, *, may_lack: bool = False, for_part: bool = False) -> Session:
    """Open a session: do everything that comes before the first request.

    With `may_lack`, secrets of manifests need not be set. For `for_part` see `open_workspace`.
    """
    project = reviewed(options, open_project(options))
    name, environment = choose_environment(project, options.environment)
    return session_of(options, project, name, environment, may_lack=may_lack, for_part=for_part)


def session_of(
    options: Options,
    project: Project,
    name: str,
    environment: Environment,
    allowed: Allowed = Allowed.ALL,
    *,
    may_lack: bool = False,
    for_part: bool = False,
) -> Session:
    """Open a session for an environment that was chosen already, with the allowed secrets."""
    session = _of_environment(options, project, name, environment)
    say = options.reporter.say
    secrets = secrets_of(project, name, session.environment, os.environ, allowed, say=say)
    session = replace(session, secrets=secrets)
    # The journal is read for the salt only where manifests hold a secret.
    scope = replace(session.scope(options), may_lack=may_lack)
    workspace = open_workspace(options, project, scope, for_part=for_part)
    options.reporter.hide(_redaction_of(workspace))
    covers_all = is_whole(options, project)
    beside = workspace.beside
    if beside is None:
        beside = () if covers_all else _not_examined(options, project, scope, workspace)
    root = os.path.realpath(project.root)
    relative = (os.path.relpath(os.path.realpath(path), root) for path in options.paths)
    return replace(
        session,
        workspace=workspace,
        whole=covers_all and (not options.selection or options.selection.is_shard),
        others=(*workspace.left_out, *beside),
        selected=options.selection.leaving_out(len(workspace.left_out)),
        paths=() if covers_all else tuple(relative),
    )


def _not_examined(
    options: Options, project: Project, scope: Scope, examined: Workspace
) -> tuple[Manifest, ...]:
    """Return the project's manifests outside the given paths; errors in them are not reported.

    All manifests are needed to find which of them declares an object of the service.
    """
    paths = [project.root / path for path in project.settings.manifests]
    unruled = replace(scope.without_secrets, selection=EVERYTHING, ruled=False)
    read = load_workspaces(paths, project.root, [unruled], project.settings, waits=options.waits)
    every = read[scope.environment]
    refs = {manifest.ref for manifest in (*examined.manifests, *examined.left_out)}
    return tuple(manifest for manifest in every.manifests if manifest.ref not in refs)


def _redaction_of(workspace: Workspace) -> Redaction:
    from reconciler.api.secret import Redaction  # noqa: PLC0415 - not for validate
    from reconciler.redaction.templates import is_plain, secret_values  # noqa: PLC0415 - not for validate

    filled = [manifest for manifest in workspace.manifests if not is_plain(manifest)]
    values = {value for manifest in filled for value in secret_values(manifest.spec)}
    return Redaction(values)


def known_secrets(session: Session) -> Redaction:
    """Return a filter of all secrets that a run knows: those of its manifests, and API keys."""
    redaction = _redaction_of(session.workspace)
    for secret in (*session.named, *keys_in(os.environ).values()):
        redaction.add(secret)
    return redaction


@asynccontextmanager
async def open_api(session: Session) -> AsyncIterator[Api]:
    """Open an API client for the target.

    Raises NotAuthorised where a key is needed and missing.
    """
    # Importing the client, and the emulator of an embedded target, takes longer than a small plan.
    with session.waits.step(Deed.CONNECTING):
        api = _client_of(session)
    async with api:
        yield api


def _client_of(session: Session) -> Api:
    from reconciler.api.client import Api  # noqa: PLC0415 - brings the HTTP client
    from reconciler.api.secret import Secret, key_from  # noqa: PLC0415 - with it

    # A core dump would contain the key.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    target = session.target
    assumptions = session.environment.api
    if isinstance(target, Embedded):
        declared = (*session.workspace.manifests, *session.workspace.left_out)
        transport = served(target, session.environment, declared)
        api = Api("http://emulator", Secret("any"), transport=transport, assumptions=assumptions)
    else:
        key = key_from(os.environ)
        api = Api(target.base_url, key, target.authorization, assumptions=assumptions)
    api.redaction = _redaction_of(session.workspace)
    api.waits = session.waits
    for secret in (*session.named, api.key.reveal()):
        api.redaction.add(secret)
    session.reporter.hide(api.redaction)
    return api


def served(
    target: Embedded, environment: Environment, manifests: Iterable[Manifest]
) -> httpx.AsyncBaseTransport:
    """Start the emulator in this process, with every declared alert.

    Raises InvalidInput where its data file cannot be used.
    """
    from httpx import ASGITransport  # noqa: PLC0415 - brings the HTTP client

    from reconciler.emulator import (  # noqa: PLC0415 - brings the server
        Profile,
        UnreadableDataError,
        create_app,
        settings_of,
    )
    from reconciler.journal.file_store import begin_folder  # noqa: PLC0415 - not for validate
    from reconciler.kinds import BY_NAME  # noqa: PLC0415 - loaded already

    alert_ids = [
        str(manifest.remote_id)
        for manifest in manifests
        if isinstance(manifest.remote_id, str) and BY_NAME[manifest.ref.kind].id_form.required
    ]
    try:
        begin_folder(target.data.parent)
        extra = _reported_otherwise(environment)
        profile = settings_of(Profile, extra) if any(extra.values()) else None
        app = create_app(target.data, alert_ids=alert_ids, profile=profile)
    except UnreadableDataError as error:
        raise InvalidInput(str(error)) from error
    except OSError as error:
        raise InvalidInput(f"cannot keep data in {target.data}: {error.strerror}") from error
    return ASGITransport(app, raise_app_exceptions=False)


def _reported_otherwise(environment: Environment) -> dict[str, Json]:
    """Return a profile with the emulator settings that differ from the defaults."""
    lists = environment.api.reads.lists
    profile: dict[str, Json] = {
        "reads": {
            kind: read.model_dump(exclude_none=True)
            for kind, read in environment.api.reads.of_kinds.items()
        },
        "lists": {kind: listing.model_dump(exclude_none=True) for kind, listing in lists.items()},
    }
    if environment.api.policy_names == "anyCase":
        profile["policyNames"] = "any_case"
    return profile
