"""What is no longer as it was reviewed, in words for whoever has to review it again."""

from __future__ import annotations

from reconciler.document import Json
from reconciler.report.plan.document import (
    ChangeDocument,
    FieldDocument,
    PlanDocument,
    change_document,
)
from reconciler.resource import Plan


def changed_since(reviewed: PlanDocument, now: Plan) -> list[str]:
    """Name the resources whose change is not the reviewed one, and every field that differs.

    The digest has decided that the plan is stale; this only explains.
    """
    current = {
        str(change.ref): ChangeDocument.model_validate(change_document(change))
        for change in now.changes
    }
    known = {change.ref: change for change in reviewed.changes}
    names = [
        f"{what}: was {before!r}, is {after!r}"
        for what, before, after in (
            ("environment", reviewed.environment, now.environment),
            ("target", reviewed.target, now.target),
        )
        if before != after
    ]
    for ref in sorted(known.keys() | current.keys()):
        if ref not in current:
            names.append(f"{ref}: no longer declared")
        elif ref not in known:
            names.append(f"{ref}: new since the review")
        elif _essence(current[ref]) != _essence(known[ref]):
            names.append(f"{ref}: {_difference(known[ref], current[ref])}")
    if not names and reviewed.digest != now.digest:
        return ["what would be written is as reviewed; what is live changed in other fields"]
    return names


def _essence(change: ChangeDocument) -> tuple[object, ...]:
    return change.action, change.remote_id, change.fields, change.destroys


def _difference(before: ChangeDocument, now: ChangeDocument) -> str:
    if before.action != now.action:
        return f"was {before.action}, is {now.action}"
    from deepdiff import DeepDiff  # noqa: PLC0415 - heavy, and only for a stale plan

    # With its own threshold it names no key where most of them differ.
    found = DeepDiff(_parts(before), _parts(now), threshold_to_diff_deeper=0)
    named = ", ".join(sorted(found.affected_root_keys))
    return f"another {before.action}" + (f": {named}" if named else "")


def _parts(change: ChangeDocument) -> dict[str, Json]:
    """Give the parts of a change by names that say something to a reviewer."""
    fields: dict[str, Json] = {}
    for field in change.fields:
        fields[".".join(map(str, field.path))] = _field(field)
    return {**fields, "remoteId": change.remote_id, "destroys": list(change.destroys)}


def _field(field: FieldDocument) -> Json:
    return field.model_dump(mode="json", by_alias=True)
