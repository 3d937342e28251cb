"""A plan as JSON Lines: what is said of all of it, then each resource on a line of its own.

Described by schemas/plan-line.schema.json. For plans that are too large to be
read at once.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import models_json_schema

from reconciler.document import Json
from reconciler.report.plan.document import ChangeDocument, PlanDocument, plan_document
from reconciler.report.safe import safe_json
from reconciler.resource import Plan

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
