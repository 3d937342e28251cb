"""Additions of features to an apply, to a job of `reconciler ci`, and to explanations.

To an apply: reasons that lift a guard, and waits before its lock. To a job: commands, and proposals
after `drift`; their output goes to the log of the job. To explanations: those of codes that a
project file defines. Source: docs/ci.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from reconciler.operations.check_project import Checked
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session
from reconciler.project import Project
from reconciler.report.explanations.pages import Explanation
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import Complaint

if TYPE_CHECKING:
    from reconciler.journal.store import LockTimeout
    from reconciler.workspace.manifest_edits import Edited


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedOption:
    """An option of commands that apply, which is an input of a job as well.

    The value of the option is a file or a folder in `CONSENT_FILES`. It is a duration where
    `BEFORE_LOCK` has a row of the same name, else a reason. `in_job` is its help in `ci`.
    `excludes` are the options that cannot be given with it. `flag` is the option where its name is
    not the key.
    """

    help: str
    in_job: str
    excludes: tuple[str, ...] = ()
    flag: str = ""


EMERGENCY: Final = AddedOption(
    help="Apply during a freeze, or without approvals where the environment permits that, in an"
    " emergency; REASON goes into the journal. No other guard is lifted.",
    in_job="With `apply`: the reason for an apply during a freeze, or without approvals where that"
    " is permitted, in an emergency.",
    excludes=("wait-freeze",),
)
"""The option `break-glass`, for one emergency that may meet several guards.

Each feature with a guard that it lifts has a row for it, so the option remains if another of these
features is deleted.
"""

ADDED_OPTIONS: Final = Rows[AddedOption]("consent-options")
"""The key is the name of the option. An option with a reason is a flag of `model/guards.py`."""

WaitBeforeLock: TypeAlias = "Callable[[Session, LockTimeout], None]"
"""Returns once an apply may begin. Raises what planning raises, and GuardRefused."""

BEFORE_LOCK: Final = Rows[WaitBeforeLock]("before-lock")
"""The key is the name of an option; its value is how long to wait."""

CONSENT_FILES: Final = Rows[AddedOption]("consent-files")
"""Options that take files with consent, or folders of them; they may be repeated.

The key is an input of a job as well, which takes one folder.
"""

PermitWrite: TypeAlias = Callable[[Session, str, str | None], Callable[[], None]]
"""Checks a command that writes without a plan, by its name and the value of its option.

Returns what writes the consent to the journal; the command calls it just before it writes. Raises
GuardRefused or UsageError.
"""

UNPLANNED_WRITES: Final = Rows[PermitWrite]("unplanned-writes")
"""The key is the name of an option of these commands."""


def permit_write(
    session: Session, command: str, given: Mapping[str, str | None]
) -> Callable[[], None]:
    """Check a command that writes without a plan; return what to call just before it writes.

    `given` are the values of its options that features add. Raises GuardRefused or UsageError.
    """
    notes = [
        UNPLANNED_WRITES.load(name)(session, command, given[name.replace("-", "_")])
        for name in UNPLANNED_WRITES
    ]

    def note() -> None:
        for write in notes:
            write()

    return note


REASONS: Final = tuple(name for name in ADDED_OPTIONS if name not in BEFORE_LOCK)
"""The names of the options that take a reason."""


def excluding(given: Collection[str]) -> tuple[str, str] | None:
    """Return two given options that exclude each other, None where there are none."""
    for name in filter(given.__contains__, ADDED_OPTIONS):
        for other in ADDED_OPTIONS.load(name).excludes:
            if other in given:
                return name, other
    return None


def wait_before_lock(session: Session, waits: Mapping[str, LockTimeout]) -> None:
    """Wait as the given options say, before a run takes the journal's lock."""
    for name, patience in waits.items():
        if patience.seconds:
            BEFORE_LOCK.load(name)(session, patience)


ChangeNote: TypeAlias = Callable[[Project, Callable[[str], str | None]], str]
"""Returns Markdown about a change for the comment on its plan, "" for none.

The second argument returns the text of a file of the project before the change: "" where there was
none, None where that is unknown.
"""

CHANGE_NOTES: Final = Rows[ChangeNote]("change-notes")
"""The key is the setting of the project file that turns the note on."""


TouchedLines: TypeAlias = Mapping[str, Sequence[range]]
"""Lines that a change touches, by file of the project; empty where the change is unknown.

An empty range is where lines were removed.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFindings:
    """Complaints about what a change touches, and a note in Markdown for its comment."""

    complaints: Sequence[Complaint] = ()
    note: str = ""


ChangeCheck: TypeAlias = Callable[[Checked, TouchedLines], ChangeFindings]
"""Checks what a change touches, in `ci validate` and `ci plan`, where the manifests are valid."""

CHANGE_CHECKS: Final = Rows[ChangeCheck]("change-checks")
"""The key is the key of manifests that turns the check on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """The findings of a step; a later report of the same step replaces an earlier one.

    `differs` makes the result of the job `changes`. `summary` is Markdown for the summary of the
    job. The report belongs to the comment on the plan that was applied at `commit`; `added_to`
    returns the text of that comment with the report in it.
    """

    differs: bool
    summary: str
    commit: str
    added_to: Callable[[str], str]


class RunStep(Protocol):
    """Runs a step in a session, with the texts of the inputs that features add."""

    def __call__(
        self, session: Session, given: Mapping[str, str], *, remember: bool
    ) -> Iterator[StepReport]:
        """Yield a report, and a whole new report after each further finding.

        Raises an error of `errors` where the step cannot run.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStep:
    """A command of a job, which changes nothing on the service.

    `deed` begins the message of a refusal to record the findings in the journal.
    """

    run: RunStep
    deed: str


STEPS: Final = Rows[JobStep]("ci-steps")
"""The key is the command."""

InputCheck: TypeAlias = Callable[[str], object]
"""Checks the text of an input. Raises UsageError."""

STEP_INPUTS: Final = Rows[InputCheck]("ci-inputs")
"""The key is the name of an input; its default is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedEdits:
    """Edits of manifests for a pull request with a title, and a body in Markdown.

    `undecided` means that some resources could not be judged, so further edits may be needed.
    `about` is part of the name of the branch, `subject` is the noun for the edits, and `exit_code`
    is the exit code of the job.
    """

    title: str
    body: str
    files: Sequence[Edited]
    undecided: bool
    about: str = ""
    subject: str = "live edits"
    exit_code: int = 0


PROPOSALS: Final = Rows[Callable[[Session, Options, str], ProposedEdits]]("ci-proposals")
"""The key is an input; the text is the name of the artifact with the drift page."""

Propose: TypeAlias = Callable[[Session, Mapping[str, str]], ProposedEdits]
"""Returns what to propose, by the texts of the inputs that features add."""

PROPOSING_STEPS: Final = Rows[Propose]("ci-proposing-steps")
"""The key is a command that only proposes edits."""


Explain: TypeAlias = Callable[[str, Options], Explanation]
"""Explains a code of the project file. Raises UsageError for an unknown code."""

EXPLANATIONS: Final = Rows[Explain]("explanations")
"""The key is the prefix of the codes."""
