"""The application: its resources, its routes, and the record of its requests.

Under `/web` is what a person in the web interface can do, and a client of the API cannot: tests
need to see what the API does not return, and what was deleted, and the API document shows neither.
The key is the same.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reconciler.emulator.alert_definition_endpoints import plant
from reconciler.emulator.database import StaleReads, Store
from reconciler.emulator.endpoint import Answers, Deployment, Keys
from reconciler.emulator.faults import FaultInjection, Faults
from reconciler.emulator.log_policy_endpoints import held_policies
from reconciler.emulator.overview_page import page
from reconciler.emulator.profile import Profile
from reconciler.emulator.rendering import REFUSALS, unknown_route
from reconciler.emulator.request_log import (
    API_ROOT,
    HEALTH_PATH,
    OPENAPI_PATH,
    PAGE_PATH,
    LogFile,
    RequestLog,
    RequestRecord,
)
from reconciler.emulator.resources import RESOURCES, STORED, extra_endpoints
from reconciler.emulator.seeding import fill
from reconciler.emulator.wire_models import Clock, timestamp, utc_now

REQUESTS_KEPT = 10_000


def create_app(  # noqa: PLR0913 - one keyword for each option of the server
    data: Path | None = None,
    *,
    alert_ids: Iterable[str] = (),
    api_key: str | None = None,
    keys: Mapping[str, frozenset[str]] = MappingProxyType({}),
    profile: Profile | None = None,
    faults: Faults | None = None,
    log: Path | None = None,
    seed: str | None = None,
    clock: Clock = utc_now,
) -> Starlette:
    """Return a whole service of its own, with its data in a file or in memory.

    Each of `alert_ids` gets a bare alert definition unless it has one. Only
    `api_key`, which may do all, and `keys`, each with its permissions such as
    `case:Read`, are accepted; without any, every key that is not empty may do all.
    `seed` fills it with a company, once. The requests so far are in
    `app.state.requests`, the newest last. Raises UnreadableDataError for a file
    of another program, ValueError for an alert id that is not a uuid or
    an unknown seed, OSError for a log file that cannot be written.
    """
    behaviour = profile or Profile()
    store = Store(data, [table for resource in RESOURCES for table in resource.tables])
    with store.writing():
        plant(store, alert_ids, timestamp(clock()))
    if seed is not None:
        fill(store, seed, clock())
    known: dict[str, frozenset[str] | None] = dict(keys)
    if api_key is not None:
        known[api_key] = None
    deployment = Deployment(
        store=store,
        keys=Keys(known, behaviour.authorization),
        clock=clock,
        profile=behaviour,
        stale_reads=StaleReads(store, behaviour.stale_reads),
    )
    record = RequestRecord(REQUESTS_KEPT, LogFile(log).write if log else None)
    app = Starlette(
        routes=[
            Route(HEALTH_PATH, _health),
            Route(OPENAPI_PATH, _openapi),
            Route(PAGE_PATH, page),
            *web_routes(deployment),
            *_routes(deployment),
        ],
        middleware=[Middleware(RequestLog, record=record)],
        exception_handlers=REFUSALS,
    )
    if faults is not None:
        # Outside everything else, even the error pages.
        app.middleware_stack = FaultInjection(
            app.build_middleware_stack(), faults, record=record, clock=clock
        )
    app.router.redirect_slashes = False
    app.state.profile = behaviour
    app.state.requests = record.requests
    app.state.record = record
    app.state.clock = clock
    app.state.store = store
    return app


def _routes(deployment: Deployment) -> list[Route]:
    """Return one route a path; `/slos/validate` comes before `/slos/{id}`, which it matches."""
    endpoints = [
        *extra_endpoints(deployment.profile),
        # Last, so that a profile never replaces a documented endpoint.
        *(endpoint for resource in RESOURCES for endpoint in resource.endpoints),
    ]
    paths = sorted({endpoint.path for endpoint in endpoints}, key=lambda path: ("{" in path, path))
    return [
        Route(
            API_ROOT + path,
            Answers(
                {endpoint.method: endpoint for endpoint in endpoints if endpoint.path == path},
                deployment,
            ),
        )
        for path in paths
    ]


async def _health(_: Request) -> Response:
    """Answer that the server is ready; needs no key."""
    return JSONResponse({"status": "ok"})


async def _openapi(request: Request) -> Response:
    """Answer with the OpenAPI document, endpoints of the profile included; needs no key."""
    from reconciler.emulator.openapi import openapi_document  # noqa: PLC0415 - few ask for it

    return JSONResponse(openapi_document(request.app.state.profile))


_KINDS = {
    "alerts": "AlertDefinition",
    "dashboards": "Dashboard",
    "saved-views": "SavedView",
    "slos": "SLO",
}
"""The kind of a part of the path."""


def web_routes(deployment: Deployment) -> list[Route]:
    """Return `GET /web/alerts`, which lists all, `DELETE /web/alerts/ID`, and so on."""

    async def listed(request: Request) -> Response:
        """Answer `{"items": [...]}`: every record as it is stored."""
        deployment.keys.check(request)
        what = request.path_params["what"]
        if what == "policies":
            return JSONResponse({"items": held_policies(deployment.store)})
        if what not in _KINDS:
            raise unknown_route()
        return JSONResponse({"items": deployment.store.records(STORED[_KINDS[what]].table)})

    async def delete(request: Request) -> Response:
        """Answer 204, or 404 for an unknown id."""
        deployment.keys.check(request)
        what, own = request.path_params["what"], request.path_params["id"]
        if what not in _KINDS:
            raise unknown_route()
        records = STORED[_KINDS[what]]
        with deployment.stale_reads.writing() as store:
            records.read(store, own)
            store.write(f"DELETE FROM {records.table} WHERE id = ?", own)  # noqa: S608 - a table of ours
        return Response(status_code=204)

    return [
        Route("/web/{what}", listed, methods=["GET"]),
        Route("/web/{what}/{id}", delete, methods=["DELETE"]),
    ]
