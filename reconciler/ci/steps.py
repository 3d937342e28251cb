"""Results that the steps of a job yield, and how a job result keeps them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar, assert_never

from reconciler.applying.applied import Applied
from reconciler.ci.conversation import CommentResult, PlanNotFound, Review
from reconciler.ci.forge.pull_requests import Comment, PullRequest
from reconciler.ci.refusals import NO_REFUSALS, Refusals
from reconciler.ci.result import Failure, JobResult, PlanBasis
from reconciler.errors import SIGNALLED, InvalidInput
from reconciler.model import DriftReport, Plan
from reconciler.operations.check_project import Checked
from reconciler.operations.job_steps import StepReport


@dataclass(frozen=True, slots=True)
class Postponed:
    """Edits of the project file that only count after the merge."""

    edits: Sequence[str]


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, the basis of its comparison, and its refusals."""

    plan: Plan
    compared: PlanBasis = PlanBasis.LIVE
    refusals: Refusals = NO_REFUSALS


StepResult: TypeAlias = (
    Checked
    | Postponed
    | Review
    | Planned
    | Applied
    | DriftReport
    | StepReport
    | PullRequest
    | Comment
    | Failure
)
"""Result of a step."""

Value = TypeVar("Value")
CiStep: TypeAlias = Generator[StepResult, None, Value]
"""A step: yields its results as it goes on, and raises what prevents it."""


def with_found(result: JobResult, found: StepResult) -> JobResult:  # noqa: C901, PLR0911 - one for each
    """Return a result that includes the result of a step; a later failure counts."""
    match found:
        case Checked():
            return replace(result, checked=found)
        case Postponed(edits=edits):
            return replace(result, postponed=edits)
        case Review(comment=comment):
            return replace(result, review=comment)
        case Planned(plan=plan, compared=compared, refusals=refusals):
            given = replace(result, plan=plan, compared=compared)
            return replace(given, refused=refusals.lines, inherited=refusals.beside)
        case Applied():
            return replace(result, applied=found)
        case DriftReport():
            return replace(result, look=found)
        case StepReport():
            return replace(result, report=found)
        case PullRequest():
            return replace(result, proposed=found)
        case Comment():
            return replace(result, comment=found)
        case Failure():
            return replace(result, failure=found)
        case _:
            assert_never(found)


def with_said(result: JobResult, comment: CommentResult) -> JobResult:
    """Return a result that includes the result of a comment; an earlier failure remains."""
    if comment is None or (isinstance(comment, Failure) and result.failure is not None):
        return result
    return with_found(result, comment)


def ended_by(result: JobResult, error: BaseException, code: int) -> JobResult:
    """Return the result of a run that ended early, for a reason that the log has already."""
    lines = str(error).splitlines() or [type(error).__name__]
    if code in SIGNALLED:
        lines = ["stopped by a signal"]
    if isinstance(error, InvalidInput) and result.complaint_lines:
        lines = result.complaint_lines
    is_unreviewed = isinstance(error, PlanNotFound)
    failure = Failure(code=code, errors=lines, is_logged=True, is_unreviewed=is_unreviewed)
    return with_found(result, failure)
