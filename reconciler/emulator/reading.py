"""From the query or body of a request to a model, or to a refusal that names the field.

In a query, objects travel as dotted flat keys and arrays as repeated keys, as in
`filter.status=A&filter.status=B&pagination.pageSize=100`; another deployment may send each object
as JSON. Ranges, texts and labels come in the form of the profile, and leave in that of the models:
a range of `from` and `to`, a text as it is, labels as a map. Source: docs/assumptions.md.
"""

import json
import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from reconciler.emulator.profile import Profile
from reconciler.emulator.rendering import InvalidRequestError, as_json, narrowed
from reconciler.emulator.wire_models import AS_SENT, JsonObject, WireObject

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
    for _, part in _objects_in(content, root):
        _tidy_texts(part, profile)
        _tidy_ids(part, profile)
    sent = as_json(content)
    # Checked again: a name of blanks is empty once it is trimmed.
    return read(model, narrowed(sent) if profile.floats == "single" else sent, *root)


def _received(model: type[Model], value: object, profile: Profile, *root: str | int) -> Model:
    """Read a value that a client sent, and treat its fields as the profile says."""
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
    """Raise InvalidRequestError for the first model that has wrong fields."""
    for place, part in _objects_in(content, root):
        if wrong := wrong_in(part, frozenset(part.sent or ())):
            raise InvalidRequestError(f"{field_path((*place, wrong[0]))}: {words}")


def _objects_in(value: object, place: _Steps) -> Iterator[tuple[_Steps, WireObject]]:
    """Yield a model and every model inside it, each with its place."""
    if isinstance(value, WireObject):
        yield place, value
        for name, key in value.names_on_wire().items():
            yield from _objects_in(getattr(value, name), (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _objects_in(item, (*place, index))


_TEXTS = ("name", "display_name", "title", "label", "description")


def _tidy_texts(part: WireObject, profile: Profile) -> None:
    for name in _TEXTS:
        text = getattr(part, name, None)
        if isinstance(text, str):
            text = text.strip() if profile.texts == "trimmed" else text
            nfc = profile.unicode == "nfc"
            setattr(part, name, unicodedata.normalize("NFC", text) if nfc else text)


def _tidy_ids(part: WireObject, profile: Profile) -> None:
    for name in part.uuids if profile.uuids == "lower_case" else ():
        if isinstance(sent := getattr(part, name), str):
            setattr(part, name, sent.lower())
    for name in part.digits if profile.int64 == "text" else ():
        if name in part.model_fields_set:
            setattr(part, name, str(getattr(part, name)))


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
_Reshape = Callable[[object, str, Profile], object]


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
    """Return the objects of a list, which keys with dots send as columns."""
    match value:
        case list():
            return [element if isinstance(element, dict) else {} for element in value]
        case {"key": list(keys), "value": list(values)} if len(keys) == len(values):
            return [{"key": key, "value": value} for key, value in zip(keys, values, strict=True)]
        case dict():
            return [value]
        case _:
            return [{}]


_RESHAPES: dict[str, _Reshape] = {
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
