"""Reporter of a use case: nothing in `operations` prints or asks by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from reconciler.model import Outcome, Plan
from reconciler.syntax.diagnostic import Complaint

if TYPE_CHECKING:
    from reconciler.api.secret import Redaction


class Reporter(Protocol):
    """Output of a use case while it runs, and its questions to a person."""

    def say(self, text: str, *, laid_out: bool = False) -> None:
        """Show text to a person; long lines are wrapped unless `laid_out`."""

    def complain(self, complaints: Sequence[Complaint], *, verbose: bool) -> None:
        """Show complaints about manifests or the project file."""

    def show(self, plan: Plan, *, verbose: bool) -> None:
        """Show a plan as it is now."""

    def confirm(self, plan: Plan, *, verbose: bool) -> bool:
        """Show a plan, and return whether the person agrees to it."""

    def writing(self, plan: Plan, *, quiet: bool) -> Callable[[Outcome], None]:
        """Return a function that receives each outcome of an apply as soon as it is known."""

    def hide(self, redaction: Redaction) -> None:
        """Pass all later output through a filter."""


class Silent:
    """A reporter that shows nothing, and agrees to nothing."""

    def say(self, text: str, *, laid_out: bool = False) -> None:
        """Show nothing."""

    def complain(self, complaints: Sequence[Complaint], *, verbose: bool) -> None:
        """Show nothing."""

    def show(self, plan: Plan, *, verbose: bool) -> None:
        """Show nothing."""

    def confirm(self, plan: Plan, *, verbose: bool) -> bool:
        """Agree to nothing."""
        del plan, verbose
        return False

    def writing(self, plan: Plan, *, quiet: bool) -> Callable[[Outcome], None]:
        """Return a function that ignores outcomes."""
        del plan, quiet
        return lambda _: None

    def hide(self, redaction: Redaction) -> None:
        """Hide nothing, as nothing is shown."""
