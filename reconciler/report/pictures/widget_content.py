"""What a widget shows: its kind of chart and its query. Pure."""

from __future__ import annotations

from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.report.safe import safe


def shown_by(widget: dict[str, Json]) -> tuple[str, Json | Missing]:
    """Give the kind of chart in words, and its inside."""
    definition = value_at(widget, ("definition",))
    if not isinstance(definition, dict):
        return "", ABSENT
    for chart, inside in definition.items():
        if inside is not None:
            words = "".join(f" {one.lower()}" if one.isupper() else one for one in chart)
            return safe(words), inside
    return "", ABSENT


_HOLDING = ("metrics", "logs", "spans")
_SAYING = ("value", "text", "query", "markdownText")


def query_of(inside: Json | Missing) -> str:
    """Give the first query of what a widget shows, or its text; "" without any."""
    if isinstance(inside, list):
        return next(filter(None, map(query_of, inside)), "")
    if not isinstance(inside, dict):
        return ""
    for key in _SAYING:
        if isinstance(value := inside.get(key), str) and value:
            return value
    holding = (inside[key] for key in inside if key in _HOLDING or "query" in key.lower())
    return next(filter(None, map(query_of, holding)), "")
