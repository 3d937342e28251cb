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
from dataclasses import dataclass
from typing import Any

from reconciler.emulator.dashboard_models import (
    DASHBOARD_ID,
    Dashboard,
    DashboardCreateReply,
    DashboardWriteRequest,
    Layout,
    StoredDashboard,
    Widget,
)
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Author, Call, Endpoint, NoBody, Resource, refuse_taken_name
from reconciler.emulator.http_errors import ConflictError, InvalidRequestError, MissingObjectError
from reconciler.emulator.reading import read
from reconciler.emulator.rendering import Rendered, as_text, canonical
from reconciler.emulator.wire_models import Empty, JsonObject


@dataclass(frozen=True)
class Change:
    """A write: its value of the lock, its author and time, and whether widgets get times."""

    is_locked: bool | None
    author: Author
    now: str
    times_of_widgets: bool


def first_record(dashboard: Dashboard, change: Change) -> StoredDashboard:
    """Return the record of a dashboard that was just created."""
    nothing: JsonObject = {
        "authorId": change.author.id,
        "authorName": change.author.name,
        "createdAt": change.now,
        "createdOriginType": change.author.origin,
        "dashboard": {},
    }
    return next_record(nothing, dashboard, change)


def next_record(before: JsonObject, dashboard: Dashboard, change: Change) -> StoredDashboard:
    """Return the record after a replace: the whole dashboard is new, its origin stays."""
    was_locked = before.get("isLocked")
    locked = was_locked if change.is_locked is None else change.is_locked
    lock: dict[str, Any] = {} if locked is None else {"is_locked": locked}
    locker = _locker(before, change.author, keep=bool(was_locked)) if locked else {}
    old = _widgets_in(before["dashboard"]) if change.times_of_widgets else {}
    for widget in dashboard.layout.widgets() if isinstance(dashboard.layout, Layout) else ():
        # Only the service sets the times of a widget.
        widget.created_at = widget.updated_at = None
        if change.times_of_widgets:
            _set_times(widget, old, change.now)
    record = StoredDashboard(
        dashboard=dashboard,
        **lock,
        author_id=before["authorId"],
        author_name=before["authorName"],
        created_at=before["createdAt"],
        created_origin_type=before["createdOriginType"],
        updated_at=change.now,
        updated_origin_type=change.author.origin,
        updater_author_id=change.author.id,
        updater_name=change.author.name,
        **locker,
    )
    return record.remember()


def _locker(before: JsonObject, author: Author, *, keep: bool) -> dict[str, Any]:
    if keep:
        return {"locker_author_id": before["lockerAuthorId"], "locker_name": before["lockerName"]}
    return {"locker_author_id": author.id, "locker_name": author.name}


def _widgets_in(dashboard: JsonObject) -> dict[str, list[JsonObject]]:
    """Return the stored widgets by id; hand-made dashboards use one id for several."""
    widgets: dict[str, list[JsonObject]] = {}
    for section in dashboard.get("layout", {}).get("sections", []):
        for row in section.get("rows", []):
            for widget in row.get("widgets", []):
                own = widget.get("id", {}).get("value", "")
                widgets.setdefault(own, []).append(widget)
    return widgets


def _set_times(widget: Widget, before: dict[str, list[JsonObject]], now: str) -> None:
    """Date a widget: created once, updated when anything in it differs."""
    namesakes = before.get(widget.id.value if widget.id else "")
    old = namesakes.pop(0) if namesakes else {}
    widget.created_at, widget.updated_at = old.get("createdAt", now), old.get("updatedAt", now)
    if old and canonical(widget) != canonical(read(Widget, old)):
        widget.updated_at = now


_TABLES = (
    "dashboards (id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, record TEXT NOT NULL)",
    "dashboard_requests (request_id TEXT PRIMARY KEY, dashboard_id TEXT NOT NULL)",
)
_ID_LETTERS = string.ascii_letters + string.digits + "_-"
_ID_LENGTH = 21  # docs/assumptions.md
_SLUG_LENGTH = 255  # docs/assumptions.md
_NO_SLUG = "/"  # before an id: no slug has it, and no path can contain it
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
    """Return the id of the dashboard that an earlier request with this id created."""
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
    return _found(call.store, "id", call.path["dashboard_id"])


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
    """Return the slug that was sent, with a number appended where the profile says so."""
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
    """Return a slug that is made of a name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[: _SLUG_LENGTH - 10].strip("-") or "dashboard"


def _free_slug(store: Store, stem: str) -> str:
    """Return a slug that is free: a number is appended to a taken slug."""
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
