"""A dashboard as a grid: its rows and widgets in their sizes, without their data."""

from reconciler.emulator.markup import Markup, tag
from reconciler.emulator.models.wire import JsonObject

_COLUMNS = 12
_LARGEST = 24


def dashboard_grid(record: JsonObject) -> Markup:
    """Draw one dashboard."""
    dashboard = record["dashboard"]
    sections = dashboard.get("layout", {}).get("sections", [])
    rows = [_row(row) for section in sections for row in section.get("rows", [])]
    return tag(
        "div",
        tag("h3", dashboard["name"], " ", _slug(dashboard), " ", _lock(record)),
        tag("div", rows, class_="grid") if rows else tag("p", "No widgets.", class_="soft"),
    )


def _slug(dashboard: JsonObject) -> Markup:
    slug = dashboard.get("slugName")
    return tag("code", "/" + slug, class_="soft") if slug else Markup()


def _lock(record: JsonObject) -> Markup:
    if not record.get("isLocked"):
        return Markup()
    return tag("span", "locked", class_="mark warn")


def _row(row: JsonObject) -> Markup:
    widgets = row.get("widgets", [])
    height = _size(row.get("appearance", {}).get("height") or 6)
    share = _COLUMNS // (len(widgets) or 1)
    return tag("div", [_tile(widget, height, share) for widget in widgets], class_="row")


def _tile(widget: JsonObject, height: int, share: int) -> Markup:
    width = _size(widget.get("appearance", {}).get("width") or share)
    kind = next(iter(widget.get("definition") or {"empty": None}))
    title = widget.get("title") or kind
    return tag(
        "div", tag("b", title), tag("span", kind, class_="soft"), class_=f"tile w{width} h{height}"
    )


def _size(number: int) -> int:
    return max(1, min(_LARGEST, number))
