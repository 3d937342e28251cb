"""Dependents of a resource: alerts that watch it, and what a write would break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.model import Manifest, Ref


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The service's answer before a write: objections, and ids of alerts that depend on it."""

    objections: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()


async def nothing_foreseen(*_: object) -> Foreseen:
    """Return an empty answer, for a service that cannot be asked."""
    return Foreseen()


@dataclass(frozen=True, slots=True)
class Watched:
    """A resource that another watches: one of a kind, by reference or by its id."""

    kind: str
    ref: Ref | None = None
    remote_id: str = ""


def watches_nothing(_: Manifest) -> Iterator[Watched]:
    """Yield nothing, for a kind that watches no resource."""
    return iter(())
