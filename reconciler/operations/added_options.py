"""Options that features add to an apply: reasons that lift a guard, and waits before its lock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from reconciler.runtime.rows import Rows

if TYPE_CHECKING:
    from reconciler.journal.store import LockTimeout
    from reconciler.operations.open_session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedOption:
    """An option of commands that apply, which is an input of a job as well.

    It takes how long to wait where `before-lock` has a row of its name, else a reason. `in_job` is
    its help in `ci`, and `excludes` are the options that cannot be given with it.
    """

    help: str
    in_job: str
    excludes: tuple[str, ...] = ()


ADDED_OPTIONS: Final = Rows[AddedOption]("consent-options")
"""By the names of the options. One that takes a reason is a flag of `model/guard_levels.py`."""

WaitBeforeLock: TypeAlias = "Callable[[Session, LockTimeout], None]"
"""Returns once an apply may begin. Raises what planning raises, and GuardRefused."""

BEFORE_LOCK: Final = Rows[WaitBeforeLock]("before-lock")
"""By the names of the options that take how long to wait."""

REASONS: Final = tuple(name for name in ADDED_OPTIONS if name not in BEFORE_LOCK)
"""The names of the options that take a reason."""


def excluding(given: Collection[str]) -> tuple[str, str] | None:
    """Return two given options that exclude each other, None where there are none."""
    for name in filter(given.__contains__, ADDED_OPTIONS):
        for other in ADDED_OPTIONS.load(name).excludes:
            if other in given:
                return name, other
    return None


def wait_before_lock(session: Session, waits: Mapping[str, LockTimeout]) -> None:
    """Wait for what the given options say, before a run takes the journal's lock."""
    for name, patience in waits.items():
        if patience.seconds:
            BEFORE_LOCK.load(name)(session, patience)
