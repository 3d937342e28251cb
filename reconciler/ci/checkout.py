"""Checkout of a job, and the session in it.

The checkout is described by its commit, and by whether files are as committed. The session has the
manifests, what may be used of them, and the target that it may use; without a key the target is an
emulator inside the job. `trust.py` decides what may be used.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from reconciler.ci import trust
from reconciler.ci.commits import (
    LINK,
    SUBMODULE,
    Commits,
    TreeEntry,
    is_link,
    is_regular,
    name_of,
    repositories_around,
)
from reconciler.ci.result import PlanBasis
from reconciler.ci.runner import Inputs
from reconciler.cli.console import Console, words
from reconciler.document import Json
from reconciler.errors import GuardRefused, InvalidInput, ReconcilerError
from reconciler.model import Plan, Ref
from reconciler.operations import check_project, open_session
from reconciler.operations.offline import Offline, in_folder, opened_offline
from reconciler.operations.open_project import Options, Reporter, lead_here
from reconciler.operations.secret_sources import Allowed
from reconciler.planning.guards import UnderReview
from reconciler.project import (
    Environment,
    Project,
    ProjectFile,
    Shard,
    choose_environment,
    in_shard,
    journal_place,
    nothing_known,
    with_settings_of,
)
from reconciler.project.settings import parse_journal_place
from reconciler.report.safe import safe
from reconciler.runtime.git import GitFailed
from reconciler.runtime.progress import Waits
from reconciler.runtime.rows import Rows
from reconciler.syntax.files import LARGEST_FILE, PROJECT_FILE
from reconciler.workspace import project_file, selection
from reconciler.workspace.revision import Revision, declared_at
from reconciler.workspace.workspace import Workspace

FETCH_ALL = "check out with `fetch-depth: 0`"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLocation:
    """Location of a project: the repository of the job, and the file's path inside it.

    `nested` says why its files belong to another repository or branch, "" if they do not.
    """

    commits: Commits
    path: PurePosixPath
    nested: str = ""

    @property
    def folder(self) -> PurePosixPath:
        """Return the folder of the project file."""
        return self.path.parent


def place_of(project: Project) -> ProjectLocation | None:
    """Return the location of a project file, None outside of any repository.

    The repository of a job is the outermost repository in its workspace: a change can add others
    inside it. Raises InvalidInput where a link leads to the file: on the base branch the same path
    may lead elsewhere.
    """
    file = project.file or project.root / PROJECT_FILE
    refuse_links(file)
    whole = _whole(file)
    workspace = _workspace_of(whole.parent)
    around = repositories_around(whole.parent)
    # Repositories above the workspace of the runner are not the job's.
    tops = [top for top in around if workspace is None or top.is_relative_to(workspace)]
    if not tops:
        return None
    nearest, top = tops[0], tops[-1]
    nested = ""
    if nearest != top:
        nested = (
            f"the project file is in `{nearest.relative_to(top)}`, a repository inside of another"
        )
    elif is_link(top / ".git") or not (top / ".git").is_dir():
        nested = "the checkout is a linked work tree"
    return ProjectLocation(
        commits=Commits(top=top, environ=os.environ),
        path=PurePosixPath(whole.relative_to(top).as_posix()),
        nested=nested,
    )


def refuse_links(path: Path) -> None:
    """Raise InvalidInput (exit 4) where a link inside the job's workspace redirects a path."""
    whole = _whole(path)
    # A repository that a link leads to is not the job's.
    tops = [repository for repository in repositories_around(whole) if not is_link(repository)]
    top = _workspace_of(whole) or (tops[-1] if tops else Path.cwd())
    if not whole.is_relative_to(top):
        return
    for parent in (whole, *whole.parents):
        if parent == top:
            return
        if is_link(parent):
            raise InvalidInput(
                f"{parent.relative_to(top)} is a link: under `ci` no link is followed, so that a "
                "path means the same in a change and on its base branch"
            )


def _whole(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _workspace_of(path: Path) -> Path | None:
    """Return the job's workspace that a path is in, as the path spells it; None if in none."""
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    for place in (workspace, os.path.realpath(workspace)) if workspace else ():
        if path.is_relative_to(place):
            return Path(place)
    return None


def use_of(
    event: trust.Event, inputs: Inputs, project: Project, read: Sequence[Path]
) -> trust.ProjectTrust:
    """Return what a job may use of a project after reading these files.

    Raises InvalidInput where a link leads to the project file.
    """
    settings = trust.Settings(
        own=project,
        base=trust.Barred(why="the base branch is unknown"),
        allow_untrusted=inputs.allow_untrusted,
    )
    place = place_of(project) if event.name else None
    if place is None:
        return trust.may_use(event, trust.Checkout(), settings)
    tips = tips_of(event, place)
    files = [*read, *([project.file] if project.file is not None else [])]
    checkout = examine(event, place, tips, files, _files_of_runs(project, place, inputs.shard))
    # The project file of the newest known commit of the default branch decides.
    base = base_file_at(next(filter(place.commits.has, tips), ""), place, project.settings)
    trusted = tuple(base.settings.trusted_branches) if isinstance(base, trust.BaseProject) else ()
    is_known = event.is_on_default or event.named_branch in trusted
    known = event.named_commit if is_known and place.commits.has(event.named_commit) else ""
    settings = replace(settings, base=base, base_commit=known, trusted_branches=trusted)
    return trust.may_use(event, checkout, settings)


def _files_of_runs(project: Project, place: ProjectLocation, shard: Shard | None) -> Iterator[Path]:
    folder = place.commits.top / place.folder
    for name, environment in project.settings.environments.items():
        setting = in_shard(environment, shard).journal or f".reconciler/{name}.journal.jsonl"
        if journal := parse_journal_place(setting).file:
            yield folder / journal
            yield folder / f"{journal}.lock"
        if environment.emulator is not None:
            yield folder / environment.emulator.data


def examine(
    event: trust.Event,
    place: ProjectLocation,
    tips: Iterable[str],
    files: Iterable[Path],
    written: Iterable[Path] = (),
) -> trust.Checkout:
    """Examine the checkout; `tips` are commits of the default branch, `files` were read.

    Files are compared only where the commit itself could be trusted. Files that earlier runs have
    `written`, such as journals, may be committed and differ.
    """
    commits = place.commits
    head = commits.head()
    contained = any(commits.contains(tip, head) for tip in tips)
    unknown = "this checkout is shallow" if not contained and commits.is_shallow else ""
    if place.nested or not head or not (contained or head == event.commit):
        return trust.Checkout(commit=head, unknown=unknown, nested=place.nested)
    try:
        differs = _difference(place, head, files, frozenset(map(os.path.abspath, written)))
    except GitFailed as error:
        differs = str(error)
    return trust.Checkout(commit=head, is_contained=contained, unknown=unknown, differs=differs)


def tips_of(event: trust.Event, place: ProjectLocation) -> list[str]:
    """Return the known last commits of the default branch, newest first.

    Most events name one; in a repeated job it is an older one. The fetched commit is one of them,
    unless `origin` is another repository, or repositories are nested: a change may cause either.
    """
    commits = place.commits
    named = [event.named_commit] if event.is_on_default and event.named_commit else []
    fetched = commits.fetched(event.default_branch)
    if not fetched or place.nested or not _is_of(commits.origin(), event.repository):
        return named
    if named and named[0] != fetched and not commits.contains(fetched, named[0]):
        return [*named, fetched]
    return list(dict.fromkeys((fetched, *named)))


def base_file_at(commit: str, place: ProjectLocation, own: ProjectFile) -> trust.BaseFile:
    """Return the project file of a commit; it must be a regular file at the same place.

    `own` is the project file of the change. A commit without one has an empty file.
    """
    commits = place.commits
    if not commit or not commits.has(commit):
        return trust.Barred(
            why=f"the base branch's project file is not in this checkout: {FETCH_ALL}"
        )
    try:
        found = commits.entry(commit, place.path)
        if found is None:
            return _without_file(commit, place, own)
        if not is_regular(found):
            return trust.Barred(why=f"{place.path} is no regular file on the base branch")
        text = commits.content(found)
    except GitFailed as error:
        return trust.Barred(
            why=f"the base branch's project file cannot be read ({error}): {FETCH_ALL}"
        )
    with TemporaryDirectory() as folder:
        file = Path(folder) / PROJECT_FILE
        file.write_bytes(text[: LARGEST_FILE + 1])
        project, complaints = project_file.load_project(file)
    if project is None:
        complaint = complaints[0].message
        return trust.Barred(
            why=f"the base branch's project file is not valid: {complaint}; merge its repair first"
        )
    return trust.BaseProject(commit=commit, settings=project.settings)


def _without_file(commit: str, place: ProjectLocation, own: ProjectFile) -> trust.BaseFile:
    """Return an empty file, unless the base branch has a project file in a parent folder."""
    for folder in (place.folder, *place.folder.parents):
        if place.commits.entry(commit, folder / PROJECT_FILE) is not None:
            return trust.Barred(
                why=f"the base branch has another project file for this, {folder / PROJECT_FILE}: "
                "merge a project file that is moved, added or removed first, or name that one with "
                "`project`"
            )
    return trust.BaseProject(commit=commit, settings=nothing_known(own))


def is_brought(place: ProjectLocation, head: str, base: str, file: Path) -> bool:
    """Return whether a file outside the manifests comes from the change, not the base branch."""
    inside = _inside(file, place.commits.top)
    if inside is None or not file.exists():
        return False
    try:
        own = place.commits.entry(head, inside)
        return own is not None and not _is_same(file, place.commits.entry(base, inside))
    except GitFailed:
        return True


def _difference(
    place: ProjectLocation, commit: str, files: Iterable[Path], written: frozenset[str]
) -> str:
    """Return the first file that is not as committed, "" for none. Raises GitFailed."""
    commits = place.commits
    tracked: set[str] = set()
    for path, entry in _tracked_files(commits, commit, place.folder):
        if str(path) in written:
            continue
        if not _is_same(path, entry):
            return _named(path, commits.top)
        tracked.add(os.path.realpath(path))
    # Files that were read are compared in any case, even if runs write them.
    for file in sorted(files):
        real = os.path.realpath(file)
        if real in tracked:
            continue
        inside = _inside(Path(real), commits.top)
        if inside is None or not _is_same(Path(real), commits.entry(commit, inside)):
            return _named(file, commits.top)
    return ""


def _tracked_files(
    commits: Commits, commit: str, below: PurePosixPath
) -> Iterator[tuple[Path, TreeEntry]]:
    for entry in commits.entries(commit, below):
        path = commits.top / entry.path
        if entry.mode != SUBMODULE:
            yield path, entry
        elif path.is_dir() and any(path.iterdir()):
            yield from _tracked_files(
                Commits(top=path, environ=commits.environ), entry.name, PurePosixPath()
            )


def _is_same(path: Path, entry: TreeEntry | None) -> bool:
    """Return whether a file is as committed; line ends may be those of another system."""
    if entry is None:
        return False
    try:
        if is_link(path):
            target = os.fsencode(os.readlink(path))  # noqa: PTH115 - bytes, as git has them
            return entry.mode == LINK and _is_blob(target, entry)
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if name_of(b"blob", stream, size, entry.name) == entry.name:
                return True
        return size <= LARGEST_FILE and _is_blob(path.read_bytes().replace(b"\r\n", b"\n"), entry)
    except OSError:
        return False


def _is_blob(content: bytes, entry: TreeEntry) -> bool:
    return name_of(b"blob", BytesIO(content), len(content), entry.name) == entry.name


def _inside(path: Path, top: Path) -> PurePosixPath | None:
    whole, around = os.path.realpath(path), os.path.realpath(top)
    if not Path(whole).is_relative_to(around):
        return None
    return PurePosixPath(Path(whole).relative_to(around).as_posix())


def _named(path: Path, top: Path) -> str:
    whole = _whole(path)
    return str(whole.relative_to(top)) if whole.is_relative_to(top) else str(whole)


def _is_of(origin: str, repository: str) -> bool:
    """Return whether an address is that of the event's repository, or has no host."""
    parts = urlsplit(origin)
    # For example git@forge.example.com:team/shop.git
    host, colon, path = origin.partition(":") if not parts.scheme else ("", "", "")
    if parts.scheme and parts.scheme != "file":
        path = parts.path
    elif not colon or "/" in host:
        return True
    owner_and_name = path.strip("/").removesuffix(".git").split("/")[-2:]
    return "/".join(owner_and_name).lower() == repository.lower()


Compare: TypeAlias = Callable[[Plan, str, Callable[[], tuple[Plan, tuple[Ref, ...]]]], Plan]
"""Returns the plan of the service, with what it finds in a plan against the base branch.

Gets the plan, the commit of the base branch, and a function that makes the other plan. That
function also returns the resources that the emulator refused, and raises ReconcilerError.
"""

BASE_COMPARISONS: Final = Rows[Compare]("base-comparisons")
"""The key is a member of the JSON of a plan."""


def options_of(inputs: Inputs, waits: Waits, kept_in: Path | None = None) -> Options:
    """Return the options of these inputs; the default path is the project file's own.

    What one step of a job reads is cached in a folder of the job for the next step. A cache of an
    earlier job is not used: a change may have influenced it.
    """
    shards = [] if inputs.shard is None else [f"{selection.SHARD}{inputs.shard}"]
    return Options(
        paths=() if inputs.path == "." else (Path(inputs.path),),
        environment=inputs.environment or None,
        project=Path(inputs.project) if inputs.project else None,
        verbose=False,
        quiet=False,
        waits=waits,
        kept_in=kept_in,
        reporter=Console(),
        selection=selection.read_selection(shards, (), ()),
    )


def refuse_linked_inputs(options: Options) -> None:
    """Refuse links in the paths of manifests or project file, before any file is read."""
    for path in (*options.paths, *filter(None, [options.project])):
        refuse_links(path)


def check_manifests(
    options: Options, secrets: Mapping[str, str] | None = None, *, in_all: bool = False
) -> check_project.Checked:
    """Check the manifests, as `validate` does. Raises InvalidInput where a link leads to them."""
    refuse_linked_inputs(options)
    return check_project.check(options, secrets, in_all=in_all)


def check_and_judge(
    event: trust.Event, inputs: Inputs, options: Options, secrets: Mapping[str, str] | None
) -> tuple[check_project.Checked, trust.ProjectTrust]:
    """Check the manifests, and decide what may be used of them.

    With `secrets`, every secret that the manifests name must be among them. Raises InvalidInput
    where a link leads to the manifests or the project file.
    """
    checked = check_manifests(options, secrets)
    if checked.project is None:
        return checked, trust.Barred(why="the project file is not valid")
    use = use_of(event, inputs, checked.project, checked.workspace.read)
    if not isinstance(use, trust.Barred):
        name, _ = choose_environment(use.project, options.environment)
        if name != checked.environment:
            # The change has another default environment than its base branch.
            checked = check_project.check_in(use.project, options, secrets)
    return checked, use


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Trusted settings of a job, and the environment `name` that the key may be used for."""

    use: trust.Whole | trust.OverBase
    name: str
    environment: Environment


def admit(
    use: trust.ProjectTrust, event: trust.Event, inputs: Inputs, options: Options
) -> Admitted:
    """Return the environment that the key may be used for; print if other settings are used.

    Raises GuardRefused where project, target, paths or journal are not trusted, and UsageError for
    an unknown environment.
    """
    if isinstance(use, trust.Barred):
        raise GuardRefused(use.why)
    if isinstance(use, trust.Whole):
        use = replace(use, project=open_session.reviewed(options, use.project))
    name, environment = choose_environment(use.project, options.environment)
    environment = in_shard(environment, options.shard)
    why = trust.barred_target(event, use, name, environment, inputs.base_url)
    if (
        why := why
        or trust.barred_paths(use, name, environment)
        or _barred_journal(event, use, name)
    ):
        raise GuardRefused(why)
    if isinstance(use, trust.Whole) and use.outdated:
        words(
            "settings are those of the default branch's newest commit, which has "
            f"{safe(', '.join(use.outdated))} otherwise than this checkout"
        )
    if isinstance(use, trust.OverBase):
        words(
            f"untrusted change ({safe(use.why)}): its manifests and variables are used with the "
            "base branch's settings"
        )
    return Admitted(use=use, name=name, environment=environment)


@contextmanager
def opened(
    admitted: Admitted, options: Options, event: trust.Event, *, may_lack: bool = False
) -> Iterator[open_session.Session]:
    """Open a session with the admitted settings; with `may_lack`, secrets need not be set.

    Raises InvalidInput for wrong manifests, and GuardRefused for a journal that a change adds.
    """
    use, environment = admitted.use, admitted.environment
    with TemporaryDirectory(prefix="reconciler-") as folder:
        if isinstance(use, trust.OverBase):
            environment = _confined(use, admitted.name, environment, Path(folder))
        allowed = places_allowed(use, event)
        session = open_session.session_of(
            options, use.project, admitted.name, environment, allowed, may_lack=may_lack
        )
        if isinstance(use, trust.OverBase):
            base = cache(partial(_base_workspace, use, session, options))
            review = UnderReview(base=lambda: _specs_in(base()))
            session = replace(_unexempted(session), base=base, review=review)
        yield session


def _base_workspace(
    use: trust.OverBase, session: open_session.Session, options: Options
) -> Workspace | None:
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


def _unexempted(session: open_session.Session) -> open_session.Session:
    """Return a session without the exemptions in the manifests of a change.

    Consent to a guard needs an earlier merge. Exemptions from complaints were applied when the
    manifests were read.
    """
    manifests = tuple(replace(manifest, exempt={}) for manifest in session.workspace.manifests)
    return replace(session, workspace=replace(session.workspace, manifests=manifests))


def places_allowed(use: trust.Whole | trust.OverBase, event: trust.Event) -> Allowed:
    """Return which sources of secrets a run may use: none that a change can influence.

    Only variables may be used for the change of a fork, and where the review is unknown.
    """
    if event.has_no_secrets or event.is_fork or (isinstance(use, trust.Whole) and not use.anywhere):
        return Allowed.NOTHING
    return Allowed.ALL if isinstance(use, trust.Whole) else Allowed.OUTSIDE


def _barred_journal(event: trust.Event, use: trust.Whole | trust.OverBase, name: str) -> str:
    """Return why a journal in git may not be used, "" where it may.

    Git finds its server by the configuration of the repository around the project, which may hold
    commands. A nested repository may come from the change.
    """
    _, environment = choose_environment(use.project, name)
    if not (event.name and journal_place(use.project, name, environment).is_in_repository):
        return ""
    place = place_of(use.project)
    if place is None or not place.nested:
        return ""
    return (
        f"environment `{name}` keeps its journal in git, and the project is in a repository "
        "inside of another: check it out by itself, or keep the journal in a bucket"
    )


def _confined(
    use: trust.OverBase, name: str, environment: Environment, folder: Path
) -> Environment:
    """Return an environment that keeps files of the run where a change cannot replace them.

    Raises GuardRefused for a journal that the change adds.
    """
    if environment.emulator is not None:
        return in_folder(environment, folder)
    file, place = (
        journal_place(use.project, name, environment).file,
        place_of(use.project),
    )
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


def has_own_emulator(use: trust.ProjectTrust, options: Options) -> bool:
    """Return whether the target of a job's environment is an emulator, which needs no key."""
    return (
        not isinstance(use, trust.Barred)
        and choose_environment(use.project, options.environment)[1].emulator is not None
    )


@contextmanager
def opened_without_key(
    use: trust.ProjectTrust, own: Project, options: Options
) -> Iterator[tuple[Offline, PlanBasis]]:
    """Open a project on an emulator with what the base branch declares, as far as known.

    Yield it with the basis of its plan. `own` is the project as the change has it. Raises
    InvalidInput for wrong manifests.
    """
    if isinstance(use, trust.Barred):
        project = replace(own, settings=with_settings_of(nothing_known(own.settings), own.settings))
    else:
        project = use.project
    name, environment = choose_environment(project, options.environment)
    lead_here(options, project, name)
    with opened_offline(options, project, name, environment) as begun:
        offline = begun
        compared = PlanBasis.NOTHING
        if not isinstance(use, trust.Whole):
            offline = replace(offline, session=_unexempted(offline.session))
        if isinstance(use, trust.OverBase):
            try:
                offline, compared = offline.holding(base_of(use)), PlanBasis.BASE
            except ReconcilerError as error:
                for line in str(error).splitlines():
                    words(safe(line))
        words(f"no live comparison, as there is no key: {compared.value}")
        yield offline, compared


def beside_base(made: Plan, admitted: Admitted, options: Options) -> Plan:
    """Return a plan of the service with what features find in the plan against the base branch.

    Only the plan of an untrusted change is compared. No further requests are sent.
    """
    use = admitted.use
    if not isinstance(use, trust.OverBase):
        return made

    def planned() -> tuple[Plan, tuple[Ref, ...]]:
        silenced, revision = replace(options, quiet=True, reporter=Reporter()), base_of(use)
        with opened_offline(silenced, use.project, admitted.name, admitted.environment) as offline:
            held = offline.holding(revision)
            return held.plan(), held.refused

    for compare in BASE_COMPARISONS.all():
        made = compare(made, use.commit, planned)
    return made


def base_of(use: trust.OverBase) -> Revision:
    """Return the base branch's commit. Raises InvalidInput where there is no repository."""
    found = place_of(use.project)
    if found is None:
        raise InvalidInput("the base branch cannot be read, as the project is in no repository")
    return Revision(found.commits.top.resolve(), use.commit, "the base branch")
