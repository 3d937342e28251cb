"""From an environment of the project to its journal, whatever keeps it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, assert_never

from reconciler.commands.output import words
from reconciler.errors import UsageError
from reconciler.project import Environment, Project, Target
from reconciler.project.choosing import journal_place
from reconciler.project.journal_place import InFile, InGit, InObjects, JournalPlace
from reconciler.report.safe import safe

if TYPE_CHECKING:
    from reconciler.journal.journal import Journal
    from reconciler.journal.store import Store


def open_journal(project: Project, name: str, environment: Environment, target: Target) -> Journal:
    """Give the journal of an environment, read; warn of an old copy.

    Raises JournalError, or InvalidInput for the journal of another target.
    """
    journal = journal_of(project, name, environment, target)
    journal.load()
    if journal.is_old_copy:
        words(
            f"warning: {safe(journal.place)} seems to be an old copy, as the end of the last run "
            "is missing: see `reconciler journal verify`"
        )
    return journal


def journal_of(project: Project, name: str, environment: Environment, target: Target) -> Journal:
    """Give the journal of an environment, not read yet."""
    from reconciler.journal.journal import Journal  # noqa: PLC0415 - not for validate
    from reconciler.journal.provenance import actor_of  # noqa: PLC0415 - with it

    store = _store(journal_place(project, name, environment), project)
    who = partial(actor_of, os.environ, project.root)
    return Journal(store, name, target.name, _now, who, words)


def applied_commit(project: Project) -> str:
    """Give the commit that the project's manifests are of; "" where there is none."""
    from reconciler.journal.provenance import commit_of  # noqa: PLC0415 - not for validate

    paths = [project.root / path for path in project.settings.manifests]
    return commit_of(os.environ, project.root, paths)


def _now() -> datetime:
    return datetime.now(UTC)


def _object_store(url: str) -> Store:
    try:
        from reconciler.journal.buckets import Bucket  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        said = f"a journal at {url} needs an extra: pip install 'reconciler[remote]'"
        raise UsageError(said) from error
    from reconciler.journal.object_store import ObjectStore  # noqa: PLC0415 - one of three

    return ObjectStore(Bucket(url, os.environ))


def _store(place: JournalPlace, project: Project) -> Store:
    """Give the store; each is loaded only where it is used."""
    match place:
        case InFile(path=path):
            from reconciler.journal.file_store import FileStore  # noqa: PLC0415 - one of three

            return FileStore(path)
        case InGit(ref=ref, remote=remote):
            from reconciler.journal.git_remote import GitRemote  # noqa: PLC0415 - one of three
            from reconciler.journal.git_store import GitStore  # noqa: PLC0415 - one of three

            named = f"git:{ref}@{remote}" if remote else f"git:{ref}"
            return GitStore(GitRemote(project.root, ref, remote, os.environ), named)
        case InObjects(url=url):
            return _object_store(url)
        case _:
            assert_never(place)
