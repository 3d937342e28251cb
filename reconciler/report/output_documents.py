"""The shapes of what commands print with `--format json`, beside plans and complaints.

They are for schemas/ alone: the documents themselves are made where their text is.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.alias_generators import to_camel

from reconciler.report.plan.document import FieldDocument, SourceDocument


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True, extra="forbid")


class OutcomeCounts(_Part):
    """How many resources ended in which way."""

    written: int
    unchanged: Annotated[int, Field(description="The service saw nothing to change.")]
    refused: int
    unconfirmed: Annotated[
        int, Field(description="Sent, and perhaps done: the next plan will tell.")
    ]
    skipped: int
    in_doubt: Annotated[int, Field(description="Creates whose answer was lost.")]


class OutcomeDocument(_Part):
    """What became of one resource that an apply was to write."""

    ref: str
    outcome: Literal["written", "unchanged", "refused", "unconfirmed", "skipped", "inDoubt"]
    remote_id: str | int | None
    message: str
    ways_out: Annotated[
        list[str], Field(description="What a person can do about it, where that is known.")
    ] = []


class AppliedDocument(_Part):
    """What `apply --format json` prints."""

    summary: OutcomeCounts
    outcomes: list[OutcomeDocument]
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$", description="Of the plan.")]


class DriftCounts(_Part):
    """How many resources are in which state."""

    same: int
    drifted: int
    gone: int
    unread: Annotated[int, Field(description="They could not be read.")]
    unseen: Annotated[int, Field(description="The API cannot show them.")]
    unapplied: Annotated[int, Field(description="The journal has no write of them.")] = 0


class DriftedDocument(_Part):
    """One resource; in `fields`, `before` is what was applied and `after` is live."""

    ref: str
    state: Literal["same", "drifted", "gone", "unread", "unseen", "unapplied"]
    source: SourceDocument
    fields: list[FieldDocument]
    note: str
    unseen: Annotated[
        list[list[str | int]],
        Field(description="Fields that the answer leaves out, so that nobody knows what they are."),
    ] = []


class DriftDocument(_Part):
    """What `drift --format json` prints."""

    format_version: Literal[1]
    environment: str
    target: str
    drifted: bool
    summary: DriftCounts
    resources: list[DriftedDocument]


class AdoptionCounts(_Part):
    """How many resources ended in which way."""

    adopted: int
    same: Annotated[int, Field(description="Nobody edited them live.")]
    conflict: Annotated[int, Field(description="Git and live changed the same field.")]
    refused: Annotated[int, Field(description="Their manifests are left as they are.")]
    blocked: int
    unread: Annotated[int, Field(description="They could not be read.")]
    gone: int
    unseen: Annotated[int, Field(description="The API cannot show them.")]


class AdoptedField(FieldDocument):
    """One field that was edited live; in `before` is what was applied."""

    gave_way: Annotated[
        str, Field(description="The expression that the live value stands in place of.")
    ] = ""


class ConflictDocument(_Part):
    """A field that git and live both changed; a side that has nothing there is left out."""

    path: list[str | int]
    base: Annotated[Any, Field(description="What was last applied or adopted.")] = None
    git: Any = None
    live: Any = None
    secret: Annotated[bool, Field(description="A secret belongs there: only git can be right.")]
    resolved: Literal["ours", "theirs"] | None


class LastEditDocument(_Part):
    """The last edit as the service tells it, empty for what it does not tell."""

    who: str
    at: str
    how: str


class AdoptedResource(_Part):
    """One resource, and the files that its edits are written into."""

    ref: str
    state: Literal["adopted", "same", "conflict", "refused", "blocked", "unread", "gone", "unseen"]
    source: SourceDocument
    files: list[str]
    fields: list[AdoptedField]
    conflicts: list[ConflictDocument]
    last_edit: LastEditDocument
    note: str


class ForkDocument(_Part):
    """An alias that was written out."""

    line: int
    anchor: str


class EditedFileDocument(_Part):
    """One file, and what changes in it, as `patch -p1` takes it."""

    file: str
    diff: str
    forks: list[ForkDocument]


class AdoptionDocument(_Part):
    """What `adopt --format json` prints."""

    format_version: Literal[1]
    environment: str
    target: str
    dry_run: bool
    summary: AdoptionCounts
    resources: list[AdoptedResource]
    files: list[EditedFileDocument]


class JournalFindingDocument(_Part):
    """Something to know of a journal, and what to do about it."""

    finding: str
    message: str
    way_out: str


class VerifiedDocument(_Part):
    """What `journal verify --format json` prints."""

    place: str
    environment: str
    target: str
    entries: int
    findings: list[JournalFindingDocument]


class RunDocument(_Part):
    """One run: who applied what, when, from which commit."""

    run: str
    at: str
    actor: str
    command: str
    commit: str
    digest: Annotated[str, Field(description="Of the plan.")]
    outcomes: Annotated[dict[str, int], Field(description="How many ended in which way.")]
    overrides: Annotated[list[str], Field(description="Reasons of --override-guard.")]
    outcome: Annotated[str | None, Field(description="Of the one resource that was asked for.")] = (
        None
    )


class HistoryDocument(RootModel[list[RunDocument]]):
    """What `journal history --format json` prints, oldest first."""


class EntryDocument(_Part):
    """One entry; docs/journal.md tells the fields of each."""

    model_config = ConfigDict(extra="allow")

    entry: Literal[
        "run",
        "started",
        "identified",
        "written",
        "stored",
        "refused",
        "settled",
        "kept",
        "renamed",
        "forgotten",
        "override",
        "moved",
        "arrived",
    ]
    at: str


class EntriesDocument(RootModel[list[EntryDocument]]):
    """What `journal show --format json` prints, oldest first."""


class CheckDocument(_Part):
    """One thing that `doctor` looked at."""

    check: str
    state: Literal["ok", "warning", "failed"]
    detail: str


class DoctorDocument(RootModel[list[CheckDocument]]):
    """What `doctor --format json` prints."""


class AnswerDocument(_Part):
    """One question that `conformance` asked the service."""

    endpoint: int
    question: str
    verdict: Literal["agrees", "differs", "untold"]
    detail: str


class ConformanceDocument(RootModel[list[AnswerDocument]]):
    """What `conformance --format json` prints."""
