"""Examples as YAML: block mappings and lists, and short values on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from reconciler.document import Json

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*(?: [A-Za-z0-9._/-]+)*")
_TAKEN = re.compile(r"(?i:y|n|yes|no|on|off|true|false|null)")


def yaml_text(document: dict[str, Json]) -> str:
    """Return a document as YAML, ending in a line break."""
    return "".join(f"{line}\n" for line in _lines(document))


def _lines(value: dict[str, Json]) -> Iterator[str]:
    for key, inner in value.items():
        if isinstance(inner, dict) and inner:
            yield f"{_scalar(key)}:"
            yield from (f"  {line}" for line in _lines(inner))
        elif isinstance(inner, list) and any(isinstance(item, dict) and item for item in inner):
            yield f"{_scalar(key)}:"
            for item in inner:
                first, *rest = _lines(item) if isinstance(item, dict) and item else [_flow(item)]
                yield f"  - {first}"
                yield from (f"    {line}" for line in rest)
        else:
            yield f"{_scalar(key)}: {_flow(inner)}"


def _flow(value: Json) -> str:
    if isinstance(value, dict):
        members = ", ".join(f"{_scalar(key)}: {_flow(member)}" for key, member in value.items())
        return f"{{{members}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _scalar(value: Json) -> str:
    if isinstance(value, str) and (not _PLAIN.fullmatch(value) or _TAKEN.fullmatch(value)):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value)
