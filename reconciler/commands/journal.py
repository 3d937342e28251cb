"""`reconciler journal`: what was written, whether it can be trusted, what is unsettled."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from reconciler.commands import options
from reconciler.commands.opening import Asked, now, open_project, open_workspace
from reconciler.commands.output import data, stdout_style, words
from reconciler.document import Json
from reconciler.errors import InvalidInput, UsageError
from reconciler.journal.entries import Settled, entry_document
from reconciler.journal.file_store import FileJournal
from reconciler.kinds import BY_NAME
from reconciler.manifests.expressions import Scope
from reconciler.manifests.writing import with_id
from reconciler.project import choose_environment, choose_target, journal_path
from reconciler.report.journal_text import journal_text
from reconciler.resource import Manifest, Ref, RemoteId


@click.group(no_args_is_help=False)
def journal() -> None:
    """Show, verify and settle what was written."""


def _open(environment: str | None, project: Path | None) -> FileJournal:
    found = open_project(Asked((), environment, project, verbose=False, quiet=False))
    name, chosen = choose_environment(found, environment)
    target = choose_target(found, name, chosen, os.environ)
    opened = FileJournal(journal_path(found, name, chosen), name, target.name, now)
    opened.load()
    return opened


@journal.command
@click.argument("ref", required=False)
@options.verbose
@options.quiet
@options.project
@options.environment
@options.formats("text", "json")
def show(
    *,
    ref: str | None,
    environment: str | None,
    project: Path | None,
    verbose: bool,
    quiet: bool,
    form: str,
) -> int:
    """Print the entries, oldest first: all, or those of one Kind/name."""
    opened = _open(environment, project)
    wanted = _ref(ref) if ref is not None else None
    entries = [
        entry for entry in opened.entries if wanted is None or getattr(entry, "ref", None) == wanted
    ]
    if form == "json":
        documents: list[Json] = [entry_document(entry) for entry in entries]
        data(json.dumps(documents, ensure_ascii=False, indent=2) + "\n")
    else:
        data(journal_text(entries, opened.history, stdout_style(verbose=verbose)))
    if opened.torn and not quiet:
        words("the last line is torn, as by a crash; the next write removes it")
    return 0


@journal.command
@options.verbose
@options.quiet
@options.project
@options.environment
def verify(*, environment: str | None, project: Path | None, verbose: bool, quiet: bool) -> int:
    """Check every line, and that none was changed or lost in the middle."""
    opened = _open(environment, project)
    if opened.header is None:
        raise InvalidInput(f"there is no journal at {opened.path}")
    torn = "; the last line is torn, as by a crash" if opened.torn else ""
    count = len(opened.history.unsettled())
    data(f"{opened.path}: {len(opened.entries)} entries, {count} unsettled{torn}\n")
    if verbose and not quiet:
        words(f"environment {opened.environment}, target {opened.target}")
    return 0


@journal.command
@options.verbose
@options.quiet
@options.project
@options.environment
def unlock(*, environment: str | None, project: Path | None, verbose: bool, quiet: bool) -> int:
    """Take over the lock of a shared store whose holder is gone.

    A file's lock dies with its process, so there is never one to take over.
    """
    del verbose
    opened = _open(environment, project)
    with opened.locked():
        pass
    if not quiet:
        words(f"{opened.path} is not locked: the lock of a file dies with its process")
    return 0


@journal.command
@click.argument("ref")
@click.option("--id", "remote_id", metavar="ID", help="The create happened, and this is its id.")
@click.option("--never-happened", is_flag=True, help="The create did not happen.")
@options.verbose
@options.quiet
@options.project
@options.environment
def settle(
    *,
    ref: str,
    remote_id: str | None,
    never_happened: bool,
    environment: str | None,
    project: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Say what became of a create whose answer was lost."""
    del verbose
    if (remote_id is None) == (not never_happened):
        raise UsageError("give either --id ID or --never-happened")
    wanted = _ref(ref)
    opened = _open(environment, project)
    with opened.locked():
        if wanted not in opened.history.unsettled():
            listed = ", ".join(map(str, sorted(opened.history.unsettled()))) or "none"
            raise UsageError(f"{wanted} is not unsettled (unsettled: {listed})")
        known = _parse_id(wanted, remote_id) if remote_id is not None else None
        opened.append([Settled(opened.now(), wanted, known)])
    if not quiet:
        became = "never happened" if known is None else f"exists as {known}"
        words(f"{wanted} {became}; plan again")
    return 0


@journal.command("write-ids")
@options.reading
def write_ids(
    *,
    paths: tuple[Path, ...],
    environment: str | None,
    project: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Write the ids that the service gave out into the manifests, comments kept.

    With `metadata.id` in git, a lost journal cannot lead to a second create.
    """
    asked = Asked(paths, environment, project, verbose, quiet)
    found = open_project(asked)
    name, chosen = choose_environment(found, environment)
    workspace = open_workspace(asked, found, Scope(name, chosen.variables))
    opened = _open(environment, project)
    written = 0
    for manifest in workspace.manifests:
        known = opened.history.of(manifest.ref).remote_id
        if manifest.remote_id is None and known is not None:
            _write_id(found.root, manifest, known)
            written += 1
            if not quiet:
                words(f"{manifest.source}: {manifest.ref} is {known}")
    data(f"{written} ids written\n")
    return 0


def _write_id(root: Path, manifest: Manifest, remote_id: RemoteId) -> None:
    file = root / manifest.source.file
    if file.suffix == ".json":
        raise InvalidInput(f"{manifest.source}: ids are written into YAML manifests only")
    try:
        text = with_id(file.read_text(encoding="utf-8"), manifest.ref, remote_id)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def _ref(text: str) -> Ref:
    ref = Ref.parse(text)
    if ref is None:
        raise UsageError(f"`{text}` is not of the form Kind/name")
    return ref


def _parse_id(ref: Ref, text: str) -> RemoteId:
    kind = BY_NAME.get(ref.kind)
    form = kind.id_form if kind is not None else None
    value: Json = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else text  # noqa: PLR2004 - an int32 has ten digits
    known = form.parse(value) if form is not None else None
    if known is None and form is not None:
        known = form.parse(text)
    if known is None:
        words_of = form.words if form is not None else "an id"
        raise UsageError(f"`{text}` is not an id of {ref.kind}: it must be {words_of}")
    return known
