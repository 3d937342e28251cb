"""What hangs on a resource beside its own fields: who watches it, and what a write would break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.model import Manifest, Ref


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What the service says of a write before it: objections, and ids of alerts that hang on it."""

    objections: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()


async def nothing_foreseen(*_: object) -> Foreseen:
    """Ask nothing, where the service cannot be asked."""
    return Foreseen()


@dataclass(frozen=True, slots=True)
class Watched:
    """What a resource watches: one of a kind, by reference or by its id."""

    kind: str
    ref: Ref | None = None
    remote_id: str = ""


def watches_nothing(_: Manifest) -> Iterator[Watched]:
    """Yield nothing, for a kind that watches none."""
    return iter(())
