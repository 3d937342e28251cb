"""The shapes of what commands print with `--format json`, beside plans and complaints.

They are for schemas/ alone: the documents themselves are made where their text is.
"""

from __future__ import annotations

from typing import Annotated, Literal

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


class InitDocument(_Part):
    """What `init --format json` prints."""

    created: Annotated[list[str], Field(description="Files, by their paths in the folder.")]
    kept: Annotated[list[str], Field(description="Files that were there, and stay as they are.")]
    next: Annotated[list[str], Field(description="Commands to go on with.")]
