"""The URL slug by which a dashboard without an id is found."""

from __future__ import annotations

from reconciler.document import Json, value_at
from reconciler.resource import Manifest


def slug_of(manifest: Manifest) -> str:
    """Give the declared slug, else the one that the name gives (design.md, part 1)."""
    declared = value_at(manifest.spec, ("dashboard", "slugName"))
    if isinstance(declared, str) and declared:
        return declared
    return manifest.ref.name.replace(".", "-").rstrip("-_")


def own_id(spec: dict[str, Json]) -> str:
    """Give the id inside the dashboard itself, as exports carry it; "" where none is."""
    value = value_at(spec, ("dashboard", "id"))
    return value if isinstance(value, str) else ""
