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
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

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


@dataclass(frozen=True)
class ExtraRead:
    """A read of one record that the document does not show."""

    __pydantic_config__ = SETTINGS

    # The path below the API root, with `{id}` for the id.
    path: Annotated[str, _path(1)]
    # The place of the record in the answer; "" is the whole answer.
    record: _Place = ""
    # The place in the record of the fields that a write sends; "" is the whole record.
    spec: _Place = ""


@dataclass(frozen=True)
class ExtraList:
    """A list of all records that the document does not show."""

    __pydantic_config__ = SETTINGS

    # The path below the API root.
    path: Annotated[str, _path(0)]
    # The place of the list in the answer; "" is the whole answer.
    items: _Place = ""
    # The place of the id in an item.
    id: _Place = "id"
    # The place of the name in an item.
    name: _Place = "name"


@dataclass(frozen=True)
class Profile:
    """The switches. A file has their names in lower camelCase; a missing switch has its default."""

    __pydantic_config__ = SETTINGS

    # Fields of a body that the document does not show: stored and given back, taken and forgotten,
    # or answered with 400.
    unknown_fields: Literal["kept", "dropped", "refused"] = "kept"
    # Documented fields that hold false, 0, an empty text or list or an UNSPECIFIED value: in the
    # answers where they were sent, in all answers, or in none. Maps, objects and fields the
    # document marks required always stay.
    zero_values: Literal["as_sent", "rendered", "dropped"] = "as_sent"
    # Documented maps and objects that were not sent, as `labels` and `grouping` of an SLO and
    # `entityLabels` of an alert: in no answer, or empty in all.
    empty_objects: Literal["as_sent", "rendered"] = "as_sent"
    # The keys of every object: as they were sent, with those of the service behind them, or in the
    # reversed order of the alphabet.
    key_order: Literal["as_sent", "reversed"] = "as_sent"
    # Integers of 64 bits: as they were sent, as a number or as text, or always as text.
    int64: Literal["as_sent", "text"] = "as_sent"
    # Ids of other things inside a record, as that of the SLO that an alert watches: as sent, or in
    # small letters.
    uuids: Literal["as_sent", "lower_case"] = "as_sent"
    # What the service adds to a record that was sent: who made and changed it and when, its
    # revision, its company. Ids always stay.
    metadata: Literal["told", "left_out"] = "told"
    # Whether a stored SLO comes with a `type`, made of its SLI.
    slo_types: Literal["left_out", "told"] = "left_out"
    # The time frame of an SLO that was sent without one: none, or 28 days.
    slo_time_frames: Literal["as_sent", "defaulted"] = "as_sent"
    # The slug of a dashboard that was sent without one: none, or one that the service makes of the
    # name and keeps.
    dashboard_slugs: Literal["kept", "made"] = "kept"
    # Whether widgets come with `createdAt` and `updatedAt`.
    widget_times: Literal["left_out", "told"] = "left_out"
    # Fields that services are known to demand, though the document does not: the ids of sections,
    # rows, widgets, filters and variablesV2, and description and priority of a policy in an
    # overwrite. Left out, they are taken, or 400.
    required_fields: Literal["documented", "observed"] = "documented"
    # Whether fractions are stored as sent, or as 32 bits hold them: 99.9 as 99.9000015.
    floats: Literal["double", "single"] = "double"
    # Whether an `id` in the POST of an SLO is taken or ignored.
    client_slo_ids: bool = False
    # Whether an `id` in the POST of a dashboard is taken or ignored.
    client_dashboard_ids: bool = True
    # Whether a dashboard id has to be 21 of A-Z a-z 0-9 _ -, or any text.
    dashboard_ids: Literal["short", "any"] = "short"
    # Fields that only the service sets, such as an SLO's creator or a policy's order, in the body
    # of a write: ignored, or answered with 400.
    read_only_fields: Literal["ignored", "refused"] = "ignored"
    # Names, display names, titles, labels and descriptions: stored as sent, or without the white
    # space at both ends. What is opaque stays as sent.
    texts: Literal["as_sent", "trimmed"] = "as_sent"
    # The same texts: stored in the characters that were sent, or normalised to NFC, so that `e` and
    # an accent become one character.
    unicode: Literal["as_sent", "nfc"] = "as_sent"
    # A POST of a dashboard with a requestId seen before returns the first dashboardId and does
    # nothing: always, even if that dashboard is gone; only while it exists; or never.
    request_ids: Literal["deduplicated", "deduplicated_if_there", "ignored"] = "deduplicated"
    # A PUT of a dashboard, SLO or saved view that is not there: 404, or it is created under that
    # id.
    put_unknown: Literal["missing", "created"] = "missing"
    # A slug that another dashboard has: 409, or a number goes behind it.
    duplicate_slug: Literal["conflict", "suffixed"] = "conflict"
    # A name that another dashboard, SLO or saved view has: taken, so that there are two of one
    # name, or 409.
    duplicate_names: Literal["taken", "conflict"] = "taken"
    # Two log policies of one name: refused or taken. The refusal is 400 for two in one list, and
    # 409 for one that is there already.
    duplicate_policies: Literal["refused", "taken"] = "refused"
    # Whether endpoints 11, 12 and 14 take both SLIs, or only the one the document names for each:
    # request-based on POST, window-based on PUT and validate.
    slis: Literal["either", "documented"] = "either"
    # What endpoint 14 judges: any SLO; only one that exists, with 400 for no id and 404 for an
    # unknown id; or, as the document says, only one that exists and has a window-based SLI, with
    # 400 for any other SLI.
    validation: Literal["any", "existing", "documented"] = "any"
    # Whether a stored policy comes back with its `logRules`, or without.
    policy_severities: Literal["hidden", "returned"] = "hidden"
    # Whether the rules of policies distinguish capitals from small letters in names of applications
    # and subsystems, or not.
    policy_names: Literal["exact", "any_case"] = "exact"
    # The lists that an answer consists of, such as `policies`, `incidents`, `items`, `units`,
    # `cases` and `alertDefs`: always there, left out when they are empty, or left out whatever they
    # hold.
    required_lists: Literal["sent", "empty_left_out", "left_out"] = "sent"
    # In which order endpoint 15 lists the policies; the field `order` is right in each.
    policy_order: Literal["effective", "reversed", "by_name"] = "effective"
    # After a write, each address is answered that many times as it was before the write.
    stale_reads: Annotated[int, Field(ge=0)] = 0
    # What a refusal says: `code` and `message`, the message as plain text, or nothing but the
    # status.
    error_body: Literal["json", "text", "empty"] = "json"
    # The status of endpoints 3, 11, 16 and 17; that of 20 is documented: 200.
    created_status: Literal[200, 201] = 200
    # Endpoint 4, which answers an empty object: `{}`, a body of no bytes, or 204.
    empty_reply: Literal["object", "nothing", "no_content"] = "object"
    # The ETag of the answers to reads of one record or list: none, a strong one of the bytes, a
    # weak one, or one that never changes, which is a fault. By the ETag, a client that has the
    # answer gets 304.
    etags: Literal["none", "strong", "weak", "stuck"] = "none"
    # The form of the key in the header; any other form is 401.
    authorization: Literal["either", "bare", "bearer"] = "either"
    # How objects travel in a query: `filter.name=x`, or one JSON text: `filter={"name":"x"}`.
    query_objects: Literal["dotted", "json"] = "dotted"
    # The form of statuses in the filter of cases: `ACKNOWLEDGED`, `CASE_STATUS_ACKNOWLEDGED`, or
    # either; the other form is 400.
    case_statuses: Literal["either", "bare", "prefixed"] = "either"
    # Whether a range of time may have one end only, or 400.
    range_ends: Literal["optional", "both"] = "optional"
    # What the ends of a range are called: `from` and `to`, or `start` and `end`; any other name is
    # 400.
    range_names: Literal["from_to", "start_end"] = "from_to"
    # The form of a text to search for: `filter.searchQuery=x`, or
    # `filter.searchQuery.text=x`; the other way is 400.
    text_filters: Literal["plain", "wrapped"] = "plain"
    # The form of a label filter: `filter.contextualLabels.region=eu`, or objects of `key` and
    # `value`, the other form is 400.
    label_filters: Literal["map", "pairs"] = "map"
    # Reads of one record that the document does not show, by kind.
    reads: Annotated[
        dict[Literal["AlertDefinition", "SavedView"], ExtraRead],
        Field(json_schema_extra={"default": {}}),
    ] = field(default_factory=dict)
    # Lists of all resources of a kind that the document does not show, by kind.
    lists: Annotated[
        dict[Literal["AlertDefinition", "SLO", "Dashboard", "SavedView"], ExtraList],
        Field(json_schema_extra={"default": {}}),
    ] = field(default_factory=dict)
    # How the fields of these reads are spelled: `groupByKeys`, or `group_by_keys`.
    read_names: Literal["camel", "snake"] = "camel"
    # For people.
    description: str = ""
