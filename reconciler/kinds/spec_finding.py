"""Findings of checks that compare the `spec` of manifests with good practice."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reconciler.document import Json, Missing, Path
from reconciler.model import Manifest, Ref
from reconciler.redaction.templates import Template


class SpecFinding(NamedTuple):
    """One place in a `spec` that a check is about, and its message."""

    path: Path
    message: str
    suggestion: str = ""
    at_key: bool = False


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The manifests of a workspace: `own` are of one kind, `elsewhere` of other environments."""

    own: Sequence[Manifest]
    every: Sequence[Manifest]
    elsewhere: Collection[Ref]


def text_of(value: object) -> str | None:
    """Return a known text; None for any other value, or a text that is filled in late."""
    return value if isinstance(value, str) and not isinstance(value, Template) else None


def is_blank(value: Json) -> bool:
    """Return whether it is null or absent, or a text of nothing but space."""
    return value is None or (isinstance(value, str) and not value.strip())


_WHOLE = re.compile(r"-?[0-9]{1,18}")


def number_of(value: Json | Missing) -> float | None:
    """Return a number, also if it is written as text; None for any other value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    text = text_of(value)
    return float(text) if text is not None and _WHOLE.fullmatch(text) else None


def lists_in(document: Mapping[str, Json], key: str) -> Sequence[Json]:
    """Return a list of a mapping, empty if there is none."""
    value = document.get(key)
    return value if isinstance(value, list) else ()
