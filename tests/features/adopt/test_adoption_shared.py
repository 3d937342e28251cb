"""Adopt, import and roll back where machines share the journal, in a git ref and in a bucket."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from harness.doors import APPLY, KEY, Ran, begun, environment, in_this_process
from harness.repositories import ISOLATED, git, repository
from harness.routes import API_ROOT, DASHBOARDS
from harness.served import Served
from harness.stores import git_store, journal_on, lease

from reconciler.journal.journal import Journal
from reconciler.journal.object_store import Bucket, ObjectStore
from reconciler.journal.store import Store
from reconciler.runtime.failpoints import Point, _watchers

LEASE = lease(host="far", actor="alice")
BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard:
    name: Checkout   # what people see
    slugName: checkout
"""
STRANGER = {"name": "Made by hand", "slugName": "by-hand"}


@dataclass
class Machine:
    """One of several checkouts that share a journal."""

    folder: Path
    service: Served
    more: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> Ran:
        """Run one command there."""
        return in_this_process(
            self.folder, self.service.base_url, *arguments, more={**ISOLATED, **self.more}
        )

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Start one command there and go on."""
        environ = environment(self.service.base_url, **ISOLATED, **self.more)
        return begun(self.folder, arguments, environ)

    @property
    def text(self) -> str:
        """The manifest."""
        return (self.folder / "checkout.yaml").read_text()

    def files(self) -> list[str]:
        """Name all files that stand in the folder of imports."""
        return sorted(path.name for path in self.folder.rglob("*-hand.yaml"))


@dataclass
class Shared:
    """Two machines, the store of their journal, and how it is made unreachable."""

    one: Machine
    two: Machine
    store: Store
    away: Callable[[], Any]

    def journal(self) -> Journal:
        """Read the journal."""
        service = self.one.service
        found = journal_on(self.store, environment="default", target=service.base_url)
        found.load()
        return found

    def entries(self) -> list[str]:
        """Name the entries of the journal."""
        return [type(entry).__name__ for entry in self.journal().entries]


@pytest.fixture(params=["git", "s3"])
def shared(
    request: pytest.FixtureRequest, tmp_path: Path, service: Served, monkeypatch: pytest.MonkeyPatch
) -> Shared:
    """Give two machines that applied a dashboard, and keep their journal in one place."""
    if request.param == "git":
        checkout = repository(tmp_path / "git")
        place = "git:refs/reconciler/test"
        remote = checkout.parent / "remote.git"
        other = tmp_path / "other"
        git(tmp_path, "clone", "--quiet", str(remote), str(other))
        store: Store = git_store(checkout)
        more: Mapping[str, str] = {}
        gone = remote.with_name("gone.git")

        @contextmanager
        def away() -> Iterator[None]:
            remote.rename(gone)
            try:
                yield
            finally:
                gone.rename(remote)
    else:
        more = request.getfixturevalue("s3")
        for name, value in more.items():
            monkeypatch.setenv(name, value)
        place = f"s3://journals/{uuid4()}"
        checkout, other = tmp_path / "one", tmp_path / "other"
        for folder in (checkout, other):
            folder.mkdir()
        store = ObjectStore(Bucket(place, more))

        @contextmanager
        def away() -> Iterator[None]:
            with monkeypatch.context() as patched:
                patched.setattr(Bucket, "put", _refuse)
                yield

    machines = []
    for folder in (checkout, other):
        (folder / "reconciler.yaml").write_text(
            f"environments: {{default: {{journal: '{place}'}}}}\n"
        )
        (folder / "checkout.yaml").write_text(BOARD)
        machines.append(Machine(folder, service, more))
    ended = machines[0].run(*APPLY, "--yes")
    assert ended.code == 0, ended.err
    return Shared(machines[0], machines[1], store, away)


def _refuse(self: Bucket, *_: Any) -> None:
    with self._errors("written"):
        raise OSError("the bucket is gone")


def ask(service: Served, method: str, path: str, body: Any = None) -> Any:
    """Do something in the web interface."""
    answer = httpx.request(
        method, service.base_url + API_ROOT + path, json=body, headers={"Authorization": KEY}
    )
    assert answer.is_success, answer.text
    return answer.json()


def edit_live(service: Served, **fields: Any) -> None:
    """Edit the dashboard as somebody in the web interface."""
    stored = ask(service, "GET", "/v1/dashboards/by-slug/checkout")["dashboard"]
    ask(service, "PUT", DASHBOARDS, {"dashboard": {**stored, **fields}, "requestId": str(uuid4())})


def live_name(service: Served) -> str:
    """Give what the dashboard is called live."""
    name: str = ask(service, "GET", "/v1/dashboards/by-slug/checkout")["dashboard"]["name"]
    return name


def make_by_hand(service: Served) -> str:
    """Make another dashboard in the web interface, and give its id."""
    made = ask(service, "POST", DASHBOARDS, {"dashboard": STRANGER, "requestId": str(uuid4())})
    remote_id: str = made["dashboardId"]
    return remote_id


def test_locked_by_another_machine(shared: Shared) -> None:
    """While another machine holds the lock nothing is written anywhere, and who does is said."""
    edit_live(shared.one.service, name="Live")
    stranger = make_by_hand(shared.one.service)
    before, writes = shared.entries(), len(shared.one.service.writes)
    shared.store.lock(LEASE)

    ended = [
        shared.one.run("adopt", "--all"),
        shared.one.run("import", "dashboard", stranger),
        shared.one.run("rollback", "last", "--yes"),
    ]

    assert [one.code for one in ended] == [5, 5, 5], [one.err for one in ended]
    assert all("alice" in one.err and "journal unlock" in one.err for one in ended)
    assert shared.one.text == BOARD
    assert shared.one.files() == []
    assert shared.entries() == before
    assert len(shared.one.service.writes) == writes
    shared.store.release(LEASE, "")
    assert shared.one.run("adopt", "--all").code == 0
    assert shared.one.run("import", "dashboard", stranger).code == 0


def test_two_machines_adopt_at_once(shared: Shared) -> None:
    """Both end well or wait their turn; the journal stays whole, and then all is kept."""
    edit_live(shared.one.service, name="Live")
    words = ("adopt", "--all", "--lock-timeout", "60s")

    with shared.one.begin(*words) as first, shared.two.begin(*words) as second:
        told = [process.communicate(timeout=60) for process in (first, second)]

    assert (first.returncode, second.returncode) in ((0, 0), (0, 3), (3, 0)), told
    assert "Live" in shared.one.text + shared.two.text
    journal = shared.journal()
    assert [value.declared["dashboard"]["name"] for value in _last(journal)] == ["Live"]
    texts = sorted((shared.one.text, shared.two.text))
    for machine in (shared.one, shared.two):
        (machine.folder / "checkout.yaml").write_text(
            next(text for text in texts if "Live" in text)
        )
        plan = json.loads(machine.run("plan", "--format", "json").out)
        assert [change["action"] for change in plan["changes"]] == ["keep"]


def _last(journal: Journal) -> list[Any]:
    return [memory.last for memory in journal.history.memories.values()]


def test_what_another_machine_adopted(shared: Shared) -> None:
    """A machine whose git is behind neither puts the edit back nor takes it for its own."""
    edit_live(shared.one.service, name="Live")
    assert shared.one.run("adopt", "--all").code == 0

    ended = shared.two.run("adopt", "--all", "--format", "json")

    assert ended.code == 0, ended.err
    assert shared.two.text == BOARD
    assert live_name(shared.one.service) == "Live"
    (one,) = json.loads(ended.out)["resources"]
    assert one["state"] == "same"
    assert "says otherwise" in one["note"]
    assert "as live already" not in one["note"]
    assert "1 that only" in shared.two.run("adopt", "--all").out


@pytest.mark.parametrize(
    ("shared", "point"),
    [("git", Point.FILE_KEPT), ("s3", Point.FILE_REPLACED)],
    indirect=["shared"],
)
def test_journal_lost_while_adopting(shared: Shared, point: Point) -> None:
    """A journal that cannot be written after the manifest was is said; the next run ends it."""
    edit_live(shared.one.service, name="Live")

    ended = _without_journal(shared, point, "adopt", "--all")

    assert ended.code == 8, ended.err
    assert "Traceback" not in ended.err
    assert shared.one.text == BOARD.replace("Checkout ", "Live ")
    again = unlocked(shared.one, "adopt", "--all")
    assert again.code == 0, again.err
    plan = json.loads(shared.one.run("plan", "--format", "json").out)
    assert [change["action"] for change in plan["changes"]] == ["keep"]
    assert shared.entries()[-2:] == ["Started", "WrittenEntry"]


@pytest.mark.parametrize(
    ("shared", "point"),
    [("git", Point.FILE_BEGUN), ("s3", Point.FILES_SYNCED)],
    indirect=["shared"],
)
def test_journal_lost_while_importing(shared: Shared, point: Point) -> None:
    """A journal that cannot be written after files were is said; the next run ends it."""
    stranger = make_by_hand(shared.one.service)

    ended = _without_journal(shared, point, "import", "dashboard", stranger)

    assert ended.code == 8, ended.err
    assert "Traceback" not in ended.err
    again = unlocked(shared.one, "import", "dashboard", stranger)
    assert again.code == 0, again.err
    assert shared.one.files() == ["made-by-hand.yaml"]
    plan = json.loads(shared.one.run("plan", "--format", "json").out)
    assert {change["action"] for change in plan["changes"]} == {"keep"}
    assert shared.entries().count("ImportedEntry") == 1


@pytest.mark.parametrize(
    ("shared", "point"), [("git", Point.BEFORE_SEND), ("s3", Point.REPLY_READ)], indirect=["shared"]
)
def test_journal_lost_while_rolling_back(shared: Shared, point: Point) -> None:
    """What was sent and could not be journaled is saved and said; the next run settles it."""
    (shared.one.folder / "checkout.yaml").write_text(BOARD.replace("Checkout ", "Later "))
    assert shared.one.run("apply", "--yes").code == 0
    assert live_name(shared.one.service) == "Later"
    sent = len(shared.one.service.writes)

    ended = _without_journal(shared, point, "rollback", "last", "--yes", after_writes=True)

    assert ended.code == 8, ended.err
    assert "Traceback" not in ended.err
    assert len(shared.one.service.writes) == sent + 1
    assert live_name(shared.one.service) == "Checkout"
    (shared.one.folder / "checkout.yaml").write_text(BOARD)
    again = unlocked(shared.one, "apply", "--yes")
    assert again.code == 0, again.err
    plan = json.loads(shared.one.run("plan", "--format", "json").out)
    assert [change["action"] for change in plan["changes"]] == ["keep"]


def unlocked(machine: Machine, *arguments: str) -> Ran:
    """Run a command once the lock that a run left is taken away, by the line that is advised."""
    locked = machine.run(*arguments)
    assert locked.code == 5, locked.err
    advised = re.search(r"`reconciler (journal unlock [^`]*)`", locked.err)
    assert advised is not None, locked.err
    owner = advised[1].split()[-1]
    assert machine.run("journal", "unlock", owner).code == 0
    return machine.run(*arguments)


def _without_journal(
    shared: Shared, point: Point, *arguments: str, after_writes: bool = False
) -> Ran:
    """Run a command whose journal cannot be written from a point on."""
    with ExitStack() as stack:
        gone: list[bool] = []
        writes = len(shared.one.service.writes)

        def lose(reached: Point) -> None:
            is_time = (
                not after_writes
                or (Point.BEFORE_SEND is point and shared.entries()[-1] == "Started")
                or len(shared.one.service.writes) > writes
            )
            if reached is point and not gone and is_time:
                gone.append(True)
                stack.enter_context(shared.away())

        _watchers.append(lose)
        try:
            ended = shared.one.run(*arguments)
        finally:
            _watchers.remove(lose)
        assert gone
    saved = re.search(r"were saved in (\S+)", ended.err)
    if saved is not None:
        Path(saved[1]).unlink()
    return ended
