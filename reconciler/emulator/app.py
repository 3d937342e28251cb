"""The application: its resources, its routes, and the record of what was asked."""

from collections import deque
from collections.abc import Iterable
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reconciler.emulator.alert_definitions import ALERT_DEFINITIONS, plant
from reconciler.emulator.answering import Answers
from reconciler.emulator.clock import Clock, timestamp, utc_now
from reconciler.emulator.dashboards import DASHBOARDS
from reconciler.emulator.endpoint import API_ROOT
from reconciler.emulator.log_policies import LOG_POLICIES
from reconciler.emulator.refusing import REFUSALS
from reconciler.emulator.request_log import HEALTH_PATH, Asked, RequestLog
from reconciler.emulator.saved_views import SAVED_VIEWS
from reconciler.emulator.slos import SLOS
from reconciler.emulator.store import Store

RESOURCES = (ALERT_DEFINITIONS, DASHBOARDS, SLOS, LOG_POLICIES, SAVED_VIEWS)
REQUESTS_KEPT = 10_000


def create_app(
    data: Path | None = None,
    *,
    alert_ids: Iterable[str] = (),
    api_key: str | None = None,
    clock: Clock = utc_now,
) -> Starlette:
    """Make a whole service of its own, in a file or in memory.

    Each of `alert_ids` gets a bare alert definition unless it has one. With
    `api_key` only that key is taken, else any that is not empty. What was
    asked so far is in `app.state.requests`, the newest last. Raises
    UnreadableDataError for a file that holds something else, ValueError for
    an alert id that is not a uuid.
    """
    store = Store(data, [table for resource in RESOURCES for table in resource.tables])
    with store.writing():
        plant(store, alert_ids, timestamp(clock()))
    requests: deque[Asked] = deque(maxlen=REQUESTS_KEPT)
    app = Starlette(
        routes=[Route(HEALTH_PATH, _health), *_routes(store, api_key, clock)],
        middleware=[Middleware(RequestLog, requests=requests)],
        exception_handlers=REFUSALS,
    )
    app.router.redirect_slashes = False
    app.state.requests = requests
    app.state.store = store
    return app


def _routes(store: Store, api_key: str | None, clock: Clock) -> list[Route]:
    """Give one route per path; `/slos/validate` comes before `/slos/{id}`, which it fits."""
    endpoints = [endpoint for resource in RESOURCES for endpoint in resource.endpoints]
    paths = sorted({endpoint.path for endpoint in endpoints}, key=lambda path: ("{" in path, path))
    return [
        Route(
            API_ROOT + path,
            Answers(
                {endpoint.method: endpoint for endpoint in endpoints if endpoint.path == path},
                store=store,
                api_key=api_key,
                clock=clock,
            ),
        )
        for path in paths
    ]


async def _health(_: Request) -> Response:
    """Say that requests are being answered; needs no key."""
    return JSONResponse({"status": "ok"})
