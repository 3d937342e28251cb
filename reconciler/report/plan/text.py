"""A plan for a terminal: the report that a person reads before consenting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from reconciler.model import Action, Change, Evidence, Plan
from reconciler.model.guard_blocks import guard_blocks
from reconciler.model.quoting import SHOWN_BY_VERBOSE, and_more
from reconciler.report.changes.field_changes import FieldChange, essentials_of, field_changes
from reconciler.report.changes.lines import change_lines, essential_lines
from reconciler.report.counts import WORST_FIRST, describe_kept, evidence, heading, summary
from reconciler.report.reasons import describe_remark, reported_notes
from reconciler.report.safe import columns, safe
from reconciler.report.sections import (
    CONSENT_WORDS,
    consent_of,
    describe_partial,
    emptiness,
    guard_heading,
    shown_sections,
)
from reconciler.report.table import INDENT, Colour, Style, wrapped
from reconciler.report.watcher_formats import watchers_lines
from reconciler.report.words import as_sentence, plural
from reconciler.runtime.advice import on_journal

_COLOURS = {
    Action.CREATE: Colour.GREEN,
    Action.UPDATE: Colour.YELLOW,
    Action.ASSERT: Colour.MAGENTA,
    Action.BLOCKED: Colour.RED,
    Action.KEEP: Colour.DIM,
}

FEWEST_ALIKE = 5
WIDEST_NAME = 44

# A long plan shows fewer fields of each resource, so that it is read to its end.
LONG_PLAN = 30


@dataclass(frozen=True, slots=True)
class _Room:
    """Limits of what is shown: fields of an update, lines of a create or assert, listed changes."""

    fields: int
    lines: int
    listed: int


FEW = _Room(fields=12, lines=6, listed=25)
MANY = _Room(fields=4, lines=1, listed=15)


def plan_text(plan: Plan, style: Style) -> str:
    """Return the whole report, ending in a line break.

    Every update, destroy and blocked resource is named; text that many of them share is printed
    once. Long runs of creates and asserts are folded, and so are long lists of fields. `verbose`
    unfolds everything and lists unchanged resources.
    """
    room = _room(plan, style)
    lines = [*_bold(f"{heading(plan)}: {summary(plan)}", style)]
    for words in describe_partial(plan):
        lines.extend(wrapped(as_sentence(words), style, margin="", hang="  "))
    for remark in plan.remarks:
        lines.extend(wrapped(describe_remark(remark), style, Colour.CYAN))
    lines.append("")
    for kind, changes in groupby(plan.declared, key=lambda change: change.ref.kind):
        lines.extend(_kind_lines(plan, kind, list(changes), room, style))
    for section, formats in shown_sections(plan):
        lines.extend(formats.lines(section, style))
    lines.extend(_guard_lines(plan, style))
    lines.extend(_orphan_lines(plan, style))
    lines.extend(_unsettled_lines(plan, style))
    lines.extend(_legend(plan, style))
    lines.extend(_bold(_closing(plan), style))
    lines.append(style.paint(f"Digest {plan.digest}", Colour.DIM))
    return "\n".join(lines) + "\n"


def _room(plan: Plan, style: Style) -> _Room:
    if style.verbose:
        whole = max((len(change.differences) for change in plan.changes), default=0)
        return replace(FEW, fields=whole, listed=len(plan.declared))
    updates = plan.count(Action.UPDATE)
    made = plan.count(Action.CREATE) + plan.count(Action.ASSERT)
    about_updates, about_made = (FEW if number <= LONG_PLAN else MANY for number in (updates, made))
    return _Room(about_updates.fields, about_made.lines, about_made.listed)


def _bold(text: str, style: Style) -> Iterator[str]:
    return wrapped(text, style, Colour.BOLD, margin="", hang="  ")


def _closing(plan: Plan) -> str:
    if not plan.declared:
        return emptiness(plan)
    if not plan.has_changes and plan.is_noted:
        count = sum(change.is_noted for change in plan.changes)
        what = "the protection" if plan.turns_protection else "the new name"
        return f"Nothing to send; an apply notes {what} of {plural(count, 'resource')}."
    if not plan.has_changes:
        return f"Nothing to do: {describe_kept(plan.changes)}."
    return as_sentence(summary(plan))


def _kind_lines(
    plan: Plan, kind: str, changes: Sequence[Change], room: _Room, style: Style
) -> Iterator[str]:
    kept = [change for change in changes if change.action is Action.KEEP]
    shown = [
        change for change in changes if style.verbose or change.is_noted or change.action.is_to_do
    ]
    shown.sort(key=lambda change: WORST_FIRST.index(change.action))
    if not shown:
        return
    count = f"{len(changes) - len(kept):,} of {len(changes):,}"
    yield style.paint(kind, Colour.BOLD) + style.paint(f"  {count} to do", Colour.DIM)
    widest = min(WIDEST_NAME, max(len(safe(change.ref.name)) for change in shown))
    for action, run in groupby(shown, key=lambda change: change.action):
        groups = list(_groups(plan, list(run), room, style))
        most = room.listed if action in (Action.CREATE, Action.ASSERT) else len(groups)
        for alike, details in groups[:most]:
            yield from _group_lines(alike, details, widest, style)
        # Creates and asserts overwrite nothing known, so the first of many are enough.
        rest = sum(len(alike) for alike, _ in groups[most:])
        if more := and_more(rest, hint=SHOWN_BY_VERBOSE):
            yield style.paint(f"  {action.value} {more}", Colour.DIM)
    if kept and not style.verbose:
        yield style.paint(f"  = {describe_kept(kept)}", Colour.DIM)
    yield ""


def _groups(
    plan: Plan, run: Sequence[Change], room: _Room, style: Style
) -> Iterator[tuple[list[Change], tuple[str, ...]]]:
    """Yield changes with their details, grouped where the details of many are the same.

    New resources are grouped only where they are equal in all fields, also those not shown.
    """
    groups: dict[tuple[str, tuple[str, ...], tuple[FieldChange, ...]], list[Change]] = {}
    many = len(run) >= FEWEST_ALIKE and not style.verbose
    for change in run:
        details = tuple(_details(plan, change, room, style))
        whole = many and change.action in (Action.CREATE, Action.ASSERT)
        unsaid = field_changes(change) if whole else ()
        groups.setdefault((evidence(change), details, unsaid), []).append(change)
    for (_, details, _), alike in groups.items():
        if len(alike) < FEWEST_ALIKE or style.verbose:
            yield from (([change], details) for change in alike)
        else:
            yield alike, details


def _group_lines(
    alike: Sequence[Change], details: Sequence[str], widest: int, style: Style
) -> Iterator[str]:
    first = alike[0]
    if len(alike) == 1:
        yield from _head(first, widest, style)
        yield from details
        return
    count = style.paint(f"{first.action.value} {len(alike):,} alike", _COLOURS[first.action])
    yield f"  {count}  {style.paint(evidence(first), Colour.DIM)}"
    yield from details
    # Names are no sentence: in a log too they are broken into lines, several on each.
    names = ", ".join(change.ref.name for change in alike)
    yield from wrapped(names, replace(style, terminal=True), Colour.DIM)


def _head(change: Change, widest: int, style: Style) -> Iterator[str]:
    name = safe(change.ref.name).ljust(widest)
    sign = f"{change.action.value} {name}"
    where = f"{evidence(change):7}  {safe(str(change.source or ''))}"
    if style.terminal and columns(f"  {sign}  {where}") > style.width:
        yield f"  {style.paint(sign.rstrip(), _COLOURS[change.action])}"
        yield from wrapped(" ".join(where.split()), style, Colour.DIM)
        return
    yield f"  {style.paint(sign, _COLOURS[change.action])}  {style.paint(where, Colour.DIM)}"


def _details(plan: Plan, change: Change, room: _Room, style: Style) -> Iterator[str]:
    for note in reported_notes(change):
        yield from wrapped(note, style, Colour.CYAN)
    for section, formats in shown_sections(plan):
        yield from formats.change_lines(section, change, style)
    yield from watchers_lines(plan, change, style)
    if change.action is Action.UPDATE or (change.action.writes and style.verbose):
        yield from change_lines(change, room.fields, style)
    else:
        yield from essential_lines(change, room.lines, style)
    for name in change.destroys:
        foreign = " (not written by this journal)" if name in change.foreign else ""
        yield INDENT + style.paint(f"- destroys {safe(name, 80)}{foreign}", Colour.RED)


def _guard_lines(plan: Plan, style: Style) -> Iterator[str]:
    blocks = guard_blocks(plan.guarded)
    for consent, alike in groupby(blocks, key=lambda block: consent_of(block.first)):
        yield style.paint(as_sentence(CONSENT_WORDS[consent])[:-1], Colour.RED, Colour.BOLD)
        for block in alike:
            yield from wrapped(guard_heading(block), style, Colour.RED, margin="  ", hang="  ")
            for message in block.messages:
                yield from wrapped(message, style, margin="    ", hang="  ")
            for remedy in block.remedies:
                yield from wrapped(f"- {remedy}", style, Colour.CYAN, margin=INDENT, hang="  ")
            yield ""


def _orphan_lines(plan: Plan, style: Style) -> Iterator[str]:
    if not plan.orphans:
        return
    yield style.paint("No longer declared", Colour.BOLD)
    advice = "the API has no delete: remove them by hand, or declare them again"
    yield from wrapped(advice, style, Colour.CYAN)
    for orphan in plan.orphans:
        known = f" ({orphan.remote_id})" if orphan.remote_id is not None else ""
        yield safe(f"  ? {orphan.ref}{known}")
    yield ""


def _unsettled_lines(plan: Plan, style: Style) -> Iterator[str]:
    if not plan.unsettled:
        return
    yield style.paint("Unsettled: nothing can be applied before these are", Colour.RED, Colour.BOLD)
    for create in plan.unsettled:
        words = f"? {create.ref}: a create was sent {create.since}, and its answer was lost"
        yield from wrapped(words, style, margin="  ", hang="    ")
        settle = on_journal("settle", str(create.ref), environment=plan.environment)
        yield f"      {safe(settle)} --id ID | --never-happened"
    yield ""


def _legend(plan: Plan, style: Style) -> Iterator[str]:
    """Yield the meaning of the words in this plan that need an explanation."""
    todo = [change for change in plan.changes if change.action.is_to_do]
    found = {evidence(change) for change in todo}
    is_journal = any(change.evidence is Evidence.JOURNAL for change in todo)
    is_asserted = any(change.action is Action.ASSERT for change in todo)
    meanings = (
        (is_journal, "journal  cannot be read: compared with the last write"),
        ("unread" in found, "unread   live was not looked at, as it cannot be done"),
        ("unseen" in found, "unseen   cannot be read, and the journal has no write of it"),
        (is_asserted, "!        written unseen: it replaces whatever is there"),
        (
            not style.verbose and any(map(essentials_of, todo)),
            "-v       shows every field of what is new",
        ),
    )
    words = [meaning for is_used, meaning in meanings if is_used]
    for line in words:
        yield style.paint(line, Colour.DIM)
    if words:
        yield ""
