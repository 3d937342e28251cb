"""Whole jobs on a change whose project file wants commands run, files read, or rules gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.forge import FORK, NUMBER, READ_ONLY
from harness.jobs import JobRan, Jobs

CANARY = "canary-4b1d-of-the-machine"
RULES = """\
rules:
  - name: says-first
    kinds: [Dashboard]
    check: "resource.spec.dashboard.description == 'first'"
    message: say first
  - name: creates-nothing
    "on": plan
    check: "change.action != 'create'"
    message: ask us before you make something
"""
SAYS_FIRST, CREATES_NOTHING = RULES.split("  - name")[1:]


@pytest.fixture(params=["own", "fork"])
def change(request: pytest.FixtureRequest, jobs: Jobs) -> Jobs:
    """Give a job on a change of the repository's own, or of a fork, which gets no key."""
    if request.param == "fork":
        jobs.key, jobs.token = "", READ_ONLY
    return jobs


def planned(jobs: Jobs) -> JobRan:
    return jobs.change(repository=None if jobs.key else FORK)


def told(jobs: Jobs, ran: JobRan) -> str:
    """Give all that a job said, kept or sent."""
    comments = [str(comment) for comment in jobs.forge.comments.values()]
    files = [file for file in jobs.temporary.rglob("*") if file.is_file()]
    kept = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    sent = [str(value) for value in getattr(jobs.service, "bodies", ())]
    return "\n".join((ran.log, ran.summary, *ran.outputs.values(), *comments, *kept, *sent))


def settle(jobs: Jobs, more: str) -> None:
    """Add to the project file of the change."""
    file = jobs.root / "reconciler.yaml"
    file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")


def places(tmp_path: Path) -> str:
    """Give `secrets:` of somebody who wants to run and to read on the machine of the job."""
    (tmp_path / "outside").write_text(CANARY, encoding="utf-8")
    command = f"[/bin/sh, -c, 'touch {tmp_path}/ran; cat {tmp_path}/outside']"
    file = f"{{file: {tmp_path}/outside}}"
    return f"secrets: {{RAN: {{command: {command}}}, OTHER: {{file: /etc/passwd}}, READ: {file}}}\n"


@pytest.mark.parametrize("name", ["RAN", "OTHER", "READ"])
def test_places_of_secrets_in_a_change(change: Jobs, tmp_path: Path, name: str) -> None:
    """No command of a change is run and no file that it names is read, whoever it is of."""
    settle(change, places(tmp_path))
    change.edit("description: first", f"description: ${{secret:{name}}}")
    ran = planned(change)

    said = told(change, ran)
    assert not (tmp_path / "ran").exists()
    assert CANARY not in said
    assert "root:x:" not in said
    # Without a key, nothing is resolved: the secret stands for itself.
    assert ran.code == (4 if change.key else 0)
    assert (name in ran.summary + ran.log) or not change.key


def test_the_places_are_good_ones(change: Jobs, tmp_path: Path) -> None:
    """After the merge the same lines do run and read, so that the law above is about something."""
    if not change.key:
        pytest.skip("what is merged is of the repository")
    settle(change, places(tmp_path))
    change.edit("description: first", "description: ${secret:RAN}")
    ran = change.merged("plan")

    assert (tmp_path / "ran").exists()
    assert CANARY not in told(change, ran)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../outside.yaml", "link.yaml", "inner/../../o.yaml"]
)
def test_files_of_a_change(change: Jobs, tmp_path: Path, path: str) -> None:
    """`${file:}` of a change leads nowhere but into its own checkout."""
    for name in ("outside.yaml", "o.yaml"):
        (tmp_path / name).write_text(CANARY, encoding="utf-8")
    (change.root / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    (change.root / "inner").mkdir()
    change.edit("description: first", f"description: ${{file:{path}}}")
    ran = planned(change)

    said = told(change, ran)
    assert CANARY not in said
    assert "root:x:" not in said
    assert ran.code == 4


def test_a_rule_that_a_change_removes(change: Jobs) -> None:
    """A rule of the base branch holds for a change that takes it away."""
    settle(change, f"rules:\n  - name{SAYS_FIRST}")
    change.base = change.merge()
    assert planned(change).code == 0

    change.edit(f"rules:\n  - name{SAYS_FIRST}", "", "reconciler.yaml")
    change.edit("description: first", "description: second")
    ran = planned(change)

    assert ran.code == 4
    assert "says-first" in ran.summary + ran.log


def test_a_guard_of_rules_that_a_change_removes(jobs: Jobs) -> None:
    """A rule over planned changes of the base branch is a guard for a change without it."""
    settle(jobs, f"rules:\n  - name{CREATES_NOTHING}")
    jobs.base = jobs.merge()
    jobs.edit(f"rules:\n  - name{CREATES_NOTHING}", "", "reconciler.yaml")
    ran = jobs.change()

    assert "creates-nothing" in jobs.comment
    assert NUMBER in jobs.forge.comments
    assert "rules" in ran.summary
