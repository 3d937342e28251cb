"""Every cell of the trust table: a checkout, what is on the way to its project file, and an event.

The repositories are real. What they answer does not change, so git is asked each question once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from unittest import mock

from harness.forge import FORK, HERE, pull_request
from harness.jobs import without_a_job
from harness.repositories import begin, committed, git

from reconciler.ci.checkout import admit, check_and_judge, options_of, places_allowed
from reconciler.ci.runner import read_inputs
from reconciler.ci.trust import Whole, read_event
from reconciler.errors import GuardRefused, InvalidInput
from reconciler.operations.secret_sources import Allowed
from reconciler.runtime.git import Git
from reconciler.runtime.progress import Waits
from reconciler.workspace import workspace

WHO = ("default branch", "trusted branch", "same repository", "fork", "unknown")
WAYS = (
    *("clean", "submodule", "nested repository", "linked work tree"),
    *("link of the file", "link of a folder"),
)
COMMITS = ("newest", "older", "its own", "shallow")
EVENTS = (
    *("push to default", "push to branch", "pull_request", "pull_request_target"),
    *("merge_group", "schedule", "workflow_dispatch", "outside"),
)
BRANCHES = {
    "default branch": "main",
    "trusted branch": "release",
    "same repository": "try",
    "fork": "fork",
    "unknown": "try",
}
PROJECT = """\
manifests: [manifests]
trustedBranches: [{trusted}]
secrets: {{token: {{command: [get, {name}]}}}}
rules: [{{name: rule-of-{name}, on: plan, check: 'true', message: x}}]
defaultEnvironment: production
environments:
  production: {{baseUrl: 'https://{name}.test', guards: {{allow: [{allow}]}}}}
"""
ALLOWED = {
    "older": "alert-deleted",
    "newest": "slo-target-lowered",
    "release": "dashboard-locked",
    "try": "alert-silenced",
    "fork": "policy-samples",
    "elsewhere": "overwrites-edit",
}
"""One consent for each commit, so that it shows whose guards count."""

NOWHERE = "nowhere"


@dataclass(frozen=True, order=True)
class Cell:
    """One job: who made the commit of the event, what is checked out, and the event."""

    who: str
    way: str
    commit: str
    event: str

    @property
    def branch(self) -> str:
        """The branch of whoever made the commit."""
        return BRANCHES[self.who]


CELLS = tuple(Cell(*row) for row in product(WHO, WAYS, COMMITS, EVENTS))


@dataclass(frozen=True)
class Decided:
    """Where the key may go, and of which commits the settings are that decide on consent.

    `trusted` says that an apply is possible, and a command of a secret may be one of the checkout.
    """

    key: str
    settings: frozenset[str] = frozenset()
    trusted: bool = False


@dataclass
class Repositories:
    """One history, and checkouts of it that are made when they are asked for."""

    folder: Path
    _made: dict[tuple[str, str, bool], Path] = field(default_factory=dict)
    _answers: dict[object, bytes] = field(default_factory=dict)
    _heads: dict[Path, str] = field(default_factory=dict)

    @cached_property
    def history(self) -> Path:
        """The repository that all others are clones of."""
        root = self.folder / "history"
        _write(root, "older")
        begin(root)
        git(root, "tag", "older")
        for name in ("release", "try", "fork"):
            git(root, "checkout", "--quiet", "-b", name, "older")
            _write(root, name)
            committed(root)
        git(root, "checkout", "--quiet", "main")
        _write(root, "newest")
        committed(root)
        git(root, "tag", "newest")
        return root

    def checkout(self, at: str, way: str, *, shallow: bool = False) -> Path:
        """Return a checkout of a branch, or of a tag of the default one, with this on the way."""
        key = (at, way, shallow)
        if key not in self._made:
            root = self.folder / f"checkout-{len(self._made)}"
            depth = ("--depth", "1") if shallow else ()
            source = f"file://{self.history}"
            git(self.folder, "clone", "--quiet", *depth, "--branch", at, source, str(root))
            git(root, "remote", "set-url", "origin", "https://forge.example.com/team/shop.git")
            _put_on_the_way(root, way, self.history)
            if way != "clean" and at not in ("main", "older", "newest"):
                committed(root)
            self._made[key] = root
        return self._made[key]

    def decide(self, cell: Cell) -> Decided:
        """Return what the product decides in a cell."""
        at = {"newest": "newest", "older": "older"}.get(cell.commit, cell.branch)
        root = self.checkout(at, cell.way, shallow=cell.commit == "shallow")
        with self._in_job(root, self._variables(cell, root)):
            try:
                return _decide()
            except (GuardRefused, InvalidInput):
                return Decided(NOWHERE)

    def _variables(self, cell: Cell, root: Path) -> dict[str, str]:
        if cell.event == "outside":
            return {}
        newest = self._head(self.history)
        is_its_own = cell.commit in ("its own", "shallow")
        own = self._head(root if is_its_own else self.checkout(cell.branch, cell.way))
        change = pull_request(FORK if cell.who == "fork" else HERE, base=newest)
        group = {"head_sha": own, "base_sha": newest, "base_ref": "refs/heads/main"}
        payload = {"repository": HERE, "merge_group": group}
        if cell.event.startswith("pull_request"):
            payload = change
        event = cell.event.partition(" ")[0]
        is_on_main = cell.event in ("push to default", "pull_request_target", "schedule")
        ref = "refs/heads/main" if is_on_main else f"refs/heads/{cell.branch}"
        sha = newest if is_on_main else own
        if cell.who == "unknown" and not is_on_main:
            ref, sha = "", ""
        file = self.folder / f"{event}-{cell.who}.json"
        file.write_text(json.dumps(payload), encoding="utf-8")
        return {
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_REPOSITORY": "team/shop",
            "GITHUB_REF": ref,
            "GITHUB_SHA": sha,
        }

    def _head(self, root: Path) -> str:
        if root not in self._heads:
            self._heads[root] = git(root, "rev-parse", "HEAD")
        return self._heads[root]

    @contextmanager
    def _in_job(self, root: Path, variables: Mapping[str, str]) -> Iterator[None]:
        before = Path.cwd()
        environ = {**without_a_job(), **variables, "INPUT_PROJECT": "shop/reconciler.yaml"}
        try:
            os.chdir(root)
            with (
                mock.patch.dict(os.environ, environ, clear=True),
                asked_once(self._answers),
                # There are no manifests that a rule, in a process of its own, could be about.
                mock.patch.object(workspace, "complain_by_features"),
            ):
                yield
        finally:
            os.chdir(before)


@contextmanager
def asked_once(answers: dict[object, bytes]) -> Iterator[None]:
    """Ask git each question once, of repositories that do not change."""
    run = Git.run

    def answered(one: Git, *arguments: str, given: bytes = b"", more: object = None) -> bytes:
        asked = (one.folder, one.options, arguments, given)
        if asked not in answers:
            answers[asked] = run(one, *arguments, given=given)
        assert more is None
        return answers[asked]

    with mock.patch.object(Git, "run", answered):
        yield


def _write(root: Path, name: str) -> None:
    """Write the project at the root, in `shop` and elsewhere, as a commit of this name has it."""
    for folder in (root, root / "shop", root / "elsewhere"):
        (folder / "manifests").mkdir(parents=True, exist_ok=True)
        (folder / "manifests" / "README").write_text("none yet\n", encoding="utf-8")
        said = "elsewhere" if folder.name == "elsewhere" else name
        trusted = "release" if name == "newest" else name
        text = PROJECT.format(name=said, allow=ALLOWED[said], trusted=trusted)
        (folder / "reconciler.yaml").write_text(text, encoding="utf-8")


def _put_on_the_way(root: Path, way: str, history: Path) -> None:
    """Put something on the way to the project file; other repositories are at an old commit."""
    shop = root / "shop"
    if way == "clean":
        return
    if way == "link of the file":
        (shop / "reconciler.yaml").unlink()
        (shop / "reconciler.yaml").symlink_to("../elsewhere/reconciler.yaml")
        return
    shop.rename(root.parent / f"{root.name}-before")
    if way == "link of a folder":
        shop.symlink_to("elsewhere")
        return
    if way == "linked work tree":
        git(root, "fetch", "--quiet", f"file://{history}", "refs/tags/older")
        git(root, "worktree", "add", "--quiet", "--detach", str(shop), "FETCH_HEAD")
        return
    git(root.parent, "clone", "--quiet", "--branch", "older", str(history), str(shop))
    if way == "submodule":
        kept = root / ".git" / "modules" / "shop"
        kept.parent.mkdir()
        (shop / ".git").rename(kept)
        (shop / ".git").write_text("gitdir: ../.git/modules/shop\n", encoding="utf-8")


def _decide() -> Decided:
    """Return what a job decides before its first request."""
    event, inputs = read_event(os.environ), read_inputs(os.environ, "plan")
    asked = options_of(inputs, Waits())
    _, use = check_and_judge(event, inputs, asked, None)
    admitted = admit(use, event, inputs, asked)
    settings = admitted.use.project.settings
    commands = [(place.command or [""])[-1] for place in settings.secrets.values()]
    rules = [rule.name.removeprefix("rule-of-") for rule in settings.own_rules]
    allow = [name for name, code in ALLOWED.items() if code in admitted.environment.guards.allow]
    key = (admitted.environment.base_url or NOWHERE).removeprefix("https://").removesuffix(".test")
    trusted = isinstance(admitted.use, Whole)
    assert trusted or places_allowed(admitted.use, event) is not Allowed.ALL
    return Decided(key, frozenset((*commands, *rules, *allow)), trusted)


def wanted(cell: Cell) -> Decided:
    """Return what must be decided: the rule by itself, which asks neither git nor the product."""
    if cell.event == "outside" or cell.way.startswith("link of"):
        return Decided(NOWHERE)
    on_main = cell.event in ("push to default", "pull_request_target", "schedule")
    is_known = cell.who != "unknown" or on_main
    # What the forge itself says to be the default branch's newest commit.
    says_newest = cell.event in ("pull_request", "merge_group") or (
        on_main or (is_known and cell.who == "default branch")
    )
    is_old = cell.commit in ("newest", "older") or cell.who == "default branch"
    has_newest = cell.commit != "shallow" or cell.who == "default branch"
    is_own = cell.commit in ("its own", "shallow") and cell.event in (
        "push to branch",
        "workflow_dispatch",
    )
    trusted = cell.way == "clean" and (
        is_old or (is_own and has_newest and cell.who == "trusted branch")
    )
    # A repository inside of another may have been brought along, and its branches with it.
    knows_newest = has_newest and (cell.way == "clean" or says_newest)
    if not knows_newest or (cell.event == "pull_request_target" and not trusted):
        return Decided(NOWHERE)
    return Decided("newest", frozenset(["newest"]), trusted)


def _row(cell: Cell) -> str:
    if cell.way.startswith("link of"):
        return "any commit, with a link on the way"
    if cell.way != "clean":
        return "any commit, the project file in another repository"
    if cell.commit in ("newest", "older") or cell.who == "default branch":
        return "a commit of the default branch, newest or older"
    if cell.commit == "shallow":
        return "another commit, in a shallow checkout"
    if cell.who == "trusted branch":
        return "a trusted branch's own commit"
    return "the commit of a change, a fork or of unknown origin"


def _column(cell: Cell) -> str:
    return "push, dispatch" if cell.event in ("push to branch", "workflow_dispatch") else cell.event


def _word(decided: Decided) -> str:
    if decided.key == NOWHERE:
        return "nowhere"
    return "trusted" if decided.trusted else "plan"


def summary() -> str:
    """Return the table of docs/security.md, out of the rule."""
    found: dict[str, dict[str, set[str]]] = {}
    for cell in CELLS:
        words = found.setdefault(_row(cell), {}).setdefault(_column(cell), set())
        words.add(_word(wanted(cell)))
    columns = list(dict.fromkeys(map(_column, CELLS)))
    lines = [f"| checked out | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [
        f"| {row} | {' | '.join(' or '.join(sorted(cells[column])) for column in columns)} |"
        for row, cells in found.items()
    ]
    return "\n".join(lines) + "\n"
