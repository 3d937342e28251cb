"""Apply on merge: what was reviewed, planned again from here, and nothing else.

The comment is evidence of a review, not trust: its digest is only compared with
that of a new plan. Source: docs/ci.md.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from reconciler.applying.run import Applied
from reconciler.ci.checkout import refuse_links
from reconciler.ci.conversation import Conversation
from reconciler.ci.ended import Ended, PlanNotFound, has_work
from reconciler.ci.reading import open_for
from reconciler.ci.runner import Inputs
from reconciler.console import tell_applied
from reconciler.errors import Stale, worst
from reconciler.forge.client import ForgeError
from reconciler.forge.comments import Standing
from reconciler.report.comment import changed_since_review, changes_in
from reconciler.report.plan.document import PlanDocument
from reconciler.resource import Plan
from reconciler.session.applying import Consent, plan_and_apply
from reconciler.session.opening import Bench
from reconciler.session.planning import read_plan_file


@dataclass(slots=True)
class _Review:
    """What was reviewed: our comment, or the file that plan wrote."""

    inputs: Inputs
    comment: Standing | None
    file: PlanDocument | None
    missing: str

    def agree(self, made: Plan) -> Consent:
        """Give what the review consents to of this plan.

        A plan that does nothing needs none: a job that runs again after its
        apply is no failure. Raises Stale and PlanNotFound.
        """
        flags = Consent(
            allow_destroy=self.inputs.allow_destroy, new_journal=self.inputs.new_journal
        )
        if not has_work(made) or self.inputs.require_plan == "none":
            return replace(flags, yes=True)
        if self.file is not None:
            return replace(flags, reviewed=self.file)
        if self.comment is None or not self.comment.marker.digest:
            raise PlanNotFound(self.missing)
        reviewed = self.comment.marker.digest
        known = changes_in(self.comment.comment.body)
        if made.digest != reviewed and known is not None:
            named = changed_since_review(known, made)
            said = f"the plan is no longer the reviewed one: expected {reviewed}, is {made.digest}"
            raise Stale("\n".join((said, *(f"  {line}" for line in named))))
        return replace(flags, expect=reviewed)


def apply_for(talk: Conversation, ended: Ended) -> None:
    """Apply the plan of the pull request that brought this commit, and tell it there.

    Raises what stands in the way, once the pull request is told.
    """
    with open_for(talk.inputs, talk.event, ended, writing=True) as bench:
        made, applied = _apply_reviewed(talk, ended, bench)
    ended.plan, ended.applied = made, applied
    tell_applied(applied, made, "text", verbose=False)
    code = worst(applied.exit_codes)
    if code:
        ended.fail(code, _what_stopped(applied))


def _apply_reviewed(talk: Conversation, ended: Ended, bench: Bench) -> tuple[Plan, Applied]:
    review = _review(talk, ended)

    def agree(made: Plan) -> Consent:
        ended.plan = made
        return review.agree(made)

    def begin() -> None:
        ended.writing = True
        if ended.plan is not None and has_work(ended.plan):
            talk.show_applying(ended, ended.plan)

    made, applied = plan_and_apply(
        bench, agree, "ci apply", verbose=False, quiet=False, begin=begin
    )
    assert applied is not None  # noqa: S101 - a job is never asked
    return made, applied


def _what_stopped(applied: Applied) -> list[str]:
    if applied.stopped_by is not None:
        return str(applied.stopped_by).splitlines()
    return ["the run was stopped by a signal"] if applied.signal_code is not None else []


def _review(talk: Conversation, ended: Ended) -> _Review:
    """Find what was reviewed. Raises ForgeError or InvalidInput where that cannot be read."""
    inputs = talk.inputs
    file = None
    missing = talk.missing and f"the reviewed plan stands in a comment, and {talk.missing}"
    if inputs.require_plan == "file":
        refuse_links(inputs.plan_file)
        if not os.path.isfile(inputs.plan_file):  # noqa: PTH113 - never raises
            raise PlanNotFound(f"there is no plan file {inputs.plan_file.name}: download it first")
        file = read_plan_file(inputs.plan_file)
    try:
        comment = talk.reviewed(ended.environment)
        number = talk.pull_request()
    except ForgeError:
        if inputs.require_plan == "comment":
            raise
        # Then it is only for the words.
        comment, number = None, None
    if not missing and number is None:
        missing = "no pull request brought this commit here"
    if not missing:
        missing = f"pull request {number} has no plan of ours that could be applied"
    ended.review = comment
    return _Review(inputs, comment, file, f"{missing}; or use `require-plan: file` or `none`")
