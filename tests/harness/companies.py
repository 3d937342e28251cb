"""The manifests of what the emulator's seeded company declared, one file each."""

from __future__ import annotations

import json
from typing import Any

from harness.workspaces import Workspace
from reconciler.emulator.resources import REQUESTS


def declare(work: Workspace) -> None:
    """Write the alerts, SLOs and policies of the company into `manifests/`."""
    for number, body in REQUESTS:
        if number == 1:
            for element in body["alertDefsToReplace"]:
                _write(work, "AlertDefinition", element["alertDefProperties"], element["id"])
        elif number == 11:
            spec = {key: value for key, value in body.items() if key != "id"}
            _write(work, "SLO", spec, body["id"])
        elif number == 17:
            _write(work, "LogPolicySet", body)


def _write(work: Workspace, kind: str, spec: dict[str, Any], remote_id: str = "") -> None:
    name = called(spec.get("name", "all"))
    metadata = {"name": name, **({"id": remote_id} if remote_id else {})}
    document = {
        "apiVersion": "reconciler/v1",
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }
    work.write(f"manifests/{name}.json", json.dumps(document, indent=2))


def called(title: str) -> str:
    """Give the name of the manifest of what has a title."""
    return "-".join("".join(one if one.isalnum() else " " for one in title.lower()).split())
