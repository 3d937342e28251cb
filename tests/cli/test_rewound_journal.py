"""Commands on a journal in git that was moved back, as by a force push or a restored mirror."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.doors import Ran, in_this_process
from harness.repositories import ISOLATED, git, repository
from harness.routes import SLOS
from harness.served import Served
from harness.stores import REF
from harness.workspaces import SLO, VIEW, project_at

IN_GIT = f"environments: {{default: {{journal: 'git:{REF}'}}}}"
pytestmark = pytest.mark.promise("S54")


class Machine:
    """A checkout of which the journal was moved back behind the create of an SLO."""

    def __init__(self, folder: Path, service: Served) -> None:
        self.checkout = repository(folder / "git")
        self._service = service
        self.root = project_at(self.checkout, IN_GIT, view=VIEW).root
        assert self.run("apply", "--yes", "--new-journal").code == 0
        remote = folder / "git" / "remote.git"
        before = git(remote, "rev-parse", REF)
        project_at(self.checkout, IN_GIT, view=VIEW, slo=SLO)
        assert self.run("apply", "--yes").code == 0
        self.newest = git(remote, "rev-parse", REF)
        git(remote, "update-ref", REF, before)

    def run(self, *arguments: str) -> Ran:
        """Run one command there."""
        return in_this_process(self.root, self._service.base_url, *arguments, more=ISOLATED)

    @property
    def slos(self) -> int:
        """How many SLOs were created."""
        return self._service.writes.count(f"POST {SLOS}")


@pytest.fixture
def machine(tmp_path: Path, service: Served) -> Machine:
    return Machine(tmp_path, service)


def test_apply(machine: Machine) -> None:
    """An apply on a journal that was moved back is refused as without one, and makes no SLO."""
    ran = machine.run("apply", "--yes")

    assert ran.code == 11, ran.err
    assert "[new-journal]" in ran.err
    assert "an old copy" in ran.err
    assert machine.slos == 1


def test_brought_back(machine: Machine) -> None:
    """The mark has the newer journal: pushed back as docs/journal.md says, all is kept."""
    git(machine.checkout, "fetch", "--quiet", "origin", f"{REF}.newest")
    assert git(machine.checkout, "rev-parse", "FETCH_HEAD") == machine.newest
    git(machine.checkout, "push", "--quiet", "--force", "origin", f"FETCH_HEAD:{REF}")

    ran = machine.run("apply", "--yes")

    assert ran.code == 0, ran.err
    assert "old copy" not in ran.err
    assert machine.slos == 1


def test_accepted(machine: Machine) -> None:
    """With `--new-journal` what is there counts from then on, and no command warns any more."""
    assert machine.run("apply", "--yes", "--new-journal").code == 0

    assert machine.slos == 2
    assert "old copy" not in machine.run("plan").err


def test_verify_and_doctor(machine: Machine) -> None:
    """`verify` and `doctor` end with 8 on a journal that was moved back."""
    assert machine.run("journal", "verify").code == 8

    ran = machine.run("doctor", "--format", "json")
    (found,) = (value for value in ran.json if value["check"] == "journal")

    assert (ran.code, found["state"]) == (8, "failed")
    assert "an old copy" in found["detail"]
    assert "the newest run: apply by " in found["detail"]


def test_init(machine: Machine) -> None:
    """`journal init` ends with 8 on an old copy, leaves it as it is, and names the newer one."""
    ran = machine.run("journal", "init")

    assert ran.code == 8
    assert f"{REF}.newest" in ran.err
    assert machine.run("journal", "verify").code == 8


def test_an_old_file(tmp_path: Path, service: Served) -> None:
    """An apply on an old copy of a file is refused in the same way."""
    root = project_at(tmp_path / "p", "environments: {default: {}}", view=VIEW).root
    door = (root, service.base_url)
    assert in_this_process(*door, "apply", "--yes", "--new-journal").code == 0
    (file,) = (root / ".reconciler").glob("*.jsonl")
    old = file.read_bytes()
    project_at(root, "environments: {default: {}}", view=VIEW, slo=SLO)
    assert in_this_process(*door, "apply", "--yes").code == 0
    file.write_bytes(old)

    ran = in_this_process(*door, "apply", "--yes")

    assert ran.code == 11, ran.err
    assert "an old copy" in ran.err
    assert service.writes.count(f"POST {SLOS}") == 1
