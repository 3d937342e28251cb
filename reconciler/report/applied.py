"""What an apply did: for a terminal, as JSON, JUnit and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal, NotRequired, TypeAlias, assert_never, get_args

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.advice import on_journal
from reconciler.document import Difference
from reconciler.forge.comments import State
from reconciler.report.changes.document import Limited, selection_document
from reconciler.report.junit import Case, junit
from reconciler.report.markdown import code, fenced
from reconciler.report.reasons import message_of, ways_out_of
from reconciler.report.safe import json_text, safe
from reconciler.report.signals.watchers import (
    ToldWatchersDocument,
    told_document,
    told_markdown,
    told_text,
    told_watchers,
)
from reconciler.report.table import Colour, Style, fitted, wrapped
from reconciler.report.words import place, plural, selection_words, value
from reconciler.resource import (
    NO_SIGNALS,
    Action,
    Change,
    InDoubt,
    Outcome,
    Overtaken,
    Plan,
    Ref,
    Refused,
    Selected,
    Signals,
    Skipped,
    Unchanged,
    Unconfirmed,
    Written,
)

OutcomeWord: TypeAlias = Literal[
    "written", "unchanged", "refused", "unconfirmed", "skipped", "inDoubt"
]
WORDS: tuple[OutcomeWord, ...] = get_args(OutcomeWord)
_COLOURS: dict[OutcomeWord, Colour] = {
    "written": Colour.GREEN,
    "unchanged": Colour.DIM,
    "refused": Colour.RED,
    "unconfirmed": Colour.MAGENTA,
    "skipped": Colour.YELLOW,
    "inDoubt": Colour.MAGENTA,
}
NOTHING: Mapping[Ref, str] = MappingProxyType({})
MOST_REWRITTEN = 5
MOST_NAMED = 10
MOST_REASONS = 5


def word(outcome: Outcome) -> OutcomeWord:
    """Give an outcome's name in JSON."""
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


def outcome_line(outcome: Outcome, style: Style) -> str:
    """Give one outcome as it is streamed while the run goes on; a line each for the ways out."""
    name = word(outcome)
    message = message_of(outcome)
    said = f": {safe(message)}" if message else ""
    known = ""
    if isinstance(outcome, Written) and outcome.remote_id is not None:
        known = style.paint(f" ({safe(str(outcome.remote_id))})", Colour.DIM)
    spoken = "in doubt" if name == "inDoubt" else name
    line = f"  {style.paint(spoken.ljust(9), _COLOURS[name])} {safe(str(outcome.ref))}{known}{said}"
    return "\n".join((line, *(f"      - {safe(way)}" for way in ways_out_of(outcome))))


def applied_text(
    outcomes: Sequence[Outcome],
    rewritten: Mapping[Ref, tuple[Difference, ...]],
    style: Style,
    overtaken: Mapping[Ref, Overtaken] | None = None,
    plan: Plan | None = None,
    *,
    unproved: Mapping[Ref, str] = NOTHING,
) -> str:
    """Give the closing words of an apply, ending in a line break; commands to copy stay whole."""
    lines: list[str] = []
    for ref, said in unproved.items():
        lines.append(fitted(style.paint(safe(f"{ref}: {said}."), Colour.RED), style))
    for ref, found in rewritten.items():
        lines.extend(_rewritten_lines(ref, found, style))
    for ref, by in (overtaken or {}).items():
        lines.extend(_overtaken_lines(ref, by, style))
    counts = _counts(outcomes)
    spoken = {"inDoubt": "in doubt"}
    words = [f"{counts[name]} {spoken.get(name, name)}" for name in WORDS if counts[name]]
    lines.append(style.paint(", ".join(words).capitalize() or "Nothing to do", Colour.BOLD) + ".")
    lines.extend(fitted(line, style) for line in _not_done_lines(outcomes))
    lines.extend(_planned_lines(plan, outcomes, style) if plan is not None else ())
    for outcome in outcomes:
        if isinstance(outcome, InDoubt):
            lines.append(f"Look for {safe(str(outcome.ref))}, then run:")
            settle = safe(on_journal("settle", str(outcome.ref)))
            lines.append(f"  {settle} --id ID    or    --never-happened")
    return "\n".join(lines) + "\n"


def _planned_lines(plan: Plan, outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """Say of what was planned who watches it, and that it was a part."""
    for told in told_text(outcomes, plan.signals):
        yield from wrapped(told, style, Colour.CYAN, margin="", hang="  ")
    if plan.selected is not None:
        said = safe(selection_words(plan.selected))
        yield fitted(f"{said[0].upper()}{said[1:]}.", style)


def _not_done_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Name what was not done, by the reason why."""
    by_reason: dict[str, list[str]] = {}
    for outcome in outcomes:
        if isinstance(outcome, Skipped):
            by_reason.setdefault(outcome.message, []).append(safe(str(outcome.ref)))
    for reason, names in list(by_reason.items())[:MOST_REASONS]:
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        yield f"Not done ({safe(reason)}): {', '.join(names[:MOST_NAMED])}{more}"
    if len(by_reason) > MOST_REASONS:
        rest = sum(len(names) for names in list(by_reason.values())[MOST_REASONS:])
        yield f"Not done for other reasons: {plural(rest, 'resource')}"


def _rewritten_lines(ref: Ref, found: Sequence[Difference], style: Style) -> Iterator[str]:
    said = f"The service stored {plural(len(found), 'field')} of {ref} otherwise than sent:"
    yield fitted(style.paint(safe(said), Colour.CYAN), style)
    yield from _field_lines(found, "stored", style)


def _overtaken_lines(ref: Ref, by: Overtaken, style: Style) -> Iterator[str]:
    who = f" ({by.edit})" if by.edit.told else ""
    count = plural(len(by.differences), "field")
    said = f"Another writer changed {count} of {ref} right after it was written{who}:"
    yield fitted(style.paint(safe(said), Colour.RED), style)
    yield from _field_lines(by.differences, "live", style)


def _field_lines(found: Sequence[Difference], now: str, style: Style) -> Iterator[str]:
    room = max(20, style.width // 3)
    for difference in found[:MOST_REWRITTEN]:
        before, after = value(difference.before, room), value(difference.after, room)
        yield fitted(f"  {place(difference.path)}: sent {before}, {now} {after}", style)
    if len(found) > MOST_REWRITTEN:
        yield f"  and {len(found) - MOST_REWRITTEN} more"


@with_config(ConfigDict(extra="forbid"))
class OutcomeCounts(TypedDict):
    """How many resources ended in which way."""

    written: int
    unchanged: Annotated[int, Field(description="The service saw nothing to change.")]
    refused: int
    unconfirmed: Annotated[
        int, Field(description="Sent, and perhaps done: the next plan will tell.")
    ]
    skipped: int
    inDoubt: Annotated[int, Field(description="Creates whose answer was lost.")]


@with_config(ConfigDict(extra="forbid"))
class OutcomeDocument(TypedDict):
    """What became of one resource that an apply was to write."""

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
            Field(description="The alerts that watch what was written, where the service tells."),
        ]
    ]


@with_config(ConfigDict(extra="forbid"))
class AppliedDocument(TypedDict):
    """What `apply --format json` prints."""

    summary: OutcomeCounts
    outcomes: list[OutcomeDocument]
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$", description="Of the plan.")]
    selection: NotRequired[Limited]


@with_config(ConfigDict(extra="forbid"))
class BegunDocument(TypedDict):
    """What is about to be written."""

    environment: str
    target: str
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$", description="Of the plan.")]
    total: Annotated[int, Field(description="How many resources will have an outcome.")]


@with_config(ConfigDict(extra="forbid"))
class EndedDocument(TypedDict):
    """What became of all."""

    summary: OutcomeCounts
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$", description="Of the plan.")]
    selection: NotRequired[Limited]


@with_config(ConfigDict(extra="forbid"))
class BegunLine(TypedDict):
    """The first line, unless nothing is to be written."""

    begun: BegunDocument


@with_config(ConfigDict(extra="forbid"))
class OutcomeLine(TypedDict):
    """One line for each outcome, as soon as it is known."""

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
    """Give the line that comes before the first write."""
    total = sum(change.action is not Action.KEEP for change in plan.changes)
    line: BegunLine = {
        "begun": {
            "environment": plan.environment,
            "target": plan.target,
            "digest": plan.digest,
            "total": total,
        }
    }
    return json_text(line, one_line=True)


def outcome_json(outcome: Outcome, signals: Signals) -> str:
    """Give the line of one outcome."""
    line: OutcomeLine = {"outcome": _outcome(outcome, signals)}
    return json_text(line, one_line=True)


def ended_line(outcomes: Sequence[Outcome], digest: str, selected: Selected | None = None) -> str:
    """Give the line that comes last."""
    ended: EndedDocument = {"summary": _counts(outcomes), "digest": digest}
    if selected is not None:
        ended["selection"] = selection_document(selected)
    line: EndedLine = {"ended": ended}
    return json_text(line, one_line=True)


def applied_json(
    outcomes: Sequence[Outcome],
    digest: str,
    selected: Selected | None = None,
    signals: Signals = NO_SIGNALS,
) -> str:
    """Give the JSON of schemas/applied.schema.json, ending in a line break."""
    document: AppliedDocument = {
        "summary": _counts(outcomes),
        "outcomes": [_outcome(outcome, signals) for outcome in outcomes],
        "digest": digest,
    }
    if selected is not None:
        document["selection"] = selection_document(selected)
    return json_text(document)


def _outcome(outcome: Outcome, signals: Signals) -> OutcomeDocument:
    document: OutcomeDocument = {
        "ref": str(outcome.ref),
        "outcome": word(outcome),
        "remoteId": outcome.remote_id if isinstance(outcome, Written | Unchanged) else None,
        "message": message_of(outcome),
    }
    if ways_out := ways_out_of(outcome):
        document["waysOut"] = [*ways_out]
    if (told := told_watchers(outcome, signals)) is not None:
        document["watchedBy"] = told_document(told)
    return document


def _counts(outcomes: Sequence[Outcome]) -> OutcomeCounts:
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


_SUITE = "reconciler apply"


def applied_junit(plan: Plan, outcomes: Sequence[Outcome]) -> str:
    """Give the XML, ending in a line break.

    What was refused has failed, what is in doubt or unconfirmed is an error, and what was not
    reached is skipped.
    """
    known = {outcome.ref: outcome for outcome in outcomes}
    return junit(_SUITE, [_case(change, known.get(change.ref)) for change in plan.changes])


def _case(change: Change, outcome: Outcome | None) -> Case:
    kind, name = change.ref
    file = change.manifest.source.file
    match outcome:
        case None if change.action is Action.KEEP:
            return Case(kind, name, file=file)
        case None:
            return Case(kind, name, "skipped", "the run ended before it", file=file)
        case Written(message=said) | Unchanged(message=said):
            return Case(kind, name, details=(said,) if said else (), file=file)
        case Refused():
            ways_out = ways_out_of(outcome)
            return Case(kind, name, "failure", message_of(outcome), details=ways_out, file=file)
        case Skipped(message=said):
            return Case(kind, name, "skipped", said, file=file)
        case InDoubt(message=said) | Unconfirmed(message=said):
            return Case(kind, name, "error", said, file=file)
        case _:
            assert_never(outcome)


MOST_ROWS = 30
MOST_SETTLED = 10
MOST_LINES = 10
LONGEST_CELL = 120
LONGEST_NAME = 80
LONGEST_LINE = 300
_FIRST = ("inDoubt", "unconfirmed", "refused", "skipped", "written", "unchanged")
_TITLES: dict[State, str] = {
    "applied": "Applied to",
    "partial": "Applied in part to",
    "in-doubt": "In doubt at",
    "no-changes": "Nothing to apply to",
}


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a plan: each change's outcome, and what stopped the run, "" where nothing."""

    plan: Plan
    outcomes: Sequence[Outcome]
    state: State
    stopped_by: str = ""


def applied_markdown(result: Result) -> str:
    """Give title, outcomes with what went wrong first, and how to settle what is in doubt.

    Ends in a line break; below 50,000 bytes whatever they say.
    """
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Result) -> Iterator[str]:
    counts = _counts(result.outcomes)
    told = [f"{counts[name]:,} {_spoken(name)}" for name in WORDS if counts[name]]
    title = _TITLES.get(result.state, "Not applied to")
    where = code(result.plan.environment, LONGEST_NAME)
    yield f"### {title} {where}: {', '.join(told) or 'nothing was written'}"
    yield ""
    if result.plan.selected is not None:
        yield f"{code(selection_words(result.plan.selected), LONGEST_LINE)}"
        yield ""
    doubtful = [one for one in result.outcomes if isinstance(one, InDoubt)]
    yield from _settling(doubtful, result.plan.environment)
    if result.stopped_by:
        said = [safe(line, LONGEST_LINE) for line in result.stopped_by.splitlines()[:MOST_LINES]]
        yield fenced("text", said)
        yield ""
    yield from told_markdown(result.outcomes, result.plan.signals)
    yield from _table(result.outcomes)


def _settling(doubtful: Sequence[InDoubt], environment: str) -> Iterator[str]:
    if not doubtful:
        return
    yield "> ⚠️ Nobody knows whether these were created. Look for each, then say what you found:"
    yield ""
    lines: list[str] = []
    for outcome in doubtful[:MOST_SETTLED]:
        named = safe(environment, LONGEST_NAME)
        settle = on_journal("settle", safe(str(outcome.ref), LONGEST_CELL), environment=named)
        lines.extend((f"{settle} --id ID", f"{settle} --never-happened"))
    if len(doubtful) > MOST_SETTLED:
        lines.append(f"# and {len(doubtful) - MOST_SETTLED:,} more")
    yield fenced("sh", lines)
    yield ""


def _table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    if not outcomes:
        return
    yield "| outcome | resource | message |"
    yield "|---|---|---|"
    ordered = sorted(outcomes, key=lambda one: _FIRST.index(word(one)))
    for outcome in ordered[:MOST_ROWS]:
        said = "; ".join(filter(None, (message_of(outcome), *ways_out_of(outcome))))
        message = code(said, LONGEST_CELL) if said else ""
        yield f"| {_spoken(word(outcome))} | {code(str(outcome.ref), LONGEST_NAME)} | {message} |"
    if len(outcomes) > MOST_ROWS:
        yield f"| | and {len(outcomes) - MOST_ROWS:,} more | |"
    yield ""


def _spoken(name: str) -> str:
    return "in doubt" if name == "inDoubt" else name
