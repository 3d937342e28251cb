"""Findings of checks that compare the `spec` of manifests with good practice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reconciler.document import Path
from reconciler.model import Manifest, Ref


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
