"""Commands that add to a journal: names, ids, removed resources, results of lost creates."""

from __future__ import annotations

import os

import click

from reconciler.cli import options
from reconciler.cli.console import data, words
from reconciler.cli.journal.maintenance import opened_journal, ref_of, run_entry
from reconciler.cli.lock_wait import lock_timeout
from reconciler.document import Json
from reconciler.errors import InvalidInput, UsageError
from reconciler.journal.entries import Forgotten, Renamed, Settled
from reconciler.journal.history import History
from reconciler.journal.store import LockTimeout
from reconciler.kinds import BY_NAME
from reconciler.model import Ref, RemoteId
from reconciler.operations.open_project import Options, manifest_paths, open_project
from reconciler.operations.open_session import open_workspace
from reconciler.project import choose_environment, with_target
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.advice import on_journal
from reconciler.runtime.failpoints import Point, reached
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.envelope import LONGEST_NAME, NAME
from reconciler.workspace.expression_scope import Scope, withheld_from
from reconciler.workspace.manifest_edits import Given, IdTarget, Originals, identified
from reconciler.workspace.workspace import sources_of
from reconciler.workspace.write_files import remove_left, replace_text


@click.command
@click.argument("old")
@click.argument("new")
@options.remembering
@lock_timeout
def rename(*, old: str, new: str, options: Options, patience: LockTimeout) -> None:
    """Rename the resource OLD to NEW, both of the form Kind/name.

    What was remembered of OLD, its id above all, is the memory of NEW from here
    on: a manifest with the new name means the same resource, and nothing is
    created a second time. The service is not asked.
    """
    was, ref = ref_of(old), ref_of(new)
    _check_names(was, ref)
    opened = opened_journal(options)
    run = run_entry(options, opened, "rename")
    with opened.locked(run.run, patience):
        _check_known(was, opened.history)
        if not opened.history.of(ref).is_blank:
            raise UsageError(
                f"the journal knows a {ref} of its own already: if that one is gone, "
                f"`{on_journal('forget', str(ref))}` first"
            )
        opened.begin(run)
        opened.append([Renamed(at=opened.now(), ref=ref, was=was)])
    if not options.quiet:
        words(safe(f"{ref} is what {was} was; plan again"))


@click.command
@click.argument("ref")
@options.remembering
@lock_timeout
def forget(*, ref: str, options: Options, patience: LockTimeout) -> None:
    """Forget REF, a Kind/name: it was removed by hand, or others manage it.

    It is not listed as "no longer declared" any more, and its id does not count.
    The service is not asked, and nothing is deleted there.
    """
    wanted = ref_of(ref)
    opened = opened_journal(options)
    run = run_entry(options, opened, "forget")
    with opened.locked(run.run, patience):
        _check_known(wanted, opened.history)
        known = opened.history.of(wanted).remote_id
        opened.begin(run)
        opened.append([Forgotten(at=opened.now(), ref=wanted)])
    if not options.quiet:
        which = f" ({known})" if known is not None else ""
        outcome = "is forgotten: a manifest that still declares it begins again"
        lost = "no guard remembers what was written to it or rolled back"
        words(safe(f"{wanted}{which} {outcome}, and {lost}"))


def _check_names(was: Ref, ref: Ref) -> None:
    """Raise UsageError unless a resource can be renamed so."""
    if was.kind != ref.kind:
        raise UsageError(f"{was} cannot become {ref}: a resource stays of its kind")
    if was == ref:
        raise UsageError(f"both are {ref}: there is nothing to rename")
    if len(ref.name) > LONGEST_NAME or not NAME.fullmatch(ref.name):
        raise UsageError(
            f"`{ref.name}` is not a name: lower-case letters, digits and `.`, `_`, `-`, "
            f"a letter or digit first, at most {LONGEST_NAME}"
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


@click.command
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
@lock_timeout
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
    opened = opened_journal(options)
    run = run_entry(options, opened, "settle")
    with opened.locked(run.run, patience):
        if wanted not in opened.history.unsettled():
            listed = ", ".join(map(str, sorted(opened.history.unsettled()))) or "none"
            raise UsageError(f"{wanted} is not unsettled (unsettled: {listed})")
        known = _parse_id(wanted, remote_id) if remote_id is not None else None
        opened.begin(run)
        opened.append([Settled(at=opened.now(), ref=wanted, remote_id=known)])
    if not options.quiet:
        became = "never happened" if known is None else f"exists as {known}"
        words(f"{wanted} {became}; plan again")


@click.command("write-ids")
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
    place = IdTarget(name, alone=not with_target(found) - {name})
    roots = sources_of(manifest_paths(options, found), found.root).roots
    originals = Originals(found.root, roots, workspace.read, name)
    given: dict[str, list[Given]] = {}
    for manifest in workspace.manifests:
        known = opened.history.of(manifest.ref).remote_id
        if manifest.remote_id is None and known is not None:
            given_id = Given(manifest, known)
            given.setdefault(manifest.source.file, []).append(given_id)
    written, by_hand = 0, list[str]()
    for file, ids in given.items():
        script = originals.script_of(ids[0].manifest)
        if script is None:
            raise InvalidInput(f"{file} was changed while this ran: it is left as it is")
        made = identified(script, ids, place)
        by_hand += made.by_hand
        if made.written:
            remove_left([script.path.resolve().parent])
            replace_text(script.path, file, roots, before=script.text, after=made.text)
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
