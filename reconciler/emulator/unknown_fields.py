"""Fields of a request that the API document does not show."""

from collections.abc import Iterator

from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.models.wire import WireObject
from reconciler.emulator.profile import Profile
from reconciler.emulator.reading import Model, field_path, read

_Steps = tuple[str | int, ...]


def received(model: type[Model], value: object, profile: Profile, *root: str | int) -> Model:
    """Read a value that a client sent, and treat unknown fields as the profile says."""
    content = read(model, value, *root)
    if profile.unknown_fields == "kept":
        return content
    for place, part in _objects_in(content, root):
        extra = part.model_extra or {}
        if extra and profile.unknown_fields == "refused":
            path = field_path((*place, next(iter(extra))))
            raise InvalidRequestError(f"{path}: unknown field")
        extra.clear()
    return content


def _objects_in(value: object, place: _Steps) -> Iterator[tuple[_Steps, WireObject]]:
    match value:
        case WireObject():
            yield place, value
            for name, field in type(value).model_fields.items():
                yield from _objects_in(getattr(value, name), (*place, field.alias or name))
        case list():
            for index, item in enumerate(value):
                yield from _objects_in(item, (*place, index))
        case _:
            pass
