"""`reconciler journal`: show, verify, move and repair the record of writes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never
from uuid import uuid4

import click

from reconciler.cli import options
from reconciler.cli.console import data, json_data, stdout_style, words
from reconciler.cli.root import Group
from reconciler.document import Json
from reconciler.errors import InvalidInput, JournalError, UsageError
from reconciler.journal.entries import Backup, Forgotten, MovedIn, Renamed, RunEntry, Settled
from reconciler.journal.history import History, runs_of
from reconciler.journal.journal import (
    Became,
    Journal,
    JournalMove,
    readdress,
    stay,
)
from reconciler.journal.journal import move as carry
from reconciler.journal.store import LockTimeout
from reconciler.kinds import BY_NAME
from reconciler.model import Ref, RemoteId
from reconciler.operations.open_project import (
    Options,
    applied_commit,
    manifest_paths,
    open_project,
    project_file,
    warn_of_lost_end,
    warn_of_new_journal,
    why_unconfirmed,
)
from reconciler.operations.open_session import Session, open_environment, open_workspace
from reconciler.project import (
    Embedded,
    Project,
    Target,
    choose_environment,
    journal_place_at,
    journal_setting,
    unsafe_base_url,
    with_target,
)
from reconciler.project.settings import InFile, JournalPlace
from reconciler.report import journal_formats
from reconciler.report.journal_formats import JournalFindingDocument, VerifiedDocument
from reconciler.report.safe import safe
from reconciler.report.table import fitted
from reconciler.report.words import plural
from reconciler.runtime.advice import bring_back, on_journal, on_manifests
from reconciler.runtime.failpoints import Point, reached
from reconciler.syntax.suggestions import nearest
from reconciler.workspace import envelope, manifest_edits, write_files
from reconciler.workspace.expression_scope import Scope, withheld_from
from reconciler.workspace.workspace import sources_of


@click.group(cls=Group)
def journal() -> None:
    """Show, verify and settle what was written."""


def opened_journal(options: Options) -> Journal:
    """Return the journal of the environment, after reading it.

    Raises JournalError where it cannot be read, or there is none.
    """
    journal = open_environment(options).unread_journal()
    journal.load()
    if journal.why_missing:
        raise JournalError(f"{journal.why_missing}{hint_at_places(options)}")
    if not options.quiet:
        warn_of_lost_end(journal, options.reporter)
    return journal


def hint_at_places(options: Options) -> str:
    """Return a hint to use `--path`, where the folder alone decides where a journal is."""
    if options.paths or project_file(options) is not None:
        return ""
    return "; where `plan PATH` was given a folder, give the same one with `--path PATH`"


def run_entry(options: Options, journal: Journal, command: str) -> RunEntry:
    """Return the entry with who runs this command, and from which commit."""
    return journal.run_entry(str(uuid4()), command, applied_commit(open_project(options)))


@contextmanager
def _locked(options: Options, command: str, patience: LockTimeout) -> Iterator[Journal]:
    """Open and lock the journal for a command that writes one entry."""
    journal = opened_journal(options)
    run = run_entry(options, journal, command)
    with journal.locked(run.run, patience):
        journal.begin(run)
        yield journal


def ref_of(text: str | None) -> Ref:
    """Return the ref of a text `Kind/name`. Raises UsageError."""
    ref = Ref.parse(text or "")
    if ref is None:
        raise UsageError(f"`{text}` is not of the form Kind/name")
    return ref


@journal.command
@click.argument("ref", required=False)
@click.option("--ref", "flag", metavar="REF", help="Print only entries about this Kind/name.")
@options.remembering
@options.formats("text", "json")
def show(*, ref: str | None, flag: str | None, options: Options, form: str) -> None:
    """Print the entries, oldest first: all, or those of one Kind/name."""
    if ref is not None and flag is not None:
        raise UsageError("give the Kind/name once")
    wanted = ref_of(ref or flag) if ref or flag else None
    journal = opened_journal(options)
    entries = [
        entry
        for entry in journal.entries
        if wanted is None or wanted in (getattr(entry, "ref", None), getattr(entry, "was", None))
    ]
    if form == "json":
        json_data(journal_formats.entries_document(entries))
    else:
        data(
            journal_formats.journal_text(
                entries, journal.history, stdout_style(verbose=options.verbose)
            )
        )
    if journal.torn and not options.quiet:
        words("the last line is torn, as by a crash; the next write removes it")


@journal.command
@click.argument("ref", required=False)
@options.remembering
@options.formats("text", "json")
def history(*, ref: str | None, options: Options, form: str) -> None:
    """Print the runs, oldest first: who applied what, when, from which commit.

    With a Kind/name, only the runs that were about it, and what became of it.
    """
    wanted = ref_of(ref) if ref is not None else None
    runs = runs_of(opened_journal(options).entries)
    if wanted is not None:
        runs = [run for run in runs if wanted in run.outcomes]
    if form == "json":
        json_data(journal_formats.history_document(runs, wanted))
    else:
        data(journal_formats.history_text(runs, wanted, stdout_style(verbose=options.verbose)))


@journal.command
@options.remembering
@options.lock_timeout
def init(*, options: Options, patience: LockTimeout) -> None:
    """Begin an empty journal, where this environment has none.

    With it you confirm that nothing was applied to the target before, or that the journal need not
    know it. A journal that is there stays as it is. Where one is gone, or a command began one
    that does not know what was applied before, `apply --new-journal` confirms that: its plan shows
    what may be there already.
    """
    journal = open_environment(options).unread_journal()
    journal.load()
    if journal.header is None:
        with journal.locked(patience=patience):
            if journal.header is None and not journal.is_gone:
                _begin(journal, options)
                return
    old = f"this is an old copy: {bring_back('the newer one')}" if journal.is_old_copy else ""
    if why := journal.why_missing or old or why_unconfirmed(journal):
        way = f"`{on_manifests('apply', '--new-journal')}`"
        raise JournalError(f"{why}. If it cannot be: read the plan; {way} confirms a new journal")
    if not options.quiet:
        there = f"there is a journal at {safe(journal.place)} already"
        words(f"{there}, of {plural(len(journal.entries), 'entry', 'entries')}: it stays as it is")


def _begin(journal: Journal, options: Options) -> None:
    warn_of_new_journal(journal, options.reporter)
    journal.append([])
    if not options.quiet:
        words(
            f"{safe(journal.place)} is the journal of `{journal.environment}` at {journal.target}"
        )


@journal.command
@options.remembering
@options.formats("text", "json")
def verify(*, options: Options, form: str) -> int:
    """Check every line, and that none was changed or lost; say what to do next.

    Exits with 8 where the journal cannot be trusted, as it was edited, is an old
    copy or is gone.
    """
    journal = open_environment(options).unread_journal()
    journal.load()
    if journal.why_missing:
        raise JournalError(f"{journal.why_missing}{hint_at_places(options)}")
    findings = list(_findings(journal))
    is_old = any(finding["finding"] == "old copy" for finding in findings)
    code = JournalError.exit_code if is_old else 0
    if form == "json":
        document: VerifiedDocument = {
            "place": journal.place,
            "environment": journal.environment,
            "target": journal.target,
            "entries": len(journal.entries),
            "findings": findings,
        }
        json_data(document, ending=code)
    else:
        data(_text(journal, findings), ending=code)
    if options.verbose and not options.quiet:
        words(f"environment {journal.environment}, target {journal.target}")
    return code


def _text(journal: Journal, findings: list[JournalFindingDocument]) -> str:
    unsettled = len(journal.history.unsettled())
    count = plural(len(journal.entries), "entry", "entries")
    lines = [f"{safe(journal.place)}: {count}, {unsettled} unsettled"]
    for finding in findings:
        lines += [
            f"  {finding['finding']}: {safe(finding['message'])}",
            f"    next: {safe(finding['wayOut'])}",
        ]
    return fitted("\n".join(lines) + "\n", stdout_style(verbose=False))


def _finding(name: str, message: str, remedy: str) -> JournalFindingDocument:
    return {"finding": name, "message": message, "wayOut": remedy}


def _findings(journal: Journal) -> Iterator[JournalFindingDocument]:
    """Yield the findings, the worst first."""
    if journal.is_old_copy:
        message = "the journal does not hold the line that the last run here ended with"
        yield _finding("old copy", message, bring_back("the newer one"))
    for ref, started in sorted(journal.history.unsettled().items()):
        message = f"{ref} since {started.at}: the answer to its create was lost"
        settle = on_journal("settle", f"{ref} --id ID")
        out = f"look for it, then `{settle}` or `--never-happened`"
        yield _finding("unsettled", message, out)
    if why := why_unconfirmed(journal):
        out = f"read the plan; `{on_manifests('apply', '--new-journal')}` confirms this journal"
        yield _finding("unconfirmed", why, out)
    if journal.torn:
        message = "the last line was cut, as by a crash or a full disk"
        yield _finding("torn", message, "nothing: it is ignored, and the next write removes it")
    if holder := journal.holder():
        out = f"wait for it, or see `{on_journal('unlock')}`"
        yield _finding("locked", f"by {holder}", out)
    if journal.header is not None and journal.header.continues:
        yield _continued(journal, journal.header.continues)


def _continued(journal: Journal, ended: str) -> JournalFindingDocument:
    """Return why a journal continues another: it was moved, or compacted."""
    entries = journal.entries
    # A new header replaced the first line at such an entry.
    begun = [
        nth
        for nth, entry in enumerate(entries)
        if isinstance(entry, MovedIn)
        or (isinstance(entry, RunEntry) and entry.command in ("move", "compact"))
    ]
    last = begun[-1] if begun else 0
    out = "nothing: a copy from before must end with that sum"
    match entries[max(0, last - 1) : last + 1]:
        # The entry of the run that moved it follows `MovedIn`, unless the run was stopped between
        # them.
        case [*_, MovedIn(at=at, origin=origin)] | [
            MovedIn(at=at, origin=origin),
            RunEntry(command="move"),
        ]:
            message = f"it arrived from {origin} ({at}), where it ended with the sum {ended}"
            return _finding("moved", message, out)
        case [*_, RunEntry(at=at, command="move")]:
            message = (
                f"it is that of {journal.target} since {at}; before, it ended with the sum {ended}"
            )
            return _finding("moved", message, out)
        case _:
            message = f"it continues one that ended with the sum {ended}"
            return _finding("compacted", message, out)


@journal.command
@options.remembering
@options.lock_timeout
def compact(*, options: Options, patience: LockTimeout) -> None:
    """Make the journal short: keep what later runs need, and who ran what.

    Entries of finished writes are dropped. Unsettled creates, ids, the last write and the last
    backup of each resource, and the runs with their counts are kept.
    """
    journal = opened_journal(options)
    run = run_entry(options, journal, "compact")
    with journal.locked(run.run, patience):
        before, backups = len(journal.entries), _backups_in(journal)
        journal.compact(run)
    after = len(journal.entries)
    became = f"{plural(before, 'entry', 'entries')} became {after:,}"
    if after > before:
        became = f"nothing to drop: {plural(after, 'entry', 'entries')}, this run's own among them"
    gone = backups - _backups_in(journal)
    dropped = f", {plural(gone, 'backup')} dropped" if gone else ""
    data(f"{safe(journal.place)}: {became}{dropped}\n")


def _backups_in(journal: Journal) -> int:
    return sum(isinstance(entry, Backup) for entry in journal.entries)


@journal.command
@click.argument("id", required=False)
@options.remembering
def unlock(*, id: str | None, options: Options) -> None:  # noqa: A002 - as it is called in the usage
    """Release the lock of a shared journal from a holder that is gone, by its ID.

    Without an ID, say who holds it. The lock of a file ends with its process, so
    there is never one to take.
    """
    journal = open_environment(options).unread_journal()
    held = journal.store.unlock(id or "")
    if options.quiet:
        return
    if held is not None:
        words(
            f"{journal.place} is free; it was locked by {held.words}. Should that run still live, "
            "its next write is refused"
        )
    elif journal.store.is_shared:
        words(f"{journal.place} is not locked")
    else:
        words(f"{journal.place} is not locked: the lock of a file ends with its process")


@journal.command
@click.option(
    "--to",
    metavar="PLACE",
    help="The new place of the journal, in the form of `journal:` in the project file.",
)
@click.option(
    "--base-url",
    metavar="URL",
    help="The new address, where the service moved and its data stayed the same.",
)
@options.remembering
@options.lock_timeout
def move(*, to: str | None, base_url: str | None, options: Options, patience: LockTimeout) -> None:
    """Carry the journal to another PLACE, or along to another address of its service.

    Run it before you edit the project file. The old journal ends with a line that
    refuses every later use. Stopped half-way, one of the two counts, and the same
    command finishes. PLACE must hold no other journal; a path is relative to the
    project file. The service is not asked.
    """
    if to is None and base_url is None:
        raise UsageError("say where to: --to PLACE, --base-url URL, or both")
    project = open_project(options)
    if to is not None and project.file is None:
        raise UsageError(
            "there is no project file with a `journal:` that could name another place: "
            "write a reconciler.yaml first"
        )
    session = open_environment(options, project)
    here, address = _at_address(session, base_url)
    origin = journal_setting(project, session.name, session.environment)
    way = JournalMove(origin, to if to is not None else origin, address)
    run = run_entry(options, here, "move")
    if _place(project, way.to) != _place(project, way.origin):
        # At the new place nothing would show that the end of a newer journal is missing.
        here.refuse_gone()
        if here.is_old_copy:
            raise JournalError(f"{here.place} is an old copy: {bring_back('the newer one')}")
        became = carry(here, session.journal_at(way.to, way.target), way, run, patience)
    elif base_url is not None:
        became = readdress(here, way.target, run, patience)
    else:
        became = stay(here, run, patience)
    if not options.quiet:
        settings = [f"`journal: {way.to}`"] if way.to != origin else []
        if way.target != session.target.name:
            settings.append(f"`baseUrl: {way.target}`")
        rest = f"; write {' and '.join(settings)} in the project file" if settings else ""
        words(safe(f"{_reported(became, way, session.name)}{rest}"))


def _at_address(session: Session, base_url: str | None) -> tuple[Journal, str]:
    """Return the journal of a session, and its target after the move, before any write.

    Raises UsageError and InvalidInput.
    """
    here, target = session.unread_journal(), session.target
    address = _target_after(base_url, target)
    here.read()
    warn_of_lost_end(here, session.reporter)
    header = here.header
    if base_url is not None and header is not None:
        if "://" not in header.target:
            raise UsageError(f"{here.place} is of the {header.target}, which has no address")
        if target.name == address and header.environment == session.name:
            # The project file has the new address already.
            here.target = header.target
    return here, address


def _target_after(base_url: str | None, target: Target) -> str:
    if base_url is None:
        return target.name
    if isinstance(target, Embedded):
        raise UsageError("the embedded emulator has no address, so its journal goes to none")
    address = base_url.strip().rstrip("/")
    if why := unsafe_base_url(address):
        raise InvalidInput(f"--base-url {why}")
    return address


def _place(project: Project, setting: str) -> JournalPlace:
    """Return a place in a form that can be compared. Raises UsageError for an invalid place."""
    try:
        place = journal_place_at(project, setting)
    except ValueError as error:
        raise UsageError(f"--to {error}") from error
    return place if place.file is None else InFile(place.file.resolve())


def _reported(became: Became, way: JournalMove, environment: str) -> str:
    subject = f"the journal of `{environment}`"
    match became:
        case Became.MOVED if way.to == way.origin:
            return f"{subject} at {way.to} is that of {way.target} now"
        case Became.MOVED:
            return f"{subject} went from {way.origin} to {way.to}"
        case Became.FINISHED:
            return f"{subject} is at {way.to}: an earlier move is finished"
        case Became.ALREADY:
            return f"{subject} is at {way.to} already, for {way.target}"
        case _:
            assert_never(became)


@journal.command
@click.argument("old")
@click.argument("new")
@options.remembering
@options.lock_timeout
def rename(*, old: str, new: str, options: Options, patience: LockTimeout) -> None:
    """Rename the resource OLD to NEW, both of the form Kind/name.

    What was remembered of OLD, its id above all, is the memory of NEW from here
    on: a manifest with the new name means the same resource, and nothing is
    created a second time. The service is not asked.
    """
    was, ref = ref_of(old), ref_of(new)
    _check_can_rename(was, ref)
    with _locked(options, "rename", patience) as opened:
        _check_known(was, opened.history)
        if not opened.history.of(ref).is_blank:
            raise UsageError(
                f"the journal knows a {ref} of its own already: if that one is gone, "
                f"`{on_journal('forget', str(ref))}` first"
            )
        opened.append([Renamed(at=opened.now(), ref=ref, was=was)])
    if not options.quiet:
        words(safe(f"{ref} is what {was} was; plan again"))


@journal.command
@click.argument("ref")
@options.remembering
@options.lock_timeout
def forget(*, ref: str, options: Options, patience: LockTimeout) -> None:
    """Forget REF, a Kind/name: it was removed by hand, or others manage it.

    It is not listed as "no longer declared" any more, and its id does not count.
    The service is not asked, and nothing is deleted there.
    """
    wanted = ref_of(ref)
    with _locked(options, "forget", patience) as opened:
        _check_known(wanted, opened.history)
        known = opened.history.of(wanted).remote_id
        opened.append([Forgotten(at=opened.now(), ref=wanted)])
    if not options.quiet:
        which = f" ({known})" if known is not None else ""
        outcome = "is forgotten: a manifest that still declares it begins again"
        lost = "no guard remembers what was written to it or rolled back"
        words(safe(f"{wanted}{which} {outcome}, and {lost}"))


def _check_can_rename(was: Ref, ref: Ref) -> None:
    if was.kind != ref.kind:
        raise UsageError(f"{was} cannot become {ref}: a resource stays of its kind")
    if was == ref:
        raise UsageError(f"both are {ref}: there is nothing to rename")
    if len(ref.name) > envelope.LONGEST_NAME or not envelope.NAME.fullmatch(ref.name):
        raise UsageError(
            f"`{ref.name}` is not a name: lower-case letters, digits and `.`, `_`, `-`, "
            f"a letter or digit first, at most {envelope.LONGEST_NAME}"
        )


def _check_known(ref: Ref, history: History) -> None:
    """Raise UsageError where a resource is unknown to the journal, or its create is unsettled."""
    if history.of(ref).unsettled_create is not None:
        raise UsageError(
            f"the answer to the create of {ref} was lost: say first what became of it, with "
            f"`{on_journal('settle', f'{ref} --id ID')}` or `--never-happened`"
        )
    if history.of(ref).is_blank:
        known = [str(ref) for ref, memory in history.memories.items() if not memory.is_blank]
        near = nearest(str(ref), known)
        hint = f"; did you mean {near}?" if near else f": see `{on_journal('show')}`"
        raise UsageError(f"the journal knows no {ref}{hint}")


@journal.command
@click.argument("ref")
@click.option(
    "--id", "remote_id", metavar="ID", help="The create did happen, and the resource has this id."
)
@click.option(
    "--never-happened",
    is_flag=True,
    help="The create did not happen; the next apply may create the resource.",
)
@options.remembering
@options.lock_timeout
def settle(
    *,
    ref: str,
    remote_id: str | None,
    never_happened: bool,
    options: Options,
    patience: LockTimeout,
) -> None:
    """Record what became of a create after its answer was lost."""
    if (remote_id is None) == (not never_happened):
        raise UsageError("give either --id ID or --never-happened")
    wanted = ref_of(ref)
    with _locked(options, "settle", patience) as opened:
        if wanted not in opened.history.unsettled():
            listed = ", ".join(map(str, sorted(opened.history.unsettled()))) or "none"
            raise UsageError(f"{wanted} is not unsettled (unsettled: {listed})")
        known = _parse_id(wanted, remote_id) if remote_id is not None else None
        opened.append([Settled(at=opened.now(), ref=wanted, remote_id=known)])
    if not options.quiet:
        became = "never happened" if known is None else f"exists as {known}"
        words(f"{wanted} {became}; plan again")


@journal.command("write-ids")
@options.recalling
def write_ids(*, options: Options) -> None:
    """Write the ids that the service gave out into the manifests, comments kept.

    With ids in git, a lost journal cannot lead to a second create. They are
    written as `metadata.id`, and as `metadata.ids` of this environment where the
    project has others with a target: what one service calls a resource may be
    something else to another. Ids of what `forEach` makes are written into its items.
    """
    found = open_project(options)
    name, chosen = choose_environment(found, options.environment)
    scope = Scope(name, chosen.variables, withheld=withheld_from(os.environ))
    workspace = open_workspace(options, found, scope)
    opened = opened_journal(options)
    place = manifest_edits.IdTarget(name, alone=not with_target(found) - {name})
    roots = sources_of(manifest_paths(options, found), found.root).roots
    originals = manifest_edits.Originals(found.root, roots, workspace.read, name)
    given: dict[str, list[manifest_edits.Given]] = {}
    for manifest, known in opened.history.unwritten_ids(workspace.manifests):
        given.setdefault(manifest.source.file, []).append(manifest_edits.Given(manifest, known))
    written, by_hand = 0, list[str]()
    for file, ids in given.items():
        script = originals.script_of(ids[0].manifest)
        if script is None:
            raise InvalidInput(f"{file} was changed while this ran: it is left as it is")
        made = manifest_edits.identified(script, ids, place)
        by_hand += made.by_hand
        if made.written:
            write_files.remove_left([script.path.resolve().parent])
            write_files.replace_text(script.path, file, roots, before=script.text, after=made.text)
            reached(Point.FILE_REPLACED)
        written += len(made.written)
        for given_id in made.written if not options.quiet else ():
            words(
                safe(f"{given_id.manifest.source}: {given_id.manifest.ref} is {given_id.remote_id}")
            )
    data(f"{plural(written, 'id')} written\n")
    if by_hand:
        raise InvalidInput("\n".join(by_hand))


def _parse_id(ref: Ref, text: str) -> RemoteId:
    kind = BY_NAME.get(ref.kind)
    form = kind.id_form if kind is not None else None
    parsed: Json = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else text  # noqa: PLR2004 - an int32 has ten digits
    known = form.parse(parsed) if form is not None else None
    if known is None and form is not None:
        known = form.parse(text)
    if known is None:
        words_of = form.words if form is not None else "an id"
        raise UsageError(f"`{text}` is not an id of {ref.kind}: it must be {words_of}")
    return known
