"""What was adopted, as JSON. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from reconciler.document import ABSENT
from reconciler.model import Adopted, Adoption, AdoptionRun, AdoptionState, Conflict, EditedText
from reconciler.report.adoption_formats import difference_of, notes_on
from reconciler.report.changes.document import (
    FieldDocument,
    Limited,
    SourceDocument,
    difference_document,
    selection_document,
    source_document,
)
from reconciler.report.complaints.document import fix_diff
from reconciler.report.safe import json_text


@with_config(ConfigDict(extra="forbid"))
class AdoptionCounts(TypedDict):
    """How many resources ended in which way."""

    adopted: int
    same: Annotated[int, Field(description="Nobody edited them live.")]
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
    """One field that was edited live; in `before` is what was applied."""

    gaveWay: Annotated[  # noqa: N815 - as JSON has it
        str, Field(description="The expression that gave way, if one did.")
    ]


@with_config(ConfigDict(extra="forbid"))
class ConflictDocument(TypedDict):
    """A field that git and live both changed; a side that has nothing there is left out."""

    path: list[str | int]
    base: NotRequired[Annotated[JsonValue, Field(description="What was last applied or adopted.")]]
    git: NotRequired[JsonValue]
    live: NotRequired[JsonValue]
    secret: Annotated[bool, Field(description="A secret belongs there: only git can be right.")]
    resolved: Literal["ours", "theirs"] | None


@with_config(ConfigDict(extra="forbid"))
class LastEditDocument(TypedDict):
    """The last edit as the service tells it, empty for what it does not tell."""

    who: str
    at: str
    how: str


@with_config(ConfigDict(extra="forbid"))
class AdoptedResource(TypedDict):
    """One resource, and the files that its edits are written into."""

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
    """An alias that was written out."""

    line: int
    anchor: str


@with_config(ConfigDict(extra="forbid"))
class EditedFileDocument(TypedDict):
    """One file, and what changes in it, as `patch -p1` takes it."""

    file: str
    diff: str
    forks: list[ForkDocument]


@with_config(ConfigDict(extra="forbid"))
class AdoptionDocument(TypedDict):
    """What `adopt --format json` prints."""

    formatVersion: Literal[1]
    environment: str
    target: str
    dryRun: bool
    summary: AdoptionCounts
    selection: NotRequired[Limited]
    resources: list[AdoptedResource]
    files: list[EditedFileDocument]


def adopted_json(run: AdoptionRun) -> str:
    """Give the JSON of schemas/adopted.schema.json, ending in a line break."""
    document: AdoptionDocument = {
        "formatVersion": 1,
        "environment": run.environment,
        "target": run.target,
        "dryRun": run.only_shown,
        "summary": _counts(run),
        "resources": [_resource(adoption, run) for adoption in run.adoptions],
        "files": [_file(file) for file in run.files],
    }
    if run.selected is not None:
        document["selection"] = selection_document(run.selected)
    return json_text(document)


def _counts(run: AdoptionRun) -> AdoptionCounts:
    found = Counter(adoption.state for adoption in run.adoptions)
    return {
        "adopted": found["adopted"],
        "same": found["same"],
        "conflict": found["conflict"],
        "refused": found["refused"],
        "blocked": found["blocked"],
        "unread": found["unread"],
        "gone": found["gone"],
        "unseen": found["unseen"],
        "ignored": run.ignored,
    }


def _resource(one: Adoption, run: AdoptionRun) -> AdoptedResource:
    return {
        "ref": str(one.ref),
        "state": one.state,
        "source": source_document(one.source),
        "files": [file.name for file in run.files if one.ref in file.refs],
        "fields": [_field(field) for field in one.adopted],
        "conflicts": [_conflict(conflict) for conflict in one.conflicts],
        "lastEdit": {"who": one.last.who, "at": one.last.at, "how": one.last.how},
        "note": "; ".join(notes_on(one)),
    }


def _field(one: Adopted) -> AdoptedField:
    return {**difference_document(difference_of(one)), "gaveWay": one.gave_way}


def _conflict(one: Conflict) -> ConflictDocument:
    found: ConflictDocument = {
        "path": list(one.path),
        "secret": one.holds_secret,
        "resolved": None if one.side is None else one.side.value,
    }
    if one.base is not ABSENT:
        found["base"] = one.base
    if one.git is not ABSENT:
        found["git"] = one.git
    if one.live is not ABSENT:
        found["live"] = one.live
    return found


def _file(one: EditedText) -> EditedFileDocument:
    return {
        "file": one.name,
        "diff": fix_diff(one.name, one.before, one.after),
        "forks": [{"line": fork.line, "anchor": fork.anchor} for fork in one.forks],
    }
