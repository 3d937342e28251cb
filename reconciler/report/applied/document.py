"""The JSON of an apply, whole and as a stream of events. See schemas/applied.schema.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, TypeAlias, assert_never, get_args

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.model import (
    InDoubt,
    Outcome,
    Plan,
    Refused,
    Selected,
    Skipped,
    Unchanged,
    Unconfirmed,
    Written,
)
from reconciler.report.changes.document import Limited, selection_document
from reconciler.report.reasons import message_of, remedies_of
from reconciler.report.safe import json_text
from reconciler.report.watcher_formats import (
    ToldWatchersDocument,
    reported_watchers,
    reported_watchers_document,
)

OutcomeWord: TypeAlias = Literal[
    "written", "unchanged", "refused", "unconfirmed", "skipped", "inDoubt"
]
WORDS: tuple[OutcomeWord, ...] = get_args(OutcomeWord)


def word(outcome: Outcome) -> OutcomeWord:
    """Return an outcome's name in JSON."""
    match outcome:
        case Written():
            return "written"
        case Unchanged():
            return "unchanged"
        case Refused():
            return "refused"
        case Unconfirmed():
            return "unconfirmed"
        case Skipped():
            return "skipped"
        case InDoubt():
            return "inDoubt"
        case _:
            assert_never(outcome)


@with_config(ConfigDict(extra="forbid"))
class OutcomeCounts(TypedDict):
    """Number of resources with each outcome."""

    written: int
    unchanged: Annotated[int, Field(description="The service saw nothing to change.")]
    refused: int
    unconfirmed: Annotated[
        int, Field(description="Sent, and perhaps done: the next plan will show it.")
    ]
    skipped: int
    inDoubt: Annotated[int, Field(description="Creates without an answer, as it was lost.")]


@with_config(ConfigDict(extra="forbid"))
class OutcomeDocument(TypedDict):
    """The outcome of a resource that an apply was to write."""

    ref: str
    outcome: OutcomeWord
    remoteId: str | int | None
    message: str
    waysOut: NotRequired[
        Annotated[
            list[str],
            Field(default=[], description="What a person can do about it, where that is known."),
        ]
    ]
    watchedBy: NotRequired[
        Annotated[
            ToldWatchersDocument,
            Field(description="The alerts that watch what was written, where that is known."),
        ]
    ]


@with_config(ConfigDict(extra="forbid"))
class AppliedDocument(TypedDict):
    """Output of `apply --format json`."""

    summary: OutcomeCounts
    outcomes: list[OutcomeDocument]
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$", description="Of the plan.")]
    selection: NotRequired[Limited]


@with_config(ConfigDict(extra="forbid"))
class BegunDocument(TypedDict):
    """The writes that are about to begin."""

    environment: str
    target: str
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$", description="Of the plan.")]
    total: Annotated[int, Field(description="How many resources will have an outcome.")]


@with_config(ConfigDict(extra="forbid"))
class EndedDocument(TypedDict):
    """The outcomes of all writes."""

    summary: OutcomeCounts
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$", description="Of the plan.")]
    selection: NotRequired[Limited]


@with_config(ConfigDict(extra="forbid"))
class BegunLine(TypedDict):
    """The first line, unless nothing is to be written."""

    begun: BegunDocument


@with_config(ConfigDict(extra="forbid"))
class OutcomeLine(TypedDict):
    """The line of an outcome, printed as soon as it is known."""

    outcome: OutcomeDocument


@with_config(ConfigDict(extra="forbid"))
class EndedLine(TypedDict):
    """The last line."""

    ended: EndedDocument


AppliedLine: TypeAlias = Annotated[
    BegunLine | OutcomeLine | EndedLine,
    Field(description="A line of what `apply --format jsonl` prints."),
]


def begun_line(plan: Plan) -> str:
    """Return the line that is printed before the first write."""
    total = sum(change.action.is_to_do for change in plan.changes)
    line: BegunLine = {
        "begun": {
            "environment": plan.environment,
            "target": plan.target,
            "digest": plan.digest,
            "total": total,
        }
    }
    return json_text(line, one_line=True)


def outcome_json(outcome: Outcome, plan: Plan) -> str:
    """Return the line of an outcome."""
    line: OutcomeLine = {"outcome": _outcome(outcome, plan)}
    return json_text(line, one_line=True)


def ended_line(outcomes: Sequence[Outcome], digest: str, selected: Selected | None = None) -> str:
    """Return the last line."""
    ended: EndedDocument = {"summary": counts_of(outcomes), "digest": digest}
    if selected is not None:
        ended["selection"] = selection_document(selected)
    line: EndedLine = {"ended": ended}
    return json_text(line, one_line=True)


def applied_json(outcomes: Sequence[Outcome], plan: Plan) -> str:
    """Return the JSON of schemas/applied.schema.json, ending in a line break."""
    document: AppliedDocument = {
        "summary": counts_of(outcomes),
        "outcomes": [_outcome(outcome, plan) for outcome in outcomes],
        "digest": plan.digest,
    }
    if plan.selected is not None:
        document["selection"] = selection_document(plan.selected)
    return json_text(document)


def _outcome(outcome: Outcome, plan: Plan) -> OutcomeDocument:
    document: OutcomeDocument = {
        "ref": str(outcome.ref),
        "outcome": word(outcome),
        "remoteId": outcome.remote_id if isinstance(outcome, Written | Unchanged) else None,
        "message": message_of(outcome),
    }
    if remedies := remedies_of(outcome):
        document["waysOut"] = [*remedies]
    if (watchers := reported_watchers(outcome, plan)) is not None:
        document["watchedBy"] = reported_watchers_document(watchers)
    return document


def counts_of(outcomes: Sequence[Outcome]) -> OutcomeCounts:
    """Return the number of outcomes of each word."""
    counts: OutcomeCounts = {
        "written": 0,
        "unchanged": 0,
        "refused": 0,
        "unconfirmed": 0,
        "skipped": 0,
        "inDoubt": 0,
    }
    for outcome in outcomes:
        counts[word(outcome)] += 1
    return counts
