"""What a reviewed plan held, resource by resource, so that a later one can be told from it. Pure.

The digest decides whether a plan is the reviewed one; this only says what
differs. It stands hidden in the second line of the comment.
"""

from __future__ import annotations

import json
import re

from reconciler.document import Json, digest
from reconciler.forge.marker import hidden_json
from reconciler.report.plan.document import change_document
from reconciler.resource import Action, Change, Plan

MOST_CHANGES = 100
LARGEST_LINE = 8_000
_DIGITS = 12
_LINE = re.compile(r"<!-- reconciler-changes (\{[^<>]*\}) -->\r?")
# A moved line or another reason is no other change.
_BESIDE = ("source", "notes", "reasons")


def changes_line(plan: Plan) -> str:
    """Give the hidden line, "" for a plan with too many changes for one."""
    changes = [change for change in plan.changes if change.action is not Action.KEEP]
    if len(changes) > MOST_CHANGES:
        return ""
    found: dict[str, object] = {str(change.ref): _essence(change) for change in changes}
    line = f"<!-- reconciler-changes {hidden_json(found)} -->"
    return line if len(line) <= LARGEST_LINE else ""


def changes_in(body: str) -> dict[str, str] | None:
    """Read the line of a comment, None where there is none."""
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
    """Give the line itself, "" where there is none."""
    return body.split("\n")[1].rstrip("\r") if changes_in(body) is not None else ""


def changed_since_review(reviewed: dict[str, str], now: Plan) -> list[str]:
    """Name the resources whose change is not the reviewed one."""
    current = {
        str(change.ref): _essence(change)
        for change in now.changes
        if change.action is not Action.KEEP
    }
    words = []
    for ref in sorted(reviewed.keys() | current.keys()):
        if ref not in current:
            words.append(f"{ref}: was to be changed, and is no more")
        elif ref not in reviewed:
            words.append(f"{ref}: is to be changed, and was not")
        elif current[ref] != reviewed[ref]:
            words.append(f"{ref}: another change than the reviewed one")
    return words


def _essence(change: Change) -> str:
    document: dict[str, Json] = change_document(change)
    kept = {name: value for name, value in document.items() if name not in _BESIDE}
    return digest(kept).removeprefix("sha256:")[:_DIGITS]
