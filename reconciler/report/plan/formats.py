"""A plan for a terminal, and as a comment that a reviewer reads in a minute.

In the comment, foreign text is only in code spans and fences, or is plain words that mean nothing
in Markdown. So no text of a manifest can act as Markdown, mention anyone or close its container.
Source: docs/reports.md.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from textwrap import wrap
from typing import NamedTuple, TypeAlias, TypeVar

from reconciler.document import Operation
from reconciler.model import Action, Change, Plan, Seen
from reconciler.model.guards import guard_blocks
from reconciler.model.quoting import SHOWN_BY_VERBOSE, and_more
from reconciler.report import counts, sections
from reconciler.report.changes.field_changes import (
    LONGEST_INLINE,
    FieldChange,
    change_lines,
    diff_lines,
    essential_lines,
    essentials_of,
    field_changes,
)
from reconciler.report.drawings import drawing_of, picture_lines
from reconciler.report.labels import BETWEEN
from reconciler.report.markdown import (
    COMMENT_BYTES,
    WHOLE,
    Fold,
    code,
    markdown_table,
    place_of,
    sentence,
    table_row,
    with_folds,
)
from reconciler.report.reasons import describe_remark, in_backticks, reported_notes
from reconciler.report.safe import columns, safe
from reconciler.report.table import INDENT, Colour, Style, wrapped
from reconciler.report.words import as_sentence, first_few, first_lines, plural
from reconciler.runtime.advice import is_in_job, on_journal

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
    of_kinds = groupby(plan.declared, key=lambda change: change.ref.kind)
    parts: Iterable[Iterable[str]] = (
        _bold(f"{counts.heading(plan)}: {counts.summary(plan)}", style),
        *(
            wrapped(as_sentence(words), style, margin="", hang="  ")
            for words in sections.describe_partial(plan)
        ),
        *(wrapped(describe_remark(remark), style, Colour.CYAN) for remark in plan.remarks),
        [""],
        *(_kind_lines(plan, kind, list(changes), room, style) for kind, changes in of_kinds),
        *(formats.lines(section, style) for section, formats in sections.shown_sections(plan)),
        _guard_lines(plan, style),
        _orphan_lines(plan, style),
        _unsettled_lines(plan, style),
        _text_legend(plan, style),
        _bold(_closing(plan), style),
        [style.paint(f"Digest {plan.digest}", Colour.DIM)],
    )
    return "\n".join(chain.from_iterable(parts)) + "\n"


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
        return sections.emptiness(plan)
    if plan.has_changes:
        return as_sentence(counts.summary(plan))
    if plan.is_noted:
        count = sum(change.is_noted for change in plan.changes)
        edits = any(change.accepts_edit for change in plan.changes)
        names = "what someone edited live" if edits else "the new name"
        what = "the protection" if plan.turns_protection else names
        return f"Nothing to send; an apply notes {what} of {plural(count, 'resource')}."
    return f"Nothing to do: {counts.describe_kept(plan.changes)}."


def _kind_lines(
    plan: Plan, kind: str, changes: Sequence[Change], room: _Room, style: Style
) -> Iterator[str]:
    kept = [change for change in changes if change.action is Action.KEEP]
    shown = [
        change for change in changes if style.verbose or change.is_noted or change.action.is_to_do
    ]
    shown.sort(key=lambda change: counts.WORST_FIRST.index(change.action))
    if not shown:
        return
    count = f"{len(changes) - len(kept):,} of {len(changes):,}"
    yield style.paint(kind, Colour.BOLD) + style.paint(f"  {count} to do", Colour.DIM)
    widest = min(WIDEST_NAME, max(len(safe(change.ref.name)) for change in shown))
    for action, run in groupby(shown, key=lambda change: change.action):
        groups = list(_text_groups(plan, list(run), room, style))
        most = room.listed if action in (Action.CREATE, Action.ASSERT) else len(groups)
        for alike, details in groups[:most]:
            yield from _group_lines(alike, details, widest, style)
        # Creates and asserts overwrite nothing known, so the first of many are enough.
        rest = sum(len(alike) for alike, _ in groups[most:])
        if more := and_more(rest, hint=SHOWN_BY_VERBOSE):
            yield style.paint(f"  {action.value} {more}", Colour.DIM)
    if kept and not style.verbose:
        yield style.paint(f"  = {counts.describe_kept(kept)}", Colour.DIM)
    yield ""


def _text_groups(
    plan: Plan, run: Sequence[Change], room: _Room, style: Style
) -> Iterator[tuple[list[Change], tuple[str, ...]]]:
    """Yield changes with their details, grouped where the details of many are the same.

    New resources are grouped only where they are equal in all fields, also those not shown.
    """
    is_new = run[0].action in (Action.CREATE, Action.ASSERT)
    whole = is_new and len(run) >= FEWEST_ALIKE and not style.verbose
    details = (tuple(_details(plan, change, room, style)) for change in run)
    keys = [
        (shown, counts.evidence(change), field_changes(change) if whole else ())
        for change, shown in zip(run, details, strict=True)
    ]
    fewest = len(run) + 1 if style.verbose else FEWEST_ALIKE
    for (shown, *_), alike in _alike(keys, run, fewest):
        yield alike, shown


Key = TypeVar("Key")


def _alike(
    keys: Sequence[Key], changes: Sequence[Change], fewest: int = FEWEST_ALIKE
) -> Iterator[tuple[Key, list[Change]]]:
    """Yield the changes that have one key together, or each alone where they are fewer."""
    groups: dict[Key, list[Change]] = {}
    for key, change in zip(keys, changes, strict=True):
        groups.setdefault(key, []).append(change)
    for key, group in groups.items():
        parts = [group] if len(group) >= fewest else [[change] for change in group]
        yield from ((key, part) for part in parts)


def _group_lines(
    alike: Sequence[Change], details: Sequence[str], widest: int, style: Style
) -> Iterator[str]:
    first = alike[0]
    if len(alike) == 1:
        yield from _text_head(first, widest, style)
        yield from details
        return
    count = style.paint(f"{first.action.value} {len(alike):,} alike", _COLOURS[first.action])
    yield f"  {count}  {style.paint(counts.evidence(first), Colour.DIM)}"
    yield from details
    # Names are no sentence: in a log too they are broken into lines, several on each.
    names = ", ".join(change.ref.name for change in alike)
    yield from wrapped(names, replace(style, terminal=True), Colour.DIM)


def _text_head(change: Change, widest: int, style: Style) -> Iterator[str]:
    name = safe(change.ref.name).ljust(widest)
    sign = f"{change.action.value} {name}"
    where = f"{counts.evidence(change):7}  {safe(str(change.source or ''))}"
    if style.terminal and columns(f"  {sign}  {where}") > style.width:
        yield f"  {style.paint(sign.rstrip(), _COLOURS[change.action])}"
        yield from wrapped(" ".join(where.split()), style, Colour.DIM)
        return
    yield f"  {style.paint(sign, _COLOURS[change.action])}  {style.paint(where, Colour.DIM)}"


def _details(plan: Plan, change: Change, room: _Room, style: Style) -> Iterator[str]:
    for note in reported_notes(change):
        yield from wrapped(note, style, Colour.CYAN)
    for section, formats in sections.shown_sections(plan):
        yield from formats.change_lines(section, change, style)
    yield from sections.watchers_lines(plan, change, style)
    if change.action is Action.UPDATE or (change.action.writes and style.verbose):
        yield from change_lines(change, room.fields, style)
    else:
        yield from essential_lines(change, room.lines, style)
    for name in change.destroys:
        foreign = " (made by hand)" if name in change.foreign else ""
        yield INDENT + style.paint(f"- destroys {safe(name, 80)}{foreign}", Colour.RED)


def _guard_lines(plan: Plan, style: Style) -> Iterator[str]:
    for given in sections.consents(plan):
        yield from wrapped(as_sentence(given), style, Colour.GREEN, margin="", hang="  ")
        yield ""
    blocks = guard_blocks(sections.open_guards(plan))
    for consent, alike in groupby(blocks, key=lambda block: sections.consent_of(block.first)):
        yield style.paint(
            as_sentence(sections.CONSENT_WORDS[consent])[:-1], Colour.RED, Colour.BOLD
        )
        for block in alike:
            yield from wrapped(
                sections.guard_heading(block), style, Colour.RED, margin="  ", hang="  "
            )
            for member in block.members:
                yield from wrapped(member.message, style, margin="    ", hang="  ")
                yield from _remedy_lines(member.remedies, style, f"{INDENT}  ")
            yield from _remedy_lines(block.remedies, style)
            yield ""


def _remedy_lines(remedies: Sequence[str], style: Style, margin: str = INDENT) -> Iterator[str]:
    for remedy in remedies:
        yield from wrapped(f"- {remedy}", style, Colour.CYAN, margin=margin, hang="  ")


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


def _text_legend(plan: Plan, style: Style) -> Iterator[str]:
    todo = [change for change in plan.changes if change.action.is_to_do]
    meanings = counts.legend(todo)
    meanings.pop(LIVE, None)
    if not style.verbose and any(map(essentials_of, todo)):
        meanings["-v"] = "shows every field of what is new"
    for word, text in meanings.items():
        # On a terminal an action is its sign.
        shown = Action.ASSERT.value if word == Action.ASSERT.word else word
        yield from wrapped(f"{shown:8} {text}", style, Colour.DIM, margin="", hang=" " * 9)
    if meanings:
        yield ""


MOST_ROWS = 50
MOST_NOTICES = 20
MOST_NAMED = 5
MOST_PLACES = 3
MOST_NAMES = 500
LONGEST_CELL = 80
LONGEST_SAID = 300
MERGING = "merging consents"
LONGEST_NOTE = 200
LONGEST_WHAT = 160
LONGEST_TURNS = 100
LONGEST_TURN = 40
TABLE_BYTES = 30_000
BESIDE_BYTES = 8_000
LIVE = "live"

_SIGNS: Mapping[Operation, str] = {"add": "+ ", "remove": "- ", "move": "↕ ", "change": ""}
_SHOWN = tuple(action for action in counts.WORST_FIRST if action.is_to_do)


class _Shown(NamedTuple):
    """A change as the comment shows it. Changes with the same look are one group.

    They are marked where they need consent, and their diff is open where a review cannot give that
    consent.
    """

    picture: tuple[str, ...]
    lines: tuple[str, ...]
    note: str
    is_marked: bool
    is_explicit: bool


_Group: TypeAlias = tuple[_Shown, list[Change]]


def _has_fold(group: _Group) -> bool:
    """Return whether more than its row is shown."""
    shown, changes = group
    return bool(shown.lines or shown.picture or len(changes) > 1)


def plan_markdown(
    plan: Plan, budget: int = COMMENT_BYTES, whole: str = WHOLE, files: str = ""
) -> str:
    """Return the comment, never above `budget` bytes of UTF-8, ending in a line break.

    Diffs that do not fit are left out whole, the largest first, and `whole` names where to find
    them. Counts, warnings and table always stay; they need at most 40,000 bytes. Changes that are
    alike share one row and one diff. `files` is the address of the manifests, if it is known.
    """
    unmet = {guard.ref for guard in plan.guarded if not guard.is_met}
    changes = sorted(
        (change for change in plan.changes if change.action.is_to_do),
        key=lambda change: (change.ref not in unmet, counts.harm_first(change)),
    )
    groups = list(_markdown_groups(changes, plan))
    kinds = _kinds(changes) if len(changes) > MOST_ROWS else ()
    beside = [*_sections_markdown(plan), *owners_markdown(plan, changes)]
    # The sections next to the table reduce its room, so that both fit any comment.
    table = _table(groups, TABLE_BYTES - len("\n".join(beside).encode()))
    legend = _markdown_legend(changes)
    head = "\n".join((*_markdown_head(plan), *_warnings(plan), *kinds, *table, *legend, *beside))
    foot = "\n".join(("", f"<sub>digest {code(plan.digest)}</sub>", ""))
    folds = [_fold(group, files) for group in groups if _has_fold(group)]
    room = budget - len((head + foot).encode()) - 1
    end = ""
    for section, formats in sections.shown_sections(plan):
        text = formats.end_markdown(section, min(BESIDE_BYTES, room))
        room -= len(text.encode())
        end += text
    return with_folds(head + "\n", folds, budget, whole, end + foot)


def _markdown_head(plan: Plan) -> Iterator[str]:
    where = code(plan.environment, LONGEST_CELL)
    if plan.against is not None:
        commit = code(plan.against.commit[: counts.SHOWN_COMMIT])
        where = f"{where} against {commit} (nothing live was asked)"
    yield f"### Plan for {where}: {counts.summary(plan)}"
    yield ""
    if needed := "; ".join(_needed(plan)):
        yield f"**Before an apply**: {needed}"
        yield ""
    if not plan.has_changes:
        yield _closing(plan)
        yield ""


def _needed(plan: Plan) -> Iterator[str]:
    """Yield what each person must do before the plan is applied."""
    merges = " by the merge" if is_in_job() else ""
    blocks = guard_blocks(plan.guarded)
    for consent, words in (
        ("review", f"a reviewer consents{merges} to"),
        ("explicit", "whoever applies consents by name to"),
    ):
        asking = [block for block in blocks if sections.consent_of(block.first) == consent]
        if asking:
            count = sum(len(block.guards) for block in asking)
            numbers = (f" {len(block.guards):,}" if len(asking) > 1 else "" for block in asking)
            codes = ", ".join(
                f"{code(block.first.code)}{number}"
                for block, number in zip(asking, numbers, strict=True)
            )
            yield f"{words} {count:,} ({codes})"
    for awaited in dict.fromkeys(guard.awaited for guard in sections.open_guards(plan)):
        if awaited:
            yield sentence(awaited, sections.LONGEST_CONSENT)
    if plan.unsettled:
        yield f"whoever applies settles {plural(len(plan.unsettled), 'create')}"


def _warnings(plan: Plan) -> Iterator[str]:
    """Yield each guard with its resources and remedies, and a quote for each other notice."""
    for _, alike in groupby(sections.notices(plan), key=lambda notice: notice.title):
        room, left_out = MOST_NOTICES, 0
        for notice in alike:
            if room <= 0:
                left_out += notice.size
                continue
            yield from _guard(notice, room) if notice.code else _quote(notice)
            yield ""
            room -= notice.size
        if left_out:
            yield f"{and_more(left_out)} like the last"
            yield ""


def _guard(notice: sections.Notice, room: int) -> Iterator[str]:
    """Yield what a guard is about, a list of at most `room` resources, and a list of remedies."""
    count = f", {notice.count}" if notice.size > 1 else ""
    subject = notice.words[:1].upper() + notice.words[1:]
    consent = MERGING if notice.is_reviewed and is_in_job() else notice.title
    yield f"⚠️ **{subject}** ({code(notice.code)}{count}): {consent}"
    yield ""
    rest = notice.size
    for member in notice.members:
        if room <= 0:
            break
        refs = member.refs
        shown = len(refs[:room]) or 1
        room, rest = room - shown, rest - (len(refs) or 1)
        text = sentence(member.said, LONGEST_SAID)
        # Two code spans without a blank between them would be one.
        between = " " if refs and text.startswith("`") else ""
        yield f"- {first_few(refs, shown, _cell)}{between}{text}"
        yield from (f"  - {sentence(way, LONGEST_SAID)}" for way in member.remedies)
    if rest:
        yield f"- {and_more(rest)}"
    if notice.ways:
        yield ""
        yield "<details><summary>Remedies</summary>" if notice.is_reviewed else "Remedies:"
        yield ""
        yield from (f"- {sentence(way, LONGEST_SAID)}" for way in notice.ways)
        if notice.is_reviewed:
            yield from ("", "</details>")


def _quote(notice: sections.Notice) -> Iterator[str]:
    text = sentence(notice.said.strip(), LONGEST_SAID) if notice.said else notice.words
    if notice.names:
        text = f"loses {first_few(notice.names, MOST_NOTICES, _cell)}"
    if notice.refs:
        between = " " if notice.said else ": "
        text = f"{first_few(notice.refs, MOST_NAMED, _cell)}{between}{text}"
    yield f"> ⚠️ **{notice.title}**: {text}"
    yield from (f"> - {sentence(way, LONGEST_SAID)}" for way in notice.ways)


def _sections_markdown(plan: Plan) -> Iterator[str]:
    for section, formats in sections.shown_sections(plan):
        yield from formats.changes_markdown(section, plan.changes)
    yield from sections.watchers_markdown(plan)
    for section, formats in sections.shown_sections(plan):
        yield from formats.markdown(section)


def _cell(name: str) -> str:
    return code(name, LONGEST_CELL)


def _markdown_groups(changes: Sequence[Change], plan: Plan) -> Iterator[_Group]:
    """Yield changes with their notes, grouped where the notes of many are the same."""
    alone = sections.blocked_alone(plan)
    unmet = {guard.ref for guard in plan.guarded if not guard.is_met}
    explicit = {guard.ref for guard in plan.guarded if sections.consent_of(guard) == "explicit"}

    def shown(change: Change) -> _Shown:
        note, said = ("", None) if change is alone else _note(change)
        notes = reported_notes(change)[said:] if said is not None else ()
        lines = [*(f"# {safe(text)}" for text in notes), *diff_lines(field_changes(change))]
        picture = picture_lines(drawing_of(change))
        if len(picture) == 1:
            lines.append(f"# {picture.pop()}")
        marks = change.ref in unmet, change.ref in explicit
        return _Shown(tuple(picture), tuple(lines), note, *marks)

    keys = [(shown(change), change.ref.kind, change.action, change.evidence) for change in changes]
    return ((key[0], alike) for key, alike in _alike(keys, changes))


def _note(change: Change) -> tuple[str, int]:
    """Return the text for the row of a change, and how many of the change's notes it shows.

    A blocked change has all of its reasons there if they fit.
    """
    notes = reported_notes(change, in_backticks)
    whole = "; ".join(notes)
    if change.action is Action.BLOCKED and len(whole) <= LONGEST_NOTE:
        return sentence(whole, LONGEST_NOTE), len(notes)
    note = "".join(sentence(text, LONGEST_NOTE) for text in notes[:1])
    if len(notes) > 1:
        note += f"; {and_more(len(notes) - 1)} below"
    return note, 1


def _kinds(changes: Sequence[Change]) -> Iterator[str]:
    numbers = Counter((change.ref.kind, change.action) for change in changes)
    kinds = [*dict.fromkeys(change.ref.kind for change in changes)]

    def row(kind: str) -> list[str]:
        return [_cell(kind), *(f"{numbers[kind, action]:,}" for action in _SHOWN)]

    headings = ("kind", *(f"{action.word}:" for action in _SHOWN))
    yield from markdown_table(headings, kinds, row, len(kinds))


def _table(groups: Sequence[_Group], room: int) -> Iterator[str]:
    """Yield a row for each group that fits; a note of several rows is below the table, once."""
    if not groups:
        return
    often = Counter(look.note for look, _ in groups[:MOST_ROWS])
    shared = [note for note, count in often.items() if note and count > 1]
    numbers = {note: f"({number})" for number, note in enumerate(shared, 1)}
    below = [f"<sub>{number} {note}</sub>\n" for note, number in numbers.items()]

    def row(group: _Group) -> str:
        return _row(group, numbers.get(group[0].note, group[0].note))

    room -= len("\n".join(below).encode())
    rows = [*filter(None, first_lines(groups, row, MOST_ROWS, "", room))]
    yield "| action | resource | what | evidence | note |"
    yield "|---|---|---|---|---|"
    yield from rows
    if more := and_more(sum(len(changes) for _, changes in groups[len(rows) :])):
        yield f"| | {more} | | | |"
    yield ""
    yield from below


def _row(group: _Group, note: str) -> str:
    change, others = group[1][0], len(group[1]) - 1
    mark = "⚠️&nbsp;" if group[0].is_marked else ""
    sign = f"{mark}`{change.action.value}`&nbsp;{change.action.word}"
    more = f" and {others:,} alike" if others else ""
    named = _cell(str(change.ref))
    if not _has_fold(group) and change.source is not None:
        named += f" in {_cell(str(change.source))}"
    return table_row(sign, f"{named}{more}", _what(change), counts.evidence(change), note)


def _what(change: Change) -> str:
    """Return an update's changes, or their places if they are long; else the essentials."""
    if change.action is not Action.UPDATE:
        text = BETWEEN.join(essentials_of(change))
        return code(text, LONGEST_WHAT) if text else ""
    found = field_changes(change)
    turns = BETWEEN.join(
        f"{field_change.field}: {field_change.before} → {field_change.after}"
        for field_change in found
    )
    is_whole = all(
        field_change.operation == "change" and not field_change.subject for field_change in found
    )
    is_short = 0 < len(turns) <= LONGEST_TURNS
    if is_whole and is_short:
        return code(turns)
    gone = sum(field_change.operation == "remove" for field_change in found)
    shown = max(MOST_PLACES, min(gone, MOST_NOTICES) if change.destroys else 0)
    places = list(dict.fromkeys(map(_place, sorted(found, key=_urgency))))
    return first_few(places, shown, _cell) or plural(len(change.differences), "field")


def _place(field_change: FieldChange) -> str:
    """Return the place of a change, and its values if they are short."""
    words = BETWEEN.join(filter(None, (field_change.subject, field_change.field)))
    sign, turn = _SIGNS[field_change.operation], _turn(field_change)
    return f"{sign}{safe(words, LONGEST_CELL - len(sign + turn))}{turn}"


def _urgency(field_change: FieldChange) -> int:
    """Return the rank of a place: removals, added parts, values that can be shown, the rest."""
    match field_change.operation:
        case "remove":
            return 0
        case "add" if not field_change.field:
            return 1
        case _:
            return 2 if _turn(field_change) else 3


def _turn(field_change: FieldChange) -> str:
    """Return both values of a field; "" where they are long."""
    turn = f": {field_change.before} → {field_change.after}"
    is_shown = field_change.operation == "change" and len(turn) <= LONGEST_TURN
    return turn if is_shown else ""


def _markdown_legend(changes: Sequence[Change]) -> Iterator[str]:
    """Yield what each evidence other than the live document means."""
    for word, meaning in counts.legend(changes).items():
        if word != LIVE:
            yield f"<sub>{word}: {meaning}</sub>"
            yield ""


def _fold(group: _Group, files: str) -> Fold:
    shown, (first, *others) = group
    lines = (*shown.lines, *_names(others))
    title = f"{first.action.word}, {counts.evidence(first)}"
    if others:
        title += f" and {len(others):,} alike"
    is_open = shown.is_explicit or (None if first.action is Action.UPDATE else False)
    return Fold(str(first.ref), title, lines, shown.picture, is_open, place_of(first.source, files))


def _names(others: Sequence[Change]) -> Iterator[str]:
    """Yield the names of the other changes that are alike, several on a line."""
    names = ", ".join(safe(change.ref.name) for change in others[:MOST_NAMES])
    if others:
        yield "# the same for"
    for line in wrap(names, LONGEST_INLINE, break_long_words=False, break_on_hyphens=False):
        yield f"#   {line}"
    if more := and_more(len(others) - MOST_NAMES):
        yield f"#   {more}"


MOST_EDITS = 10
LONGEST_REF = 60
LONGEST_EDIT = 120


def owners_markdown(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a line for each owner of a change, and a line for each known last edit."""
    owners = [
        line
        for section, formats in sections.shown_sections(plan)
        for line in formats.owners_markdown(section, changes)
    ]
    lines = [*owners, *_edits(changes, every=bool(owners))]
    if lines:
        yield "Whose it is:"
        yield from lines
        yield ""


def _edits(changes: Sequence[Change], *, every: bool) -> Iterator[str]:
    """Yield who last edited a resource live: edits by hand, or every edit."""
    edits = [
        f"- {code(str(change.ref), LONGEST_REF)} was changed live last "
        f"{code(str(seen.edit), LONGEST_EDIT)}"
        for change in changes
        if isinstance(seen := change.observation, Seen)
        and seen.edit.who
        and (seen.by_hand or every)
    ]
    yield from first_lines(edits, str, MOST_EDITS, "- and {} more that were changed live")
