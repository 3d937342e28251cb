"""Objects on the wire as models: requests that are read, and answers in the form of the profile.

A model has the shape and the bounds of one object, with every field of the API document. A field
that was not sent gets the zero value that the service renders (`""`, `0`, `[]`, `*_UNSPECIFIED`).
A field with the default `None` is not rendered at all: objects, members of a choice, and fields
for which the service itself would refuse the zero value.

In a query, objects travel as dotted flat keys and arrays as repeated keys, as in
`filter.status=A&filter.status=B&pagination.pageSize=100`; another deployment may send each object
as JSON. Ranges, texts and labels have the form of the profile in a query; the models always have a
range of `from` and `to`, a text as it is, and labels as a map. Source: docs/assumptions.md.

A record that a client sent comes with the fields that were sent, in their order, and with those
that the service has set since. A record that the service made comes with all its fields.
"""

import json
import math
import re
import struct
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NoReturn,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from reconciler.emulator.profile import Profile

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
    digits: ClassVar[frozenset[str]] = frozenset()
    uuids: ClassVar[frozenset[str]] = frozenset()

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
        """Render only the fields that were sent or set; `sent` gives the order of the former."""
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


def _is_rfc3339(text: str) -> bool:
    try:
        # A leap second is valid in RFC 3339, and Python cannot read it.
        datetime.fromisoformat(re.sub(r":60(?=[.Zz+-])", ":59", text))
    except ValueError:
        return False
    return bool(_TIMESTAMP.match(text))


def bounds(least: int, most: int = 2**31 - 1) -> Any:
    """Return the bounds of an Int32, also for the schema: a validator function hides them there."""
    schema: JsonDict = {"format": "int32", "minimum": least, "maximum": most}
    return Field(ge=least, le=most, json_schema_extra=schema)


def choice(*names: str, is_required: bool = False) -> Any:
    """Return a validator that allows at most one of `names`, or of all fields, to be set.

    With `is_required`, exactly one must be set.
    """

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
    AfterValidator(rule(_is_rfc3339, "timestamp", "not a time of RFC 3339")),
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


class RefusalError(Exception):
    """An answer other than 2xx; `code` is in the body, and is mostly the status.

    RefusalError
    ├── InvalidRequestError   400, the message names the field path
    │   └── UnreadableModelError   the value is not what the model says, see `read`
    ├── MissingObjectError    404, `Not Found: dashboard X`
    └── TakenError            409, `Already Exists: dashboard X`

    The body is `{"code": ..., "message": ...}`, unless the profile has another form.
    """

    def __init__(
        self, status: int, message: str, *, code: int | None = None, allowed: Iterable[str] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = status if code is None else code
        self.headers = {"allow": ", ".join(sorted(allowed))} if allowed else {}


class InvalidRequestError(RefusalError):
    """The request breaks the shape or a rule of the API."""

    def __init__(self, message: str) -> None:
        super().__init__(400, message)


class MissingObjectError(RefusalError):
    """The route exists, the object does not."""

    def __init__(self, kind: str, object_id: str) -> None:
        super().__init__(404, f"Not Found: {kind} {object_id}")


class TakenError(RefusalError):
    """An id, slug or name is taken."""

    def __init__(self, what: str) -> None:
        super().__init__(409, f"Already Exists: {what}")


def unknown_route() -> RefusalError:
    """Return the refusal of a path without an endpoint; the code is the gateway's own."""
    return RefusalError(404, "Not Found", code=5)


def refusal(error: RefusalError, profile: Profile | None = None) -> Response:
    """Return the answer for a refusal."""
    match profile.error_body if profile else "json":
        case "text":
            return PlainTextResponse(error.message, error.status, error.headers)
        case "empty":
            return Response(status_code=error.status, headers=error.headers)
        case _:
            body = {"code": error.code, "message": error.message}
            return JSONResponse(body, status_code=error.status, headers=error.headers)


async def _answered(request: Request, error: Exception) -> Response:
    match error:
        case RefusalError():
            refused = error
        case HTTPException(status_code=HTTPStatus.METHOD_NOT_ALLOWED):
            refused = RefusalError(405, "Method Not Allowed", allowed=["GET"])
        case HTTPException():
            refused = unknown_route()
        case _:
            # A bug of the emulator itself; the exception goes on to the log.
            refused = RefusalError(500, "internal error of the emulator")
    return refusal(refused, request.app.state.profile)


REFUSALS: dict[int | type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    RefusalError: _answered,
    HTTPException: _answered,
    Exception: _answered,
}


def as_json(value: object, *, whole: bool = False) -> Any:
    """Return models as plain JSON values; a field that is None is left out.

    With `whole`, fields that were not sent come with their zero values.
    """
    match value:
        case WireObject():
            return _as_object(value, whole=whole)
        case list():
            return [as_json(element, whole=whole) for element in value]
        case _:
            return value


def _as_object(model: WireObject, *, whole: bool) -> JsonObject:
    kept = model.model_fields_set if model.sent is not None and not whole else None
    fields = {
        key: value
        for name, key in model.names_on_wire().items()
        if (kept is None or name in kept) and (value := getattr(model, name)) is not None
    }
    content = {**(model.model_extra or {}), **fields}
    order = [key for key in model.sent or () if key in content]
    return {key: as_json(content[key], whole=whole) for key in dict.fromkeys([*order, *content])}


def rebuilt(
    value: Any,
    *,
    of_object: Callable[[JsonObject], JsonObject] = lambda members: members,
    of_leaf: Callable[[Any], Any] = lambda leaf: leaf,
) -> Any:
    """Return a JSON value with each object and each leaf replaced, the innermost first."""
    match value:
        case dict():
            return of_object(
                {
                    key: rebuilt(member, of_object=of_object, of_leaf=of_leaf)
                    for key, member in value.items()
                }
            )
        case list():
            return [rebuilt(element, of_object=of_object, of_leaf=of_leaf) for element in value]
        case _:
            return of_leaf(value)


def reordered(value: Any) -> Any:
    """Return a JSON value with the keys of every object in reversed order."""
    return rebuilt(value, of_object=lambda members: dict(sorted(members.items(), reverse=True)))


def narrowed(value: Any) -> Any:
    """Return a JSON value with fractions as 32 bits hold them, in nine digits."""
    return rebuilt(value, of_leaf=_as_single)


def _as_single(leaf: Any) -> Any:
    if not isinstance(leaf, float) or abs(leaf) >= 3.4e38:  # noqa: PLR2004 - the largest a single holds
        return leaf
    single = struct.unpack("f", struct.pack("f", leaf))[0]
    return float(f"{single:.9g}")


def as_text(value: object) -> str:
    """Return a model or JSON value as text, its keys in the order that they have."""
    plain = as_json(value)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> str:
    """Return a model or JSON value whole, as text; equal values have equal texts."""
    return as_text(reordered(as_json(value, whole=True)))


def in_form(content: Any, model: type[WireObject], profile: Profile) -> Any:
    """Return an answer, a JSON value, in the form of the profile."""
    for step in _steps(profile):
        content = step(content, model)
    return content


def _steps(profile: Profile) -> Iterator[Callable[[Any, type[WireObject]], Any]]:
    """Yield the steps that rewrite an answer, in order; none where no answer is rewritten.

    A step also gets the model, which distinguishes fields from keys of a map.
    """
    if profile.zero_values == "rendered" or profile.empty_objects == "rendered":
        yield partial(_rewritten, rewrite=partial(_with_unsent, profile=profile))
    if profile.metadata == "left_out":
        yield partial(
            _rewritten,
            rewrite=lambda content, model: {
                key: value for key, value in content.items() if key not in model.metadata
            },
        )
    if profile.required_lists != "sent":
        yield partial(_without_lists, even_full=profile.required_lists == "left_out")
    if profile.zero_values == "dropped":
        yield partial(_rewritten, rewrite=_without_zeros)
    if profile.floats == "single":
        yield lambda content, _: narrowed(content)
    if profile.key_order == "reversed":
        yield lambda content, _: reordered(content)


def _rewritten(
    value: Any, shape: Any, rewrite: Callable[[JsonObject, type[WireObject]], JsonObject]
) -> Any:
    """Return a value with each object of a model rewritten, the innermost first."""
    shape = _bare(shape)
    match value:
        case dict() if isinstance(shape, type) and issubclass(shape, WireObject):
            shapes = {
                key: shape.model_fields[name].annotation
                for name, key in shape.names_on_wire().items()
            }
            members = {
                key: _rewritten(member, shapes.get(key), rewrite) for key, member in value.items()
            }
            return rewrite(members, shape)
        case list() if get_origin(shape) is list:
            return [_rewritten(element, get_args(shape)[0], rewrite) for element in value]
        case _:
            return value


def _with_unsent(content: JsonObject, model: type[WireObject], profile: Profile) -> JsonObject:
    """Return an object with the fields that were not sent: zero values, empty maps and objects."""
    missing = {
        field.alias or name: as_json(field.get_default(call_default_factory=True), whole=True)
        for name, field in model.model_fields.items()
        if (field.alias or name) not in content and not field.is_required()
    }
    return content | {name: value for name, value in missing.items() if _fills(value, profile)}


def _fills(value: object, profile: Profile) -> bool:
    if isinstance(value, dict):
        return profile.empty_objects == "rendered"
    return profile.zero_values == "rendered" and value is not None and _is_zero(value)


def _without_lists(content: JsonObject, model: type[WireObject], *, even_full: bool) -> JsonObject:
    lists = {
        field.alias or name
        for name, field in model.model_fields.items()
        if get_origin(field.annotation) is list
    }
    return {
        name: value
        for name, value in content.items()
        if name not in lists or (value and not even_full)
    }


def _without_zeros(content: JsonObject, model: type[WireObject]) -> JsonObject:
    droppable = {*model.names_on_wire().values()} - model.required_in_answers
    return {
        key: value for key, value in content.items() if key not in droppable or not _is_zero(value)
    }


def in_snake_case(content: Any, model: type[WireObject]) -> Any:
    """Return an object with fields as `group_by_keys`; keys of maps are data and stay."""
    return _rewritten(content, model, _with_own_names)


def _with_own_names(content: JsonObject, model: type[WireObject]) -> JsonObject:
    names = {key: name for name, key in model.names_on_wire().items()}
    return {names.get(key, key): value for key, value in content.items()}


def _is_zero(value: object) -> bool:
    match value:
        case dict():
            return False
        case str():
            return not value or (value.isupper() and value.endswith("UNSPECIFIED"))
        case _:
            return not value


def _bare(shape: Any) -> Any:
    """Return a type without `Annotated` and `| None`."""
    if get_origin(shape) is Annotated:
        return _bare(get_args(shape)[0])
    if get_origin(shape) in (Union, UnionType):
        return _bare(next(part for part in get_args(shape) if part is not type(None)))
    return shape


DEPTH_LIMIT = 100  # the usual limit of services that read JSON as protobuf

Model = TypeVar("Model", bound=WireObject)

_WORDS = {
    "bool_type": "not a boolean",
    "dict_type": "not an object",
    "float_type": "not a number",
    "int_type": "not an integer",
    "list_type": "not an array",
    "missing": "required",
    "model_type": "not an object",
    "string_type": "not a string",
}


class UnreadableModelError(InvalidRequestError):
    """A value that is not what the model says.

    `malformed` is true for a value of the wrong JSON type, which no service can parse, and false
    for a value of the right type that breaks a rule.
    """

    def __init__(self, error: ErrorDetails, root: tuple[str | int, ...]) -> None:
        path = field_path((*root, *error["loc"]))
        fault = _WORDS.get(error["type"], error["msg"].removeprefix("Input should "))
        super().__init__(f"{path}: {fault}" if path else fault)
        self.malformed = error["type"].endswith("_type")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def json_body(raw: bytes) -> object:
    """Return a body parsed as JSON: UTF-8, finite numbers, nested at most 100 deep."""
    try:
        body: object = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
        if b"\\u" in raw:
            # An escaped half of a surrogate pair parses, but cannot be stored.
            json.dumps(body, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise InvalidRequestError("the body is not JSON") from None
    _check_leaves(body)
    return body


def _check_leaves(body: object) -> None:
    level: list[object] = [body]
    for _ in range(DEPTH_LIMIT):
        deeper: list[object] = []
        for value in level:
            if isinstance(value, float) and not math.isfinite(value):
                raise InvalidRequestError("the body has a number that is not finite")
            if isinstance(value, dict | list):
                deeper.extend(value.values() if isinstance(value, dict) else value)
        if not deeper:
            return
        level = deeper
    raise InvalidRequestError(f"the body is nested more than {DEPTH_LIMIT} deep")


def read(model: type[Model], value: object, *root: str | int) -> Model:
    """Read a value as a model; `root` is the place of the value in the request.

    The model is rendered with the fields of the value, and no others.
    """
    if not isinstance(value, dict):
        path = field_path(root) or "the body"
        raise InvalidRequestError(f"{path}: not an object")
    try:
        return model.model_validate(value, by_alias=True, by_name=False, context=AS_SENT)
    except ValidationError as problem:
        errors = [UnreadableModelError(error, root) for error in problem.errors(include_url=False)]
        # A value of the wrong type is reported before any broken rule.
        raise next((error for error in errors if error.malformed), errors[0]) from None


def whole(model: type[WireObject], record: object) -> JsonObject:
    """Return a stored record with the zero values of all its fields."""
    return dict(as_json(read(model, record), whole=True))


def field_path(steps: Sequence[str | int]) -> str:
    """Return a path as `alertDefsToReplace[0].id`."""
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".")


def body_of(model: type[Model], value: object, profile: Profile, *root: str | int) -> Model:
    """Read a body, or the part of a body at `root`. Raises InvalidRequestError."""
    content = _received(model, value, profile, *root)
    as_sent = {profile.texts, profile.unicode, profile.uuids, profile.int64} == {"as_sent"}
    if as_sent and profile.floats == "double":
        return content
    sent = _rewritten(as_json(content), model, partial(_tidied, profile=profile))
    # Checked again: a name of blanks is empty once it is trimmed.
    return read(model, narrowed(sent) if profile.floats == "single" else sent, *root)


def _received(model: type[Model], value: object, profile: Profile, *root: str | int) -> Model:
    content = read(model, value, *root)
    if profile.required_fields == "observed":
        _refuse(content, root, "required", lambda part, sent: sorted(part.needed - sent))
    if profile.read_only_fields == "refused":
        words = "set by the service only"
        _refuse(content, root, words, lambda part, sent: sorted(part.read_only & sent))
    if profile.unknown_fields == "refused":
        _refuse(content, root, "unknown field", lambda part, _: list(part.model_extra or ()))
    if profile.unknown_fields == "dropped":
        for _, part in _objects_in(content, root):
            (part.model_extra or {}).clear()
    return content


_Steps = tuple[str | int, ...]


def _refuse(
    content: WireObject,
    root: _Steps,
    words: str,
    wrong_in: Callable[[WireObject, frozenset[str]], list[str]],
) -> None:
    for place, part in _objects_in(content, root):
        if wrong := wrong_in(part, frozenset(part.sent or ())):
            raise InvalidRequestError(f"{field_path((*place, wrong[0]))}: {words}")


def _objects_in(value: object, place: _Steps) -> Iterator[tuple[_Steps, WireObject]]:
    if isinstance(value, WireObject):
        yield place, value
        for name, key in value.names_on_wire().items():
            yield from _objects_in(getattr(value, name), (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _objects_in(item, (*place, index))


_TEXTS = frozenset(("name", "displayName", "title", "label", "description"))


def _tidied(content: JsonObject, model: type[WireObject], profile: Profile) -> JsonObject:
    """Return an object with its texts, ids and integers in the form in which they are stored."""
    ids = model.uuids if profile.uuids == "lower_case" else frozenset()
    integers = model.digits if profile.int64 == "text" else frozenset()
    return {
        **content,
        **{key: _stored_text(content[key], profile) for key in _TEXTS & content.keys()},
        **{key: content[key].lower() for key in ids & content.keys()},
        **{key: str(content[key]) for key in integers & content.keys()},
    }


def _stored_text(text: Any, profile: Profile) -> Any:
    if not isinstance(text, str):
        return text
    trimmed = text.strip() if profile.texts == "trimmed" else text
    return unicodedata.normalize("NFC", trimmed) if profile.unicode == "nfc" else trimmed


def query_of(model: type[Model], items: Sequence[tuple[str, str]], profile: Profile) -> Model:
    """Read a query in the form of the profile. Raises InvalidRequestError."""
    tree = _as_json_objects(items) if profile.query_objects == "json" else _dotted(items)
    usual = {name: _reshaped(value, name, profile) for name, value in tree.items()}
    return _received(model, usual, profile)


_DEEPEST = 10


def _dotted(items: Sequence[tuple[str, str]]) -> JsonObject:
    """Return a tree with lists of texts as leaves."""
    tree: JsonObject = {}
    for key, text in items:
        *folders, name = key.split(".", _DEEPEST)
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
            if not isinstance(place, dict):
                raise InvalidRequestError(f"{key}: {folder} is a value and an object")
        values = place.setdefault(name, [])
        if not isinstance(values, list):
            raise InvalidRequestError(f"{key}: a value and an object")
        values.append(text)
    return tree


def _as_json_objects(items: Sequence[tuple[str, str]]) -> JsonObject:
    """Return the tree of a query that has each object as one JSON text."""
    tree: dict[str, list[object]] = {}
    for key, text in items:
        try:
            value = json.loads(text) if text[:1] in ("{", "[") else text
        except (ValueError, RecursionError):
            raise InvalidRequestError(f"{key}: not JSON") from None
        tree.setdefault(key, []).append(value)
    return {
        key: values[0] if len(values) == 1 and not isinstance(values[0], str) else values
        for key, values in tree.items()
    }


_WRAPPED = "text"
_RANGE_NAMES = {
    "from_to": {"from": "from", "to": "to"},
    "start_end": {"start": "from", "end": "to"},
}


def _reshaped(value: object, path: str, profile: Profile) -> object:
    reshape = _RESHAPES.get(path)
    if reshape is not None:
        return reshape(value, path, profile)
    if path == "filter" and isinstance(value, dict):
        return {
            name: _reshaped(member, f"{path}.{name}", profile) for name, member in value.items()
        }
    return value


def _range(value: object, path: str, profile: Profile) -> object:
    names = _RANGE_NAMES[profile.range_names]
    if not isinstance(value, dict):
        return value
    for name in value:
        if name not in names:
            raise InvalidRequestError(f"{path}.{name}: unknown field")
    if profile.range_ends == "both" and len(value) == 1:
        missing = next(name for name in names if name not in value)
        raise InvalidRequestError(f"{path}.{missing}: required")
    return {names[name]: end for name, end in value.items()}


def _text(value: object, path: str, profile: Profile) -> object:
    if profile.text_filters == "plain":
        return value
    if not isinstance(value, dict) or value.keys() != {_WRAPPED}:
        raise InvalidRequestError(f"{path}: not an object with `{_WRAPPED}`")
    return value[_WRAPPED]


def _labels(value: object, path: str, profile: Profile) -> object:
    if profile.label_filters == "map":
        return value
    labels: dict[str, list[object]] = {}
    for pair in _pairs(value):
        if pair.keys() != {"key", "value"}:
            raise InvalidRequestError(f"{path}: not objects of `key` and `value`")
        labels.setdefault(str(pair["key"]), []).append(pair["value"])
    return labels


def _pairs(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list; a query with dotted keys sends them as columns."""
    match value:
        case list():
            return [element if isinstance(element, dict) else {} for element in value]
        case {"key": list(keys), "value": list(values)} if len(keys) == len(values):
            return [{"key": key, "value": value} for key, value in zip(keys, values, strict=True)]
        case dict():
            return [value]
        case _:
            return [{}]


_RESHAPES: dict[str, Callable[[object, str, Profile], object]] = {
    "timestamp_range": _range,
    "filter.createdAtRange": _range,
    "filter.timestamp": _range,
    "filter.searchQuery": _text,
    "filter.name": _text,
    "cx_event_labels": _labels,
    "filter.contextualLabels": _labels,
    "filter.displayLabels": _labels,
    "filter.labels": _labels,
}
