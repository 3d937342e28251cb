"""A service in this process, a journal in a file, and manifests as data.

`Site` plans and applies as the commands do, without the command line. What
happens on the wire can be disturbed, and everything that was sent is noted.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

import httpx

from harness.routes import API_ROOT, READING_POSTS
from harness.stores import NO_TIME, journal_at
from reconciler.api.client import Api, Timing
from reconciler.api.secret import Secret
from reconciler.applying.run import Applied, Run
from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.journal.journal import Journal
from reconciler.model import (
    Action,
    Change,
    Manifest,
    Outcome,
    Plan,
    Ref,
    RemoteId,
    Selected,
    Source,
)
from reconciler.model.assumptions import Assumptions
from reconciler.planning.decide import PlanTarget
from reconciler.planning.guards import with_guards
from reconciler.planning.make_plan import make_plan
from reconciler.project import Guards
from reconciler.redaction.templates import RefHole, Template, references_in, secret_values
from reconciler.report.reasons import notes_of

SALT = "local\0emulator"
PLACE = PlanTarget("local", "emulator", embedded=True, salt=SALT)

Answer = TypeVar("Answer")
Meddler = Callable[[httpx.Request, httpx.AsyncBaseTransport], Awaitable[httpx.Response]]


def manifest(
    ref: str, spec: dict[str, Json], remote_id: RemoteId | None = None, *, file: str = "a.yaml"
) -> Manifest:
    """Give a manifest as reading one gives it."""
    parsed = Ref.parse(ref)
    assert parsed is not None
    return Manifest(parsed, spec, Source(file, 1), remote_id, references=references_in(spec))


def manifest_of(change: Change) -> Manifest:
    """Return the manifest of a change that is no orphan."""
    assert change.manifest is not None
    return change.manifest


@dataclass(frozen=True)
class Sent:
    """One request: what was asked and what came back; status 0 where nothing did."""

    method: str
    path: str
    body: Any
    status: int
    answer: Any

    @property
    def reads_only(self) -> bool:
        """Whether it can change nothing."""
        return self.method == "GET" or self.path in READING_POSTS


@dataclass
class Wire(httpx.AsyncBaseTransport):
    """Notes each request, and lets a test meddle with those of one method and path."""

    inner: httpx.AsyncBaseTransport
    sent: list[Sent] = field(default_factory=list)
    meddlers: list[tuple[str, str, list[Meddler]]] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Pass the request on, or let the next meddler have it."""
        path = request.url.path.removeprefix(API_ROOT)
        body = _json(await request.aread())
        try:
            response = await self._answer(request, path)
            content = await response.aread()
        except httpx.HTTPError:
            self.sent.append(Sent(request.method, path, body, 0, None))
            raise
        self.sent.append(Sent(request.method, path, body, response.status_code, _json(content)))
        return httpx.Response(response.status_code, headers=response.headers, content=content)

    async def _answer(self, request: httpx.Request, path: str) -> httpx.Response:
        for method, pattern, meddlers in self.meddlers:
            if meddlers and method in ("*", request.method) and fnmatchcase(path, pattern):
                return await meddlers.pop(0)(request, self.inner)
        return await self.inner.handle_async_request(request)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


async def lost_after(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
    """Carry the request out and lose the answer."""
    response = await inner.handle_async_request(request)
    await response.aread()
    raise httpx.ReadError("the connection broke")


async def lost_before(_: httpx.Request, __: httpx.AsyncBaseTransport) -> httpx.Response:
    """Lose the request after its bytes were sent; it is never carried out."""
    raise httpx.ReadError("the connection broke")


async def unreachable(_: httpx.Request, __: httpx.AsyncBaseTransport) -> httpx.Response:
    """Fail before a byte is sent."""
    raise httpx.ConnectError("connection refused")


async def untouched(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
    """Let the request pass."""
    return await inner.handle_async_request(request)


def answer_with(status: int, body: Json = None, *, carried_out: bool = False) -> Meddler:
    """Answer this instead of the service, which carries the request out or not."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        if carried_out:
            await (await inner.handle_async_request(request)).aread()
        return httpx.Response(status, json=body)

    return meddle


def settings_for(profile: Profile) -> Assumptions:
    """Give what a project file says under `api:` of a service with this profile."""
    said = {
        "queryStyle": profile.query_objects,
        "documentedSliOnly": profile.slis == "documented",
        "dashboards": {"slugs": profile.dashboard_slugs},
        "validateSlos": "none" if profile.validation == "documented" else "replaced",
        "reads": {
            **_without_nothing(profile.reads),
            "lists": _without_nothing(profile.lists),
        },
    }
    return Assumptions.model_validate(said)


def _without_nothing(reads: Mapping[Any, Any]) -> dict[str, dict[str, str]]:
    """Give reads as a project file says them: what is the whole is left out."""
    return {
        kind: {name: value for name, value in asdict(read).items() if value}
        for kind, read in reads.items()
    }


@dataclass
class Site:
    """One environment: its service, its journal, and what went over the wire."""

    root: Path
    app: Any = field(default_factory=create_app)
    told: list[Outcome] = field(default_factory=list)
    wire: Wire = field(init=False)
    stopping: asyncio.Event | None = None
    waited: list[float] = field(default_factory=list)
    """The seconds that a run would have waited, each time."""

    def __post_init__(self) -> None:
        """Connect to the service."""
        self.wire = Wire(httpx.ASGITransport(self.app))

    @property
    def _bearer(self) -> bool:
        return bool(self.app.state.profile.authorization == "bearer")

    @property
    def journal(self) -> Journal:
        """Give the journal, read anew as a new process would."""
        journal = journal_at(self.root / "own" / "journal.jsonl")
        journal.load()
        return journal

    def plan(
        self,
        *manifests: Manifest,
        whole: bool = True,
        others: Sequence[Manifest] = (),
        place: PlanTarget = PLACE,
        guards: Guards | None = None,
        selected: Selected | None = None,
    ) -> Plan:
        """Plan as `reconciler plan` does, and with `guards` say what an apply would refuse."""
        history = self.journal.history

        async def ask(api: Api) -> Plan:
            made = await make_plan(
                api, manifests, history, place, whole=whole, others=others, selected=selected
            )
            return made if guards is None else await with_guards(api, made, guards)

        return self.ask(ask)

    def change(self, one: Manifest, *others: Manifest) -> Change:
        """Give what a plan says of the first manifest."""
        made = self.plan(one, *others)
        return next(change for change in made.changes if change.ref == one.ref)

    def apply(self, *manifests: Manifest, plan: Plan | None = None) -> Applied:
        """Plan and apply as `reconciler apply --yes --allow-destroy` does."""
        made = plan if plan is not None else self.plan(*manifests)
        journal = self.journal
        secrets = {
            value for change in made.declared for value in secret_values(manifest_of(change).spec)
        }

        async def ask(api: Api) -> Applied:
            for secret in secrets:
                api.redaction.add(secret)
            self.stopping = asyncio.Event()
            run = Run(
                api, journal, str(uuid.uuid4()), tell=self.told.append, stopping=self.stopping
            )
            return await run.apply(made)

        with journal.locked():
            return self.ask(ask)

    def ask(self, call: Callable[[Api], Awaitable[Answer]]) -> Answer:
        """Open a door, use it, close it; nobody waits."""

        async def opened() -> Answer:
            async def sleep(seconds: float) -> None:
                self.waited.append(seconds)
                await asyncio.sleep(0)

            patience = Timing(30.0, sleep, lambda: 0.0, lambda: NO_TIME)
            api = Api(
                "http://emulator",
                Secret("any"),
                "bearer" if self._bearer else "raw",
                transport=self.wire,
                assumptions=settings_for(self.app.state.profile),
                patience=patience,
            )
            async with api:
                return await call(api)

        return asyncio.run(opened())

    def meddle(self, method: str, path: str, *meddlers: Meddler) -> None:
        """Let these have the next requests of a method to a path, one each; `*` is anything."""
        self.wire.meddlers.append((method, path, list(meddlers)))

    def outside(self, method: str, path: str, body: Json = None) -> Any:
        """Ask the service as someone else does, unnoted."""

        async def ask() -> Any:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://emulator") as client:
                key = "Bearer someone" if self._bearer else "someone"
                response = await client.request(
                    method, API_ROOT + path, json=body, headers={"Authorization": key}
                )
            assert response.is_success, response.text
            return response.json()

        return asyncio.run(ask())

    @property
    def sent(self) -> list[Sent]:
        """Give what was sent so far."""
        return self.wire.sent

    @property
    def writes(self) -> list[Sent]:
        """Give what was sent that may change something."""
        return [one for one in self.sent if not one.reads_only]

    def count(self, method: str, path: str) -> int:
        """Count requests to exactly one path."""
        return sum((one.method, one.path) == (method, path) for one in self.sent)

    def forget(self) -> None:
        """Begin to note anew."""
        self.sent.clear()

    def entries(self) -> list[str]:
        """Name what the journal holds, in order: `started SLO/a`."""
        return [
            f"{type(entry).__name__.removesuffix('Entry').lower()} {getattr(entry, 'ref', '')}"
            for entry in self.journal.entries
        ]


def actions(plan: Plan) -> dict[str, str]:
    """Map each resource of a plan to its action's word."""
    return {str(change.ref): change.action.word for change in plan.declared}


def paths(change: Change) -> list[tuple[str | int, ...]]:
    """Give the paths of the fields that a change touches."""
    return [difference.path for difference in change.differences]


def codes_of(change: Change) -> list[str]:
    """Name the reasons of a change by their codes, in order."""
    return [reason.code for reason in change.reasons]


def outcomes(applied: Applied) -> dict[str, str]:
    """Map each resource to the name of its outcome."""
    return {str(outcome.ref): type(outcome).__name__.lower() for outcome in applied.outcomes}


def assert_settled(site: Site, *manifests: Manifest) -> None:
    """Assert that nothing is left to do, and that doing it sends no write (I3, I6)."""
    made = site.plan(*manifests)
    assert {change.action for change in made.declared} <= {Action.KEEP}, [
        (str(change.ref), change.action.word, change.differences, notes_of(change))
        for change in made.changes
        if change.action.is_to_do
    ]
    site.forget()
    applied = site.apply(plan=made)
    assert applied.outcomes == []
    assert site.writes == []


SLO_SPEC: dict[str, Json] = {
    "name": "Checkout",
    "targetThresholdPercentage": 99.9,
    "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
    "requestBasedMetricSli": {"goodEvents": {"query": "good"}, "totalEvents": {"query": "all"}},
}
VIEW_SPEC: dict[str, Json] = {
    "name": "Errors",
    "timeSelection": {"quickSelection": {"seconds": 900}},
    "searchQuery": {"query": "level:error"},
}
ALERT_ID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
ALERT_SPEC: dict[str, Json] = {
    "name": "Errors",
    "enabled": True,
    "priority": "ALERT_DEF_PRIORITY_P2",
    "type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
    "logsImmediate": {},
}


def policy(name: str, *severities: str, **fields: Json) -> dict[str, Json]:
    """Give one item of the whole list."""
    inner: dict[str, Json] = {
        "name": name,
        "description": f"about {name}",
        "priority": "PRIORITY_TYPE_HIGH",
        **fields,
    }
    return {
        "logRules": {
            "severities": [f"SEVERITY_{severity}" for severity in severities or ("ERROR",)]
        },
        "policy": inner,
    }


def policy_set(*policies: dict[str, Json]) -> Manifest:
    """Give the whole list as a manifest."""
    return manifest("LogPolicySet/all", {"policies": list(policies)})


def dashboard(name: str = "checkout", **fields: Json) -> Manifest:
    """Give a dashboard with one widget."""
    widget: Json = {"title": "Orders", "definition": {"markdown": {"markdownText": "x"}}}
    layout: Json = {"sections": [{"rows": [{"appearance": {"height": 19}, "widgets": [widget]}]}]}
    body: dict[str, Json] = {"name": "Checkout", "layout": layout, **fields}
    return manifest(f"Dashboard/{name}", {"dashboard": body})


def watching() -> Manifest:
    """Give an alert that watches the SLO `checkout`."""
    spec: dict[str, Json] = {
        "name": "Budget",
        "type": "ALERT_DEF_TYPE_SLO_THRESHOLD",
        "sloThreshold": {
            "sloDefinition": {"sloId": Template((RefHole(Ref("SLO", "checkout")),))},
            "errorBudget": {"rules": [{"condition": {"threshold": 10}}]},
        },
    }
    return manifest("AlertDefinition/budget", spec, ALERT_ID)
