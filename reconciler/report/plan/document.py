"""The JSON and JSON Lines of a plan, written and read back. See schemas/plan.schema.json.

What is printed is built in the shape of its types, which type checking proves: a plan of thousands
of resources is not validated again while it is written. A plan that is read back is validated
against the same shape.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    TypeAlias,
    cast,
    get_type_hints,
)

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from reconciler.document import Json, digest
from reconciler.errors import InvalidInput, Stale
from reconciler.model import (
    Action,
    ActionWord,
    Change,
    GuardViolation,
    LastEdit,
    Plan,
    Reason,
    Ref,
    Remark,
)
from reconciler.model.guards import EXPLICIT_LEVEL, REVIEW_LEVEL, GuardLevel, guard_key
from reconciler.report.changes.document import (
    FieldDocument,
    SelectionDocument,
    SourceDocument,
    difference_document,
    selection_document,
    source_document,
)
from reconciler.report.reasons import notes_of
from reconciler.report.safe import json_text
from reconciler.report.sections import shown_sections
from reconciler.runtime.rows import Rows

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


def guard_document(objection: GuardViolation) -> GuardDocument:
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
"""Of the fields of a plan's JSON, whatever a digest covers."""

PLAN_MEMBERS: Final = Rows[Any]("plan-members")
"""Types of members that features add to the JSON of a plan, by name.

Where no section of the plan has the member, it is null; left out if its name ends with `?`.
"""

CHANGE_MEMBERS: Final = Rows[Any]("change-members")
"""Types of members that features add to the JSON of a change, likewise; they are left out."""


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
    action: ActionWord
    evidence: Literal["live", "journal", "none", "base"]
    remoteId: str | int | None
    source: SourceDocument
    fields: list[FieldDocument]
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
    """The first line."""

    plan: PlanHead


@with_config(ConfigDict(extra="forbid"))
class ChangeLine(TypedDict):
    """Each other line."""

    change: ChangeDocument


PlanLine: TypeAlias = HeadLine | ChangeLine
LINE: Final = "A line of what `plan --format jsonl` prints."


def plan_document(plan: Plan) -> PlanDocument:
    """Return a plan's JSON form. It contains every resource; secrets are sealed."""
    document: PlanDocument = {
        "formatVersion": DOCUMENT_VERSION,
        "environment": plan.environment,
        "target": plan.target,
        "against": str(plan.against) if plan.against is not None else "",
        "digest": plan.digest,
        "summary": {
            "keep": plan.count(Action.KEEP),
            "keepUnseen": plan.keep_unseen,
            "create": plan.count(Action.CREATE),
            "update": plan.count(Action.UPDATE),
            "assert": plan.count(Action.ASSERT),
            "blocked": plan.count(Action.BLOCKED),
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


def change_document(change: Change) -> ChangeDocument:
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
        "fields": [difference_document(difference) for difference in change.differences],
        "destroys": list(change.destroys),
        "notes": list(notes_of(change)),
        "reasons": [reason_document(reason) for reason in change.reasons],
    }


def _with_sections(change: Change, plan: Plan) -> ChangeDocument:
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


def reason_document(reason: Reason | Remark) -> ReasonDocument:
    """Return a reason's JSON form: its code, and its data in camelCase."""
    # The data differs by reason, which no type can express.
    return cast("ReasonDocument", {"code": reason.code, **_members(reason)})


def _members(value: DataclassInstance) -> dict[str, Json]:
    return {to_camel(field.name): _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: object) -> Json:
    match value:
        case Ref():
            return str(value)
        case tuple():
            return [_plain(element) for element in value]
        case LastEdit():
            return {name: text for name, text in _members(value).items() if text}
        case None | bool() | int() | str():
            return value
        case _:
            raise TypeError(f"a reason holds {value!r}")


def plan_json(plan: Plan) -> str:
    """Return the text of a plan's JSON form, ending in a line break."""
    return json_text(plan_document(plan))


def plan_jsonl(plan: Plan) -> str:
    """Return `{"plan": …}`, the plan without its changes, then a `{"change": …}` for each."""
    document = plan_document(plan)
    head = {name: part for name, part in document.items() if name != "changes"}
    lines: list[PlanLine] = [{"plan": cast("PlanHead", head)}]
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
