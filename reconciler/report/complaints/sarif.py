"""Complaints as SARIF 2.1.0, which code scanning keeps from run to run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from urllib.parse import quote

from reconciler import __version__
from reconciler.document import Json
from reconciler.explaining.explanation import Explanation
from reconciler.explaining.families import explanations
from reconciler.report.complaints.document import (
    field_path,
    file_in_repository,
    message,
    worst_first,
)
from reconciler.report.explained_code import code_markdown, code_text
from reconciler.report.markdown import SHOWN_SARIF_RESULTS
from reconciler.report.safe import json_text, safe
from reconciler.source.diagnostic import CODES, Complaint

FINGERPRINT = "reconcilerComplaint/v1"
# The one name that the forge's code scanning reads.
FORGE_FINGERPRINT = "primaryLocationLineHash"
_DIGITS = 32
_BEGINS = b'{\n  "version": "2.1.0",\n  "runs": [\n'


def complaints_sarif(
    complaints: Sequence[Complaint], folder: str = "", environment: str = ""
) -> str:
    """Give a SARIF log of one run, ending in a line break: at most 5,000 results, worst first.

    `folder` is where the project stands in its repository ("" for its root).
    Runs of different environments are told apart by their `environment`.
    """
    ordered = worst_first(complaints)
    left_out = len(ordered) - SHOWN_SARIF_RESULTS
    run: dict[str, Json] = {
        "tool": {"driver": _driver()},
        "automationDetails": {"id": "/".join(("reconciler", *filter(None, (environment,)), ""))},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(left_out)],
        "results": list(_results(ordered[:SHOWN_SARIF_RESULTS], folder)),
    }
    log: dict[str, Json] = {"version": "2.1.0", "runs": [run]}
    return json_text(log)


def begins_sarif(head: bytes) -> bool:
    """Tell by its first bytes what `complaints_sarif` gave."""
    return head.startswith(_BEGINS)


def _driver() -> dict[str, Json]:
    return {
        "name": "reconciler",
        "semanticVersion": __version__,
        "rules": [_rule(explanations()[code]) for code in CODES],
    }


def _rule(one: Explanation) -> dict[str, Json]:
    return {
        "id": one.code,
        "shortDescription": {"text": one.title},
        "fullDescription": {"text": one.means},
        "help": {"text": code_text(one), "markdown": code_markdown(one)},
        "properties": {"tags": ["manifests"]},
    }


def _invocation(left_out: int) -> dict[str, Json]:
    """Say that the run went well, as its complaints are its results, and what is not told."""
    invocation: dict[str, Json] = {"executionSuccessful": True}
    if left_out > 0:
        text = f"{left_out:,} more complaints are left out: `reconciler validate -v` shows all"
        notification: dict[str, Json] = {"level": "warning", "message": {"text": text}}
        invocation["toolExecutionNotifications"] = [notification]
    return invocation


def _results(complaints: Sequence[Complaint], folder: str) -> Iterator[dict[str, Json]]:
    indices = {code: index for index, code in enumerate(CODES)}
    met: Counter[str] = Counter()
    for complaint in complaints:
        fingerprint = _fingerprint(complaint)
        met[fingerprint] += 1
        numbered = f"{fingerprint}:{met[fingerprint]}"
        yield {
            "ruleId": complaint.code,
            "ruleIndex": indices[complaint.code],
            "level": complaint.severity.value,
            "message": {"text": safe(message(complaint))},
            "locations": [_location(complaint, folder)],
            "partialFingerprints": {FINGERPRINT: numbered, FORGE_FINGERPRINT: numbered},
        }


def _fingerprint(complaint: Complaint) -> str:
    """Give what stays the same when lines move: rule, resource and field.

    Where the text itself is wrong there is no field: then the file and the
    words of the line stand for it.
    """
    parts: list[Json] = [complaint.code, complaint.ref, list(complaint.path)]
    if not complaint.ref:
        words = complaint.excerpt.lines[-1][1].strip() if complaint.excerpt else ""
        parts += [complaint.file, words]
    return sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]


def _location(complaint: Complaint, folder: str) -> dict[str, Json]:
    file = file_in_repository(complaint.file, folder)
    # A place in the file as a whole is its first line: a result without one is not shown.
    region: dict[str, Json] = {"startLine": max(1, complaint.line)}
    if complaint.line:
        region["startColumn"] = complaint.column
        if complaint.excerpt is not None:
            region["endColumn"] = complaint.column + complaint.excerpt.width
    location: dict[str, Json] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file.encode("utf-8", "surrogatepass"))},
            "region": region,
        }
    }
    if complaint.ref:
        place = [complaint.ref, *map(str, field_path(complaint))]
        location["logicalLocations"] = [{"fullyQualifiedName": safe(" ".join(place))}]
    return location
