"""What one command of a job came to: filled in as it goes on, so that a failure loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from reconciler.applying.run import Applied
from reconciler.errors import SIGNALLED, ExitCode, GuardRefused
from reconciler.forge.comments import Standing, State
from reconciler.forge.pull_requests import Comment
from reconciler.report.complaints.document import message, worst_first
from reconciler.resource import Action, Drift, InDoubt, Outcome, Plan, Unchanged, Written
from reconciler.source.diagnostic import Complaint
from reconciler.waits import Waits

REASONS: dict[int, str] = {
    ExitCode.INTERNAL: "internal",
    ExitCode.PARTIAL: "partial",
    ExitCode.INVALID: "validation",
    ExitCode.LOCKED: "locked",
    ExitCode.STALE: "stale",
    ExitCode.IN_DOUBT: "in-doubt",
    ExitCode.JOURNAL: "journal",
    ExitCode.UNAVAILABLE: "api",
    ExitCode.NOT_AUTHORISED: "auth",
    ExitCode.GUARDED: "guard",
    ExitCode.USAGE: "validation",
    ExitCode.OUTPUT_LOST: "internal",
    ExitCode.PIPE_CLOSED: "internal",
    **dict.fromkeys(SIGNALLED, "internal"),
}
"""The output `failure-reason` for each exit code that is a failure."""

WORDS = {
    "validation": "the manifests, the project file or the inputs are not valid",
    "auth": "the service does not accept the key, or there is none",
    "plan-not-found": "no reviewed plan was found",
    "stale": "the plan is not the reviewed one",
    "locked": "another run holds the journal",
    "guard": "a guard refused it",
    "partial": "some resources were not written",
    "in-doubt": "nobody knows what became of a create",
    "journal": "the journal could not be read or written",
    "api": "the service or the forge gave no usable answer",
    "internal": "the run ended early",
}
"""What a reason says to people."""

RESULTS = (
    *("no-changes", "changes", "applied", "partial"),
    *("failed", "stale", "blocked", "in-doubt"),
)
"""What the output `result` may say."""

_RESULTS: dict[int, str] = {
    ExitCode.PARTIAL: "partial",
    ExitCode.STALE: "stale",
    ExitCode.IN_DOUBT: "in-doubt",
    ExitCode.GUARDED: "blocked",
}
_STATES: dict[str, State] = {
    "applied": "applied",
    "partial": "partial",
    "in-doubt": "in-doubt",
    "no-changes": "no-changes",
}


class Compared(Enum):
    """What a plan was compared with; its value says so to people."""

    LIVE = "compared with the service"
    BASE = "against the base branch, not against live"
    NOTHING = "on an empty emulator, not against live"


class PlanNotFound(GuardRefused):
    """Nobody reviewed a plan that could be compared with this one."""


@dataclass(slots=True)
class Ended:
    """The run of one command. `errors` are its failure in words, a line each.

    `writing` says that an apply began to write, `review` is the comment that it
    compares with, and `is_logged` says that the log names the failure already. `postponed`
    are edits of the project file that only count after the merge, and `waits` is where it is
    noted what is waited for.
    """

    command: str
    code: int = 0
    environment: str = ""
    folder: str = ""
    complaints: Sequence[Complaint] = ()
    resources: int = 0
    files: int = 0
    plan: Plan | None = None
    compared: Compared = Compared.LIVE
    writing: bool = False
    applied: Applied | None = None
    drifts: Sequence[Drift] | None = None
    errors: list[str] = field(default_factory=list)
    comment: Comment | None = None
    review: Standing | None = None
    reason: str = ""
    is_logged: bool = False
    postponed: Sequence[str] = ()
    waits: Waits = field(default_factory=Waits)

    def fail(self, code: int, errors: Sequence[str], reason: str = "") -> None:
        """Note why the run failed."""
        self.code = code
        self.errors = list(errors)
        self.reason = reason or REASONS.get(code, "internal")

    @property
    def is_offline(self) -> bool:
        """Whether the plan saw nothing live, so that it cannot be applied."""
        return self.compared is not Compared.LIVE

    @property
    def outcomes(self) -> Sequence[Outcome]:
        """What became of each change, as far as anything was written."""
        return self.applied.outcomes if self.applied is not None else ()

    @property
    def result(self) -> str:
        """The output `result`."""
        if self.applied is not None and (word := self._applied_word(self.applied)):
            return word
        if self.code not in (ExitCode.DONE, ExitCode.DIFFERENT):
            return _RESULTS.get(self.code, "failed")
        if self.plan is not None and self.command == "plan" and has_work(self.plan):
            return "changes" if _writes(self.plan) else "blocked"
        return "changes" if self.code == ExitCode.DIFFERENT else "no-changes"

    def _applied_word(self, applied: Applied) -> str:
        """Give the result of an apply that got as far as writing; "" where its code says it."""
        written = any(isinstance(one, Written | Unchanged) for one in applied.outcomes)
        if any(isinstance(one, InDoubt) for one in applied.outcomes):
            return "in-doubt"
        if self.code:
            return "partial" if written else ""
        return "applied" if written else "no-changes"

    @property
    def state(self) -> State:
        """What the comment says became of the plan."""
        return _STATES.get(self.result, "not-applied")

    @property
    def complaint_lines(self) -> list[str]:
        """The errors of the manifests, a line each, by file."""
        return [
            f"{one.file}:{one.line}: {one.code} {message(one)}"
            for one in worst_first(self.complaints)
            if one.is_error
        ]


def has_work(plan: Plan) -> bool:
    """Tell whether applying a plan would do anything, or cannot do what is declared."""
    return plan.has_changes or plan.is_noted


def _writes(plan: Plan) -> bool:
    return plan.is_noted or any(plan.count(one) for one in Action if one.writes)
