"""How a deployment behaves where the API document leaves it open.

One switch for each open question; the defaults are what this emulator always
did. Source: management-api.md ("not shown"), and the items marked with a wheel in
api-facts.md.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from reconciler.emulator.settings_file import UnreadableSettingsError, settings_in


@dataclass(frozen=True)
class Profile:
    """The switches. A file has their names in lower camelCase; one left out keeps its default."""

    __pydantic_config__ = ConfigDict(
        alias_generator=to_camel, extra="forbid", strict=True, validate_by_name=True
    )

    unknown_fields: Annotated[
        Literal["kept", "dropped", "refused"],
        Field(
            description="Fields of a body that the document does not show: stored and given "
            "back, taken and forgotten, or answered with 400."
        ),
    ] = "kept"
    zero_values: Annotated[
        Literal["rendered", "dropped"],
        Field(
            description="Documented fields that hold false, 0, an empty text or list or an "
            "UNSPECIFIED value: in the answers even when nobody sent them, or in none. Maps, "
            "objects and fields the document marks required always stay."
        ),
    ] = "rendered"
    floats: Annotated[
        Literal["double", "single"],
        Field(
            description="Whether fractions come back as sent, or as 32 bits hold them: "
            "99.9 as 99.9000015."
        ),
    ] = "double"
    client_slo_ids: Annotated[
        bool, Field(description="Whether an `id` in the POST of an SLO is taken or ignored.")
    ] = False
    client_dashboard_ids: Annotated[
        bool, Field(description="Whether an `id` in the POST of a dashboard is taken or ignored.")
    ] = True
    dashboard_ids: Annotated[
        Literal["short", "any"],
        Field(description="Whether a dashboard id has to be 21 of A-Z a-z 0-9 _ -, or any text."),
    ] = "short"
    request_ids: Annotated[
        Literal["deduplicated", "ignored"],
        Field(
            description="A POST of a dashboard with a requestId seen before: the same "
            "dashboardId and nothing else happens, or as if it were new."
        ),
    ] = "deduplicated"
    put_unknown: Annotated[
        Literal["missing", "created"],
        Field(
            description="A PUT of a dashboard, SLO or saved view that is not there: 404, or it "
            "is created under that id."
        ),
    ] = "missing"
    duplicate_slug: Annotated[
        Literal["conflict", "suffixed"],
        Field(description="A slug that another dashboard has: 409, or a number goes behind it."),
    ] = "conflict"
    slis: Annotated[
        Literal["either", "documented"],
        Field(
            description="Whether endpoints 11, 12 and 14 take both SLIs, or only the one the "
            "document names for each: request-based on POST, window-based on PUT and validate."
        ),
    ] = "either"
    policy_order: Annotated[
        Literal["reversed", "effective", "by_name"],
        Field(
            description="In which order endpoint 15 lists the policies; the field `order` is "
            "right in each."
        ),
    ] = "reversed"
    stale_reads: Annotated[
        int,
        Field(
            ge=0,
            description="After a write, each address is answered that many times as it was "
            "before the write.",
        ),
    ] = 0
    error_body: Annotated[
        Literal["json", "text", "empty"],
        Field(
            description="What a refusal says: `code` and `message`, the message as plain text, "
            "or nothing but the status."
        ),
    ] = "json"
    created_status: Annotated[
        Literal[200, 201],
        Field(
            description="The status of endpoints 3, 11, 16 and 17; that of 20 is documented: 200."
        ),
    ] = 200
    empty_reply: Annotated[
        Literal["object", "nothing", "no_content"],
        Field(
            description="Endpoint 4, which answers an empty object: `{}`, a body of no bytes, or "
            "204."
        ),
    ] = "object"
    authorization: Annotated[
        Literal["either", "bare", "bearer"],
        Field(description="How the key has to stand in the header; any other way is 401."),
    ] = "either"
    query_objects: Annotated[
        Literal["dotted", "json"],
        Field(
            description="How objects travel in a query: `filter.name=x`, or one JSON text: "
            '`filter={"name":"x"}`.'
        ),
    ] = "dotted"
    description: Annotated[str, Field(description="For people.")] = field(default="")


def load_profile(path: Path) -> Profile:
    """Read a profile from a JSON file. Raises UnreadableSettingsError, which names the fault."""
    try:
        # As JSON, because only that may be strict and still make a dataclass of an object.
        return TypeAdapter(Profile).validate_json(json.dumps(settings_in(path)))
    except ValidationError as problem:
        raise UnreadableSettingsError.from_model(path, problem) from None
