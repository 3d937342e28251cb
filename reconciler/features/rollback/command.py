"""`reconciler rollback`: restore the state before a run, with a plan like any other.

With `--write`, edit the manifests instead, with a report as text, JSON, or the body of a pull
request.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import click
from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.cli import options
from reconciler.cli.apply import check_asked, consenting
from reconciler.cli.console import (
    data,
    describe_plan,
    report_applied,
    stdout_style,
    words,
)
from reconciler.document import ABSENT, Json, Missing, canonical_text
from reconciler.errors import ExitCode, UsageError, worst
from reconciler.features.rollback.roll_back import (
    ROLLBACK,
    before_of,
    states_before,
    way_back,
)
from reconciler.features.rollback.shared_places import Unplaced, left_of
from reconciler.features.rollback.write_back import SharedPlace
from reconciler.journal.journal import Journal
from reconciler.journal.store import LockTimeout
from reconciler.journal.writes import LAST, before_run, chosen_run, is_apply
from reconciler.model import Plan, Ref, RollsBack, Written
from reconciler.model.quoting import and_more, listed, plain
from reconciler.operations.added_by_features import ProposedEdits, wait_before_lock
from reconciler.operations.apply_plan import Consent, plan_and_apply
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session, open_target
from reconciler.operations.plan_and_drift import (
    check_writable,
    failures_of,
    plan_now,
    write_private,
)
from reconciler.report.complaints.document import ComplaintDocument, complaint_document, fix_diff
from reconciler.report.markdown import (
    COMMENT_BYTES,
    WHOLE_ADOPTION,
    Fold,
    code,
    fenced,
    markdown_table,
    sentence,
    with_folds,
)
from reconciler.report.plan.document import plan_json
from reconciler.report.reasons import (
    COMMIT,
    MOST_NAMED,
    SHORT_COMMIT,
    SHORT_RUN,
    after_rollback,
    words_of,
)
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style, fitted, item_lines
from reconciler.report.words import plural
from reconciler.runtime.advice import from_journal, in_git
from reconciler.syntax.diagnostic import Complaint
from reconciler.workspace.manifest_edits import Edited
from reconciler.workspace.write_files import replace_text

_LONGEST_CELL = 80
MOST_PLACES = 20
"""Places of one resource that a text lists; JSON has all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBack:
    """The files that declare again what was declared before a run.

    `unplaced` are resources that are not edited in full, with the reason. `replaced` are the
    expressions that a value replaces, because others use the variable too. `broken` are the errors
    in manifests: the values that such manifests share are not known. `commit` is that of the run,
    "" if it is not known. Nothing was written if it is `only_shown`.
    """

    environment: str
    run: str
    files: Sequence[Edited]
    unplaced: Sequence[Unplaced]
    replaced: Sequence[SharedPlace] = ()
    commit: str = ""
    broken: Sequence[Complaint] = ()
    only_shown: bool

    @property
    def exit_code(self) -> int:
        """The exit code: 3 where something cannot be placed, or is broken."""
        return ExitCode.PARTIAL if self.unplaced or self.broken else ExitCode.DONE

    @property
    def summary(self) -> str:
        """The counts in one line."""
        would = " would be" if self.only_shown else ""
        head = f"{plural(len(self.files), 'file')}{would} edited"
        left = f"; {plural(len(self.unplaced), 'resource')} not edited in full"
        broken = f"; {plural(len(self.broken), 'error')} in manifests"
        rest = (left if self.unplaced else "") + (broken if self.broken else "")
        return f"before the run {self.run[:SHORT_RUN]}: {head}{rest}"

    @property
    def revert(self) -> str:
        """Return the command that undoes the commit of the run, where others share its places.

        Git refuses it while files of the commit are edited.
        """
        if self.files and not self.only_shown:
            return ""
        users = (user for left in self.unplaced for place in left.places for user in place.users)
        is_shared = any(user.environments for user in users)
        return in_git("revert", self.commit) if self.commit and is_shared else ""

    @property
    def left(self) -> Iterator[tuple[str, str]]:
        """The resources, places and files that are left as they are, and why."""
        for left in self.unplaced:
            yield str(left.ref), left.why
            yield from _rows(left.places)
        for error in self.broken:
            why = f"broken, and not looked at: {error.message} [{error.code}]"
            yield f"{error.file}:{error.line}", why


def _rows(places: Sequence[SharedPlace]) -> Iterator[tuple[str, str]]:
    for place in places:
        users = listed([*map(str, place.users)], MOST_NAMED, "; ")
        why = f"{_shown(place.now)} → {_shown(place.before)}"
        yield f"{place.file}:{place.line}", f"{why}; also used by {users}" if users else why


def _shown(value: Json | Missing) -> str:
    if value is ABSENT:
        return "nothing"
    return plain(value if isinstance(value, str) else canonical_text(value))


def _facts(left: Unplaced, environment: str) -> Iterator[str]:
    yield left.why
    yield from (f"{name}: {why}" for name, why in _rows(left.places[:MOST_PLACES]))
    if more := and_more(len(left.places) - MOST_PLACES, "place"):
        yield more
    if left.places:
        yield _advice(left, environment)


def _advice(left: Unplaced, environment: str) -> str:
    if left.override:
        return f"for {environment} alone, the `overrides:` of {left.ref} in {left.file} are to be:"
    why = f", as items of its lists have no `{left.lacking}` to merge by" if left.lacking else ""
    return (
        f"no override does it for {environment} alone{why}: edit the places by hand, which changes "
        "all that use them"
    )


_REPLACED = "a value replaces the expression, so that the variable can stay"
_REVERT = "Where one commit made the change, `{}` undoes it in every environment."


def written_text(made: WrittenBack, style: Style) -> str:
    """Return the diff of each file, what cannot be placed, and the counts."""
    lines = [fix_diff(file.name, file.before, file.after) for file in made.files]
    for name, why in _rows(made.replaced):
        lines += item_lines(f"~ {name}", [f"{_REPLACED}: {why}"], style)
    for left in made.unplaced:
        lines += item_lines(f"x {left.ref}", _facts(left, made.environment), style, Colour.RED)
        if left.override:
            # At the left edge, so that it can be pasted.
            lines.extend(("", *map(safe, left.override.splitlines()), ""))
    for name, why in replace(made, unplaced=()).left:
        lines += item_lines(f"x {name}", [why], style, Colour.RED)
    if made.revert:
        lines.append(_REVERT.format(made.revert))
    lines.append(fitted(style.paint(f"Manifests as {made.summary}.", Colour.BOLD), style))
    return "\n".join(line.removesuffix("\n") for line in lines) + "\n"


def written_markdown(made: WrittenBack) -> str:
    """Return the body of a pull request."""
    lines = [
        f"### Manifests of {code(made.environment, _LONGEST_CELL)} as {made.summary}",
        "",
        "This writes to no service. After the merge, an apply puts back what a rollback has not.",
        "",
    ]
    lines += _table(
        "replaced", [(name, f"{_REPLACED}: {why}") for name, why in _rows(made.replaced)]
    )
    lines += _table("not edited in full", [*made.left])
    for left in made.unplaced:
        if left.override:
            advice = sentence(_advice(left, made.environment), 2 * _LONGEST_CELL)
            lines += [advice, "", fenced("yaml", [*map(safe, left.override.splitlines())]), ""]
    if made.revert:
        lines += [_REVERT.format(made.revert), ""]
    folds = [
        Fold(file.name, "edited", fix_diff(file.name, file.before, file.after).splitlines())
        for file in made.files
    ]
    return with_folds("\n".join(lines) + "\n", folds, COMMENT_BYTES, WHOLE_ADOPTION)


def _table(title: str, rows: Sequence[tuple[str, str]]) -> list[str]:
    cells = [(code(name, _LONGEST_CELL), code(why, 4 * _LONGEST_CELL)) for name, why in rows]
    return [*markdown_table((title, "why"), cells, list, len(cells))]


@with_config(ConfigDict(extra="forbid"))
class WrittenFileDocument(TypedDict):
    """A file and its changes."""

    file: str
    diff: Annotated[str, Field(description="The changes, for `patch -p1`.")]


@with_config(ConfigDict(extra="forbid"))
class SharedPlaceDocument(TypedDict):
    """A line of a file that others use too; values as JSON, empty for none."""

    place: str
    now: str
    before: Annotated[str, Field(description="The value before the run.")]
    users: list[str]


@with_config(ConfigDict(extra="forbid"))
class UnplacedDocument(TypedDict):
    """A resource with a manifest that is left as it is, in whole or in part."""

    ref: str
    why: str
    places: Annotated[list[SharedPlaceDocument], Field(description="Those that others use too.")]
    override: Annotated[
        str,
        Field(
            description="The `overrides:` with which the manifest in `file` declares it in this "
            "environment alone; empty where there is none."
        ),
    ]
    file: str


@with_config(ConfigDict(extra="forbid"))
class WrittenBackDocument(TypedDict):
    """Output of `rollback --write --format json`."""

    formatVersion: Literal[1]
    environment: str
    run: Annotated[str, Field(description="The run that is rolled back.")]
    dryRun: bool
    files: list[WrittenFileDocument]
    unplaced: list[UnplacedDocument]
    replaced: Annotated[
        list[SharedPlaceDocument],
        Field(description="Expressions that a value replaces, as others use the variable too."),
    ]
    revert: Annotated[
        str,
        Field(
            description="The command that undoes the commit of the run; empty if files are edited."
        ),
    ]
    broken: Annotated[
        list[ComplaintDocument],
        Field(description="Errors in manifests of any environment: what they share is not known."),
    ]


def written_json(made: WrittenBack) -> str:
    """Return the JSON of schemas/written-back.schema.json, ending in a line break."""
    document: WrittenBackDocument = {
        "formatVersion": 1,
        "environment": made.environment,
        "run": made.run,
        "dryRun": made.only_shown,
        "files": [
            {"file": file.name, "diff": fix_diff(file.name, file.before, file.after)}
            for file in made.files
        ],
        "unplaced": [
            {
                "ref": str(left.ref),
                "why": left.why,
                "places": [*map(_place_document, left.places)],
                "override": left.override,
                "file": left.file,
            }
            for left in made.unplaced
        ],
        "replaced": [*map(_place_document, made.replaced)],
        "revert": made.revert,
        "broken": [*map(complaint_document, made.broken)],
    }
    return json_text(document)


def _place_document(place: SharedPlace) -> SharedPlaceDocument:
    now, before = (
        "" if value is ABSENT else canonical_text(value) for value in (place.now, place.before)
    )
    return {
        "place": f"{place.file}:{place.line}",
        "now": now,
        "before": before,
        "users": [*map(str, place.users)],
    }


def write_manifests(
    session: Session,
    name: str,
    refs: Sequence[Ref] = (),
    *,
    live: bool = False,
    only_shown: bool = False,
) -> WrittenBack:
    """Edit the manifests so that they declare the state before a run, or only show the edits.

    If the run `last` is a rollback, the run that it rolled back is meant. Raises as
    `states_before`, and InvalidInput where a file cannot be written.
    """
    journal = session.journal(needed=True)
    if name == LAST:
        run = chosen_run(journal, name)
        command, _, undone = run.entry.command.partition(" ")
        if command == ROLLBACK and undone:
            name, refs = undone, refs or [before.ref for before in before_run(journal.entries, run)]
    found = states_before(session, journal, name, refs, live=live)
    back = way_back(session, found)
    files = back.files()
    if not only_shown:
        for file in files:
            path = file.script.path
            replace_text(path, file.name, back.roots, before=file.before, after=file.after)
    left = {left.ref: left for left in left_of(back)} | {
        change.ref: Unplaced(ref=change.ref, why=words_of(change.reasons[0], change.ref))
        for change in found.blocked
    }
    entry = found.run.entry
    commit = entry.commit if is_apply(found.run) and COMMIT.fullmatch(entry.commit) else ""
    return WrittenBack(
        environment=session.name,
        run=entry.run,
        files=files,
        unplaced=[left[ref] for ref in sorted(left)],
        replaced=back.replaced(),
        commit=commit[:SHORT_COMMIT],
        broken=back.broken,
        only_shown=only_shown,
    )


def check_run(text: str) -> None:
    """Raise UsageError unless the input `run` may be the id of a run, or `last`."""
    if not re.fullmatch(r"[A-Za-z0-9-]+", text):
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


_OF_PLANS = ("text", "json", "markdown", "html")
_OF_APPLIES = ("text", "json", "junit")


def _refs(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[Ref, ...]:
    found = [(text, Ref.parse(text)) for text in given]
    for text, ref in found:
        if ref is None:
            raise click.BadParameter(f"`{text}` is not of the form Kind/name")
    return tuple(ref for _, ref in found if ref is not None)


@click.command
@click.argument("run")
@click.argument("refs", nargs=-1, metavar="[REF]...", callback=_refs)
@options.remembering
@options.formats(*dict.fromkeys((*_OF_APPLIES, *_OF_PLANS)))
@click.option("--dry-run", is_flag=True, help="Show the plan, and write nothing.")
@click.option(
    "--write",
    is_flag=True,
    help="Edit the manifests so that they declare the state before RUN; the "
    "service and the journal are not written.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --dry-run: also write the plan to FILE, so that `rollback --plan "
    "FILE` applies just that plan.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Restore what was live right before the run, instead of what was declared.",
)
@consenting
def rollback(  # noqa: PLR0913 - one parameter a flag
    *,
    run: str,
    refs: tuple[Ref, ...],
    options: Options,
    form: str,
    dry_run: bool,
    write: bool,
    out: Path | None,
    live: bool,
    consent: Consent,
    patience: LockTimeout,
) -> int:
    """Restore what was declared before RUN: all that it wrote, or each REF, a Kind/name.

    RUN is the id of a run as `journal history` shows it, or the beginning of only that id, or
    `last` for the last run that wrote something. Manifests stay as they are, so the next apply of
    them brings the change back, unless they are edited before. With --write, the manifests are
    edited to declare the earlier state, and nothing else is done. A rollback is a run as well, and
    can be rolled back.
    """
    if write and out is not None:
        raise UsageError("--out is for a plan, and --write makes none")
    if write:
        if form not in ("text", "json"):
            raise UsageError(f"--format {form} is for a rollback without --write")
        edits = write_manifests(open_target(options), run, refs, live=live, only_shown=dry_run)
        style = stdout_style(verbose=options.verbose)
        text = written_json(edits) if form == "json" else written_text(edits, style)
        return data(text, ending=edits.exit_code)
    if form not in (_OF_PLANS if dry_run else _OF_APPLIES):
        with_or_without = "without" if dry_run else "with"
        raise UsageError(f"--format {form} is for a rollback {with_or_without} --dry-run")
    if out is not None and not dry_run:
        raise UsageError("--out needs --dry-run, which plans and applies nothing")
    prepare = partial(before_of, name=run, refs=refs, live=live)
    if dry_run:
        return _show(open_target(options), prepare, options, form, out)
    check_asked(consent)
    session = replace(open_target(options), prepare=prepare)
    session.journal(needed=True)
    wait_before_lock(session, consent.waits)
    made, applied = plan_and_apply(session, lambda _: consent, "rollback", patience=patience)
    try:
        typed = [run, *map(str, refs), *(["--live"] if live else [])]
        line = from_journal("rollback", shlex.join(typed))
        return report_applied(applied, made, form, verbose=options.verbose, command=line)
    finally:
        outcomes = applied.outcomes if applied is not None else ()
        if not options.quiet and any(isinstance(outcome, Written) for outcome in outcomes):
            _advise(made)


def _show(
    session: Session,
    prepare: Callable[[Session, Journal], Session],
    options: Options,
    form: str,
    out: Path | None,
) -> int:
    if out is not None:
        check_writable(out)
    journal = session.journal(needed=True)
    made = asyncio.run(plan_now(prepare(session, journal), journal.history))
    if out is not None:
        write_private(out, plan_json(made))
    ending = worst(failures_of(made))
    if form == "text" and not options.quiet:
        _advise(made)
    return data(describe_plan(made, form, session.project, verbose=options.verbose), ending=ending)


def _advise(made: Plan) -> None:
    """Print how to change the manifests, so that the next apply does not undo the rollback."""
    for remark in made.remarks:
        if isinstance(remark, RollsBack):
            words("\n".join(map(safe, after_rollback(remark))))
