"""The Markdown report of an apply, for the comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reconciler.model import (
    InDoubt,
    Outcome,
    Plan,
)
from reconciler.model.outcome import CommentState
from reconciler.report.applied.document import WORDS, counts_of, word
from reconciler.report.counts import describe_selection
from reconciler.report.markdown import (
    LONGEST_NAME,
    code,
    fenced,
)
from reconciler.report.reasons import message_of, remedies_of
from reconciler.report.safe import safe
from reconciler.report.watcher_formats import (
    reported_watchers_markdown,
)
from reconciler.runtime.advice import on_journal

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

    plan: Plan
    outcomes: Sequence[Outcome]
    state: CommentState
    stopped_by: str = ""


def applied_markdown(result: ApplyResult) -> str:
    """Return title, outcomes with failures first, and how to settle creates in doubt.

    Ends in a line break; always below 50,000 bytes.
    """
    return "\n".join(_lines(result)) + "\n"


def _lines(result: ApplyResult) -> Iterator[str]:
    counts = counts_of(result.outcomes)
    counted = [f"{counts[name]:,} {_spoken(name)}" for name in WORDS if counts[name]]
    title = _TITLES.get(result.state, "Not applied to")
    where = code(result.plan.environment, LONGEST_NAME)
    yield f"### {title} {where}: {', '.join(counted) or 'nothing was written'}"
    yield ""
    if result.plan.selected is not None:
        yield f"{code(describe_selection(result.plan.selected), LONGEST_LINE)}"
        yield ""
    doubtful = [outcome for outcome in result.outcomes if isinstance(outcome, InDoubt)]
    yield from _settling(doubtful, result.plan.environment)
    if result.stopped_by:
        lines = [safe(line, LONGEST_LINE) for line in result.stopped_by.splitlines()[:MOST_LINES]]
        yield fenced("text", lines)
        yield ""
    yield from reported_watchers_markdown(result.outcomes, result.plan)
    yield from _table(result.outcomes)


def _settling(doubtful: Sequence[InDoubt], environment: str) -> Iterator[str]:
    if not doubtful:
        return
    yield "> ⚠️ It is unknown whether these were created. Look for each, then say what you found:"
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
    ordered = sorted(outcomes, key=lambda outcome: _FIRST.index(word(outcome)))
    for outcome in ordered[:MOST_ROWS]:
        text = "; ".join(filter(None, (message_of(outcome), *remedies_of(outcome))))
        message = code(text, LONGEST_CELL) if text else ""
        yield f"| {_spoken(word(outcome))} | {code(str(outcome.ref), LONGEST_NAME)} | {message} |"
    if len(outcomes) > MOST_ROWS:
        yield f"| | and {len(outcomes) - MOST_ROWS:,} more | |"
    yield ""


def _spoken(name: str) -> str:
    return "in doubt" if name == "inDoubt" else name
