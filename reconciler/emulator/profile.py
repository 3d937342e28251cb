"""How a deployment behaves where the API document leaves it open.

One switch for each open question. The first value is the default: it adds nothing to what a
client sent but an id and the times and names of the record. Source: docs/emulator.md.
"""

import json
import os
import re
import stat
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass

_LARGEST = 2**20  # bytes


class UnreadableSettingsError(Exception):
    """A profile or a file of faults that cannot be used; the message names file and place."""


Settings = TypeVar("Settings")


def load_settings(kind: type[Settings], path: Path) -> Settings:
    """Read settings from a JSON file. Raises UnreadableSettingsError, which names the fault."""
    try:
        # Without O_NONBLOCK, opening a pipe would wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            raw = file.read(_LARGEST + 1) if is_regular else b""
    except OSError as problem:
        raise UnreadableSettingsError(f"{path}: {problem.strerror}") from None
    if not is_regular:
        raise UnreadableSettingsError(f"{path}: not a regular file")
    if len(raw) > _LARGEST:
        raise UnreadableSettingsError(f"{path}: larger than {_LARGEST} bytes")
    try:
        return settings_of(kind, json.loads(raw.decode("utf-8")))
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise UnreadableSettingsError(f"{path}: {place}: {first['msg']}") from None
    except (ValueError, RecursionError) as problem:
        raise UnreadableSettingsError(f"{path}: not JSON: {problem}") from None


def settings_of(kind: type[Settings], content: object) -> Settings:
    """Return the settings of the content of a file. Raises pydantic's ValidationError."""
    # As JSON, because only that may be strict and still make a dataclass of an object.
    return TypeAdapter(kind).validate_json(json.dumps(content))


_OF_PATH = re.compile(r"(/(\{id\}|[A-Za-z0-9._~:-]+))+")
_PLACE = re.compile(r"([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)?")
SETTINGS = ConfigDict(
    alias_generator=to_camel,
    defer_build=True,
    extra="forbid",
    strict=True,
    validate_by_alias=True,
    validate_by_name=True,
)


def _path(ids: int) -> AfterValidator:
    def check(path: str) -> str:
        if not _OF_PATH.fullmatch(path) or path.count("{id}") != ids:
            raise ValueError(f"not a path below the API root with {ids} part `{{id}}`")
        return path

    return AfterValidator(check)


def _is_place(place: str) -> str:
    if not _PLACE.fullmatch(place):
        raise ValueError("not names of fields joined by dots")
    return place


_Place = Annotated[str, AfterValidator(_is_place)]


@dataclass(frozen=True, config=SETTINGS)
class ExtraRead:
    """A read of one record that the document does not show.

    `record` is the place of the record in the answer, and `spec` the place in the record of the
    fields that a write sends; "" is the whole.
    """

    path: Annotated[str, _path(1)]
    record: _Place = ""
    spec: _Place = ""


@dataclass(frozen=True, config=SETTINGS)
class ExtraList:
    """A list of all records that the document does not show.

    `items` is the place of the list in the answer, "" is the whole; `id` and `name` are
    places in an item.
    """

    path: Annotated[str, _path(0)]
    items: _Place = ""
    id: _Place = "id"
    name: _Place = "name"


@dataclass(frozen=True, config=SETTINGS)
class Profile:
    """The switches. A file has their names in lower camelCase; a missing switch has its default."""

    unknown_fields: Literal["kept", "dropped", "refused"] = Field(
        default="kept",
        description="Fields of a body that the document does not show: stored and given "
        "back, taken and forgotten, or answered with 400.",
    )
    zero_values: Literal["as_sent", "rendered", "dropped"] = Field(
        default="as_sent",
        description="Documented fields that hold false, 0, an empty text or list or an "
        "UNSPECIFIED value: in the answers where they were sent, in all answers, "
        "or in none. Maps, objects and fields the document marks required always stay.",
    )
    empty_objects: Literal["as_sent", "rendered"] = Field(
        default="as_sent",
        description="Documented maps and objects that were not sent, as `labels` and "
        "`grouping` of an SLO and `entityLabels` of an alert: in no answer, or empty in all.",
    )
    key_order: Literal["as_sent", "reversed"] = Field(
        default="as_sent",
        description="The keys of every object: as they were sent, with those of the service "
        "behind them, or in the reversed order of the alphabet.",
    )
    int64: Literal["as_sent", "text"] = Field(
        default="as_sent",
        description="Integers of 64 bits: as sent, a number or its digits, or digits.",
    )
    uuids: Literal["as_sent", "lower_case"] = Field(
        default="as_sent",
        description="Ids of other things inside a record, as that of the SLO that an alert "
        "watches: as sent, or in small letters.",
    )
    metadata: Literal["told", "left_out"] = Field(
        default="told",
        description="What the service adds to a record that was sent: who made and "
        "changed it and when, its revision, its company. Ids always stay.",
    )
    slo_types: Literal["left_out", "told"] = Field(
        default="left_out", description="Whether a stored SLO comes with a `type`, made of its SLI."
    )
    slo_time_frames: Literal["as_sent", "defaulted"] = Field(
        default="as_sent",
        description="The time frame of an SLO that was sent without one: none, or 28 days.",
    )
    dashboard_slugs: Literal["kept", "made"] = Field(
        default="kept",
        description="The slug of a dashboard that was sent without one: none, or one that "
        "the service makes of the name and keeps.",
    )
    widget_times: Literal["left_out", "told"] = Field(
        default="left_out", description="Whether widgets come with `createdAt` and `updatedAt`."
    )
    required_fields: Literal["documented", "observed"] = Field(
        default="documented",
        description="Fields that services are known to demand, though the document does "
        "not: the ids of sections, rows, widgets, filters and variablesV2, and description "
        "and priority of a policy in an overwrite. Left out, they are taken, or 400.",
    )
    floats: Literal["double", "single"] = Field(
        default="double",
        description="Whether fractions are stored as sent, or as 32 bits hold them: "
        "99.9 as 99.9000015.",
    )
    client_slo_ids: bool = Field(
        default=False, description="Whether an `id` in the POST of an SLO is taken or ignored."
    )
    client_dashboard_ids: bool = Field(
        default=True, description="Whether an `id` in the POST of a dashboard is taken or ignored."
    )
    dashboard_ids: Literal["short", "any"] = Field(
        default="short",
        description="Whether a dashboard id has to be 21 of A-Z a-z 0-9 _ -, or any text.",
    )
    read_only_fields: Literal["ignored", "refused"] = Field(
        default="ignored",
        description="Fields that only the service sets, such as an SLO's creator or a "
        "policy's order, in the body of a write: ignored, or answered with 400.",
    )
    texts: Literal["as_sent", "trimmed"] = Field(
        default="as_sent",
        description="Names, display names, titles, labels and descriptions: stored as sent, "
        "or without the white space at both ends. What is opaque stays as sent.",
    )
    unicode: Literal["as_sent", "nfc"] = Field(
        default="as_sent",
        description="The same texts: stored in the characters that were sent, or "
        "normalised to NFC, so that `e` and an accent become one character.",
    )
    request_ids: Literal["deduplicated", "deduplicated_if_there", "ignored"] = Field(
        default="deduplicated",
        description="A POST of a dashboard with a requestId seen before: the first "
        "dashboardId and nothing else happens, even when that dashboard is gone by now, "
        "or only while it is there, or never.",
    )
    put_unknown: Literal["missing", "created"] = Field(
        default="missing",
        description="A PUT of a dashboard, SLO or saved view that is not there: 404, or it "
        "is created under that id.",
    )
    duplicate_slug: Literal["conflict", "suffixed"] = Field(
        default="conflict",
        description="A slug that another dashboard has: 409, or a number goes behind it.",
    )
    duplicate_names: Literal["taken", "conflict"] = Field(
        default="taken",
        description="A name that another dashboard, SLO or saved view has: taken, so that "
        "there are two of one name, or 409.",
    )
    duplicate_policies: Literal["refused", "taken"] = Field(
        default="refused",
        description="Two log policies of one name: refused or taken. The refusal is 400 "
        "for two in one list, and 409 for one that is there already.",
    )
    slis: Literal["either", "documented"] = Field(
        default="either",
        description="Whether endpoints 11, 12 and 14 take both SLIs, or only the one the "
        "document names for each: request-based on POST, window-based on PUT and validate.",
    )
    validation: Literal["any", "existing", "documented"] = Field(
        default="any",
        description="What endpoint 14 judges: any SLO, or only one that is there, else 400 "
        "without an id and 404 with an unknown one, or of those only what the document "
        "names: an SLO with a window-based SLI, else 400.",
    )
    policy_severities: Literal["hidden", "returned"] = Field(
        default="hidden",
        description="Whether a stored policy comes back with its `logRules`, or without.",
    )
    policy_names: Literal["exact", "any_case"] = Field(
        default="exact",
        description="Whether the rules of policies distinguish capitals from small letters "
        "in names of applications and subsystems, or not.",
    )
    required_lists: Literal["sent", "empty_left_out", "left_out"] = Field(
        default="sent",
        description="The lists that an answer consists of, such as `policies`, `incidents`, "
        "`items`, `units`, `cases` and `alertDefs`: always there, left out when they are "
        "empty, or left out whatever they hold.",
    )
    policy_order: Literal["effective", "reversed", "by_name"] = Field(
        default="effective",
        description="In which order endpoint 15 lists the policies; the field `order` is "
        "right in each.",
    )
    stale_reads: int = Field(
        default=0,
        ge=0,
        description="After a write, each address is answered that many times as it was "
        "before the write.",
    )
    error_body: Literal["json", "text", "empty"] = Field(
        default="json",
        description="What a refusal says: `code` and `message`, the message as plain text, "
        "or nothing but the status.",
    )
    created_status: Literal[200, 201] = Field(
        default=200,
        description="The status of endpoints 3, 11, 16 and 17; that of 20 is documented: 200.",
    )
    empty_reply: Literal["object", "nothing", "no_content"] = Field(
        default="object",
        description="Endpoint 4, which answers an empty object: `{}`, a body of no bytes, or 204.",
    )
    etags: Literal["none", "strong", "weak", "stuck"] = Field(
        default="none",
        description="The ETag of the answers to reads of one record or list: none, a strong "
        "one of the bytes, a weak one, or one that never changes, which is a fault. By the "
        "ETag, a client that has the answer gets 304.",
    )
    authorization: Literal["either", "bare", "bearer"] = Field(
        default="either", description="The form of the key in the header; any other form is 401."
    )
    query_objects: Literal["dotted", "json"] = Field(
        default="dotted",
        description="How objects travel in a query: `filter.name=x`, or one JSON text: "
        '`filter={"name":"x"}`.',
    )
    case_statuses: Literal["either", "bare", "prefixed"] = Field(
        default="either",
        description="The form of statuses in the filter of cases: `ACKNOWLEDGED`, "
        "`CASE_STATUS_ACKNOWLEDGED`, or either; the other form is 400.",
    )
    range_ends: Literal["optional", "both"] = Field(
        default="optional", description="Whether a range of time may have one end only, or 400."
    )
    range_names: Literal["from_to", "start_end"] = Field(
        default="from_to",
        description="What the ends of a range are called: `from` and `to`, or `start` and "
        "`end`; any other name is 400.",
    )
    text_filters: Literal["plain", "wrapped"] = Field(
        default="plain",
        description="How a text to search for is filtered by: `filter.searchQuery=x`, or "
        "`filter.searchQuery.text=x`; the other way is 400.",
    )
    label_filters: Literal["map", "pairs"] = Field(
        default="map",
        description="How labels are filtered by: `filter.contextualLabels.region=eu`, or "
        "objects of `key` and `value`, for which the other way is 400.",
    )
    reads: dict[Literal["AlertDefinition", "SavedView"], ExtraRead] = Field(
        default_factory=dict,
        description="Reads of one record that the document does not show, by kind.",
        json_schema_extra={"default": {}},
    )
    lists: dict[Literal["AlertDefinition", "SLO", "Dashboard", "SavedView"], ExtraList] = Field(
        default_factory=dict,
        description="Lists of all there is that the document does not show, by kind.",
        json_schema_extra={"default": {}},
    )
    read_names: Literal["camel", "snake"] = Field(
        default="camel",
        description="How the fields of these reads are spelled: `groupByKeys`, or `group_by_keys`.",
    )
    description: str = Field(default="", description="For people.")


def load_profile(path: Path) -> Profile:
    """Read a profile from a JSON file. Raises UnreadableSettingsError."""
    return load_settings(Profile, path)


def profile_of(settings: object) -> Profile:
    """Return the profile of the content of a file. Raises pydantic's ValidationError."""
    return settings_of(Profile, settings)
