"""Differences between a plan and the reviewed plan, and what of that plan is done, for people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    canonical_text,
    each_text,
)
from reconciler.kinds import BY_NAME
from reconciler.model import Action, Change, Plan, ProtectionTurns, RenamedFrom
from reconciler.model.guards import REVIEW_LEVEL
from reconciler.report.changes.document import FieldDocument
from reconciler.report.labels import FieldLabel, places_in
from reconciler.report.plan.document import ChangeDocument, PlanDocument, change_document, listed_in
from reconciler.report.sections import shown_sections
from reconciler.runtime.advice import on_files, on_part
from reconciler.syntax.expressions import ExpressionKind, expression


def changed_since(reviewed: PlanDocument, now: Plan) -> list[str]:
    """Return the resources with another change than the reviewed one, and each different field.

    The digest has decided that the plan is stale; this only explains it.
    """
    names = [*elsewhere(reviewed, now), *_of_paths(reviewed, now).values()]
    listed = listed_in(reviewed)
    names += unlisted(now, listed)
    if listed - {guard.key for guard in now.guarded}:
        names.append("a guard that the reviewed plan lists is not as it was, or is gone")
    if not names and reviewed["digest"] != now.digest:
        cause = "what would be written is as reviewed; what is live changed in other fields"
        # A digest shows that something differs, not which input.
        others = [formats.stale for _, formats in shown_sections(now) if formats.stale]
        return [", or ".join((cause, *others))]
    return names


def _of_paths(reviewed: PlanDocument, now: Plan) -> dict[str, str]:
    """Return the differences by resource; one line for all that other paths leave out."""
    found = changes_since(reviewed, now)
    was = reviewed.get("paths", [])
    apart = {change["ref"] for change in reviewed["changes"]} ^ {
        str(change.ref) for change in now.declared
    }
    if not apart or was == [*now.paths]:
        return found
    what = ", ".join(was) or "all manifests"
    command = on_files("apply", *was, rest="--plan FILE")
    words = f"the reviewed plan was of {what}: `{command}` applies just that"
    if not was:
        words += f", and `{on_part('apply', *now.paths, rest='--plan FILE')}` a part of it"
    return {"": words} | {ref: line for ref, line in found.items() if ref not in apart}


def elsewhere(reviewed: PlanDocument, now: Plan) -> list[str]:
    """Return a line for each difference in environment or target."""
    return [
        f"{what}: was {before!r}, is {after!r}"
        for what, before, after in (
            ("environment", reviewed["environment"], now.environment),
            ("target", reviewed["target"], now.target),
        )
        if before != after
    ]


def changes_since(reviewed: PlanDocument, now: Plan) -> dict[str, str]:
    """Return a line for each resource with another change than the reviewed one, by its name."""
    changes = {str(change.ref): change for change in now.declared}
    current = {name: change_document(change) for name, change in changes.items()}
    known = {change["ref"]: change for change in reviewed["changes"]}
    found: dict[str, str] = {}
    for ref in sorted(known.keys() | current.keys()):
        if ref not in current:
            found[ref] = f"{ref}: no longer declared"
        elif ref not in known:
            found[ref] = f"{ref}: new since the review"
        elif noted := _noted(current[ref]) - _noted(known[ref]):
            found[ref] = f"{ref}: not in the reviewed plan: {', '.join(sorted(noted))}"
        elif _essence(current[ref]) != _essence(known[ref]):
            difference = _difference(known[ref], current[ref], places_in(changes[ref]))
            found[ref] = f"{ref}: {difference}"
    return found


def unlisted(now: Plan, listed: Collection[str]) -> list[str]:
    """Return a line for each guard of level review that the reviewed plan does not list."""
    return [
        f"{guard.message} [{guard.code}]: not in the reviewed plan"
        for guard in now.guarded
        if guard.level == REVIEW_LEVEL and guard.key not in listed
    ]


def _essence(change: ChangeDocument) -> tuple[object, ...]:
    return change["action"], change["remoteId"], change["fields"], change["destroys"]


def _noted(change: ChangeDocument) -> set[str]:
    """Return the words of the effects that an apply would only record in the journal."""
    noted = (ProtectionTurns.code, RenamedFrom.code)
    explained = zip(change["reasons"], change["notes"], strict=False)
    return {words for reason, words in explained if reason["code"] in noted}


def _difference(
    before: ChangeDocument, now: ChangeDocument, where: Callable[[Path], FieldLabel]
) -> str:
    is_same = before["action"] == now["action"]
    head = (
        f"another {before['action']}" if is_same else f"was {before['action']}, is {now['action']}"
    )
    from deepdiff import DeepDiff  # noqa: PLC0415 - heavy, and only for a stale plan

    # With its default threshold it names no key where most of them differ.
    found = DeepDiff(_parts(before), _parts(now), threshold_to_diff_deeper=0)
    fields = (*before["fields"], *now["fields"])
    spoken = {_key(field): where(tuple(field["path"])).words for field in fields}
    named = sorted({spoken.get(key, key) for key in found.affected_root_keys})
    return head + (f": {', '.join(named)}" if named else "")


def _parts(change: ChangeDocument) -> dict[str, object]:
    """Return the parts of a change by names that a reviewer understands."""
    fields = {_key(field): field for field in change["fields"]}
    return {**fields, "remoteId": change["remoteId"], "destroys": change["destroys"]}


def _key(field: FieldDocument) -> str:
    return ".".join(map(str, field["path"]))


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
    known: FieldDocument = {
        **field,
        "after": each_text(field["after"], lambda text: _filled(text, ids)),
    }
    if expression(ExpressionKind.REFERENCE, "").rstrip("}") not in canonical_text(known["after"]):
        del known["knownAfterApply"]
    return known


def _filled(text: str, ids: Mapping[str, str]) -> str:
    for reference, known in ids.items():
        text = text.replace(reference, known)
    return text
