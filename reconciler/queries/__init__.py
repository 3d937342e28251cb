"""Queries inside documents: whether they can be parsed, where not, and what they use.

The libraries that parse are imported where a query of their language is met, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from reconciler.document import Json, Path


class Language(Enum):
    """The languages that are read; every other is left alone. The value is its name."""

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
    """Why a query cannot be parsed, and the characters of it that are to blame.

    `start` is counted from 0, and `width` is at least 1. `meant` is what to write in their
    place, "" where nobody knows.
    """

    message: str
    start: int
    width: int
    meant: str = ""


@dataclass(frozen=True, slots=True)
class Matcher:
    """A condition on a label; `op` is as it is written."""

    label: str
    op: str
    value: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a query says, each name once and in order; of one that is wrong, nothing but that."""

    error: QueryProblem | None = None
    metrics: tuple[str, ...] = ()
    matchers: tuple[Matcher, ...] = ()
    fields: tuple[str, ...] = ()


MOST_KEPT = 4096
LONGEST = 65_536
"""Characters of a query; what is longer is left alone."""


@lru_cache(maxsize=MOST_KEPT)
def parse(language: Language, text: str) -> Parsed:
    """Parse a query; an empty one is right, and says nothing."""
    if not text.strip() or len(text) > LONGEST:
        return Parsed()
    if language is Language.PROMQL:
        from reconciler.queries.promql import parse_promql  # noqa: PLC0415 - only where it is used

        return parse_promql(text)
    from reconciler.queries.lucene import parse_lucene  # noqa: PLC0415 - only where it is used

    return parse_lucene(text)


@lru_cache(maxsize=MOST_KEPT)
def mistake_in(language: Language, text: str) -> QueryProblem | None:
    """Give why a query cannot be parsed, without what it uses, which takes as long again."""
    if language is Language.PROMQL and text.strip() and len(text) <= LONGEST:
        from reconciler.queries.promql import judged  # noqa: PLC0415 - only where it is used

        return judged(text)[1]
    return parse(language, text).error


def queries_named(
    document: Json, names: Mapping[str, Language], path: Path = ()
) -> Iterator[Query]:
    """Yield the queries under fields of these names, wherever they stand in a document.

    Such a field holds the text itself, or an object whose `value` it is.
    """
    waiting: list[tuple[Json, _Way | None]] = [(document, None)]
    while waiting:
        here, way = waiting.pop()
        inside: list[tuple[Json, _Way | None]] = []
        if isinstance(here, dict):
            for name, value in here.items():
                text = value.get("value") if isinstance(value, dict) else value
                if name in names and isinstance(text, str):
                    steps = (name, "value") if isinstance(value, dict) else (name,)
                    yield Query((*path, *_steps(way), *steps), names[name], text)
                if isinstance(value, _CONTAINERS):
                    inside.append((value, (way, name)))
        elif isinstance(here, list):
            inside = [
                (element, (way, at))
                for at, element in enumerate(here)
                if isinstance(element, _CONTAINERS)
            ]
        inside.reverse()
        waiting += inside


_CONTAINERS = (dict, list)
# What stands above, and the last step: a whole path for each place is felt in large dashboards.
_Way = tuple[Any, str | int]


def _steps(way: _Way | None) -> Path:
    steps: list[str | int] = []
    while way is not None:
        way, step = way
        steps.append(step)
    return tuple(reversed(steps))
