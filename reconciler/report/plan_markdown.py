"""A plan as the comment a reviewer reads in a minute. Source: pr-experience.md, part 3.

Foreign text stands only in code spans and fences, so nothing that a manifest
says can speak as markdown, mention anyone or close what it stands in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap

from reconciler.document import ABSENT, Difference, Json, Missing
from reconciler.report.markup import code, element, fenced
from reconciler.report.safe import safe
from reconciler.report.words import (
    around_difference,
    evidence,
    leaves,
    live_document,
    place,
    plural,
    standing,
    summary,
    value,
)
from reconciler.resource import Action, Change, Evidence, Plan

BUDGET_BYTES = 60_000
NOTICE_BYTES = 200
MOST_ROWS = 50
MOST_WARNINGS = 20
FEWEST_ALIKE = 5
MOST_NAMES = 500
MOST_LEAVES = 40
OPEN_BELOW_LINES = 10
LONGEST_CELL = 80
LONGEST_VALUE = 300
LONGEST_INLINE = 100

_ORDER = (Action.BLOCKED, Action.UPDATE, Action.ASSERT, Action.CREATE)


def plan_markdown(plan: Plan, budget: int = BUDGET_BYTES) -> str:
    """Give the comment, never above `budget` bytes of UTF-8, ending in a line break.

    What does not fit is left out whole, the largest diffs first; counts and
    table always stay. Many changes that are alike share one row and one diff.
    """
    changes = sorted(
        (change for change in plan.changes if change.action is not Action.KEEP),
        key=lambda change: (_ORDER.index(change.action), not change.destroys, change.ref),
    )
    groups = list(_groups(changes))
    counts = _kinds(changes) if len(changes) > MOST_ROWS else ()
    head = "\n".join((*_head(plan), *_warnings(plan), *counts, *_table(groups)))
    foot = "\n".join(("", *_legend(changes), f"<sub>digest {code(plan.digest)}</sub>", ""))
    diffs = [_diff(alike, lines) for alike, lines in groups if lines or len(alike) > 1]
    room = budget - len((head + foot).encode()) - NOTICE_BYTES
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
    yield f"### Plan for {code(plan.environment, LONGEST_CELL)}: {summary(plan)}"
    yield ""
    if not plan.has_changes:
        yield f"{plural(len(plan.changes), 'resource')} as declared."
        yield ""


def _warnings(plan: Plan) -> Iterator[str]:
    """Yield one quoted paragraph for each thing a reviewer must not miss."""
    destroying = [change for change in plan.changes if change.destroys]
    groups = (
        [_destroys(change) for change in destroying],
        [
            f"{_named(one.ref)} is unsettled: the answer to its create was lost, "
            "and nothing can be applied"
            for one in plan.unsettled
        ],
        [f"{_named(one.ref)} is no longer declared; the API has no delete" for one in plan.orphans],
    )
    quoted: list[str] = []
    for warnings in groups:
        quoted.extend(warnings[:MOST_WARNINGS])
        if len(warnings) > MOST_WARNINGS:
            quoted.append(f"and {len(warnings) - MOST_WARNINGS:,} more like the last")
    if quoted:
        yield "\n>\n".join(f"> ⚠️ {warning}" for warning in quoted)
        yield ""


def _destroys(change: Change) -> str:
    names = ", ".join(code(name, LONGEST_CELL) for name in change.destroys[:MOST_WARNINGS])
    more = len(change.destroys) - MOST_WARNINGS
    rest = f" and {more:,} more" if more > 0 else ""
    return f"{_named(change.ref)} **destroys for good**: {names}{rest}"


def _named(ref: object) -> str:
    return code(str(ref), LONGEST_CELL)


def _groups(changes: Sequence[Change]) -> Iterator[tuple[list[Change], list[str]]]:
    """Yield changes with the lines of their diff, together where all is the same for many."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    said: dict[tuple[object, ...], list[str]] = {}
    for change in changes:
        lines = list(_lines(change))
        key = change.ref.kind, change.action, change.evidence, *change.notes[:1], *lines
        said[key] = lines
        groups.setdefault(key, []).append(change)
    for key, alike in groups.items():
        if len(alike) < FEWEST_ALIKE:
            yield from (([change], said[key]) for change in alike)
        else:
            yield alike, said[key]


def _kinds(changes: Sequence[Change]) -> Iterator[str]:
    """Count by kind, where the table will be long."""
    counts = Counter((change.ref.kind, change.action) for change in changes)
    yield f"| kind | {' | '.join(action.word for action in _ORDER)} |"
    yield f"|---|{'--:|' * len(_ORDER)}"
    for kind in dict.fromkeys(change.ref.kind for change in changes):
        cells = (f"{counts[kind, action]:,}" for action in _ORDER)
        yield f"| {code(kind, LONGEST_CELL)} | {' | '.join(cells)} |"
    yield ""


def _table(groups: Sequence[tuple[Sequence[Change], object]]) -> Iterator[str]:
    if not groups:
        return
    yield "| action | resource | fields | evidence | note |"
    yield "|---|---|--:|---|---|"
    for alike, _ in groups[:MOST_ROWS]:
        yield _row(alike[0], len(alike) - 1)
    if rest := sum(len(alike) for alike, _ in groups[MOST_ROWS:]):
        yield f"| | and {rest:,} more | | | |"
    yield ""


def _row(change: Change, others: int) -> str:
    fields = f"{len(change.differences):,}" if change.action is Action.UPDATE else ""
    note = code(change.notes[0], LONGEST_CELL) if change.notes else ""
    sign = f"`{change.action.value}`&nbsp;{change.action.word}"
    more = f" and {others:,} alike" if others else ""
    return f"| {sign} | {_named(change.ref)}{more} | {fields} | {evidence(change)} | {note} |"


def _legend(changes: Sequence[Change]) -> Iterator[str]:
    """Explain what a change rests on, where that is not the live document."""
    if any(change.evidence is Evidence.JOURNAL for change in changes):
        yield "<sub>journal: the API cannot show it, so it is compared with the last write</sub>"
        yield ""
    if any(change.evidence is Evidence.NONE for change in changes):
        yield "<sub>unseen: the API cannot show it, and the journal has no write of it</sub>"
        yield ""
    if any(change.action is Action.ASSERT for change in changes):
        yield "<sub>assert: a write without having seen; it replaces whatever is there</sub>"
        yield ""


def _diff(alike: Sequence[Change], lines: Sequence[str]) -> str:
    first, *others = alike
    whole = (*lines, *_names(others))
    is_open = len(whole) < OPEN_BELOW_LINES and first.action is Action.UPDATE
    title = f"{element('code', str(first.ref))} {first.action.word}"
    if others:
        title += f" and {len(others):,} alike"
    opened = "<details open>" if is_open else "<details>"
    return f"\n{opened}<summary>{title}</summary>\n\n{fenced('diff', whole)}\n</details>\n"


def _names(others: Sequence[Change]) -> Iterator[str]:
    """Yield who else changes in this way, several to a line."""
    if not others:
        return
    yield "# the same for"
    names = ", ".join(safe(change.ref.name) for change in others[:MOST_NAMES])
    for line in wrap(names, LONGEST_INLINE, break_long_words=False, break_on_hyphens=False):
        yield f"#   {line}"
    if len(others) > MOST_NAMES:
        yield f"#   and {len(others) - MOST_NAMES:,} more"


def _lines(change: Change) -> Iterator[str]:
    for note in change.notes[1:]:
        yield f"# {safe(note)}"
    if change.action.writes:
        live = live_document(change)
        for difference in change.differences:
            yield from _difference_lines(difference, change.body, live)


def _difference_lines(difference: Difference, body: Json, live: Json | Missing) -> Iterator[str]:
    where = place(difference.path, body, live)
    match difference.operation:
        case "move":
            before, after = (
                position + 1 if isinstance(position, int) else position
                for position in (difference.before, difference.after)
            )
            yield f"! {where} moves from place {before} to place {after}"
        case "add":
            stands = standing(difference.path, body)
            where += f" at place {stands[0]} of {stands[1]}" if stands else ""
            yield from _whole_lines("+", where, difference.after)
        case "remove":
            yield from _whole_lines("-", where, difference.before)
        case "change":
            yield from _changed_lines(difference, where)


def _whole_lines(sign: str, where: str, document: Json | Missing) -> Iterator[str]:
    ends = [] if document is ABSENT else list(leaves(document))
    if len(ends) == 1 and ends[0][0] == ():
        yield f"{sign} {where}: {value(document, LONGEST_VALUE)}"
        return
    yield f"{sign} {where}:"
    for path, end in ends[:MOST_LEAVES]:
        yield f"{sign}   {place(path, document)}: {value(end, LONGEST_VALUE)}"
    if len(ends) > MOST_LEAVES:
        yield f"{sign}   and {len(ends) - MOST_LEAVES:,} more"


def _changed_lines(difference: Difference, where: str) -> Iterator[str]:
    whole = value(difference.before, 10**6), value(difference.after, 10**6)
    before, after = around_difference(*whole, LONGEST_VALUE)
    if len(where) + max(len(before), len(after)) <= LONGEST_INLINE:
        yield f"- {where}: {before}"
        yield f"+ {where}: {after}"
        return
    yield f"@@ {where} @@"
    yield f"- {before}"
    yield f"+ {after}"
