"""Reports of an adoption: for a terminal, and as the body of a pull request. Pure."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple, NotRequired, cast

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from reconciler.document import ABSENT, Json, Missing
from reconciler.features.adopt.adoption import (
    Adoption,
    AdoptionRun,
    AdoptionState,
    Conflict,
    Side,
)
from reconciler.kinds import BY_NAME
from reconciler.model import Drift
from reconciler.report.changes.document import (
    FieldDocument,
    Limited,
    SourceDocument,
    difference_document,
    selection_document,
    source_document,
)
from reconciler.report.changes.field_changes import (
    FieldChange,
    diff_lines,
    drift_changes,
    subject_lines,
)
from reconciler.report.complaints.document import fix_diff
from reconciler.report.counts import describe_selection
from reconciler.report.labels import place_in, spoken_value
from reconciler.report.markdown import (
    COMMENT_BYTES,
    WHOLE_ADOPTION,
    Fold,
    code,
    markdown_table,
    with_folds,
)
from reconciler.report.reasons import words_of
from reconciler.report.safe import json_text, safe
from reconciler.report.table import INDENT, Colour, Style, fitted, item_lines, wrapped
from reconciler.report.words import first_few, plural, value
from reconciler.runtime.advice import on_service

LONGEST_VALUE, LONGEST_CELL = 70, 80
MOST_ROWS, MOST_NAMED = 50, 3
SIDES: Final = "applied", "live"


class _State(NamedTuple):
    sign: str
    colour: Colour
    meaning: str
    counted: str = ""


_STATES: Final[dict[AdoptionState, _State]] = {
    "adopted": _State(
        "~", Colour.YELLOW, "its manifest stays: only the journal takes up what is live"
    ),
    "same": _State("=", Colour.DIM, "as live already"),
    "conflict": _State("!", Colour.RED, "git and live changed the same field", "in conflict"),
    "refused": _State("x", Colour.RED, "its manifest is left as it is", "refused"),
    "blocked": _State("x", Colour.RED, "cannot be adopted as it is", "blocked"),
    "unread": _State("x", Colour.RED, "could not be read", "that could not be read"),
    "gone": _State(
        "-", Colour.RED, "gone live: remove its manifest, or apply to create it again", "gone"
    ),
    "unseen": _State("?", Colour.DIM, "the API cannot show it", "that the API cannot show"),
}
ALSO = (
    "its manifest is that of {names} too, and says this there from now on: what is meant here "
    "alone belongs below `overrides:`"
)
ALL_ALSO = (
    "{count} are those of {names} too, and say this there from now on: what is meant here alone "
    "belongs below `overrides:`"
)
_GIT_WAITS = (
    "it was not edited live since the last apply or adopt, and its manifest says otherwise, as "
    "an apply would write it; where another machine adopted a live edit, get that commit first"
)


def notes_on(adoption: Adoption, *, elsewhere: bool = True) -> list[str]:
    """Return notes on the state of an adoption and its reasons; none where its fields suffice.

    `elsewhere` includes the other environments that the edit changes.
    """
    meaning = _STATES[adoption.state].meaning
    if adoption.git_waits:
        meaning = _GIT_WAITS
    elif adoption.state == "adopted" and not adoption.is_only_noted:
        meaning = ""
    if elsewhere and adoption.elsewhere and adoption.state == "adopted":
        named = ", ".join(map(safe, adoption.elsewhere))
        meaning = f"{meaning}; " * bool(meaning) + ALSO.format(names=named)
    notes = (
        meaning,
        adoption.why,
        *(words_of(reason, adoption.ref) for reason in adoption.reasons),
    )
    return [*filter(None, notes)]


def adopted_text(run: AdoptionRun, style: Style) -> str:
    """Return every adopted field, conflicts with all three values, and the diff."""
    lines: list[str] = []
    for adoption in run.adoptions:
        lines.extend(_lines(adoption, run, style))
    if run.only_shown:
        lines.extend(fix_diff(file.name, file.before, file.after) for file in run.files)
    lines.append(fitted(style.paint(adoption_summary(run), Colour.BOLD), style))
    for names, count in _shared(run).items():
        note = ALL_ALSO.format(count=plural(count, "manifest"), names=", ".join(map(safe, names)))
        lines.extend(wrapped(note, style, Colour.CYAN, margin="", hang="  "))
    return "\n".join(line.removesuffix("\n") for line in lines) + "\n"


def _shared(run: AdoptionRun) -> dict[tuple[str, ...], int]:
    """Return the environments that several edits change too, which are named once, with counts."""
    names = Counter(
        adoption.elsewhere
        for adoption in run.adoptions
        if adoption.elsewhere and adoption.state == "adopted"
    )
    return {others: count for others, count in names.items() if count > 1}


def adoption_summary(run: AdoptionRun) -> str:
    """Return the counts of an adoption in one line."""
    counts: Mapping[str, int] = Counter(adoption.state for adoption in run.adoptions)
    noted = sum(adoption.is_only_noted for adoption in run.adoptions)
    head = f"{plural(counts['adopted'], 'resource')}{' would be' if run.only_shown else ''} adopted"
    head += f" in {plural(len(run.files), 'file')}"
    head += f", {noted:,} of them in the journal alone" if noted else ""
    shown = ((counts[state], known.counted) for state, known in _STATES.items())
    rest = [f"{count} {words}" for count, words in shown if count and words]
    waiting = sum(adoption.git_waits for adoption in run.adoptions)
    same = f"{counts['same'] - waiting} as live already"
    rest += [f"{waiting} that only git changed"] if waiting else []
    ignored = f", {plural(run.ignored, 'difference')} ignored" if run.ignored else ""
    left = f"; {describe_selection(run.selected)}" if run.selected is not None else ""
    return f"{head}; {', '.join([same, *rest])}{ignored}{left}."


def _lines(adoption: Adoption, run: AdoptionRun, style: Style) -> Iterator[str]:
    sign, colour, meaning, _ = _STATES[adoption.state]
    is_quiet = (adoption.state == "same" and not adoption.git_waits) or adoption.is_only_noted
    if (is_quiet and not adoption.conflicts) or (adoption.state == "unseen" and not run.named):
        if style.verbose:
            yield style.paint(f"  {sign} {safe(str(adoption.ref))}  {meaning}", Colour.DIM)
        return
    notes = notes_on(adoption, elsewhere=adoption.elsewhere not in _shared(run))
    if adoption.last.told:
        notes.append(f"live was last changed {adoption.last}")
    yield from item_lines(f"{sign} {adoption.ref}", notes, style, colour, source=adoption.source)
    if adoption.state == "adopted":
        yield from subject_lines(_changes(adoption), style, sides=SIDES)
    yield from _conflict_lines(adoption, style)
    for remark in _remarks(adoption, run):
        yield from wrapped(remark, style, Colour.CYAN)
    yield ""


def _changes(adoption: Adoption) -> tuple[FieldChange, ...]:
    return drift_changes(
        Drift(
            ref=adoption.ref,
            source=adoption.source,
            state="drifted",
            differences=adoption.adopted,
            live=adoption.live,
            applied=adoption.applied,
        )
    )


def _remarks(adoption: Adoption, run: AdoptionRun) -> Iterator[str]:
    """Yield remarks on effects of an edit that a reviewer would not expect."""
    if adoption.unseen and adoption.state == "adopted":
        places = first_few([_place(adoption, path) for path in adoption.unseen], MOST_NAMED)
        yield (
            f"the service does not return {places}: as the manifest has them; what it lacks, add "
            "before the next change"
        )
    for field in adoption.adopted:
        if field.gave_way and adoption.state == "adopted":
            yield f"{_place(adoption, field.path)}: `{field.gave_way}` gave way to the live value"
    for file in run.files:
        for fork in file.forks if adoption.ref in file.refs else ():
            yield f"{file.name}:{fork.line}: `*{fork.anchor}` was written out, as it differs now"


def _place(adoption: Adoption, path: Sequence[str | int]) -> str:
    return place_in(
        BY_NAME.get(adoption.ref.kind), tuple(path), adoption.live, adoption.applied
    ).words


def _conflict_lines(adoption: Adoption, style: Style) -> Iterator[str]:
    for conflict in adoption.conflicts:
        head = f"! {_place(adoption, conflict.path)}{_RESOLVED[conflict.side]}"
        yield INDENT + style.paint(head, Colour.RED)
        for name, side in _sides(conflict):
            yield f"{INDENT}    {name:5} {value(side, LONGEST_VALUE)}"
    if any(conflict.side is None for conflict in adoption.conflicts):
        command = on_service("adopt", f"{shlex.quote(str(adoption.ref))} --theirs")
        advice = f"let live come in: `{command}`, keep git: `--ours`, or edit the manifest"
        if all(conflict.holds_secret for conflict in adoption.conflicts if conflict.side is None):
            advice = "a secret was changed live: give it that value, or keep git with --ours"
        yield from wrapped(advice, style, Colour.CYAN)


_RESOLVED = {Side.OURS: ": git stays", Side.THEIRS: ": live comes in", None: ""}


def _sides(
    conflict: Conflict,
) -> tuple[tuple[Literal["base", "git", "live"], Json | Missing], ...]:
    return ("base", conflict.base), ("git", conflict.git), ("live", conflict.live)


def adopted_markdown(run: AdoptionRun, drift_page: str = "") -> str:
    """Return the body of a pull request: who changed which field, when and where.

    `drift_page` is the name of the artifact with the pictures, "" for none.
    """
    head = "\n".join(_head(run, drift_page)) + "\n"
    folds = [
        _fold(adoption) for adoption in run.adoptions if adoption.adopted or adoption.conflicts
    ]
    return with_folds(head, folds, COMMENT_BYTES, WHOLE_ADOPTION)


def _head(run: AdoptionRun, drift_page: str) -> Iterator[str]:
    yield f"### Live edits of {code(run.environment, LONGEST_CELL)}: {adoption_summary(run)}"
    yield ""
    yield "These edits were made live, and are adopted here: after the merge, nothing is to apply."
    if drift_page:
        yield f"How it looks is drawn in the artifact {code(drift_page, LONGEST_CELL)}."
    yield ""
    found = [
        adoption
        for adoption in run.adoptions
        if adoption.adopted or adoption.state not in ("same", "unseen")
    ]
    headings = ("state", "resource", "fields:", "last changed by", "at", "how")
    yield from markdown_table(headings, found, _row, MOST_ROWS)


def _row(adoption: Adoption) -> tuple[str, ...]:
    last = (adoption.last.who, adoption.last.at, adoption.last.how)
    cells = (code(cell, LONGEST_CELL) if cell else "" for cell in last)
    name = code(str(adoption.ref), LONGEST_CELL)
    return adoption.state, name, f"{len(adoption.adopted):,}", *cells


def _fold(adoption: Adoption) -> Fold:
    lines = list(diff_lines(_changes(adoption), SIDES))
    for conflict in adoption.conflicts:
        lines += [f"! {_place(adoption, conflict.path)}{_RESOLVED[conflict.side]}"]
        lines += [f"!   {name}: {spoken_value(side)}" for name, side in _sides(conflict)]
    if adoption.elsewhere:
        lines += [f"! {note}" for note in notes_on(adoption)]
    return Fold(str(adoption.ref), adoption.state, lines)


@with_config(ConfigDict(extra="forbid"))
class AdoptionCounts(TypedDict):
    """Number of resources in each state."""

    adopted: int
    same: Annotated[int, Field(description="They were not edited live.")]
    conflict: Annotated[int, Field(description="Git and live changed the same field.")]
    refused: Annotated[int, Field(description="Their manifests are left as they are.")]
    blocked: int
    unread: Annotated[int, Field(description="They could not be read.")]
    gone: int
    unseen: Annotated[int, Field(description="The API cannot show them.")]
    ignored: Annotated[
        int, Field(description="How many differences `driftIgnore:` expects; they are left alone.")
    ]


@with_config(ConfigDict(extra="forbid"))
class AdoptedField(FieldDocument):
    """A field that was edited live; `before` holds the applied value."""

    gaveWay: Annotated[  # noqa: N815 - as JSON has it
        str, Field(description="The expression that gave way, if one did.")
    ]


@with_config(ConfigDict(extra="forbid"))
class ConflictDocument(TypedDict):
    """A field that git and live both changed. A side without the field is left out."""

    path: list[str | int]
    base: NotRequired[Annotated[JsonValue, Field(description="What was last applied or adopted.")]]
    git: NotRequired[JsonValue]
    live: NotRequired[JsonValue]
    secret: Annotated[bool, Field(description="A secret belongs there: only git can be right.")]
    resolved: Literal["ours", "theirs"] | None


@with_config(ConfigDict(extra="forbid"))
class LastEditDocument(TypedDict):
    """The last edit as the service reports it. What the service does not report is empty."""

    who: str
    at: str
    how: str


@with_config(ConfigDict(extra="forbid"))
class AdoptedResource(TypedDict):
    """A resource, and the files into which its edits are written."""

    ref: str
    state: AdoptionState
    source: SourceDocument
    files: list[str]
    fields: list[AdoptedField]
    conflicts: list[ConflictDocument]
    lastEdit: LastEditDocument
    note: str


@with_config(ConfigDict(extra="forbid"))
class ForkDocument(TypedDict):
    """A YAML alias that was replaced by a copy of its anchor."""

    line: int
    anchor: str


@with_config(ConfigDict(extra="forbid"))
class EditedFileDocument(TypedDict):
    """A file and its changes, as a diff for `patch -p1`."""

    file: str
    diff: str
    forks: list[ForkDocument]


@with_config(ConfigDict(extra="forbid"))
class AdoptionDocument(TypedDict):
    """Output of `adopt --format json`."""

    formatVersion: Literal[1]
    environment: str
    target: str
    dryRun: bool
    summary: AdoptionCounts
    selection: NotRequired[Limited]
    resources: list[AdoptedResource]
    files: list[EditedFileDocument]


def adopted_json(run: AdoptionRun) -> str:
    """Return the JSON of schemas/adopted.schema.json, ending in a line break."""
    document: AdoptionDocument = {
        "formatVersion": 1,
        "environment": run.environment,
        "target": run.target,
        "dryRun": run.only_shown,
        "summary": _counts(run),
        "resources": [_resource(adoption, run) for adoption in run.adoptions],
        "files": [
            {
                "file": file.name,
                "diff": fix_diff(file.name, file.before, file.after),
                "forks": [{"line": fork.line, "anchor": fork.anchor} for fork in file.forks],
            }
            for file in run.files
        ],
    }
    if run.selected is not None:
        document["selection"] = selection_document(run.selected)
    return json_text(document)


def _counts(run: AdoptionRun) -> AdoptionCounts:
    found = Counter[str](adoption.state for adoption in run.adoptions)
    counts = {state: found[state] for state in AdoptionCounts.__annotations__}
    return cast("AdoptionCounts", {**counts, "ignored": run.ignored})


def _resource(adoption: Adoption, run: AdoptionRun) -> AdoptedResource:
    return {
        "ref": str(adoption.ref),
        "state": adoption.state,
        "source": source_document(adoption.source),
        "files": [file.name for file in run.files if adoption.ref in file.refs],
        "fields": [
            {**difference_document(field), "gaveWay": field.gave_way} for field in adoption.adopted
        ],
        "conflicts": [_conflict(conflict) for conflict in adoption.conflicts],
        "lastEdit": {"who": adoption.last.who, "at": adoption.last.at, "how": adoption.last.how},
        "note": "; ".join(notes_on(adoption)),
    }


def _conflict(conflict: Conflict) -> ConflictDocument:
    found: ConflictDocument = {
        "path": list(conflict.path),
        "secret": conflict.holds_secret,
        "resolved": None if conflict.side is None else conflict.side.value,
    }
    for name, side in _sides(conflict):
        if side is not ABSENT:
            found[name] = side
    return found
