"""Differences between a plan and the reviewed plan, for people."""

from __future__ import annotations

from collections.abc import Callable, Collection

from reconciler.document import Path
from reconciler.model import Plan, ProtectionTurns, RenamedFrom
from reconciler.model.guard_levels import REVIEW_LEVEL
from reconciler.report.changes.document import (
    FieldDocument,
)
from reconciler.report.labels import FieldLabel, places_in
from reconciler.report.plan.document import (
    ChangeDocument,
    PlanDocument,
    change_document,
    listed_in,
)
from reconciler.report.sections import shown_sections
from reconciler.runtime.advice import on_files, on_part


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
