"""What a person in the web interface can do, and a client of the API cannot.

It stands beside the API, under `/web`: tests need to see what the API does not
return, and what is gone, and the API document shows neither. The key is the same.
"""

import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reconciler.emulator.deployment import Deployment
from reconciler.emulator.errors import MissingObjectError, UnknownRouteError
from reconciler.emulator.log_policies import held_policies
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.store import Store

_TABLES = {
    "alerts": ("alert", "alert_definitions"),
    "dashboards": ("dashboard", "dashboards"),
    "saved-views": ("saved view", "saved_views"),
    "slos": ("slo", "slos"),
}
"""What one of them is called, and the table that holds them."""


def web_routes(deployment: Deployment) -> list[Route]:
    """Give `GET /web/alerts`, all there is, and `DELETE /web/alerts/ID`, and so on."""
    return [
        Route("/web/{what}", _listing(deployment), methods=["GET"]),
        Route("/web/{what}/{id}", _deleting(deployment), methods=["DELETE"]),
    ]


def _listing(deployment: Deployment) -> Callable[[Request], Awaitable[Response]]:
    """Give what answers `{"items": [...]}`: every record whole, as it is stored."""

    async def listed(request: Request) -> Response:
        deployment.keys.check(request.headers.get("authorization"), "")
        return JSONResponse({"items": _records(deployment.store, request.path_params["what"])})

    return listed


def _records(store: Store, what: str) -> list[JsonObject]:
    if what == "policies":
        return held_policies(store)
    if what not in _TABLES:
        raise UnknownRouteError
    listing = f"SELECT record FROM {_TABLES[what][1]} ORDER BY id"  # noqa: S608 - a table of ours
    return [json.loads(record) for (record,) in store.rows(listing)]


def _deleting(deployment: Deployment) -> Callable[[Request], Awaitable[Response]]:
    """Give what answers 204, or 404 for what is not there."""

    async def delete(request: Request) -> Response:
        deployment.keys.check(request.headers.get("authorization"), "")
        found = _TABLES.get(request.path_params["what"])
        if found is None:
            raise UnknownRouteError
        kind, table = found
        statement = f"DELETE FROM {table} WHERE id = ? RETURNING id"  # noqa: S608 - a table of ours
        deployment.stale_reads.before_write()
        with deployment.store.writing():
            if deployment.store.row(statement, request.path_params["id"]) is None:
                raise MissingObjectError(kind, request.path_params["id"])
        return Response(status_code=int(HTTPStatus.NO_CONTENT))

    return delete
