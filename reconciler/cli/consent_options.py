"""Options of commands that apply a plan: what they agree to, and whether a person is asked."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from reconciler.cli.console import is_terminal
from reconciler.cli.lock_wait import freeze_timeout, lock_timeout
from reconciler.errors import UsageError
from reconciler.journal.store import LockTimeout
from reconciler.model.guard_levels import ALLOW_DESTROY, BREAK_GLASS, NEW_JOURNAL
from reconciler.operations.apply_plan import Consent
from reconciler.operations.plan_and_drift import read_plan_file
from reconciler.planning.guards.override_reasons import read_overridden

Command = TypeVar("Command", bound=Callable[..., Any])

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_FLAGS = (
    click.option("--expect", metavar="DIGEST", help="Apply only a plan with this digest."),
    click.option(
        "--plan",
        "plan_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Apply only the plan that was written with `--out FILE`.",
    ),
    click.option("--yes", is_flag=True, help="Do not ask; required without a terminal."),
    click.option("--allow-destroy", is_flag=True, help="Allow what cannot be brought back."),
    click.option(
        "--override-guard",
        "override",
        metavar="CODE=REASON",
        multiple=True,
        help="Apply more than this guard allows. Without CODE=: more than any that has no flag of "
        "its own.",
    ),
    click.option(
        "--break-glass",
        metavar="REASON",
        help="Apply in an emergency though it is frozen; it lifts nothing else.",
    ),
)


def consenting(command: Command) -> Command:
    """Add the options of applying a plan to a command, as `consent` and `patience`.

    `thaw` is how long it waits for the end of a freeze.
    """

    @functools.wraps(command)
    def gathered(  # noqa: PLR0913 - one parameter a flag
        *,
        expect: str | None,
        plan_file: Path | None,
        yes: bool,
        allow_destroy: bool,
        override: tuple[str, ...],
        break_glass: str | None,
        thaw: LockTimeout,
        new_journal: bool = False,
        **own: Any,
    ) -> Any:
        if expect is not None and plan_file is not None:
            raise UsageError("--expect and --plan exclude each other")
        if break_glass is not None and not break_glass.strip():
            raise UsageError("--break-glass needs a reason, which is kept in the journal")
        if break_glass is not None and thaw.seconds:
            raise UsageError("--break-glass and --wait-freeze exclude each other")
        if expect is not None and not _DIGEST.fullmatch(expect):
            raise UsageError(
                "--expect takes the digest of a plan, as sha256:…: 64 digits of 0-9, a-f"
            )
        reviewed = read_plan_file(plan_file) if plan_file is not None else None
        flags = {
            ALLOW_DESTROY: "" if allow_destroy else None,
            NEW_JOURNAL: "" if new_journal else None,
            BREAK_GLASS: break_glass,
        }
        consent = Consent(
            expect=expect,
            reviewed=reviewed,
            yes=yes,
            flags={flag: reason for flag, reason in flags.items() if reason is not None},
            overridden=read_overridden(override),
        )
        return command(consent=consent, thaw=thaw, **own)

    consented = cast("Command", gathered)
    for flag in reversed((*_FLAGS, freeze_timeout, lock_timeout)):
        consented = flag(consented)
    return consented


def check_asked(consent: Consent) -> None:
    """Raise UsageError where there is no consent and no person can be asked."""
    if not consent.given and not is_terminal():
        raise UsageError("there is no terminal: give --yes, --expect DIGEST or --plan FILE")
