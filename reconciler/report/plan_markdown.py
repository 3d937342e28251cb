"""A plan as the comment a reviewer reads in a minute. Source: pr-experience.md, part 3.

Foreign text stands only in code spans and fences, so nothing that a manifest
says can speak as markdown, mention anyone or close what it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reconciler.document import ABSENT, Difference, Json, Missing
from reconciler.report.safe import safe
from reconciler.report.words import evidence, live_document, place, plural, summary, value
from reconciler.resource import Action, Change, Plan

BUDGET_BYTES = 60_000
MOST_ROWS = 50
MOST_NOTES = 20
OPEN_BELOW_LINES = 10
LONGEST_CELL = 80
LONGEST_VALUE = 300

_ORDER = (Action.BLOCKED, Action.UPDATE, Action.ASSERT, Action.CREATE)


def plan_markdown(plan: Plan, budget: int = BUDGET_BYTES) -> str:
    """Give the comment, never above `budget` bytes of UTF-8, ending in a line break.

    What does not fit is left out whole, the largest diffs first; counts and
    table always stay.
    """
    changes = sorted(
        (change for change in plan.changes if change.action is not Action.KEEP),
        key=lambda change: (_ORDER.index(change.action), change.ref),
    )
    head = "\n".join((*_head(plan), *_warnings(plan), *_table(changes)))
    foot = f"\n<sub>digest {code(plan.digest)}</sub>\n"
    diffs = [diff for diff in map(_diff, changes) if diff]
    room = budget - len((head + foot).encode()) - 200
    shown = _fitting(diffs, room)
    left_out = len(diffs) - len(shown)
    notice = ""
    if left_out:
        notice = f"\n{left_out} of {len(diffs)} diffs left out: see the whole plan.\n"
    return head + "\n" + "".join(shown) + notice + foot


def _fitting(diffs: Sequence[str], room: int) -> list[str]:
    sizes = sorted((len(diff.encode()), index) for index, diff in enumerate(diffs))
    kept: set[int] = set()
    for size, index in sizes:
        if size > room:
            break
        room -= size
        kept.add(index)
    return [diff for index, diff in enumerate(diffs) if index in kept]


def _head(plan: Plan) -> Iterator[str]:
    yield f"### Plan for {code(plan.environment)}: {summary(plan)}"
    yield ""
    if not plan.has_changes:
        yield f"{plural(len(plan.changes), 'resource')} as declared."
        yield ""


def _warnings(plan: Plan) -> Iterator[str]:
    warnings = []
    for change in plan.changes:
        if change.destroys:
            names = ", ".join(code(name) for name in change.destroys[:MOST_NOTES])
            more = len(change.destroys) - MOST_NOTES
            rest = f" and {more} more" if more > 0 else ""
            warnings.append(f"{code(str(change.ref))} **destroys for good**: {names}{rest}")
    for one in plan.unsettled:
        said = "is unsettled: the answer to its create was lost, and nothing can be applied"
        warnings.append(f"{code(str(one.ref))} {said}")
    warnings.extend(
        f"{code(str(orphan.ref))} is no longer declared; the API has no delete"
        for orphan in plan.orphans[:MOST_NOTES]
    )
    for warning in warnings:
        yield f"> ⚠️ {warning}"
        yield ">"
    if warnings:
        yield ""


def _table(changes: Sequence[Change]) -> Iterator[str]:
    if not changes:
        return
    yield "| | resource | fields | rests on | |"
    yield "|---|---|---|---|---|"
    for change in changes[:MOST_ROWS]:
        fields = str(len(change.differences)) if change.action is Action.UPDATE else ""
        note = code(change.notes[0], LONGEST_CELL) if change.notes else ""
        sign = f"`{change.action.value}` {change.action.word}"
        name = code(str(change.ref), LONGEST_CELL)
        yield f"| {sign} | {name} | {fields} | {evidence(change)} | {note} |"
    if len(changes) > MOST_ROWS:
        yield f"| | and {len(changes) - MOST_ROWS} more | | | |"
    yield ""


def _diff(change: Change) -> str:
    lines = [safe(note) for note in change.notes[1:]]
    if change.action in (Action.UPDATE, Action.CREATE, Action.ASSERT):
        live = live_document(change)
        for difference in change.differences:
            lines.extend(_difference_lines(difference, change.body, live))
    if not lines:
        return ""
    body = "\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    is_open = " open" if len(lines) < OPEN_BELOW_LINES and change.action is Action.UPDATE else ""
    title = f"<code>{_html(str(change.ref))}</code> {change.action.word}"
    return (
        f"\n<details{is_open}><summary>{title}</summary>\n\n{fence}diff\n{body}\n{fence}\n"
        "</details>\n"
    )


def _difference_lines(difference: Difference, body: Json, live: Json | Missing) -> Iterator[str]:
    where = place(difference.path, body, live)
    if difference.operation == "move":
        before, after = (
            position + 1 if isinstance(position, int) else position
            for position in (difference.before, difference.after)
        )
        yield f"! {where} moves from place {before} to place {after}"
        return
    if difference.before is not ABSENT:
        yield f"- {where}: {value(difference.before, LONGEST_VALUE)}"
    if difference.after is not ABSENT:
        yield f"+ {where}: {value(difference.after, LONGEST_VALUE)}"


def code(text: str, longest: int | None = None) -> str:
    """Give foreign text as a code span that holds in a table cell too."""
    shown = safe(text, longest).replace("|", "\\|")
    longest_run = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    if not longest_run:
        return f"`{shown}`"
    fence = "`" * (longest_run + 1)
    return f"{fence} {shown} {fence}"


def _html(text: str) -> str:
    """Give foreign text for inside `<code>`: every character that could mean anything escaped."""
    return "".join(
        character if character.isalnum() or character in " -_./" else f"&#{ord(character)};"
        for character in safe(text)
    )
