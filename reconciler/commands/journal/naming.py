"""What a person says of names: a resource goes on under another, or is gone."""

from __future__ import annotations

import click

from reconciler.advice import on_journal
from reconciler.commands import options
from reconciler.commands.journal.opening import opened_journal, ref_of, run_entry
from reconciler.commands.waiting import lock_timeout
from reconciler.console import words
from reconciler.errors import UsageError
from reconciler.journal.entries import Forgotten, Renamed
from reconciler.journal.history import History
from reconciler.journal.store import Patience
from reconciler.manifests.envelope import LONGEST_NAME, NAME
from reconciler.report.safe import safe
from reconciler.resource import Ref
from reconciler.session.opening import Asked
from reconciler.slips import nearest


@click.command
@click.argument("old")
@click.argument("new")
@options.remembering
@lock_timeout
def rename(*, old: str, new: str, asked: Asked, patience: Patience) -> int:
    """Let the resource OLD go on as NEW, both of the form Kind/name.

    What was remembered of OLD, its id above all, is the memory of NEW from here
    on: a manifest with the new name means the same resource, and nothing is
    created a second time. The service is not asked.
    """
    was, ref = ref_of(old), ref_of(new)
    _check_names(was, ref)
    opened = opened_journal(asked)
    run = run_entry(asked, opened, "rename")
    with opened.locked(run.run, patience):
        _check_known(was, opened.history)
        if not opened.history.of(ref).is_blank:
            raise UsageError(
                f"the journal knows a {ref} of its own already: if that one is gone, "
                f"`{on_journal('forget', str(ref))}` first"
            )
        opened.begin(run)
        opened.append([Renamed(opened.now(), ref, was)])
    if not asked.quiet:
        words(safe(f"{ref} is what {was} was; plan again"))
    return 0


@click.command
@click.argument("ref")
@options.remembering
@lock_timeout
def forget(*, ref: str, asked: Asked, patience: Patience) -> int:
    """Remember REF, a Kind/name, no more: it was removed by hand, or others care for it.

    It is not listed as "no longer declared" any more, and its id does not count.
    The service is not asked, and nothing is deleted there.
    """
    wanted = ref_of(ref)
    opened = opened_journal(asked)
    run = run_entry(asked, opened, "forget")
    with opened.locked(run.run, patience):
        _check_known(wanted, opened.history)
        known = opened.history.of(wanted).remote_id
        opened.begin(run)
        opened.append([Forgotten(opened.now(), wanted)])
    if not asked.quiet:
        which = f" ({known})" if known is not None else ""
        said = "is forgotten: a manifest that still declares it begins anew"
        words(safe(f"{wanted}{which} {said}"))
    return 0


def _check_names(was: Ref, ref: Ref) -> None:
    """Raise UsageError unless one may be called as the other."""
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
    """Raise UsageError where the journal knows nothing of a resource, or nobody knows of it."""
    if history.of(ref).unsettled_create is not None:
        raise UsageError(
            f"the answer to the create of {ref} was lost: say first what became of it, with "
            f"`{on_journal('settle', f'{ref} --id ID')}` or `--never-happened`"
        )
    if history.of(ref).is_blank:
        known = [str(one) for one, memory in history.memories.items() if not memory.is_blank]
        near = nearest(str(ref), known)
        hint = f"; did you mean {near}?" if near else f": see `{on_journal('show')}`"
        raise UsageError(f"the journal knows no {ref}{hint}")
