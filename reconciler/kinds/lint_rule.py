"""What a check of practice is: something that works, and that few people want. Pure.

Source: docs/practice.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from reconciler.document import Json, Path
from reconciler.model import Manifest, Ref
from reconciler.redaction.templates import Template


class LintFinding(NamedTuple):
    """One place in a `spec` that a check is about, and what is told of it."""

    path: Path
    message: str
    suggestion: str = ""
    at_key: bool = False


Find: TypeAlias = Callable[[dict[str, Json]], Iterator[LintFinding]]
"""Looks at one `spec`, whatever it holds."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The manifests of a workspace: `own` are of one kind, `elsewhere` of other environments."""

    own: Sequence[Manifest]
    every: Sequence[Manifest]
    elsewhere: Collection[Ref]


FindAmong: TypeAlias = Callable[[Neighbours], Iterator[tuple[Manifest, LintFinding]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """One check; the page of its code says why it is made.

    It looks at each resource of its kind by itself (`find`), or at all of them (`among`). One
    that many a good workspace would fail is made where the project file asks for it (`asked`).
    """

    code: str
    find: Find | None = None
    among: FindAmong | None = None
    asked: bool = False


def text_of(value: object) -> str | None:
    """Give a text that is known; None for what is none, or is filled in late."""
    return value if isinstance(value, str) and not isinstance(value, Template) else None


def is_blank(value: Json) -> bool:
    """Tell what is left out, or holds nothing but space."""
    return value is None or (isinstance(value, str) and not value.strip())


_WHOLE = re.compile(r"-?[0-9]{1,18}")


def number_of(value: Json) -> float | None:
    """Give a number, also one that is written as text; None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    text = text_of(value)
    return float(text) if text is not None and _WHOLE.fullmatch(text) else None


def lists_in(document: Mapping[str, Json], key: str) -> Sequence[Json]:
    """Give a list of a mapping, empty where there is none."""
    value = document.get(key)
    return value if isinstance(value, list) else ()
