"""All commands that write to the service, with approvals, without them, and in an emergency."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest
from approving import PROJECT, Repository, needs_openssh
from harness.doors import Ran, typed
from harness.repositories import git
from harness.routes import API_ROOT, READING_POSTS
from harness.workspaces import SLO
from starlette.applications import Starlette

import reconciler.emulator
from reconciler.errors import UsageError
from reconciler.features.approvals import (
    approval_file,
    approval_guard,
    default_branch,
    unplanned_writes,
)
from reconciler.features.approvals.default_branch import UnknownBranch
from reconciler.project import Project, ProjectFile
from reconciler.workspace.project_file import load_project

pytestmark = needs_openssh

INVALID, STALE, REFUSED, USAGE = 4, 6, 11, 64
WEAKER = PROJECT.replace("count: 2", "count: 1")
POLICIES = """\
- name: Search is kept
  priority: PRIORITY_TYPE_HIGH
"""


class Requests(list[Starlette]):
    """The emulators that were started, and what was written to them."""

    def writes(self) -> list[str]:
        """Return the requests that may have changed something, refused requests too."""
        return [
            f"{request.method} {request.path}"
            for app in self
            for request in app.state.requests
            if request.method != "GET"
            and request.path.removeprefix(API_ROOT) not in READING_POSTS
            and not request.path.endswith("/validate")
        ]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Requests:
    started = Requests()
    create_app = reconciler.emulator.create_app

    def create(*given: object, **options: object) -> Starlette:
        app = create_app(*given, **options)  # type: ignore[arg-type]  # as it was called
        started.append(app)
        return app

    monkeypatch.setattr(reconciler.emulator, "create_app", create, raising=False)
    return started


def answering(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """Put a person at the terminal, who gives one answer."""
    monkeypatch.setattr("reconciler.cli.apply.is_terminal", lambda: True)
    monkeypatch.setattr("reconciler.cli.console._answer", lambda _: answer)


Way = Callable[[Repository, pytest.MonkeyPatch, Sequence[str]], Ran]


def by_plan(here: Repository, _: pytest.MonkeyPatch, given: Sequence[str]) -> Ran:
    return here.run("apply", "--plan", str(here.plan_file), *given)


def by_part(here: Repository, _: pytest.MonkeyPatch, given: Sequence[str]) -> Ran:
    part = ("--select", "SLO/checkout")
    return here.run("apply", "--plan", str(here.plan_file), *part, *given)


def by_digest(here: Repository, _: pytest.MonkeyPatch, given: Sequence[str]) -> Ran:
    digest = json.loads(here.plan_file.read_text(encoding="utf-8"))["digest"]
    return here.run("apply", "--expect", digest, *given)


def by_yes(here: Repository, _: pytest.MonkeyPatch, given: Sequence[str]) -> Ran:
    return here.run("apply", "--yes", *given)


def by_terminal(here: Repository, patch: pytest.MonkeyPatch, given: Sequence[str]) -> Ran:
    answering(patch, "yes")
    return here.run("apply", *given)


WAYS: dict[str, Way] = {
    "--plan": by_plan,
    "--plan --select": by_part,
    "--expect": by_digest,
    "--yes": by_yes,
    "on a terminal": by_terminal,
}
in_each_way = pytest.mark.parametrize("way", WAYS)


@in_each_way
def test_an_approved_apply(
    repository: Repository, sent: Requests, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """With approvals of two people an apply writes, and the journal names them and their keys."""
    document = repository.planned()
    refused = WAYS[way](repository, monkeypatch, repository.approved("alice"))
    before = sent.writes()

    ran = WAYS[way](repository, monkeypatch, repository.approved("alice", "carol"))

    assert (refused.code, before) == (REFUSED, [])
    assert ran.code == 0, ran.err
    assert sent.writes()
    entries = typed("journal", "show", "--format", "json").json
    approved = [entry for entry in entries if entry["entry"] == "approved"]
    assert [entry["principal"] for entry in approved] == ["alice", "carol"]
    assert all(entry["fingerprint"].startswith("SHA256:") for entry in approved)
    assert "alice" in typed("journal", "show").out
    (run,) = typed("journal", "history", "--format", "json").json
    assert run["approvedBy"] == ["alice", "carol"]
    assert document["guards"][0]["code"] == "not-approved"


def unbound(here: Repository) -> None:
    here.settle(
        "manifests: [manifests]\nenvironments:\n  production:\n"
        "    emulator: {data: .reconciler/production.db}\n"
        "    journal: .reconciler/production.jsonl\n"
    )


def of_the_branch(here: Repository) -> None:
    here.write("approvers", here.keys.listed("alice", "mallory", "marvin"))


def gone(here: Repository) -> None:
    (here.root / "approvers").unlink()


def permitted(here: Repository) -> None:
    here.settle(PROJECT.replace("approvers: approvers", "approvers: approvers", 1))
    here.merged(reconciler__yaml=PROJECT.replace(", breakGlass: true", ""))
    here.settle(PROJECT)


def of_no_remote(here: Repository) -> None:
    git(here.root, "remote", "remove", "origin")


def of_no_answer(here: Repository) -> None:
    (here.root.parent / "remote.git").rename(here.root.parent / "moved.git")


def removed_since(here: Repository) -> None:
    here.merged(approvers=here.keys.listed("alice", "carol", "dave"))
    git(here.root, "reset", "--quiet", "--hard", "HEAD~1")


def raised_since(here: Repository) -> None:
    here.merged(reconciler__yaml=PROJECT.replace("count: 2", "count: 3"))
    git(here.root, "reset", "--quiet", "--hard", "HEAD~1")
    git(here.root, "update-ref", "refs/remotes/origin/main", "HEAD")


def replaced(here: Repository) -> None:
    """Replace the list of the default branch, as a mirror of a remote would bring it."""
    old = git(here.root, "rev-parse", "HEAD:approvers")
    of_the_branch(here)
    new = git(here.root, "hash-object", "-w", "approvers")
    git(here.root, "replace", old, new)


BRANCHES: dict[str, tuple[Callable[[Repository], None], tuple[str, ...], int]] = {
    "a checkout without approvals": (unbound, (), REFUSED),
    "a checkout that needs one": (lambda here: here.settle(WEAKER), ("alice",), REFUSED),
    "a list with strangers": (of_the_branch, ("mallory", "marvin"), REFUSED),
    "a list that is gone": (gone, ("mallory", "marvin"), REFUSED),
    "a replaced list": (replaced, ("mallory", "marvin"), REFUSED),
    "a signer who was removed": (removed_since, ("alice", "bob"), REFUSED),
    "more approvals by now": (raised_since, ("alice", "bob"), REFUSED),
    "no remote": (of_no_remote, ("alice", "bob"), REFUSED),
    "a remote that does not answer": (of_no_answer, ("alice", "bob"), REFUSED),
    "a list that is no file": (
        lambda here: here.merged(reconciler__yaml=PROJECT.replace(": approvers", ": manifests")),
        ("alice", "bob"),
        REFUSED,
    ),
    "a list that cannot be read": (
        lambda here: here.merged(approvers="alice ssh-ed25519\n"),
        ("alice", "bob"),
        INVALID,
    ),
    "a list of too few people": (
        lambda here: here.merged(approvers=here.keys.listed("alice", "frank,fred {alice}")),
        ("alice",),
        INVALID,
    ),
}


@in_each_way
@pytest.mark.parametrize("branch", BRANCHES)
def test_what_binds(
    repository: Repository,
    sent: Requests,
    monkeypatch: pytest.MonkeyPatch,
    branch: str,
    way: str,
) -> None:
    """Settings and list are those of the newest commit that the remote has, or none is applied."""
    change, people, code = BRANCHES[branch]
    repository.planned()
    given = repository.approved(*people)
    change(repository)

    ran = WAYS[way](repository, monkeypatch, given)

    assert (ran.code, sent.writes()) == (code, []), ran.err


@dataclass(frozen=True)
class OfCheckout:
    """The newest commit, if it were what is checked out."""

    settings: ProjectFile
    root: Path

    def text(self, name: str) -> str:
        """Return the text of a file. Raises UnknownBranch."""
        try:
            return (self.root / name).read_text(encoding="utf-8")
        except OSError as error:
            raise UnknownBranch(name) from error


def of_checkout(project: Project) -> OfCheckout:
    """Return settings and list of the checkout."""
    own, _ = load_project(project.root / "reconciler.yaml")
    assert own is not None
    return OfCheckout(own.settings, project.root)


REMOVALS: dict[str, tuple[Callable[[], AbstractContextManager[object]], set[str]]] = {
    "reviewed_project": (
        lambda: mock.patch.object(default_branch, "_binds", return_value=False),
        {"a checkout without approvals"},
    ),
    "newest_commit": (
        lambda: mock.patch.object(approval_guard, "newest_commit", of_checkout),
        {
            "a checkout that needs one",
            "a list with strangers",
            "a replaced list",
            "a signer who was removed",
            "more approvals by now",
            "no remote",
            "a remote that does not answer",
        },
    ),
    "_AS_STORED": (
        lambda: mock.patch.object(default_branch, "_AS_STORED", {}),
        {"a replaced list"},
    ),
    "flaws of the list": (
        lambda: mock.patch.object(approval_guard, "_flaws_of", return_value=()),
        set(),
    ),
}
"""Each check of what binds, how to remove it, and what then goes through."""


@pytest.mark.parametrize("removed", REMOVALS)
@pytest.mark.parametrize("branch", BRANCHES)
def test_a_removed_check_of_what_binds(
    repository: Repository,
    sent: Requests,
    monkeypatch: pytest.MonkeyPatch,
    branch: str,
    removed: str,
) -> None:
    """Without a check exactly what it holds goes through, and writes."""
    change, people, _ = BRANCHES[branch]
    repository.planned()
    given = repository.approved(*people)
    change(repository)
    patch, opened = REMOVALS[removed]

    with patch():
        ran = by_plan(repository, monkeypatch, given)

    assert (ran.code == 0, bool(sent.writes())) == (branch in opened, branch in opened), ran.err


def test_permission_to_break_glass(repository: Repository, sent: Requests) -> None:
    """A checkout cannot permit --break-glass: the newest commit does, or nothing is written."""
    permitted(repository)
    repository.planned()
    refused = repository.run("apply", "--yes", "--break-glass", "it burns")
    before = sent.writes()
    repository.merged(reconciler__yaml=PROJECT)

    ran = repository.run("apply", "--yes", "--break-glass", "it burns")

    assert (refused.code, before) == (REFUSED, [])
    assert ran.code == 0, ran.err
    entries = typed("journal", "show", "--format", "json").json
    (kept,) = [entry for entry in entries if entry["entry"] == "override"]
    assert (kept["reason"], kept["codes"]) == ("it burns", ["not-approved"])


@pytest.mark.parametrize(
    "flags",
    [
        ("--override-guard", "now"),
        ("--override-guard", "not-approved=now"),
        ("--allow-destroy", "--new-journal"),
    ],
)
def test_other_consent(repository: Repository, sent: Requests, flags: tuple[str, ...]) -> None:
    """No other flag of an apply is an approval."""
    repository.planned()

    for way in (("--yes",), ("--plan", str(repository.plan_file))):
        assert repository.run("apply", *way, *flags).code in (REFUSED, USAGE)
    assert sent.writes() == []


@pytest.mark.parametrize("setting", ["allow: [not-approved]", "levels: {not-approved: review}"])
def test_no_setting_is_an_approval(repository: Repository, setting: str) -> None:
    """The settings of guards accept neither a plan without approvals nor a lower level for it."""
    repository.settle(PROJECT.replace("approvals: 1", f"guards: {{{setting}}}\n    approvals: 1"))

    assert typed("validate").code == INVALID


def test_live_moved(repository: Repository, sent: Requests) -> None:
    """What is live by now is part of the plan: after another apply the approvals are of no plan."""
    repository.planned()
    first = repository.approved("alice", "bob")
    assert repository.run("apply", "--plan", str(repository.plan_file), *first).code == 0
    file = repository.root / "manifests" / "slo.yaml"
    file.write_text(SLO.replace("name: Checkout", "name: Check out"), encoding="utf-8")
    repository.planned()
    second = repository.approved("alice", "bob")
    assert repository.run("apply", "--break-glass", "it burns", "--yes").code == 0
    file.write_text(SLO.replace("name: Checkout", "name: Checked"), encoding="utf-8")
    before = sent.writes()

    stale = repository.run("apply", "--plan", str(repository.plan_file), *second)
    refused = repository.run("apply", "--yes", *first, *second)

    assert (stale.code, refused.code) == (STALE, REFUSED)
    assert sent.writes() == before


def test_a_part_that_was_written_before(repository: Repository) -> None:
    """A part may change what was written before it was signed."""
    first = repository.run("apply", "--yes", "--break-glass", "the first apply")
    repository.write("manifests/slo.yaml", SLO.replace("name: Checkout", "name: Check out"))
    repository.planned()
    given = repository.approved("alice", "bob", now=datetime.now(UTC) + timedelta(seconds=2))

    ran = repository.run(
        "apply", "--plan", str(repository.plan_file), "--select", "SLO/checkout", *given
    )

    assert (first.code, ran.code) == (0, 0), ran.err


def test_the_rest(repository: Repository, sent: Requests) -> None:
    """Approvals hold for what an earlier apply left of the plan, and for no other change to it."""
    repository.planned()
    given = ("--plan", str(repository.plan_file), *repository.approved("alice", "bob"))
    part = repository.run("apply", "--select", "Dashboard/checkout", *given)
    before = sent.writes()
    repository.write("manifests/slo.yaml", SLO.replace("name: Checkout", "name: Check out"))
    other = repository.run("apply", *given)
    unchanged = sent.writes()
    repository.write("manifests/slo.yaml", SLO)
    rest = repository.run("apply", *given)

    assert (part.code, other.code, rest.code) == (0, STALE, 0), rest.err
    assert unchanged == before
    assert len(sent.writes()) == len(before) + 1


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_used_approval(
    repository: Repository,
    sent: Requests,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_removed: bool,
) -> None:
    """What a later plan took back needs a new approval, as a part or rest of the old plan too."""
    changed = SLO.replace("name: Checkout", "name: Check out")
    first = repository.run("apply", "--yes", "--break-glass", "the first apply")
    repository.write("manifests/slo.yaml", changed)
    repository.planned()
    signed_at = datetime.now(UTC) - timedelta(seconds=5)
    given = repository.approved("alice", "bob", now=signed_at)
    once = by_plan(repository, monkeypatch, given)
    repository.write("manifests/slo.yaml", SLO)
    back = repository.run("apply", "--yes", "--break-glass", "it was wrong")
    repository.write("manifests/slo.yaml", changed)
    before = len(sent.writes())

    if is_removed:
        monkeypatch.setattr(approval_file, "_used", lambda *_: "")
    again = by_part(repository, monkeypatch, given)

    assert (first.code, once.code, back.code) == (0, 0, 0)
    assert again.code == (0 if is_removed else REFUSED), again.err
    assert len(sent.writes()) == before + is_removed


def test_another_environment(repository: Repository, sent: Requests) -> None:
    """Approvals for one environment are none for another, though both plan the same changes."""
    repository.planned()
    given = repository.approved("alice", "bob")

    ran = repository.run("apply", "--yes", "-e", "staging", *given)

    assert (ran.code, sent.writes()) == (REFUSED, [])


def test_rollback(repository: Repository, sent: Requests) -> None:
    """A rollback needs approvals of its own plan; those of the apply that it undoes are none."""
    repository.planned()
    given = repository.approved("alice", "bob")
    assert repository.run("apply", "--plan", str(repository.plan_file), *given).code == 0
    repository.write("manifests/slo.yaml", SLO.replace("name: Checkout", "name: Check out"))
    repository.planned()
    more = repository.approved("alice", "bob")
    assert repository.run("apply", "--plan", str(repository.plan_file), *more).code == 0
    before = sent.writes()

    refused = [
        typed("rollback", "last", *flags).code
        for flags in (
            ("--yes",),
            ("--yes", *given),
            ("--yes", *more),
            ("--yes", "--override-guard", "x"),
        )
    ]
    unchanged = sent.writes()
    dry = typed("rollback", "last", "--dry-run", "--out", str(repository.plan_file))
    ran = typed(
        "rollback", "last", "--plan", str(repository.plan_file), *repository.approved("bob", "dave")
    )

    assert (set(refused), unchanged) == ({REFUSED}, before)
    assert (dry.code, ran.code) == (0, 0), ran.err
    assert len(sent.writes()) > len(before)
    assert typed("journal", "history", "--format", "json").json[-1]["approvedBy"] == ["bob", "dave"]


@pytest.mark.parametrize(
    ("people", "whom"),
    [((), "2 of `alice`, `bob`, `carol`, `dave`"), (("bob",), "1 of `alice`, `carol`, `dave`")],
)
def test_who_is_missing(repository: Repository, people: tuple[str, ...], whom: str) -> None:
    """The remedy names those who can still approve and the commands; a given file is enough."""
    repository.planned()
    given = repository.approved(*people)

    ran = repository.run("apply", "--plan", str(repository.plan_file), *given)
    unplanned = repository.run("apply", "--yes", *given)

    assert f"to {whom}: `reconciler" in ran.err
    assert "--out" not in ran.err
    assert f"send FILE to {whom}" in unplanned.err
    assert "`plan --out FILE`" in unplanned.err


def test_all_are_missing(repository: Repository) -> None:
    """Where everyone who is left must approve, the remedy names all of them and no number."""
    repository.write("approvers", repository.keys.listed("alice", "bob"))
    repository.merged()
    repository.planned()

    none = repository.run("apply", "--plan", str(repository.plan_file))
    given = repository.approved("alice")
    one = repository.run("apply", "--plan", str(repository.plan_file), *given)

    assert "`alice` and `bob`:" in none.err
    assert "to `bob`:" in one.err


def test_settings_of_a_branch(repository: Repository) -> None:
    """Refusals say so where the settings of the branch are others than those that bind."""
    repository.planned()
    same = repository.run("apply", "--yes")
    own = "  own: {baseUrl: https://api.example.com, approvals: 1, approvers: approvers}\n"
    repository.settle(WEAKER.replace("  staging:", f"{own}  staging:"))

    lowered = repository.run("apply", "--yes")
    added = typed("plan", "-e", "own")

    assert (same.code, lowered.code, added.code) == (REFUSED, REFUSED, USAGE)
    assert "this branch" not in same.err
    assert "this branch differ" in lowered.err
    assert "default branch" in added.err
    assert "`own`" in added.err


def test_a_plan_of_more(repository: Repository) -> None:
    """Approvals of a whole plan without its file get the advice to give the file."""
    repository.planned()
    given = repository.approved("alice", "bob")

    ran = repository.run("apply", "--yes", "--select", "SLO/checkout", *given)

    assert ran.code == REFUSED
    assert "`--plan` with" in ran.err


def test_a_missing_folder(repository: Repository) -> None:
    """The input of a job may be a folder that does not exist, and no file."""
    approval_guard.check_folder(str(repository.root / "nowhere"))

    with pytest.raises(UsageError):
        approval_guard.check_folder(str(repository.plan_file.with_name("approvers")))
    ran = repository.run("apply", "--yes", "--approval", str(repository.root / "nowhere"))
    assert ran.code == REFUSED


def without_a_plan(here: Repository) -> dict[str, tuple[str, ...]]:
    """Return the command lines that write without a plan."""
    here.write("policies.yaml", POLICIES)
    return {
        "incidents close": ("incidents", "close", "i1", "--yes"),
        "policies add": ("policies", "add", "policies.yaml", "--yes"),
    }


@pytest.mark.parametrize("command", ["incidents close", "policies add"])
@pytest.mark.parametrize("branch", [None, *list(BRANCHES)[:2]])
def test_writes_without_a_plan(
    repository: Repository, sent: Requests, command: str, branch: str | None
) -> None:
    """`incidents close` and `policies add` are refused where approvals are needed."""
    line = without_a_plan(repository)[command]
    if branch is not None:
        BRANCHES[branch][0](repository)

    refused = typed(*line)

    assert refused.code == REFUSED
    assert {"incidents close": "web interface", "policies add": "LogPolicySet"}[command] in (
        refused.err
    )
    assert typed(*line, "--break-glass", " ").code == USAGE
    assert typed(*line, "-e", "staging", "--break-glass", "it burns").code in (REFUSED, USAGE)
    assert sent.writes() == []


def test_a_removed_check_of_writes_without_a_plan(repository: Repository, sent: Requests) -> None:
    """It is this check that refuses `policies add`: without it the command writes."""
    line = without_a_plan(repository)["policies add"]

    with mock.patch.object(unplanned_writes, "is_bound", return_value=False):
        ran = typed(*line)

    assert (ran.code, len(sent.writes())) == (0, 1), ran.err


def test_policies_in_an_emergency(repository: Repository, sent: Requests) -> None:
    """Where it is permitted, `policies add --break-glass` writes, and the journal has a reason."""
    line = without_a_plan(repository)["policies add"]

    ran = typed(*line, "--break-glass", "it burns")

    assert ran.code == 0, ran.err
    assert len(sent.writes()) == 1
    assert "it burns" in typed("journal", "show").out
    (run,) = typed("journal", "history", "--format", "json").json
    assert (run["command"], run["overrides"]) == ("policies add", ["it burns"])
