"""Findings about documents that are no manifests: bare records, and documents of other tools."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from reconciler.document import Json
from reconciler.kinds import BY_NAME
from reconciler.kinds.judge_spec import kind_like
from reconciler.model import API_VERSION
from reconciler.runtime.advice import from_export, is_added
from reconciler.syntax.diagnostic import Advice, Finding, Severity
from reconciler.syntax.files import File
from reconciler.syntax.suggestions import shortened
from reconciler.workspace.envelope import better_name, plain

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


_VERSION_OF_KUBERNETES = re.compile(r"(?:[a-z0-9.-]+/)?v[0-9]+(?:(?:alpha|beta)[0-9]+)?")
ELSEWHERE = Advice("leave it out with `exclude:` in reconciler.yaml, or move it away")


def is_of_kubernetes(document: dict[str, Json]) -> bool:
    """Return whether a document is a Kubernetes resource of a kind that is unlike ours."""
    version, kind = document.get("apiVersion"), document.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str) or version == API_VERSION:
        return False
    is_version = _VERSION_OF_KUBERNETES.fullmatch(version) is not None
    return is_version and kind not in BY_NAME and not shortened(kind, BY_NAME)


def record_finding(file: File, value: Json, code: str, severity: Severity) -> Finding | None:
    """Return what a bare record is and how to make a manifest of it; None if it is not known."""
    can_import = is_added("import")
    if stranger := stranger_in(value):
        message = f"this is {stranger}, and no manifest"
        remedy = f"make manifests of it with `{from_export(file.name)}`"
        if can_import:
            message += f": import it, and {ELSEWHERE}"
        return Finding(code, (), message, severity, Advice(remedy) if can_import else ELSEWHERE)
    if isinstance(value, dict) and is_of_kubernetes(value):
        message = f"this is a `{value['kind']}` of Kubernetes, and no manifest of this tool"
        return Finding(code, (), message, severity, ELSEWHERE)
    kind = kind_like(value)
    if kind is None:
        return None
    message = f"this looks like an exported {kind.name}, and is no manifest"
    if kind.from_export is not None and file.is_json:
        name = better_name(file.path.stem) or "NAME"
        head = f"apiVersion: {API_VERSION}, kind: {kind.name}, metadata: {{name: {plain(name)}}}"
        manifest = f"{{{head}, spec: {{file: {plain(file.path.name)}}}}}"
        return Finding(
            code, (), message, severity, Advice(f"write a manifest next to it: {manifest}")
        )
    remedy = f"make a manifest of it with `{from_export(file.name)}`, then remove it here"
    return Finding(code, (), message, severity, Advice(remedy) if can_import else ELSEWHERE)
