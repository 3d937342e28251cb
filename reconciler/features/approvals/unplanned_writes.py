"""Commands that write without a plan: `incidents close` and `policies add`.

There is no plan that people could approve, so in an environment that needs approvals they are
refused, except in an emergency where that is permitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from uuid import uuid4

import click

from reconciler.errors import GuardRefused, UsageError
from reconciler.features.approvals.approval_guard import (
    NOT_PERMITTED,
    binding_settings,
    emergency_entry,
)
from reconciler.features.approvals.approval_settings import is_bound
from reconciler.model.guards import NOT_APPROVED
from reconciler.operations.open_session import Session

break_glass = click.option(
    "--break-glass",
    metavar="REASON",
    help="Write though the environment needs approvals of a plan, where it permits that; "
    "REASON goes into the journal.",
)

_OTHER_WAYS: Final = {
    "incidents close": "close them in the web interface",
    "policies add": "declare the policies in a LogPolicySet, and apply a plan that has approvals",
}


def permitted(session: Session, command: str, break_glass: str | None) -> Callable[[], None]:
    """Return a function that notes an emergency in the journal, or does nothing without approvals.

    Raises UsageError for an empty reason, and GuardRefused where approvals bind and no emergency is
    given or permitted.
    """
    reason = break_glass and break_glass.strip()
    if reason == "":
        raise UsageError("--break-glass needs a reason, which is kept in the journal")
    if not is_bound(session.environment):
        if reason and not session.reporter.quiet:
            session.reporter.say("--break-glass was not needed: no approval was in the way")
        return lambda: None
    needed = binding_settings(session.project, session.name, session.environment).needed
    if reason and needed.break_glass:
        return lambda: _note(session, command, reason)
    ways = [_OTHER_WAYS[command]]
    if needed.break_glass:
        ways.append(f"in an emergency, `{command} --break-glass REASON`")
    why = f"; {NOT_PERMITTED}" if reason else ""
    raise GuardRefused(
        f"`{session.name}` needs approvals of a plan, and `{command}` makes none, so it is "
        f"refused there [{NOT_APPROVED}]{why}: {'; or '.join(ways)}"
    )


def _note(session: Session, command: str, reason: str) -> None:
    journal, run = session.journal(), str(uuid4())
    with journal.locked(run):
        journal.begin(journal.run_entry(run, command))
        journal.append([emergency_entry(session, reason, journal.now())])
