"""Dashboards over the wire: endpoints 3 to 6, slugs, exports."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from reconciler import model
from reconciler.api.retry import Request
from reconciler.document import ABSENT, Json, Missing, covers, value_at
from reconciler.errors import (
    ExitCode,
    InvalidInput,
    OutcomeUnknown,
    ReconcilerError,
    UnreadableReply,
)
from reconciler.kinds.assumed_reads import given_id, member, text, without
from reconciler.kinds.dashboard import DashboardSpec, declared_id, slug_of
from reconciler.kinds.dashboard.items import with_nested_ids
from reconciler.kinds.kind import DASHBOARD_ID, OnIdentified, Remote, Sending, each
from reconciler.kinds.shape import shape_of, without_read_only
from reconciler.runtime.connection import is_part

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.journal.history import Memory


DASHBOARDS = "/v1/dashboards/dashboards"
BY_SLUG = "/v1/dashboards/by-slug"
IDENTITY = frozenset(("id",))

BY_HAND = "TOKEN_ORIGIN_TYPE_USER"
_ORIGINS = {BY_HAND: "in the web interface", "TOKEN_ORIGIN_TYPE_API": "by API"}


async def observe(api: Api, manifest: model.Manifest, memory: Memory) -> model.Observation:
    """Read the dashboard by its declared id, then by the journal's ids, then by its slug.

    If an id is declared, and the journal or the slug leads to another dashboard, the plan blocks
    the change: `AnotherId`. If a create is in doubt and the dashboard has no slug, the result is
    `Unknown`: the service may have assigned another id, and then a second create would make a
    second dashboard.
    """
    known = (declared_id(manifest), memory.remote_id, memory.formerly)
    for remote_id in dict.fromkeys(known):
        if remote_id:
            record = await api.read(f"{DASHBOARDS}/{quote(str(remote_id), safe='')}")
            if record is not ABSENT:
                DASHBOARD_ID.check(remote_id, value_at(record, ("dashboard", "id")))
                return _seen(record, str(remote_id))
    slug = slug_of(manifest, api.assumptions)
    if slug:
        return await _observe_by_slug(api, manifest, slug)
    if memory.unsettled_create is not None:
        return model.Unknown(None, "a dashboard without a slug is found by its id only")
    return model.Absent(f"the service has no dashboard {declared_id(manifest)}")


async def _observe_by_slug(api: Api, manifest: model.Manifest, slug: str) -> model.Observation:
    record = await api.read(f"{BY_SLUG}/{quote(slug, safe='')}")
    if record is not ABSENT:
        # A slug is checked as an id is: it has the same characters.
        DASHBOARD_ID.check(slug, value_at(record, ("dashboard", "slugName")))
        return _seen(record)
    if manifest.remote_id is not None:
        return model.Absent(
            f"the service has no dashboard {manifest.remote_id}, nor the slug {slug}"
        )
    return model.Absent(f"the service has no dashboard with the slug {slug}")


def _seen(record: Json | Missing, asked: str = "") -> model.Seen:
    dashboard = member(record, "dashboard")
    remote_id = given_id(dashboard, "id") or asked
    if not remote_id:
        raise UnreadableReply("the answer holds a dashboard without an id")
    document: dict[str, Json] = {"dashboard": without(dashboard, IDENTITY)}
    locked = value_at(record, ("isLocked",))
    if isinstance(locked, bool):
        document["isLocked"] = locked
    own = without_read_only(document, DashboardSpec)
    updated, who = text(record, "updatedAt"), text(record, "updaterName")
    origin = text(record, "updatedOriginType")
    edit = model.LastEdit(who=who, at=updated, how=_ORIGINS.get(origin, ""))
    by_hand = origin == BY_HAND
    return model.Seen(
        remote_id, own, updated, edit=edit, by_hand=by_hand, told=model.ServerInfo(updated=updated)
    )


def complete(
    manifest: model.Manifest, observation: model.Observation, memory: Memory
) -> dict[str, Json]:
    """Return the `spec` with nested ids. The id is identity, and is not compared.

    A slug that is not declared stays as it is: where a slug was written earlier, the live slug is
    kept, so removing it from the manifest removes nothing from the service.
    """
    dashboard = manifest.spec.get("dashboard")
    if not isinstance(dashboard, dict):
        return manifest.spec
    live = observation.document.get("dashboard") if isinstance(observation, model.Seen) else ABSENT
    body = without(dashboard, IDENTITY)
    written = [candidate.get("dashboard", ABSENT) for candidate in reversed(memory.candidates)]
    if not body.get("slugName"):
        body.pop("slugName", None)
        kept = text(live, "slugName")
        if kept and any(value_at(value, ("slugName",)) is not ABSENT for value in written):
            body["slugName"] = kept
    filled = with_nested_ids(body, written, live, str(manifest.ref))
    return {**manifest.spec, "dashboard": filled}


async def write(api: Api, sending: Sending, _: OnIdentified) -> model.Outcome:
    """Create or replace a dashboard.

    A create with a lost answer is looked up, and sent again with the same `requestId` only after a
    404.
    """
    try:
        if sending.change.action is model.Action.CREATE:
            return await _create(api, sending)
        remote_id = sending.change.remote_id
        body = _wrapper(sending, {"id": remote_id} if remote_id else {})
        await api.send("PUT", DASHBOARDS, body, request=Request.REPLACE, may_be_empty=True)
    except InvalidInput as unsent:
        return model.Refused(sending.ref, str(unsent), unsent.exit_code)
    return model.Written(sending.ref, remote_id)


def _wrapper(sending: Sending, identity: dict[str, Json]) -> dict[str, Json]:
    dashboard = sending.document.get("dashboard")
    if not isinstance(dashboard, dict):
        raise InvalidInput("spec has no object `dashboard`, so nothing was sent")
    rest = without(sending.document, frozenset(("dashboard",)))
    if sending.change.action is not model.Action.CREATE:
        # If it is left out, a replace keeps the lock, and no manifest could remove it.
        rest.setdefault("isLocked", False)
    return {"dashboard": {**identity, **dashboard}, "requestId": sending.change.request_id, **rest}


async def _create(api: Api, sending: Sending, *, again: bool = True) -> model.Outcome:
    wanted = declared_id(sending.manifest)
    slug = slug_of(sending.manifest, api.assumptions)
    identity = {"id": wanted, "slugName": slug}
    body = _wrapper(sending, {field: value for field, value in identity.items() if value})
    try:
        reply = await api.send("POST", DASHBOARDS, body, request=Request.FINDABLE)
    except OutcomeUnknown:
        return await _find_created(api, sending, again=again)
    remote_id = text(reply, "dashboardId")
    if not is_part(remote_id):
        return await _find_created(api, sending, again=again)
    other = wanted is not None and wanted != remote_id
    message = f"the service gave it the id {remote_id} instead of the declared {wanted}"
    return model.Written(sending.ref, remote_id, message if other else "")


async def _find_created(api: Api, sending: Sending, *, again: bool) -> model.Outcome:
    from reconciler.journal.history import Memory  # noqa: PLC0415 - only for a lost answer

    try:
        observed = await observe(api, sending.manifest, Memory())
    except ReconcilerError as error:
        message = f"{sending.ref}: the answer to the create was lost, and so was the look-up"
        raise OutcomeUnknown(f"{message}: {error}") from error
    if isinstance(observed, model.Seen):
        if covers(observed.document, sending.document, shape_of(DashboardSpec)):
            found = "the answer was lost; it was found"
            return model.Written(sending.ref, observed.remote_id, found)
        message = "the answer was lost, and the dashboard that is there now is another"
        return model.Unconfirmed(sending.ref, message, exit_code=ExitCode.STALE)
    if not slug_of(sending.manifest, api.assumptions):
        message = "the answer to the create was lost, and nothing has the declared id"
        return model.InDoubt(sending.ref, f"{message}: the service may have given it another one")
    if again:
        return await _create(api, sending, again=False)
    raise OutcomeUnknown(f"{sending.ref}: the answer to the create was lost twice")


REMOTE = Remote(observe, each(write), complete=complete)
