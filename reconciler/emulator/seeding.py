"""Filling an emulator with a company that has been running for a while."""

from datetime import UTC, datetime, timedelta
from typing import Any

from reconciler.emulator.alert_definitions import plant
from reconciler.emulator.clock import timestamp
from reconciler.emulator.demo_company import ALERTS, REQUESTS
from reconciler.emulator.endpoint import Author, Call, Endpoint
from reconciler.emulator.life import let_pass
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.profile import Profile
from reconciler.emulator.reading import read
from reconciler.emulator.resources import RESOURCES
from reconciler.emulator.store import Store
from reconciler.emulator.usage_life import fill_usage

SEEDS = ("demo",)
_HISTORY = timedelta(days=28)
_USAGE_HISTORY = timedelta(days=400)


def fill(store: Store, seed: str, now: datetime) -> None:
    """Put a seed in, unless it was before; the same moment gives the same company.

    Raises ValueError for a seed that there is not.
    """
    if seed not in SEEDS:
        raise ValueError(f"seed {seed!r}: not one of {', '.join(SEEDS)}")
    with store.writing():
        if store.row("SELECT 1 FROM seeds WHERE name = ?", seed):
            return
        store.write("INSERT INTO seeds VALUES (?)", seed)
        begin = now - _HISTORY
        plant(store, ALERTS, timestamp(begin - timedelta(days=90)))
        for number, body in REQUESTS:
            _ask(store, number, body, begin)
        fill_usage(store, (now - _USAGE_HISTORY).astimezone(UTC).date(), now)
        let_pass(store, begin, now)


def _ask(store: Store, number: int, body: JsonObject, at: datetime) -> None:
    """Send a request as the company would have, but for ids that stay the same."""
    endpoint = _endpoint(number)
    call = Call(
        store=store,
        now=timestamp(at),
        author=Author("mira@shop.example"),
        path={},
        query={},
        profile=Profile(client_slo_ids=True),
    )
    endpoint.answer(call, read(endpoint.request, body))


def _endpoint(number: int) -> Endpoint[Any]:
    found = (
        endpoint
        for resource in RESOURCES
        for endpoint in resource.endpoints
        if endpoint.number == number
    )
    return next(found)
