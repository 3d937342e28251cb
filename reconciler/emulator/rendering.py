"""From a model to the JSON the service answers.

What a client sent comes with the fields that were sent, in their order, and with those
that the service has set since. What the service made itself comes with all its fields.
"""

import json
import struct
from typing import Any

from reconciler.emulator.models.wire import JsonObject, WireObject


class Rendered(str):
    """An answer that is JSON text already."""

    __slots__ = ()


def as_json(value: object, *, whole: bool = False) -> Any:
    """Turn models into plain JSON values; a field that is None is left out.

    With `whole`, fields that nobody sent come with their zero values.
    """
    match value:
        case WireObject():
            return _as_object(value, whole=whole)
        case list():
            return [as_json(item, whole=whole) for item in value]
        case _:
            return value


def _as_object(model: WireObject, *, whole: bool) -> JsonObject:
    kept = model.model_fields_set if model.sent is not None and not whole else None
    fields = {
        field.alias or name: value
        for name, field in type(model).model_fields.items()
        if (kept is None or name in kept) and (value := getattr(model, name)) is not None
    }
    content = {**(model.model_extra or {}), **fields}
    order = [key for key in model.sent or () if key in content]
    return {key: as_json(content[key], whole=whole) for key in dict.fromkeys([*order, *content])}


def reordered(value: Any) -> Any:
    """Return a JSON value with the keys of every object in reversed order."""
    match value:
        case dict():
            return {key: reordered(value[key]) for key in sorted(value, reverse=True)}
        case list():
            return [reordered(item) for item in value]
        case _:
            return value


def narrowed(value: Any) -> Any:
    """Return a JSON value with fractions as 32 bits hold them, in nine digits."""
    match value:
        case dict():
            return {key: narrowed(inner) for key, inner in value.items()}
        case list():
            return [narrowed(item) for item in value]
        case float() if abs(value) < 3.4e38:  # noqa: PLR2004 - the largest a single holds
            single = struct.unpack("f", struct.pack("f", value))[0]
            return float(f"{single:.9g}")
        case _:
            return value


def as_text(value: object) -> Rendered:
    """Write a model or JSON value, its keys in the order that they have."""
    plain = as_json(value)
    return Rendered(json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def canonical(value: object) -> str:
    """Write a model or JSON value whole; the same value always gives the same text."""
    return as_text(reordered(as_json(value, whole=True)))
