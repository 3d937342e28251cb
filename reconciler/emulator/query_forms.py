"""The forms that ranges, texts and labels have in a query, where the API document shows none.

A query comes in the form of the profile, and leaves in that of the models: a range of
`from` and `to`, a text as it is, labels as a map.
"""

from collections.abc import Callable, Mapping

from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.profile import Profile

_WRAPPED = "text"
_RANGE_NAMES = {
    "from_to": {"from": "from", "to": "to"},
    "start_end": {"start": "from", "end": "to"},
}
_Reshape = Callable[[object, str, Profile], object]


def in_usual_form(query: JsonObject, profile: Profile) -> JsonObject:
    """Give a query as the models read it. Raises InvalidRequestError for another form."""
    return {name: _reshaped(value, name, profile) for name, value in query.items()}


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
    """Give the objects of a list, which keys with dots bring as columns."""
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
