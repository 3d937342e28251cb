"""Whom a use case speaks to: nothing in `session` prints or asks by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from reconciler.model import Outcome, Plan
from reconciler.syntax.diagnostic import Complaint

if TYPE_CHECKING:
    from reconciler.api.secret import Redaction


class Reporter(Protocol):
    """What a use case may say while it goes on, and whom it may ask."""

    def say(self, text: str, *, laid_out: bool = False) -> None:
        """Say words to a person; long lines are broken but where they are `laid_out` already."""

    def complain(self, complaints: Sequence[Complaint], *, verbose: bool) -> None:
        """Say what is wrong with manifests or the project file."""

    def show(self, plan: Plan, *, verbose: bool) -> None:
        """Show a plan as it is now."""

    def confirm(self, plan: Plan, *, verbose: bool) -> bool:
        """Show a plan, and tell whether whoever is there agrees to it."""

    def writing(self, plan: Plan, *, quiet: bool) -> Callable[[Outcome], None]:
        """Give what hears of each outcome of an apply as soon as it is known."""

    def hide(self, redaction: Redaction) -> None:
        """Pass all that is said from now on through a filter."""


class Silent:
    """Says nothing, and agrees to nothing."""

    def say(self, text: str, *, laid_out: bool = False) -> None:
        """Say nothing."""

    def complain(self, complaints: Sequence[Complaint], *, verbose: bool) -> None:
        """Say nothing."""

    def show(self, plan: Plan, *, verbose: bool) -> None:
        """Show nothing."""

    def confirm(self, plan: Plan, *, verbose: bool) -> bool:
        """Agree to nothing."""
        del plan, verbose
        return False

    def writing(self, plan: Plan, *, quiet: bool) -> Callable[[Outcome], None]:
        """Hear of outcomes, and say nothing."""
        del plan, quiet
        return lambda _: None

    def hide(self, redaction: Redaction) -> None:
        """Hide nothing, as nothing is said."""
