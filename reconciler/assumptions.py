"""What the API document leaves open and a deployment may do otherwise: `api:` in the project file.

Everything else that is assumed stands where it is used; docs/assumptions.md lists it all.
Source: api-facts.md, parts 1 to 4.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from reconciler.document import Json

Parameters: TypeAlias = list[tuple[str, str]]

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)

Spelling: TypeAlias = Annotated[str, Field(min_length=1)]


class ParameterNames(BaseModel):
    """How each query parameter is spelled whose name the API document does not show."""

    model_config = _STRICT

    alert_version_ids: Spelling = "alert_ids"
    timestamp_range: Spelling = "timestamp_range"
    event_labels: Spelling = "cx_event_labels"
    filter: Spelling = "filter"
    pagination: Spelling = "pagination"
    incident_ids: Spelling = "incident_ids"
    source_type: Spelling = "source_type"
    enabled_only: Spelling = "enabled_only"


Parameter: TypeAlias = Literal[
    "alertVersionIds",
    "timestampRange",
    "eventLabels",
    "filter",
    "pagination",
    "incidentIds",
    "sourceType",
    "enabledOnly",
]


class Assumptions(BaseModel):
    """How this deployment does what the API document does not say."""

    model_config = _STRICT

    base_path: Annotated[
        str,
        Field(
            pattern=r"^(/[A-Za-z0-9._~-]+)*$",
            description="What stands between the base URL and every path of the API document.",
        ),
    ] = "/mgmt/openapi/latest"
    query_style: Annotated[
        Literal["dotted", "brackets", "json"],
        Field(
            description="How objects travel in a query: filter.status=X, filter[status]=X, "
            'or filter={"status":"X"}.',
        ),
    ] = "dotted"
    parameter_names: Annotated[
        ParameterNames, Field(description="Other spellings of query parameters.")
    ] = ParameterNames()
    close_body_field: Annotated[
        Spelling | None,
        Field(
            description="Send the incidents to close in this field of the body, not in the query."
        ),
    ] = None
    bulk_limit: Annotated[
        int, Field(ge=1, le=100, description="The most alerts in one bulk replace.")
    ] = 100
    documented_sli_only: Annotated[
        bool,
        Field(
            description="Create SLOs with request-based SLIs only and replace them with "
            "window-based ones only, as the API document names them; the others are blocked.",
        ),
    ] = False

    def parameter(self, name: Parameter, value: Json) -> Parameters:
        """Spell one query parameter, an object or a list flattened as the deployment takes it.

        What is empty is not sent.
        """
        spelled = self.parameter_names.model_dump(by_alias=True)[name]
        if self.query_style == "json" and isinstance(value, dict):
            return [(spelled, json.dumps(value, separators=(",", ":")))] if value else []
        return list(self._flat(spelled, value))

    def _flat(self, prefix: str, value: Json) -> Parameters:
        if isinstance(value, dict):
            bracketed = self.query_style == "brackets"
            return [
                pair
                for key, inner in value.items()
                for pair in self._flat(
                    f"{prefix}[{key}]" if bracketed else f"{prefix}.{key}", inner
                )
            ]
        if isinstance(value, list):
            return [pair for item in value for pair in self._flat(prefix, item)]
        if isinstance(value, bool):
            return [(prefix, str(value).lower())]
        return [] if value is None else [(prefix, str(value))]
