"""Samples of logs that a plan is checked with: `policySamples:` of an environment.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from reconciler.model.model_config import FileSection


class PolicySamples(FileSection):
    """The file of the samples, and the reaction to results other than predicted."""

    file: Annotated[
        str,
        Field(
            min_length=1,
            description="The file, relative to this one: YAML or JSON, a list of {application, "
            "subsystem, severity, policy}.",
        ),
    ]
    on_mismatch: Annotated[
        Literal["rollback", "report"],
        Field(
            alias="onMismatch",
            description="What an apply does where the service answers otherwise for the samples "
            "after an overwrite than the plan predicted: put the old list back, or report it.",
        ),
    ] = "report"


def _spelled_out(setting: object) -> object:
    """Return the long form of a setting that is only a file name."""
    return {"file": setting} if isinstance(setting, str) else setting


_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string", "minLength": 1}, PolicySamples.model_json_schema()],
}

POLICY_SAMPLES: Final = Annotated[
    Annotated[PolicySamples, BeforeValidator(_spelled_out), WithJsonSchema(_SCHEMA)] | None,
    Field(
        default=None,
        description="Logs that a plan is held against: which policy takes each of them today "
        "and tomorrow. The file, or `{file, onMismatch}`: docs/policy-impact.md.",
    ),
]
