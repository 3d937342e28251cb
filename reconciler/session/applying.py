"""Apply: plan again, hold it against what was agreed to, and write, all under one lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import uuid4

from reconciler.advice import on_journal
from reconciler.applying.applied import Applied
from reconciler.applying.run import Run
from reconciler.errors import GuardRefused, Stale, Unsettled
from reconciler.guards import FROZEN, Agreed, unmet
from reconciler.journal.entries import Override, RunEntry, Unfrozen
from reconciler.journal.journal import Journal
from reconciler.journal.store import Patience
from reconciler.report.counts import lost_json
from reconciler.report.plan.document import PlanDocument
from reconciler.report.plan.stale import changed_since
from reconciler.report.reasons import SHORT_RUN, words_of
from reconciler.report.safe import safe
from reconciler.report.signals.policy_impact import SampleFailureDocument, policy_impact_document
from reconciler.report.spoken import places_in
from reconciler.resource import LostUnseen, Objection, Plan
from reconciler.session.interrupts import interrupts
from reconciler.session.opening import Bench, known_secrets, open_api
from reconciler.session.planning import plan_now
from reconciler.session.projects import applied_commit
from reconciler.session.voice import Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """What the flags agree to beforehand."""

    expect: str | None = None
    reviewed: PlanDocument | None = None
    yes: bool = False
    allow_destroy: bool = False
    override: str | None = None
    new_journal: bool = False
    break_glass: str | None = None

    @property
    def given(self) -> bool:
        """Whether nobody needs to be asked."""
        return self.yes or self.is_reviewed

    @property
    def is_reviewed(self) -> bool:
        """Whether someone saw the very plan that would be applied."""
        return self.expect is not None or self.reviewed is not None

    def agreed_of(self, made: Plan) -> Agreed:
        """Give what objections of a plan it lifts."""
        return Agreed(
            allow_destroy=self.allow_destroy,
            new_journal=self.new_journal,
            override=self.override is not None,
            break_glass=self.break_glass is not None,
            # Who is asked sees the plan, and these objections in it.
            reviewed=self.is_reviewed or not self.given,
            samples_shown=self.reviewed is None or failing_in(self.reviewed) == failing_of(made),
        )


def failing_in(reviewed: PlanDocument) -> Sequence[SampleFailureDocument]:
    """Give the samples that fail in a plan file."""
    return reviewed["policyImpact"]["failures"] if "policyImpact" in reviewed else ()


def failing_of(made: Plan) -> Sequence[SampleFailureDocument]:
    """Give the samples that fail in a plan, as a file of it would have them."""
    impact = made.signals.policies
    return policy_impact_document(impact)["failures"] if impact is not None else ()


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
    found = unmet(made.guarded, consent.agreed_of(made))
    if found:
        raise GuardRefused(*map(refusal, found))


def refusal(objection: Objection) -> str:
    """Say what is refused, and below it the ways out."""
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


def plan_and_apply(
    bench: Bench,
    agree: Callable[[Plan], Consent],
    command: str,
    *,
    verbose: bool,
    quiet: bool,
    begin: Callable[[], None] = lambda: None,
    patience: Patience | None = None,
) -> tuple[Plan, Applied | None]:
    """Plan, check what was agreed to, ask where nothing was, and apply, all under the lock.

    A plan that nobody would see is shown, unless `quiet`. Where a person who was asked says no,
    nothing was applied, which is None.
    `agree` is shown the plan before that, and `begin` is called when nothing
    stands in the way any more. `command` is what the journal calls it. Raises
    Locked, and what planning, `agree` and `check` raise; nothing was applied then.
    """
    journal, name = bench.journal(), str(uuid4())
    with journal.locked(name, patience):
        try:
            bench = bench.prepare(bench, journal)
            made = asyncio.run(plan_now(bench, journal.history))
            consent = agree(made)
            check(made, consent, bench.voice, verbose=verbose)
            does_work = made.has_changes or made.is_noted
            if does_work and consent.given and not (consent.is_reviewed or quiet):
                bench.voice.show(made, verbose=verbose)
            if not consent.given and does_work and not bench.voice.confirm(made, verbose=verbose):
                return made, None
        except KeyboardInterrupt:
            bench.voice.say("\nnothing was applied")
            raise
        begin()
        journal.begin(_run_entry(bench, journal, name, made, command))
        _note_lifted(bench, journal, made, consent)
        return made, asyncio.run(_apply_now(bench, journal, name, made, quiet=quiet))


def _note_lifted(bench: Bench, journal: Journal, made: Plan, consent: Consent) -> None:
    """Keep which guards and freezes were lifted and why, before the first write.

    What nothing stood against was not lifted: that is said, and nothing kept.
    """
    # What somebody types may hold a secret, and the journal never does.
    hide = known_secrets(bench)
    if consent.override is not None:
        if unmet(made.guarded, replace(consent.agreed_of(made), override=False)):
            reason = hide(consent.override.strip())
            journal.append([Override(at=journal.now(), reason=reason)])
        else:
            _say_needless(bench, "--override-guard", "no guard that it lifts was in the way")
    if consent.break_glass is not None:
        if frozen := [one.message for one in made.guarded if one.code == FROZEN]:
            reason, said = hide(consent.break_glass.strip()), hide("; ".join(frozen))
            journal.append([Unfrozen(at=journal.now(), reason=reason, frozen=said)])
        else:
            _say_needless(bench, "--break-glass", "nothing was frozen")


def _say_needless(bench: Bench, flag: str, why: str) -> None:
    bench.voice.say(f"{flag} was not needed: {why}, so the journal keeps nothing of it")


def _run_entry(bench: Bench, journal: Journal, name: str, made: Plan, command: str) -> RunEntry:
    # What a rollback writes is of no commit: it is what the journal knows of an earlier run.
    commit = ""
    if bench.restoring is None:
        commit = applied_commit(bench.project)
    else:
        command = f"{command} {bench.restoring.remark.run[:SHORT_RUN]}"
    return journal.run_entry(name, command, commit, made.digest)


async def _apply_now(
    bench: Bench, journal: Journal, name: str, made: Plan, *, quiet: bool
) -> Applied:
    voice = bench.voice
    for change in made.changes:
        if change.lost:
            voice.say(
                f"{change.ref} destroys, kept here to restore by hand: {lost_json(change)}",
                laid_out=True,
            )
            for reason in change.reasons:
                if isinstance(reason, LostUnseen):
                    voice.say(
                        f"{change.ref}: {safe(words_of(reason, change.ref, places_in(change)))}"
                    )
    async with interrupts(voice.say) as taken, open_api(bench) as api:
        run = Run(
            api, journal, name, tell=voice.writing(made, quiet=quiet), stopping=taken.stopping
        )
        taken.work = asyncio.ensure_future(run.apply(made))
        with suppress(asyncio.CancelledError):
            await taken.work
        if taken.work.cancelled():
            run.leave(made)
    run.applied.signal_code = taken.code
    return run.applied
