"""Lint rules: checks for what works and is rarely wanted. Pure.

Source: docs/practice.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from reconciler.document import Json
from reconciler.kinds.spec_finding import Neighbours, SpecFinding
from reconciler.model import Manifest

Find: TypeAlias = Callable[[dict[str, Json]], Iterator[SpecFinding]]
"""Checks one `spec`, whatever its content."""


FindAmong: TypeAlias = Callable[[Neighbours], Iterator[tuple[Manifest, SpecFinding]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """One check; the page of its code says why it exists.

    It checks each resource of its kind by itself (`find`), or all of them together (`among`). A
    check that many good workspaces would fail runs only if the project file requests it (`asked`).
    """

    code: str
    find: Find | None = None
    among: FindAmong | None = None
    asked: bool = False
