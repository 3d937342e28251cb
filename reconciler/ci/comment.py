"""Comments on a pull request: plan or outcomes or a failure, and the reviewed changes. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reconciler.ci.forge.own_comment import Marker, hidden_json
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
from reconciler.report.plan.markdown import plan_markdown
from reconciler.report.safe import safe

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
    for text in body.split("\n")[1:2]:
        found = _LINE.fullmatch(text)
        if found is None:
            return None
        try:
            document = json.loads(found[1])
        except ValueError:
            return None
        return {name: str(value) for name, value in document.items()}
    return None


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
    head = f"{marker.line}\n" + (f"{reviewed}\n" if reviewed else "") + applied_markdown(result)
    foot = origin.foot(marker)
    room = COMMENT_BYTES - len((head + foot).encode())
    return head + folded_plan(result.plan, "The plan", room, origin) + foot


def postponed_note(edits: Sequence[str]) -> str:
    """Return a note on edits of the project file that take effect after the merge, "" for none.

    Their dotted names are foreign text.
    """
    if not edits:
        return ""
    named = ", ".join(code(edit, LONGEST_NAME) for edit in edits[:MOST_ERRORS])
    more = f" and {len(edits) - MOST_ERRORS:,} more" if len(edits) > MOST_ERRORS else ""
    return (
        "> **Edits of the project file take effect after the merge.** Of a change only manifests, "
        "`manifests:` and `variables:` are used; all else is as on the base branch. Not used: "
        f"{named}{more}."
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
    title = f"### Not applied to {code(marker.environment, LONGEST_NAME)}"
    why = fenced("text", list(_shown(errors)))
    head = f"{marker.line}\n" + (f"{reviewed}\n" if reviewed else "") + f"{title}\n\n{why}\n"
    foot = origin.foot(marker)
    room = COMMENT_BYTES - len((head + foot).encode())
    now = ""
    if plan is not None:
        now = folded_plan(plan, _title_of_refused(plan, marker.digest), room, origin)
    return head + now + foot


def _title_of_refused(plan: Plan, reviewed: str) -> str:
    """Return the title of a refused plan. `reviewed` is the reviewed digest, "" for none."""
    if plan.digest == reviewed:
        return "The plan as it is now: it is the reviewed one"
    verdict = "is not the reviewed one" if reviewed else "was not reviewed"
    return f"The plan as it is now, which {verdict}"


def folded_plan(plan: Plan, title: str, room: int, origin: Origin) -> str:
    """Return a plan folded under a title, "" where not even its table fits."""
    opened = f"\n<details><summary>{title}</summary>\n\n"
    closed = "\n</details>\n"
    inside = room - len((opened + closed).encode())
    text = plan_markdown(plan, budget=inside, whole=origin.whole)
    return opened + text + closed if len(text.encode()) <= inside else ""


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
