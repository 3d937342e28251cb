"""Repositories in every state that a job may find, and what the rule of docs/ci.md says of each.

The oracle here is written by itself: it knows how a repository was made, and asks git nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.doors import KEY, Ran, typed_at
from harness.forge import HERE, NUMBER, pull_request
from harness.jobs import without_a_job
from harness.repositories import begin, git

PROJECT = "environments:\n  production: {{baseUrl: '{url}'}}\n"
FILES = "  files: {{emulator: {{data: '{place}/x.db'}}, journal: '{place}/x.jsonl'}}\n"
DASHBOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {{name: checkout}}
spec: {{dashboard: {{name: Checkout, description: '{said}', layout: {{sections: []}}}}}}
"""

CHECKOUTS = ("own", "contained", "other", "dirty")
PROJECTS = ("same", "edited", "link", "missing")
MAIN, TRY, TAG = "refs/heads/main", "refs/heads/try", "refs/tags/v1"
PULL = f"refs/pull/{NUMBER}/merge"
QUEUE = f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-x"

ON_MAIN = (
    *("branch_protection_rule", "check_run", "check_suite", "delete", "discussion"),
    *("discussion_comment", "fork", "gollum", "issue_comment", "issues", "label", "milestone"),
    *("page_build", "public", "pull_request_target", "registry_package", "repository_dispatch"),
    *("schedule", "status", "watch", "workflow_run"),
)
ANYWHERE = ("create", "deployment", "deployment_status", "push", "workflow_call")
EVENTS: tuple[tuple[str, str], ...] = (
    *((name, MAIN) for name in ON_MAIN),
    *((name, ref) for name in (*ANYWHERE, "workflow_dispatch") for ref in (MAIN, TRY)),
    *((name, PULL) for name in ("pull_request", "pull_request_review")),
    ("pull_request_review_comment", PULL),
    ("merge_group", QUEUE),
    ("release", TAG),
)
"""Every event of the forge, and each kind of ref that it may come with."""

SHORT = (
    *(("pull_request", PULL), ("pull_request_target", MAIN), ("merge_group", QUEUE)),
    *(("push", MAIN), ("push", TRY), ("schedule", MAIN), ("workflow_run", MAIN)),
    *(("workflow_dispatch", MAIN), ("workflow_dispatch", TRY), ("release", TAG)),
    *(("issue_comment", MAIN), ("repository_dispatch", MAIN), ("check_suite", MAIN)),
)
"""One of each sort, and every one that was once believed too much."""


@dataclass(frozen=True)
class Repository:
    """A checkout of one kind with a project file of one kind.

    `commit` is what the forge says of the event where it is not on main, and
    `main` where its main branch is. `names` is the origin that main's project
    file names.
    """

    checkout: str
    project: str
    root: Path
    commit: str
    main: str
    names: str

    @property
    def event_commit(self) -> str:
        """What the forge calls the commit of the event."""
        return self.commit if self.checkout in ("own", "dirty") else self.main

    def payload(self, name: str) -> dict[str, Any]:
        """Give the payload of an event."""
        if name.startswith("pull_request"):
            return pull_request(base=self.main)
        group = {"head_sha": self.commit, "base_sha": self.main, "base_ref": MAIN}
        return {"repository": HERE, "merge_group": {**group, "head_ref": QUEUE}}

    def variables(self, folder: Path, name: str, ref: str) -> dict[str, str]:
        """Give the variables of a job on an event."""
        file = folder / f"{name}.json"
        file.write_text(json.dumps(self.payload(name)), encoding="utf-8")
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_REPOSITORY": "team/shop",
            "GITHUB_SHA": self.event_commit,
            "GITHUB_REF": ref,
            "GITHUB_ACTOR": "mallory",
            "INPUT_ENVIRONMENT": "production",
        }


@dataclass(frozen=True)
class Places:
    """Where project files lead: two services, and a folder that is none of the project's.

    The base branch names the good service and a place of its own for files.
    """

    good: str
    evil: str
    outside: Path

    @property
    def reviewed(self) -> str:
        """The project file of the base branch."""
        return PROJECT.format(url=self.good) + FILES.format(place=".reconciler")

    @property
    def edited(self) -> str:
        """The project file of a change."""
        return PROJECT.format(url=self.evil) + FILES.format(place=self.outside)

    @property
    def secret(self) -> Path:
        """A file that is none of the project's."""
        return self.outside / "secret"


def new_repository(folder: Path, checkout: str, project: str, places: Places) -> Repository:
    """Make a base, change it, and leave what is checked out as it is asked for."""
    root = folder / "work"
    _base(root, project, places)
    base = git(root, "rev-parse", "HEAD")
    _change(root, project, places)
    if checkout == "dirty":
        git(root, "update-ref", "refs/remotes/origin/main", base)
        return Repository(checkout, project, root, base, base, places.good)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Change")
    commit = git(root, "rev-parse", "HEAD")
    main = {"own": base, "other": base}.get(checkout, "")
    if not main:
        git(root, "commit", "--quiet", "--allow-empty", "--message", "Later")
        main = git(root, "rev-parse", "HEAD")
        git(root, "checkout", "--quiet", "--detach", commit)
    git(root, "update-ref", "refs/remotes/origin/main", main)
    is_edited = project in ("edited", "missing")
    names = places.evil if checkout == "contained" and is_edited else places.good
    return Repository(checkout, project, root, commit, main, names)


def _base(root: Path, project: str, places: Places) -> None:
    (root / "other").mkdir(parents=True)
    (root / "all.yaml").write_text(DASHBOARD.format(said="before"), encoding="utf-8")
    (root / "other" / "reconciler.yaml").write_text(places.edited, encoding="utf-8")
    if project != "missing":
        (root / "reconciler.yaml").write_text(places.reviewed, encoding="utf-8")
    (root / ".gitignore").write_text(".reconciler\n", encoding="utf-8")
    begin(root)


def _change(root: Path, project: str, places: Places) -> None:
    (root / "all.yaml").write_text(DASHBOARD.format(said="after"), encoding="utf-8")
    file = root / "reconciler.yaml"
    if project == "link":
        file.unlink()
        file.symlink_to("other/reconciler.yaml")
    elif project != "same":
        file.write_text(places.edited, encoding="utf-8")


def wanted(repository: Repository, name: str, ref: str, places: Places) -> str:
    """Say where the key may arrive, "" for nowhere: the rule, from how the repository was made."""
    good, evil = places.good, places.evil
    checkout, project = repository.checkout, repository.project
    edited = project in ("edited", "missing")
    if project == "link":
        return ""
    if checkout == "contained" or (checkout == "own" and ref == MAIN):
        return evil if edited else good
    if name == "pull_request_target":
        return ""
    return "" if project == "missing" and checkout != "contained" else good


def planned_in_a_job(repository: Repository, folder: Path, name: str, ref: str, **more: str) -> Ran:
    """Run `ci plan` as a job on an event, with an input of each further word in lower case."""
    given = {f"INPUT_{key.upper()}": value for key, value in more.items() if key.islower()}
    others = {key: value for key, value in more.items() if not key.islower()}
    environ = {**without_a_job(), **repository.variables(folder, name, ref), **given, **others}
    environ = {"RUNNER_TEMP": str(folder), "RECONCILER_API_KEY": KEY, **environ}
    return typed_at(repository.root, environ, "ci", "plan")
