"""From a model to the JSON the service answers.

Documented fields come with their zero values, unknown ones as they were sent.
The keys of every object stand in another order than they were sent in, always
the same one, because clients must not lean on the order.
"""

import json
from typing import Any

from reconciler.emulator.models.wire import JsonObject, WireObject


class Rendered(str):
    """An answer that is JSON text already."""

    __slots__ = ()


def as_json(value: object) -> Any:
    """Turn models into plain JSON values; a field that is None is left out."""
    match value:
        case WireObject():
            return _as_object(value)
        case list():
            return [as_json(item) for item in value]
        case _:
            return value


def _as_object(model: WireObject) -> JsonObject:
    fields = {
        field.alias or name: as_json(value)
        for name, field in type(model).model_fields.items()
        if (value := getattr(model, name)) is not None
    }
    return {**(model.model_extra or {}), **fields}


def _reordered(value: Any) -> Any:
    match value:
        case dict():
            return {key: _reordered(value[key]) for key in sorted(value, reverse=True)}
        case list():
            return [_reordered(item) for item in value]
        case _:
            return value


def as_text(value: object) -> Rendered:
    """Write a model or JSON value; the same value always gives the same text."""
    plain = _reordered(as_json(value))
    return Rendered(json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
