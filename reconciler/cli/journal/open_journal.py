"""From the flags of a journal command to its journal."""

from __future__ import annotations

import os
from uuid import uuid4

from reconciler.console import words
from reconciler.errors import UsageError
from reconciler.journal.entries import RunEntry
from reconciler.journal.journal import Journal
from reconciler.model import Ref
from reconciler.operations.open_project import (
    Options,
    applied_commit,
    journal_of,
    lead_here,
    open_project,
    project_file,
    warn_of_lost_end,
)
from reconciler.project import choose_environment, choose_target, in_shard
from reconciler.report.safe import safe


def unread_journal(asked: Options) -> Journal:
    """Return the journal of the environment, not read yet."""
    project = open_project(asked)
    name, environment = choose_environment(project, asked.environment)
    environment = in_shard(environment, asked.shard)
    lead_here(asked, project, name)
    target = choose_target(project, name, environment, os.environ)
    journal = journal_of(project, name, environment, target, asked.voice)
    journal.waits = asked.waits
    return journal


def opened_journal(asked: Options) -> Journal:
    """Return the journal of the environment, after reading it."""
    journal = unread_journal(asked)
    journal.load()
    if asked.quiet:
        return journal
    warn_of_lost_end(journal, asked.voice)
    if journal.header is None and not journal.is_gone:
        words(f"there is no journal at {safe(journal.place)}{hint_at_places(asked)}")
    return journal


def hint_at_places(asked: Options) -> str:
    """Return a hint to use `--path`, where the folder alone decides where a journal is."""
    if asked.paths or project_file(asked) is not None:
        return ""
    return "; where `plan PATH` was given a folder, give the same one with `--path PATH`"


def run_entry(asked: Options, journal: Journal, command: str) -> RunEntry:
    """Return the entry with who runs this command, and from which commit."""
    commit = applied_commit(open_project(asked))
    return journal.run_entry(str(uuid4()), command, commit)


def ref_of(text: str | None) -> Ref:
    """Return the ref of a text `Kind/name`. Raises UsageError."""
    ref = Ref.parse(text or "")
    if ref is None:
        raise UsageError(f"`{text}` is not of the form Kind/name")
    return ref
