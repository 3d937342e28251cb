"""`apply` and consent: what a review is worth, and what the guards ask for."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from harness.doors import APPLY, in_a_process, in_this_process
from harness.golden import Golden
from harness.served import Served
from harness.workspaces import edit, journal, workspace

from reconciler.journal.entries import OverrideEntry


def test_expected_digest(folder: Path, service: Served) -> None:
    """Only the very plan that was reviewed is applied; any other ends with 6 and no write."""
    digest = json.loads(in_this_process(folder, service.base_url, "plan", "--format", "json").out)[
        "digest"
    ]
    edit(folder, "description: first", "description: second")

    stale = in_this_process(folder, service.base_url, *APPLY, "-v", "--expect", digest)
    edit(folder, "description: second", "description: first")
    fresh = in_this_process(folder, service.base_url, *APPLY, "--expect", digest)

    assert (stale.code, fresh.code) == (6, 0)
    assert digest in stale.err
    assert "second" in stale.err
    assert len(service.writes) == 5


def test_reviewed_plan(folder: Path, service: Served) -> None:
    """A plan file names what is no longer as it was reviewed, and is private."""
    out = folder / "plan.json"
    assert in_this_process(folder, service.base_url, "plan", "--out", str(out)).code == 0
    edit(folder, "description: first", "description: second")

    stale = in_this_process(folder, service.base_url, *APPLY, "--plan", str(out))
    edit(folder, "description: second", "description: first")
    fresh = in_this_process(folder, service.base_url, *APPLY, "--plan", str(out))

    assert (stale.code, fresh.code) == (6, 0)
    assert "Dashboard/checkout: another create" in stale.err
    assert "SLO/checkout" not in stale.err
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert len(service.writes) == 5


def test_applied_twice(folder: Path, service: Served, golden: Golden) -> None:
    """A plan that was applied is done: nothing is left of it to do, and nothing is written."""
    out = folder / "plan.json"
    in_this_process(folder, service.base_url, "plan", "--out", str(out))
    in_this_process(folder, service.base_url, *APPLY, "--plan", str(out))
    writes = len(service.writes)

    again = in_this_process(folder, service.base_url, *APPLY, "--plan", str(out))

    assert (again.code, len(service.writes)) == (0, writes), again.err
    golden(again.out)


@pytest.mark.parametrize("content", ["", "{}", "[]", "\x00", '{"digest": 5}', "ü" * 9])
def test_no_plan_file(folder: Path, service: Served, content: str) -> None:
    """A file that holds no plan is refused before anything is asked."""
    (folder / "plan.txt").write_text(content)

    ended = in_this_process(folder, service.base_url, *APPLY, "--plan", str(folder / "plan.txt"))

    assert ended.code == 4
    assert str(folder / "plan.txt") in ended.err


def test_same_digest_in_every_process(folder: Path, service: Served) -> None:
    """The digest does not depend on the process, its hash seed or the names of files."""
    digests = set()
    for seed in ("1", "2"):
        ended = in_a_process(
            folder, service.base_url, "plan", "--format", "json", more={"PYTHONHASHSEED": seed}
        )
        digests.add(json.loads(ended.out)["digest"])
        (folder / "all.yaml").rename(folder / f"other-{seed}.yaml")
        (folder / f"other-{seed}.yaml").rename(folder / "all.yaml")

    assert len(digests) == 1


MANY = "".join(
    f"""---
apiVersion: reconciler/v1
kind: Dashboard
metadata: {{name: board-{number:02}}}
spec: {{dashboard: {{name: Board, description: first-{number:02}, layout: {{sections: []}}}}}}
"""
    for number in range(10)
)


@pytest.mark.parametrize(("edits", "code"), [(3, 0), (4, 11)])
def test_too_many_changes(
    folder: Path, service: Served, edits: int, code: int, golden: Golden
) -> None:
    """Of ten known dashboards three may change in one apply; a fourth needs consent.

    Where nothing stands against it, nothing was overridden, and the journal says no such thing.
    """
    workspace(folder, MANY)
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 0
    for number in range(edits):
        edit(folder, f"first-{number:02}", f"second-{number:02}")
    before = len(service.writes)

    ended = in_this_process(folder, service.base_url, *APPLY, "--yes")
    forced = in_this_process(
        folder,
        service.base_url,
        "apply",
        "--new-journal",
        "--yes",
        "--override-guard",
        "tested in staging",
    )

    assert ended.code == code, ended.err
    assert forced.code == 0
    assert len(service.writes) == before + edits
    if code:
        golden(ended.err)
        assert "--override-guard" in ended.err
    found = journal(folder, service.base_url).entries
    kept = [entry.reason for entry in found if isinstance(entry, OverrideEntry)]
    assert kept == ["tested in staging"] * bool(code)
    assert ("--override-guard was not needed" in forced.err) is not bool(code)


def declare_no_policies(folder: Path) -> None:
    """Leave all policies out of the manifest."""
    text = (folder / "all.yaml").read_text()
    begin, end = (
        text.index("  policies:"),
        text.index("---\napiVersion: reconciler/v1\nkind: SavedView"),
    )
    workspace(folder, text[:begin] + "  policies: []\n" + text[end:])


def test_destroying(folder: Path, service: Served) -> None:
    """Destroying a policy needs its own consent, and prints it with its severities."""
    in_this_process(folder, service.base_url, *APPLY, "--yes")
    declare_no_policies(folder)
    before = len(service.writes)

    refused = in_this_process(
        folder, service.base_url, *APPLY, "--yes", "--override-guard", "because"
    )
    allowed = in_this_process(folder, service.base_url, *APPLY, "--yes", "--allow-destroy")

    assert (refused.code, allowed.code) == (11, 0)
    assert "LogPolicySet/all destroys 1: `a`" in refused.err
    assert "--allow-destroy" in refused.err
    assert '"name": "a"' in allowed.err
    assert len(service.writes) == before + 1
    assert '"severities": ["SEVERITY_ERROR"]' in allowed.err
    assert "cannot be restored" not in allowed.err


def test_destroying_what_nobody_knows(folder: Path, service: Served, golden: Golden) -> None:
    """Severities of a destroyed policy that neither answer nor journal has are told to be lost."""
    in_this_process(folder, service.base_url, *APPLY, "--yes")
    declare_no_policies(folder)
    Path(journal(folder, service.base_url).place).unlink()
    agreed = ("--yes", "--allow-destroy", "--override-guard", "tested")

    allowed = in_this_process(folder, service.base_url, *APPLY, *agreed)

    assert '"name": "a"' in allowed.err
    golden(allowed.err)
