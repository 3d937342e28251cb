"""Values and counts in readable words. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from math import inf
from operator import eq
from typing import TypeVar

from reconciler.document import ABSENT, Json, Missing, Path
from reconciler.model.quoting import and_more
from reconciler.redaction.templates import references_in
from reconciler.report.safe import ELLIPSIS, safe


def place(path: Path) -> str:
    """Return a path as in the JSON: `sections[0].title`. For its label see `spoken_place`."""
    words = ""
    for step in path:
        if isinstance(step, int):
            words += f"[{step}]"
        else:
            words += f".{step}" if words else step
    return safe(words)


def leaves(document: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield the leaves of a document with their paths; a list of plain values is one leaf."""
    inner: Iterable[tuple[str | int, Json]] = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list) and any(isinstance(item, dict | list) for item in document):
        inner = enumerate(document)
    if not inner:
        yield path, document
    for key, child in inner:
        yield from leaves(child, (*path, key))


def as_json(document: Json) -> str:
    """Return a document as JSON on one line; the caller escapes it for a terminal."""
    return json.dumps(document, ensure_ascii=False)


def value(document: Json | Missing, longest: int) -> str:
    """Return a value on one line, cut to `longest` characters."""
    if document is ABSENT:
        return "(absent)"
    if references_in(document):
        waits = ", ".join(sorted(map(str, references_in(document))))
        return safe(f"(known after apply: {waits})", longest)
    return safe(as_json(document), longest)


def alike(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the number of items that both begin with."""
    return sum(takewhile(bool, map(eq, left, right)))


def around_difference(before: str, after: str, room: int) -> tuple[str, str]:
    """Return two long texts, cut so that the place of their first difference is visible."""
    common = alike(before, after)
    start = max(0, common - room // 3) if max(len(before), len(after)) > room else 0
    head = ELLIPSIS if start else ""
    return safe(head + before[start:], room), safe(head + after[start:], room)


def first_few(
    names: Sequence[object], most: int, shown: Callable[[str], str] = str, joint: str = ", "
) -> str:
    """Return the first `most` names as they are `shown`, joined, and the number of the rest."""
    parts = joint.join(shown(str(name)) for name in names[:most]), and_more(len(names) - most)
    return " ".join(filter(None, parts))


Item = TypeVar("Item")


def first_lines(
    items: Sequence[Item], line: Callable[[Item], str], most: int, rest: str, room: float = inf
) -> Iterator[str]:
    """Yield a line for each of the first items that fit into `room` bytes, and count the others.

    `rest` is the template of the last line, with the number of items that are left out.
    """
    listed = 0
    for item in items[:most]:
        text = line(item)
        room -= len(text.encode()) + 1
        if room < 0:
            break
        listed += 1
        yield text
    if listed < len(items):
        yield rest.format(f"{len(items) - listed:,}")


def as_sentence(words: str) -> str:
    """Return words as a sentence: a capital at the beginning, a full stop at the end."""
    return f"{words[0].upper()}{words[1:]}."


def plural(count: int, noun: str, several: str = "") -> str:
    """Return `1 field` or `2 fields`; `several` is an irregular plural."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"
