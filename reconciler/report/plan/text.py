"""A plan for a terminal: what a person reads before saying yes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from reconciler.report.changes.field_lines import INDENT, change_lines, wrapped
from reconciler.report.plan.partial import partial_words
from reconciler.report.safe import safe
from reconciler.report.style import Colour, Style
from reconciler.report.words import evidence, plural, summary
from reconciler.resource import Action, Change, Evidence, Objection, Plan

_COLOURS = {
    Action.CREATE: Colour.GREEN,
    Action.UPDATE: Colour.YELLOW,
    Action.ASSERT: Colour.MAGENTA,
    Action.BLOCKED: Colour.RED,
    Action.KEEP: Colour.DIM,
}

# What may hurt comes first.
_ORDER = (Action.BLOCKED, Action.UPDATE, Action.CREATE, Action.ASSERT, Action.KEEP)

MOST_LISTED = 25
FEWEST_ALIKE = 5
WIDEST_NAME = 44

# A long plan shows fewer fields of each resource: first of all it has to be read to its end.
LONG_PLAN = 30
MOST_FIELDS = 12
MOST_FIELDS_OF_MANY = 4


def plan_text(plan: Plan, style: Style) -> str:
    """Give the whole report, ending in a line break.

    Every update, destroy and blocked resource is named; what is the same for
    many of them is said once. Long runs of creates and asserts are folded, and
    so are long lists of fields; `verbose` unfolds all and lists what is
    unchanged.
    """
    busy = sum(change.action is Action.UPDATE for change in plan.changes)
    most = MOST_FIELDS if busy <= LONG_PLAN else MOST_FIELDS_OF_MANY
    lines = [_title(plan, style), *filter(None, (partial_words(plan),)), ""]
    for kind, changes in groupby(plan.changes, key=lambda change: change.ref.kind):
        lines.extend(_kind_lines(kind, list(changes), most, style))
    lines.extend(_guard_lines(plan, style))
    lines.extend(_orphan_lines(plan, style))
    lines.extend(_unsettled_lines(plan, style))
    lines.extend(_legend(plan, style))
    lines.append(style.paint(_closing(plan), Colour.BOLD))
    lines.append(style.paint(f"Digest {plan.digest}", Colour.DIM))
    return "\n".join(lines) + "\n"


def _title(plan: Plan, style: Style) -> str:
    where = safe(f"{plan.environment} ({plan.target})")
    return style.paint(f"Plan for {where}: {summary(plan)}", Colour.BOLD)


def _closing(plan: Plan) -> str:
    if not plan.changes:
        return "No manifest applies to this environment."
    if not plan.has_changes and plan.turns_protection:
        count = sum(change.turns_protection for change in plan.changes)
        return f"Nothing to send; an apply notes the protection of {plural(count, 'resource')}."
    if not plan.has_changes:
        return f"Nothing to do: {plural(len(plan.changes), 'resource')} as declared."
    return f"{summary(plan)[0].upper()}{summary(plan)[1:]}."


def _kind_lines(kind: str, changes: Sequence[Change], most: int, style: Style) -> Iterator[str]:
    kept = [change for change in changes if change.action is Action.KEEP]
    shown = [
        one
        for one in changes
        if style.verbose or one.turns_protection or one.action is not Action.KEEP
    ]
    shown.sort(key=lambda change: _ORDER.index(change.action))
    if not shown:
        return
    count = f"{len(changes) - len(kept):,} of {len(changes):,}"
    yield style.paint(kind, Colour.BOLD) + style.paint(f"  {count} to do", Colour.DIM)
    widest = min(WIDEST_NAME, max(len(safe(change.ref.name)) for change in shown))
    for action, run in groupby(shown, key=lambda change: change.action):
        if action in (Action.CREATE, Action.ASSERT, Action.KEEP):
            yield from _run_lines(list(run), widest, style)
        else:
            for alike, details in _groups(list(run), most, style):
                yield from _group_lines(alike, details, widest, style)
    if kept and not style.verbose:
        yield style.paint(f"  = {len(kept):,} unchanged", Colour.DIM)
    yield ""


def _run_lines(run: Sequence[Change], widest: int, style: Style) -> Iterator[str]:
    """Yield changes that overwrite nothing: the first of many, and how many more there are."""
    listed = run if style.verbose else run[:MOST_LISTED]
    for change in listed:
        yield _head(change, widest, style)
        yield from _details(change, len(change.differences), style)
    if rest := len(run) - len(listed):
        more = f"  {run[0].action.value} and {rest:,} more (-v lists them)"
        yield style.paint(more, Colour.DIM)


def _groups(
    run: Sequence[Change], most: int, style: Style
) -> Iterator[tuple[list[Change], tuple[str, ...]]]:
    """Yield changes with what is said below them; together where it is the same for many."""
    groups: dict[tuple[str, tuple[str, ...]], list[Change]] = {}
    for change in run:
        details = tuple(_details(change, most, style))
        groups.setdefault((evidence(change), details), []).append(change)
    for (_, details), alike in groups.items():
        if len(alike) < FEWEST_ALIKE or style.verbose:
            yield from (([change], details) for change in alike)
        else:
            yield alike, details


def _group_lines(
    alike: Sequence[Change], details: Sequence[str], widest: int, style: Style
) -> Iterator[str]:
    first = alike[0]
    if len(alike) == 1:
        yield _head(first, widest, style)
        yield from details
        return
    count = style.paint(f"{first.action.value} {len(alike):,} alike", _COLOURS[first.action])
    yield f"  {count}  {style.paint(evidence(first), Colour.DIM)}"
    yield from details
    yield from wrapped(", ".join(change.ref.name for change in alike), style, Colour.DIM)


def _head(change: Change, widest: int, style: Style) -> str:
    name = safe(change.ref.name).ljust(widest)
    sign = style.paint(f"{change.action.value} {name}", _COLOURS[change.action])
    where = f"{evidence(change):7}  {safe(str(change.manifest.source))}"
    return f"  {sign}  {style.paint(where, Colour.DIM)}"


def _details(change: Change, most: int, style: Style) -> Iterator[str]:
    for note in _notes(change):
        yield from wrapped(note, style, Colour.CYAN)
    if change.action is Action.UPDATE or (change.action.writes and style.verbose):
        yield from change_lines(change, most, style)
    for name in change.destroys:
        foreign = " (not written by this journal)" if name in change.foreign else ""
        yield INDENT + style.paint(f"- destroys {safe(name, 80)}{foreign}", Colour.RED)


def _notes(change: Change) -> Sequence[str]:
    """Leave out of creates what every line of the kind would say."""
    if change.action in (Action.KEEP, Action.CREATE, Action.ASSERT):
        return [note for note in change.notes if note != getattr(change.observation, "why", "")]
    return change.notes


def _guard_lines(plan: Plan, style: Style) -> Iterator[str]:
    if not plan.guarded:
        return
    yield style.paint("Needs consent: an apply refuses this", Colour.RED, Colour.BOLD)
    for one in plan.guarded:
        yield from _wrapped_guard(one, style)
    yield ""


def _wrapped_guard(one: Objection, style: Style) -> Iterator[str]:
    code = f" [{one.code}]" if one.code else ""
    yield from wrapped(f"{one.message}{code}", style, Colour.RED)
    for way in one.ways_out:
        yield from wrapped(f"- {way}", style, Colour.CYAN)


def _orphan_lines(plan: Plan, style: Style) -> Iterator[str]:
    if not plan.orphans:
        return
    yield style.paint("No longer declared", Colour.BOLD)
    said = "the API has no delete: remove them by hand, or declare them again"
    yield from wrapped(said, style, Colour.CYAN)
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


def _legend(plan: Plan, style: Style) -> Iterator[str]:
    """Explain the words that stand in this plan, where it has any that need it."""
    todo = [change for change in plan.changes if change.action is not Action.KEEP]
    words = []
    if any(change.evidence is Evidence.JOURNAL for change in todo):
        words.append("journal  cannot be read: compared with the last write")
    if any(change.evidence is Evidence.NONE for change in todo):
        words.append("unseen   cannot be read, and the journal has no write of it")
    if any(change.action is Action.ASSERT for change in todo):
        words.append("!        written unseen: it replaces whatever is there")
    for line in words:
        yield style.paint(line, Colour.DIM)
    if words:
        yield ""
