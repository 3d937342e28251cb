"""A plan as a comment that a reviewer reads in a minute. Source: docs/reports.md.

Foreign text is only in code spans and fences, or is plain words that mean nothing in Markdown. So
no text of a manifest can act as Markdown, mention anyone or close its container.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from textwrap import wrap

from reconciler.document import Operation
from reconciler.model import Action, Change, LastEdit, Plan, Ref, Seen
from reconciler.model.quoting import and_more
from reconciler.report.changes.field_changes import FieldChange, essentials_of, field_changes
from reconciler.report.changes.lines import LONGEST_INLINE, diff_lines
from reconciler.report.counts import (
    EVIDENCE_MEANINGS,
    SHOWN_COMMIT,
    WORST_FIRST,
    describe_kept,
    evidence,
    summary,
)
from reconciler.report.labels import BETWEEN
from reconciler.report.markdown import COMMENT_BYTES, WHOLE, Fold, code, sentence, with_folds
from reconciler.report.pictures import drawing_of, picture_lines
from reconciler.report.reasons import in_backticks, reported_notes
from reconciler.report.safe import safe
from reconciler.report.sections import Notice, emptiness, notices, shown_sections
from reconciler.report.watcher_formats import watchers_markdown
from reconciler.report.words import first_few, first_lines, plural

MOST_ROWS = 50
MOST_NOTICES = 20
MOST_NAMED = 5
MOST_PLACES = 3
FEWEST_ALIKE = 5
MOST_NAMES = 500
LONGEST_CELL = 80
LONGEST_SAID = 300
LONGEST_NOTE = 200
LONGEST_WHAT = 160
LONGEST_TURNS = 100
TABLE_BYTES = 30_000
BESIDE_BYTES = 8_000
LIVE = "live"

_SIGNS: Mapping[Operation, str] = {"add": "+ ", "remove": "- ", "move": "↕ ", "change": ""}
_SHOWN = tuple(action for action in WORST_FIRST if action.is_to_do)


@dataclass(frozen=True, slots=True)
class _Group:
    """Changes that are alike: the notes on the first apply to all of them."""

    changes: list[Change]
    picture: Sequence[str]
    lines: Sequence[str]

    @property
    def first(self) -> Change:
        """The change that is shown."""
        return self.changes[0]


def plan_markdown(plan: Plan, budget: int = COMMENT_BYTES, whole: str = WHOLE) -> str:
    """Return the comment, never above `budget` bytes of UTF-8, ending in a line break.

    Diffs that do not fit are left out whole, the largest first, and `whole` names where to find
    them. Counts, warnings and table always stay; they need at most 40,000 bytes. Changes that are
    alike share one row and one diff.
    """
    changes = sorted(
        (change for change in plan.changes if change.action.is_to_do),
        key=lambda change: (WORST_FIRST.index(change.action), not change.destroys, change.ref),
    )
    groups = list(_groups(changes))
    counts = _kinds(changes) if len(changes) > MOST_ROWS else ()
    beside = [*_beside(plan), *owners_markdown(plan, changes)]
    # The sections next to the table reduce its room, so that both fit any comment.
    table = _table(groups, TABLE_BYTES - len("\n".join(beside).encode()))
    legend = _legend(changes)
    head = "\n".join((*_head(plan), *_warnings(plan), *counts, *table, *legend, *beside))
    foot = "\n".join(("", f"<sub>digest {code(plan.digest)}</sub>", ""))
    folds = [
        _fold(group) for group in groups if group.lines or group.picture or len(group.changes) > 1
    ]
    room = budget - len((head + foot).encode()) - 1
    end = ""
    for section, formats in shown_sections(plan):
        text = formats.end_markdown(section, min(BESIDE_BYTES, room))
        room -= len(text.encode())
        end += text
    return with_folds(head + "\n", folds, budget, whole, end + foot)


def _head(plan: Plan) -> Iterator[str]:
    where = code(plan.environment, LONGEST_CELL)
    if plan.against is not None:
        commit = code(plan.against.commit[:SHOWN_COMMIT])
        where = f"{where} against {commit} (nothing live was asked)"
    yield f"### Plan for {where}: {summary(plan)}"
    yield ""
    if not plan.declared:
        yield emptiness(plan)
        yield ""
    elif not plan.has_changes:
        yield f"{describe_kept(plan.changes)}."
        yield ""


def _warnings(plan: Plan) -> Iterator[str]:
    """Yield each guard with its resources and remedies, and a quote for each other notice."""
    for _, alike in groupby(notices(plan), key=lambda notice: notice.title):
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


def _guard(notice: Notice, room: int) -> Iterator[str]:
    """Yield what a guard is about, a list of at most `room` resources, and a list of remedies."""
    count = f", {plural(notice.size, 'resource')}" if notice.size > 1 else ""
    subject = notice.words[:1].upper() + notice.words[1:]
    yield f"⚠️ **{subject}** ({code(notice.code)}{count}): {notice.title}"
    yield ""
    rest = notice.size
    for refs, said in notice.members:
        if room <= 0:
            break
        shown = len(refs[:room]) or 1
        room, rest = room - shown, rest - (len(refs) or 1)
        text = sentence(said, LONGEST_SAID)
        if not refs:
            yield f"- {text}"
        elif text.startswith("`"):
            # Two code spans without a blank between them would be one.
            yield f"- {first_few(refs, shown, _cell)} {text}"
        else:
            yield f"- {first_few(refs, shown, _cell)}{text}"
    if rest:
        yield f"- {and_more(rest)}"
    if notice.ways:
        yield ""
        yield "Remedies:"
        yield ""
        yield from (f"- {sentence(way, LONGEST_SAID)}" for way in notice.ways)


def _quote(notice: Notice) -> Iterator[str]:
    text = sentence(notice.said, LONGEST_SAID) if notice.said else notice.words
    if notice.names:
        text = f"loses {first_few(notice.names, MOST_NOTICES, _cell)}"
    if notice.refs:
        text = f"{first_few(notice.refs, MOST_NAMED, _cell)}: {text}"
    yield f"> ⚠️ **{notice.title}**: {text}"
    yield from (f"> - {sentence(way, LONGEST_SAID)}" for way in notice.ways)


def _beside(plan: Plan) -> Iterator[str]:
    """Yield lists about the changes, then what concerns the whole plan."""
    for section, formats in shown_sections(plan):
        yield from formats.changes_markdown(section, plan.changes)
    yield from watchers_markdown(plan)
    for section, formats in shown_sections(plan):
        yield from formats.markdown(section)


def _cell(name: str) -> str:
    return code(name, LONGEST_CELL)


def _groups(changes: Sequence[Change]) -> Iterator[_Group]:
    """Yield changes with their notes, grouped where the notes of many are the same."""
    groups: dict[tuple[object, ...], _Group] = {}
    for change in changes:
        picture, lines = picture_lines(drawing_of(change)), list(_lines(change))
        if len(picture) == 1:
            lines.append(f"# {picture.pop()}")
        first = reported_notes(change)[:1]
        key = change.ref.kind, change.action, change.evidence, *first, *picture, *lines
        groups.setdefault(key, _Group([], picture, lines)).changes.append(change)
    for group in groups.values():
        if len(group.changes) < FEWEST_ALIKE:
            yield from (replace(group, changes=[change]) for change in group.changes)
        else:
            yield group


def _lines(change: Change) -> Iterator[str]:
    for note in reported_notes(change)[1:]:
        yield f"# {safe(note)}"
    yield from diff_lines(field_changes(change))


def _kinds(changes: Sequence[Change]) -> Iterator[str]:
    counts = Counter((change.ref.kind, change.action) for change in changes)
    yield f"| kind | {' | '.join(action.word for action in _SHOWN)} |"
    yield f"|---|{'--:|' * len(_SHOWN)}"
    for kind in dict.fromkeys(change.ref.kind for change in changes):
        cells = (f"{counts[kind, action]:,}" for action in _SHOWN)
        yield f"| {code(kind, LONGEST_CELL)} | {' | '.join(cells)} |"
    yield ""


def _table(groups: Sequence[_Group], room: int) -> Iterator[str]:
    if not groups:
        return
    yield "| action | resource | what | evidence | note |"
    yield "|---|---|---|---|---|"
    shown = 0
    for group in groups[:MOST_ROWS]:
        row = _row(group.first, len(group.changes) - 1)
        room -= len(row.encode()) + 1
        if room < 0:
            break
        shown += 1
        yield row
    if more := and_more(sum(len(group.changes) for group in groups[shown:])):
        yield f"| | {more} | | | |"
    yield ""


def _row(change: Change, others: int) -> str:
    notes = reported_notes(change, in_backticks)
    note = "".join(sentence(text, LONGEST_NOTE) for text in notes[:1])
    if len(notes) > 1:
        note += f"; {and_more(len(notes) - 1)} below"
    sign = f"`{change.action.value}`&nbsp;{change.action.word}"
    more = f" and {others:,} alike" if others else ""
    named = _cell(str(change.ref))
    return f"| {sign} | {named}{more} | {_what(change)} | {evidence(change)} | {note} |"


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
    places = list(dict.fromkeys(map(_place, found)))
    return first_few(places, MOST_PLACES, _cell) or plural(len(change.differences), "field")


def _place(field_change: FieldChange) -> str:
    words = BETWEEN.join(filter(None, (field_change.subject, field_change.field)))
    return f"{_SIGNS[field_change.operation]}{words}"


def _legend(changes: Sequence[Change]) -> Iterator[str]:
    """Yield what each evidence other than the live document means."""
    found = {evidence(change) for change in changes}
    for word, meaning in EVIDENCE_MEANINGS.items():
        if word in found and word != LIVE:
            yield f"<sub>{word}: {meaning}</sub>"
            yield ""
    if any(change.action is Action.ASSERT for change in changes):
        yield "<sub>assert: a write without having seen; it replaces whatever is there</sub>"
        yield ""


def _fold(group: _Group) -> Fold:
    others = group.changes[1:]
    lines = (*group.lines, *_names(others))
    title = f"{group.first.action.word}, {evidence(group.first)}"
    if others:
        title += f" and {len(others):,} alike"
    folded = group.first.action is not Action.UPDATE
    return Fold(str(group.first.ref), title, lines, group.picture, folded)


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
        for section, formats in shown_sections(plan)
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
        (change.ref, seen.edit)
        for change in changes
        if isinstance(seen := change.observation, Seen)
        and seen.edit.who
        and (seen.by_hand or every)
    ]
    yield from first_lines(edits, _edit, MOST_EDITS, "- and {} more that were changed live")


def _edit(edited: tuple[Ref, LastEdit]) -> str:
    ref, edit = edited
    return f"- {code(str(ref), LONGEST_REF)} was changed live last {code(str(edit), LONGEST_EDIT)}"
