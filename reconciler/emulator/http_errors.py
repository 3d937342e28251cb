"""Refusals of the service, each with its status and its answer.

    RefusalError
    ├── InvalidRequestError   400, the message names the field path
    │   └── UnreadableModelError   the value is not what the model says, see `reading`
    ├── MissingObjectError    404, `Not Found: dashboard X`
    └── TakenError            409, `Already Exists: dashboard X`

The body is `{"code": ..., "message": ...}`, unless the profile has another form.
"""

from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from reconciler.emulator.profile import Profile


class RefusalError(Exception):
    """An answer other than 2xx; `code` is in the body, and is mostly the status."""

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
