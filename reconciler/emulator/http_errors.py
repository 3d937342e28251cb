"""Refusals of the service, each with its status and its answer.

    RefusalError
    ├── InvalidRequestError   400, the message names the field path
    │   └── UnreadableModelError   the value is not what the model says, see `reading`
    ├── UnauthorisedError     401
    ├── ForbiddenError        403
    ├── MissingObjectError    404, `Not Found: dashboard X`
    ├── UnknownRouteError     404, code 5
    ├── WrongMethodError      405
    ├── ConflictError         409
    ├── OversizedBodyError    413
    └── MisdirectedError      421

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

    status = 500
    code: int

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.code = self.status
        self.headers: dict[str, str] = {}


class InvalidRequestError(RefusalError):
    """The request breaks the shape or a rule of the API."""

    status = 400


class UnauthorisedError(RefusalError):
    """The key is missing or is not accepted by this server."""

    status = 401


class ForbiddenError(RefusalError):
    """The key is good, but may not do this."""

    status = 403


class MissingObjectError(RefusalError):
    """The route exists, the object does not."""

    status = 404

    def __init__(self, kind: str, object_id: str) -> None:
        super().__init__(f"Not Found: {kind} {object_id}")


class UnknownRouteError(RefusalError):
    """No endpoint has this path. The code is the gateway's own, not the status."""

    status = 404

    def __init__(self) -> None:
        super().__init__("Not Found")
        self.code = 5


class WrongMethodError(RefusalError):
    """The path exists, but not for this method."""

    status = 405

    def __init__(self, allowed: Iterable[str]) -> None:
        super().__init__("Method Not Allowed")
        self.headers = {"allow": ", ".join(sorted(allowed))}


class ConflictError(RefusalError):
    """An id, slug or name is taken."""

    status = 409


class OversizedBodyError(RefusalError):
    """The body is larger than the service reads."""

    status = 413


class MisdirectedError(RefusalError):
    """The Host header names another server."""

    status = 421


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
    profile: Profile = request.app.state.profile
    match error:
        case RefusalError():
            return refusal(error, profile)
        case HTTPException(status_code=HTTPStatus.METHOD_NOT_ALLOWED):
            return refusal(WrongMethodError(["GET"]), profile)
        case _:
            return refusal(UnknownRouteError(), profile)


async def _failed(request: Request, _error: Exception) -> Response:
    """Answer for a bug of the emulator itself; the exception goes on to the log."""
    return refusal(RefusalError("internal error of the emulator"), request.app.state.profile)


REFUSALS: dict[int | type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    RefusalError: _answered,
    HTTPException: _answered,
    Exception: _failed,
}
