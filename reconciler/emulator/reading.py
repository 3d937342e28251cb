"""From the bytes of a request to a model, or to a refusal that names the field."""

import json
import math
from collections.abc import Sequence
from typing import NoReturn, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.models.wire import AS_SENT, JsonObject, WireObject
from reconciler.emulator.rendering import as_json

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

    `malformed` tells a value of the wrong JSON type, which no service can take
    in, from one of the right type that breaks a rule.
    """

    def __init__(self, error: ErrorDetails, root: tuple[str | int, ...]) -> None:
        path = field_path((*root, *error["loc"]))
        fault = _WORDS.get(error["type"], error["msg"].removeprefix("Input should "))
        super().__init__(f"{path}: {fault}" if path else fault)
        self.malformed = error["type"].endswith("_type")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def json_body(raw: bytes) -> object:
    """Parse a body as JSON: UTF-8, finite numbers, nested at most 100 deep."""
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
            match value:
                case dict():
                    deeper.extend(value.values())
                case list():
                    deeper.extend(value)
                case float() if not math.isfinite(value):
                    raise InvalidRequestError("the body has a number that is not finite")
                case _:
                    pass
        if not deeper:
            return
        level = deeper
    raise InvalidRequestError(f"the body is nested more than {DEPTH_LIMIT} deep")


def read(model: type[Model], value: object, *root: str | int) -> Model:
    """Read a value as a model; `root` is where the value stands in the request.

    The model is rendered with what the value holds, and nothing else.
    """
    if not isinstance(value, dict):
        path = field_path(root) or "the body"
        raise InvalidRequestError(f"{path}: not an object")
    try:
        return model.model_validate(value, by_alias=True, by_name=False, context=AS_SENT)
    except ValidationError as problem:
        errors = [UnreadableModelError(error, root) for error in problem.errors(include_url=False)]
        # What cannot be taken in at all is found first, before any rule is looked at.
        raise next((error for error in errors if error.malformed), errors[0]) from None


def whole(model: type[WireObject], record: object) -> JsonObject:
    """Return a stored record with the zero values of all its fields."""
    content: JsonObject = as_json(read(model, record), whole=True)
    return content


def field_path(steps: Sequence[str | int]) -> str:
    """Write a path as `alertDefsToReplace[0].id`."""
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".")
