"""A plan as JSON and JSON Lines, and back. Described by schemas/plan.schema.json."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.json_schema import models_json_schema

from reconciler.document import ABSENT, Difference, Json, digest
from reconciler.errors import InvalidInput, Stale
from reconciler.report.reasons import notes_of
from reconciler.report.safe import safe_json
from reconciler.resource import Action, Change, Edit, Plan, Reason, Ref, Remark
from reconciler.sealed import references_in

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FORMAT_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True)


class FieldDocument(_Part):
    """One field that a write would change; `before` or `after` is left out where it is absent."""

    path: Annotated[
        list[str | int],
        Field(description="Keys, identities of list items, or indices from 0."),
    ]
    operation: Annotated[
        Literal["add", "remove", "change", "move"],
        Field(
            description="For a move, before and after are positions from 0; out of another list, "
            "before is the path of that list, ended by the position there."
        ),
    ]
    before: JsonValue = None
    after: JsonValue = None
    known_after_apply: Annotated[
        bool, Field(description="The value holds an id that does not exist yet.")
    ] = False


class SourceDocument(_Part):
    """Where a manifest stands: a file relative to the project, and a line from 1."""

    file: str
    line: int


class ReasonDocument(_Part):
    """Why a change is as it is: a code of docs/plan.md, and the data that belongs to it."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True, extra="allow")

    code: str


class ChangeDocument(_Part):
    """One declared resource."""

    ref: str
    kind: str
    name: str
    action: Literal["create", "update", "assert", "keep", "blocked"]
    evidence: Literal["live", "journal", "none"]
    remote_id: str | int | None
    source: SourceDocument
    fields: list[FieldDocument]
    destroys: Annotated[list[str], Field(description="What the write removes for good, by name.")]
    notes: Annotated[list[str], Field(description="The reasons in words, for people.")]
    reasons: list[ReasonDocument] = []


class OrphanDocument(_Part):
    """Written once, no longer declared."""

    ref: str
    remote_id: str | int | None


class UnsettledDocument(_Part):
    """A create whose answer was lost and that cannot be looked up."""

    ref: str
    since: str
    request_id: str


class GuardDocument(_Part):
    """What an apply of the plan would need consent for."""

    code: Annotated[str, Field(description="Names the guard for good: docs/guards.md.")] = ""
    ref: Annotated[str | None, Field(description="null where it is about many resources.")] = None
    message: str
    ways_out: list[str]


class SummaryDocument(_Part):
    """How many resources stand under each action."""

    create: int
    update: int
    assert_: Annotated[int, Field(alias="assert")]
    keep: int
    blocked: int


class PlanDocument(_Part):
    """What `plan --format json` prints and `plan --out` writes."""

    format_version: Literal[1]
    environment: str
    target: str
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
    sum: Annotated[
        str, Field(description="Of all else in the document, so that an edited one is noticed.")
    ] = ""
    summary: SummaryDocument
    changes: list[ChangeDocument]
    orphans: list[OrphanDocument]
    unsettled: list[UnsettledDocument]
    guards: list[GuardDocument] = []
    remarks: Annotated[
        list[ReasonDocument], Field(description="What is to be said of the plan as a whole.")
    ] = []
    changed_since: Annotated[
        str, Field(description="What the plan of a part was compared with; empty for a whole one.")
    ] = ""
    not_examined: Annotated[
        int, Field(ge=0, description="How many resources the plan of a part left out.")
    ] = 0


def plan_document(plan: Plan) -> dict[str, Json]:
    """Give a plan's JSON form. Every resource is in it; secrets are sealed."""
    document = _document(plan)
    return {**document, "sum": _sum_of(document)}


def _sum_of(document: dict[str, Json]) -> str:
    """Give the sum over a document's content; it is evidence and no secret."""
    return digest({name: value for name, value in document.items() if name != "sum"})


def _document(plan: Plan) -> dict[str, Json]:
    return {
        "formatVersion": FORMAT_VERSION,
        "environment": plan.environment,
        "target": plan.target,
        "digest": plan.digest,
        "summary": {action.word: plan.count(action) for action in Action},
        "changes": [change_document(change) for change in plan.changes],
        "orphans": [{"ref": str(one.ref), "remoteId": one.remote_id} for one in plan.orphans],
        "unsettled": [
            {"ref": str(one.ref), "since": one.since, "requestId": one.request_id}
            for one in plan.unsettled
        ],
        "guards": [
            {
                "code": one.code,
                "ref": str(one.ref) if one.ref is not None else None,
                "message": one.message,
                "waysOut": list(one.ways_out),
            }
            for one in plan.guarded
        ],
        "remarks": [reason_document(remark) for remark in plan.remarks],
        "changedSince": plan.changed_since,
        "notExamined": plan.not_examined,
    }


def change_document(change: Change) -> dict[str, Json]:
    """Give one resource's JSON form."""
    source = change.manifest.source
    return {
        "ref": str(change.ref),
        "kind": change.ref.kind,
        "name": change.ref.name,
        "action": change.action.word,
        "evidence": change.evidence.value,
        "remoteId": change.remote_id,
        "source": {"file": source.file, "line": source.line},
        "fields": [difference_document(one) for one in change.differences],
        "destroys": list(change.destroys),
        "notes": list(notes_of(change)),
        "reasons": [reason_document(reason) for reason in change.reasons],
    }


def reason_document(reason: Reason | Remark) -> dict[str, Json]:
    """Give a reason's JSON form: its code, and its data in camelCase."""
    return {"code": reason.code, **_members(reason)}


def _members(value: DataclassInstance) -> dict[str, Json]:
    return {to_camel(one.name): _plain(getattr(value, one.name)) for one in fields(value)}


def _plain(value: object) -> Json:
    match value:
        case Ref():
            return str(value)
        case tuple():
            return [_plain(one) for one in value]
        case Edit():
            return {name: said for name, said in _members(value).items() if said}
        case None | bool() | int() | str():
            return value
        case _:
            raise TypeError(f"a reason holds {value!r}")


def difference_document(difference: Difference) -> dict[str, Json]:
    """Give one difference's JSON form."""
    document: dict[str, Json] = {
        "path": list(difference.path),
        "operation": difference.operation,
    }
    if difference.before is not ABSENT:
        document["before"] = difference.before
    if difference.after is not ABSENT:
        document["after"] = difference.after
        if references_in(difference.after):
            document["knownAfterApply"] = True
    return document


def plan_json(plan: Plan) -> str:
    """Give the text of a plan's JSON form, ending in a line break."""
    return safe_json(json.dumps(plan_document(plan), ensure_ascii=False, indent=2)) + "\n"


def read_plan(text: str, name: str) -> PlanDocument:
    """Read what `plan --out` wrote.

    Raises InvalidInput naming the file and the field, and Stale for one that was edited.
    """
    try:
        read = PlanDocument.model_validate_json(text)
        if _sum_of(json.loads(text)) == read.sum:
            return read
        said = f"{name} is not as `plan` wrote it: its content does not give the sum that it names"
        raise Stale(f"{said}. Make a new plan, and review that")
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInput(f"{name} is not a plan: {place}: {first['msg']}") from invalid


_REF = "#/$defs/{model}"


def plan_jsonl(plan: Plan) -> str:
    """Give `{"plan": …}`, the plan without its changes, then a `{"change": …}` for each."""
    head = plan_document(plan)
    changes = head.pop("changes")
    assert isinstance(changes, list)  # noqa: S101 - a plan document has a list of changes
    lines: list[dict[str, Json]] = [{"plan": head}, *({"change": one} for one in changes)]
    return "".join(safe_json(json.dumps(line, ensure_ascii=False)) + "\n" for line in lines)


def plan_line_schema() -> dict[str, Any]:
    """Give the JSON Schema of one line."""
    models = [(PlanDocument, "serialization"), (ChangeDocument, "serialization")]
    _, schema = models_json_schema(models, ref_template=_REF)  # type: ignore[arg-type]  # modes are literals
    head = schema["$defs"]["PlanDocument"]
    del head["properties"]["changes"]
    head["required"].remove("changes")
    head["description"] = "The plan without its changes."
    return {
        "description": "A line of what `plan --format jsonl` prints.",
        "oneOf": [_line("plan", "PlanDocument"), _line("change", "ChangeDocument")],
        **schema,
    }


def _line(name: str, model: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"$ref": _REF.format(model=model)}},
        "required": [name],
        "additionalProperties": False,
    }
