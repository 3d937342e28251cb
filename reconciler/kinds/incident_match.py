"""Links between incidents and a change: common labels, and logs that both are about."""

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
    """Features by which incidents of a kind's resources are found, besides names and ids.

    `label_maps` lead to the maps in `spec` with pairs that an incident may have as labels.
    `takes_logs_of` returns whether a change decides about the logs of an application and a
    subsystem, "" for an unknown one.
    """

    label_maps: tuple[tuple[str, ...], ...] = ()
    takes_logs_of: Callable[[Change, str, str], bool] = _takes_no_logs


UNKNOWN_BEARING = Bearing()
