"""How a deployment behaves where the API document leaves it open.

One switch for each open question. The first value is the default: it adds nothing to what a
client sent but an id and the times and names of the record. Source: docs/emulator.md.
"""

import json
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

_LARGEST = 2**20  # bytes


class UnreadableSettingsError(Exception):
    """A profile or a file of faults that cannot be used; the message names file and place."""

    @classmethod
    def from_model(cls, path: Path, problem: ValidationError) -> "UnreadableSettingsError":
        """Return the error that names the file and the place of the first problem."""
        first = problem.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        return cls(f"{path}: {place}: {first['msg']}")


def settings_in(path: Path) -> object:
    """Return the parsed content of a file. Raises UnreadableSettingsError."""
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
        content: object = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise UnreadableSettingsError(f"{path}: not JSON: {problem}") from None
    return content


_OF_PATH = re.compile(r"(/(\{id\}|[A-Za-z0-9._~:-]+))+")
_PLACE = re.compile(r"([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)?")
_CONFIG = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, validate_by_name=True)


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


@dataclass(frozen=True)
class ExtraRead:
    """A read of one record that the document does not show.

    `record` is the place of the record in the answer, and `spec` the place in the record of the
    fields that a write sends; "" is the whole.
    """

    __pydantic_config__ = _CONFIG

    path: Annotated[str, _path(1)]
    record: _Place = ""
    spec: _Place = ""


@dataclass(frozen=True)
class ExtraList:
    """A list of all records that the document does not show.

    `items` is the place of the list in the answer, "" is the whole; `id` and `name` are
    places in an item.
    """

    __pydantic_config__ = _CONFIG

    path: Annotated[str, _path(0)]
    items: _Place = ""
    id: _Place = "id"
    name: _Place = "name"


@dataclass(frozen=True)
class Profile:
    """The switches. A file has their names in lower camelCase; a missing switch has its default."""

    __pydantic_config__ = _CONFIG

    unknown_fields: Annotated[
        Literal["kept", "dropped", "refused"],
        Field(
            description="Fields of a body that the document does not show: stored and given "
            "back, taken and forgotten, or answered with 400."
        ),
    ] = "kept"
    zero_values: Annotated[
        Literal["as_sent", "rendered", "dropped"],
        Field(
            description="Documented fields that hold false, 0, an empty text or list or an "
            "UNSPECIFIED value: in the answers where they were sent, in all answers, "
            "or in none. Maps, objects and fields the document marks required always stay."
        ),
    ] = "as_sent"
    empty_objects: Annotated[
        Literal["as_sent", "rendered"],
        Field(
            description="Documented maps and objects that were not sent, as `labels` and "
            "`grouping` of an SLO and `entityLabels` of an alert: in no answer, or empty in all."
        ),
    ] = "as_sent"
    key_order: Annotated[
        Literal["as_sent", "reversed"],
        Field(
            description="The keys of every object: as they were sent, with those of the service "
            "behind them, or in the reversed order of the alphabet."
        ),
    ] = "as_sent"
    int64: Annotated[
        Literal["as_sent", "text"],
        Field(description="Integers of 64 bits: as sent, a number or its digits, or digits."),
    ] = "as_sent"
    uuids: Annotated[
        Literal["as_sent", "lower_case"],
        Field(
            description="Ids of other things inside a record, as that of the SLO that an alert "
            "watches: as sent, or in small letters."
        ),
    ] = "as_sent"
    metadata: Annotated[
        Literal["told", "left_out"],
        Field(
            description="What the service adds to a record that was sent: who made and "
            "changed it and when, its revision, its company. Ids always stay."
        ),
    ] = "told"
    slo_types: Annotated[
        Literal["left_out", "told"],
        Field(description="Whether a stored SLO comes with a `type`, made of its SLI."),
    ] = "left_out"
    slo_time_frames: Annotated[
        Literal["as_sent", "defaulted"],
        Field(description="The time frame of an SLO that was sent without one: none, or 28 days."),
    ] = "as_sent"
    dashboard_slugs: Annotated[
        Literal["kept", "made"],
        Field(
            description="The slug of a dashboard that was sent without one: none, or one that "
            "the service makes of the name and keeps."
        ),
    ] = "kept"
    widget_times: Annotated[
        Literal["left_out", "told"],
        Field(description="Whether widgets come with `createdAt` and `updatedAt`."),
    ] = "left_out"
    required_fields: Annotated[
        Literal["documented", "observed"],
        Field(
            description="Fields that services are known to demand, though the document does "
            "not: the ids of sections, rows, widgets, filters and variablesV2, and description "
            "and priority of a policy in an overwrite. Left out, they are taken, or 400."
        ),
    ] = "documented"
    floats: Annotated[
        Literal["double", "single"],
        Field(
            description="Whether fractions are stored as sent, or as 32 bits hold them: "
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
    read_only_fields: Annotated[
        Literal["ignored", "refused"],
        Field(
            description="Fields that only the service sets, such as an SLO's creator or a "
            "policy's order, in the body of a write: ignored, or answered with 400."
        ),
    ] = "ignored"
    texts: Annotated[
        Literal["as_sent", "trimmed"],
        Field(
            description="Names, display names, titles, labels and descriptions: stored as sent, "
            "or without the white space at both ends. What is opaque stays as sent."
        ),
    ] = "as_sent"
    unicode: Annotated[
        Literal["as_sent", "nfc"],
        Field(
            description="The same texts: stored in the characters that were sent, or "
            "normalised to NFC, so that `e` and an accent become one character."
        ),
    ] = "as_sent"
    request_ids: Annotated[
        Literal["deduplicated", "deduplicated_if_there", "ignored"],
        Field(
            description="A POST of a dashboard with a requestId seen before: the first "
            "dashboardId and nothing else happens, even when that dashboard is gone by now, "
            "or only while it is there, or never."
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
    duplicate_names: Annotated[
        Literal["taken", "conflict"],
        Field(
            description="A name that another dashboard, SLO or saved view has: taken, so that "
            "there are two of one name, or 409."
        ),
    ] = "taken"
    duplicate_policies: Annotated[
        Literal["refused", "taken"],
        Field(
            description="Two log policies of one name: refused or taken. The refusal is 400 "
            "for two in one list, and 409 for one that is there already."
        ),
    ] = "refused"
    slis: Annotated[
        Literal["either", "documented"],
        Field(
            description="Whether endpoints 11, 12 and 14 take both SLIs, or only the one the "
            "document names for each: request-based on POST, window-based on PUT and validate."
        ),
    ] = "either"
    validation: Annotated[
        Literal["any", "existing", "documented"],
        Field(
            description="What endpoint 14 judges: any SLO, or only one that is there, else 400 "
            "without an id and 404 with an unknown one, or of those only what the document "
            "names: an SLO with a window-based SLI, else 400."
        ),
    ] = "any"
    policy_severities: Annotated[
        Literal["hidden", "returned"],
        Field(description="Whether a stored policy comes back with its `logRules`, or without."),
    ] = "hidden"
    policy_names: Annotated[
        Literal["exact", "any_case"],
        Field(
            description="Whether the rules of policies distinguish capitals from small letters "
            "in names of applications and subsystems, or not."
        ),
    ] = "exact"
    required_lists: Annotated[
        Literal["sent", "empty_left_out", "left_out"],
        Field(
            description="The lists that an answer consists of, such as `policies`, `incidents`, "
            "`items`, `units`, `cases` and `alertDefs`: always there, left out when they are "
            "empty, or left out whatever they hold."
        ),
    ] = "sent"
    policy_order: Annotated[
        Literal["effective", "reversed", "by_name"],
        Field(
            description="In which order endpoint 15 lists the policies; the field `order` is "
            "right in each."
        ),
    ] = "effective"
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
    etags: Annotated[
        Literal["none", "strong", "weak", "stuck"],
        Field(
            description="The ETag of the answers to reads of one record or list: none, a strong "
            "one of the bytes, a weak one, or one that never changes, which is a fault. By the "
            "ETag, a client that has the answer gets 304."
        ),
    ] = "none"
    authorization: Annotated[
        Literal["either", "bare", "bearer"],
        Field(description="The form of the key in the header; any other form is 401."),
    ] = "either"
    query_objects: Annotated[
        Literal["dotted", "json"],
        Field(
            description="How objects travel in a query: `filter.name=x`, or one JSON text: "
            '`filter={"name":"x"}`.'
        ),
    ] = "dotted"
    case_statuses: Annotated[
        Literal["either", "bare", "prefixed"],
        Field(
            description="The form of statuses in the filter of cases: `ACKNOWLEDGED`, "
            "`CASE_STATUS_ACKNOWLEDGED`, or either; the other form is 400."
        ),
    ] = "either"
    range_ends: Annotated[
        Literal["optional", "both"],
        Field(description="Whether a range of time may have one end only, or 400."),
    ] = "optional"
    range_names: Annotated[
        Literal["from_to", "start_end"],
        Field(
            description="What the ends of a range are called: `from` and `to`, or `start` and "
            "`end`; any other name is 400."
        ),
    ] = "from_to"
    text_filters: Annotated[
        Literal["plain", "wrapped"],
        Field(
            description="How a text to search for is filtered by: `filter.searchQuery=x`, or "
            "`filter.searchQuery.text=x`; the other way is 400."
        ),
    ] = "plain"
    label_filters: Annotated[
        Literal["map", "pairs"],
        Field(
            description="How labels are filtered by: `filter.contextualLabels.region=eu`, or "
            "objects of `key` and `value`, for which the other way is 400."
        ),
    ] = "map"
    reads: Annotated[
        dict[Literal["AlertDefinition", "SavedView"], ExtraRead],
        Field(
            description="Reads of one record that the document does not show, by kind.",
            json_schema_extra={"default": {}},
        ),
    ] = field(default_factory=dict)
    lists: Annotated[
        dict[Literal["AlertDefinition", "SLO", "Dashboard", "SavedView"], ExtraList],
        Field(
            description="Lists of all there is that the document does not show, by kind.",
            json_schema_extra={"default": {}},
        ),
    ] = field(default_factory=dict)
    read_names: Annotated[
        Literal["camel", "snake"],
        Field(
            description="How the fields of these reads are spelled: `groupByKeys`, or "
            "`group_by_keys`."
        ),
    ] = "camel"
    description: Annotated[str, Field(description="For people.")] = field(default="")


def load_profile(path: Path) -> Profile:
    """Read a profile from a JSON file. Raises UnreadableSettingsError, which names the fault."""
    try:
        return profile_of(settings_in(path))
    except ValidationError as problem:
        raise UnreadableSettingsError.from_model(path, problem) from None


def profile_of(settings: object) -> Profile:
    """Return the profile of the content of a file. Raises pydantic's ValidationError."""
    # As JSON, because only that may be strict and still make a dataclass of an object.
    return TypeAdapter(Profile).validate_json(json.dumps(settings))
