"""Differences between live and the base branch. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reconciler.document import Json, Missing, Path
from reconciler.model import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBeside:
    """A field with another live value than the base branch declares; both as they may be shown."""

    path: Path
    base: Json | Missing
    live: Json | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDifference:
    """A resource with different actions in a plan against live and one against the base branch.

    `base` and `live` are the names of their actions.
    """

    ref: Ref
    base: str
    live: str
    fields: tuple[FieldBeside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDrift:
    """The differences between live and the base branch, from two plans of one change.

    `against` is the base branch's commit; `why` is why the differences are unknown, "" if they are
    known.
    """

    formats: ClassVar[str] = "reconciler.features.against.base_drift_formats:FORMATS"
    against: str
    strayed: tuple[BaseDifference, ...] = ()
    why: str = ""
