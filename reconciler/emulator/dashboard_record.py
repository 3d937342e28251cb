"""What the service keeps around a dashboard: who made it, who changed it, who locked it."""

from typing import Any

from reconciler.emulator.endpoint import Author
from reconciler.emulator.models.dashboard import Dashboard, StoredDashboard
from reconciler.emulator.models.dashboard_layout import Layout
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.rendering import as_text


def first_record(
    dashboard: Dashboard, *, is_locked: bool, author: Author, now: str
) -> StoredDashboard:
    """Give the record of a dashboard that was just created."""
    nothing: JsonObject = {
        "authorId": author.id,
        "authorName": author.name,
        "createdAt": now,
        "createdOriginType": author.origin,
        "dashboard": {},
    }
    return next_record(nothing, dashboard, is_locked=is_locked, author=author, now=now)


def next_record(
    before: JsonObject, dashboard: Dashboard, *, is_locked: bool | None, author: Author, now: str
) -> StoredDashboard:
    """Give the record after a replace: the whole dashboard is new, its origin stays."""
    was_locked = before.get("isLocked", False)
    locked = was_locked if is_locked is None else is_locked
    locker = _locker(before, author, keep=was_locked) if locked else {}
    _set_widget_times(dashboard.layout, _widgets_in(before["dashboard"]), now)
    return StoredDashboard(
        dashboard=dashboard,
        is_locked=locked,
        author_id=before["authorId"],
        author_name=before["authorName"],
        created_at=before["createdAt"],
        created_origin_type=before["createdOriginType"],
        updated_at=now,
        updated_origin_type=author.origin,
        updater_author_id=author.id,
        updater_name=author.name,
        **locker,
    )


def _locker(before: JsonObject, author: Author, *, keep: bool) -> dict[str, Any]:
    if keep:
        return {"locker_author_id": before["lockerAuthorId"], "locker_name": before["lockerName"]}
    return {"locker_author_id": author.id, "locker_name": author.name}


def _widgets_in(dashboard: JsonObject) -> dict[str, list[JsonObject]]:
    """Give the stored widgets by id; hand-made dashboards use one id for several."""
    widgets: dict[str, list[JsonObject]] = {}
    for section in dashboard.get("layout", {}).get("sections", []):
        for row in section["rows"]:
            for widget in row["widgets"]:
                widgets.setdefault(widget["id"]["value"], []).append(widget)
    return widgets


def _set_widget_times(layout: Layout | None, before: dict[str, list[JsonObject]], now: str) -> None:
    """Date each widget: created once, updated when anything in it differs."""
    for widget in layout.widgets() if layout else ():
        namesakes = before.get(widget.id.value)
        if not namesakes:
            widget.created_at = widget.updated_at = now
            continue
        old = namesakes.pop(0)
        widget.created_at, widget.updated_at = old["createdAt"], old["updatedAt"]
        if as_text(widget) != as_text(old):
            widget.updated_at = now
