"""Plan and drift: of a workspace, or of the part that a change touches; and plan files."""

from __future__ import annotations

import asyncio
import os
import shlex
import stat
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import uuid4

from reconciler.document import Json, digest
from reconciler.errors import ExitCode, InvalidInput, Unsettled, UsageError, worst
from reconciler.journal.history import History
from reconciler.journal.store import LockTimeout
from reconciler.kinds import BY_NAME
from reconciler.model import DriftReport, Manifest, Plan
from reconciler.operations.open_project import Options, now, why_unconfirmed
from reconciler.operations.open_session import Session, cache_of, open_api
from reconciler.planning import consequences, decide, decision_cache, find_drift, guards, make_plan
from reconciler.planning.guards.plan_limits import TOO_MANY
from reconciler.project import Embedded
from reconciler.report.complaints.document import warnings_in_short
from reconciler.report.plan.document import PlanDocument, read_plan
from reconciler.report.safe import hidden, safe
from reconciler.report.words import plural
from reconciler.runtime import regular_files
from reconciler.runtime.cache import NO_CACHE, Cache, program
from reconciler.runtime.failpoints import Point, reached
from reconciler.runtime.progress import Deed
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import HEAD, begins_plan
from reconciler.workspace.revision import Changed, branching_point, changed_since
from reconciler.workspace.selection import EVERYTHING, Selection, read_selection

if TYPE_CHECKING:
    from reconciler.api.client import Api


Wanted: TypeAlias = Mapping[str, object]
"""The sections that are wanted: names of settings or options, with their values."""

NOTHING_WANTED: Final[Wanted] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRequest:
    """The input of a section; `asked` is the content of a file, or the value of an option."""

    api: Api
    session: Session
    plan: Plan
    history: History
    asked: Any


PLAN_SECTIONS: Final = Rows[Callable[[SectionRequest], Awaitable[Plan]]]("plan-sections")
"""Functions that return a plan with one more section, by the setting or option that asks for it."""


async def with_sections(
    api: Api, session: Session, made: Plan, history: History, wanted: Wanted
) -> Plan:
    """Return the plan with the watchers of what changes, and the sections that are asked for.

    The files of a workspace ask for a section too, and so do keys of manifests.
    """
    manifests = (*session.workspace.manifests, *session.others)
    alerts = consequences.known_alerts(manifests, history)
    watchers = consequences.watchers_of(made.changes, manifests, history, alerts)
    made = replace(made, watchers=watchers, alerts=alerts)
    keys = {key: True for manifest in manifests for key in manifest.added}
    wanted = {**wanted, **keys, **session.workspace.side_files}
    for name in PLAN_SECTIONS:
        asked = wanted.get(name)
        if asked:
            made = await PLAN_SECTIONS.load(name)(
                SectionRequest(api=api, session=session, plan=made, history=history, asked=asked)
            )
    return made


LARGEST_PLAN_FILE = 256 << 20
NOT_OURS = "it is there, and reconciler did not write it: remove it first, or name another file"


def check_writable(file: Path) -> None:
    """Check before the first request whether a file can be written.

    Raises InvalidInput where it cannot.
    """
    folder = file.parent
    try:
        # An existing file must be one of ours; nothing is written to it yet.
        descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            why = _unusable(stream.fileno(), begins_plan)
    except FileNotFoundError:
        why = "" if folder.is_dir() else f"there is no folder {folder}"
        why = why or ("" if os.access(folder, os.W_OK) else "its folder is read-only")
    except OSError as error:
        why = error.strerror or "it cannot be opened"
    if why:
        raise InvalidInput(f"{file} cannot be written: {why}")


def _unusable(descriptor: int, is_own: Callable[[bytes], bool]) -> str:
    """Return why an open file must not be overwritten; "" where it is empty or ours."""
    # A device such as /dev/null would get the permissions of a private file.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return regular_files.NOT_REGULAR
    head = os.pread(descriptor, HEAD, 0)
    return NOT_OURS if head and not is_own(head) else ""


def write_private(file: Path, text: str, is_own: Callable[[bytes], bool] = begins_plan) -> None:
    """Write a file that only its owner can read, without secrets.

    An existing file is replaced only if `is_own` returns true for its first bytes. Raises
    InvalidInput where it cannot be written.
    """
    try:
        descriptor = os.open(
            file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600
        )
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            if why := _unusable(descriptor, is_own):
                raise InvalidInput(f"{file} cannot be written: {why}")
            os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, 0)
            stream.write(hidden(text))
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def read_plan_file(file: Path) -> PlanDocument:
    """Read a file that `plan --out` wrote.

    Raises InvalidInput for any other file, and UsageError for a part of a plan, or a plan without a
    service.
    """
    try:
        text = regular_files.read(file, LARGEST_PLAN_FILE).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not a plan: it is not UTF-8") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    read = read_plan(text, str(file))
    if read["against"]:
        raise UsageError(
            f"{file} is a plan against {safe(read['against'])}, for which nothing live was asked. "
            "Make one without --against to apply it"
        )
    if rest := read["notExamined"]:
        raise UsageError(
            f"{file} is the plan of a part: {plural(rest, 'resource')} not examined. "
            "Make one without --changed-since to apply it"
        )
    return read


def as_reviewed(options: Options, reviewed: PlanDocument | None) -> Options:
    """Return options with the selection of a reviewed plan, so that the same part is planned."""
    limited_to = reviewed["selection"] if reviewed is not None else None
    if limited_to is not None:
        selection = read_selection(limited_to["select"], limited_to["exclude"], BY_NAME)
        return replace(options, selection=selection)
    return options if reviewed is None else replace(options, selection=EVERYTHING)


def part_asked_for(options: Options, reviewed: PlanDocument | None) -> Selection | None:
    """Return the part of a reviewed plan to apply, None for all of it.

    Raises UsageError for a shard, which is not a part of a whole plan.
    """
    part, whole = options.selection, as_reviewed(options, reviewed).selection
    if reviewed is None or not part or part.flags() == whole.flags():
        return None
    if part.shard is not None:
        raise UsageError("a shard is planned by itself: make a plan with `--select shard:K/N`")
    return part


def plan_changed(session: Session, options: Options, since: str | None, wanted: Wanted) -> Plan:
    """Plan a workspace, or what changed in it since its last commit in common with a revision.

    `since` is the revision, None to plan all. Raises UsageError without git, or where the revision
    cannot be found or read.
    """
    changed = None
    if since is not None:
        project, scope = session.project, session.scope(options)
        revision = branching_point(project.root, since)
        changed = changed_since(revision, session.workspace, project, scope, options.paths)
        every, examined = session.workspace.manifests, {found.ref for found in changed.manifests}
        rest = (manifest for manifest in every if manifest.ref not in examined)
        warnings = _warnings_about(changed.manifests, session.workspace.complaints)
        if warnings and not (options.quiet or options.verbose):
            only = f"--changed-since {shlex.quote(safe(since))}"
            options.reporter.say(warnings_in_short(warnings, " in what is examined", only))
        workspace = replace(session.workspace, manifests=changed.manifests)
        others = (*rest, *session.others)
        session = replace(session, workspace=workspace, whole=False, others=others)
    history, kept = session.journal().history, cache_of(options, session.project)
    made = asyncio.run(plan_now(session, history, wanted, kept))
    if changed is None:
        return made
    if not options.quiet:
        say = options.reporter.say
        base = safe(str(changed.since))
        say(f"compared with {base}, the last commit in common, as the files are")
        for ref in changed.deleted:
            say(f"no longer declared: {safe(str(ref))}")
    return _as_part(made, changed, history)


def _warnings_about(examined: Sequence[Manifest], complaints: Sequence[Complaint]) -> int:
    """Return how many warnings are about some manifests, or about their files as such."""
    refs = {str(manifest.ref) for manifest in examined}
    files = {manifest.source.file for manifest in examined}
    return sum(
        complaint.ref in refs if complaint.ref else complaint.file in files
        for complaint in complaints
        if not complaint.is_error
    )


def _as_part(made: Plan, changed: Changed, history: History) -> Plan:
    """Return the plan of a part, with its base commit and the deleted resources."""
    gone = ((ref, history.of(ref)) for ref in changed.deleted)
    orphans = (consequences.orphan(ref, memory) for ref, memory in gone if memory.exists)
    return replace(
        made,
        changes=(*made.declared, *orphans),
        # The share of changes in a part says nothing of the whole.
        guarded=tuple(violation for violation in made.guarded if violation.code != TOO_MANY),
        changed_since=str(changed.since),
        not_examined=changed.not_examined,
    )


def failures_of(made: Plan) -> set[int]:
    """Return the exit codes of failed reads and unsettled creates in a plan."""
    unread = {unread.exit_code for unread in made.unread}
    return unread | ({Unsettled.exit_code} if made.unsettled else set())


async def plan_now(
    session: Session,
    history: History,
    wanted: Wanted = NOTHING_WANTED,
    cache: Cache = NO_CACHE,
) -> Plan:
    """Observe and decide, over an API client of its own, and find what an apply would refuse.

    `wanted` is further evidence for a reviewer. Decisions of an earlier plan in `cache` are not
    made again; the plan is the same.
    """
    # With rules of plans, an emulator or a rework, decisions do not depend on the key alone.
    settled = session.rework is None and not isinstance(session.target, Embedded)
    may_keep = cache.is_on and settled and not session.project.settings.plan_rules
    key = key_of_decisions(session) if may_keep else ""
    kept = decision_cache.read_decisions(cache.get(key)) if key else decision_cache.NOTHING_KEPT
    place = decide.PlanTarget(
        session.name,
        session.target.name,
        embedded=isinstance(session.target, Embedded),
        salt=session.salt(),
        older=decide.OlderSeals(lambda: session.journal().entries),
    )
    async with open_api(session) as api:
        made = await make_plan.make_plan(
            api,
            session.workspace.manifests,
            history,
            place,
            whole=session.whole,
            others=session.others,
            selected=session.selected,
            cache=kept,
        )
        if session.rework is not None:
            made = session.rework(made, place)
        with api.waits.step(Deed.JUDGING):
            made = await with_sections(api, session, made, history, wanted)
            asked = guards.PlanUnderGuard(
                api=api,
                plan=await guards.with_guards(api, made, session.environment.guards),
                environment=session.environment,
                settings=session.project.settings,
                now=now(),
                same_clock=isinstance(session.target, Embedded),
                review=session.review or guards.NO_REVIEW,
                entries=lambda: session.journal().entries,
                session=session,
            )
            guarded = await guards.with_feature_guards(asked)
    if kept.is_on and (news := kept.text(whole=session.whole)) is not None:
        cache.put(key, news)
    return guards.with_levels(replace(guarded, paths=session.paths), session.environment.guards)


def key_of_decisions(session: Session) -> str:
    """Return a key of all that decides a plan, except manifests, ids and replies."""
    content = session.journal().content
    about: dict[str, Json] = {
        "decisions": decision_cache.DECISIONS_FORMAT,
        "program": program(),
        "root": str(session.project.root),
        "environment": session.name,
        "target": session.target.name,
        "settings": session.environment.model_dump(mode="json", by_alias=True),
        "salt": session.salt(),
        "journal": [content.end, len(content.sums)],
    }
    return digest(about)


def exit_code_of(look: DriftReport) -> int:
    """Return the exit code of a drift report: what could not be seen comes first."""
    unseen = {drift.exit_code for drift in look.found} - {0}
    if look.is_blind:
        unseen.add(ExitCode.JOURNAL)
    if unseen:
        return worst(unseen)
    return ExitCode.DIFFERENT if any(drift.drifted for drift in look.found) else ExitCode.DONE


def drift_now(
    session: Session, *, remember: bool = False, patience: LockTimeout | None = None
) -> DriftReport:
    """Compare every resource with its last write, over an API client of its own.

    With `remember`, the result is written to the journal, under its lock, so that the next run can
    say what is new. Raises Locked then, and JournalError, also where the journal is gone.
    """
    journal = session.journal(needed=True)
    if why := why_unconfirmed(journal):
        session.reporter.say(safe(f"warning: {why}"))
    if remember and not journal.history.begun:
        session.reporter.say("there is no journal yet, so there is nothing to remember drift of")
    if not (remember and journal.history.begun):
        return _look(session, journal.history)
    with journal.locked(str(uuid4()), patience):
        look = _look(session, journal.history)
        reached(Point.BEFORE_WRITTEN)
        journal.append([find_drift.remembered(look, journal.history, journal.now())])
        reached(Point.AFTER_WRITTEN)
    return look


def _look(session: Session, history: History) -> DriftReport:
    look = session.ask(
        lambda api: find_drift.find_drift(
            api,
            session.workspace.manifests,
            history,
            session.salt(),
            ignore=session.project.settings.drift_ignore,
            prove=not isinstance(session.target, Embedded),
            older=decide.OlderSeals(lambda: session.journal().entries),
        )
    )
    look = replace(look, selected=session.selected)
    if session.whole and session.selected is None:
        return look
    # In a part of the project, unused rules cannot be found.
    return replace(look, idle=(), aimless=())
