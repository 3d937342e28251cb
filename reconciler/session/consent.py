"""What an apply was told beforehand that it may do, and what it asks for."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.advice import on_journal
from reconciler.errors import GuardRefused, Stale, Unsettled
from reconciler.guards import Agreed, unmet
from reconciler.report.plan.document import PlanDocument, changed_since
from reconciler.resource import Objection, Plan
from reconciler.session.voice import Voice


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


def check(made: Plan, consent: Consent, voice: Voice, *, verbose: bool) -> None:
    """Refuse before anything is written. This is law I7 of docs/reliability.md.

    Raises Unsettled, Stale or GuardRefused.
    """
    if made.unsettled:
        names = ", ".join(str(one.ref) for one in made.unsettled)
        raise Unsettled(
            f"the answer to the create of {names} was lost: look for it, then run "
            f"`{on_journal('settle', 'REF --id ID')}` or `--never-happened`"
        )
    expected = consent.reviewed["digest"] if consent.reviewed is not None else consent.expect
    if expected is not None and expected != made.digest:
        raise Stale(_stale_words(made, expected, consent, voice, verbose=verbose))
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


def _stale_words(
    made: Plan, expected: str, consent: Consent, voice: Voice, *, verbose: bool
) -> str:
    lines = [f"the plan is no longer the reviewed one: expected {expected}, is {made.digest}"]
    if consent.reviewed is not None:
        lines.extend(f"  {line}" for line in changed_since(consent.reviewed, made))
    else:
        voice.show(made, verbose=verbose)
        lines.append("  the plan as it is now stands above; review it, then apply its digest")
    return "\n".join(lines)
