"""What is said of a file that holds a record of the service, and no manifest."""

from __future__ import annotations

import json
import re

from reconciler.document import Json
from reconciler.finding import Finding, Severity
from reconciler.kinds.recognising import kind_like
from reconciler.manifests.envelope import API_VERSION, better_name
from reconciler.manifests.files import File


def record_finding(file: File, value: Json, code: str, severity: Severity) -> Finding | None:
    """Say what a bare record is, with a manifest for it; None where it is nothing that we know."""
    kind = kind_like(value)
    if kind is None:
        return None
    name = better_name(file.path.stem) or "NAME"
    said = f"this looks like an exported {kind.name}, and is no manifest"
    head = f"apiVersion: {API_VERSION}, kind: {kind.name}, metadata: {{name: {_plain(name)}}}"
    if kind.from_export is not None and file.is_json:
        manifest = f"{{{head}, spec: {{file: {_plain(file.path.name)}}}}}"
        return Finding(code, (), said, severity, f"write a manifest beside it: {manifest}")
    way_out = f"write a manifest of it: {{{head}, spec: …}} with all of this as its spec"
    return Finding(code, (), said, severity, f"{way_out}, then `reconciler validate --fix`")


def _plain(text: str) -> str:
    """Give a text as YAML takes it in one line, quoted where it has to be."""
    is_plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9._/-]*", text) is not None
    return text if is_plain else json.dumps(text, ensure_ascii=False)
