"""Complaints as JSON and as JSON Lines. Described by schemas/complaints.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from reconciler.complaint import Complaint
from reconciler.document import Json
from reconciler.report.complaints.order import field_path
from reconciler.report.safe import safe_json


class ComplaintDocument(BaseModel):
    """One complaint: an object of `validate --format json`, a line of `--format jsonl`."""

    model_config = ConfigDict(frozen=True)

    code: Annotated[str, Field(pattern="^[MP][0-9]{3}$")]
    severity: Literal["error", "warning"]
    file: Annotated[str, Field(description="Relative to the project file.")]
    line: Annotated[int, Field(ge=0, description="From 1; 0 is the file as a whole.")]
    column: Annotated[int, Field(ge=0, description="From 1, in characters.")]
    message: str
    suggestion: Annotated[str, Field(description="What to write instead; may be empty.")]
    ref: Annotated[str, Field(description="Kind/name; empty where the text itself is wrong.")]
    path: Annotated[list[str | int], Field(description="Keys and indices from 0 to the field.")]
    environments: Annotated[
        list[str], Field(description="Those it holds in; empty where it holds in all.")
    ]


class FixDocument(BaseModel):
    """One file that `validate --fix` repairs, or would with `--diff`."""

    model_config = ConfigDict(frozen=True)

    file: Annotated[str, Field(description="Relative to the project file.")]
    repairs: Annotated[int, Field(ge=1, description="Places that are repaired.")]
    diff: Annotated[str, Field(description="The repair as a unified diff.")]


class ComplaintsDocument(BaseModel):
    """What `validate --format json` prints."""

    model_config = ConfigDict(frozen=True)

    valid: Annotated[bool, Field(description="Whether none of the complaints is an error.")]
    resources: int
    files: int
    complaints: list[ComplaintDocument]
    fixes: Annotated[
        list[FixDocument],
        Field(default_factory=list, description="Only with --fix: the files that it repairs."),
    ]


def complaints_json(
    complaints: Sequence[Complaint],
    resources: int,
    files: int,
    fixes: Sequence[FixDocument] | None = None,
) -> str:
    """Give `{"valid", "resources", "files", "complaints": [...]}`, ending in a line break."""
    document: dict[str, Json] = {
        "valid": not any(complaint.is_error for complaint in complaints),
        "resources": resources,
        "files": files,
        "complaints": [_complaint(complaint) for complaint in complaints],
    }
    if fixes is not None:
        document["fixes"] = [one.model_dump() for one in fixes]
    return safe_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def complaints_jsonl(complaints: Sequence[Complaint]) -> str:
    """Give each complaint as an object on a line of its own."""
    return "".join(
        safe_json(json.dumps(_complaint(one), ensure_ascii=False)) + "\n" for one in complaints
    )


def _complaint(complaint: Complaint) -> dict[str, Json]:
    return {
        "code": complaint.code,
        "severity": complaint.severity.value,
        "file": complaint.file,
        "line": complaint.line,
        "column": complaint.column,
        "message": complaint.message,
        "suggestion": complaint.suggestion,
        "ref": complaint.ref,
        "path": [*field_path(complaint)],
        "environments": [*complaint.environments],
    }
