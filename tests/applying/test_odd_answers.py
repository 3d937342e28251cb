"""A service that answers anything at all."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Meddler,
    Site,
    dashboard,
    manifest,
    policy,
    policy_set,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.emulator import create_app
from reconciler.errors import ReconcilerError
from reconciler.report.plan.document import plan_json

FEW = settings().max_examples // 4
EVERYTHING = [
    manifest("SLO/checkout", SLO_SPEC),
    manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID),
    dashboard(description="d"),
    policy_set(policy("a"), policy("b")),
    manifest("SavedView/errors", {**VIEW_SPEC, "isCompactMode": True}),
]
EDITED = [
    manifest("SLO/checkout", {**SLO_SPEC, "description": "x"}),
    manifest("AlertDefinition/errors", {**ALERT_SPEC, "name": "x"}, ALERT_ID),
    dashboard(description="x"),
    policy_set(policy("c"), policy("a")),
    manifest("SavedView/errors", {**VIEW_SPEC, "name": "x"}),
]
ODD: list[Json] = [
    None,
    True,
    0,
    -1,
    2**31,
    10**40,
    1e308,
    "",
    "\ud83d",
    "\x00\u202e",
    "a/../b",
    "x" * 3000,
    [],
    [[]],
    [None],
    {},
    {"": None},
    {"id": True},
]


def mutated(document: Any, chance: random.Random) -> Any:
    """Give a document in which one place holds something else, or nothing, or twice as much."""
    if isinstance(document, dict) and document and chance.random() < 0.8:
        key = chance.choice(sorted(document))
        rest = {name: value for name, value in document.items() if name != key}
        return rest if chance.random() < 0.2 else {**rest, key: mutated(document[key], chance)}
    if isinstance(document, list) and document and chance.random() < 0.8:
        place = chance.randrange(len(document))
        if chance.random() < 0.3:
            return [*document, document[place]]
        return [*document[:place], mutated(document[place], chance), *document[place + 1 :]]
    return chance.choice(ODD)


def meddling(chance: random.Random) -> Iterator[Meddler]:
    """Give meddlers that change about every third answer."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        response = await inner.handle_async_request(request)
        content = await response.aread()
        if chance.random() < 0.3:
            content = json.dumps(mutated(json.loads(content), chance)).encode()
        status = (
            chance.choice([200, 201, 404, 400]) if chance.random() < 0.05 else response.status_code
        )
        return httpx.Response(status, content=content, headers={"Content-Type": "application/json"})

    while True:
        yield meddle


def survives(site: Site, *manifests: Any) -> None:
    """Plan, print and apply; only errors of ours may end it."""
    try:
        made = site.plan(*manifests)
        plan_json(made)
        site.apply(plan=made)
    except ReconcilerError:
        pass
    except ExceptionGroup as group:
        if group.split(ReconcilerError)[1] is not None:
            raise


@settings(max_examples=FEW)
@given(st.integers(0, 2**32))
def test_mutated_answers(seed: int) -> None:
    """Whatever stands in an answer, a run ends in words of ours, and the journal can be read."""
    chance = random.Random(seed)  # noqa: S311 - no secret comes of it
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), create_app(alert_ids=[ALERT_ID]))
        if chance.random() < 0.5:
            site.apply(*EVERYTHING)
        endless = meddling(chance)
        site.meddle("*", "*", *(next(endless) for _ in range(500)))
        for declared in (EVERYTHING, EDITED, EVERYTHING):
            survives(site, *declared)
        site.wire.meddlers.clear()
        survives(site, *EDITED)

        assert site.journal.header is not None
