"""Apply: plan again, hold it against what was agreed to, and write, all under one lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from uuid import uuid4

from reconciler.applying.applied import Applied
from reconciler.applying.run import Run
from reconciler.journal.entries import Override, RunEntry
from reconciler.journal.journal import Journal
from reconciler.journal.store import Patience
from reconciler.report.reasons import words_of
from reconciler.report.safe import safe
from reconciler.report.spoken import places_in
from reconciler.report.words import lost_json
from reconciler.resource import LostUnseen, Plan
from reconciler.session.consent import Consent, check
from reconciler.session.interrupts import interrupts
from reconciler.session.journals import applied_commit
from reconciler.session.opening import Bench, open_api
from reconciler.session.planning import plan_now


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

    Where a person who was asked says no, nothing was applied, which is None.
    `agree` is shown the plan before that, and `begin` is called when nothing
    stands in the way any more. `command` is what the journal calls it. Raises
    Locked, and what planning, `agree` and `check` raise; nothing was applied then.
    """
    journal, name = bench.journal(), str(uuid4())
    with journal.locked(name, patience):
        try:
            made = asyncio.run(plan_now(bench, journal.history))
            consent = agree(made)
            check(made, consent, bench.voice, verbose=verbose)
            does_work = made.has_changes or made.is_noted
            if not consent.given and does_work and not bench.voice.confirm(made, verbose=verbose):
                return made, None
        except KeyboardInterrupt:
            bench.voice.say("\nnothing was applied")
            raise
        begin()
        journal.begin(_run_entry(bench, journal, name, made, command))
        if consent.override is not None:
            journal.append([Override(at=journal.now(), reason=consent.override.strip())])
        return made, asyncio.run(_apply_now(bench, journal, name, made, quiet=quiet))


def _run_entry(bench: Bench, journal: Journal, name: str, made: Plan, command: str) -> RunEntry:
    commit = applied_commit(bench.project)
    return RunEntry(
        run=name,
        at=journal.now(),
        actor=journal.actor,
        commit=commit,
        digest=made.digest,
        command=command,
    )


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
    with interrupts(voice.say) as taken:
        async with open_api(bench) as api:
            run = Run(api, journal, name, voice.writing(made, quiet=quiet), taken.stopping)
            taken.work = asyncio.ensure_future(run.apply(made))
            with suppress(asyncio.CancelledError):
                await taken.work
            if taken.work.cancelled():
                run.leave(made)
    run.applied.signal_code = taken.code
    return run.applied
