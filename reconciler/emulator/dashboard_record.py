"""What the service keeps around a dashboard: who made it, who changed it, who locked it."""

from dataclasses import dataclass
from typing import Any

from reconciler.emulator.endpoint import Author
from reconciler.emulator.models.dashboard import Dashboard, StoredDashboard
from reconciler.emulator.models.dashboard_layout import Layout, Widget
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.reading import read
from reconciler.emulator.rendering import canonical


@dataclass(frozen=True)
class Change:
    """A write: what it says of the lock, by whom and when it is, and whether widgets get times."""

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
        # What a client sends as times of a widget is not for it to say.
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
