"""Dashboards: endpoints 3 to 6.

Where the API document is silent, a write behaves so:

- A POST with a `requestId` seen before gives the same `dashboardId` and does
  nothing, whatever else it holds, and even when that dashboard is gone by now.
- A slug nobody sent is none, unless the profile makes one: of the name at POST, and at PUT
  the one that it has.
- A PUT without `isLocked` leaves the lock as it is. A lock stops nobody: the
  document does not say whom it would.
"""

import json
import re
import secrets
import string

from reconciler.emulator.dashboard_record import Change, first_record, next_record
from reconciler.emulator.endpoint import Call, Endpoint, NoBody, Resource
from reconciler.emulator.errors import ConflictError, InvalidRequestError, MissingObjectError
from reconciler.emulator.models.dashboard import (
    DASHBOARD_ID,
    Dashboard,
    DashboardCreateReply,
    DashboardWriteRequest,
    StoredDashboard,
)
from reconciler.emulator.models.wire import Empty
from reconciler.emulator.names import refuse_taken_name
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.store import Store

_TABLES = (
    "dashboards (id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, record TEXT NOT NULL)",
    "dashboard_requests (request_id TEXT PRIMARY KEY, dashboard_id TEXT NOT NULL)",
)
_ID_LETTERS = string.ascii_letters + string.digits + "_-"
_ID_LENGTH = 21  # docs/assumptions.md
_SLUG_LENGTH = 255  # docs/assumptions.md
_NO_SLUG = "/"  # before an id: what no slug can be and no path can ask for
_NAMED = "SELECT 1 FROM dashboards WHERE json_extract(record, '$.dashboard.name') = ? AND id <> ?"


def _create(call: Call, request: DashboardWriteRequest) -> DashboardCreateReply:
    if seen := _first_id(call, request.request_id):
        return DashboardCreateReply(dashboard_id=seen)
    sent = request.dashboard
    _check_id(call, sent.id)
    dashboard_id = (sent.id if call.profile.client_dashboard_ids else None) or _new_id()
    if call.store.row("SELECT 1 FROM dashboards WHERE id = ?", dashboard_id):
        raise ConflictError(f"Already Exists: dashboard {dashboard_id}")
    _add(call, request, dashboard_id)
    call.store.write(
        "INSERT OR REPLACE INTO dashboard_requests VALUES (?, ?)",
        request.request_id,
        dashboard_id,
    )
    return DashboardCreateReply(dashboard_id=dashboard_id)


def _first_id(call: Call, request_id: str) -> str | None:
    """Give the dashboard that a request with this id made before."""
    if call.profile.request_ids == "ignored":
        return None
    row = call.store.row(
        "SELECT dashboard_id FROM dashboard_requests WHERE request_id = ?", request_id
    )
    if row is None or call.profile.request_ids == "deduplicated":
        return str(row[0]) if row else None
    is_there = call.store.row("SELECT 1 FROM dashboards WHERE id = ?", row[0])
    return str(row[0]) if is_there else None


def _check_id(call: Call, dashboard_id: str | None) -> None:
    if dashboard_id is None or call.profile.dashboard_ids == "any":
        return
    if not re.fullmatch(DASHBOARD_ID, dashboard_id):
        raise InvalidRequestError(f"dashboard.id: String should match pattern '{DASHBOARD_ID}'")


def _add(call: Call, request: DashboardWriteRequest, dashboard_id: str) -> None:
    sent = request.dashboard
    slug = _slug(call, sent.slug_name, dashboard_id)
    if not slug and call.profile.dashboard_slugs == "made":
        slug = _free_slug(call.store, _stem_of(sent.name))
    record = first_record(_own(sent, dashboard_id, slug), _change(call, request))
    _keep(call, dashboard_id, slug, record)


def _replace(call: Call, request: DashboardWriteRequest) -> Empty:
    sent = request.dashboard
    if sent.id is None:
        raise InvalidRequestError("dashboard.id: required")
    _check_id(call, sent.id)
    row = call.store.row("SELECT slug, record FROM dashboards WHERE id = ?", sent.id)
    if row is None and call.profile.put_unknown == "created":
        _add(call, request, sent.id)
        return Empty()
    if row is None:
        raise MissingObjectError("dashboard", sent.id)
    slug = _slug(call, sent.slug_name, sent.id)
    if not slug and call.profile.dashboard_slugs == "made":
        slug = str(row[0]) if row[0][0] != _NO_SLUG else _free_slug(call.store, _stem_of(sent.name))
    before = json.loads(row[1])
    record = next_record(before, _own(sent, sent.id, slug), _change(call, request))
    _keep(call, sent.id, slug, record)
    return Empty()


def _own(sent: Dashboard, dashboard_id: str, slug: str | None) -> Dashboard:
    return sent.model_copy(update={"id": dashboard_id, "slug_name": slug})


def _change(call: Call, request: DashboardWriteRequest) -> Change:
    times_of_widgets = call.profile.widget_times == "told"
    return Change(request.is_locked, call.author, call.now, times_of_widgets)


def _read_by_id(call: Call, _: NoBody) -> Rendered:
    dashboard_id = call.path["dashboard_id"]
    return _found(call.store, "id", dashboard_id)


def _read_by_slug(call: Call, _: NoBody) -> Rendered:
    return _found(call.store, "slug", call.path["slug"])


def _found(store: Store, column: str, value: str) -> Rendered:
    queries = {
        "id": "SELECT record FROM dashboards WHERE id = ?",
        "slug": "SELECT record FROM dashboards WHERE slug = ?",
    }
    row = store.row(queries[column], value)
    if row is None:
        raise MissingObjectError("dashboard", value)
    return Rendered(row[0])


def _slug(call: Call, sent: str | None, dashboard_id: str) -> str | None:
    """Give the slug that was sent, with a number behind it where the profile says so."""
    taken = "SELECT 1 FROM dashboards WHERE slug = ? AND id <> ?"
    if call.profile.duplicate_slug == "suffixed" and call.store.row(taken, sent, dashboard_id):
        return _free_slug(call.store, str(sent)[: _SLUG_LENGTH - 10].rstrip("-_"))
    return sent


def _keep(call: Call, dashboard_id: str, slug: str | None, record: StoredDashboard) -> None:
    refuse_taken_name(call, "dashboard", record.dashboard.name, _NAMED, dashboard_id)
    store, taken = call.store, "SELECT 1 FROM dashboards WHERE slug = ? AND id <> ?"
    if store.row(taken, slug, dashboard_id):
        raise ConflictError(f"Already Exists: dashboard with slug {slug}")
    key = slug or _NO_SLUG + dashboard_id
    store.write(
        "INSERT OR REPLACE INTO dashboards VALUES (?, ?, ?)", dashboard_id, key, as_text(record)
    )


def _new_id() -> str:
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))


def _stem_of(name: str) -> str:
    """Derive a slug from a name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[: _SLUG_LENGTH - 10].strip("-") or "dashboard"


def _free_slug(store: Store, stem: str) -> str:
    """Give a slug nobody has: a taken one gets a number behind it."""
    slug, number = stem, 1
    while store.row("SELECT 1 FROM dashboards WHERE slug = ?", slug):
        number += 1
        slug = f"{stem}-{number}"
    return slug


DASHBOARDS = Resource(
    tables=_TABLES,
    endpoints=(
        Endpoint(
            3,
            "POST",
            "/v1/dashboards/dashboards",
            DashboardWriteRequest,
            DashboardCreateReply,
            _create,
            creates=True,
        ),
        Endpoint(4, "PUT", "/v1/dashboards/dashboards", DashboardWriteRequest, Empty, _replace),
        Endpoint(
            5,
            "GET",
            "/v1/dashboards/dashboards/{dashboard_id}",
            NoBody,
            StoredDashboard,
            _read_by_id,
        ),
        Endpoint(6, "GET", "/v1/dashboards/by-slug/{slug}", NoBody, StoredDashboard, _read_by_slug),
    ),
)
