"""The guards of a plan as JSON. Source: docs/guards.md."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from reconciler.model import GuardViolation
from reconciler.model.guard_levels import EXPLICIT_LEVEL, GuardLevel


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
