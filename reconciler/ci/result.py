"""Result of a command in a job: its code, outputs, summary, messages and comment.

A comment on a pull request has the plan, the outcomes or a failure, and the reviewed changes.
Source: docs/ci.md.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, get_args
from urllib.parse import quote

from reconciler import model
from reconciler.applying.run import Applied
from reconciler.ci.forge import Comment, Marker, PullRequest, Standing, hidden_json
from reconciler.ci.runner import Inputs
from reconciler.document import digest
from reconciler.errors import ExitCode
from reconciler.model.plan import CommentState
from reconciler.operations.added_by_features import ProposedEdits, StepReport
from reconciler.operations.check_project import NOT_CHECKED, Checked
from reconciler.operations.open_session import counts_of
from reconciler.report import applied_formats, drift_formats, reasons
from reconciler.report.complaints.document import complaints_text, message, worst_first
from reconciler.report.markdown import COMMENT_BYTES, LONGEST_NAME, SUMMARY_BYTES, code, fenced
from reconciler.report.plan.document import change_document
from reconciler.report.plan.formats import plan_markdown
from reconciler.report.safe import safe
from reconciler.report.sections import consents_markdown
from reconciler.report.table import Style
from reconciler.report.words import first_few, first_lines, plural
from reconciler.syntax.diagnostic import CODES

WORDS: Final[Mapping[str, str]] = {
    "validation": "the manifests, the project file or the inputs are not valid",
    "auth": "the service does not accept the key, or there is none",
    "plan-not-found": "no reviewed plan was found",
    "stale": "the plan is not the reviewed one",
    "locked": "another run holds the journal",
    "guard": "a guard refused it",
    "partial": "some resources were not written",
    "in-doubt": "it is unknown what became of a create",
    "journal": "the journal could not be read or written",
    "api": "the service or the forge gave no usable answer",
    "internal": "the run ended early",
}
"""Values of the output `failure-reason`, with their messages."""

OF_TESTS = "T"
"""Beginning of the codes about tests of alerts."""

ResultWord: TypeAlias = Literal[
    "no-changes", "changes", "applied", "partial", "failed", "stale", "blocked", "in-doubt"
]
RESULTS: tuple[ResultWord, ...] = get_args(ResultWord)
"""Values of the output `result`."""

OUTPUTS = (
    *("result", "exit-code", "create", "update", "assert", "keep"),
    *("blocked", "unsettled"),
    *("drifted", "drift-new", "drift-ignored"),
    *("digest", "plan-path", "artifact-name", "comment-id", "comment-url"),
    *("pull-request", "failure-reason"),
)
"""Outputs of action.yml, in its order."""

_PLAIN = Style(colour=False, width=100, verbose=False, terminal=False)

_RESULTS: dict[int, ResultWord] = {
    ExitCode.PARTIAL: "partial",
    ExitCode.STALE: "stale",
    ExitCode.IN_DOUBT: "in-doubt",
    ExitCode.GUARDED: "blocked",
}
_STATES: dict[ResultWord, CommentState] = {
    "applied": "applied",
    "partial": "partial",
    "in-doubt": "in-doubt",
    "no-changes": "no-changes",
}
_ACTIONS = (
    model.Action.CREATE,
    model.Action.UPDATE,
    model.Action.ASSERT,
    model.Action.KEEP,
    model.Action.BLOCKED,
)


class PlanBasis(Enum):
    """Basis of the comparison in a plan. The value is its text for people."""

    LIVE = "compared with the service"
    BASE = "against the base branch, not against live"
    NOTHING = "on an empty emulator, not against live"

    @property
    def note(self) -> str:
        """Return the note above a plan with this basis, "" for none."""
        return {PlanBasis.BASE: AGAINST_BASE, PlanBasis.NOTHING: OFFLINE}.get(self, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failure of a command: its exit code, and `errors` in words, a line each.

    `is_logged` means that the log has it already. `own_reason` is the output `failure-reason`, ""
    for that of the code, and `said` is the reason in words, "" for the words of the reason.
    """

    code: int
    errors: Sequence[str]
    is_logged: bool = False
    own_reason: str = ""
    said: str = ""

    @property
    def reason(self) -> str:
        """Return the output `failure-reason`."""
        of_code = next((code.reason for code in ExitCode if code == self.code), "")
        return self.own_reason or of_code or ExitCode.INTERNAL.reason

    @property
    def words(self) -> str:
        """Return the reason in words."""
        return self.said or WORDS[self.reason]


CommentResult: TypeAlias = Comment | Failure | None
"""Result of a comment: the present comment, a failure that fails the job, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """The refusals of an apply that no review lifts.

    `of_base` counts the refusals of the base branch; `is_base` is true where the plan is the base's
    own.
    """

    guards: Sequence[model.GuardViolation] = ()
    blocked: Sequence[model.Change] = ()
    of_base: int = 0
    is_base: bool = False

    @property
    def codes(self) -> set[int]:
        """Return the exit codes of an apply with these refusals."""
        guarded = {int(ExitCode.GUARDED)} if self.guards else set[int]()
        return guarded | ({int(ExitCode.PARTIAL)} if self.blocked else set[int]())

    @property
    def lines(self) -> tuple[str, ...]:
        """Return a line for each refusal; the caller escapes the text."""
        return (
            *(
                f"{guard.message} [{guard.code}]: no review consents to that"
                for guard in self.guards
            ),
            *(
                f"{change.ref} cannot be done: {'; '.join(reasons.notes_of(change))}"
                for change in self.blocked
            ),
        )

    @property
    def beside(self) -> str:
        """Return the line that counts the refusals of the base branch, "" for none."""
        if not self.of_base:
            return ""
        where = (
            "this plan, and no change brings it" if self.is_base else "the base branch's plan too"
        )
        return f"{plural(self.of_base, 'refusal')} in {where}"


NO_REFUSALS: Final = Refusals()


@dataclass(slots=True, kw_only=True)
class JobResult:
    """Results of the steps of a command so far; None, or nothing, for a step that did not end.

    `checked` is the check of the manifests, empty before there is one. `postponed` are edits of the
    project file that only count after the merge, `change_notes` what features say of the change, as
    Markdown. `review` is the comment that an apply compares with, and `comment` is the last written
    comment. `proposed` is the pull request that `drift` opened. `edits` are those of a command that
    only proposes edits. `refusals` belong to an apply of the plan, and `report` to the step that a
    feature adds.
    """

    command: str
    checked: Checked = NOT_CHECKED
    postponed: Sequence[str] = ()
    change_notes: list[str] = field(default_factory=list)
    review: Standing | None = None
    plan: model.Plan | None = None
    compared: PlanBasis = PlanBasis.LIVE
    refusals: Refusals = NO_REFUSALS
    applied: Applied | None = None
    look: model.DriftReport | None = None
    report: StepReport | None = None
    comment: Comment | None = None
    proposed: PullRequest | None = None
    edits: ProposedEdits | None = None
    failure: Failure | None = None

    def keep_comment(self, became: CommentResult) -> None:
        """Keep the result of a comment; an earlier failure remains."""
        if isinstance(became, Comment):
            self.comment = became
        elif became is not None:
            self.failure = self.failure or became

    @property
    def code(self) -> int:
        """Return the exit code of the command."""
        if self.failure is not None:
            return self.failure.code
        return ExitCode.DIFFERENT if self._differs else ExitCode.DONE

    @property
    def _differs(self) -> bool:
        if self.look is not None:
            return any(drift.drifted for drift in self.look.found)
        if self.report is not None:
            return self.report.differs
        if self.edits is not None:
            return bool(self.edits.files)
        return self.command == "plan" and self.plan is not None and has_work(self.plan)

    @property
    def notes(self) -> str:
        """Return the notes above the plan, as Markdown; "" for none."""
        inherited = inherited_note(self.refusals.beside)
        notes = (postponed_note(self.postponed), inherited, *self.change_notes)
        return "\n\n".join(filter(None, notes))

    @property
    def errors(self) -> Sequence[str]:
        """Return why the command failed, a line each; none where it did not."""
        return self.failure.errors if self.failure is not None else ()

    @property
    def complaint_lines(self) -> list[str]:
        """Return the errors of the manifests, a line each, by file."""
        return [
            f"{complaint.file}:{complaint.line}: {complaint.code} {message(complaint)}"
            for complaint in worst_first(self.checked.workspace.complaints)
            if complaint.is_error
        ]

    @property
    def complaint_words(self) -> str:
        """Return what is wrong where only tests of the change are; else ""."""
        codes = {complaint.code for complaint in self.checked.workspace.errors}
        are_tests = all(code.startswith(OF_TESTS) for code in codes)
        return CODES[min(codes)] if codes and are_tests else ""

    @property
    def is_offline(self) -> bool:
        """Return whether the plan was made without the service, so that it cannot be applied."""
        return self.compared is not PlanBasis.LIVE

    @property
    def word(self) -> ResultWord:
        """Return the output `result`."""
        if self.applied is not None and (word := self._applied_word(self.applied)) is not None:
            return word
        if self.failure is not None:
            is_refused = self.refusals.codes and self.failure.code == ExitCode.PARTIAL
            return "blocked" if is_refused else _RESULTS.get(self.failure.code, "failed")
        if self.plan is not None and self.command == "plan" and has_work(self.plan):
            writes = any(self.plan.count(action) for action in model.Action if action.writes)
            return "changes" if self.plan.is_noted or writes else "blocked"
        return "changes" if self._differs else "no-changes"

    def _applied_word(self, applied: Applied) -> ResultWord | None:
        """Return the result of an apply that began to write; None where its code decides it."""
        written = any(
            isinstance(outcome, model.Written | model.Unchanged) for outcome in applied.outcomes
        )
        if any(isinstance(outcome, model.InDoubt) for outcome in applied.outcomes):
            return "in-doubt"
        if self.failure is not None:
            return "partial" if written else None
        return "applied" if written else "no-changes"

    @property
    def state(self) -> CommentState:
        """Return the state of the plan that the comment shows."""
        return _STATES.get(self.word, "not-applied")


def has_work(plan: model.Plan) -> bool:
    """Return whether a plan has changes, or resources that cannot be changed as declared."""
    return plan.has_changes or plan.is_noted


def outputs_of(inputs: Inputs, result: JobResult) -> dict[str, str]:
    """Return the outputs of action.yml; those of a plan or a comment only where there is one."""
    outputs: dict[str, str] = {"result": result.word, "exit-code": str(result.code)}
    if result.plan is not None:
        outputs |= {action.word: str(result.plan.count(action)) for action in _ACTIONS}
        outputs["unsettled"] = str(len(result.plan.unsettled))
        outputs["digest"] = result.plan.digest
    if result.look is not None:
        found = result.look.found
        outputs["drifted"] = str(sum(drift.drifted for drift in found))
        outputs["drift-new"] = str(result.look.new)
        outputs["drift-ignored"] = str(result.look.ignored)
    is_kept = os.path.isfile(inputs.plan_file)  # noqa: PTH113 - never raises
    if is_kept and (inputs.command in ("plan", "apply") or inputs.proposals):
        outputs["plan-path"] = str(inputs.plan_file)
        outputs["artifact-name"] = inputs.artifact
    if result.comment is not None:
        outputs["comment-id"] = str(result.comment.id)
        outputs["comment-url"] = result.comment.url
    if result.proposed is not None:
        outputs["pull-request"] = result.proposed.url
    if result.failure is not None:
        outputs["failure-reason"] = result.failure.reason
    return outputs


def applied_result(
    result: JobResult, plan: model.Plan, applied: Applied
) -> applied_formats.ApplyResult:
    """Return the result of a plan in the form that reports show."""
    return applied_formats.ApplyResult(
        plan, applied.outcomes, result.state, "\n".join(result.errors)
    )


def summary_of(result: JobResult, whole: str) -> str:
    """Return the job's summary: at least one line, and never longer than allowed.

    `whole` is where a reader finds the parts that were left out.
    """
    note = result.notes
    parts = [f"{note}\n"] if note else []
    if result.applied is not None and result.plan is not None:
        parts.append(
            applied_formats.applied_markdown(applied_result(result, result.plan, result.applied))
        )
    elif result.failure is not None:
        environment = result.checked.environment
        where = f" for {code(environment, 80)}" if environment else ""
        title = f"`{result.command}`{where}: {result.failure.words}"
        # The plan that follows has the refusals, with remedies.
        below = set[str]() if result.plan is None else {*result.refusals.lines}
        errors = [error for error in result.failure.errors if error not in below]
        parts.append(failure_markdown(title, errors))
    if result.plan is not None:
        given = consents_markdown(result.plan) if result.applied is None else ""
        notes = (result.compared.note if result.is_offline else "", given)
        above = "".join(f"{note}\n\n" for note in notes if note)
        parts.append(above + plan_markdown(result.plan, budget=SUMMARY_BYTES // 2, whole=whole))
    elif result.look is not None:
        title = "drift" if result.code == ExitCode.DIFFERENT else "no drift"
        text = drift_formats.drift_text(result.look, _PLAIN)
        parts.append(f"### `drift`: {title}\n\n{_fenced(text)}")
    elif result.report is not None:
        parts.append(result.report.summary)
    elif result.edits is not None:
        parts.append(result.edits.body)
    elif result.failure is None:
        counts = counts_of(result.checked.workspace)
        text = complaints_text(result.checked.workspace.complaints, _PLAIN)
        parts.append(f"### `validate`: {counts}\n\n{_fenced(text)}")
    return "\n".join(parts)


def _fenced(text: str) -> str:
    """Return the lines of a text that fit, inside a fence; "" for none."""
    lines = text.splitlines()
    rest = "(the rest is in the log)"
    shown = first_lines(lines, str, len(lines), rest, SUMMARY_BYTES // 2)
    trimmed = "\n".join(shown).strip("\n").split("\n")
    return fenced("text", trimmed) + "\n" if text.strip() else ""


MOST_CHANGES = 100
LARGEST_LINE = 8_000
_DIGITS = 12
_LINE = re.compile(r"<!-- reconciler-changes (\{[^<>]*\}) -->\r?")
# A change stays the same change when its line moves or its reason differs.
_BESIDE = ("source", "notes", "reasons")


def changes_line(plan: model.Plan) -> str:
    """Return the hidden line that lists the changes, "" where a plan has too many."""
    changes = [change for change in plan.changes if change.action.is_to_do]
    if len(changes) > MOST_CHANGES:
        return ""
    found: dict[str, object] = {str(change.ref): _essence(change) for change in changes}
    line = f"<!-- reconciler-changes {hidden_json(found)} -->"
    return line if len(line) <= LARGEST_LINE else ""


def changes_in(body: str) -> dict[str, str] | None:
    """Read the hidden line of a comment; return None where it has none."""
    found = _LINE.fullmatch(body.partition("\n")[2].partition("\n")[0])
    try:
        document = json.loads(found[1]) if found is not None else None
    except ValueError:
        return None
    return document and {name: str(value) for name, value in document.items()}


def line_in(body: str) -> str:
    """Return the hidden line of a comment, "" where it has none."""
    return body.split("\n")[1].rstrip("\r") if changes_in(body) is not None else ""


def changed_since_review(reviewed: dict[str, str], now: model.Plan) -> list[str]:
    """Return a sentence for each change that differs from the reviewed change of its resource."""
    current = {
        str(change.ref): _essence(change) for change in now.changes if change.action.is_to_do
    }
    words = []
    for ref in sorted(reviewed.keys() | current.keys()):
        if ref not in current:
            words.append(f"{ref}: was to be changed, and no longer is")
        elif ref not in reviewed:
            words.append(f"{ref}: is to be changed, and was not")
        elif current[ref] != reviewed[ref]:
            words.append(f"{ref}: another change than the reviewed one")
    return words


def _essence(change: model.Change) -> str:
    document: Mapping[str, Any] = change_document(change)
    kept = {name: value for name, value in document.items() if name not in _BESIDE}
    return digest(kept).removeprefix("sha256:")[:_DIGITS]


MOST_ERRORS = 10
LONGEST_LINE = 500
COMMIT_DIGITS = 12

OFFLINE = (
    "> **No live comparison.** This change comes without the key, so it was planned on an empty "
    "emulator of the service: the plan shows that the manifests can be applied, and nothing of "
    "what is there now. It cannot be applied from here."
)
AGAINST_BASE = (
    "> **No live comparison.** This change comes without the key, so it was planned on an emulator "
    "of the service that holds what the base branch declares: **against the base branch, not "
    "against live**. It cannot be applied from here."
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a comment: the address of the run, and the artifact with the whole plan.

    `folder` is the project's in its repository, "" for the root.
    """

    run_url: str = ""
    artifact: str = ""
    folder: str = ""

    @property
    def whole(self) -> str:
        """The place of what was left out, for readers."""
        return "the artifact" if self.artifact else "the summary of the job"

    def files(self, marker: Marker) -> str:
        """Return the address of the project's files at the commit, "" where it is not known."""
        repository, _, is_run = self.run_url.rpartition("/actions/runs/")
        if not (repository and is_run and marker.head):
            return ""
        path = "/".join(
            filter(None, (quote(marker.head, safe=""), quote(self.folder, errors="replace")))
        )
        return f"{repository}/blob/{path}/"

    def foot(self, marker: Marker) -> str:
        """Return the last line: commit, run and artifact."""
        parts = [f"commit {code(marker.head[:COMMIT_DIGITS])}"] if marker.head else []
        parts += [f"[run]({self.run_url})"] if self.run_url else []
        parts += [f"artifact {code(self.artifact)}"] if self.artifact else []
        return f"\n<sub>{' · '.join(parts)}</sub>\n" if parts else ""


def plan_comment(
    plan: model.Plan, marker: Marker, origin: Origin, said: str = "", *, offline: str = OFFLINE
) -> str:
    """Return the comment for a plan, within the budget; `said` is put above the plan.

    `offline` is the notice for a plan that was not compared with live.
    """
    unseen = offline if marker.state == "offline" else ""
    given = consents_markdown(plan)
    reviewed = changes_line(plan) if marker.digest else ""
    head = "".join(f"{part}\n\n" for part in (unseen, said, given) if part)
    foot = origin.foot(marker)
    room = COMMENT_BYTES - sum(
        len(part.encode()) + 1 for part in (marker.line, reviewed, head, foot)
    )
    text = plan_markdown(plan, budget=room, whole=origin.whole, files=origin.files(marker))
    return "\n".join(part for part in (marker.line, reviewed, f"{head}{text}{foot}") if part)


def applied_comment(
    result: applied_formats.ApplyResult, marker: Marker, origin: Origin, reviewed: str
) -> str:
    """Return the comment for an apply: the outcomes, then the folded plan, within the budget."""
    folded = "The plan", result.plan
    return _with_folded(applied_formats.applied_markdown(result), folded, marker, origin, reviewed)


def _with_folded(
    text: str, folded: tuple[str, model.Plan] | None, marker: Marker, origin: Origin, reviewed: str
) -> str:
    """Return a comment with a text, and a plan folded under its title, if there is one and it fits.

    `reviewed` is the line that lists the reviewed changes, "" for none.
    """
    head = f"{marker.line}\n" + (f"{reviewed}\n" if reviewed else "") + text
    foot = origin.foot(marker)
    if folded is None:
        return head + foot
    title, plan = folded
    opened, closed = f"\n<details><summary>{title}</summary>\n\n", "\n</details>\n"
    room = COMMENT_BYTES - len((head + foot + opened + closed).encode())
    inside = plan_markdown(plan, budget=room, whole=origin.whole, files=origin.files(marker))
    fits = len(inside.encode()) <= room
    return head + (opened + inside + closed if fits else "") + foot


def postponed_note(edits: Sequence[str]) -> str:
    """Return a note on edits of the project file that take effect after the merge, "" for none.

    Their dotted names are foreign text.
    """
    if not edits:
        return ""
    named = first_few(edits, MOST_ERRORS, lambda edit: code(edit, LONGEST_NAME))
    return (
        "> **Edits of the project file take effect after the merge.** Of a change only manifests, "
        "`manifests:` and `variables:` are used; all else is as on the base branch. Not used: "
        f"{named}."
    )


def inherited_note(refusals: str) -> str:
    """Return a note that an apply needs consent to more than this change, "" where it does not."""
    if not refusals:
        return ""
    return (
        f"> **{refusals}.** Whoever reviews this change reviews that too: an apply of all "
        "manifests is refused as a whole until there is consent to it."
    )


def failed_comment(
    marker: Marker, reason: str, errors: Sequence[str], origin: Origin, said: str = ""
) -> str:
    """Return the comment for a run without a plan: the first ten errors, and no digest."""
    marker = replace(marker, digest="", state="failed")
    title = f"No plan for {code(marker.environment, LONGEST_NAME)}: {reason}"
    above = f"{said}\n\n" if said else ""
    return f"{marker.line}\n{above}{failure_markdown(title, errors)}{origin.foot(marker)}"


def refused_comment(
    plan: model.Plan | None,
    marker: Marker,
    errors: Sequence[str],
    origin: Origin,
    reviewed: str,
) -> str:
    """Return the comment for an apply that refused to begin: the reasons, and the current plan.

    The digest stays the digest of the reviewed plan, and `reviewed` stays the line that lists its
    changes. If live becomes again what it was, that plan may still be applied.
    """
    marker = replace(marker, state="not-applied")
    text = failure_markdown(f"Not applied to {code(marker.environment, LONGEST_NAME)}", errors)
    title = "The plan as it is now: it is the reviewed one"
    if plan is not None and plan.digest != marker.digest:
        verdict = "is not the reviewed one" if marker.digest else "was not reviewed"
        title = f"The plan as it is now, which {verdict}"
    folded = (title, plan) if plan is not None else None
    return _with_folded(text, folded, marker, origin, reviewed)


def failure_markdown(title: str, errors: Sequence[str]) -> str:
    """Return a failure under a title: the first ten errors. `title` is our text, not foreign.

    Ends in a line break.
    """
    lines = first_lines(errors, lambda error: safe(error, LONGEST_LINE), MOST_ERRORS, "and {} more")
    shown = fenced("text", [*lines]) + "\n" if errors else ""
    return f"### {title}\n\n{shown}"
