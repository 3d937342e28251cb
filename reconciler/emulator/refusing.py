"""How refusals and accidents are answered: JSON everywhere."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from reconciler.emulator.errors import RefusalError, UnknownRouteError, WrongMethodError


def refusal(error: RefusalError) -> Response:
    """Give the answer that says a refusal."""
    body = {"code": error.code, "message": error.message}
    return JSONResponse(body, status_code=error.status, headers=error.headers)


async def _answered(_: Request, error: Exception) -> Response:
    match error:
        case RefusalError():
            return refusal(error)
        case HTTPException(status_code=HTTPStatus.METHOD_NOT_ALLOWED):
            return refusal(WrongMethodError(["GET"]))
        case _:
            return refusal(UnknownRouteError())


async def _failed(_request: Request, _error: Exception) -> Response:
    """Answer for a fault of the emulator itself; the exception goes on to the log."""
    return refusal(RefusalError("internal error of the emulator"))


REFUSALS: dict[int | type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    RefusalError: _answered,
    HTTPException: _answered,
    Exception: _failed,
}
