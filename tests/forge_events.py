"""Events of the forge, made by hand: as small as the code reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEAD, BASE, MERGE = "a" * 40, "b" * 40, "c" * 40
NUMBER = 7
HERE = {"id": 1, "full_name": "team/shop", "default_branch": "main"}
FORK = {"id": 2, "full_name": "mallory/shop"}


def pull_request(repository: Any = None, base: str = BASE, head: str = HEAD) -> dict[str, Any]:
    """Give the payload of a change; `repository` is where it comes from."""
    return {
        "number": NUMBER,
        "repository": HERE,
        "pull_request": {
            "number": NUMBER,
            "head": {"sha": head, "repo": repository or HERE},
            "base": {"sha": base, "ref": "main", "repo": HERE},
        },
    }


def push(commit: str = MERGE) -> dict[str, Any]:
    """Give the payload of a push to the default branch."""
    return {"ref": "refs/heads/main", "after": commit, "repository": HERE}


def merge_group(base: str = BASE) -> dict[str, Any]:
    """Give the payload of a merge queue's trial."""
    group = {
        "head_sha": HEAD,
        "head_ref": f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-{BASE}",
        "base_sha": base,
        "base_ref": "refs/heads/main",
    }
    return {"merge_group": group, "repository": HERE}


def workflow_run(repository: Any = None) -> dict[str, Any]:
    """Give the payload of a run that follows one on a change."""
    return {
        "workflow_run": {"head_sha": HEAD, "head_repository": repository or FORK},
        "repository": HERE,
    }


def variables(folder: Path, name: str, payload: Any, **more: str) -> dict[str, str]:
    """Write a payload where the runner would, and give the variables of the job."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps(payload), encoding="utf-8")
    refs = {
        "pull_request": f"refs/pull/{NUMBER}/merge",
        "merge_group": f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-{BASE}",
    }
    return {
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_REPOSITORY": "team/shop",
        "GITHUB_SERVER_URL": "https://forge.example.com",
        "GITHUB_RUN_ID": "42",
        "GITHUB_SHA": MERGE,
        "GITHUB_REF": refs.get(name, "refs/heads/main"),
        "GITHUB_ACTOR": "alice",
        **more,
    }
