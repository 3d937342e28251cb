"""Reports of drift: for a terminal, as JSON, and as a comment."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Literal, NotRequired, cast

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.model import Drift, DriftReport, LastEdit
from reconciler.model.plan import DriftCause, DriftState
from reconciler.report.changes.document import (
    FieldDocument,
    Limited,
    SourceDocument,
    difference_document,
    selection_document,
    source_document,
)
from reconciler.report.changes.field_changes import diff_lines, drift_changes, subject_lines
from reconciler.report.counts import drift_summary
from reconciler.report.labels import spoken_place
from reconciler.report.markdown import (
    COMMENT_BYTES,
    WHOLE_DRIFT,
    Fold,
    code,
    markdown_table,
    sentence,
    with_folds,
)
from reconciler.report.reasons import WAYS, describe_remedy, drift_age, drift_note, look_notes
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style, fitted, item_lines, wrapped
from reconciler.report.words import as_sentence, first_lines


@with_config(ConfigDict(extra="forbid"))
class DriftCounts(TypedDict):
    """Number of resources in each state."""

    same: int
    drifted: int
    gone: int
    unread: Annotated[int, Field(description="They could not be read.")]
    unseen: Annotated[int, Field(description="The API cannot show them.")]
    unapplied: NotRequired[
        Annotated[int, Field(default=0, description="The journal has no write of them.")]
    ]


@with_config(ConfigDict(extra="forbid"))
class EditDocument(TypedDict):
    """The last edit of a resource, as far as the service reports it."""

    who: NotRequired[str]
    at: NotRequired[str]
    how: NotRequired[str]
    revision: NotRequired[str]


@with_config(ConfigDict(extra="forbid"))
class IgnoredDocument(TypedDict):
    """A difference that `driftIgnore:` expects, with the rule and its reason."""

    field: FieldDocument
    rule: str
    reason: str


@with_config(ConfigDict(extra="forbid"))
class WayOutDocument(TypedDict):
    """A remedy for drift: a command, and the whole sentence."""

    way: Literal["put-back", "take-over"]
    command: str
    said: str


@with_config(ConfigDict(extra="forbid"))
class DriftedDocument(TypedDict):
    """A resource. In `fields`, `before` is the applied value and `after` the live value."""

    ref: str
    state: DriftState
    source: SourceDocument
    fields: list[FieldDocument]
    note: str
    unseen: Annotated[
        list[list[str | int]],
        Field(
            default=[],
            description="Fields that the answer leaves out, so that their values are unknown.",
        ),
    ]
    cause: Annotated[
        DriftCause | None,
        Field(
            description="Who or what made it so: others, or the service by itself, as far as there "
            "is a sure sign; null where nothing drifted."
        ),
    ]
    edit: Annotated[
        EditDocument | None, Field(description="The last edit, as far as the service shows it.")
    ]
    ignored: Annotated[
        list[IgnoredDocument],
        Field(description="Differences that `driftIgnore:` expects; they are not in `fields`."),
    ]
    waysOut: Annotated[list[WayOutDocument], Field(description="What can be done about it.")]
    isNew: Annotated[
        bool | None,
        Field(
            description="Whether it was not so when drift was last remembered; null where it never "
            "was, or nothing was found."
        ),
    ]
    since: Annotated[
        str | None,
        Field(description="When drift was last remembered, of what is new; else since when known."),
    ]


@with_config(ConfigDict(extra="forbid"))
class DriftDocument(TypedDict):
    """Output of `drift --format json`."""

    formatVersion: Literal[1]
    environment: str
    target: str
    drifted: bool
    summary: DriftCounts
    ignored: Annotated[int, Field(description="How many differences `driftIgnore:` expects.")]
    since: Annotated[
        str | None, Field(description="When drift was last remembered; null for never.")
    ]
    new: Annotated[int, Field(description="How many findings were not there then.")]
    notes: Annotated[list[str], Field(description="Rules that silenced nothing.")]
    selection: NotRequired[Limited]
    resources: list[DriftedDocument]


def drift_json(look: DriftReport, environment: str, target: str) -> str:
    """Return the JSON of schemas/drift.schema.json, ending in a line break."""
    drifts = look.found
    document: DriftDocument = {
        "formatVersion": 1,
        "environment": environment,
        "target": target,
        "drifted": any(drift.drifted for drift in drifts),
        "summary": _counts(drifts),
        "ignored": look.ignored,
        "since": look.since or None,
        "new": look.new,
        "notes": [*look_notes(look)],
        "resources": [_resource(drift) for drift in drifts],
    }
    if look.selected is not None:
        document["selection"] = selection_document(look.selected)
    return json_text(document)


def _counts(drifts: Sequence[Drift]) -> DriftCounts:
    states: tuple[DriftState, ...] = ("same", "drifted", "gone", "unread", "unseen", "unapplied")
    found = Counter(drift.state for drift in drifts)
    counts = {state: found[state] for state in states if found[state] or state != "unapplied"}
    return cast("DriftCounts", counts)


def _resource(drift: Drift) -> DriftedDocument:
    return {
        "ref": str(drift.ref),
        "state": drift.state,
        "source": source_document(drift.source),
        "fields": [difference_document(difference) for difference in drift.differences],
        "note": drift_note(drift),
        "unseen": [list(path) for path in drift.unseen],
        "cause": drift.cause,
        "edit": _edit(drift.edit),
        "ignored": [
            {
                "field": difference_document(ignored.difference),
                "rule": ignored.rule,
                "reason": ignored.reason,
            }
            for ignored in drift.ignored
        ],
        "waysOut": [
            {"way": remedy.way, "command": remedy.command, "said": describe_remedy(remedy)}
            for remedy in drift.remedies
        ],
        "isNew": drift.is_new,
        "since": drift.since or None,
    }


def _edit(edit: LastEdit) -> EditDocument | None:
    document = {name: text for name, text in asdict(edit).items() if text}
    return cast("EditDocument", document) if document else None


MOST_FIELDS = 12


def drift_text(look: DriftReport, style: Style) -> str:
    """Return the drift, field by field, and the number of resources that could not be read."""
    lines: list[str] = []
    for drift in look.found:
        if drift.drifted:
            lines.extend((*_lines(drift, style), ""))
        elif drift.state == "unread":
            sign = style.paint(f"x {safe(str(drift.ref))}", Colour.RED)
            note = safe(drift_note(drift))
            lines.extend((fitted(f"  {sign}  {note}", style), ""))
        elif style.verbose:
            words = ": ".join(filter(None, (drift.state, safe(drift_note(drift)))))
            lines.append(style.paint(f"  = {safe(str(drift.ref))}  {words}", Colour.DIM))
            lines.extend(_ignored_lines(drift, style))
    notes = (fitted(f"note: {safe(note)}", style) for note in look_notes(look))
    end = fitted(style.paint(as_sentence(drift_summary(look)), Colour.BOLD), style)
    return "\n".join((*lines, *notes, end)) + "\n"


def _lines(drift: Drift, style: Style) -> Iterator[str]:
    gone = drift.state == "gone"
    sign, colour = ("-", Colour.RED) if gone else ("~", Colour.YELLOW)
    note = drift_note(drift)
    notes = [f"{'gone: ' if gone else ''}{note}"] if note else []
    yield from item_lines(f"{sign} {drift.ref}", notes, style, colour, source=drift.source)
    yield from subject_lines(drift_changes(drift), style, MOST_FIELDS, SIDES)
    if style.verbose:
        yield from _ignored_lines(drift, style)
    for remedy in drift.remedies:
        yield from wrapped(describe_remedy(remedy), style)


def _ignored_lines(drift: Drift, style: Style) -> Iterator[str]:
    for ignored in drift.ignored:
        place = spoken_place(ignored.difference.path, drift.live, drift.applied).words
        yield from wrapped(f"ignored: {place} ({safe(ignored.reason)})", style, Colour.DIM)


MOST_ROWS = 50
LONGEST_CELL = 80
LONGEST_NOTE = 240
LONGEST_TABLE_NOTE = 200
MOST_NOTES = 10
MOST_WAYS = 10
SIDES = "applied", "live"


def drift_markdown(look: DriftReport, environment: str) -> str:
    """Return counts, a table of at most 50 rows and folded diffs, within the size of a comment.

    A diff that does not fit is left out whole.
    """
    found = [drift for drift in look.found if drift.is_finding]
    # No column for the age where drift was never remembered.
    since = ["since"] if any(map(drift_age, found)) else []
    headings = ("state", "resource", "fields:", *since, "note")
    rows = markdown_table(headings, found, partial(_row, aged=bool(since)), MOST_ROWS)
    lines = (*_head(look, environment), *rows, *_ways_out(found))
    folds = [_fold(drift) for drift in found if drift.differences]
    return with_folds("\n".join(lines) + "\n", folds, COMMENT_BYTES, WHOLE_DRIFT)


def _head(look: DriftReport, environment: str) -> Iterator[str]:
    yield f"### Drift of {code(environment, LONGEST_CELL)}: {drift_summary(look)}"
    yield ""
    if notes := [*look_notes(look)]:
        yield from first_lines(
            notes, lambda note: f"- {sentence(note, LONGEST_NOTE)}", MOST_NOTES, "- and {} more"
        )
        yield ""


def _ways_out(found: Sequence[Drift]) -> Iterator[str]:
    if remedied := [drift for drift in found if drift.remedies]:
        rest = "- and {} more: `drift` shows the commands of each"
        yield from first_lines(remedied, _remedies, MOST_WAYS, rest)
        yield ""


def _remedies(drift: Drift) -> str:
    lines = [f"- {code(str(drift.ref), LONGEST_CELL)}"]
    for remedy in drift.remedies:
        words = (remedy.before.replace("`", ""), remedy.command, remedy.after)
        text = " ".join(code(word, LONGEST_NOTE) for word in words if word)
        lines.append(f"  - {WAYS[remedy.way]}: {text}")
    return "\n".join(lines)


def _row(drift: Drift, *, aged: bool) -> tuple[str, ...]:
    fields = f"{len(drift.differences):,}" if drift.differences else ""
    age = (_cell(drift_age(drift), LONGEST_CELL),) if aged else ()
    note = _cell(drift_note(replace(drift, is_new=None)), LONGEST_TABLE_NOTE)
    resource = code(str(drift.ref), LONGEST_CELL)
    return drift.state, resource, fields, *age, note


def _cell(text: str, longest: int) -> str:
    return code(text, longest) if text else ""


def _fold(drift: Drift) -> Fold:
    lines = list(diff_lines(drift_changes(drift), SIDES))
    return Fold(str(drift.ref), drift.state, lines)
