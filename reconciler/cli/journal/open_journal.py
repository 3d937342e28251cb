"""From the flags of a journal command to its journal."""

from __future__ import annotations

import os
from uuid import uuid4

from reconciler.cli.console import words
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


def unread_journal(options: Options) -> Journal:
    """Return the journal of the environment, not read yet."""
    project = open_project(options)
    name, environment = choose_environment(project, options.environment)
    environment = in_shard(environment, options.shard)
    lead_here(options, project, name)
    target = choose_target(project, name, environment, os.environ)
    journal = journal_of(project, name, environment, target, options.reporter)
    journal.waits = options.waits
    return journal


def opened_journal(options: Options) -> Journal:
    """Return the journal of the environment, after reading it."""
    journal = unread_journal(options)
    journal.load()
    if options.quiet:
        return journal
    warn_of_lost_end(journal, options.reporter)
    if journal.header is None and not journal.is_gone:
        words(f"there is no journal at {safe(journal.place)}{hint_at_places(options)}")
    return journal


def hint_at_places(options: Options) -> str:
    """Return a hint to use `--path`, where the folder alone decides where a journal is."""
    if options.paths or project_file(options) is not None:
        return ""
    return "; where `plan PATH` was given a folder, give the same one with `--path PATH`"


def run_entry(options: Options, journal: Journal, command: str) -> RunEntry:
    """Return the entry with who runs this command, and from which commit."""
    commit = applied_commit(open_project(options))
    return journal.run_entry(str(uuid4()), command, commit)


def ref_of(text: str | None) -> Ref:
    """Return the ref of a text `Kind/name`. Raises UsageError."""
    ref = Ref.parse(text or "")
    if ref is None:
        raise UsageError(f"`{text}` is not of the form Kind/name")
    return ref
