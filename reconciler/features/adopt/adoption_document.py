"""The JSON document of an adoption. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from reconciler.document import ABSENT
from reconciler.features.adopt.adoption import (
    Adopted,
    Adoption,
    AdoptionRun,
    AdoptionState,
    Conflict,
    EditedText,
)
from reconciler.features.adopt.adoption_formats import difference_of, notes_on
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


def _resource(adoption: Adoption, run: AdoptionRun) -> AdoptedResource:
    return {
        "ref": str(adoption.ref),
        "state": adoption.state,
        "source": source_document(adoption.source),
        "files": [file.name for file in run.files if adoption.ref in file.refs],
        "fields": [_field(field) for field in adoption.adopted],
        "conflicts": [_conflict(conflict) for conflict in adoption.conflicts],
        "lastEdit": {"who": adoption.last.who, "at": adoption.last.at, "how": adoption.last.how},
        "note": "; ".join(notes_on(adoption)),
    }


def _field(field: Adopted) -> AdoptedField:
    return {**difference_document(difference_of(field)), "gaveWay": field.gave_way}


def _conflict(conflict: Conflict) -> ConflictDocument:
    found: ConflictDocument = {
        "path": list(conflict.path),
        "secret": conflict.holds_secret,
        "resolved": None if conflict.side is None else conflict.side.value,
    }
    if conflict.base is not ABSENT:
        found["base"] = conflict.base
    if conflict.git is not ABSENT:
        found["git"] = conflict.git
    if conflict.live is not ABSENT:
        found["live"] = conflict.live
    return found


def _file(file: EditedText) -> EditedFileDocument:
    return {
        "file": file.name,
        "diff": fix_diff(file.name, file.before, file.after),
        "forks": [{"line": fork.line, "anchor": fork.anchor} for fork in file.forks],
    }
