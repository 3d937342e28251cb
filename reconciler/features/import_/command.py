"""`reconciler import`: write manifests from the service or from exports."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import click

from reconciler.cli import options
from reconciler.cli.console import agreed, data, is_terminal, json_data, words
from reconciler.errors import UsageError, worst
from reconciler.features.import_.import_resources import (
    ImportDocument,
    ImportResult,
    import_now,
)
from reconciler.features.import_.import_sources import ToImport
from reconciler.journal.store import LockTimeout
from reconciler.kinds import KINDS
from reconciler.kinds.kind import Kind
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.syntax.files import display_name
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.write_files import default_environment, set_default_environment

NOUNS = {kind.noun: kind for kind in KINDS}


@click.command("import")
@click.argument(
    "words_given",
    nargs=-1,
    metavar="[dashboard ID|SLUG... | slo ID... | policies | alert ID... | view ID...]",
)
@click.option(
    "--from",
    "exports",
    multiple=True,
    metavar="PATH...",
    type=click.Path(path_type=Path),
    help="Import exports: files and folders of JSON or YAML, recognised by their shape.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Import every resource that the service can list."
)
@click.option(
    "--to",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The folder for the manifests; by default a folder for each kind in the "
    "first folder of `manifests:`.",
)
@click.option(
    "--keep-json",
    is_flag=True,
    help="Write each dashboard as a JSON file, and a short manifest that reads it.",
)
@click.option(
    "--minimal",
    is_flag=True,
    help="Leave out fields that the service fills in by itself, as `deleted: "
    "false`; drift of them is not seen.",
)
@click.option(
    "--dry-run", is_flag=True, help="List the files that would be written, and write nothing."
)
@click.option(
    "--parameterise",
    metavar="NAME,NAME",
    help="With --from: the environments of the exported paths, in the same order; "
    "values that differ between them become variables.",
)
@click.option(
    "--id",
    "given_ids",
    multiple=True,
    metavar="NAME=ID",
    help="With --from: the id of the resource NAME, where the export has none; repeat it for more.",
)
@options.connected
@options.lock_timeout
@options.formats("text", "json")
def import_(  # noqa: PLR0913 - one for each option
    *,
    words_given: tuple[str, ...],
    exports: tuple[Path, ...],
    everything: bool,
    to: Path | None,
    keep_json: bool,
    minimal: bool,
    dry_run: bool,
    parameterise: str | None,
    given_ids: tuple[str, ...],
    options: Options,
    patience: LockTimeout,
    form: str,
) -> int:
    """Write manifests of what is there already, so that the next plan keeps all of it.

    Each resource gets a file of its own. No existing file is overwritten, and a resource that has a
    manifest is skipped. Paths of new files are printed, one a line.
    """
    paths = (*exports, *map(Path, words_given)) if exports else ()
    live = () if exports else live_of(words_given)
    if sum(map(bool, (paths, live, everything))) != 1:
        raise UsageError(
            "say what to import, one of: `import dashboard ID`, `import slo ID`, "
            "`import policies`, `import --from PATH`, `import --all`, and `import alert ID` or "
            "`import view ID` where `api: reads:` of the project file says how to read them"
        )
    wanted = ToImport(
        live=live,
        exports=paths,
        everything=everything,
        environments=environments_in(parameterise, len(paths)),
        ids=ids_in(given_ids, is_used=bool(paths)),
        to=to,
        keep_json=keep_json,
        minimal=minimal,
        dry_run=dry_run,
    )
    result = import_now(options, wanted, patience)
    code = worst({left.exit_code for left in result.skipped} - {0})
    report_skipped(result, quiet=options.quiet, verbose=options.verbose)
    if form == "json":
        json_data(document_of(result), ending=code)
    else:
        files = (file for resource in result.imported for file in resource.written)
        data("".join(f"{safe(os.path.relpath(file))}\n" for file in files), ending=code)
    if not options.quiet:
        words(summary_of(result, dry_run=dry_run))
        if exports and not dry_run and (unwatched := describe_unwatched(result)):
            words(unwatched)
        if result.imported and not dry_run:
            offer_default(result.session)
    return code


def environments_in(given: str | None, paths: int) -> tuple[str, ...]:
    """Return names separated by commas, as many as there are paths. Raises UsageError."""
    if given is None:
        return ()
    names = tuple(filter(None, map(str.strip, given.split(","))))
    if len(names) != paths or len(names) < 2:  # noqa: PLR2004 - what differs has two sides
        raise UsageError(
            "--parameterise A,B wants two environments or more, and --from as many paths, "
            "one for each in the same order"
        )
    return names


def ids_in(given: tuple[str, ...], *, is_used: bool) -> dict[str, str]:
    """Return ids by names. Raises UsageError."""
    ids: dict[str, str] = {}
    for text in given:
        name, equals, remote_id = text.rpartition("=")
        if not (equals and name and remote_id) or name in ids:
            flaw = "is there twice" if name in ids else "is not of the form NAME=ID"
            raise UsageError(f"--id `{text}` {flaw}")
        ids[name] = remote_id
    if ids and not is_used:
        raise UsageError("--id is for exports: it wants --from")
    return ids


def live_of(given: tuple[str, ...]) -> tuple[tuple[Kind, str], ...]:
    """Return the kinds and names to read from the service. Raises UsageError."""
    if not given:
        return ()
    noun, *names = given
    kind = NOUNS.get(noun)
    if kind is None:
        near = nearest(noun, NOUNS)
        hint = f"; did you mean `{near}`?" if near else ""
        raise UsageError(
            f"`{noun}` cannot be imported from the service{hint} (known: {', '.join(NOUNS)}); "
            "anything else is imported from exports: `import --from PATH`"
        )
    if kind.singleton:
        if names:
            raise UsageError(f"`import {noun}` takes no ids: there is one list")
        return ((kind, kind.name),)
    if not names:
        raise UsageError(f"`import {noun}` wants ids: one {kind.name} or more")
    return tuple((kind, name) for name in names)


def document_of(result: ImportResult) -> ImportDocument:
    """Return the JSON form."""
    root = result.session.project.root.resolve()
    return {
        "imported": [
            {
                "ref": str(resource.ref),
                "file": display_name(resource.file, root),
                "remoteId": resource.brief.record.remote_id,
            }
            for resource in result.imported
        ],
        "skipped": [
            {"what": left.what, "why": ": ".join(filter(None, (left.why, left.remedy)))}
            for left in result.skipped
        ],
    }


def report_skipped(result: ImportResult, *, quiet: bool, verbose: bool) -> None:
    """Print each skipped resource with the reason; print each remedy once.

    With `quiet`, only failures that the exit code reports are printed. Resources of one kind that
    are only mentioned share a line, except with `verbose`.
    """
    skipped = [left for left in result.skipped if left.exit_code or not quiet]
    found = Counter(left.found for left in skipped)
    lines: dict[str, None] = {}
    for left in skipped:
        line = f"{'not imported: ' if left.exit_code else ''}{left.what}: {left.why}"
        if left.found is not None and found[left.found] > 1 and not verbose:
            kind, how = left.found
            count = found[left.found]
            line = f"{kind}: {count} found, not imported (`-v` names them); for each: {how}"
        lines[line] = None
    for line in lines:
        words(safe(line))
    for remedy in dict.fromkeys(left.remedy for left in skipped if left.remedy):
        words(safe(f"to import what is named above: {remedy}"))


def summary_of(result: ImportResult, *, dry_run: bool) -> str:
    """Return a summary in one line."""
    count = plural(len(result.imported), "manifest")
    made = f"would write {count}" if dry_run else f"wrote {count}"
    if not (dry_run or result.imported):
        made = "nothing to write"
    missed = sum(left.found is not None for left in result.skipped)
    return f"{made}; {plural(missed, 'resource')} found and not imported" if missed else made


def offer_default(session: Session) -> None:
    """Offer to make the environment of this import the default; without a terminal, say how.

    Raises InvalidInput where the project file cannot be edited.
    """
    file, name = session.project.file, session.project.settings.default_environment
    if file is None or name in (None, session.name):
        return
    line = f"`{default_environment(session.name)}` in {file.name}"
    fact = f"without -e, commands use `{name}`"
    if not is_terminal():
        words(safe(f"{fact}: write {line} to use `{session.name}`"))
    elif agreed(safe(f"{fact}. Write {line}?")):
        set_default_environment(file, session.name)


def describe_unwatched(result: ImportResult) -> str:
    """Return which exports drift cannot watch yet: they have no journal entry before an apply."""
    count = sum(resource.brief.can_be_read for resource in result.imported)
    if not count:
        return ""
    watches = "watches it" if count == 1 else "watches them"
    first = plural(count, "manifest")
    return f"{first} from exports of what can be read: `drift` {watches} after the first apply"
