"""The JSON and JSON Lines of a plan, written and read back. See schemas/plan.schema.json.

What is printed is built in the shape of its types, which type checking proves: a plan of thousands
of resources is not validated again while it is written. A plan that is read back is validated
against the same shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields
from functools import cache
from types import GenericAlias
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    cast,
    get_type_hints,
)

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from reconciler import model
from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    canonical_text,
    digest,
    each_text,
)
from reconciler.errors import InvalidInput, Stale
from reconciler.kinds import BY_NAME
from reconciler.model.guards import EXPLICIT_LEVEL, REVIEW_LEVEL, GuardLevel, guard_key
from reconciler.report.changes.document import (
    FieldDocument,
    PlannedField,
    SelectionDocument,
    SourceDocument,
    difference_document,
    selection_document,
    source_document,
)
from reconciler.report.changes.field_changes import labels_of
from reconciler.report.labels import FieldLabel, place_in, places_in
from reconciler.report.reasons import notes_of
from reconciler.report.safe import json_text
from reconciler.report.sections import shown_sections
from reconciler.runtime.advice import on_files, on_part
from reconciler.runtime.rows import Rows
from reconciler.syntax.expressions import ExpressionKind, expression

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class GuardDocument(TypedDict):
    """A guard that an apply of the plan needs consent for."""

    code: Annotated[str, Field(default="", description="Never changes: docs/guards.md.")]
    ref: Annotated[
        str | None, Field(default=None, description="null where it is about many resources.")
    ]
    message: str
    level: Annotated[
        GuardLevel,
        Field(
            default=EXPLICIT_LEVEL,
            description="review: a reviewed plan that lists it consents, or yes on a terminal; "
            "explicit: it needs a flag of its own each time.",
        ),
    ]
    figures: Annotated[
        str,
        Field(
            default="",
            description="What has to be the same, with code and ref, for a review to consent.",
        ),
    ]
    waysOut: list[str]
    until: NotRequired[
        Annotated[str, Field(description="When it ends by itself; left out where that is unknown.")]
    ]


def guard_document(objection: model.GuardViolation) -> GuardDocument:
    """Return the JSON form of a guard violation."""
    document: GuardDocument = {
        "code": objection.code,
        "ref": str(objection.ref) if objection.ref is not None else None,
        "message": objection.message,
        "level": objection.level,
        "figures": objection.figures or objection.said,
        "waysOut": list(objection.remedies),
    }
    if objection.until:
        document["until"] = objection.until
    return document


DOCUMENT_VERSION: Final = 1
"""The version of the fields of a plan's JSON; the digest has a version of its own."""

PLAN_MEMBERS: Final = Rows[Any]("plan-members")
"""Types of members that features add to the JSON of a plan, by name.

Where no section of the plan has the member, it is null; left out if its name ends with `?`.
"""

CHANGE_MEMBERS: Final = Rows[Any]("change-members")
"""Types of members that features add to the JSON of a change, by name; absent members are left
out."""


@with_config(ConfigDict(extra="allow"))
class ReasonDocument(TypedDict):
    """A reason of a change: a code of docs/plan.md, and its data."""

    code: str


@with_config(ConfigDict(extra="ignore"))
class ChangeDocument(TypedDict):
    """A declared resource."""

    ref: str
    kind: str
    name: str
    action: model.ActionWord
    evidence: Literal["live", "journal", "none", "base"]
    remoteId: str | int | None
    source: SourceDocument
    fields: list[PlannedField]
    destroys: Annotated[list[str], Field(description="Names of what is permanently removed.")]
    notes: Annotated[list[str], Field(description="The reasons in words, for people.")]
    reasons: Annotated[list[ReasonDocument], Field(default=[])]
    owners: NotRequired[
        Annotated[
            list[str],
            Field(
                description="The code owners of its manifest by the base branch; only where that "
                "is known, and empty where it has no owner."
            ),
        ]
    ]
    watchedBy: NotRequired[
        Annotated[list[str], Field(description="The alerts known to watch what changes.")]
    ]
    watchedByOthers: NotRequired[
        Annotated[
            list[str],
            Field(description="Ids of alerts that the service shows and that are unknown here."),
        ]
    ]


class OrphanDocument(TypedDict):
    """A resource that was written once and is no longer declared."""

    ref: str
    remoteId: str | int | None


class UnsettledDocument(TypedDict):
    """A create that has lost its answer and cannot be looked up."""

    ref: str
    since: str
    requestId: str


SummaryDocument = TypedDict(
    "SummaryDocument",
    {
        "create": int,
        "update": int,
        "assert": int,
        "keep": int,
        "keepUnseen": Annotated[
            int,
            Field(
                default=0,
                description="Of those under `keep`, how many cannot be read: what is declared is "
                "what was written last.",
            ),
        ],
        "blocked": int,
    },
)
SummaryDocument.__doc__ = "How many resources are under each action."


@with_config(ConfigDict(extra="ignore"))
class PlanHead(TypedDict):
    """The plan without its changes."""

    formatVersion: Literal[1]
    environment: str
    target: str
    against: Annotated[
        str,
        Field(
            default="",
            description="The revision and its commit that stood for the service, which was not "
            "asked; empty where it was.",
        ),
    ]
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
    sum: Annotated[
        str,
        Field(
            default="",
            description="Of all else in the document, so that an edited one is noticed.",
        ),
    ]
    summary: SummaryDocument
    orphans: list[OrphanDocument]
    unsettled: list[UnsettledDocument]
    guards: Annotated[list[GuardDocument], Field(default=[])]
    remarks: Annotated[
        list[ReasonDocument],
        Field(default=[], description="What is to be said of the plan as a whole."),
    ]
    changedSince: Annotated[
        str,
        Field(
            default="",
            description="What the plan of a part was compared with; empty for a whole one.",
        ),
    ]
    notExamined: Annotated[
        int, Field(default=0, ge=0, description="How many resources the plan of a part left out.")
    ]
    selection: Annotated[
        SelectionDocument | None,
        Field(default=None, description="What the plan is limited to; null for all manifests."),
    ]
    paths: NotRequired[
        Annotated[
            list[str],
            Field(
                description="The paths that the plan is of, as seen from the project's folder; "
                "left out for all manifests."
            ),
        ]
    ]


@with_config(ConfigDict(extra="ignore"))
class PlanDocument(PlanHead):
    """Output of `plan --format json` and content of `plan --out`."""

    changes: list[ChangeDocument]


@with_config(ConfigDict(extra="forbid"))
class HeadLine(TypedDict):
    """The first line of `plan --format jsonl`: the plan without its changes."""

    plan: PlanHead


@with_config(ConfigDict(extra="forbid"))
class ChangeLine(TypedDict):
    """A further line of `plan --format jsonl`: one change."""

    change: ChangeDocument


LINE: Final = "A line of what `plan --format jsonl` prints."


def plan_document(plan: model.Plan) -> PlanDocument:
    """Return a plan's JSON form. It contains every resource; secrets are sealed."""
    document: PlanDocument = {
        "formatVersion": DOCUMENT_VERSION,
        "environment": plan.environment,
        "target": plan.target,
        "against": str(plan.against) if plan.against is not None else "",
        "digest": plan.digest,
        "summary": {
            "keep": plan.count(model.Action.KEEP),
            "keepUnseen": plan.keep_unseen,
            "create": plan.count(model.Action.CREATE),
            "update": plan.count(model.Action.UPDATE),
            "assert": plan.count(model.Action.ASSERT),
            "blocked": plan.count(model.Action.BLOCKED),
        },
        "changes": [_with_sections(change, plan) for change in plan.declared],
        "orphans": [
            {"ref": str(orphan.ref), "remoteId": orphan.remote_id} for orphan in plan.orphans
        ],
        "unsettled": [
            {"ref": str(create.ref), "since": create.since, "requestId": create.request_id}
            for create in plan.unsettled
        ],
        "guards": [guard_document(violation) for violation in plan.guarded],
        "remarks": [reason_document(remark) for remark in plan.remarks],
        "changedSince": plan.changed_since,
        "notExamined": plan.not_examined,
        "selection": selection_document(plan.selected) if plan.selected is not None else None,
        "sum": "",
    }
    if plan.paths:
        document["paths"] = [*plan.paths]
    members: dict[str, Any] = {name: None for name in PLAN_MEMBERS if not name.endswith("?")}
    for section, formats in shown_sections(plan):
        members |= formats.members(section)
    document = cast("PlanDocument", {**document, **members})
    document["sum"] = _sum_of(document)
    return document


def listed_in(reviewed: PlanDocument) -> frozenset[str]:
    """Return the keys of the guards of level review that a plan file lists."""
    return frozenset(
        guard_key(guard["code"], guard["ref"] or "", guard["figures"])
        for guard in reviewed["guards"]
        if guard["level"] == REVIEW_LEVEL
    )


def _sum_of(document: Mapping[str, Any]) -> str:
    """Return the sum over a document's content; it is evidence and no secret."""
    return digest({name: value for name, value in document.items() if name != "sum"})


def change_document(change: model.Change) -> ChangeDocument:
    """Return the JSON form of a declared resource. Raises ValueError for an orphan."""
    word, source = change.action.word, change.source
    if word == "orphan" or source is None:
        raise ValueError(f"{change.ref} is no longer declared: it is among the orphans")
    return {
        "ref": str(change.ref),
        "kind": change.ref.kind,
        "name": change.ref.name,
        "action": word,
        "evidence": change.evidence.value,
        "remoteId": change.remote_id,
        "source": source_document(source),
        "fields": [*_planned_fields(change)],
        "destroys": list(change.destroys),
        "notes": list(notes_of(change)),
        "reasons": [reason_document(reason) for reason in change.reasons],
    }


def _planned_fields(change: model.Change) -> Iterator[PlannedField]:
    kind = BY_NAME.get(change.ref.kind)
    for difference, label, place in labels_of(change):
        planned = cast("PlannedField", difference_document(difference))
        if place or label != place_in(kind, difference.path):
            planned["label"] = {"subject": label.subject, "field": label.field, "place": place}
        yield planned


def _with_sections(change: model.Change, plan: model.Plan) -> ChangeDocument:
    """Return a change's JSON form with its watchers, and with what sections know of it."""
    document = change_document(change)
    if (watchers := plan.watchers.get(change.ref)) is not None:
        document["watchedBy"] = [str(ref) for ref in watchers.refs]
        if watchers.others:
            document["watchedByOthers"] = list(watchers.others)
    members: dict[str, Any] = {}
    for section, formats in shown_sections(plan):
        members |= formats.change_members(section, change)
    return cast("ChangeDocument", {**document, **members})


def reason_document(reason: model.Reason | model.Remark) -> ReasonDocument:
    """Return a reason's JSON form: its code, and its data in camelCase."""
    # The data differs by reason, which no type can express.
    return cast("ReasonDocument", {"code": reason.code, **_members(reason)})


def _members(value: DataclassInstance) -> dict[str, Json]:
    return {to_camel(field.name): _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: object) -> Json:
    match value:
        case model.Ref():
            return str(value)
        case tuple():
            return [_plain(element) for element in value]
        case model.LastEdit():
            return {name: text for name, text in _members(value).items() if text}
        case None | bool() | int() | str():
            return value
        case _:
            raise TypeError(f"a reason holds {value!r}")


def plan_json(plan: model.Plan) -> str:
    """Return the text of a plan's JSON form, ending in a line break."""
    return json_text(plan_document(plan))


def plan_jsonl(plan: model.Plan) -> str:
    """Return `{"plan": …}`, the plan without its changes, then a `{"change": …}` for each."""
    document = plan_document(plan)
    head = {name: part for name, part in document.items() if name != "changes"}
    lines: list[HeadLine | ChangeLine] = [{"plan": cast("PlanHead", head)}]
    lines += [{"change": change} for change in document["changes"]]
    return "".join(json_text(line, one_line=True) for line in lines)


def read_plan(text: str, name: str) -> PlanDocument:
    """Read a plan file of `plan --out`.

    Raises InvalidInput naming the file and the field, and Stale for a file that was edited.
    """
    try:
        read = _reader().validate_json(text)
        if _sum_of(json.loads(text)) == read["sum"]:
            return read
        problem = (
            f"{name} is not as `plan` wrote it: its content does not give the sum that it names"
        )
        raise Stale(f"{problem}. Make a new plan, and review that")
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInput(f"{name} is not a plan: {place}: {first['msg']}") from invalid


@cache
def _reader() -> TypeAdapter[PlanDocument]:
    """Return the validator of plan files. Building it is slow, so most runs do not."""
    return TypeAdapter(plan_shape())


def plan_shape() -> Any:
    """Return the type of a plan's JSON with the members that features add."""
    return _with(PlanDocument, PLAN_MEMBERS, changes=GenericAlias(list, _change_shape()))


def line_shape() -> Any:
    """Return the type of a line of a plan with the members that features add."""
    head = _with(HeadLine, plan=_with(PlanHead, PLAN_MEMBERS))
    change = _with(ChangeLine, change=_change_shape())
    return Annotated[head | change, Field(description=LINE)]


def _change_shape() -> Any:
    return _with(ChangeDocument, CHANGE_MEMBERS)


def _with(shape: Any, rows: Rows[Any] | None = None, **members: Any) -> Any:
    """Return a type of documents with other members, and with those that rows add."""
    members = get_type_hints(shape, include_extras=True) | members
    if rows is not None:
        for name in rows:
            found = rows.load(name)
            members[name.removesuffix("?")] = NotRequired[found] if name.endswith("?") else found
    make: Any = TypedDict
    made = make(shape.__name__, members)
    for name in ("__doc__", "__module__", "__pydantic_config__"):
        setattr(made, name, getattr(shape, name))
    return made


def changed_since(reviewed: PlanDocument, now: model.Plan) -> list[str]:
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
        # A digest shows that an input differs, but not which one.
        others = [formats.stale for _, formats in shown_sections(now) if formats.stale]
        return [", or ".join((cause, *others))]
    return names


def _of_paths(reviewed: PlanDocument, now: model.Plan) -> dict[str, str]:
    """Return the differences by resource.

    If the paths differ, "" maps to a line that names both commands.
    """
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


def elsewhere(reviewed: PlanDocument, now: model.Plan) -> list[str]:
    """Return a line for each difference in environment or target."""
    return [
        f"{what}: was {before!r}, is {after!r}"
        for what, before, after in (
            ("environment", reviewed["environment"], now.environment),
            ("target", reviewed["target"], now.target),
        )
        if before != after
    ]


def changes_since(reviewed: PlanDocument, now: model.Plan) -> dict[str, str]:
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


def unlisted(now: model.Plan, listed: Collection[str]) -> list[str]:
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
    noted = (model.ProtectionTurns.code, model.RenamedFrom.code)
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


def with_done(reviewed: PlanDocument, now: model.Plan) -> PlanDocument:
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
        change = changes.get(reviewed_change["ref"])
        fields = [_with_id(field, ids) for field in reviewed_change["fields"]]
        known: ChangeDocument = {**reviewed_change, "fields": fields}
        if change is not None and _is_done(known, change):
            known = change_document(change)
        changes_now.append(known)
    return cast("PlanDocument", {**reviewed, "changes": changes_now})


def is_rest(reviewed: PlanDocument, now: model.Plan) -> bool:
    """Return whether a plan equals a reviewed plan, except for changes applied since."""
    known = with_done(reviewed, now)
    is_same = not elsewhere(reviewed, now) and not changes_since(known, now)
    return is_same and known["changes"] != reviewed["changes"]


def _is_done(reviewed: ChangeDocument, now: model.Change) -> bool:
    """Return whether a resource is kept now, and declared as the reviewed change planned."""
    was = reviewed["action"]
    if now.action is not model.Action.KEEP or was in (
        model.Action.KEEP.word,
        model.Action.BLOCKED.word,
    ):
        return False
    if reviewed["remoteId"] not in (None, now.remote_id):
        return False
    shape = BY_NAME[now.ref.kind].shape
    fields = reviewed["fields"]
    if was == model.Action.CREATE.word and {field["path"][0] for field in fields} != {
        *now.declared
    }:
        return False
    return all(
        _is_placed(field, now, shape)
        if field["operation"] == "move"
        else _is_there(field, now, shape)
        for field in fields
    )


def _is_placed(field: FieldDocument, now: model.Change, shape: Shape) -> bool:
    """Return whether an item of a list is at the place to which it was to move."""
    *parent, name = field["path"]
    for document in (now.declared, now.body):
        items = _at(document, tuple(parent), shape)
        named = by_identity(items, shape.along(tuple(parent))) if isinstance(items, list) else None
        if named and name in named and [*named].index(str(name)) == field.get("after"):
            return True
    return False


def _is_there(field: FieldDocument, now: model.Change, shape: Shape) -> bool:
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


def _with_id(field: PlannedField, ids: Mapping[str, str]) -> PlannedField:
    if not field.get("knownAfterApply") or "after" not in field:
        return field
    known: PlannedField = {
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
