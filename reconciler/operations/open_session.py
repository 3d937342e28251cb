"""From a project to what a command works with: workspace, journal, the door to the service."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.cache import NO_CACHE, VARIABLE, Cache, open_cache
from reconciler.errors import InvalidInput
from reconciler.expressions import ANY_PATTERN, OPEN_PATTERN
from reconciler.keys import keys_in
from reconciler.operations.open_project import (
    Options,
    is_whole,
    journal_of,
    lead_here,
    loaded,
    manifest_paths,
    open_project,
    paths_of,
    today,
)
from reconciler.operations.reporter import Reporter, Silent
from reconciler.operations.secret_sources import Allowed, Secrets, named_secrets, secrets_of
from reconciler.plan_file import is_plan_file
from reconciler.progress import Waits
from reconciler.project import (
    Embedded,
    Environment,
    Project,
    Target,
    choose_environment,
    choose_target,
    in_shard,
)
from reconciler.report.complaints.text import complaints_summary
from reconciler.report.unplanned import (
    misplaced_plan,
    no_manifests,
    none_for,
    none_selected,
    unheeded_words,
)
from reconciler.syntax.files import find_files, read_file
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.secret_scan import WITHHELD, withheld_from
from reconciler.workspace.selection import EVERYTHING
from reconciler.workspace.workspace import NOTHING, Workspace, load_workspace, load_workspaces

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.api.secret import Redaction
    from reconciler.guards.undone_rollbacks import UnderReview
    from reconciler.journal.journal import Journal
    from reconciler.model import Manifest, Ref, Selected
    from reconciler.planning.restore import Restoring


def open_workspace(asked: Options, project: Project, scope: Scope) -> Workspace:
    """Read all manifests; tell complaints.

    Raises InvalidInput where one of them is an error.
    """
    workspace = read_workspace(asked, project, scope)
    shown = workspace.errors if asked.quiet else workspace.complaints
    if shown:
        asked.voice.complain(shown, verbose=asked.verbose)
    if workspace.errors:
        for plan in filter(is_plan_file, asked.paths):
            asked.voice.say(misplaced_plan(str(plan)))
        count = len(workspace.manifests)
        ignored = len(workspace.suppressed)
        raise InvalidInput(
            complaints_summary(workspace.complaints, count, workspace.files, ignored)
        )
    asked.selection.check_named(workspace.known)
    advice = advice_on_nothing(asked, project, workspace, scope.environment)
    for said in filter(None, (advice, unheeded_words(workspace.unheeded))):
        if not asked.quiet:
            asked.voice.say(said)
    return workspace


def advice_on_nothing(
    asked: Options, project: Project, workspace: Workspace, environment: str
) -> str:
    """Say what to do where nothing is declared for an environment; "" where something is."""
    if workspace.manifests or workspace.errors:
        return ""
    if workspace.left_out:
        return none_selected(len(workspace.left_out))
    if workspace.elsewhere:
        names = sorted(project.settings.environments)
        return none_for(environment, len(workspace.elsewhere), names)
    is_told = any(complaint.suggestion for complaint in workspace.complaints)
    where = [str(path) for path in manifest_paths(asked, project)]
    return no_manifests(where, is_told=is_told)


def read_workspace(asked: Options, project: Project, scope: Scope) -> Workspace:
    """Read all manifests in one environment."""
    return read_workspaces(asked, project, [scope])[scope.environment]


def cache_of(asked: Options, project: Project) -> Cache:
    """Give what a run may keep for the next one, and finds of the last."""
    if asked.kept_in is not None:
        return open_cache({VARIABLE: str(asked.kept_in)}, project.root)
    return open_cache(os.environ, project.root) if asked.cached else NO_CACHE


def read_workspaces(
    asked: Options,
    project: Project,
    scopes: Sequence[Scope],
    instead: Mapping[Path, str] = NOTHING,
) -> dict[str, Workspace]:
    """Read all manifests, and hide what they must not hold: a code frame would show it.

    `instead` are the texts of files that are not read.
    """
    paths = manifest_paths(asked, project)
    workspaces = load_workspaces(
        paths,
        project.root,
        scopes,
        project.settings,
        waits=asked.waits,
        instead=instead,
        cache=cache_of(asked, project),
    )
    for scope in scopes:
        if any(
            complaint.code == WITHHELD for complaint in workspaces[scope.environment].complaints
        ):
            from reconciler.api.secret import Redaction  # noqa: PLC0415 - not for validate

            asked.voice.hide(Redaction(scope.withheld.values.values()))
    return workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Everything a command that talks to the service works with.

    `others` are the manifests of the project that are not examined, `selected` is how those that
    are were chosen, and `named` are secrets
    to hide that no manifest was read for. `early` reads the journal once, for the salt of the
    manifests' secrets and for all else. `prepare` is asked once the journal is locked, where
    manifests come from there, and `restoring` is what a rollback puts back. `review` is
    what is known of the review of what is declared. `base` reads what the base branch of a change
    declares, None where that cannot be read. `waits` is where
    it is noted what is waited for, and `voice` whom the run speaks to.
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
    prepare: Callable[[Session, Journal], Session] = lambda bench, _: bench
    restoring: Restoring | None = None
    review: UnderReview | None = None
    base: Callable[[], Workspace | None] | None = None
    waits: Waits = field(default_factory=Waits)
    voice: Reporter = field(default_factory=Silent)

    def journal(self) -> Journal:
        """Give the journal of the environment, read.

        Raises JournalError or InvalidInput.
        """
        if self.early is not None:
            return self.early()
        journal = journal_of(self.project, self.name, self.environment, self.target, self.voice)
        return loaded(journal, self.waits, self.voice)

    def scope(self, asked: Options) -> Scope:
        """Give what expressions may name here, with the secrets that were looked up."""
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
            selection=asked.selection,
            why_unset=secrets.why,
        )

    def salt(self) -> str:
        """Give the salt of the seals that stand for secrets. Raises as `journal` does."""
        return self.journal().salt


def open_target(asked: Options) -> Session:
    """Do what comes before the first request of a command that takes nothing from manifests."""
    project = open_project(asked)
    name, environment = choose_environment(project, asked.environment)
    environment = in_shard(environment, asked.shard)
    lead_here(asked, project, name)
    target = choose_target(project, name, environment, os.environ)
    named = named_secrets(asked, project, name, environment)
    unread = partial(journal_of, project, name, environment, target, asked.voice)
    return Session(
        project=project,
        name=name,
        environment=environment,
        target=target,
        workspace=Workspace(),
        whole=False,
        named=named,
        early=cache(lambda: loaded(unread(), asked.waits, asked.voice, cache_of(asked, project))),
        waits=asked.waits,
        voice=asked.voice,
    )


_MADE_NAME = re.compile(
    r"""\bname["']?\s*:\s*"""
    rf"""("[^"\n]*{OPEN_PATTERN}[^"\n]*"|'[^'\n]*{OPEN_PATTERN}[^'\n]*'"""
    rf"""|[^\s"',#]*{OPEN_PATTERN}[^\s"',#]*)"""
)
_EXPRESSION = re.compile(ANY_PATTERN)


def files_naming(project: Project, refs: Sequence[Ref]) -> tuple[str, ...]:
    """Give the files, from the project's folder on, whose text names kind and name of a resource.

    They may be broken, so nothing is parsed: a file that only looks so is among them.
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
    """Tell whether a name of a text is that of a `forEach`, and this name may come of it."""
    for found in _MADE_NAME.finditer(text):
        likes = map(re.escape, _EXPRESSION.split(found[1].strip("\"'")))
        if re.fullmatch("[A-Za-z0-9._-]*".join(likes), name):
            return True
    return False


def _declaration(ref: Ref) -> tuple[re.Pattern[str], re.Pattern[str]]:
    said = (("kind", ref.kind), ("name", ref.name))
    kind, name = (
        re.compile(rf"""\b{key}["']?\s*:\s*["']?{re.escape(value)}(?![\w.-])""")
        for key, value in said
    )
    return kind, name


def open_bench(asked: Options, *, may_lack: bool = False) -> Session:
    """Do all that comes before the first request.

    With `may_lack`, secrets of manifests need not be set.
    """
    project = open_project(asked)
    name, environment = choose_environment(project, asked.environment)
    return bench_of(asked, project, name, environment, may_lack=may_lack)


def bench_of(
    asked: Options,
    project: Project,
    name: str,
    environment: Environment,
    allowed: Allowed = Allowed.ALL,
    *,
    may_lack: bool = False,
) -> Session:
    """Do what is left before the first request, once it is known what may be used."""
    environment = in_shard(environment, asked.shard)
    lead_here(asked, project, name)
    target = choose_target(project, name, environment, os.environ)
    unread = partial(journal_of, project, name, environment, target, asked.voice)
    journal = cache(lambda: loaded(unread(), asked.waits, asked.voice, cache_of(asked, project)))
    withheld = withheld_from(os.environ)
    # The journal is asked for the salt only where the manifests hold a secret.
    secrets = secrets_of(project, name, environment, os.environ, allowed, say=asked.voice.say)
    scope = Scope(
        name,
        environment.variables,
        secrets,
        salt=lambda: journal().salt,
        withheld=withheld,
        today=today(),
        selection=asked.selection,
        why_unset=secrets.why,
        may_lack=may_lack,
    )
    workspace = open_workspace(asked, project, scope)
    asked.voice.hide(_redaction_of(workspace))
    covers_all = is_whole(asked, project)
    beside = () if covers_all else _not_examined(project, scope, workspace)
    whole = covers_all and (not asked.selection or asked.selection.is_shard)
    others = (*workspace.left_out, *beside)
    return Session(
        project=project,
        name=name,
        environment=environment,
        target=target,
        workspace=workspace,
        whole=whole,
        others=others,
        selected=asked.selection.leaving_out(len(workspace.left_out)),
        paths=paths_of(asked, project),
        secrets=secrets,
        early=journal,
        waits=asked.waits,
        voice=asked.voice,
    )


def _not_examined(project: Project, scope: Scope, examined: Workspace) -> tuple[Manifest, ...]:
    """Read what the project declares beside the given paths; what is wrong there is not told.

    Who is about which object of the service is a question to all manifests.
    """
    paths = [project.root / path for path in project.settings.manifests]
    unruled = replace(scope.without_secrets, selection=EVERYTHING, ruled=False)
    every = load_workspace(paths, project.root, unruled, project.settings)
    refs = {manifest.ref for manifest in (*examined.manifests, *examined.left_out)}
    return tuple(manifest for manifest in every.manifests if manifest.ref not in refs)


def _redaction_of(workspace: Workspace) -> Redaction:
    from reconciler.api.secret import Redaction  # noqa: PLC0415 - not for validate
    from reconciler.redaction.templates import is_plain, secret_values  # noqa: PLC0415 - not for validate

    filled = [manifest for manifest in workspace.manifests if not is_plain(manifest)]
    values = {value for manifest in filled for value in secret_values(manifest.spec)}
    return Redaction(values)


def known_secrets(bench: Session) -> Redaction:
    """Give a filter of all secrets that a run knows: those of its manifests, and the key."""
    redaction = _redaction_of(bench.workspace)
    for secret in (*bench.named, *keys_in(os.environ).values()):
        redaction.add(secret)
    return redaction


@asynccontextmanager
async def open_api(bench: Session) -> AsyncIterator[Api]:
    """Open the door to the target.

    Raises NotAuthorised without a key, where one is needed.
    """
    from reconciler.api.client import Api  # noqa: PLC0415 - brings the HTTP client
    from reconciler.api.secret import Secret, key_from  # noqa: PLC0415 - with it

    # A core dump would hold the key.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    target = bench.target
    assumptions = bench.environment.api
    if isinstance(target, Embedded):
        from reconciler.operations.embedded import served  # noqa: PLC0415 - with the client

        declared = (*bench.workspace.manifests, *bench.workspace.left_out)
        transport = served(target, bench.environment, declared)
        api = Api("http://emulator", Secret("any"), transport=transport, assumptions=assumptions)
    else:
        key = key_from(os.environ)
        api = Api(target.base_url, key, target.authorization, assumptions=assumptions)
    api.redaction = _redaction_of(bench.workspace)
    api.waits = bench.waits
    for secret in (*bench.named, api.key.reveal()):
        api.redaction.add(secret)
    bench.voice.hide(api.redaction)
    async with api:
        yield api
