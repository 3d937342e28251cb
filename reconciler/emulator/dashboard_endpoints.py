"""Dashboards: endpoints 3 to 6.

Where the API document is silent, a write behaves so:

- A POST with a `requestId` seen before returns the same `dashboardId` and does nothing, whatever
  else it holds, and even when that dashboard was deleted since.
- Without a slug a dashboard has none, unless the profile makes one: of the name at POST, and at
  PUT the slug that it has.
- A PUT without `isLocked` leaves the lock as it is. A lock stops no write: the document does not
  name the writes that it would stop.
"""

import json
import re
import secrets
import string
from itertools import chain, count

from reconciler.emulator.dashboard_models import (
    DASHBOARD_ID,
    Dashboard,
    DashboardCreateReply,
    DashboardWriteRequest,
    StoredDashboard,
    Widget,
)
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, NoBody, Records, Resource
from reconciler.emulator.http_errors import InvalidRequestError, MissingObjectError, TakenError
from reconciler.emulator.reading import read
from reconciler.emulator.rendering import Rendered, as_text, canonical
from reconciler.emulator.wire_models import Empty, JsonObject

DASHBOARDS = Resource(
    "dashboards (id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, record TEXT NOT NULL)",
    "dashboard_requests (request_id TEXT PRIMARY KEY, dashboard_id TEXT NOT NULL)",
)
DASHBOARD_RECORDS = Records("dashboard", "dashboards", "dashboard.name", "dashboard.id")
_PATH = "/v1/dashboards/dashboards"
_ID_LETTERS = string.ascii_letters + string.digits + "_-"
_ID_LENGTH = 21  # docs/assumptions.md
_STEM_LENGTH = 245  # leaves room for a number, see docs/assumptions.md
_NO_SLUG = "/"  # before an id: no slug has it, and no path can contain it


@DASHBOARDS.answers(3, "POST", _PATH, DashboardWriteRequest, DashboardCreateReply, creates=True)
def _create(call: Call, request: DashboardWriteRequest) -> DashboardCreateReply:
    if seen := _first_id(call, request.request_id):
        return DashboardCreateReply(dashboard_id=seen)
    sent = request.dashboard.id
    _check_id(call, sent)
    dashboard_id = sent or ""
    if not sent or not call.profile.client_dashboard_ids:
        dashboard_id = "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))
    if call.store.find("dashboards", dashboard_id):
        raise TakenError(f"dashboard {dashboard_id}")
    _add(call, request, dashboard_id)
    call.store.keep("dashboard_requests", request.request_id, dashboard_id)
    return DashboardCreateReply(dashboard_id=dashboard_id)


def _first_id(call: Call, request_id: str) -> str | None:
    """Return the id of the dashboard that an earlier request with this id created."""
    query = "SELECT dashboard_id FROM dashboard_requests WHERE request_id = ?"
    row = call.store.row(query, request_id)
    if row is None or call.profile.request_ids == "ignored":
        return None
    is_kept = call.profile.request_ids == "deduplicated"
    return str(row[0]) if is_kept or call.store.find("dashboards", row[0]) else None


def _check_id(call: Call, dashboard_id: str | None) -> None:
    if dashboard_id is None or call.profile.dashboard_ids == "any":
        return
    if not re.fullmatch(DASHBOARD_ID, dashboard_id):
        raise InvalidRequestError(f"dashboard.id: String should match pattern '{DASHBOARD_ID}'")


def _add(call: Call, request: DashboardWriteRequest, dashboard_id: str) -> None:
    origin: JsonObject = {
        "authorId": call.author.id,
        "authorName": call.author.name,
        "createdAt": call.now,
        "createdOriginType": call.author.origin,
        "dashboard": {},
    }
    _keep(call, request, dashboard_id, origin, "")


@DASHBOARDS.answers(4, "PUT", _PATH, DashboardWriteRequest, Empty)
def _replace(call: Call, request: DashboardWriteRequest) -> Empty:
    dashboard_id = request.dashboard.id
    if dashboard_id is None:
        raise InvalidRequestError("dashboard.id: required")
    _check_id(call, dashboard_id)
    row = call.store.row("SELECT slug, record FROM dashboards WHERE id = ?", dashboard_id)
    if row is not None:
        _keep(call, request, dashboard_id, json.loads(row[1]), str(row[0]))
    elif call.profile.put_unknown == "created":
        _add(call, request, dashboard_id)
    else:
        raise MissingObjectError("dashboard", dashboard_id)
    return Empty()


def _keep(
    call: Call, request: DashboardWriteRequest, dashboard_id: str, before: JsonObject, key: str
) -> None:
    """Store a dashboard: the whole of it is new, its origin stays.

    `key` is what it has in the column of slugs, "" for a new one.
    """
    slug = _slug(call, request.dashboard, dashboard_id, key)
    dashboard = request.dashboard.model_copy(update={"id": dashboard_id, "slug_name": slug})
    _date_widgets(call, dashboard, before["dashboard"])
    author = call.author
    record = StoredDashboard(
        dashboard=dashboard,
        author_id=before["authorId"],
        author_name=before["authorName"],
        created_at=before["createdAt"],
        created_origin_type=before["createdOriginType"],
        updated_at=call.now,
        updated_origin_type=author.origin,
        updater_author_id=author.id,
        updater_name=author.name,
    )
    was_locked = before.get("isLocked")
    locked = was_locked if request.is_locked is None else request.is_locked
    if locked is not None:
        record.is_locked = locked
    if locked:
        record.locker_author_id = before["lockerAuthorId"] if was_locked else author.id
        record.locker_name = before["lockerName"] if was_locked else author.name
    DASHBOARD_RECORDS.refuse_taken_name(call, dashboard.name, dashboard_id)
    if _has_other(call.store, slug, dashboard_id):
        raise TakenError(f"dashboard with slug {slug}")
    call.store.keep(
        "dashboards", dashboard_id, slug or _NO_SLUG + dashboard_id, as_text(record.remember())
    )


def _date_widgets(call: Call, dashboard: Dashboard, before: JsonObject) -> None:
    """Date the widgets where the profile says so: created once, updated when anything differs.

    Only the service sets these times.
    """
    tells = call.profile.widget_times == "told"
    # Hand-made dashboards use one id for several widgets.
    namesakes: dict[str, list[Widget]] = {}
    if tells and before:
        for widget in read(Dashboard, before).widgets():
            namesakes.setdefault(widget.key, []).append(widget)
    for widget in dashboard.widgets():
        widget.created_at = widget.updated_at = call.now if tells else None
        if same := namesakes.get(widget.key):
            old = same.pop(0)
            widget.created_at = old.created_at or call.now
            widget.updated_at = old.updated_at or call.now
            if canonical(widget) != canonical(old):
                widget.updated_at = call.now


def _slug(call: Call, sent: Dashboard, dashboard_id: str, key: str) -> str | None:
    """Return the slug that was sent, or one that the profile makes: free by a number."""
    slug, profile = sent.slug_name, call.profile
    if slug and profile.duplicate_slug == "suffixed" and _has_other(call.store, slug, dashboard_id):
        return _free_slug(call.store, slug[:_STEM_LENGTH].rstrip("-_"))
    if slug or profile.dashboard_slugs != "made":
        return slug
    if key and not key.startswith(_NO_SLUG):
        return key
    stem = re.sub(r"[^a-z0-9]+", "-", sent.name.lower())[:_STEM_LENGTH].strip("-")
    return _free_slug(call.store, stem or "dashboard")


def _has_other(store: Store, slug: str | None, dashboard_id: str) -> bool:
    taken = "SELECT 1 FROM dashboards WHERE slug = ? AND id <> ?"
    return store.row(taken, slug, dashboard_id) is not None


def _free_slug(store: Store, stem: str) -> str:
    """Return a slug that is free: a number is appended to a taken slug."""
    slugs = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(slug for slug in slugs if store.find("dashboards", slug, "slug") is None)


@DASHBOARDS.answers(5, "GET", _PATH + "/{dashboard_id}", NoBody, StoredDashboard)
def _read_by_id(call: Call, _: NoBody) -> Rendered:
    return as_text(DASHBOARD_RECORDS.read(call.store, call.path["dashboard_id"]))


@DASHBOARDS.answers(6, "GET", "/v1/dashboards/by-slug/{slug}", NoBody, StoredDashboard)
def _read_by_slug(call: Call, _: NoBody) -> Rendered:
    return as_text(DASHBOARD_RECORDS.read(call.store, call.path["slug"], "slug"))
