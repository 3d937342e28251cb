"""Writing the manifests as they were before a run, from the command line or as a pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from reconciler.errors import UsageError
from reconciler.features.rollback.roll_back import ROLLBACK, states_before, way_back
from reconciler.features.rollback.written_formats import WrittenBack, written_markdown
from reconciler.journal.writes import LAST, before_run, chosen_run
from reconciler.model import Ref
from reconciler.operations.added_by_features import ProposedEdits, TextEdit
from reconciler.operations.open_session import Session
from reconciler.report.reasons import SHORT_RUN, words_of
from reconciler.workspace.write_files import replace_text


def write_manifests(
    session: Session,
    name: str,
    refs: Sequence[Ref] = (),
    *,
    live: bool = False,
    only_shown: bool = False,
) -> WrittenBack:
    """Edit the manifests so that they declare what was declared before a run, or only show that.

    With `last`, a rollback is the run that it rolled back. Raises as `states_before`, and
    InvalidInput where a file cannot be written.
    """
    journal = session.journal()
    if name == LAST:
        run = chosen_run(journal, name)
        command, _, undone = run.entry.command.partition(" ")
        if command == ROLLBACK and undone:
            name, refs = undone, refs or [before.ref for before in before_run(journal.entries, run)]
    states = states_before(session, journal, name, refs, live=live)
    back = way_back(session, states)
    files = back.files()
    if not only_shown:
        for file in files:
            script = file.script
            replace_text(script.path, script.name, back.roots, before=script.text, after=file.after)
    blocked = {
        change.ref: words_of(change.reasons[0], change.ref) for change in states.found.blocked
    }
    return WrittenBack(
        environment=session.name,
        run=states.run.entry.run,
        files=[
            TextEdit(name=file.script.name, before=file.script.text, after=file.after)
            for file in files
        ],
        unplaced=sorted({**back.why, **blocked}.items()),
        broken=back.broken,
        only_shown=only_shown,
    )


_RUN = re.compile(r"[A-Za-z0-9-]+")


def check_run(text: str) -> None:
    """Raise UsageError unless the input `run` may be the id of a run, or `last`."""
    if not _RUN.fullmatch(text):
        raise UsageError(f"`run` is an id as `journal history` shows it, or `last`, not `{text}`")


def proposal(session: Session, given: Mapping[str, str]) -> ProposedEdits:
    """Return the edits for a pull request, of the run that the input `run` names."""
    if not given["run"]:
        raise UsageError(
            "`run`: name the run to roll back, an id as `journal history` shows it, or `last`"
        )
    made = replace(write_manifests(session, given["run"], only_shown=True), only_shown=False)
    return ProposedEdits(
        title=f"Roll back the manifests of {made.environment} to before {made.run[:SHORT_RUN]}",
        body=written_markdown(made),
        files=made.files,
        undecided=bool(made.unplaced or made.broken),
        subject="edits of the manifests",
        about=made.run[:SHORT_RUN],
        exit_code=made.exit_code,
    )
