"""How refusals and accidents are answered: JSON everywhere, unless the profile says else."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from reconciler.emulator.errors import RefusalError, UnknownRouteError, WrongMethodError
from reconciler.emulator.profile import Profile


def refusal(error: RefusalError, profile: Profile | None = None) -> Response:
    """Give the answer that says a refusal."""
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
    """Answer for a fault of the emulator itself; the exception goes on to the log."""
    return refusal(RefusalError("internal error of the emulator"), request.app.state.profile)


REFUSALS: dict[int | type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    RefusalError: _answered,
    HTTPException: _answered,
    Exception: _failed,
}
