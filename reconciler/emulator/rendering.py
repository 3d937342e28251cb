"""From a model, or a refusal, to the JSON that the service answers, in the form of the profile.

A record that a client sent comes with the fields that were sent, in their order, and with those
that the service has set since. A record that the service made comes with all its fields.
"""

import json
import struct
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from http import HTTPStatus
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from reconciler.emulator.profile import Profile
from reconciler.emulator.wire_models import JsonObject, WireObject


class RefusalError(Exception):
    """An answer other than 2xx; `code` is in the body, and is mostly the status.

    RefusalError
    ├── InvalidRequestError   400, the message names the field path
    │   └── UnreadableModelError   the value is not what the model says, see `reading`
    ├── MissingObjectError    404, `Not Found: dashboard X`
    └── TakenError            409, `Already Exists: dashboard X`

    The body is `{"code": ..., "message": ...}`, unless the profile has another form.
    """

    def __init__(self, status: int, message: str, *, code: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = status if code is None else code
        self.headers: dict[str, str] = {}


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


def wrong_method(allowed: Iterable[str]) -> RefusalError:
    """Return the refusal of a method that the path is not for."""
    error = RefusalError(405, "Method Not Allowed")
    error.headers["allow"] = ", ".join(sorted(allowed))
    return error


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
            refused = wrong_method(["GET"])
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


class Rendered(str):
    """An answer that is JSON text already."""

    __slots__ = ()


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


def as_text(value: object) -> Rendered:
    """Return a model or JSON value as text, its keys in the order that they have."""
    plain = as_json(value)
    return Rendered(json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def canonical(value: object) -> str:
    """Return a model or JSON value whole, as text; equal values have equal texts."""
    return as_text(reordered(as_json(value, whole=True)))


_Step: TypeAlias = Callable[[Any, type[WireObject]], Any]
"""Rewrites the content of an answer; its model shows which keys are fields and which of a map."""


def in_form(answer: Rendered, model: type[WireObject], profile: Profile) -> Rendered:
    """Return an answer in the form of the profile."""
    steps = [*_steps(profile)]
    if not steps:
        return answer
    content = json.loads(answer)
    for step in steps:
        content = step(content, model)
    return as_text(content)


def _steps(profile: Profile) -> Iterator[_Step]:
    """Yield the steps that rewrite an answer, in order; none if answers leave as they are made."""
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
