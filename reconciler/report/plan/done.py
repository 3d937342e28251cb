"""Changes of a reviewed plan that were applied since: kept now, with the planned content. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import JsonValue

from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    canonical_text,
)
from reconciler.kinds import BY_NAME
from reconciler.model import Action, Change, Plan
from reconciler.report.changes.document import FieldDocument
from reconciler.report.plan.document import ChangeDocument, PlanDocument, change_document
from reconciler.report.plan.stale import changes_since, elsewhere
from reconciler.syntax.expressions import ExpressionKind, expression


def with_done(reviewed: PlanDocument, now: Plan) -> PlanDocument:
    """Return a reviewed plan with its applied changes replaced by those of a new plan.

    A change that waited for the id of a resource that was created since gets that id.
    """
    changes = {str(change.ref): change for change in now.declared}
    ids = {
        expression(ExpressionKind.REFERENCE, ref): str(change.remote_id)
        for ref, change in changes.items()
        if change.remote_id is not None
    }
    changes_now = []
    for reviewed_change in reviewed["changes"]:
        change, known = changes.get(reviewed_change["ref"]), _with_ids(reviewed_change, ids)
        if change is not None and _is_done(known, change):
            known = change_document(change)
        changes_now.append(known)
    return cast("PlanDocument", {**reviewed, "changes": changes_now})


def is_rest(reviewed: PlanDocument, now: Plan) -> bool:
    """Return whether a plan equals a reviewed plan, except for changes applied since."""
    known = with_done(reviewed, now)
    is_same = not elsewhere(reviewed, now) and not changes_since(known, now)
    return is_same and known["changes"] != reviewed["changes"]


def _is_done(reviewed: ChangeDocument, now: Change) -> bool:
    """Return whether a resource is kept now, and declared as the reviewed change planned."""
    was = reviewed["action"]
    if now.action is not Action.KEEP or was in (Action.KEEP.word, Action.BLOCKED.word):
        return False
    if reviewed["remoteId"] not in (None, now.remote_id):
        return False
    shape = BY_NAME[now.ref.kind].shape
    fields = reviewed["fields"]
    if was == Action.CREATE.word and {field["path"][0] for field in fields} != {*now.declared}:
        return False
    return all(
        _is_placed(field, now, shape)
        if field["operation"] == "move"
        else _is_there(field, now, shape)
        for field in fields
    )


def _is_placed(field: FieldDocument, now: Change, shape: Shape) -> bool:
    """Return whether an item of a list is at the place to which it was to move."""
    *parent, name = field["path"]
    for document in (now.declared, now.body):
        items = _at(document, tuple(parent), shape)
        named = by_identity(items, shape.along(tuple(parent))) if isinstance(items, list) else None
        if named and name in named and [*named].index(str(name)) == field.get("after"):
            return True
    return False


def _is_there(field: FieldDocument, now: Change, shape: Shape) -> bool:
    """Return whether a field is declared as planned. Some items have names only live."""
    path, after = tuple(field["path"]), field.get("after", ABSENT)
    found = [_at(document, path, shape) for document in (now.declared, now.body)]
    return found == [ABSENT, ABSENT] if after is ABSENT else after in found


def _at(document: Json | Missing, path: Path, shape: Shape) -> Json | Missing:
    """Return the value at a path that names items; ABSENT where there is none."""
    for step in path:
        if isinstance(document, list):
            named: Mapping[Any, Json] = by_identity(document, shape) or dict(enumerate(document))
            document, shape = named.get(step, ABSENT), shape.item
        elif isinstance(document, dict):
            document, shape = document.get(str(step), ABSENT), shape.at(str(step))
        else:
            return ABSENT
    return document


def _with_ids(reviewed: ChangeDocument, ids: Mapping[str, str]) -> ChangeDocument:
    """Return a reviewed change with ids in place of the references that waited for them."""
    return {**reviewed, "fields": [_with_id(field, ids) for field in reviewed["fields"]]}


def _with_id(field: FieldDocument, ids: Mapping[str, str]) -> FieldDocument:
    if not field.get("knownAfterApply") or "after" not in field:
        return field
    known: FieldDocument = {**field, "after": _filled(field["after"], ids)}
    if expression(ExpressionKind.REFERENCE, "").rstrip("}") not in canonical_text(known["after"]):
        del known["knownAfterApply"]
    return known


def _filled(value: JsonValue, ids: Mapping[str, str]) -> JsonValue:
    if isinstance(value, dict):
        return {key: _filled(element, ids) for key, element in value.items()}
    if isinstance(value, list):
        return [_filled(element, ids) for element in value]
    if isinstance(value, str):
        for reference, known in ids.items():
            value = value.replace(reference, known)
    return value
