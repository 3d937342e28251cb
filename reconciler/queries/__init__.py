"""Queries inside documents: whether they can be parsed, where not, and what they use.

A parser library is imported when the first query of its language is parsed. Dashboards write
`$name`, `${name}`, `[[name]]` and `{{name}}` for values that are known only when a query runs; the
secrets and ids that a manifest fills in late look like the second form. Each is replaced by as many
characters, so no position changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from reconciler.document import Json, Path


class Language(Enum):
    """The languages that are parsed; other languages are ignored. The value is the name."""

    PROMQL = "PromQL"
    LUCENE = "Lucene"


@dataclass(frozen=True, slots=True)
class Query:
    """A text of a document that is a query; `path` leads to it from the document's root."""

    path: Path
    language: Language
    text: str


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """The reason why a query cannot be parsed, and the characters that cause it.

    `start` is counted from 0, and `width` is at least 1. `meant` is the text to write instead, ""
    if it is unknown.
    """

    message: str
    start: int
    width: int
    meant: str = ""


@dataclass(frozen=True, slots=True)
class Matcher:
    """A condition on a label; `op` is as written."""

    label: str
    op: str
    value: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """The content of a query, each name once and in order; of a wrong query, only the error."""

    error: QueryProblem | None = None
    metrics: tuple[str, ...] = ()
    matchers: tuple[Matcher, ...] = ()
    fields: tuple[str, ...] = ()


MOST_KEPT = 4096
LONGEST = 65_536
"""The most characters of a query; longer queries are ignored."""


@lru_cache(maxsize=MOST_KEPT)
def parse(language: Language, text: str) -> Parsed:
    """Parse a query; an empty query is valid and uses nothing."""
    if not text.strip() or len(text) > LONGEST:
        return Parsed()
    if language is Language.PROMQL:
        from reconciler.queries.promql import parse_promql  # noqa: PLC0415 - only where it is used

        return parse_promql(text)
    from reconciler.queries.lucene import parse_lucene  # noqa: PLC0415 - only where it is used

    return parse_lucene(text)


@lru_cache(maxsize=MOST_KEPT)
def mistake_in(language: Language, text: str) -> QueryProblem | None:
    """Return why a query cannot be parsed, None if it can.

    What the query uses is left out: to find it would double the time.
    """
    if language is Language.PROMQL and text.strip() and len(text) <= LONGEST:
        from reconciler.queries.promql import judged  # noqa: PLC0415 - only where it is used

        return judged(text)[1]
    return parse(language, text).error


def queries_named(
    document: Json, names: Mapping[str, Language], path: Path = ()
) -> Iterator[Query]:
    """Yield the queries under fields of these names, anywhere in a document.

    Such a field is the text itself, or an object with the text as its `value`.
    """
    inside: Iterable[tuple[str | int, Json]] = ()
    if isinstance(document, dict):
        inside = document.items()
        for name in filter(names.__contains__, document):
            value = document[name]
            steps = (name, "value") if isinstance(value, dict) else (name,)
            text = value.get("value") if isinstance(value, dict) else value
            if isinstance(text, str):
                yield Query((*path, *steps), names[name], text)
    elif isinstance(document, list):
        inside = enumerate(document)
    for step, value in inside:
        if isinstance(value, dict | list):
            yield from queries_named(value, names, (*path, step))


_VARIABLE = re.compile(
    r"\$\{[^{}\n]*\}|\$\w+|\[\[\s*[\w.:]+\s*\]\]|\{\{\s*[\w.$]+\s*\}\}", re.ASCII
)
_FIRST = 0xE000
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Hole:
    """A variable in a query, by its position and as written."""

    start: int
    written: str

    @property
    def end(self) -> int:
        """The position after its last character."""
        return self.start + len(self.written)

    def touches(self, start: int, end: int) -> bool:
        """Return whether it is in a part of the text, or right next to it."""
        return self.start <= end and start <= self.end


def holes_in(text: str) -> list[Hole]:
    """Return the variables of a text in their order."""
    if "$" not in text and "{{" not in text and "[[" not in text:
        return []
    return [Hole(found.start(), found.group()) for found in _VARIABLE.finditer(text)][:MOST]


def filled(text: str, holes: list[Hole], stand_in: Callable[[int, Hole], str]) -> str:
    """Return the text with each variable replaced by a placeholder of the same length."""
    parts, end = [], 0
    for nth, hole in enumerate(holes):
        parts += [text[end : hole.start], stand_in(nth, hole)]
        end = hole.end
    return "".join((*parts, text[end:]))


def marked(nth: int, hole: Hole) -> str:
    """Return a placeholder of private-use letters; the letter identifies the variable."""
    return chr(_FIRST + nth) * len(hole.written)


def unmarked(text: str, holes: list[Hole]) -> str:
    """Return the text with the variables in place of their placeholders."""
    for nth, hole in enumerate(holes):
        text = text.replace(marked(nth, hole), hole.written)
    return text
