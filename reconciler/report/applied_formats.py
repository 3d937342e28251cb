"""Reports of an apply: for a terminal, as JSON and JSON Lines, as JUnit XML, and as a comment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Literal, NotRequired, TypeAlias, assert_never, cast

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler import model
from reconciler.document import Difference
from reconciler.model.plan import CommentState
from reconciler.report import sections
from reconciler.report.changes.document import Limited, selection_document
from reconciler.report.ci_documents import JUnitCase, junit
from reconciler.report.counts import describe_kept, describe_selection
from reconciler.report.markdown import LONGEST_NAME, code, fenced, markdown_table, sentence
from reconciler.report.reasons import message_of, remedies_of
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style, fitted, wrapped
from reconciler.report.words import as_sentence, first_few, first_lines, place, plural, value
from reconciler.runtime.advice import on_journal

OutcomeWord: TypeAlias = Literal[
    "written", "unchanged", "refused", "unconfirmed", "skipped", "inDoubt"
]
_WORDS: Mapping[type[model.Outcome], tuple[OutcomeWord, Colour]] = {
    model.Written: ("written", Colour.GREEN),
    model.Unchanged: ("unchanged", Colour.DIM),
    model.Refused: ("refused", Colour.RED),
    model.Unconfirmed: ("unconfirmed", Colour.MAGENTA),
    model.Skipped: ("skipped", Colour.YELLOW),
    model.InDoubt: ("inDoubt", Colour.MAGENTA),
}
"""The name of each outcome in JSON, and its colour."""


def word(outcome: model.Outcome) -> OutcomeWord:
    """Return an outcome's name in JSON."""
    return _WORDS[type(outcome)][0]


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
            sections.ToldWatchersDocument,
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
    """The first line of `apply --format jsonl`, unless nothing is to be written."""

    begun: BegunDocument


@with_config(ConfigDict(extra="forbid"))
class OutcomeLine(TypedDict):
    """The line of an outcome, printed as soon as it is known."""

    outcome: OutcomeDocument


@with_config(ConfigDict(extra="forbid"))
class EndedLine(TypedDict):
    """The last line of `apply --format jsonl`."""

    ended: EndedDocument


AppliedLine: TypeAlias = Annotated[
    BegunLine | OutcomeLine | EndedLine,
    Field(description="A line of what `apply --format jsonl` prints."),
]


def begun_line(plan: model.Plan) -> str:
    """Return the line that is printed before the first write."""
    total = sum(change.action.is_to_do for change in plan.changes)
    begun = BegunDocument(
        environment=plan.environment, target=plan.target, digest=plan.digest, total=total
    )
    return json_text(BegunLine(begun=begun), one_line=True)


def outcome_json(outcome: model.Outcome, plan: model.Plan) -> str:
    """Return the line of an outcome."""
    return json_text(OutcomeLine(outcome=_outcome(outcome, plan)), one_line=True)


def ended_line(
    outcomes: Sequence[model.Outcome], digest: str, selected: model.Selected | None = None
) -> str:
    """Return the last line."""
    ended: EndedDocument = {"summary": counts_of(outcomes), "digest": digest}
    if selected is not None:
        ended["selection"] = selection_document(selected)
    return json_text(EndedLine(ended=ended), one_line=True)


def applied_json(outcomes: Sequence[model.Outcome], plan: model.Plan) -> str:
    """Return the JSON of schemas/applied.schema.json, ending in a line break."""
    document: AppliedDocument = {
        "summary": counts_of(outcomes),
        "outcomes": [_outcome(outcome, plan) for outcome in outcomes],
        "digest": plan.digest,
    }
    if plan.selected is not None:
        document["selection"] = selection_document(plan.selected)
    return json_text(document)


def _outcome(outcome: model.Outcome, plan: model.Plan) -> OutcomeDocument:
    document: OutcomeDocument = {
        "ref": str(outcome.ref),
        "outcome": word(outcome),
        "remoteId": getattr(outcome, "remote_id", None),
        "message": message_of(outcome),
    }
    if remedies := remedies_of(outcome):
        document["waysOut"] = [*remedies]
    if (watchers := sections.reported_watchers(outcome, plan)) is not None:
        document["watchedBy"] = watchers
    return document


def counts_of(outcomes: Sequence[model.Outcome]) -> OutcomeCounts:
    """Return the number of outcomes of each word."""
    counts = Counter(map(word, outcomes))
    return cast("OutcomeCounts", {name: counts[name] for name, _ in _WORDS.values()})


NOTHING: Mapping[model.Ref, str] = MappingProxyType({})
MOST_REWRITTEN = 5
MOST_NAMED = 10
MOST_REASONS = 5


def outcome_line(outcome: model.Outcome, style: Style, alerts: Mapping[str, model.Ref]) -> str:
    """Return the line of an outcome, streamed during the run, and a line for each remedy.

    `alerts` are the known alerts by id, in lower case.
    """
    name, colour = _WORDS[type(outcome)]
    message = message_of(outcome)
    if message and isinstance(outcome, model.Written) and outcome.told.alerts:
        message += (
            f": {', '.join(sections.describe_alert(id_, alerts) for id_ in outcome.told.alerts)}"
        )
    note = f": {safe(message)}" if message else ""
    known = ""
    if isinstance(outcome, model.Written) and outcome.remote_id is not None:
        known = style.paint(f" ({safe(str(outcome.remote_id))})", Colour.DIM)
    sign = style.paint(_spoken(name).ljust(9), colour)
    line = f"  {sign} {safe(str(outcome.ref))}{known}{note}"
    return "\n".join((line, *(f"      - {safe(remedy)}" for remedy in remedies_of(outcome))))


def applied_text(
    outcomes: Sequence[model.Outcome],
    rewritten: Mapping[model.Ref, tuple[Difference, ...]],
    style: Style,
    overtaken: Mapping[model.Ref, model.Overtaken] | None = None,
    plan: model.Plan | None = None,
    *,
    unproved: Mapping[model.Ref, str] = NOTHING,
) -> str:
    """Return the closing report of an apply, ending in a line break; commands are never broken."""
    lines = [
        fitted(style.paint(safe(f"{ref}: {said}."), Colour.RED), style)
        for ref, said in unproved.items()
    ]
    for ref, found in rewritten.items():
        count = plural(len(found), "field")
        head = f"The service stored {count} of {ref} otherwise than sent:"
        lines += _field_lines(head, Colour.CYAN, found, "stored", style)
    for ref, by in (overtaken or {}).items():
        who = f" ({by.edit})" if by.edit.told else ""
        count = plural(len(by.differences), "field")
        head = f"Another writer changed {count} of {ref} right after it was written{who}:"
        lines += _field_lines(head, Colour.RED, by.differences, "live", style)
    counted = _counted(outcomes, "d").capitalize()
    if not counted:
        kept = describe_kept(plan.changes) if plan is not None else ""
        counted = f"Nothing to do: {kept}" if kept else "Nothing to do"
    lines.append(style.paint(counted, Colour.BOLD) + ".")
    lines.extend(fitted(line, style) for line in _not_done_lines(outcomes))
    lines.extend(_planned_lines(plan, outcomes, style) if plan is not None else ())
    doubtful = (str(outcome.ref) for outcome in outcomes if isinstance(outcome, model.InDoubt))
    for name in doubtful:
        settle = safe(on_journal("settle", name))
        lines += (
            f"Look for {safe(name)}, then run:",
            f"  {settle} --id ID    or    --never-happened",
        )
    return "\n".join(lines) + "\n"


def renamed_text(renamed: Mapping[model.Ref, model.Ref], style: Style) -> str:
    """Return which resources the journal knows by another name from now on, "" for none."""
    lines = [f"{ref} is what {was} was, and called so from now on." for ref, was in renamed.items()]
    if len(lines) > MOST_NAMED:
        lines[MOST_NAMED:] = [f"{plural(len(lines) - MOST_NAMED, 'other resource')} renamed alike."]
    return "".join(f"{fitted(safe(line), style)}\n" for line in lines)


def _planned_lines(
    plan: model.Plan, outcomes: Sequence[model.Outcome], style: Style
) -> Iterator[str]:
    """Yield who watches the written resources, and what the selection left out."""
    for line in sections.reported_watchers_text(outcomes, plan):
        yield from wrapped(line, style, Colour.CYAN, margin="", hang="  ")
    if plan.selected is not None:
        yield fitted(as_sentence(safe(describe_selection(plan.selected))), style)


def _not_done_lines(outcomes: Sequence[model.Outcome]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for outcome in outcomes:
        if isinstance(outcome, model.Skipped):
            by_reason.setdefault(outcome.message, []).append(safe(str(outcome.ref)))
    for reason, names in list(by_reason.items())[:MOST_REASONS]:
        yield f"Not done ({safe(reason)}): {first_few(names, MOST_NAMED)}"
    if len(by_reason) > MOST_REASONS:
        rest = sum(len(names) for names in list(by_reason.values())[MOST_REASONS:])
        yield f"Not done for other reasons: {plural(rest, 'resource')}"


def _field_lines(
    head: str, colour: Colour, found: Sequence[Difference], now: str, style: Style
) -> Iterator[str]:
    yield fitted(style.paint(safe(head), colour), style)
    room = max(20, style.width // 3)

    def line(difference: Difference) -> str:
        before, after = value(difference.before, room), value(difference.after, room)
        return fitted(f"  {place(difference.path)}: sent {before}, {now} {after}", style)

    yield from first_lines(found, line, MOST_REWRITTEN, "  and {} more")


_SUITE = "reconciler apply"


def applied_junit(plan: model.Plan, outcomes: Sequence[model.Outcome]) -> str:
    """Return the XML, ending in a line break.

    A refused write is a failure, a write in doubt or unconfirmed is an error, and a write that was
    not reached is skipped.
    """
    known = {outcome.ref: outcome for outcome in outcomes}
    return junit(_SUITE, [_case(change, known.get(change.ref)) for change in plan.declared])


def _case(change: model.Change, outcome: model.Outcome | None) -> JUnitCase:
    passed = JUnitCase(*change.ref, file=change.source.file if change.source is not None else "")
    match outcome:
        case None if change.action is model.Action.KEEP:
            return passed
        case None:
            return replace(passed, state="skipped", message="the run ended before it")
        case model.Written(message=message) | model.Unchanged(message=message):
            return replace(passed, details=(message,) if message else ())
        case model.Refused():
            message, details = message_of(outcome), remedies_of(outcome)
            return replace(passed, state="failure", message=message, details=details)
        case model.Skipped(message=message):
            return replace(passed, state="skipped", message=message)
        case model.InDoubt(message=message) | model.Unconfirmed(message=message):
            return replace(passed, state="error", message=message)
        case _:
            assert_never(outcome)


MOST_ROWS = 30
MOST_SETTLED = 10
MOST_LINES = 10
LONGEST_CELL = 120
LONGEST_LINE = 300
_FIRST = ("inDoubt", "unconfirmed", "refused", "skipped", "written", "unchanged")
_TITLES: dict[CommentState, str] = {
    "applied": "Applied to",
    "partial": "Applied in part to",
    "in-doubt": "In doubt at",
    "no-changes": "Nothing to apply to",
}


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """The result of an apply: each change's outcome, and what stopped the run, "" for nothing."""

    plan: model.Plan
    outcomes: Sequence[model.Outcome]
    state: CommentState
    stopped_by: str = ""


def applied_markdown(result: ApplyResult) -> str:
    """Return title, outcomes with failures first, and how to settle creates in doubt.

    Ends in a line break; always below 50,000 bytes.
    """
    return "\n".join(_lines(result)) + "\n"


def _lines(result: ApplyResult) -> Iterator[str]:
    # What was written in an emergency comes before all else.
    for guard in result.plan.guarded:
        if guard.emergency:
            said = f"{guard.message}. Reason: {guard.emergency}"
            yield f"> 🚨 **Break-glass**: {sentence(said, LONGEST_LINE)}"
            yield ""
    title = _TITLES.get(result.state, "Not applied to")
    where = code(result.plan.environment, LONGEST_NAME)
    yield f"### {title} {where}: {_counted(result.outcomes, ',') or 'nothing was written'}"
    yield ""
    if given := sections.consents_markdown(result.plan):
        yield given
        yield ""
    if result.plan.selected is not None:
        yield sentence(describe_selection(result.plan.selected), LONGEST_LINE)
        yield ""
    doubtful = [outcome for outcome in result.outcomes if isinstance(outcome, model.InDoubt)]
    yield from _settling(doubtful, result.plan.environment)
    if result.stopped_by:
        lines = [safe(line, LONGEST_LINE) for line in result.stopped_by.splitlines()[:MOST_LINES]]
        yield fenced("text", lines)
        yield ""
    yield from sections.reported_watchers_markdown(result.outcomes, result.plan)
    ordered = sorted(result.outcomes, key=lambda outcome: _FIRST.index(word(outcome)))
    yield from markdown_table(("outcome", "resource", "message"), ordered, _row, MOST_ROWS)


def _settling(doubtful: Sequence[model.InDoubt], environment: str) -> Iterator[str]:
    if not doubtful:
        return
    yield "> ⚠️ It is unknown whether these were created. Look for each, then say what you found:"
    yield ""
    named = safe(environment, LONGEST_NAME)

    def ways(outcome: model.InDoubt) -> str:
        settle = on_journal("settle", safe(str(outcome.ref), LONGEST_CELL), environment=named)
        return f"{settle} --id ID\n{settle} --never-happened"

    yield fenced("sh", [*first_lines(doubtful, ways, MOST_SETTLED, "# and {} more")])
    yield ""


def _row(outcome: model.Outcome) -> tuple[str, str, str]:
    text = "; ".join(filter(None, (message_of(outcome), *remedies_of(outcome))))
    message = code(text, LONGEST_CELL) if text else ""
    return _spoken(word(outcome)), code(str(outcome.ref), LONGEST_NAME), message


def _spoken(name: str) -> str:
    return "in doubt" if name == "inDoubt" else name


def _counted(outcomes: Sequence[model.Outcome], form: str) -> str:
    counts = Counter(map(word, outcomes))
    words = (
        f"{counts[name]:{form}} {_spoken(name)}" for name, _ in _WORDS.values() if counts[name]
    )
    return ", ".join(words)
