"""What a write does to the fields of one resource, in words. Pure; every report reads this."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from reconciler.document import ABSENT, Difference, Json, Missing, Operation, Path
from reconciler.kinds import BY_NAME
from reconciler.kinds.facts import NOTHING, Facts, facts_at
from reconciler.kinds.kind import Kind
from reconciler.report.changes.line_diff import Line, line_diff
from reconciler.report.changes.spoken_place import spoken_place
from reconciler.report.changes.spoken_value import spoken_value
from reconciler.report.safe import safe
from reconciler.report.words import leaves, live_document, standing
from reconciler.resource import Action, Change, Drift
from reconciler.template import references_in

LONGEST_ON_ONE_LINE = 100
LONGEST_COMPARED = 200_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """One end of a part that comes or goes whole: its place inside that part, and its value."""

    subject: str
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One difference, its texts safe and on one line each.

    `subject` is the part of the resource (empty for the resource itself) and
    `field` what of it changes (empty where the part itself comes, goes or
    moves). `stands` says from which place to which, or at which. Long values
    have `lines`, parts that come or go have `leaves`; the rest is in `before`
    and `after`, whole.
    """

    path: Path
    subject: str
    field: str
    operation: Operation
    before: str = ""
    after: str = ""
    stands: str = ""
    lines: tuple[Line, ...] = ()
    leaves: tuple[Leaf, ...] = ()


def field_changes(change: Change) -> tuple[FieldChange, ...]:
    """Give what a planned write does, the resource's own fields first, then part by part.

    Something new is said whole, also where it is as good as absent: `enabled: false`.
    """
    found = change.differences if change.action.writes else ()
    if change.action in (Action.CREATE, Action.ASSERT):
        found = tuple(Difference((key,), ABSENT, one, "add") for key, one in change.body.items())
    kind = BY_NAME.get(change.ref.kind)
    return _together(_said(one, change.body, live_document(change), kind) for one in found)


def drift_changes(drift: Drift) -> tuple[FieldChange, ...]:
    """Give what became of the fields since they were applied; `after` is live."""
    kind = BY_NAME.get(drift.ref.kind)
    return _together(_said(one, drift.live, ABSENT, kind) for one in drift.differences)


def by_subject(found: Sequence[FieldChange]) -> Iterator[tuple[str, list[FieldChange]]]:
    """Yield the parts of a resource with what changes in each."""
    for subject, group in groupby(found, key=lambda one: one.subject):
        yield subject, list(group)


def _together(found: Iterator[FieldChange]) -> tuple[FieldChange, ...]:
    order: dict[str, list[FieldChange]] = {"": []}
    for one in found:
        order.setdefault(one.subject, []).append(one)
    return tuple(one for group in order.values() for one in group)


def _said(
    difference: Difference, after: Json, before: Json | Missing, kind: Kind | None
) -> FieldChange:
    path, operation = difference.path, difference.operation
    documents = (before, after) if operation == "remove" else (after, before)
    subject, field = spoken_place(path, *documents, unsaid=kind.unsaid if kind else frozenset())
    facts = facts_at(kind.spec, path) if kind else NOTHING
    match operation:
        case "move":
            stands = _moves(difference, documents, kind)
            return FieldChange(path, subject, field, operation, stands=stands)
        case "add":
            place = standing(path, after)
            stands = f"at place {place[0]} of {place[1]}" if place else ""
            text, ends = _whole(difference.after, path, facts, kind)
            rest = _beyond_name(ends, subject)
            return FieldChange(
                path, subject, field, operation, after=text, stands=stands, leaves=rest
            )
        case "remove":
            text, ends = _whole(difference.before, path, facts, kind)
            rest = _beyond_name(ends, subject)
            return FieldChange(path, subject, field, operation, before=text, leaves=rest)
        case "change":
            lines = _lines(difference, facts)
            old, new = _sides(difference, facts)
            return FieldChange(path, subject, field, operation, old, new, lines=lines)


def _moves(difference: Difference, documents: Sequence[Json | Missing], kind: Kind | None) -> str:
    """Say from where to where something moves, also out of another list."""
    now = _position(difference.after)
    if difference.list_before is not None and isinstance(difference.before, list):
        was, unsaid = _position(difference.before[-1]), kind.unsaid if kind else frozenset[str]()
        old, _ = spoken_place(difference.list_before, *reversed(documents), unsaid=unsaid)
        new, _ = spoken_place(difference.path[:-1], *documents, unsaid=unsaid)
        return f"from place {was} of {old} to place {now} of {new}"
    was = _position(difference.before)
    if was == now:
        # As the middle one of a list that is turned round.
        return f"past its neighbours, still at place {now}"
    return f"from place {was} to place {now}"


def _position(place: Json | Missing) -> str:
    return str(place + 1) if isinstance(place, int) else safe(str(place))


def _whole(
    document: Json | Missing, path: Path, facts: Facts, kind: Kind | None
) -> tuple[str, tuple[Leaf, ...]]:
    """Give a part that comes or goes: on one line, and end by end where it has several."""
    ends = [] if document is ABSENT else list(leaves(document))
    if len(ends) == 1 and ends[0][0] == ():
        return spoken_value(document, facts), ()
    unsaid = kind.unsaid if kind else frozenset[str]()
    # What belongs to the part itself comes first, so that no line follows under another's name.
    found: dict[str, list[Leaf]] = {"": []}
    for inner, end in ends:
        if inner[-2:] == ("id", "value") or end in ("", None, []):
            continue
        subject, field = spoken_place(inner, document, unsaid=unsaid)
        known = facts_at(kind.spec, (*path, *inner)) if kind else NOTHING
        leaf = Leaf(subject, field, spoken_value(end, known))
        found.setdefault(subject, []).append(leaf)
    return spoken_value(document), tuple(leaf for group in found.values() for leaf in group)


def _beyond_name(ends: Sequence[Leaf], subject: str) -> tuple[Leaf, ...]:
    """Leave out the name by which the subject is called already."""
    return tuple(
        one
        for one in ends
        if one.subject or not (one.text.startswith('"') and subject.endswith(one.text))
    )


def _sides(difference: Difference, facts: Facts) -> tuple[str, str]:
    """Say both values; as JSON where their words would be the same."""
    before, after = (spoken_value(one, facts) for one in (difference.before, difference.after))
    if before != after:
        return before, after
    return spoken_value(difference.before), spoken_value(difference.after)


def _lines(difference: Difference, facts: Facts) -> tuple[Line, ...]:
    """Compare long values line by line; nothing where one line each says it better."""
    before, after = difference.before, difference.after
    if before is ABSENT or after is ABSENT or references_in([before, after]):
        return ()
    if facts.unordered and isinstance(before, list) and isinstance(after, list):
        return _members(before, after, facts)
    old, new = _text(before), _text(after)
    longest = max(len(old), len(new))
    if (longest <= LONGEST_ON_ONE_LINE and "\n" not in old + new) or longest > LONGEST_COMPARED:
        return ()
    lines = line_diff(old, new)
    gone = {line.text for line in lines if line.sign == "-"}
    if any(line.sign == "+" and line.text in gone for line in lines):
        # They differ in what a line cannot show, as a break at the end: JSON says it.
        return ()
    return lines


def _text(document: Json) -> str:
    if isinstance(document, str):
        return document
    short = json.dumps(document, ensure_ascii=False)
    if len(short) <= LONGEST_ON_ONE_LINE:
        return short
    return json.dumps(document, ensure_ascii=False, indent=2)


def _members(before: Sequence[Json], after: Sequence[Json], facts: Facts) -> tuple[Line, ...]:
    """Say which members a set loses and gains: its order means nothing."""
    item = facts.items or NOTHING
    old, new = ([spoken_value(one, item) for one in side] for side in (before, after))
    gone = [Line("-", one) for one in old if one not in new]
    come = [Line("+", one) for one in new if one not in old]
    kept = len(new) - len(come)
    rest = [Line("…", f"{kept:,} the same")] if kept else []
    return (*gone, *come, *rest) if gone or come else ()
