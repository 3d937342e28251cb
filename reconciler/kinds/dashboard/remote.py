"""Dashboards over the wire: endpoints 3 to 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from reconciler.api.rules import Request
from reconciler.document import ABSENT, Json, Missing, covers, value_at
from reconciler.errors import (
    OutcomeUnknown,
    ReconcilerError,
    ServiceRefused,
    UnreadableReply,
)
from reconciler.journal.history import Memory
from reconciler.kinds.answers import member, text, without
from reconciler.kinds.dashboard.model import DashboardSpec
from reconciler.kinds.dashboard.nested_ids import with_nested_ids
from reconciler.kinds.dashboard.slug import own_id, slug_of
from reconciler.kinds.kind import Answer, Identified, Sending, refusal, side_by_side
from reconciler.kinds.shape import shape_of
from reconciler.kinds.spelling import without_read_only
from reconciler.resource import (
    Absent,
    Action,
    Manifest,
    Observation,
    Outcome,
    Refused,
    RemoteId,
    Seen,
    Written,
)

if TYPE_CHECKING:
    # Only its type is needed here, and it brings the whole HTTP client.
    from reconciler.api.door import Api


DASHBOARDS = "/v1/dashboards/dashboards"
BY_SLUG = "/v1/dashboards/by-slug"
IDENTITY = frozenset(("id",))

BY_HAND = "TOKEN_ORIGIN_TYPE_USER"
_ORIGINS = {BY_HAND: "in the web interface", "TOKEN_ORIGIN_TYPE_API": "by API"}


async def observe(api: Api, manifest: Manifest, memory: Memory) -> Observation:
    """Read the dashboard by id, and where that finds none, by slug."""
    for remote_id in dict.fromkeys((manifest.remote_id, memory.remote_id, own_id(manifest.spec))):
        if remote_id:
            record = await api.read(f"{DASHBOARDS}/{quote(str(remote_id), safe='')}")
            if record is not ABSENT:
                return _seen(record, str(remote_id))
    slug = slug_of(manifest)
    record = await api.read(f"{BY_SLUG}/{quote(slug, safe='')}")
    if record is not ABSENT:
        return _seen(record)
    if manifest.remote_id is not None:
        return Absent(f"the service has no dashboard {manifest.remote_id}, nor the slug {slug}")
    return Absent(f"the service has no dashboard with the slug {slug}")


def _seen(record: Json | Missing, asked: str = "") -> Seen:
    dashboard = member(record, "dashboard")
    remote_id = text(dashboard, "id") or asked
    if not remote_id:
        raise UnreadableReply("the answer holds a dashboard without an id")
    document: dict[str, Json] = {"dashboard": without(dashboard, IDENTITY)}
    locked = value_at(record, ("isLocked",))
    if isinstance(locked, bool):
        document["isLocked"] = locked
    own = without_read_only(document, DashboardSpec)
    assert isinstance(own, dict)  # noqa: S101 - an object stays one
    updated, who = text(record, "updatedAt"), text(record, "updaterName")
    origin = text(record, "updatedOriginType")
    how = _ORIGINS.get(origin, "")
    words = [f"by {who}" if who else "", f"at {updated}" if updated else "", how]
    attribution = " ".join(word for word in words if word)
    return Seen(remote_id, own, updated, attribution=attribution, by_hand=origin == BY_HAND)


def complete(manifest: Manifest, observation: Observation) -> dict[str, Json]:
    """Add nested ids and the slug, which a dashboard declared by its id keeps from live.

    The id is identity, and no part of what is compared.
    """
    dashboard = manifest.spec.get("dashboard")
    if not isinstance(dashboard, dict):
        return manifest.spec
    live = observation.document.get("dashboard") if isinstance(observation, Seen) else ABSENT
    body = without(dashboard, IDENTITY)
    if not body.get("slugName"):
        by_id = manifest.remote_id is not None or own_id(manifest.spec)
        kept = text(live, "slugName") if by_id else ""
        body["slugName"] = kept or slug_of(manifest)
    filled = with_nested_ids(body, live, str(manifest.ref))
    return {**manifest.spec, "dashboard": filled}


def identities(manifest: Manifest) -> Mapping[str, str]:
    """Give what no two dashboards may share, by what people call it."""
    found = {"slug": slug_of(manifest)}
    if own := own_id(manifest.spec):
        found["id"] = own
    return found


async def write(api: Api, sendings: Sequence[Sending], _: Identified) -> list[Answer]:
    """Create or replace dashboards side by side.

    A create whose answer is lost is looked up, and sent again with the same
    `requestId` only after a 404.
    """
    return await side_by_side(sendings, lambda sending: _write(api, sending))


async def _write(api: Api, sending: Sending) -> Outcome:
    try:
        if sending.change.action is Action.CREATE:
            return await _create(api, sending)
        remote_id = sending.change.remote_id
        body = _wrapper(sending, remote_id)
        await api.send("PUT", DASHBOARDS, body, request=Request.REPLACE, may_be_empty=True)
    except ServiceRefused as refused:
        return refusal(sending, refused)
    return Written(sending.ref, remote_id)


def _wrapper(sending: Sending, remote_id: RemoteId | None) -> dict[str, Json]:
    dashboard = member(sending.document, "dashboard")
    identified = {"id": remote_id, **dashboard} if remote_id else dashboard
    rest = without(sending.document, frozenset(("dashboard",)))
    if sending.change.action is not Action.CREATE:
        # Left out, a replace leaves the lock as it is, and nobody could take it off again.
        rest.setdefault("isLocked", False)
    return {"dashboard": identified, "requestId": sending.change.request_id, **rest}


async def _create(api: Api, sending: Sending, *, again: bool = True) -> Outcome:
    manifest = sending.change.manifest
    body = _wrapper(sending, manifest.remote_id or own_id(manifest.spec) or None)
    try:
        reply = await api.send("POST", DASHBOARDS, body, request=Request.FINDABLE)
    except OutcomeUnknown:
        return await _find_created(api, sending, again=again)
    remote_id = text(reply, "dashboardId")
    if not remote_id:
        return await _find_created(api, sending, again=again)
    return Written(sending.ref, remote_id)


async def _find_created(api: Api, sending: Sending, *, again: bool) -> Outcome:
    try:
        observed = await observe(api, sending.change.manifest, Memory())
    except ReconcilerError as error:
        said = f"{sending.ref}: the answer to the create was lost, and so was the look-up"
        raise OutcomeUnknown(f"{said}: {error}") from error
    if isinstance(observed, Seen):
        if covers(observed.document, sending.document, shape_of(DashboardSpec)):
            return Written(sending.ref, observed.remote_id, "the answer was lost; it was found")
        said = "the answer was lost, and the dashboard that is there now is another"
        return Refused(sending.ref, said, exit_code=6, sure=False)
    if again:
        return await _create(api, sending, again=False)
    raise OutcomeUnknown(f"{sending.ref}: the answer to the create was lost twice")
