"""What an incident may tell of a change: labels that both bear, and logs that it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.model import Change


def _takes_no_logs(_: Change, __: str, ___: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Bearing:
    """By what incidents of a kind's resources are known, beside names and ids.

    `label_maps` lead to the maps in `spec` whose pairs an incident may bear as labels.
    `takes_logs_of` tells whether a change decides what becomes of the logs of an application
    and a subsystem, "" where that is not known.
    """

    label_maps: tuple[tuple[str, ...], ...] = ()
    takes_logs_of: Callable[[Change, str, str], bool] = _takes_no_logs


UNKNOWN_BEARING = Bearing()
