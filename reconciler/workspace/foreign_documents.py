"""Documents of other tools that `import` reads, told apart from manifests by their shape. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reconciler.document import Json

RESOURCE: Final = "monitoring.coreos.com/"


def is_openslo(document: Json) -> bool:
    """Tell a document of OpenSLO, of any version and kind."""
    version = document.get("apiVersion") if isinstance(document, dict) else None
    return isinstance(version, str) and version.startswith("openslo")


def is_rule_file(document: Json) -> bool:
    """Tell a rule file of Prometheus, or a PrometheusRule of Kubernetes."""
    return any(
        isinstance(rule, dict)
        and isinstance(rule.get("expr"), str)
        and ("alert" in rule or "record" in rule)
        for group in groups_in(document)
        for rule in _list_at(group, "rules")
    )


def groups_in(document: Json) -> list[dict[str, Json]]:
    """Give the groups of a rule file, which Kubernetes has below `spec`."""
    if not isinstance(document, dict):
        return []
    version, spec = document.get("apiVersion"), document.get("spec")
    is_resource = isinstance(version, str) and version.startswith(RESOURCE)
    holder = spec if is_resource else document
    found = _list_at(holder, "groups") if isinstance(holder, dict) else []
    return [group for group in found if isinstance(group, dict)]


def is_grafana(document: Json) -> bool:
    """Tell a dashboard, as it was exported or as the API of Grafana answers."""
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
    """Say what a document of another tool is, "" for one of none that is known."""
    return next((said for said, is_one in STRANGERS if is_one(document)), "")


def _list_at(holder: dict[str, Json], key: str) -> list[Json]:
    found = holder.get(key)
    return found if isinstance(found, list) else []
