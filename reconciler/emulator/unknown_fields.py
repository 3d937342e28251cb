"""Fields of a request that are not for it: undocumented ones, and those of the service."""

from collections.abc import Iterator

from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.models.wire import WireObject
from reconciler.emulator.profile import Profile
from reconciler.emulator.reading import Model, field_path, read

_Steps = tuple[str | int, ...]


def received(model: type[Model], value: object, profile: Profile, *root: str | int) -> Model:
    """Read a value that a client sent, and treat such fields as the profile says."""
    content = read(model, value, *root)
    if profile.required_fields == "observed":
        _check_needed(content, root)
    if profile.read_only_fields == "refused":
        _refuse_read_only(content, root)
    if profile.unknown_fields == "kept":
        return content
    for place, part in objects_in(content, root):
        extra = part.model_extra or {}
        if extra and profile.unknown_fields == "refused":
            path = field_path((*place, next(iter(extra))))
            raise InvalidRequestError(f"{path}: unknown field")
        extra.clear()
    return content


def _check_needed(content: WireObject, root: _Steps) -> None:
    for place, part in objects_in(content, root):
        fields = type(part).model_fields
        for name in part.needed:
            if getattr(part, name) is None or name not in part.model_fields_set:
                path = field_path((*place, fields[name].alias or name))
                raise InvalidRequestError(f"{path}: required")


def _refuse_read_only(content: WireObject, root: _Steps) -> None:
    for place, part in objects_in(content, root):
        fields = type(part).model_fields
        documented = {fields[name].alias or name for name in part.model_fields_set & fields.keys()}
        sent = documented | (part.model_extra or {}).keys()
        if wrong := sorted(sent & part.read_only):
            raise InvalidRequestError(f"{field_path((*place, wrong[0]))}: set by the service only")


def objects_in(value: object, place: _Steps) -> Iterator[tuple[_Steps, WireObject]]:
    """Give a model and every one inside it, each with its place."""
    match value:
        case WireObject():
            yield place, value
            for name, field in type(value).model_fields.items():
                yield from objects_in(getattr(value, name), (*place, field.alias or name))
        case list():
            for index, item in enumerate(value):
                yield from objects_in(item, (*place, index))
        case _:
            pass
