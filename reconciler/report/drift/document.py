"""What drifted, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from reconciler.document import Json
from reconciler.report.plan.document import difference_document
from reconciler.report.safe import safe_json
from reconciler.resource import Drift


def drift_json(drifts: Sequence[Drift], environment: str, target: str) -> str:
    """Give `{"drifted", "summary", "resources": [...]}`, ending in a line break."""
    summary: dict[str, Json] = dict.fromkeys(("same", "drifted", "gone", "unread", "unseen"), 0)
    document: dict[str, Json] = {
        "formatVersion": 1,
        "environment": environment,
        "target": target,
        "drifted": any(drift.drifted for drift in drifts),
        "summary": summary | Counter(drift.state for drift in drifts),
        "resources": [_resource(drift) for drift in drifts],
    }
    return safe_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _resource(drift: Drift) -> dict[str, Json]:
    return {
        "ref": str(drift.ref),
        "state": drift.state,
        "source": {"file": drift.source.file, "line": drift.source.line},
        "fields": [difference_document(one) for one in drift.differences],
        "note": drift.note,
    }
