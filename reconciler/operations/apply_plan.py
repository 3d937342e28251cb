"""Apply: plan again, compare with the agreed plan, and write, all under one lock."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

from reconciler.applying.run import Applied, Run
from reconciler.errors import GuardRefused, Stale, Unsettled, UsageError
from reconciler.journal.entries import Entry, OverrideEntry, Unfrozen
from reconciler.journal.journal import Journal, confirmed_beginning
from reconciler.journal.store import LockTimeout
from reconciler.model import Change, LostUnseen, Plan, Ref
from reconciler.model.guards import (
    BREAK_GLASS,
    FROZEN,
    NEW_JOURNAL,
    REVIEW_LEVEL,
    GuardBlock,
    GuardViolation,
    flag_of,
    guard_blocks,
)
from reconciler.operations.interrupts import interrupts
from reconciler.operations.open_project import Reporter, applied_commit
from reconciler.operations.open_session import Session, known_secrets, open_api
from reconciler.operations.plan_and_drift import plan_now
from reconciler.planning.guards import (
    NOTHING_OVERRIDDEN,
    Agreed,
    OverrideReasons,
    consented,
    guards_of_part,
    is_covered,
    listed_of,
    unmet,
)
from reconciler.project import Guards
from reconciler.report import counts, labels, reasons, sections
from reconciler.report.plan import document
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.advice import is_in_job, on_journal
from reconciler.runtime.progress import Deed
from reconciler.runtime.rows import Rows
from reconciler.workspace.selection import Selection, reachable


def part_of_reviewed(
    made: Plan, reviewed: document.PlanDocument, selection: Selection, guards: Guards
) -> tuple[Plan, int]:
    """Return the selected part of a plan, and how many other changes are not as reviewed.

    Raises Stale where a selected change, or what it refers to, is not as reviewed. Raises
    UsageError where a selected change waits for a change that is not selected.
    """
    selection.check_named(change.ref for change in made.declared)
    chosen = [
        change
        for change in made.declared
        if (source := change.source) is not None
        and selection.takes(change.ref, source.file, change.labels)
    ]
    if not chosen:
        raise UsageError("nothing of the reviewed plan is selected")
    refs = {change.ref for change in chosen}
    if waiting := [*_waiting(chosen, refs)]:
        raise UsageError("\n".join((*waiting, "select what they wait for too")))
    other = document.changes_since(document.with_done(reviewed, made), made)
    by_ref = {change.ref: change for change in made.declared}
    needed = {*map(str, reachable(refs, lambda ref: by_ref[ref].references & by_ref.keys()))}
    stale = [
        *document.elsewhere(reviewed, made),
        *(difference for ref, difference in other.items() if ref in needed),
    ]
    if stale:
        raise Stale("\n  ".join(("what is selected is not as it was reviewed", *stale)))
    rest = tuple(change.ref for change in made.declared if change.ref not in refs)
    part = replace(
        made,
        changes=tuple(chosen),
        beside=(*made.beside, *rest),
        selected=selection.leaving_out(len(rest)),
    )
    return replace(part, guarded=guards_of_part(made, part, guards)), len(other)


def _waiting(chosen: Sequence[Change], refs: set[Ref]) -> Iterator[str]:
    for change in chosen:
        missing = sorted(change.awaits - refs) if change.action.writes else []
        if missing:
            named = ", ".join(map(str, missing))
            yield f"{change.ref} waits for {named}, which is to be created and not selected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """Consent that the flags give beforehand.

    `listed` names what the plan with the digest `expect` listed; None where only the digest is
    known. `part` selects what to apply from the plan in the file `reviewed`; None for all of it.
    `flags` are the flags that lift a guard of their own, with the reasons that the journal keeps,
    "" for none. `waits` are how long to wait before the lock, by the options that say so. `files`
    are files with consent, by the options of features that take them: `PLAN_CONSENTS` read them.
    `approved` are the keys of the guards that they consent to, None without any, and `noted` is
    what the journal keeps of them.
    """

    expect: str | None = None
    reviewed: document.PlanDocument | None = None
    listed: Collection[str] | None = None
    part: Selection | None = None
    yes: bool = False
    flags: Mapping[str, str] = field(default_factory=dict)
    overridden: OverrideReasons = NOTHING_OVERRIDDEN
    waits: Mapping[str, LockTimeout] = field(default_factory=dict)
    files: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    approved: Collection[str] | None = None
    noted: tuple[Entry, ...] = ()

    @property
    def given(self) -> bool:
        """Return whether no person has to be asked."""
        return self.yes or self.is_reviewed

    @property
    def is_reviewed(self) -> bool:
        """Return whether a person reviewed exactly the plan that would be applied."""
        return self.expect is not None or self.reviewed is not None

    def agreed_of(self, made: Plan) -> Agreed:
        """Return which objections of a plan this consent lifts."""
        return Agreed(
            flags=self.flags,
            override=self.overridden.reason is not None,
            codes=self.overridden.codes,
            # A person who is asked sees the plan with these objections.
            reviewed=self.is_reviewed or not self.given or self.approved is not None,
            listed=self._listed_of(made),
        )

    def _listed_of(self, made: Plan) -> Collection[str] | None:
        """Return the keys of what the reviewed plan listed; None where no plan was reviewed."""
        if self.approved is not None:
            return self.approved
        if self.reviewed is not None:
            return document.listed_in(self.reviewed)
        if self.listed is not None:
            return listed_of(made.guarded, self.listed)
        if self.expect is not None:
            return [objection.key for objection in made.guarded if is_covered(objection)]
        return None


ConsentToPlan: TypeAlias = Callable[[Session, Plan, Consent], tuple[Plan, Consent]]
"""Returns a plan with the present state of its guard, and the consent with what lifts it.

Raises GuardRefused where that cannot be decided, and InvalidInput for wrong settings.
"""

PLAN_CONSENTS: Final = Rows[ConsentToPlan]("plan-consents")
"""What may lift guards of features, once the plan is final; the key is the code of a guard."""


def with_added_consent(session: Session, made: Plan, consent: Consent) -> tuple[Plan, Consent]:
    """Return a plan and the consent to it, each with what features add. Raises as they do."""
    for code in PLAN_CONSENTS:
        if any(guard.code == code for guard in made.guarded):
            made, consent = PLAN_CONSENTS.load(code)(session, made, consent)
    return made, consent


class NotConsented(GuardRefused):
    """The guards of a plan that its consent does not lift."""

    def __init__(self, guards: Sequence[GuardViolation], *, is_reviewed: bool) -> None:
        super().__init__(
            *(refusal(block, is_reviewed=is_reviewed) for block in guard_blocks(guards))
        )
        self.guards = guards


def check(made: Plan, consent: Consent, reporter: Reporter) -> None:
    """Check a plan before anything is written.

    This is law I7 of docs/reliability.md. Raises Unsettled, Stale or GuardRefused.
    """
    if made.unsettled:
        names = ", ".join(str(create.ref) for create in made.unsettled)
        raise Unsettled(
            f"the answer to the create of {names} was lost: look for it, then run "
            f"`{on_journal('settle', 'REF --id ID')}` or `--never-happened`"
        )
    reviewed = consent.reviewed
    expected = reviewed["digest"] if reviewed is not None else consent.expect
    is_known = expected is None or expected == made.digest or consent.part is not None
    if not is_known and (reviewed is None or not document.is_rest(reviewed, made)):
        raise Stale(_describe_stale(made, str(expected), consent, reporter))
    found = unmet(made.guarded, consent.agreed_of(made))
    if found:
        raise NotConsented(found, is_reviewed=consent.is_reviewed)


def refusal(block: GuardBlock, *, is_reviewed: bool = False) -> str:
    """Return the message of a refusal; on the lines below its resources, then its remedies."""
    message = sections.guard_heading(block)
    if is_reviewed and block.first.level == REVIEW_LEVEL:
        message += "; no reviewed plan lists that: plan again, and review it"
    return "\n".join(
        (
            message,
            *(
                line
                for member in block.members
                for line in (f"  {member.message}", *(f"    - {way}" for way in member.remedies))
            ),
            *(f"  - {way}" for way in block.remedies),
        )
    )


def _describe_stale(made: Plan, expected: str, consent: Consent, reporter: Reporter) -> str:
    lines = [f"the plan is no longer the reviewed one: expected {expected}, is {made.digest}"]
    if consent.reviewed is not None:
        lines.extend(
            f"  {line}"
            for line in document.changed_since(document.with_done(consent.reviewed, made), made)
        )
    else:
        reporter.show(made)
        way = "review it in a change" if is_in_job() else "review it, then apply its digest"
        lines.append(f"  the current plan is above; {way}")
    return "\n".join(lines)


def plan_and_apply(
    session: Session,
    agree: Callable[[Plan], Consent],
    command: str,
    *,
    begin: Callable[[Plan], None] = lambda _: None,
    patience: LockTimeout | None = None,
) -> tuple[Plan, Applied | None]:
    """Plan, check the consent, ask where none was given, and apply, all under the journal's lock.

    A plan that no person has seen is shown, unless the run is quiet. Return None as the second
    value where a person was asked and declined; nothing was applied then. `agree` receives the plan
    before that check, and returns the consent. `begin` receives the plan once nothing prevents the
    apply. `command` is the name of the command in the journal. Raises Locked, and what planning,
    `agree` and `check` raise; nothing was applied then.
    """
    rules, reporter = session.project.settings.plan_rules, session.reporter
    journal, name = session.journal(), str(uuid4())
    with journal.locked(name, patience):
        try:
            session = session.prepare(session, journal)
            made = asyncio.run(plan_now(session, journal.history))
            consent = agree(made)
            consent.overridden.check_rules(rules)
            if consent.part is not None and consent.reviewed is not None:
                made, others = part_of_reviewed(
                    made, consent.reviewed, consent.part, session.environment.guards
                )
                if others:
                    verb = "is" if others == 1 else "are"
                    reporter.say(
                        f"{plural(others, 'other change')} {verb} not as reviewed, and not "
                        "applied here"
                    )
            made, consent = with_added_consent(session, made, consent)
            check(made, consent, reporter)
            does_work = made.has_changes or made.is_noted
            if consent.given:
                made = consented(made)
            if does_work and consent.given and not (consent.is_reviewed or reporter.quiet):
                with session.waits.step(Deed.REPORTING):
                    reporter.show(made)
            if does_work and not consent.given and not reporter.confirm(made):
                return made, None
        except KeyboardInterrupt:
            reporter.say("\nnothing was applied")
            raise
        begin(made)
        # Declarations from the journal belong to no commit.
        commit = "" if session.recorded_as else applied_commit(session.project)
        journal.begin(journal.run_entry(name, session.recorded_as or command, commit, made.digest))
        _note_beginning(session, journal, made, consent)
        _note_lifted(session, journal, made, consent)
        return made, asyncio.run(_apply_now(session, journal, name, made))


def _note_beginning(session: Session, journal: Journal, made: Plan, consent: Consent) -> None:
    """Note whether a person confirmed that no journal before this one is lost.

    For the plan of a part, creates outside the part are not asked about.
    """
    is_part = consent.part is not None or not session.whole
    is_confirmed = any(violation.code == NEW_JOURNAL for violation in made.guarded) or (
        NEW_JOURNAL in consent.flags and not is_part
    )
    journal.is_accepted = is_confirmed and not is_part
    if is_confirmed and journal.history.begun_unasked:
        journal.append([confirmed_beginning(journal)])
    elif not is_confirmed and is_part:
        journal.begun_by = "apply"


def _note_lifted(session: Session, journal: Journal, made: Plan, consent: Consent) -> None:
    """Write to the journal which guards and freezes were lifted and why, before the first write.

    A flag that had nothing to lift is reported, and not written to the journal.
    """
    # A reason that a person types may hold a secret; the journal must not.
    hide = known_secrets(session)
    if consent.noted:
        journal.append(consent.noted)
    for flag, reason, codes in _lifted(made, consent):
        if codes:
            journal.append([OverrideEntry(at=journal.now(), reason=hide(reason), codes=codes)])
        else:
            _say_needless(session, flag, "no guard that it lifts was in the way")
    if (why := consent.flags.get(BREAK_GLASS)) is not None:
        if frozen := [violation.message for violation in made.guarded if violation.code == FROZEN]:
            reason, messages = hide(why.strip()), hide("; ".join(frozen))
            journal.append([Unfrozen(at=journal.now(), reason=reason, frozen=messages)])
        elif not any(guard.emergency for guard in made.guarded):
            _say_needless(session, "--break-glass", "no freeze and no approval was in the way")


def _lifted(made: Plan, consent: Consent) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each flag that was given a reason, the reason, and the guards that it lifts."""
    given, agreed = consent.overridden, consent.agreed_of(made)
    left = [
        violation.code
        for violation in unmet(made.guarded, replace(agreed, override=False, codes=()))
    ]
    for code, reason in given.codes.items():
        yield f"--override-guard {code}", reason, (code,) if code in left else ()
    if given.reason is not None:
        yield "--override-guard", given.reason, tuple(sorted(set(left) - given.codes.keys()))
    there = sorted({objection.code for objection in made.guarded})
    for flag, reason in consent.flags.items():
        # A freeze has its own journal entry.
        if reason and flag != BREAK_GLASS:
            yield f"--{flag}", reason, tuple(code for code in there if flag_of(code) == flag)


def _say_needless(session: Session, flag: str, why: str) -> None:
    session.reporter.say(f"{flag} was not needed: {why}, so the journal keeps nothing of it")


async def _apply_now(session: Session, journal: Journal, name: str, made: Plan) -> Applied:
    reporter = session.reporter
    for change in made.changes:
        if change.lost:
            reporter.say(
                f"{change.ref} destroys, kept here to restore by hand: {counts.lost_json(change)}",
                laid_out=True,
            )
            for remark in change.reasons:
                if isinstance(remark, LostUnseen):
                    said = reasons.words_of(remark, change.ref, labels.places_in(change))
                    reporter.say(f"{change.ref}: {safe(said)}")
    async with interrupts(reporter.say) as taken, open_api(session) as api:
        run = Run(api, journal, name, tell=reporter.writing(made), stopping=taken.stopping)
        taken.work = asyncio.ensure_future(run.apply(made))
        with suppress(asyncio.CancelledError):
            await taken.work
        if taken.work.cancelled():
            run.leave(made)
    run.applied.signal_code = taken.code
    return run.applied
