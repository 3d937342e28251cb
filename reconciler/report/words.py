"""Places and values in words that a person can read. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from reconciler.document import ABSENT, Json, Missing, Path, stored_name, value_at
from reconciler.report.safe import ELLIPSIS, safe
from reconciler.resource import Action, Change, Evidence, Look, Plan, Remembered, Seen
from reconciler.sealed import references_in

_IDENTITIES = (("id", "value"), ("policy", "name"), ("id",), ("name",), ("fieldName",))
_LABELS = (
    ("title",),
    ("displayName",),
    ("policy", "name"),
    ("options", "custom", "name"),
    ("name",),
    ("fieldName",),
)

VERBS = {
    Action.CREATE: "create",
    Action.UPDATE: "update",
    Action.ASSERT: "assert",
    Action.BLOCKED: "blocked",
    Action.KEEP: "unchanged",
}

WORST_FIRST = (Action.BLOCKED, Action.UPDATE, Action.ASSERT, Action.CREATE, Action.KEEP)
"""In which order a report shows changes: what may hurt comes first."""


EVIDENCE_MEANINGS = {
    "live": "the service was asked just now",
    "journal": "the API cannot show it, so it is compared with the last write",
    "unseen": "the API cannot show it, and the journal has no write of it",
}


def place(path: Path, *documents: Json | Missing) -> str:
    """Give a path as people say it: `sections["Overview"].rows[0].title`.

    Items of lists are named by their title or name, found in the first of the
    documents that holds them, and else counted from 0, as in the JSON. Two of
    one name are counted too: `widgets[3 "Latency"]`.
    """
    words = ""
    here: list[Json | Missing] = list(documents)
    for step in path:
        lists = [document for document in here if isinstance(document, list)]
        if isinstance(step, int):
            words += f"[{step}]"
            here = [value_at(document, (step,)) for document in here]
        elif lists:
            found = [_item(items, step) for items in lists]
            label = next(
                (
                    _label(index, items)
                    for (index, item), items in zip(found, lists, strict=True)
                    if item is not ABSENT
                ),
                "",
            )
            words += f"[{label or json.dumps(step, ensure_ascii=False)}]"
            here = [item for _, item in found]
        else:
            words += f".{step}" if words else step
            here = [value_at(document, (step,)) for document in here]
    return safe(words)


def item_at(items: Sequence[Json], step: str | int) -> tuple[int, Json | Missing]:
    """Find an item of a list by its identity or index; `(-1, ABSENT)` where it is not there."""
    if isinstance(step, int):
        return (step, items[step]) if step < len(items) else (-1, ABSENT)
    return _item(items, step)


def _item(items: Sequence[Json], key: str) -> tuple[int, Json | Missing]:
    for identity in _IDENTITIES:
        for index, item in enumerate(items):
            name = value_at(item, identity)
            if isinstance(name, str) and key in (name, stored_name(name)):
                return index, item
    return -1, ABSENT


def _label(index: int, items: Sequence[Json]) -> str:
    name = name_of(items[index])
    if not name:
        return str(index)
    shown = json.dumps(name, ensure_ascii=False)
    return f"{index} {shown}" if sum(name_of(item) == name for item in items) > 1 else shown


def name_of(item: Json) -> str:
    """Give what a person called an item of a list; "" where nobody did."""
    for path in _LABELS:
        value = value_at(item, path)
        if isinstance(value, str) and value:
            return value
    return ""


def standing(path: Path, document: Json | Missing) -> tuple[int, int] | None:
    """Give the position from 1 of a keyed list's item, and how many there are.

    None for any other place. In a list of policies, say, the order is meaning.
    """
    here, found = document, None
    for step in path:
        found = None
        if isinstance(here, list) and isinstance(step, str):
            index, item = _item(here, step)
            if item is not ABSENT:
                found = index + 1, len(here)
            here = item
        else:
            here = value_at(here, (step,))
    return found


def leaves(document: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield what stands at the ends of a document; a list of plain values is one end."""
    inner: Iterable[tuple[str | int, Json]] = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list) and any(isinstance(item, dict | list) for item in document):
        inner = enumerate(document)
    if not inner:
        yield path, document
    for key, value in inner:
        yield from leaves(value, (*path, key))


def value(document: Json | Missing, longest: int) -> str:
    """Give a value on one line, cut to `longest` characters."""
    if document is ABSENT:
        return "(absent)"
    if references_in(document):
        waits = ", ".join(sorted(map(str, references_in(document))))
        return safe(f"(known after apply: {waits})", longest)
    return safe(json.dumps(document, ensure_ascii=False), longest)


def around_difference(before: str, after: str, room: int) -> tuple[str, str]:
    """Cut two long texts so that the place where they part is in sight."""
    common = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        common += 1
    start = max(0, common - room // 3) if max(len(before), len(after)) > room else 0
    head = ELLIPSIS if start else ""
    return safe(head + before[start:], room), safe(head + after[start:], room)


def live_document(change: Change) -> Json | Missing:
    """Give what a change was compared with, as it may be shown, where anything was."""
    match change.observation:
        case Seen(document=document) | Remembered(document=document):
            return document if change.before is None else change.before
        case _:
            return ABSENT


def evidence(change: Change) -> str:
    """Say what a change rests on."""
    match change.evidence:
        case Evidence.LIVE:
            return "live"
        case Evidence.JOURNAL:
            return "journal"
        case Evidence.NONE:
            return "unseen"


def summary(plan: Plan) -> str:
    """Give the counts of a plan in one line, without those that are zero."""
    words = []
    for action in (Action.CREATE, Action.UPDATE, Action.ASSERT, Action.BLOCKED, Action.KEEP):
        count = plan.count(action)
        if count:
            plain = action in (Action.BLOCKED, Action.KEEP)
            words.append(f"{count:,} {'' if plain else 'to '}{VERBS[action]}")
    destroyed = sum(len(change.destroys) for change in plan.changes)
    if destroyed:
        words.append(f"{destroyed:,} destroyed for good")
    return ", ".join(words) or ("nothing changed" if plan.changed_since else "nothing is declared")


def plural(count: int, noun: str, several: str = "") -> str:
    """Give `1 field` or `2 fields`; `several` is the plural of a noun that takes more than an s."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def lost_json(change: Change) -> str:
    """Give whole what a write destroys, so that it can be restored by hand."""
    return json.dumps(list(change.lost), ensure_ascii=True)


def drift_summary(look: Look) -> str:
    """Give the counts of a comparison with live in one line, the worst first."""
    counts = Counter(drift.state for drift in look.found)
    drifted = counts["drifted"] + counts["gone"]
    words = [
        f"{plural(drifted, 'resource')} drifted" if drifted else "no drift",
        *([f"{look.new:,} new since {look.since}"] if look.new else []),
        f"{counts['same']:,} as applied",
    ]
    if counts["unread"]:
        words.append(f"{counts['unread']:,} that could not be read")
    if counts["unseen"]:
        words.append(f"{counts['unseen']:,} that the API cannot show")
    if counts["unapplied"]:
        words.append(f"{counts['unapplied']:,} never applied")
    if look.ignored:
        words.append(f"{plural(look.ignored, 'difference')} ignored")
    return ", ".join(words)
