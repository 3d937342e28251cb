"""Recognition of documents of other tools that `import` reads, by their shape. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reconciler.document import Json

RESOURCE: Final = "monitoring.coreos.com/"


def is_openslo(document: Json) -> bool:
    """Return whether a document is of OpenSLO, of any version and kind."""
    version = document.get("apiVersion") if isinstance(document, dict) else None
    return isinstance(version, str) and version.startswith("openslo")


def is_rule_file(document: Json) -> bool:
    """Return whether a document is a rule file of Prometheus or a Kubernetes PrometheusRule."""
    return any(
        isinstance(rule, dict)
        and isinstance(rule.get("expr"), str)
        and ("alert" in rule or "record" in rule)
        for group in groups_in(document)
        for rule in _list_at(group, "rules")
    )


def groups_in(document: Json) -> list[dict[str, Json]]:
    """Return the groups of a rule file; Kubernetes has them below `spec`."""
    if not isinstance(document, dict):
        return []
    version, spec = document.get("apiVersion"), document.get("spec")
    is_resource = isinstance(version, str) and version.startswith(RESOURCE)
    holder = spec if is_resource else document
    found = _list_at(holder, "groups") if isinstance(holder, dict) else []
    return [group for group in found if isinstance(group, dict)]


def is_grafana(document: Json) -> bool:
    """Return whether a document is a Grafana dashboard, as exported or as its API returns it."""
    inner = document.get("dashboard") if isinstance(document, dict) else None
    for value in (document, inner):
        if isinstance(value, dict) and isinstance(value.get("schemaVersion"), int):
            return isinstance(value.get("panels"), list) or isinstance(value.get("rows"), list)
    return False


STRANGERS: Final[tuple[tuple[str, Callable[[Json], bool]], ...]] = (
    ("a document of OpenSLO", is_openslo),
    ("a rule file of Prometheus", is_rule_file),
    ("a dashboard of Grafana", is_grafana),
)


def stranger_in(document: Json) -> str:
    """Return the description of a document of another tool, or "" if it is of no known tool."""
    return next((description for description, is_match in STRANGERS if is_match(document)), "")


def _list_at(holder: dict[str, Json], key: str) -> list[Json]:
    found = holder.get(key)
    return found if isinstance(found, list) else []
