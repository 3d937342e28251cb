"""A project whose environments need approvals, the keys of its people, and approvals by them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from harness.repositories import committed, git
from harness.workspaces import DASHBOARD, SLO, Workspace

from reconciler.features.approvals.approval_file import (
    ApprovalDocument,
    Statement,
    content_of,
    shown_guards,
    shown_moment,
    signed_bytes,
)
from reconciler.features.approvals.signers import NAMESPACE
from reconciler.report.plan.document import PlanDocument

needs_openssh = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="needs Debian package openssh-client"
)

NAMES = ("alice", "bob", "erin", "erin2", "frank", "gina", "hugo", "mallory", "marvin")
"""Who has an ed25519 key. Carol has an RSA key, and dave an ECDSA key."""

PROJECT = """\
manifests: [manifests]
environments:
  production:
    emulator: {data: .reconciler/production.db}
    journal: .reconciler/production.jsonl
    approvals: {count: 2, breakGlass: true}
    approvers: approvers
  staging:
    emulator: {data: .reconciler/staging.db}
    journal: .reconciler/staging.jsonl
    approvals: 1
    approvers: approvers
defaultEnvironment: production
"""


@dataclass(frozen=True)
class Keys:
    """A folder with the keys of all people."""

    folder: Path

    def of(self, name: str) -> Path:
        """Return the private key of a person."""
        return self.folder / name

    def public(self, name: str) -> str:
        """Return type and key of a person, as a list of signers has them."""
        text = self.of(name).with_suffix(".pub").read_text(encoding="utf-8")
        return " ".join(text.split()[:2])

    def listed(self, *lines: str) -> str:
        """Return a list of signers: `{alice}` is Alice's key, and a name alone is a whole line."""
        made = (line if " " in line else f"{line} {{{line}}}" for line in lines)
        keys = {file.stem: self.public(file.stem) for file in self.folder.glob("*.pub")}
        return "".join(f"{line.format(**keys)}\n" for line in made)


def keygen(*arguments: str, given: bytes = b"") -> bytes:
    """Run `ssh-keygen`, and return its output."""
    command = ["ssh-keygen", *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def made_keys(folder: Path) -> Keys:
    """Make the keys of all people."""
    for name in NAMES:
        keygen("-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name))
    keygen("-q", "-t", "rsa", "-b", "2048", "-N", "", "-C", "carol", "-f", str(folder / "carol"))
    keygen("-q", "-t", "ecdsa", "-N", "", "-C", "dave", "-f", str(folder / "dave"))
    return Keys(folder)


def signed(statement: Statement, key: Path, namespace: str = NAMESPACE) -> ApprovalDocument:
    """Return an approval by a key, without a terminal."""
    command = ("-q", "-Y", "sign", "-f", str(key), "-n", namespace)
    signature = keygen(*command, given=signed_bytes(statement)).decode()
    return {"statement": statement, "signature": signature}


def statement_of(document: PlanDocument, now: datetime | None = None, **other: Any) -> Statement:
    """Return what an approver of a plan signs; `other` fields are as given."""
    at = now or datetime.now(UTC)
    usual: Statement = {
        "formatVersion": 1,
        "environment": document["environment"],
        "target": document["target"],
        "digest": document["digest"],
        "content": content_of(document["changes"]),
        "guards": shown_guards(document["guards"]),
        "at": shown_moment(at),
        "until": shown_moment(at + timedelta(hours=4)),
    }
    return cast("Statement", {**usual, **other})


@dataclass(frozen=True)
class Repository(Workspace):
    """A clone of a bare remote, and the keys of its people."""

    keys: Keys

    def merged(self, **files: str) -> None:
        """Commit files to the default branch of the remote, as after a review."""
        for name, text in files.items():
            self.write(name.replace("__", "."), text)
        committed(self.root)
        git(self.root, "push", "--quiet", "origin", "HEAD:main")

    def planned(self, *arguments: str) -> PlanDocument:
        """Plan into `plan.json`, and return the plan."""
        ran = self.run("plan", "--out", str(self.plan_file), *arguments)
        assert ran.code == 0, ran.err
        return cast("PlanDocument", json.loads(self.plan_file.read_text(encoding="utf-8")))

    @property
    def plan_file(self) -> Path:
        """The file that `planned` writes."""
        return self.root / "plan.json"

    def approved(self, *people: str, **other: Any) -> tuple[str, ...]:
        """Write an approval of `plan.json` by each person; return the options that name them."""
        document = json.loads(self.plan_file.read_text(encoding="utf-8"))
        statement = statement_of(document, **other)
        return self.kept({person: signed(statement, self.keys.of(person)) for person in people})

    def kept(self, approvals: Mapping[str, ApprovalDocument]) -> tuple[str, ...]:
        """Write approvals into files; return the options that name them."""
        options: list[str] = []
        for name, approval in approvals.items():
            file = self.write(f"approvals/{name}.approval", json.dumps(approval))
            options += ["--approval", str(file)]
        return tuple(options)


def repository_at(folder: Path, keys: Keys, project: str = PROJECT) -> Repository:
    """Make a bare remote and a clone, with a project that needs approvals of two people."""
    remote, root = folder / "remote.git", folder / "clone"
    folder.mkdir(exist_ok=True)
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    made = Repository(root, keys)
    made.settle(project)
    made.write("approvers", keys.listed("alice", "bob", "carol", "dave"))
    made.write("manifests/slo.yaml", SLO)
    made.write("manifests/dashboard.yaml", DASHBOARD)
    made.write(".gitignore", ".reconciler\nplan*.json\napprovals\n")
    git(root, "init", "--quiet", "--initial-branch=main")
    committed(root, "Base")
    git(root, "remote", "add", "origin", "../remote.git")
    git(root, "push", "--quiet", "origin", "main")
    git(root, "fetch", "--quiet", "origin")
    git(root, "remote", "set-head", "origin", "main")
    return made
