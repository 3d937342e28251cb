"""What an apply did, for the pull request and the job's summary.

Foreign text stands only in code spans and fences. Source: pr-experience.md, part 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reconciler.forge.marker import Marker, State
from reconciler.report.applied.text import WORDS, word
from reconciler.report.comment.body import Origin, folded_plan
from reconciler.report.limits import COMMENT_BYTES
from reconciler.report.markup import code, fenced
from reconciler.report.reasons import message_of, ways_out_of
from reconciler.report.safe import safe
from reconciler.resource import InDoubt, Outcome, Plan

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


def applied_comment(result: Result, marker: Marker, origin: Origin, reviewed: str) -> str:
    """Give the comment: what was done, and folded the plan that said so, within the budget."""
    head = f"{marker.line}\n" + (f"{reviewed}\n" if reviewed else "") + applied_markdown(result)
    foot = origin.foot(marker)
    room = COMMENT_BYTES - len((head + foot).encode())
    return head + folded_plan(result.plan, "The plan", room, origin) + foot


def _lines(result: Result) -> Iterator[str]:
    counts = dict.fromkeys(WORDS, 0)
    for outcome in result.outcomes:
        counts[word(outcome)] += 1
    told = [f"{counts[name]:,} {_spoken(name)}" for name in WORDS if counts[name]]
    title = _TITLES.get(result.state, "Not applied to")
    where = code(result.plan.environment, LONGEST_NAME)
    yield f"### {title} {where}: {', '.join(told) or 'nothing was written'}"
    yield ""
    doubtful = [one for one in result.outcomes if isinstance(one, InDoubt)]
    yield from _settling(doubtful, result.plan.environment)
    if result.stopped_by:
        said = [safe(line, LONGEST_LINE) for line in result.stopped_by.splitlines()[:MOST_LINES]]
        yield fenced("text", said)
        yield ""
    yield from _table(result.outcomes)


def _settling(doubtful: Sequence[InDoubt], environment: str) -> Iterator[str]:
    if not doubtful:
        return
    yield "> ⚠️ Nobody knows whether these were created. Look for each, then say what you found:"
    yield ""
    lines: list[str] = []
    for outcome in doubtful[:MOST_SETTLED]:
        where = f"-e {safe(environment, LONGEST_NAME)} {safe(str(outcome.ref), LONGEST_CELL)}"
        settle = f"reconciler journal settle {where}"
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
