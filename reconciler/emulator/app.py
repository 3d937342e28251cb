"""The application: its resources, its routes, and the record of what was asked."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from reconciler.emulator.alert_definitions import plant
from reconciler.emulator.answering import Answers
from reconciler.emulator.authorisation import Keys
from reconciler.emulator.clock import Clock, timestamp, utc_now
from reconciler.emulator.deployment import Deployment
from reconciler.emulator.endpoint import API_ROOT
from reconciler.emulator.extra_reads import extra_endpoints
from reconciler.emulator.fault_injection import FaultInjection
from reconciler.emulator.fault_rules import FaultRules
from reconciler.emulator.faults import Faults
from reconciler.emulator.log_file import LogFile
from reconciler.emulator.page import page
from reconciler.emulator.profile import Profile
from reconciler.emulator.refusing import REFUSALS
from reconciler.emulator.request_log import (
    HEALTH_PATH,
    OPENAPI_PATH,
    PAGE_PATH,
    RequestLog,
    RequestRecord,
)
from reconciler.emulator.resources import RESOURCES
from reconciler.emulator.seeding import fill
from reconciler.emulator.stale_reads import StaleReads
from reconciler.emulator.store import Store
from reconciler.emulator.web import web_routes

REQUESTS_KEPT = 10_000


class _Emulator(Starlette):
    """A Starlette application with something around it that even its error pages do not see."""

    around: Callable[[ASGIApp], ASGIApp] | None = None

    def build_middleware_stack(self) -> ASGIApp:
        """Put the faults outside everything else."""
        stack = super().build_middleware_stack()
        return self.around(stack) if self.around else stack


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
    """Make a whole service of its own, in a file or in memory.

    Each of `alert_ids` gets a bare alert definition unless it has one. Only
    `api_key`, which may do all, and `keys`, each with its permissions such as
    `case:Read`, are taken; without any, every key that is not empty may do all.
    `seed` fills it with a company, once. What was asked so far is in
    `app.state.requests`, the newest last. Raises UnreadableDataError for a file
    that holds something else, ValueError for an alert id that is not a uuid or
    a seed there is not, OSError for a log file that cannot be written.
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
    app = _Emulator(
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
        app.around = partial(FaultInjection, rules=FaultRules(faults), record=record, clock=clock)
    app.router.redirect_slashes = False
    app.state.profile = behaviour
    app.state.requests = record.requests
    app.state.record = record
    app.state.clock = clock
    app.state.store = store
    return app


def _routes(deployment: Deployment) -> list[Route]:
    """Give one route per path; `/slos/validate` comes before `/slos/{id}`, which it fits."""
    endpoints = [
        *extra_endpoints(deployment.profile),
        # What the document shows is never anything else, whatever a profile says.
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
    """Say that requests are being answered; needs no key."""
    return JSONResponse({"status": "ok"})


async def _openapi(request: Request) -> Response:
    """Describe the endpoints, those that only the profile gives too; needs no key."""
    from reconciler.emulator.openapi import openapi_document  # noqa: PLC0415 - few ask for it

    return JSONResponse(openapi_document(request.app.state.profile))
