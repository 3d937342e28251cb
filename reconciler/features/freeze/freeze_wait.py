"""Waiting for the end of a freeze before a run takes the journal's lock, and the options for it."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from reconciler.errors import GuardRefused
from reconciler.features.freeze.freeze_settings import Freeze, holding
from reconciler.journal.store import LockTimeout
from reconciler.model import GuardViolation
from reconciler.model.guards import FROZEN, guard_blocks
from reconciler.operations.added_by_features import AddedOption
from reconciler.operations.apply_plan import refusal
from reconciler.operations.open_project import now
from reconciler.operations.open_session import Session
from reconciler.operations.plan_and_drift import plan_now
from reconciler.report.safe import safe
from reconciler.runtime.progress import NamedWait

BROKEN_GLASS: Final = AddedOption(
    help="Apply during a freeze, in an emergency; REASON goes into the journal. No"
    " other guard is lifted.",
    in_job="With `apply`: the reason for an apply during a freeze, in an emergency.",
    excludes=("wait-freeze",),
)
FREEZE_WAIT: Final = AddedOption(
    help="How long to wait for the end of a freeze, as 30m or 2h; by default the "
    "command ends at once.",
    in_job="With `apply`: how long to wait for the end of a freeze, as 30m or 2h.",
)


POLL_SECONDS = 60.0
"""Seconds between two looks at incidents and at the clock, which an operator may change."""


@dataclass(frozen=True, slots=True)
class Thawing(NamedWait):
    """The environment is frozen; `said` is the reason."""

    what = "the end of a freeze"


def wait_for_thaw(session: Session, patience: LockTimeout) -> None:
    """Return once the session's plan is not frozen. The caller plans again before it applies.

    Nothing is locked meanwhile, so that other runs can work. Raises GuardRefused where the freeze
    lasts longer than `patience`, at once where its windows show that; and what planning raises.
    """
    deadline = patience.monotonic() + patience.seconds
    shown = ""
    with ExitStack() as noted:
        try:
            while frozen := _frozen(session):
                left = deadline - patience.monotonic()
                # Of windows; only incidents and failed reads have none.
                ends = [
                    datetime.fromisoformat(violation.until)
                    for violation in frozen
                    if violation.until
                ]
                until = max(ends, default=None)
                is_later = until is not None and _seconds_to(until) > left
                if is_later or _is_endless(session):
                    session.reporter.say(
                        "the freeze ends later than that, so nothing is waited for"
                    )
                    left = 0
                if is_later or left <= 0:
                    raise GuardRefused(*map(refusal, guard_blocks(frozen)))
                messages = "; ".join(violation.message for violation in frozen)
                if messages != shown:
                    shown = messages
                    noted.close()
                    session.reporter.say(f"{safe(messages)}; waiting for at most {left:.0f} s")
                    noted.enter_context(session.waits.on(Thawing(messages)))
                _sleep_until(until, min(left, POLL_SECONDS), patience)
        except KeyboardInterrupt:
            session.reporter.say("\nnothing was applied")
            raise


def _frozen(session: Session) -> list[GuardViolation]:
    journal = session.journal()
    made = asyncio.run(plan_now(session.prepare(session, journal), journal.history))
    return [violation for violation in made.guarded if violation.code == FROZEN]


def _is_endless(session: Session) -> bool:
    """Return whether freeze windows are active that have no known end."""
    freeze = session.environment.setting("freeze", Freeze)
    held = holding(freeze.windows, now()) if freeze is not None else None
    return held is not None and held.until is None


def _seconds_to(at: datetime) -> float:
    return (at - now()).total_seconds()


def _sleep_until(until: datetime | None, pause: float, patience: LockTimeout) -> None:
    """Sleep until the freeze windows end; without a known end, for one pause."""
    patience.sleep(pause if until is None else min(pause, max(1.0, _seconds_to(until))))
    while until is not None and (left := _seconds_to(until)) > 0:
        patience.sleep(min(left, POLL_SECONDS))
