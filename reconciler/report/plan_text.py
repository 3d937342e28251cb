"""A plan for a terminal: what a person reads before saying yes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from reconciler.document import Difference
from reconciler.report.safe import ELLIPSIS, safe
from reconciler.report.style import Colour, Style
from reconciler.report.words import evidence, live_document, place, plural, summary, value
from reconciler.resource import Action, Change, Plan

_COLOURS = {
    Action.CREATE: Colour.GREEN,
    Action.UPDATE: Colour.YELLOW,
    Action.ASSERT: Colour.MAGENTA,
    Action.BLOCKED: Colour.RED,
    Action.KEEP: Colour.DIM,
}

# What may hurt comes first.
_ORDER = (Action.BLOCKED, Action.UPDATE, Action.CREATE, Action.ASSERT, Action.KEEP)

MOST_FIELDS = 12
MOST_ALIKE = 25
INDENT = "      "


def plan_text(plan: Plan, style: Style) -> str:
    """Give the whole report, ending in a line break.

    Updates, destroys and blocked resources are always shown. Long runs of
    creates and asserts are folded, and so are long lists of fields; `verbose`
    unfolds both and lists what is unchanged.
    """
    lines = [_title(plan, style), ""]
    for kind, changes in groupby(plan.changes, key=lambda change: change.ref.kind):
        lines.extend(_kind_lines(kind, list(changes), style))
    lines.extend(_orphan_lines(plan, style))
    lines.extend(_unsettled_lines(plan, style))
    lines.append(style.paint(_closing(plan), Colour.BOLD))
    lines.append(style.paint(f"Digest {plan.digest}", Colour.DIM))
    return "\n".join(lines) + "\n"


def _title(plan: Plan, style: Style) -> str:
    where = safe(f"{plan.environment} ({plan.target})")
    return style.paint(f"Plan for {where}: {summary(plan)}", Colour.BOLD)


def _closing(plan: Plan) -> str:
    if not plan.changes:
        return "No manifest applies to this environment."
    if not plan.has_changes:
        return f"Nothing to do: {plural(len(plan.changes), 'resource')} as declared."
    return f"{summary(plan)[0].upper()}{summary(plan)[1:]}."


def _kind_lines(kind: str, changes: Sequence[Change], style: Style) -> Iterator[str]:
    kept = [change for change in changes if change.action is Action.KEEP]
    shown = [one for one in changes if style.verbose or one.action is not Action.KEEP]
    shown.sort(key=lambda change: _ORDER.index(change.action))
    if not shown:
        return
    count = f"{len(changes) - len(kept)} of {len(changes)}"
    yield style.paint(kind, Colour.BOLD) + style.paint(f"  {count} to do", Colour.DIM)
    widest = min(44, max(len(change.ref.name) for change in shown))
    for action, alike in groupby(shown, key=lambda change: change.action):
        run = list(alike)
        folded = action in (Action.CREATE, Action.ASSERT) and not style.verbose
        visible = run[:MOST_ALIKE] if folded and len(run) > MOST_ALIKE else run
        for change in visible:
            yield from _change_lines(change, widest, style)
        if len(visible) < len(run):
            rest = len(run) - len(visible)
            yield style.paint(f"  {action.value} and {rest:,} more (-v lists them)", Colour.DIM)
    if kept and not style.verbose:
        yield style.paint(f"  = {len(kept):,} unchanged", Colour.DIM)
    yield ""


def _change_lines(change: Change, widest: int, style: Style) -> Iterator[str]:
    colour = _COLOURS[change.action]
    name = safe(change.ref.name).ljust(widest)
    sign = style.paint(f"{change.action.value} {name}", colour)
    where = style.paint(f"{evidence(change):7}  {safe(str(change.manifest.source))}", Colour.DIM)
    yield f"  {sign}  {where}"
    for note in _notes(change):
        yield from _wrapped(note, style)
    if change.action is Action.UPDATE:
        yield from _field_lines(change, style)
    for name in change.destroys:
        foreign = " (not written by this journal)" if name in change.foreign else ""
        yield INDENT + style.paint(f"- destroys {safe(name, 80)}{foreign}", Colour.RED)


def _notes(change: Change) -> Sequence[str]:
    """Leave out of creates what every line of the kind would say."""
    if change.action in (Action.KEEP, Action.CREATE, Action.ASSERT):
        return [note for note in change.notes if note != getattr(change.observation, "why", "")]
    return change.notes


def _wrapped(note: str, style: Style) -> Iterator[str]:
    words = safe(note).split(" ")
    line = INDENT
    for word in words:
        if len(line) + len(word) > style.width and line.strip():
            yield style.paint(line.rstrip(), Colour.CYAN)
            line = INDENT
        line += word + " "
    if line.strip():
        yield style.paint(line.rstrip(), Colour.CYAN)


def _field_lines(change: Change, style: Style) -> Iterator[str]:
    shown = change.differences if style.verbose else change.differences[:MOST_FIELDS]
    for difference in shown:
        yield from _difference_lines(difference, change, style)
    rest = len(change.differences) - len(shown)
    if rest:
        yield INDENT + style.paint(f"and {plural(rest, 'field')} more (-v shows them)", Colour.DIM)


def _difference_lines(difference: Difference, change: Change, style: Style) -> Iterator[str]:
    where = place(difference.path, change.body, live_document(change))
    room = max(20, style.width - len(INDENT) - 4)
    match difference.operation:
        case "move":
            before, after = (
                int(position) + 1 if isinstance(position, int) else 0
                for position in (difference.before, difference.after)
            )
            moved = f"moves from place {before} to place {after}"
            yield f"{INDENT}{style.paint('↕', Colour.CYAN)} {where}: {moved}"
        case "add":
            added = value(difference.after, room - len(where))
            yield f"{INDENT}{style.paint('+', Colour.GREEN)} {where}: {added}"
        case "remove":
            gone = value(difference.before, max(20, room - len(where)))
            yield f"{INDENT}{style.paint('-', Colour.RED)} {where}: {gone}"
        case "change":
            yield from _changed_lines(difference, where, room, style)


def _changed_lines(difference: Difference, where: str, room: int, style: Style) -> Iterator[str]:
    before, after = value(difference.before, 10**6), value(difference.after, 10**6)
    sign = style.paint("~", Colour.YELLOW)
    if len(where) + len(before) + len(after) + 6 <= room:
        yield f"{INDENT}{sign} {where}: {before} → {after}"
        return
    before, after = _around_difference(before, after, room - 4)
    yield f"{INDENT}{sign} {where}:"
    yield f"{INDENT}    {style.paint('- ' + before, Colour.RED)}"
    yield f"{INDENT}    {style.paint('+ ' + after, Colour.GREEN)}"


def _around_difference(before: str, after: str, room: int) -> tuple[str, str]:
    """Cut two long texts so that the place where they part is in sight."""
    common = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        common += 1
    start = max(0, common - room // 3) if max(len(before), len(after)) > room else 0
    head = ELLIPSIS if start else ""
    return safe(head + before[start:], room), safe(head + after[start:], room)


def _orphan_lines(plan: Plan, style: Style) -> Iterator[str]:
    if not plan.orphans:
        return
    yield style.paint("No longer declared", Colour.BOLD)
    said = "the API has no delete: remove them by hand, or declare them again"
    yield from _wrapped(said, style)
    for orphan in plan.orphans:
        known = f" ({orphan.remote_id})" if orphan.remote_id is not None else ""
        yield safe(f"  ? {orphan.ref}{known}")
    yield ""


def _unsettled_lines(plan: Plan, style: Style) -> Iterator[str]:
    if not plan.unsettled:
        return
    yield style.paint("Unsettled: nothing can be applied before these are", Colour.RED, Colour.BOLD)
    for one in plan.unsettled:
        yield safe(f"  ? {one.ref}: a create was sent {one.since}, and its answer was lost")
        yield f"      reconciler journal settle {safe(str(one.ref))} --id ID | --never-happened"
    yield ""
