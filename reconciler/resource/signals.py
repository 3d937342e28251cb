"""What the platform's own records say of a plan: evidence for a reviewer, which decides nothing.

Source: docs/evidence.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.document import Json, Missing, Path
from reconciler.resource.declared import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBeside:
    """A field that is not live as the base branch declares it, both as they may be shown."""

    path: Path
    base: Json | Missing
    live: Json | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Strayed:
    """A resource of which a plan against live and one against the base branch say something else.

    `base` and `live` are the words of their actions.
    """

    ref: Ref
    base: str
    live: str
    fields: tuple[FieldBeside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideBase:
    """How far live is from what the base branch declares, by two plans of one change.

    `against` is the base branch's commit, and `why` says why it could not be told, "" where it
    could.
    """

    against: str
    strayed: tuple[Strayed, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """All that was asked for beside a plan, None or empty where it was not.

    It moves by itself, so no digest holds it, and no write rests on it.
    """

    base: BesideBase | None = None


NO_SIGNALS = Signals()
