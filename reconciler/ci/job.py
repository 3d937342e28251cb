"""One command of a job, step by step, and its report to people and to later steps.

A step keeps its results as it goes on, and raises what prevents it, so that a failure loses nothing
of earlier steps. A plan fails for refusals that the change causes: guards that no review lifts, and
blocked resources. Refusals that the plan of the base branch has too do not fail it. The owners of
the manifests of a change are those of the base branch, never of the change itself. Source:
docs/ci.md.
"""

import asyncio
import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import ClassVar, Final

from reconciler import errors, model
from reconciler.applying.run import Applied
from reconciler.ci import checkout
from reconciler.ci import result as results
from reconciler.ci.commits import (
    Commits,
    is_regular,
    of_the_change,
    text_before,
    touched_lines,
)
from reconciler.ci.conversation import Conversation, Review, propose
from reconciler.ci.trust import Event, OverBase, ProjectTrust
from reconciler.cli.console import data, redacted, report_applied, stdout_style, words
from reconciler.model.guards import EXPLICIT_LEVEL, FROZEN, NEW_JOURNAL, NOT_APPROVED
from reconciler.operations import added_by_features, apply_plan, open_session, plan_and_drift
from reconciler.operations.check_project import Checked
from reconciler.operations.open_project import Options, Reporter, made_now
from reconciler.planning.guards import UnderReview
from reconciler.project import Project
from reconciler.report import drift_formats, reasons, sections
from reconciler.report.complaints.document import complaints_text, file_in_repository
from reconciler.report.complaints.for_ci import annotation_lines, begins_sarif, complaints_sarif
from reconciler.report.html import drift_html
from reconciler.report.html.page import begins_page
from reconciler.report.markdown import code
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.formats import plan_text
from reconciler.report.safe import safe
from reconciler.report.words import first_few, plural
from reconciler.runtime.git import GitFailed
from reconciler.runtime.streams import lost_by
from reconciler.workspace.workspace import Workspace

DECIDED_AT_THE_APPLY: Final = (FROZEN, NEW_JOURNAL, NOT_APPROVED)
"""Guards that depend on the time of the apply, not on the change."""


def refusals_of(made: model.Plan, session: open_session.Session, event: Event) -> results.Refusals:
    """Return the refusals of a plan that the plan of the base branch does not have.

    Without an event there is no base branch, and all are returned. On the default branch none is
    returned.
    """
    found = _refusals_in(made)
    if not found.codes:
        return found
    if session.base is not None:
        base = _plan_of(session.base(), session)
        return without(found, _refusals_in(base)) if base is not None else found
    return replace(without(found, found), is_base=True) if event.name else found


def without(found: results.Refusals, base: results.Refusals) -> results.Refusals:
    """Return refusals without those that another plan has too."""
    keys = {guard.key for guard in base.guards}
    blocked_there = {change.ref: change.reasons for change in base.blocked}
    guards = tuple(guard for guard in found.guards if guard.key not in keys)
    blocked = tuple(
        change for change in found.blocked if blocked_there.get(change.ref) != change.reasons
    )
    gone = len(found.guards) + len(found.blocked) - len(guards) - len(blocked)
    return results.Refusals(guards=guards, blocked=blocked, of_base=gone)


def failure_of(
    made: model.Plan, refusals: results.Refusals, *, fails: bool
) -> results.Failure | None:
    """Return why a job fails after its plan; None where it does not.

    The job fails where the plan is not complete, and, with `fails`, where the change causes
    refusals.
    """
    unknown = plan_and_drift.failures_of(made)
    if unknown:
        reason = "the plan is not complete, or cannot be applied as it is"
        return results.Failure(
            code=errors.worst(unknown | refusals.codes), errors=(reason, *refusals.lines)
        )
    if not (refusals.codes and fails):
        return None
    reason = "the change brings what an apply would refuse"
    return results.Failure(code=errors.worst(refusals.codes), errors=refusals.lines, said=reason)


def _refusals_in(made: model.Plan) -> results.Refusals:
    return results.Refusals(
        guards=tuple(
            guard
            for guard in made.guarded
            if guard.level == EXPLICIT_LEVEL and guard.code not in DECIDED_AT_THE_APPLY
        ),
        blocked=tuple(change for change in made.changes if change.action is model.Action.BLOCKED),
    )


def _plan_of(base: Workspace | None, session: open_session.Session) -> model.Plan | None:
    """Return the plan of what the base branch declares; None where it cannot be planned."""
    if base is None:
        return None
    session = replace(session, workspace=base, others=base.left_out, reporter=Reporter())
    try:
        return asyncio.run(plan_and_drift.plan_now(session, session.journal().history))
    except errors.ReconcilerError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The run of one command, what it works with, and its `result` so far."""

    talk: Conversation
    options: Options
    has_key: bool
    result: results.JobResult

    def run(self) -> None:
        """Run the command, and keep the result of each step. Raises what ends it early."""
        inputs = self.talk.inputs
        match inputs.command:
            case "validate":
                self._check_valid(checkout.check_manifests(self.options, in_all=True))
            case "plan":
                self._plan()
            case "apply":
                self._apply()
            case "drift":
                self._drift()
            case added if added in added_by_features.STEPS:
                step = added_by_features.STEPS.load(added)
                use = self._judged(None, refused=step.deed if inputs.remember else "")
                with self._opened(use, may_lack=True) as session:
                    for report in step.run(session, inputs.of_steps, remember=inputs.remember):
                        self.result.report = report
            case proposing if proposing in added_by_features.PROPOSING_STEPS:
                self._propose(proposing)
            case other:
                raise errors.UsageError(f"`command`: there is no step for `{other}`")

    def _check_valid(self, checked: Checked) -> None:
        """Show the complaints about the manifests. Raises InvalidInput where there are errors."""
        if self.talk.inputs.command in ("validate", "plan") and not checked.workspace.errors:
            checked = self._change_checked(checked)
        self.result.checked = checked
        workspace, counts = checked.workspace, open_session.counts_of(checked.workspace)
        if workspace.errors or self.talk.inputs.command == "validate":
            data(complaints_text(workspace.complaints, stdout_style(verbose=False)))
            words("\n".join(filter(None, (counts, checked.advice))))
        if workspace.errors or checked.project is None:
            raise errors.InvalidInput(counts)
        if self.talk.inputs.command == "plan":
            self.result.change_notes += self._change_notes(checked.project, checked.folder)

    def _change_checked(self, checked: Checked) -> Checked:
        """Return a check with what features find in the change, and keep their notes."""
        keys = {key for manifest in checked.workspace.manifests for key in manifest.added}
        for key in keys & {*added_by_features.CHANGE_CHECKS}:
            folder = f"{checked.folder}/" if checked.folder else ""
            touched = {
                name.removeprefix(folder): lines
                for name, lines in touched_lines(self.talk.event, os.environ).items()
                if name.startswith(folder)
            }
            found = added_by_features.CHANGE_CHECKS.load(key)(checked, touched)
            complaints = (*checked.workspace.complaints, *found.complaints)
            checked = replace(checked, workspace=replace(checked.workspace, complaints=complaints))
            self.result.change_notes += [found.note] if found.note else []
        return checked

    def _change_notes(self, project: Project, folder: str) -> list[str]:
        def before(name: str) -> str | None:
            return text_before(file_in_repository(name, folder), self.talk.event, os.environ)

        given = [
            name
            for name in added_by_features.CHANGE_NOTES
            if name in project.settings.model_fields_set
        ]
        return [
            note
            for name in given
            if (note := added_by_features.CHANGE_NOTES.load(name)(project, before))
        ]

    def _judged(self, secrets: Mapping[str, str] | None, *, refused: str = "") -> ProjectTrust:
        """Check the manifests, and return what may be used of them.

        Raises as `_check_valid` does. With `refused`, which begins the message, raises GuardRefused
        for an untrusted change.
        """
        talk = self.talk
        checked, use = checkout.check_and_judge(talk.event, talk.inputs, self.options, secrets)
        self._check_valid(checked)
        if refused and isinstance(use, OverBase):
            raise errors.GuardRefused(
                f"{refused} of what was merged, and this is an untrusted change ({use.why}): "
                "merge it, and run this on the default branch or one of `trustedBranches:`"
            )
        return use

    def _admitted(self, use: ProjectTrust) -> checkout.Admitted:
        admitted = checkout.admit(use, self.talk.event, self.talk.inputs, self.options)
        self.result.postponed = use.postponed if isinstance(use, OverBase) else ()
        return admitted

    def _opened(
        self, use: ProjectTrust, *, may_lack: bool = False
    ) -> AbstractContextManager[open_session.Session]:
        return checkout.opened(
            self._admitted(use), self.options, self.talk.event, may_lack=may_lack
        )

    def _plan(self) -> None:
        """Plan, show the plan, and write it to its file. Raises InvalidInput where it cannot be."""
        result, file = self.result, self.talk.inputs.plan_file
        checkout.refuse_links(file)
        plan_and_drift.check_writable(file)
        try:
            # So that an earlier plan cannot be applied after a later failure.
            file.unlink(missing_ok=True)
        except OSError as error:
            raise errors.InvalidInput(f"{file} cannot be written: {error.strerror}") from error
        made = result.plan = self._made()
        plan_and_drift.write_private(file, plan_json(made))
        data(plan_text(made, stdout_style(verbose=False)))
        if result.refusals.beside:
            words(result.refusals.beside)
        result.failure = failure_of(made, result.refusals, fails=self.talk.inputs.refusal_fails)
        if self.talk.event.name == "merge_group":
            self.talk.check_queued(result.checked.environment, made)

    def _made(self) -> model.Plan:
        """Plan on the service, or on an emulator where there can be no key."""
        result = self.result
        has_key = not self.talk.event.has_no_secrets or self.has_key
        use = self._judged(os.environ if has_key else None)
        if has_key or checkout.has_own_emulator(use, self.options):
            return self._made_live(use)
        own = result.checked.project
        assert own is not None  # noqa: S101 - else it is not valid
        with checkout.opened_without_key(use, own, self.options) as (offline, compared):
            made = self._with_owners(offline.plan(), offline.session.project)
        result.compared = compared
        return made

    def _made_live(self, use: ProjectTrust) -> model.Plan:
        """Plan on the service, with the differences between live and the base branch."""
        admitted = self._admitted(use)
        with checkout.opened(admitted, self.options, self.talk.event) as session:
            # The sections that the settings of the environment ask for.
            setting = session.environment.setting
            wanted = {name: setting(name, object) for name in plan_and_drift.PLAN_SECTIONS}
            made = asyncio.run(plan_and_drift.plan_now(session, session.journal().history, wanted))
            made = self._with_owners(made, session.project)
            made = self._with_consent(made, session)
            refusals = refusals_of(made, session, self.talk.event)
        made = checkout.beside_base(made, admitted, self.options)
        self.result.refusals = refusals
        return made

    def _with_consent(self, made: model.Plan, session: open_session.Session) -> model.Plan:
        consent = apply_plan.Consent(files=self.talk.inputs.files)
        try:
            made, _ = apply_plan.with_added_consent(session, made, consent)
        except errors.ReconcilerError as error:
            words(safe(f"the consent of the plan is decided at its apply: {error}"))
        return made

    def _with_owners(self, made: model.Plan, project: Project) -> model.Plan:
        made, untold = with_owners(made, self.talk.event, project)
        if untold:
            words(safe(untold))
        return made

    def _apply(self) -> None:
        """Apply the reviewed plan, after planning again, and nothing else."""
        result = self.result
        use = self._judged(os.environ, refused="an apply is")
        with self._opened(use) as session:
            added_by_features.wait_before_lock(session, self.talk.inputs.waits)
            review = self.talk.review(result.checked.environment)
            result.review = review.comment
            reviewed = replace(session, review=UnderReview(listed=review.lists))
            made, applied = self._apply_reviewed(reviewed, review)
        result.applied = applied
        report_applied(applied, made, "text", verbose=False)
        if code := errors.worst(applied.exit_codes):
            stopped = "" if applied.signal_code is None else "the run was stopped by a signal"
            why = stopped if applied.stopped_by is None else str(applied.stopped_by)
            result.failure = results.Failure(code=code, errors=why.splitlines())

    def _apply_reviewed(
        self, session: open_session.Session, review: Review
    ) -> tuple[model.Plan, Applied]:
        """Apply the plan if the review consents; keep the plan in any case."""

        def agree(made: model.Plan) -> apply_plan.Consent:
            self.result.plan = made
            consent = review.consent_to(made)
            if results.has_work(made) and (untold := self.talk.check_newest(made, session)):
                words(safe(untold))
            return consent

        def begin(made: model.Plan) -> None:
            self.result.plan = made
            if results.has_work(made):
                folder = self.result.checked.folder
                self.result.keep_comment(self.talk.show_applying(review.comment, made, folder))

        try:
            made, applied = apply_plan.plan_and_apply(session, agree, "ci apply", begin=begin)
        except apply_plan.NotConsented as refused:
            self._leave_out(refused)
            raise
        assert applied is not None  # noqa: S101 - a job is never asked
        return made, applied

    def _leave_out(self, refused: apply_plan.NotConsented) -> None:
        """Leave the guards of a refusal out of the plan, where the refusal is shown whole."""
        made, keys = self.result.plan, {guard.key for guard in refused.guards}
        if made is not None and len(str(refused).splitlines()) <= results.MOST_ERRORS:
            left = tuple(guard for guard in made.guarded if guard.key not in keys)
            self.result.plan = replace(made, guarded=left)

    def _drift(self) -> None:
        """Compare live with the last apply; remember and propose it, as the inputs say."""
        inputs, result = self.talk.inputs, self.result
        proposed = "a proposal is" if inputs.proposals else ""
        refused = "drift is remembered" if inputs.remember else proposed
        use = self._judged(None, refused=refused)
        with self._opened(use, may_lack=True) as session:
            result.look = look = plan_and_drift.drift_now(session, remember=inputs.remember)
            data(drift_formats.drift_text(look, stdout_style(verbose=False)))
            if inputs.proposals:
                checkout.refuse_links(inputs.plan_file)
                made = made_now(session.project)
                page = drift_html(look, session.name, session.target.name, made)
                plan_and_drift.write_private(inputs.plan_file, page, begins_page)
            for name in inputs.proposals:
                edits = added_by_features.PROPOSALS.load(name)(
                    session, self.options, inputs.artifact
                )
                edits = replace(edits, body=redacted(edits.body))
                result.proposed = propose(edits, name, session, self.talk) or result.proposed
        code = plan_and_drift.exit_code_of(look)
        if code not in (errors.ExitCode.DONE, errors.ExitCode.DIFFERENT):
            why = reasons.NO_DRIFT_SEEN if look.is_blind else "some resources could not be read"
            result.failure = results.Failure(code=code, errors=(why,))

    def _propose(self, command: str) -> None:
        """Open a pull request with the edits of a command that writes nothing else."""
        result = self.result
        use = self._judged(None, refused="a proposal is")
        with self._opened(use, may_lack=True) as session:
            found = added_by_features.PROPOSING_STEPS.load(command)(
                session, self.talk.inputs.of_steps
            )
            result.edits = edits = replace(found, body=redacted(found.body))
            result.proposed = propose(edits, f"{command}-{edits.about}", session, self.talk)
        if edits.exit_code:
            lines = ("some resources are not in the proposal, which says why",)
            result.failure = results.Failure(code=edits.exit_code, errors=lines)

    def tell(self) -> None:
        """Report the result in comment, files and annotations."""
        result, why = self.result, lost_by(self.talk.runner.stream)
        if why is not None and result.failure is None:
            error = errors.OutputLost.by(why)
            result.failure = results.Failure(code=error.exit_code, errors=(str(error),))
        result.keep_comment(self._comment())
        self._speak()
        for write in (self._write_sarif, self._write_summary, self._write_outputs):
            try:
                write()
            except (errors.InvalidInput, errors.OutputLost) as lost:
                # A run without failure fails with the code of this one.
                failure = result.failure or results.Failure(code=lost.exit_code, errors=())
                result.failure = replace(failure, errors=(*failure.errors, str(lost)))
                self.talk.runner.say("error", str(lost))

    def _comment(self) -> results.CommentResult:
        """Write the present state to the comment; a queued merge does not change it."""
        talk, result = self.talk, self.result
        if result.code in errors.SIGNALLED and result.applied is None:
            return None
        if result.command == "apply":
            has_news = result.applied is None or (
                result.plan is not None and results.has_work(result.plan)
            )
            return talk.show_applied(result) if has_news else None
        if result.command == "plan" and talk.event.name != "merge_group":
            return talk.show_plan(result)
        return talk.show_report(result)

    def _speak(self) -> None:
        """Show errors next to the change, why there is no comment, and what failed."""
        talk, result = self.talk, self.result
        inputs, runner = talk.inputs, talk.runner
        if inputs.annotations:
            found, folder = result.checked.workspace.complaints, result.checked.folder
            touched = touched_lines(talk.event, os.environ) if found else {}
            shown, rest = of_the_change(found, folder, touched)
            runner.annotate(annotation_lines(shown, folder=folder))
            if rest:
                runner.say("notice", f"{plural(rest, 'warning')} not on lines of this change")
        for line in () if inputs.refusal_fails else result.refusals.lines:
            runner.say("warning", line)
        if talk.missing and inputs.command in ("plan", "apply") and inputs.comment != "never":
            runner.say("notice", f"no comment: {talk.missing}")
        if result.failure is not None and not self._is_visible_already(result.failure):
            message = next(iter(result.errors), result.failure.words)
            runner.say("error", f"{inputs.command}: {message}")

    def _is_visible_already(self, failure: results.Failure) -> bool:
        beside_lines = self.talk.inputs.annotations and bool(self.result.complaint_lines)
        return beside_lines or (failure.is_logged and not self.talk.runner.is_forge)

    def _write_sarif(self) -> None:
        file, checked = self.talk.inputs.sarif_file, self.result.checked
        if file is not None:
            checkout.refuse_links(file)
            found, ignored = checked.workspace.complaints, len(checked.workspace.suppressed)
            text = complaints_sarif(found, checked.folder, checked.environment, ignored)
            plan_and_drift.write_private(file, text, begins_sarif)

    def _write_summary(self) -> None:
        if self.talk.inputs.summary:
            self.talk.runner.write_summary(
                results.summary_of(self.result, self.talk.origin().whole)
            )

    def _write_outputs(self) -> None:
        self.talk.runner.write_outputs(results.outputs_of(self.talk.inputs, self.result))


PLACES: Final = (
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab/CODEOWNERS",
)
"""Places where the file is looked for; the first file found is used."""

WITH_SECTIONS: Final = ".gitlab/CODEOWNERS"
LARGEST: Final = 3 << 20
"""The forge does not read a larger file."""

_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_OWNER = re.compile(r"@[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*|[^\s@]+@[^\s@]+\.[^\s@]+", re.ASCII)
_GLOB = re.compile(
    r"(?P<folders>(?<![^/])\*\*/)|(?P<rest>(?<![^/])\*\*\Z)|(?P<some>\*+)|(?P<any>\?)"
    r"|\\(?P<escaped>[^/])|[^*?\\]+|\\"
)
_SECTION = re.compile(r"\^?\[([^\[\]]+)\](?:\[[0-9]+\])?(.*)")


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """One line: its pattern, and the owners of matching files; there may be none."""

    pattern: str
    owners: tuple[str, ...]
    section: str = ""

    def matches(self, path: str) -> bool:
        """Return whether a path, relative to the repository, matches."""
        return re.fullmatch(expression(self.pattern), path, re.DOTALL) is not None


def owners_of(path: str, rules: Sequence[OwnerRule]) -> tuple[str, ...]:
    """Return the owners of a path: by the last matching rule of each section."""
    last = {rule.section: rule for rule in rules if rule.matches(path)}
    return tuple(dict.fromkeys(owner for rule in last.values() for owner in rule.owners))


def read_owners(text: str, place: str = PLACES[0]) -> list[OwnerRule]:
    """Read a file. Sections are read only in the place of the forge that has sections."""
    rules: list[OwnerRule] = []
    section, usual = "", tuple[str, ...]()
    for line in text.splitlines():
        begun = _SECTION.fullmatch(line.strip()) if place == WITH_SECTIONS else None
        if begun is not None:
            # Names of sections are compared without their case.
            section, usual = begun[1].strip().casefold(), _owners(begun[2].split()) or ()
            continue
        words = _WORD.findall(line)
        if not words or words[0].startswith("#"):
            continue
        owners = _owners(words[1:])
        if owners is not None and _is_pattern(words[0]):
            rules.append(OwnerRule(words[0], owners or usual, section))
    return rules


def _owners(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the owners up to a comment; None where a word is no owner."""
    found = tuple(takewhile(lambda word: not word.startswith("#"), words))
    return found if all(map(_OWNER.fullmatch, found)) else None


def _is_pattern(word: str) -> bool:
    is_odd = word.startswith(("!", "\\#")) or "[" in word.replace("\\[", "")
    return not is_odd and "***" not in word and word.strip("/") != ""


def expression(pattern: str) -> str:
    """Return a pattern as a regular expression for whole paths.

    A pattern with a slash before its end begins at the top; any other matches in every folder.
    """
    body = pattern.rstrip("/")
    is_anchored, last = "/" in body, body.rpartition("/")[2]
    first = "" if is_anchored else "(?:.*/)?"
    inner = _GLOB.sub(_translated, body.lstrip("/"))
    if pattern.endswith("/"):
        return f"{first}{inner}/.+"
    # Matches files directly in a folder, not deeper, as in the forge's own examples.
    is_flat = is_anchored and last == "*"
    return f"{first}{inner}" if is_flat or last == "**" else f"{first}{inner}(?:/.*)?"


def _translated(found: re.Match[str]) -> str:
    means = {"folders": "(?:.*/)?", "rest": ".+", "some": "[^/]*", "any": "[^/]"}
    return means.get(found.lastgroup or "", re.escape(found["escaped"] or found[0]))


MOST_OWNERS = 10
MOST_NAMED = 3
LONGEST_NAME = 60
NOBODY = "nobody"
_MENTIONED = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ChangeOwners:
    """The owners of each manifest by the CODEOWNERS file of the base branch.

    A manifest with unknown owners is not in `by_ref`. Owners are notified if `mentioned`.
    """

    formats: ClassVar[str] = "reconciler.ci.job:FORMATS"
    by_ref: Mapping[model.Ref, tuple[str, ...]]
    mentioned: bool = False


def _members(owned: ChangeOwners, change: model.Change) -> Mapping[str, object]:
    owners = owned.by_ref.get(change.ref)
    return {} if owners is None else {"owners": [*owners]}


def _owners_markdown(section: ChangeOwners, changes: Sequence[model.Change]) -> Iterator[str]:
    """Yield a line for each owner of a change.

    A name is in a code span, so that no person is notified, unless mentions were requested.
    """
    owned: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        owners = section.by_ref.get(change.ref)
        if owners is not None:
            for owner in owners or (NOBODY,):
                owned[owner].append(str(change.ref))
    ordered = sorted(owned.items(), key=lambda owner_refs: (owner_refs[0] == NOBODY, owner_refs[0]))
    for owner, refs in ordered[:MOST_OWNERS]:
        is_plain = owner == NOBODY or (section.mentioned and _MENTIONED.fullmatch(owner))
        named = owner if is_plain else code(owner, LONGEST_NAME)
        yield f"- {named}: {first_few(refs, MOST_NAMED, lambda ref: code(ref, LONGEST_NAME))}"
    if len(ordered) > MOST_OWNERS:
        yield f"- and {len(ordered) - MOST_OWNERS:,} more owners"


FORMATS: Final[sections.SectionFormats[ChangeOwners]] = sections.SectionFormats(
    change_members=_members, owners_markdown=_owners_markdown
)


def with_owners(made: model.Plan, event: Event, project: Project) -> tuple[model.Plan, str]:
    """Return the plan with the owners of its manifests, and why they are unknown, "" otherwise.

    `project` is what may be used of the checkout. Its settings, which are those of the base branch,
    decide whether owners are mentioned.
    """
    place = checkout.place_of(project)
    if place is None or not event.name:
        return made, ""
    try:
        # The possible commits of the base, the most certain first.
        tips = [event.base] if event.is_try else checkout.tips_of(event, place)
        found = _found(tips, place.commits)
    except GitFailed as error:
        return made, f"the owners of the manifests are unknown ({error}): {checkout.FETCH_ALL}"
    if found is None:
        return made, ""
    owned = {
        change.ref: owners_of(posixpath.normpath(f"{place.folder}/{source.file}"), found)
        for change in made.changes
        if (source := change.source) is not None
    }
    return made.with_section(ChangeOwners(owned, project.settings.mention_owners)), ""


def _found(tips: Sequence[str], commits: Commits) -> list[OwnerRule] | None:
    """Read the first owners file of the first known commit; None without one. Raises GitFailed."""
    known = next((tip for tip in tips if commits.has(tip)), "")
    if not known:
        raise GitFailed("the base branch is not in this checkout")
    for path in PLACES:
        entry = commits.entry(known, PurePosixPath(path))
        if entry is not None and is_regular(entry):
            content = commits.content(entry)
            text = content.decode("utf-8", "replace") if len(content) <= LARGEST else ""
            return read_owners(text, path)
    return None
