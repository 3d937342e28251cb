"""Dashboard exports: a bare dashboard, or a stored record. Source: design.md, part 4."""

from __future__ import annotations

from reconciler.document import Json
from reconciler.kinds.dashboard.model import DashboardSpec
from reconciler.kinds.spelling import camel_case_known_fields, without_read_only


def from_export(content: dict[str, Json]) -> dict[str, Json]:
    """Give the `spec` of an export: fields in camelCase, those of the service dropped."""
    bare = not isinstance(content.get("dashboard"), dict)
    record: Json = {"dashboard": content} if bare else content
    spec = without_read_only(camel_case_known_fields(record, DashboardSpec), DashboardSpec)
    assert isinstance(spec, dict)  # noqa: S101 - an object stays one
    return spec
