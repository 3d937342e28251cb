"""Check after an overwrite of log policies that samples get the planned policy, or put it back.

The former list is put back in one overwrite, with journal entries like every write: before it is
sent, and once its answer is known. Source: docs/policy-impact.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from reconciler.api.client import Api
from reconciler.applying.one_write import (
    PAUSES,
    Acknowledged,
    Proved,
    Scribe,
    outcome_of,
    seen_after,
)
from reconciler.document import covers, digest
from reconciler.errors import JournalError, Locked, ReconcilerError
from reconciler.features.policy_samples.policy_impact import Met, PolicyImpact, SampleAnswer
from reconciler.features.policy_samples.sample_impact import answers_to
from reconciler.journal.entries import Started, WrittenEntry
from reconciler.journal.history import once_written
from reconciler.kinds.kind import Kind, Sending, WriteResult, observe
from reconciler.model import Refused, Seen, Unconfirmed, Written
from reconciler.model.quoting import listed, quoted
from reconciler.runtime.failpoints import Point, reached

MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Overwritten:
    """An overwrite that was acknowledged and seen, with the list right before and after it."""

    sending: Sending
    answer: Written
    before: Seen | None
    after: Seen | None = None


@dataclass(frozen=True, slots=True)
class Proving:
    """The check of a run: it asks the samples again, and puts the list back."""

    left: ClassVar[str] = "the run was left before its samples were asked: the new list is live"
    api: Api
    scribe: Scribe
    impact: PolicyImpact

    async def proved(
        self, kind: Kind, sending: Sending, answer: Written, before: Seen | None
    ) -> Proved:
        """Check that the service gives each sample the planned policy.

        If it does not, the old list is written again, but only with `onMismatch: rollback`;
        otherwise the new list remains live.

        Never raises for an answer. `before` is the list that was read right before the overwrite.
        """
        overwrite = Overwritten(sending, answer, before)
        if self.impact.on_mismatch == "rollback":
            overwrite = replace(overwrite, after=await self._seen(kind, overwrite))
        try:
            wrong = await self._reported_otherwise()
        except ReconcilerError as error:
            message = (
                f"the samples could not be asked after the overwrite ({error}): the new list is "
                "live, and it is unknown whether it does what was planned"
            )
            return _standing(overwrite, message)
        if not wrong:
            return Proved(overwrite.answer)
        shown = listed([*map(_otherwise, wrong)], MOST_NAMED, "; ")
        count = len(self.impact.answers)
        message = f"{len(wrong)} of {count} samples are not answered as planned: {shown}"
        if self.impact.on_mismatch != "rollback":
            return _standing(overwrite, f"{message}; the new list is live")
        return await self._put_back(kind, overwrite, message)

    async def _reported_otherwise(self) -> list[SampleAnswer]:
        """Return the samples with an answer that was not planned.

        Their `before` is the answer, and `after` the plan. A service may apply a write a little
        after its answer.
        """
        planned = [answer for answer in self.impact.answers if answer.after is not None]
        wrong: list[SampleAnswer] = []
        for pause in (*PAUSES, None):
            answers = await answers_to(self.api, [answer.sample for answer in planned])
            wrong = [
                SampleAnswer(answer.sample, met, answer.after)
                for answer, met in zip(planned, answers, strict=True)
                if met != answer.after
            ]
            if not wrong or pause is None:
                break
            await self.api.patience.sleep(pause)
        return wrong

    async def _put_back(self, kind: Kind, overwrite: Overwritten, said: str) -> Proved:
        before, change = overwrite.before, overwrite.sending.change
        now = await self._now(kind, overwrite)
        why = _cannot_be_put_back(before) or (now if isinstance(now, str) else "")
        if why or before is None or isinstance(now, str):
            return _not_put_back(overwrite, said, why)
        kept = self.scribe.backup(replace(change, observation=before))
        if kept is None or kept.live is None:
            return _not_put_back(overwrite, said, "it is too long for the journal")
        manifest = replace(overwrite.sending.manifest, spec=before.document)
        change = replace(change, manifest=manifest, observation=now, declared=kept.live)
        started = Started(
            run=self.scribe.run,
            at=self.scribe.journal.now(),
            ref=change.ref,
            operation="replace",
            declared=kept.live,
            request_id="",
            remote_id=None,
            seen=digest(now.document),
            protect=change.protected,
        )
        try:
            reached(Point.BEFORE_STARTED)
            self.scribe.append([started])
            reached(Point.AFTER_STARTED)
        except (JournalError, Locked) as error:
            why = f"the journal could not be written ({error})"
            return replace(_not_put_back(overwrite, said, why), stopped_by=error)
        return await self._sent_back(kind, Sending(change, before.document), overwrite, said)

    async def _sent_back(
        self, kind: Kind, back: Sending, overwrite: Overwritten, said: str
    ) -> Proved:
        answer: WriteResult
        try:
            # An overwrite of a list returns no id.
            answer = next(iter(await kind.remote.write(self.api, [back], lambda *_: None)))
        except ReconcilerError as error:
            answer = error
        outcome = outcome_of(back, answer)
        stopped_by = answer if isinstance(answer, ReconcilerError) else None
        entry = self.scribe.closing(back.change, outcome)
        if isinstance(outcome, Written) and isinstance(entry, WrittenEntry):
            entry = replace(entry, put_back=True)
            memory = once_written(self.scribe.journal.history.of(back.ref), entry)
            seen = (await seen_after(kind, self.api, [Acknowledged(back, outcome, memory)]))[0]
            if seen is not None and not isinstance(seen, Seen):
                return _unsure(
                    overwrite, f"{said}; the list before was sent back, and is not to be seen"
                )
        if entry is not None:
            try:
                reached(Point.BEFORE_WRITTEN)
                self.scribe.append([entry])
                reached(Point.AFTER_WRITTEN)
            except (JournalError, Locked) as error:
                stopped_by = error
        match outcome:
            case Written():
                message = f"{said}; the list before was put back, and is live"
                return Proved(Refused(overwrite.answer.ref, message), message, stopped_by)
            case Refused(message=why):
                message = (
                    f"{said}; the list before was not taken back ({why}): the new list is live"
                )
                return replace(_standing(overwrite, message), stopped_by=stopped_by)
            case _:
                message = f"{said}; the answer to putting the list back was lost"
                return replace(_unsure(overwrite, message), stopped_by=stopped_by)

    async def _now(self, kind: Kind, overwrite: Overwritten) -> Seen | str:
        """Read the list once more, or return why it must not be overwritten."""
        now = await self._seen(kind, overwrite)
        if now is None or overwrite.after is None:
            return "the list could not be read again"
        written, revision = overwrite.answer.revision, now.revision
        is_ours = covers(now.document, overwrite.sending.document, kind.shape)
        if written and revision:
            is_ours = written == revision
        # A writer who keeps the ids of policies changes one of their fields, or the last editor.
        same = (now.document, now.edit) == (overwrite.after.document, overwrite.after.edit)
        return now if is_ours and same else "another writer changed the list meanwhile"

    async def _seen(self, kind: Kind, overwrite: Overwritten) -> Seen | None:
        """Read the list; None where it cannot be read."""
        memory = self.scribe.journal.history.of(overwrite.answer.ref)
        try:
            found = await observe(kind, self.api, overwrite.sending.manifest, memory)
        except ReconcilerError:
            return None
        return found if isinstance(found, Seen) else None


def _cannot_be_put_back(before: Seen | None) -> str:
    """Return why the list cannot be written again as it was; "" where it can."""
    if before is None:
        return "it was not read right before"
    if before.unseen:
        names = sorted({str(path[1]) for path in before.unseen})
        return f"the severities of {listed([*map(quoted, names)], MOST_NAMED)} are unknown"
    return ""


def _not_put_back(overwrite: Overwritten, said: str, why: str) -> Proved:
    return _standing(overwrite, f"{said}; the list before was not put back, as {why}")


def _standing(overwrite: Overwritten, said: str) -> Proved:
    """Return an overwrite that stays live, though it is not as planned."""
    message = f"{overwrite.answer.message}; {said}" if overwrite.answer.message else said
    return Proved(replace(overwrite.answer, message=message), said)


def _unsure(overwrite: Overwritten, said: str) -> Proved:
    message = f"{said}: the old list or the new one is live, and the next plan shows which"
    return Proved(Unconfirmed(overwrite.answer.ref, message), message)


def _otherwise(answer: SampleAnswer) -> str:
    has, should = _named(answer.before), _named(answer.after)
    return f"{answer.sample.log} has {has}, and should have {should}"


def _named(met: Met | None) -> str:
    if met is None or not met.policy:
        return "no policy"
    priority = met.priority_word
    return f"{quoted(met.policy)} ({priority})" if priority else quoted(met.policy)
