"""Findings about documents that are no manifests: bare records, and documents of other tools."""

from __future__ import annotations

import re

from reconciler.document import Json
from reconciler.kinds import BY_NAME
from reconciler.kinds.judge_spec import kind_like
from reconciler.model import API_VERSION
from reconciler.runtime.advice import from_export, is_added
from reconciler.syntax.diagnostic import Advice, Finding, Severity
from reconciler.syntax.files import File
from reconciler.syntax.suggestions import shortened
from reconciler.workspace.envelope import better_name, plain
from reconciler.workspace.foreign_documents import stranger_in

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
