"""Complaints as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from reconciler.complaint import Complaint
from reconciler.document import Json
from reconciler.report.safe import safe_json


def complaints_json(complaints: Sequence[Complaint], resources: int, files: int) -> str:
    """Give `{"valid", "resources", "files", "complaints": [...]}`, ending in a line break."""
    document: dict[str, Json] = {
        "valid": not any(complaint.is_error for complaint in complaints),
        "resources": resources,
        "files": files,
        "complaints": [_complaint(complaint) for complaint in complaints],
    }
    return safe_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _complaint(complaint: Complaint) -> dict[str, Json]:
    return {
        "code": complaint.code,
        "severity": complaint.severity.value,
        "file": complaint.file,
        "line": complaint.line,
        "column": complaint.column,
        "message": complaint.message,
        "suggestion": complaint.suggestion,
    }
