"""A service whose answers are real ones, mutated: recorded from the emulator, then replayed."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
from harness.routes import API_ROOT, SLOS, VIEWS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    dashboard,
    manifest,
    policy,
    policy_set,
)
from harness.unsafe_text import unsafe_in
from hostile_documents import mutated

from reconciler.api.client import Api
from reconciler.emulator import create_app
from reconciler.errors import ReconcilerError
from reconciler.features.doctor.command import check_service, examine
from reconciler.kinds.log_policy_set.remote import bulk_create, bulk_test
from reconciler.model import Plan
from reconciler.planning.guards import with_guards
from reconciler.project import Guards
from reconciler.records.listings import (
    RANGES,
    CaseFilter,
    EventFilter,
    IncidentEventFilter,
    IncidentFilter,
    close_incidents,
    daily_units,
    list_alert_events,
    list_cases,
    list_incident_events,
    list_incidents,
    list_log_policies,
)
from reconciler.report.html import plan_html
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.table import Style

MANIFESTS = (
    manifest("SLO/checkout", SLO_SPEC),
    manifest("SLO/named", {**SLO_SPEC, "name": "Other"}, "11111111-2222-4333-8444-555555555555"),
    manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID),
    dashboard(),
    policy_set(policy("a"), policy("b", "INFO", disabled=True)),
    manifest("SavedView/errors", {**VIEW_SPEC, "isCompactMode": True}),
)
STATUSES = (
    200,
    201,
    204,
    206,
    301,
    307,
    400,
    401,
    403,
    404,
    409,
    418,
    429,
    499,
    500,
    501,
    503,
    599,
)
MOST_REQUESTS = 2_000


@dataclass(frozen=True)
class Recorded:
    """One real answer."""

    status: int
    content: bytes


@dataclass
class Mutating(httpx.AsyncBaseTransport):
    """Records what the emulator answers, or answers that again, mutated by `rng`."""

    inner: httpx.AsyncBaseTransport
    known: dict[tuple[str, str], list[Recorded]] = field(default_factory=dict)
    rng: Random | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)
    answers: int = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        where = (request.method, request.url.path.removeprefix(API_ROOT))
        self.asked.append(where)
        if self.rng is None:
            response = await self.inner.handle_async_request(request)
            content = await response.aread()
            self.known.setdefault(where, []).append(Recorded(response.status_code, content))
            headers = {"content-type": response.headers["content-type"]}
            return httpx.Response(response.status_code, headers=headers, content=content)
        if len(self.asked) > MOST_REQUESTS:
            raise AssertionError(f"{len(self.asked)} requests in one run")
        self.answers += 1
        return self._mutated(self._recorded(where, self.rng), self.rng)

    def _recorded(self, where: tuple[str, str], rng: Random) -> Recorded:
        known = self.known.get(where)
        if known is None or rng.random() < 0.02:
            same = [key for key in self.known if key[1].startswith(where[1].rpartition("/")[0])]
            known = self.known[rng.choice(same or list(self.known))]
        return rng.choice(known)

    def _mutated(self, answer: Recorded, rng: Random) -> httpx.Response:
        if rng.random() < 0.04:
            raise rng.choice((httpx.ReadError, httpx.ConnectError, httpx.RemoteProtocolError))("x")
        status, content, headers = answer.status, answer.content, dict(_headers(rng))
        if rng.random() < 0.08:
            status = rng.choice(STATUSES)
        if rng.random() < 0.6:
            document = mutated(json.loads(content or b"null"), rng, rng.choice((1, 1, 2, 5)))
            content = json.dumps(document, ensure_ascii=rng.random() < 0.5).encode(
                "utf-8", "surrogatepass"
            )
        if rng.random() < 0.05:
            content = content[: rng.randint(0, len(content))]
        if rng.random() < 0.03:
            at = rng.randrange(len(content) + 1)
            content = content[:at] + rng.randbytes(rng.randint(1, 8)) + content[at:]
        if "content-encoding" in headers and rng.random() < 0.8:
            content = gzip.compress(content)
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        return httpx.Response(status, headers=encoded, stream=Once(content))


class Once(httpx.AsyncByteStream):
    """A body as it comes over the wire, still packed."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


def _headers(rng: Random) -> Iterator[tuple[str, str]]:
    yield "content-type", rng.choice(("application/json", "application/json", "text/html", ""))
    if rng.random() < 0.05:
        yield "content-encoding", rng.choice(("gzip", "br", "gzip, gzip", "identity"))
    if rng.random() < 0.1:
        yield "retry-after", rng.choice(("0", "1", "-1", "x", "61", "9" * 40, "Fri, 31 Jan 2025"))
    if rng.random() < 0.05:
        yield "location", rng.choice(("http://elsewhere.test/", "//x", "\u00ff", "javascript:x"))


@dataclass
class Answers:
    """Planning, applying, listing and examining against such a service."""

    folder: Path
    notes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Record what a service answers to all that we ask."""
        site = Site(self.folder / "recording", create_app(alert_ids=[ALERT_ID], seed="demo"))
        self.wire = Mutating(site.wire.inner)
        _connect(site, self.wire)
        for _ in range(2):
            site.apply(*MANIFESTS)
        for ask in ASKING:
            site.ask(ask)
        self.app = site.app
        self.fresh = self.folder / "fresh"

    def make(self, rng: Random) -> bytes:
        """Make the seed of a run; its answers follow from it."""
        return str(rng.getrandbits(64)).encode()

    def read(self, content: bytes) -> None:
        """Make one run against answers mutated by this seed; errors of ours are fine."""
        rng = Random(content.decode())  # noqa: S311 - repeatable, not secret
        shutil.rmtree(self.fresh, ignore_errors=True)
        site = Site(self.fresh, self.app)
        _connect(site, self.wire)
        self.wire.asked.clear()
        self.wire.answers = 0
        run = rng.choice((_plan, _plan, _apply, _apply, _ask))
        try:
            run(site, self.wire, rng)
            self._note("done")
        except ReconcilerError as error:
            self._note(type(error).__name__)
        except BaseExceptionGroup as group:
            ours, others = group.split(ReconcilerError)
            if others is not None or ours is None:
                raise
            self._note(type(group.exceptions[0]).__name__)
        finally:
            self.wire.rng = None
            self.notes["answers"] = self.notes.get("answers", 0) + self.wire.answers
        for path in (SLOS, VIEWS):
            # Two SLOs are declared, and one view.
            if self.wire.asked.count(("POST", path)) > 5 * (2 if path == SLOS else 1):
                raise AssertionError(f"POST {path} was sent more often than a 429 explains")

    def _note(self, name: str) -> None:
        self.notes[name] = self.notes.get(name, 0) + 1


def _connect(site: Site, wire: Mutating) -> None:
    """Put this in place of the site's own wire, which unpacks what it passes on."""
    site.wire = wire  # type: ignore[assignment]  # a transport is all that is asked of it


def _plan(site: Site, wire: Mutating, rng: Random) -> None:
    wire.rng = rng
    _shown(site.plan(*MANIFESTS))


def _apply(site: Site, wire: Mutating, rng: Random) -> None:
    if rng.random() < 0.5:
        # Most plans of mutated answers are not applied far, so the plan is a true one.
        wire.rng = None
        made = site.plan(*MANIFESTS)
        wire.rng = rng
    else:
        wire.rng = rng
        made = site.plan(*MANIFESTS)
    try:
        site.apply(plan=made)
    finally:
        # It can be read again whatever happened (I5).
        assert site.journal.history is not None
    wire.asked.clear()
    _shown(site.plan(*MANIFESTS))


def _ask(site: Site, wire: Mutating, rng: Random) -> None:
    wire.rng = rng
    site.ask(rng.choice(ASKING))


def _shown(plan: Plan) -> None:
    """Show a plan in every format."""
    texts = [plan_text(plan, Style(verbose=True)), plan_json(plan), plan_html(plan)]
    texts.append(plan_markdown(plan))
    for text in texts:
        if unsafe := unsafe_in(text):
            raise AssertionError(f"a report holds {unsafe!a}")


Asking = Callable[[Api], Awaitable[Any]]


async def _guarded(api: Api) -> Any:
    return await with_guards(
        api, Plan(environment="local", target="emulator", digest="sha256:0", changes=()), Guards()
    )


async def _close_one(api: Api) -> Any:
    async for incident in list_incidents(api, IncidentFilter(open_only=True), 1):
        return await close_incidents(api, [incident.id])
    return []


ASKING: tuple[Asking, ...] = (
    lambda api: _all(list_incidents(api, IncidentFilter(open_only=True), 150)),
    lambda api: _all(list_incident_events(api, IncidentEventFilter(), 150)),
    lambda api: _all(list_alert_events(api, EventFilter(), 150)),
    lambda api: _all(list_cases(api, CaseFilter(), 150)),
    lambda api: daily_units(api, RANGES[0]),
    list_log_policies,
    check_service,
    examine,
    lambda api: bulk_test(api, [{"applicationNameValues": "x"}]),
    lambda api: bulk_create(api, [{"name": "new", "priority": "PRIORITY_TYPE_LOW"}]),
    _close_one,
    _guarded,
)


async def _all(records: AsyncIterator[Any]) -> list[Any]:
    return [record async for record in records]
