"""`ssh-keygen`: who it serves, and what a run says where it serves no one."""

from __future__ import annotations

import pwd
import shutil
from pathlib import Path

import pytest

from reconciler.errors import GuardRefused
from reconciler.features.approvals.signers import Signer
from reconciler.features.approvals.ssh_signatures import is_signed

ALICE = Signer("alice", "SHA256:k", "alice ssh-ed25519 AAAA")


@pytest.mark.parametrize("lack", ["no program", "no name"])
def test_nothing_can_be_checked(lack: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without `ssh-keygen`, or as a user without a name, a check is refused, and not failed."""

    def unknown(user: int) -> None:
        raise KeyError(user)

    there = "" if lack == "no program" else str(tmp_path / "ssh-keygen")
    monkeypatch.setattr(shutil, "which", lambda _: there or None)
    if lack == "no name":
        monkeypatch.setattr(pwd, "getpwuid", unknown)

    with pytest.raises(GuardRefused) as refused:
        is_signed(b"{}", "signature", ALICE)

    assert ("/etc/passwd" in str(refused.value)) == (lack == "no name")
