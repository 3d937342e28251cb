"""What a reviewer must not miss, the worst first, and what is no longer as it was reviewed.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reconciler.advice import on_journal
from reconciler.document import Path
from reconciler.report.changes.document import FieldDocument
from reconciler.report.plan.document import ChangeDocument, PlanDocument, change_document
from reconciler.report.reasons import remark_words
from reconciler.report.safe import safe
from reconciler.report.spoken import Place, places_in
from reconciler.report.words import plural
from reconciler.resource import Action, Change, Plan, Ref, RenamedFrom

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Notice:
    """One warning. `words` are ours; `refs`, `said` and `names` are foreign text, not yet safe.

    What is `said` goes on after the name of the one in `refs`, where there is one. `title` says
    what is the matter in a word or two, `ways` what a person can do. Notices of one `title`
    stand together.
    """

    title: str
    words: str = ""
    refs: tuple[Ref, ...] = ()
    said: str = ""
    names: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()


def notices(plan: Plan) -> Iterator[Notice]:
    """Yield guards, destroys, what is in doubt, blocked or unverified, and what is left behind."""
    if plan.changed_since:
        rest = f"{plural(plan.not_examined, 'resource')} not"
        said = f"only what changed since {plan.changed_since} was examined; {rest}"
        yield Notice("partial", said=said)
    for remark in plan.remarks:
        yield Notice("note", said=remark_words(remark))
    for guard in plan.guarded:
        refs = (guard.ref,) if guard.ref else ()
        yield Notice("needs consent", "", refs, guard.said, ways=guard.ways_out)
    for change in plan.changes:
        if change.destroys and not _told_by_guard(change, plan):
            yield Notice("destroys for good", "", (change.ref,), names=change.destroys)
    for one in plan.unsettled:
        words = "the answer to its create was lost, and nothing can be applied before it is settled"
        settle = on_journal("settle", str(one.ref), environment=plan.environment)
        way, never = f"{settle} --id ID", f"{settle} --never-happened"
        yield Notice("in doubt", words, (one.ref,), ways=(way, never))
    yield from _protection(plan)
    yield from _renamed(plan)
    yield from _under(plan, Action.BLOCKED, "blocked", "cannot be done")
    yield from _under(
        plan, Action.ASSERT, "unverified", "written without having seen what is there"
    )
    if plan.orphans:
        words = "stays where it is, as the API has no delete"
        yield Notice("no longer declared", words, tuple(one.ref for one in plan.orphans))


def _told_by_guard(change: Change, plan: Plan) -> bool:
    """Tell whether the guard that holds a destroy names already all that goes."""
    return len(change.destroys) <= MOST_NAMED and any(
        guard.ref == change.ref and set(change.destroys) <= set(guard.destroys)
        for guard in plan.guarded
    )


def _protection(plan: Plan) -> Iterator[Notice]:
    turns = [change for change in plan.changes if change.turns_protection]
    for begins, words in ((True, "begins with this apply"), (False, "ends with this apply")):
        refs = tuple(change.ref for change in turns if change.manifest.protect is begins)
        if refs:
            yield Notice("protection", words, refs)


def _renamed(plan: Plan) -> Iterator[Notice]:
    refs = tuple(
        change.ref
        for change in plan.changes
        for reason in change.reasons
        if isinstance(reason, RenamedFrom)
    )
    if refs:
        yield Notice("renamed", "the same object had another name at its last apply", refs)


def _under(plan: Plan, action: Action, title: str, words: str) -> Iterator[Notice]:
    refs = tuple(change.ref for change in plan.changes if change.action is action)
    if refs:
        count = f"{plural(len(refs), 'resource')} " if len(refs) > 1 else ""
        yield Notice(title, count + words, refs)


def partial_words(plan: Plan) -> str:
    """Give a sentence for a plan that did not examine all resources; "" for a whole one."""
    if not plan.changed_since:
        return ""
    rest = plural(plan.not_examined, "resource")
    return f"Only what changed since {safe(plan.changed_since)} was examined; {rest} not."


def emptiness(plan: Plan) -> str:
    """Say why a plan holds nothing, and where the rest is."""
    if not plan.changed_since:
        return "No manifest applies to this environment."
    rest = plural(plan.not_examined, "other resource")
    return f"Nothing that is declared changed. Without `--changed-since`, {rest} would be examined."


def changed_since(reviewed: PlanDocument, now: Plan) -> list[str]:
    """Name the resources whose change is not the reviewed one, and every field that differs.

    The digest has decided that the plan is stale; this only explains.
    """
    changes = {str(change.ref): change for change in now.changes}
    current = {name: change_document(change) for name, change in changes.items()}
    known = {change["ref"]: change for change in reviewed["changes"]}
    names = [
        f"{what}: was {before!r}, is {after!r}"
        for what, before, after in (
            ("environment", reviewed["environment"], now.environment),
            ("target", reviewed["target"], now.target),
        )
        if before != after
    ]
    for ref in sorted(known.keys() | current.keys()):
        if ref not in current:
            names.append(f"{ref}: no longer declared")
        elif ref not in known:
            names.append(f"{ref}: new since the review")
        elif _essence(current[ref]) != _essence(known[ref]):
            names.append(f"{ref}: {_difference(known[ref], current[ref], places_in(changes[ref]))}")
    if not names and reviewed["digest"] != now.digest:
        return ["what would be written is as reviewed; what is live changed in other fields"]
    return names


def _essence(change: ChangeDocument) -> tuple[object, ...]:
    return change["action"], change["remoteId"], change["fields"], change["destroys"]


def _difference(before: ChangeDocument, now: ChangeDocument, where: Callable[[Path], Place]) -> str:
    if before["action"] != now["action"]:
        return f"was {before['action']}, is {now['action']}"
    from deepdiff import DeepDiff  # noqa: PLC0415 - heavy, and only for a stale plan

    # With its own threshold it names no key where most of them differ.
    found = DeepDiff(_parts(before), _parts(now), threshold_to_diff_deeper=0)
    fields = (*before["fields"], *now["fields"])
    spoken = {_key(one): where(tuple(one["path"])).words for one in fields}
    named = sorted({spoken.get(one, one) for one in found.affected_root_keys})
    return f"another {before['action']}" + (f": {', '.join(named)}" if named else "")


def _parts(change: ChangeDocument) -> dict[str, object]:
    """Give the parts of a change by names that say something to a reviewer."""
    fields = {_key(field): field for field in change["fields"]}
    return {**fields, "remoteId": change["remoteId"], "destroys": change["destroys"]}


def _key(field: FieldDocument) -> str:
    return ".".join(map(str, field["path"]))
