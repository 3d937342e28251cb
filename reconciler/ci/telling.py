"""What a job is told in the end: outputs, summary, annotations, SARIF. Source: docs/ci.md."""

from __future__ import annotations

import os
from collections.abc import Sequence

from reconciler.ci.checkout import refuse_links
from reconciler.ci.conversation import COMPARED, Conversation
from reconciler.ci.ended import WORDS, Ended
from reconciler.ci.runner import Inputs
from reconciler.console import redacted
from reconciler.errors import ExitCode
from reconciler.report.applied import Result, applied_markdown
from reconciler.report.comment import failure_markdown, postponed_note
from reconciler.report.complaints.junit import annotation_lines
from reconciler.report.complaints.sarif import begins_sarif, complaints_sarif
from reconciler.report.complaints.text import complaints_summary, complaints_text
from reconciler.report.drift import drift_text
from reconciler.report.markdown import SUMMARY_BYTES, code, fenced
from reconciler.report.plan.markdown import plan_markdown
from reconciler.report.table import Style
from reconciler.resource import Action, Plan
from reconciler.session.planning import write_private

PLAIN = Style(colour=False, width=100, verbose=False, terminal=False)

OUTPUTS = (
    *("result", "exit-code", "create", "update", "assert", "keep", "blocked", "unsettled"),
    *("digest", "plan-path", "artifact-name", "comment-id", "comment-url", "failure-reason"),
)
"""The outputs of action.yml, in its order."""

_ACTIONS = (Action.CREATE, Action.UPDATE, Action.ASSERT, Action.KEEP, Action.BLOCKED)


def outputs_of(inputs: Inputs, ended: Ended) -> dict[str, str]:
    """Give the outputs of action.yml; those about a plan or a comment only where there is one."""
    outputs = {"result": ended.result, "exit-code": str(ended.code)}
    if ended.plan is not None:
        outputs |= {action.word: str(ended.plan.count(action)) for action in _ACTIONS}
        outputs["unsettled"] = str(len(ended.plan.unsettled))
        outputs["digest"] = ended.plan.digest
    is_kept = os.path.isfile(inputs.plan_file)  # noqa: PTH113 - never raises
    if is_kept and inputs.command in ("plan", "apply"):
        outputs["plan-path"] = str(inputs.plan_file)
        outputs["artifact-name"] = inputs.artifact
    if ended.comment is not None:
        outputs["comment-id"] = str(ended.comment.id)
        outputs["comment-url"] = ended.comment.url
    if ended.reason:
        outputs["failure-reason"] = ended.reason
    return outputs


def tell(talk: Conversation, ended: Ended) -> None:
    """Write annotations, SARIF and summary, as far as they are asked for.

    Raises InvalidInput for a file that cannot be written.
    """
    inputs, runner = talk.inputs, talk.runner
    if inputs.annotations:
        lines = annotation_lines(ended.complaints, folder=ended.folder)
        runner.annotate(lines)
    if inputs.sarif_file is not None:
        refuse_links(inputs.sarif_file)
        text = complaints_sarif(ended.complaints, ended.folder, ended.environment)
        write_private(inputs.sarif_file, redacted(text), begins_sarif)
    if inputs.summary:
        runner.write_summary(summary_of(talk, ended))
    if talk.missing and inputs.command in ("plan", "apply") and inputs.comment != "never":
        runner.say("notice", f"no comment: {talk.missing}")
    if ended.reason and not _is_said(inputs, ended, is_forge=runner.is_forge):
        said = ended.errors[0] if ended.errors else WORDS[ended.reason]
        runner.say("error", f"{inputs.command}: {said}")


def _is_said(inputs: Inputs, ended: Ended, *, is_forge: bool) -> bool:
    """Tell whether the failure stands where people look: beside the lines, or in a plain log."""
    beside_lines = inputs.annotations and bool(ended.complaint_lines)
    return beside_lines or (ended.is_logged and not is_forge)


def summary_of(talk: Conversation, ended: Ended) -> str:
    """Give the job's summary: always at least a line, and never more than it takes."""
    note = postponed_note(ended.postponed)
    parts = [f"{note}\n"] if note else []
    if ended.applied is not None and ended.plan is not None:
        said = "\n".join(ended.errors)
        parts.append(applied_markdown(Result(ended.plan, ended.outcomes, ended.state, said)))
    elif ended.reason:
        where = f" for {code(ended.environment, 80)}" if ended.environment else ""
        title = f"`{ended.command}`{where}: {WORDS[ended.reason]}"
        parts.append(failure_markdown(title, ended.errors))
    if ended.plan is not None:
        parts.append(_plan(ended.plan, ended, talk))
    elif ended.drifts is not None:
        title = "drift" if ended.code == ExitCode.DIFFERENT else "no drift"
        text = drift_text(ended.drifts, PLAIN)
        parts.append(f"### `drift`: {title}\n\n{_fenced(text)}")
    elif not ended.reason:
        counts = complaints_summary(ended.complaints, ended.resources, ended.files)
        text = complaints_text(ended.complaints, PLAIN)
        parts.append(f"### `validate`: {counts}\n\n{_fenced(text)}")
    return "\n".join(parts)


def _plan(plan: Plan, ended: Ended, talk: Conversation) -> str:
    above = f"{COMPARED[ended.compared]}\n\n" if ended.is_offline else ""
    budget = SUMMARY_BYTES // 2
    return above + plan_markdown(plan, budget=budget, whole=talk.origin.whole)


def _fenced(text: str) -> str:
    """Give the lines of a text that fit, inside a fence; "" for none."""
    kept: list[str] = []
    room = SUMMARY_BYTES // 2
    for line in text.splitlines():
        room -= len(line.encode()) + 1
        if room < 0:
            kept.append("(the rest stands in the log)")
            break
        kept.append(line)
    return fenced("text", _trimmed(kept)) + "\n" if text.strip() else ""


def _trimmed(lines: Sequence[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")
