"""From an environment of the project to its journal, whatever keeps it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, assert_never

from reconciler.advice import on_journal
from reconciler.errors import MissingExtra, UsageError
from reconciler.project import Environment, Project, Target, journal_place_at, journal_setting
from reconciler.project.settings import InFile, InGit, InObjects, JournalPlace
from reconciler.report.safe import safe
from reconciler.session.voice import Voice
from reconciler.waits import Waits

if TYPE_CHECKING:
    from reconciler.journal.journal import Journal
    from reconciler.journal.store import Store
    from reconciler.report.html import Made


def loaded(journal: Journal, waits: Waits, voice: Voice) -> Journal:
    """Give a journal, read; warn of an old copy, or one that is gone.

    Raises JournalError, or InvalidInput for the journal of another target.
    """
    journal.waits = waits
    journal.load()
    warn_of_lost_end(journal, voice)
    return journal


LOST = "what to do where it is lost or damaged stands in docs/journal.md"


def warn_of_lost_end(journal: Journal, voice: Voice) -> None:
    """Say where what the last run ended with is missing, or the whole journal is."""
    if journal.is_gone:
        voice.say(
            f"warning: the journal at {safe(journal.place)} is gone: the last run left one there. "
            "Bring it back before you apply, as what is written without it may be a second one; "
            f"{LOST}"
        )
    elif journal.is_old_copy:
        voice.say(
            f"warning: {safe(journal.place)} seems to be an old copy, as the end of the last run "
            f"is missing: see `{on_journal('verify')}`"
        )


def journal_of(
    project: Project, name: str, environment: Environment, target: Target, voice: Voice
) -> Journal:
    """Give the journal of an environment, not read yet."""
    store = store_at(project, journal_setting(project, name, environment))
    return journal_in(store, project, name, target.name, voice)


def journal_in(store: Store, project: Project, name: str, target: str, voice: Voice) -> Journal:
    """Give a journal of the project over a store, not read yet."""
    from reconciler.journal.journal import Journal  # noqa: PLC0415 - not for validate
    from reconciler.journal.provenance import actor_of  # noqa: PLC0415 - with it

    who = partial(actor_of, os.environ, project.root)
    look = partial(store_at, project)
    return Journal(
        store=store, environment=name, target=target, clock=_now, who=who, tell=voice.say, look=look
    )


def store_at(project: Project, setting: str) -> Store:
    """Give the store at a place that is written as in the project file.

    Raises UsageError for what is no place, or one that needs an extra.
    """
    try:
        return _store(journal_place_at(project, setting), project)
    except ValueError as error:
        raise UsageError(f"the place of a journal {error}") from error


def applied_commit(project: Project) -> str:
    """Give the commit that the project's manifests are of; "" where there is none."""
    from reconciler.journal.provenance import commit_of  # noqa: PLC0415 - not for validate

    paths = [project.root / path for path in project.settings.manifests]
    return commit_of(os.environ, project.root, paths)


def made_now(project: Project) -> Made:
    """Give the occasion of a report that is made now."""
    from reconciler.journal.provenance import actor_of, run_of  # noqa: PLC0415 - not for validate
    from reconciler.report.html import Made  # noqa: PLC0415 - for this format only

    who = actor_of(os.environ, project.root)
    return Made(_now(), applied_commit(project), who, run_of(os.environ))


def _now() -> datetime:
    return datetime.now(UTC)


def _object_store(url: str) -> Store:
    try:
        from reconciler.journal.object_store import Bucket  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        raise MissingExtra(f"a journal at {url}", "remote") from error
    from reconciler.journal.object_store import ObjectStore  # noqa: PLC0415 - one of three

    return ObjectStore(Bucket(url, os.environ))


def _store(place: JournalPlace, project: Project) -> Store:
    """Give the store; each is loaded only where it is used."""
    match place:
        case InFile(path=path):
            from reconciler.journal.file_store import FileStore  # noqa: PLC0415 - one of three

            return FileStore(path, project.root)
        case InGit(ref=ref, remote=remote):
            from reconciler.journal.git_store import (  # noqa: PLC0415 - one of three
                GitRemote,
                GitStore,
            )

            named = f"git:{ref}@{remote}" if remote else f"git:{ref}"
            return GitStore(GitRemote(project.root, ref, remote, os.environ), named)
        case InObjects(url=url):
            return _object_store(url)
        case _:
            assert_never(place)
