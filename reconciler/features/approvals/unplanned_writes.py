"""Commands that write without a plan: `incidents close` and `policies add`.

There is no plan that people could approve, so in an environment that needs approvals they are
refused, except in an emergency where that is permitted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, cast
from uuid import uuid4

import click

from reconciler.cli.options import Command
from reconciler.errors import GuardRefused, UsageError
from reconciler.features.approvals.approval_guard import binding_settings
from reconciler.features.approvals.default_branch import is_bound
from reconciler.journal.entries import OverrideEntry
from reconciler.model.guards import NOT_APPROVED
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import known_secrets, open_target

_OTHER_WAYS: Final = {
    "incidents close": "close them in the web interface",
    "policies add": "declare the policies in a LogPolicySet, and apply a plan that has approvals",
}


def _check(options: Options, command: str, reason: str | None) -> None:
    """Raise GuardRefused where an environment needs approvals; note an emergency in the journal."""
    session = open_target(options)
    if not is_bound(session.environment):
        if reason is not None and not options.quiet:
            options.reporter.say("--break-glass was not needed: no approval was in the way")
        return
    needed = binding_settings(session.project, session.name, session.environment).needed
    if reason is None or not needed.break_glass:
        ways = [_OTHER_WAYS[command]]
        if needed.break_glass:
            ways.append(f"in an emergency, `{command} --break-glass REASON`")
        raise GuardRefused(
            f"`{session.name}` needs approvals of a plan, and `{command}` makes none, so it is "
            f"refused there [{NOT_APPROVED}]: {'; or '.join(ways)}"
        )
    journal, run = session.journal(), str(uuid4())
    with journal.locked(run):
        journal.begin(journal.run_entry(run, command))
        why = known_secrets(session)(reason.strip())
        journal.append([OverrideEntry(at=journal.now(), reason=why, codes=(NOT_APPROVED,))])


def _checked(name: str) -> Callable[[Command], Command]:
    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def checked(*, break_glass: str | None, options: Options, **others: Any) -> Any:
            if break_glass is not None and not break_glass.strip():
                raise UsageError("--break-glass needs a reason, which is kept in the journal")
            _check(options, name, break_glass)
            return command(options=options, **others)

        option = click.option(
            "--break-glass",
            metavar="REASON",
            help="Write though the environment needs approvals of a plan, where it permits that; "
            "REASON goes into the journal.",
        )
        return option(cast("Command", checked))

    return decorated


closing = _checked("incidents close")
adding = _checked("policies add")
