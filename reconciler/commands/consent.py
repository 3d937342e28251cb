"""What an apply was told beforehand that it may do, and what it asks for."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from reconciler.commands.interrupts import line_or_signal
from reconciler.commands.output import question, stderr_style, words
from reconciler.errors import GuardRefused, Stale, Unsettled
from reconciler.guards import Agreed, unmet
from reconciler.report.plan.attention import changed_since
from reconciler.report.plan.document import PlanDocument
from reconciler.report.plan.text import plan_text
from reconciler.report.safe import columns, safe
from reconciler.report.table import fitted
from reconciler.report.words import summary
from reconciler.resource import Objection, Plan


@dataclass(frozen=True, slots=True)
class Consent:
    """What the flags agree to beforehand."""

    expect: str | None = None
    reviewed: PlanDocument | None = None
    yes: bool = False
    allow_destroy: bool = False
    override: str | None = None
    new_journal: bool = False

    @property
    def given(self) -> bool:
        """Whether nobody needs to be asked."""
        return self.yes or self.is_reviewed

    @property
    def is_reviewed(self) -> bool:
        """Whether someone saw the very plan that would be applied."""
        return self.expect is not None or self.reviewed is not None


def check(made: Plan, consent: Consent, *, verbose: bool) -> None:
    """Refuse before anything is written. This is law I7 of docs/reliability.md.

    Raises Unsettled, Stale or GuardRefused.
    """
    if made.unsettled:
        names = ", ".join(str(one.ref) for one in made.unsettled)
        raise Unsettled(
            f"the answer to the create of {names} was lost: look for it, then run "
            "`reconciler journal settle REF --id ID` or `--never-happened`"
        )
    expected = consent.reviewed.digest if consent.reviewed is not None else consent.expect
    if expected is not None and expected != made.digest:
        raise Stale(_stale_words(made, expected, consent, verbose=verbose))
    agreed = Agreed(
        allow_destroy=consent.allow_destroy,
        new_journal=consent.new_journal,
        override=consent.override is not None,
        # Who is asked sees the plan, and these objections in it.
        reviewed=consent.is_reviewed or not consent.given,
    )
    found = unmet(made.guarded, agreed)
    if found:
        raise GuardRefused(*map(_refusal, found))


def _refusal(objection: Objection) -> str:
    ways = (f"  - {way}" for way in objection.ways_out)
    return "\n".join((f"{objection.message} [{objection.code}]", *ways))


def _stale_words(made: Plan, expected: str, consent: Consent, *, verbose: bool) -> str:
    lines = [f"the plan is no longer the reviewed one: expected {expected}, is {made.digest}"]
    if consent.reviewed is not None:
        lines.extend(f"  {line}" for line in changed_since(consent.reviewed, made))
    else:
        words(plan_text(made, stderr_style(verbose=verbose)), laid_out=True)
        lines.append("  the plan as it is now stands above; review it, then apply its digest")
    return "\n".join(lines)


def ask(made: Plan, *, verbose: bool) -> bool:
    """Show the plan, and tell whether the answer is `yes`."""
    style = stderr_style(verbose=verbose)
    words(plan_text(made, style), laid_out=True)
    where = safe(f"{made.environment} ({made.target})")
    asking, taken = f"Apply to {where}: {summary(made)}?", "Only `yes` is taken: "
    is_long = columns(asking) + 1 + columns(taken) > style.width
    between = "\n" if is_long else " "
    return _answer(f"{fitted(asking, style)}{between}{taken}") == "yes"


def agreed(asking: str) -> bool:
    """Ask a question, and tell whether the answer is yes; no answer is no."""
    return _answer(f"{asking} [y/N]: ").lower() in ("y", "yes")


def _answer(asking: str) -> str:
    # Not `click.prompt`: what it asks with loses a signal that comes while the question is
    # written, and writes into stdout.
    question(asking)
    line = line_or_signal(sys.stdin)
    if not line.endswith("\n"):
        words("")
    return line.strip()
