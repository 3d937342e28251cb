"""`race-git` and `race-s3`: applies on several machines that share one journal.

Each machine is a folder of its own: a checkout of one bare remote, or nothing but the
manifests and the address of a bucket. The journal is read back without the product.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.repositories import git, git_environ, repository
from harness.stores import BUCKET, object_service
from kill_points import die
from races import rivals
from stage import Stage, Tally, at_point
from worlds import drawing, world

MACHINES = 4
KEY = re.compile(r"<Key>([^<]+)</Key>")
UNLOCK = re.compile(r"`reconciler journal unlock [^`]*?([0-9a-f]+)`")


@dataclass
class SharedStage(Stage):
    """A stage whose journal is where several machines see it; a new place for each case."""

    machines: tuple[Path, ...] = ()
    place: str = ""

    def move(self, number: int, place: str, *, applied: bool = False) -> None:
        """Begin a world with an empty journal in a place, or with its first version `applied`."""
        self.world, self.place, self.steps = world(number), place, []
        self.folder = self.machines[0]
        self.emulator.order(
            begin={
                "profile": dict(self.world.profile),
                "alertIds": self.world.alert_ids,
                "foreign": self.world.foreign,
            }
        )
        if applied:
            self.world.write(self.folder, 0, place)
            first = self.apply()
            assert first.code == 0, first
        for machine in self.machines:
            self.world.write(machine, 1, place)
        shown = self.run("plan", "--format", "json")
        self.plans = (json.loads(shown.out),)
        self.book, self.steps = self.kept(), []
        # What was asked so far is not of the case.
        self.before = self.emulator.order(keep="begun", restore="begun").live

    def recover(self, *, plan: bool = False) -> None:
        """Take the lock of a dead run away, as its refusal says, then recover as always."""
        refused = UNLOCK.search(self.apply().err)
        if refused:
            self.run("journal", "unlock", refused[1])
        super().recover(plan=plan)

    def kept(self) -> bytes:
        """Read the journal where it is kept."""
        if self.place.startswith("git:"):
            return self._in_git("journal.jsonl")
        return self._in_bucket("entries/")

    def lock_owner(self) -> str:
        """Read whose lock there is, without the product; "" for nobody's."""
        if self.place.startswith("git:"):
            record = self._in_git("lock.json")
        else:
            record = self._in_bucket("lock.json")
        return str(json.loads(record or b"{}").get("owner", ""))

    def _in_git(self, file: str) -> bytes:
        shown = subprocess.run(
            ["git", "show", f"{self.place.removeprefix('git:')}:{file}"],  # noqa: S607 - git of the PATH
            cwd=self.machines[0].parent / "remote.git",
            env=git_environ(),
            capture_output=True,
            check=False,
        )
        return shown.stdout

    def _in_bucket(self, names: str) -> bytes:
        """Give all objects whose names begin so, one after another."""
        url, prefix = self.more["AWS_ENDPOINT_URL"], self.place.removeprefix(f"s3://{BUCKET}/")
        listed = _fetched(f"{url}/{BUCKET}?list-type=2&prefix={prefix}/{names}").decode()
        return b"".join(_fetched(f"{url}/{BUCKET}/{name}") for name in sorted(KEY.findall(listed)))


def _fetched(url: str) -> bytes:
    # The emulated service wants to be told of a key, and takes any.
    anyone = {
        "Authorization": "AWS4-HMAC-SHA256 Credential=anyone/20250131/us-east-1/s3/aws4_request"
    }
    request = urllib.request.Request(url, headers=anyone)  # noqa: S310 - loopback
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - loopback
        content: bytes = answer.read()
    return content


@contextmanager
def bucket_beside() -> Iterator[dict[str, str]]:
    """Serve objects in a child of this process, which itself must have no thread."""
    come, tell = os.pipe()
    process = os.fork()
    if not process:
        try:
            logging.getLogger("werkzeug").setLevel(logging.ERROR)
            with object_service() as environ:
                os.write(tell, json.dumps(dict(environ)).encode())
                os.close(tell)
                signal.pause()
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(come) as told:
        environ = json.loads(told.read())
    try:
        yield environ
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


@contextmanager
def on_git(stage: Stage) -> Iterator[SharedStage]:
    """Give a stage on checkouts of one bare remote."""
    first = repository(stage.root / "git")
    machines = [first]
    for number in range(1, MACHINES):
        other = first.parent / f"checkout{number}"
        git(first.parent, "clone", "--quiet", str(first.parent / "remote.git"), str(other))
        machines.append(other)
    isolated = {name: git_environ()[name] for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL")}
    yield SharedStage(stage.emulator, stage.root, more=isolated, machines=tuple(machines))


@contextmanager
def on_bucket(stage: Stage) -> Iterator[SharedStage]:
    """Give a stage on machines that know one bucket."""
    machines = tuple(stage.root / f"machine{number}" for number in range(MACHINES))
    for machine in machines:
        machine.mkdir()
    with bucket_beside() as environ:
        yield SharedStage(stage.emulator, stage.root, more=environ, machines=machines)


GIT, OBJECTS = "git:refs/reconciler/case", f"s3://{BUCKET}/case"


def race_on_git(stage: Stage, count: int, seed: int) -> Tally:
    """Let 2 to 4 checkouts apply at once, each race on a ref of its own."""
    with on_git(stage) as made:
        return _race(made, GIT, count, seed)


def race_on_bucket(stage: Stage, count: int, seed: int) -> Tally:
    """Let 2 to 4 machines apply at once, each race on a prefix of its own."""
    with on_bucket(stage) as made:
        return _race(made, OBJECTS, count, seed)


def kill_on_git(stage: Stage, count: int, seed: int) -> Tally:
    """Kill runs whose journal is in a git ref, and whose lock outlives them."""
    with on_git(stage) as made:
        return _kill(made, GIT, count, seed)


def kill_on_bucket(stage: Stage, count: int, seed: int) -> Tally:
    """Kill runs whose journal is in a bucket, and whose lock outlives them."""
    with on_bucket(stage) as made:
        return _kill(made, OBJECTS, count, seed)


def _kill(stage: SharedStage, place: str, count: int, seed: int) -> Tally:
    tally = Tally()
    chance = drawing(seed)
    for turn in range(count):
        number = seed * 1_000 + turn
        stage.move(number, f"{place}{turn}")
        point = chance.randint(1, 110)
        killed = stage.apply(meddle=at_point(point, die))
        tally.counts["killed"] += killed.code == -signal.SIGKILL
        stage.recover()
        tally.judge(f"world {number}, point {point} on {stage.place}", stage.evidence())
    return tally


def _race(stage: SharedStage, place: str, count: int, seed: int) -> Tally:
    tally = Tally()
    chance = drawing(seed)
    for turn in range(count):
        number = seed * 1_000 + turn
        stage.move(number, f"{place}{turn}")
        runners = chance.choice((2, 2, 3, 4))
        case = f"world {number}, {runners} machines on {stage.place}"
        tally.counts["winners"] += rivals(stage, list(stage.machines[:runners]), tally, case)
        stage.recover()
        tally.judge(case, stage.evidence())
    return tally
