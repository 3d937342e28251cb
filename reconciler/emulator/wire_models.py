"""Objects and scalars on the wire, which every model is made of, and the clock that writes times.

A model has the shape and the bounds of one object, with every field of the API document. A field
that was not sent gets the zero value that the service renders (`""`, `0`, `[]`, `*_UNSPECIFIED`).
A field with the default `None` is not rendered at all: objects, members of a choice, and fields
for which the service itself would refuse the zero value.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the present moment, with its time zone."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC with milliseconds: `2025-01-31T09:00:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


JsonObject = dict[str, Any]

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)\Z", re.IGNORECASE)
_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)
AS_SENT = "as sent"
"""The context of a value that a client sent, so that the model remembers its keys."""


class WireObject(BaseModel):
    """A JSON object of the API: lower camelCase, strict, unknown fields kept.

    `required_in_answers` are sent even by a service that leaves out zero values: fields that the
    document marks required, and the list of an answer with one list. `read_only` are fields that
    only the service sets, by their names on the wire, and `metadata` are fields that it adds to a
    record that was sent. `needed` are the fields that services are known to require, though the
    document does not. `digits` are int64 and `uuids` are ids of other objects.
    """

    required_in_answers: ClassVar[frozenset[str]] = frozenset()
    read_only: ClassVar[frozenset[str]] = frozenset()
    metadata: ClassVar[frozenset[str]] = frozenset()
    needed: ClassVar[frozenset[str]] = frozenset()
    digits: ClassVar[tuple[str, ...]] = ()
    uuids: ClassVar[tuple[str, ...]] = ()

    _sent: tuple[str, ...] | None = PrivateAttr(None)

    model_config = ConfigDict(
        alias_generator=to_camel,
        allow_inf_nan=False,
        # An embedded emulator of a short run uses few models.
        defer_build=True,
        extra="allow",
        strict=True,
        validate_by_alias=True,
        validate_by_name=True,
    )

    @model_validator(mode="wrap")
    @classmethod
    def _read(
        cls, sent: object, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """Drop documented fields that hold null, as the JSON form of protobuf does.

        An object that a client sent remembers which keys it had, in which order.
        """
        if isinstance(sent, dict) and None in sent.values():
            names = cls.names_on_wire().values()
            sent = {
                key: value for key, value in sent.items() if value is not None or key not in names
            }
        made = handler(sent)
        if info.context == AS_SENT and isinstance(sent, dict):
            made.remember(tuple(sent))
        return made

    @classmethod
    def names_on_wire(cls) -> dict[str, str]:
        """Return the names that the fields have on the wire, by their names here."""
        return {name: field.alias or name for name, field in cls.model_fields.items()}

    @property
    def sent(self) -> tuple[str, ...] | None:
        """The keys that a client sent, in their order; None for an object that the service made."""
        return self._sent

    def remember(self, sent: tuple[str, ...] = ()) -> Self:
        """Render only the fields that were sent or set, those that were sent in this order."""
        self._sent = sent
        return self


class Empty(WireObject):
    """An object that means something by being present: `fiveMinutes: {}`."""


class Identifier(WireObject):
    """An id wrapped in an object; any text is accepted, as hand-made dashboards show."""

    value: str


def rule(holds: Callable[[Any], object], kind: str, words: str) -> Callable[[Any], Any]:
    """Return a validator that refuses a value that breaks the rule."""

    def check(value: Any) -> Any:
        if not holds(value):
            raise PydanticCustomError(kind, words)
        return value

    return check


_sent_uuid = rule(_UUID.fullmatch, "uuid", "not a uuid")


def canonical_uuid(text: str) -> str:
    """Return a UUID in lower case; anything else is an error."""
    return str(_sent_uuid(text)).lower()


def _is_int64(value: object) -> bool:
    """Return whether a value is a number or its digits, as 64-bit integers travel as either."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return False
    return bool(re.fullmatch(r"-?[0-9]{1,19}", str(value))) and int(value) in _INT64


def _is_timestamp(text: str) -> bool:
    """Return whether a text is a date and time of RFC 3339."""
    try:
        # A leap second is valid there, and no clock of Python knows it.
        datetime.fromisoformat(re.sub(r":60(?=[.Zz+-])", ":59", text))
    except ValueError:
        return False
    return bool(_TIMESTAMP.match(text))


def bounds(least: int, most: int = 2**31 - 1) -> Any:
    """Return the bounds of an Int32, also for the schema: a validator function hides them there."""
    schema: JsonDict = {"format": "int32", "minimum": least, "maximum": most}
    return Field(ge=least, le=most, json_schema_extra=schema)


def choice(*names: str, is_required: bool = False) -> Any:
    """Return a validator: at most one of `names` is set, or of all fields; one if `is_required`."""

    def check(model: WireObject) -> WireObject:
        members = names or tuple(type(model).model_fields)
        chosen = [to_camel(name) for name in members if getattr(model, name) is not None]
        if len(chosen) > 1:
            fields = " and ".join(chosen)
            raise PydanticCustomError("choice", "{fields} exclude each other", {"fields": fields})
        if is_required and not chosen:
            fields = ", ".join(map(to_camel, members))
            raise PydanticCustomError(
                "choice", "exactly one is required of: {fields}", {"fields": fields}
            )
        return model

    return model_validator(mode="after")(check)


Uuid = Annotated[str, AfterValidator(canonical_uuid), Field(json_schema_extra={"format": "uuid"})]
Timestamp = Annotated[
    str,
    AfterValidator(rule(_is_timestamp, "timestamp", "not a time of RFC 3339")),
    Field(json_schema_extra={"format": "date-time"}),
]
Int32 = Annotated[
    int,
    AfterValidator(rule(_INT32.__contains__, "int32_type", "not an int32")),
    Field(json_schema_extra={"format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1}),
]
SentUuid = Annotated[str, AfterValidator(_sent_uuid), Field(json_schema_extra={"format": "uuid"})]
Int64 = Annotated[
    str | int,
    BeforeValidator(rule(_is_int64, "int64_type", "not an int64")),
    WithJsonSchema({"type": "string", "format": "int64", "pattern": "^-?[0-9]{1,19}$"}),
]
Labels = dict[str, str]


class OpenEnum:
    """A string with a fixed prefix in capitals, followed by one of the `known` endings or another.

    The API document lists few values and says that others exist, so any value with the right
    prefix is accepted. The further values come from docs/assumptions.md.
    """

    def __init__(self, prefix: str, *known: str) -> None:
        self.prefix = prefix
        self.known = known

    def __get_pydantic_core_schema__(self, _source: object, _next: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._checked)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _next: object) -> JsonSchemaValue:
        return {
            "type": "string",
            "pattern": f"^{self.prefix}[A-Z0-9_]+$",
            "examples": [self.prefix + ending for ending in self.known],
        }

    def _checked(self, value: object) -> str:
        if isinstance(value, str) and re.fullmatch(f"{self.prefix}[A-Z0-9_]+", value):
            return value
        raise PydanticCustomError("enum", "not a value of {prefix}*", {"prefix": self.prefix})
