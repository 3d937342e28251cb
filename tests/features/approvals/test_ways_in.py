"""All commands that write to the service, with approvals, without them, and in an emergency."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest
from approving import PROJECT, Repository, needs_openssh
from harness.doors import Ran, typed
from harness.golden import Golden
from harness.happenings import happenings_at
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
from reconciler.features.approvals.signers import fingerprint_of
from reconciler.project import Project, ProjectFile
from reconciler.syntax.files import LARGEST_FILE
from reconciler.workspace.project_file import load_project

pytestmark = needs_openssh

INVALID, STALE, REFUSED, USAGE = 4, 6, 11, 64
DIGEST = f"sha256:{'0' * 64}"
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


def test_a_shown_plan_names_who_approved(repository: Repository) -> None:
    """A plan that an approved apply shows names its approvers, and no guard that lacks them."""
    repository.planned()

    ran = repository.run("apply", "--yes", *repository.approved("alice", "carol"))

    assert ran.code == 0, ran.err
    assert "`alice` until" in ran.err + ran.out
    assert "not-approved" not in ran.err + ran.out


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


def of_a_later_version(here: Repository) -> None:
    here.merged(reconciler__yaml=f"{PROJECT}laterSetting: 1\n")
    unbound(here)


def of_git_that_fails(here: Repository) -> None:
    unbound(here)
    here.write(".git/config", "[")


def unbound_without_an_answer(here: Repository) -> None:
    unbound(here)
    of_no_answer(here)


def unbound_without_a_head(here: Repository) -> None:
    unbound_without_an_answer(here)
    git(here.root, "remote", "set-head", "origin", "--delete")


def of_two_remotes(here: Repository) -> None:
    git(here.root, "remote", "rename", "origin", "a")
    git(here.root, "remote", "add", "b", "../remote.git")


def too_long(here: Repository) -> None:
    here.merged(approvers=f"{here.keys.listed('alice', 'bob')}#{'#' * LARGEST_FILE}\n")


BRANCHES: dict[str, tuple[Callable[[Repository], None], tuple[str, ...], int]] = {
    "a checkout without approvals": (unbound, (), REFUSED),
    "a checkout without approvals, of a later version": (of_a_later_version, (), INVALID),
    "a checkout without approvals, of git that fails": (of_git_that_fails, (), REFUSED),
    "a checkout without approvals, of no answer": (unbound_without_an_answer, (), REFUSED),
    "a checkout without approvals, of no HEAD": (unbound_without_a_head, (), REFUSED),
    "a checkout that needs one": (lambda here: here.settle(WEAKER), ("alice",), REFUSED),
    "a list with strangers": (of_the_branch, ("mallory", "marvin"), REFUSED),
    "a list that is gone": (gone, ("mallory", "marvin"), REFUSED),
    "a replaced list": (replaced, ("mallory", "marvin"), REFUSED),
    "a signer who was removed": (removed_since, ("alice", "bob"), REFUSED),
    "more approvals by now": (raised_since, ("alice", "bob"), REFUSED),
    "no remote": (of_no_remote, ("alice", "bob"), REFUSED),
    "a remote that does not answer": (of_no_answer, ("alice", "bob"), REFUSED),
    "two remotes, none of them `origin`": (of_two_remotes, ("alice", "bob"), REFUSED),
    "a list that is too long": (too_long, ("alice", "bob"), REFUSED),
    "a list that is no file": (
        lambda here: here.merged(reconciler__yaml=PROJECT.replace(": approvers", ": manifests")),
        ("alice", "bob"),
        REFUSED,
    ),
    "a list that cannot be read": (
        lambda here: here.merged(approvers=f"{here.keys.listed('alice', 'bob')}carol ssh-rsa\n"),
        ("alice", "bob"),
        INVALID,
    ),
    "a list of too few people": (
        lambda here: here.merged(approvers=here.keys.listed("alice", "frank,fred {alice}")),
        ("alice",),
        INVALID,
    ),
}


IN_EACH_WAY = (
    "a checkout without approvals",
    "a checkout that needs one",
    "a list with strangers",
    "a list that cannot be read",
)
"""What is tried by each way; all ways read the newest commit by the same code."""


@pytest.mark.parametrize(
    ("branch", "way"),
    [(branch, "--plan") for branch in BRANCHES]
    + [(branch, way) for branch in IN_EACH_WAY for way in WAYS if way != "--plan"],
)
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
        {
            "a checkout without approvals",
            "a checkout without approvals, of no answer",
            "a checkout without approvals, of no HEAD",
        },
    ),
    "_TRACKED": (
        lambda: mock.patch.object(default_branch, "_TRACKED", ("HEAD",)),
        {"a checkout without approvals, of no HEAD"},
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
            "two remotes, none of them `origin`",
            "a list that is too long",
        },
    ),
    "_AS_STORED": (
        lambda: mock.patch.object(default_branch, "_AS_STORED", {}),
        {"a replaced list"},
    ),
    "flaws of the list": (
        lambda: mock.patch.object(approval_guard, "flaws_of", return_value=()),
        {"a list that cannot be read"},
    ),
    "LARGEST_FILE": (
        lambda: mock.patch.object(default_branch, "LARGEST_FILE", 2 * LARGEST_FILE),
        {"a list that is too long"},
    ),
}
"""Each check of what binds, how to remove it, and what then goes through."""


@pytest.mark.parametrize(
    ("removed", "branch"),
    [(removed, branch) for removed, (_, opened) in REMOVALS.items() for branch in sorted(opened)],
)
def test_a_removed_check_of_what_binds(
    repository: Repository,
    sent: Requests,
    monkeypatch: pytest.MonkeyPatch,
    branch: str,
    removed: str,
) -> None:
    """Without a check what it holds goes through, and writes."""
    change, people, _ = BRANCHES[branch]
    repository.planned()
    given = repository.approved(*people)
    change(repository)
    patch, _ = REMOVALS[removed]

    with patch():
        ran = by_plan(repository, monkeypatch, given)

    assert ran.code == 0, ran.err
    assert sent.writes()


def test_permission_to_break_glass(repository: Repository, sent: Requests) -> None:
    """A checkout cannot permit --break-glass: the newest commit does, or nothing is written."""
    permitted(repository)
    repository.planned()
    refused = repository.run("apply", "--yes", "--break-glass", "it burns")
    before = sent.writes()
    repository.merged(reconciler__yaml=PROJECT)

    ran = repository.run("apply", "--yes", "--break-glass", "it burns")

    assert (refused.code, before) == (REFUSED, [])
    assert "breakGlass" in refused.err
    assert ran.code == 0, ran.err
    entries = typed("journal", "show", "--format", "json").json
    (kept,) = [entry for entry in entries if entry["entry"] == "override"]
    assert (kept["reason"], kept["codes"]) == ("it burns", ["not-approved"])
    history = typed("journal", "history").out
    assert "break-glass" in history
    assert "overridden" not in history


def test_an_emergency_with_approvals(repository: Repository) -> None:
    """Approvals that suffice lift the guard, and the journal keeps them and no emergency."""
    permitted(repository)
    repository.merged(reconciler__yaml=PROJECT)
    repository.planned()
    given = repository.approved("alice", "bob")
    plan = "--plan", str(repository.plan_file)

    ran = repository.run("apply", *plan, *given, "--break-glass", "it burns")

    assert ran.code == 0, ran.err
    assert "--break-glass" in ran.err
    entries = typed("journal", "show", "--format", "json").json
    kept = [entry["entry"] for entry in entries if entry["entry"] in ("override", "approved")]
    assert kept == ["approved", "approved"]


def test_an_emergency_with_one_approval(repository: Repository) -> None:
    """Where approvals do not suffice, the emergency lifts the guard, and the journal says so."""
    permitted(repository)
    repository.merged(reconciler__yaml=PROJECT)
    repository.planned()
    plan = "--plan", str(repository.plan_file)

    ran = repository.run("apply", *plan, *repository.approved("bob"), "--break-glass", "it burns")

    assert ran.code == 0, ran.err
    entries = typed("journal", "show", "--format", "json").json
    kept = [entry["entry"] for entry in entries if entry["entry"] in ("override", "approved")]
    assert kept == ["override"]


def test_a_note_for_later_runs(repository: Repository) -> None:
    """What an apply only writes into the journal, as an end of protection, needs approvals too."""
    kept = SLO.replace("{name: checkout}", "{name: checkout, protect: true}")
    repository.write("manifests/slo.yaml", kept)
    first = repository.run("apply", "--yes", "--break-glass", "the first apply")
    repository.write("manifests/slo.yaml", SLO)

    ran = repository.run("apply", "--yes")

    assert (first.code, ran.code) == (0, REFUSED), ran.err


def test_a_job_outside_of_a_forge(
    repository: Repository, sent: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ci apply` by hand uses the default branch's settings, and not those of the checkout."""
    monkeypatch.setenv("INPUT_REQUIRE_PLAN", "none")
    monkeypatch.setenv("INPUT_NEW_JOURNAL", "true")
    lines = [line for line in PROJECT.splitlines() if "approv" not in line]
    repository.settle("\n".join(lines) + "\n")

    ran = typed("ci", "apply")

    assert (ran.code, sent.writes()) == (REFUSED, []), ran.err


def test_no_reason_holds_a_secret(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret in the reason of an emergency is not in the journal, of any command."""
    lines = without_a_plan(repository)
    monkeypatch.setenv("RECONCILER_API_KEY", "the-key-of-all")
    emergency = ("--yes", "--break-glass", " it is the-key-of-all ")

    codes = [typed(*line, *emergency).code for line in (("apply",), *lines.values())]

    assert codes == [0, 0, 0]
    kept = (repository.root / ".reconciler" / "production.jsonl").read_text(encoding="utf-8")
    assert kept.count('"it is ***"') == len(codes)
    assert "the-key-of-all" not in kept


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (("--override-guard", "now"), REFUSED),
        (("--override-guard", "not-approved=now"), REFUSED),
        (("--allow-destroy", "--new-journal"), REFUSED),
    ],
)
def test_other_consent(
    repository: Repository, sent: Requests, flags: tuple[str, ...], code: int
) -> None:
    """No other flag of an apply is an approval."""
    repository.planned()

    for way in (("--yes",), ("--plan", str(repository.plan_file))):
        assert repository.run("apply", *way, *flags).code == code
    assert sent.writes() == []


@pytest.mark.parametrize("setting", ["allow: [not-approved]", "levels: {not-approved: review}"])
def test_no_setting_is_an_approval(repository: Repository, setting: str) -> None:
    """The settings of guards accept neither a plan without approvals nor a lower level for it."""
    repository.settle(PROJECT.replace("approvals: 1", f"guards: {{{setting}}}\n    approvals: 1"))

    ran = typed("validate")

    assert ran.code == INVALID
    assert "not-approved" in ran.out


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("approvals: 1", "approvers: FILE"),
        ("approvers: approvers", "approvals: N"),
        *(
            (f"approvals: 1\n    approvers: {file}", "below the folder")
            for file in ("../approvers", "a/../../approvers", "/approvers", '" "')
        ),
    ],
)
def test_settings(repository: Repository, setting: str, named: str) -> None:
    """`approvals` and `approvers` need each other, and the list is below the project's folder."""
    whole = "approvals: 1\n    approvers: approvers"
    repository.settle(PROJECT.replace(whole, setting))

    ran = typed("validate")

    assert ran.code == INVALID
    assert named in ran.out


@pytest.mark.parametrize("value", ["0", "{count: 0}", "none"])
def test_one_mistake(repository: Repository, value: str) -> None:
    """A wrong number of approvals is one error: the list of approvers has no other."""
    repository.settle(PROJECT.replace("approvals: 1", f"approvals: {value}"))

    found = typed("validate", "--format", "json").json["complaints"]

    assert [complaint["code"] for complaint in found] == ["P101"]


@pytest.mark.parametrize("content", ["rubbish\n", "", "{alice}", None])
def test_a_broken_list(repository: Repository, content: str | None) -> None:
    """`validate` refuses a list that would stop each apply once merged, in each environment."""
    listed = repository.root / "approvers"
    if content is None:
        listed.unlink()
    else:
        text = content.format(alice=f"alice {repository.keys.public('alice')}")
        listed.write_text(text, encoding="utf-8")
    before = typed("validate", "-e", "production")

    repository.write("approvers", repository.keys.listed("alice", "bob"))

    assert before.code == INVALID
    assert "`approvers`" in before.out
    assert typed("validate").code == 0


@pytest.mark.parametrize("more", [98, 99])
def test_many_files(repository: Repository, more: int) -> None:
    """At most 100 approvals are read, though two of more would do."""
    repository.planned()
    repository.approved("alice", "bob")
    for number in range(more):
        repository.write(f"approvals/{number}.approval", "{}")

    ran = repository.run("apply", "--plan", str(repository.plan_file), "--approval", "approvals")

    assert ran.code == (0 if more + 2 <= approval_file.MOST_FILES else REFUSED)


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


@pytest.mark.parametrize("way", [by_plan, by_part], ids=lambda way: way.__name__)
@pytest.mark.parametrize("is_removed", [False, True])
def test_a_used_approval(
    repository: Repository,
    sent: Requests,
    monkeypatch: pytest.MonkeyPatch,
    way: Way,
    *,
    is_removed: bool,
) -> None:
    """What was taken back after an approved plan was applied needs a new approval."""
    changed = SLO.replace("name: Checkout", "name: Check out")
    first = repository.run("apply", "--yes", "--break-glass", "the first apply")
    repository.write("manifests/slo.yaml", changed)
    repository.planned()
    pass_a_second()
    given = repository.approved("alice", "bob")
    pass_a_second()
    once = by_plan(repository, monkeypatch, given)
    repository.write("manifests/slo.yaml", SLO)
    back = repository.run("apply", "--yes", "--break-glass", "it was wrong")
    repository.write("manifests/slo.yaml", changed)
    before = len(sent.writes())

    if is_removed:
        monkeypatch.setattr(approval_file, "_written_since", lambda *_: "")
    again = way(repository, monkeypatch, given)

    assert (first.code, once.code, back.code) == (0, 0, 0)
    assert again.code == (0 if is_removed else REFUSED), again.err
    assert len(sent.writes()) == before + is_removed


def pass_a_second() -> None:
    """Wait until the clock shows another second, as journals and approvals have whole ones."""
    now = time.time()
    while int(time.time()) == int(now):
        time.sleep(0.05)


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


def test_words_of_refusals(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A refusal says how many approvals are needed, who could give them, and which do not hold."""
    repository.planned()
    plan = ("--plan", str(repository.plan_file))
    mallory = fingerprint_of(repository.keys.public("mallory").split()[1])
    for people in ((), ("bob",), ("mallory",)):
        given = repository.approved(*people)
        golden(by_plan(repository, monkeypatch, given).err, KEY=str(mallory))
    for flaw in ({"digest": DIGEST}, {"until": "2020-01-01T00:00:00Z"}, {"at": "soon"}):
        golden(by_plan(repository, monkeypatch, repository.approved("alice", **flaw)).err)
    line = without_a_plan(repository)["policies add"]
    golden(typed(*line, "--yes").err)
    repository.merged(reconciler__yaml=PROJECT.replace(", breakGlass: true", ""))
    golden(repository.run("apply", *plan, *EMERGENCY).err)
    golden(typed(*line, "--yes", *EMERGENCY).err)
    for branch in (
        "a list that cannot be read",
        "a list of too few people",
        "a checkout without approvals, of a later version",
    ):
        BRANCHES[branch][0](repository)
        golden(by_plan(repository, monkeypatch, ()).err)
    repository.merged(reconciler__yaml=PROJECT)
    of_two_remotes(repository)
    golden(by_plan(repository, monkeypatch, ()).err)
    of_git_that_fails(repository)
    # The rest are words of git.
    golden(by_plan(repository, monkeypatch, ()).err.partition("approvals: ")[0])


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
    """Approvals of a whole plan without its file get the advice to give the file, once."""
    repository.planned()
    given = repository.approved("alice", "bob")

    ran = repository.run("apply", "--yes", "--select", "SLO/checkout", *given)

    assert ran.code == REFUSED
    assert ran.err.count("for a part or the rest") == 1
    assert "`apply --plan FILE`" in ran.err


def test_a_missing_folder(repository: Repository) -> None:
    """The input of a job may be a folder that does not exist, and no file."""
    approval_guard.check_folder(str(repository.root / "nowhere"))

    with pytest.raises(UsageError):
        approval_guard.check_folder(str(repository.plan_file.with_name("approvers")))
    ran = repository.run("apply", "--yes", "--approval", str(repository.root / "nowhere"))
    assert ran.code == REFUSED


def without_a_plan(here: Repository) -> dict[str, tuple[str, ...]]:
    """Return the command lines that write without a plan."""
    here.write(".reconciler/policies.yaml", POLICIES)
    with happenings_at(here.root / ".reconciler" / "production.db") as happened:
        happened.open("a1", timedelta(hours=1))
    (incident,) = typed("incidents", "list", "--format", "json").json
    return {
        "incidents close": ("incidents", "close", incident["id"]),
        "policies add": ("policies", "add", ".reconciler/policies.yaml"),
    }


of_each_command = pytest.mark.parametrize("command", ["incidents close", "policies add"])
EMERGENCY = ("--break-glass", "it burns")


def changes(sent: Requests) -> list[str]:
    """Return the requests that changed something."""
    return [request for request in sent.writes() if "/close" in request or "/bulk" in request]


@of_each_command
@pytest.mark.parametrize("branch", [None, *list(BRANCHES)[:2]])
def test_writes_without_a_plan(
    repository: Repository, sent: Requests, command: str, branch: str | None
) -> None:
    """`incidents close` and `policies add` are refused where approvals are needed."""
    line = (*without_a_plan(repository)[command], "--yes")
    code = REFUSED
    if branch is not None:
        change, _, code = BRANCHES[branch]
        change(repository)

    refused = typed(*line)

    assert refused.code == code
    if branch is None:
        way = {"incidents close": "web interface", "policies add": "LogPolicySet"}[command]
        assert way in refused.err
    assert changes(sent) == []


@of_each_command
def test_an_emergency_without_permission(
    repository: Repository, sent: Requests, command: str
) -> None:
    """Where it is not permitted, nothing is written or noted, and the refusal says so at once."""
    line = (*without_a_plan(repository)[command][:2], "missing", "--yes", "-e", "staging")

    ran = typed(*line, *EMERGENCY)

    assert ran.code == REFUSED
    assert "breakGlass" in ran.err
    assert "breakGlass" not in typed(*line).err
    assert changes(sent) == []
    assert not (repository.root / ".reconciler" / "staging.jsonl").exists()


@of_each_command
def test_a_removed_check_of_writes_without_a_plan(
    repository: Repository, sent: Requests, command: str
) -> None:
    """It is this check that refuses these commands: without it they write."""
    line = without_a_plan(repository)[command]

    with mock.patch.object(unplanned_writes, "is_bound", return_value=False):
        ran = typed(*line, "--yes")

    assert (ran.code, len(changes(sent))) == (0, 1), ran.err


@of_each_command
def test_an_emergency_without_a_plan(repository: Repository, sent: Requests, command: str) -> None:
    """Where it is permitted, --break-glass writes, and the journal has the command and reason."""
    line = without_a_plan(repository)[command]

    ran = typed(*line, "--yes", *EMERGENCY)

    assert ran.code == 0, ran.err
    assert len(changes(sent)) == 1
    (run,) = typed("journal", "history", "--format", "json").json
    assert (run["command"], run["overrides"]) == (command, ["it burns"])


NO_WRITES: dict[str, tuple[str, str, str]] = {
    "a person says no": ("no", "", "it burns"),
    "there is no such input": ("yes", "missing", "it burns"),
    "there is no reason": ("yes", "", " "),
}


@of_each_command
@pytest.mark.parametrize("case", NO_WRITES)
def test_no_emergency_without_a_write(
    repository: Repository, sent: Requests, monkeypatch: pytest.MonkeyPatch, command: str, case: str
) -> None:
    """A command that writes nothing notes no emergency in the journal."""
    answer, instead, reason = NO_WRITES[case]
    monkeypatch.setattr("reconciler.cli.service_records.is_terminal", lambda: True)
    monkeypatch.setattr("reconciler.cli.console._answer", lambda _: answer)
    *words, last = without_a_plan(repository)[command]

    ran = typed(*words, instead or last, "--break-glass", reason)

    assert (ran.code == 0) == (answer == "no"), ran.err
    assert changes(sent) == []
    assert not (repository.root / ".reconciler" / "production.jsonl").exists()
