"""Comments on a pull request: plan or outcomes or a failure, and the reviewed changes. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reconciler.ci.forge.pull_requests import Marker, hidden_json
from reconciler.document import digest
from reconciler.model import Change, Plan
from reconciler.report.applied_formats import ApplyResult, applied_markdown
from reconciler.report.markdown import (
    COMMENT_BYTES,
    LONGEST_NAME,
    code,
    fenced,
)
from reconciler.report.plan.document import change_document
from reconciler.report.plan.formats import plan_markdown
from reconciler.report.safe import safe
from reconciler.report.words import first_few

MOST_CHANGES = 100
LARGEST_LINE = 8_000
_DIGITS = 12
_LINE = re.compile(r"<!-- reconciler-changes (\{[^<>]*\}) -->\r?")
# A change stays the same change when its line moves or its reason differs.
_BESIDE = ("source", "notes", "reasons")


def changes_line(plan: Plan) -> str:
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


def changed_since_review(reviewed: dict[str, str], now: Plan) -> list[str]:
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


def _essence(change: Change) -> str:
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
    """Origin of a comment: the address of the run, and the artifact with the whole plan."""

    run_url: str = ""
    artifact: str = ""

    @property
    def whole(self) -> str:
        """The place of what was left out, for readers."""
        return "the artifact" if self.artifact else "the summary of the job"

    def foot(self, marker: Marker) -> str:
        """Return the last line: commit, run and artifact."""
        parts = [f"commit {code(marker.head[:COMMIT_DIGITS])}"] if marker.head else []
        parts += [f"[run]({self.run_url})"] if self.run_url else []
        parts += [f"artifact {code(self.artifact)}"] if self.artifact else []
        return f"\n<sub>{' · '.join(parts)}</sub>\n" if parts else ""


def plan_comment(
    plan: Plan, marker: Marker, origin: Origin, said: str = "", *, offline: str = OFFLINE
) -> str:
    """Return the comment for a plan, within the budget; `said` is put above the plan.

    `offline` is the notice for a plan that was not compared with live.
    """
    unseen = offline if marker.state == "offline" else ""
    reviewed = changes_line(plan) if marker.digest else ""
    head = "".join(f"{part}\n\n" for part in (unseen, said) if part)
    foot = origin.foot(marker)
    room = COMMENT_BYTES - sum(
        len(part.encode()) + 1 for part in (marker.line, reviewed, head, foot)
    )
    text = plan_markdown(plan, budget=room, whole=origin.whole)
    return "\n".join(part for part in (marker.line, reviewed, f"{head}{text}{foot}") if part)


def applied_comment(result: ApplyResult, marker: Marker, origin: Origin, reviewed: str) -> str:
    """Return the comment for an apply: the outcomes, then the folded plan, within the budget."""
    folded = "The plan", result.plan
    return _with_folded(applied_markdown(result), folded, marker, origin, reviewed)


def _with_folded(
    text: str, folded: tuple[str, Plan] | None, marker: Marker, origin: Origin, reviewed: str
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
    inside = plan_markdown(plan, budget=room, whole=origin.whole)
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
    plan: Plan | None,
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
    why = fenced("text", list(_shown(errors)))
    text = f"### Not applied to {code(marker.environment, LONGEST_NAME)}\n\n{why}\n"
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
    shown = fenced("text", list(_shown(errors))) + "\n" if errors else ""
    return f"### {title}\n\n{shown}"


def _shown(errors: Sequence[str]) -> Iterator[str]:
    for error in errors[:MOST_ERRORS]:
        yield safe(error, LONGEST_LINE)
    if len(errors) > MOST_ERRORS:
        yield f"and {len(errors) - MOST_ERRORS:,} more"
