"""The inputs of rules: what may be shown of a resource and of a change, without secrets.

Pure. Source: docs/rules.md.
"""

from __future__ import annotations

from reconciler.document import ABSENT, Difference, Json
from reconciler.model import Change, Manifest


def resource_seen(manifest: Manifest, environment: str) -> dict[str, Json]:
    """Return the value of `resource`; secrets have their public form, as in a plan."""
    metadata: dict[str, Json] = {
        "name": manifest.ref.name,
        "labels": dict(manifest.labels),
        "protect": manifest.protect,
    }
    if manifest.remote_id is not None:
        metadata["id"] = manifest.remote_id
    return {
        "kind": manifest.ref.kind,
        "metadata": metadata,
        "spec": manifest.spec,
        "environment": environment,
    }


def change_seen(change: Change) -> dict[str, Json]:
    """Return the value of `change`; live documents are hidden where a secret belongs."""
    return {
        "action": change.action.word,
        "fields": [field_seen(difference) for difference in change.differences],
        "before": change.before,
        "after": change.body,
        "destroys": [*change.destroys],
    }


def field_seen(difference: Difference) -> dict[str, Json]:
    """Return one field that differs; a side that is absent is left out."""
    sides = {"before": difference.before, "after": difference.after}
    path = ".".join(map(str, difference.path))
    return {"path": path, **{name: side for name, side in sides.items() if side is not ABSENT}}
