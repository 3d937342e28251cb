"""A plan that remembers what it decided is the plan that decides everything, byte for byte."""

from __future__ import annotations

import os
import re
import time
from contextlib import chdir
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import httpx
import pytest
from harness.doors import APPLY, Ran, environment, typed_at
from harness.random_workspaces import ALERT_IDS, SECRET, RandomWorkspace
from harness.routes import API_ROOT, DASHBOARDS
from harness.served import Served, served
from harness.workspaces import WORKSPACE, Workspace

from reconciler.api import replies
from reconciler.emulator import Profile, settings_of
from reconciler.emulator.alert_definition_endpoints import plant
from reconciler.model.assumptions import Assumptions
from reconciler.operations import plan_and_drift as session
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import begin_session
from reconciler.planning import decide, decision_cache
from reconciler.project import Service
from reconciler.runtime.cache import VARIABLE

WORLDS = int(os.environ.get("KEPT_WORLDS", "6"))
FLAGS = ((), (), ("-v",), ("--track-record",), ("--select", "kind=SLO"), ("--exit-code",))
OTHER = "https://hooks.example.com/"
FORMS = ("text", "json", "jsonl", "markdown", "html")
REFERRING = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: referring}
spec:
  dashboard: {name: Referring, description: "of ${ref:SLO/checkout}", layout: {sections: []}}
"""
ANOTHER = Assumptions(basePath="/another")


@dataclass
class World:
    """A workspace and its service, with a cache beside it."""

    root: Path
    service: Served
    environ: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Name the cache."""
        cache = self.root.parent / "cache"
        more = {VARIABLE: str(cache), SECRET: OTHER}
        self.environ = environment(self.service.base_url, **more)

    def run(self, *arguments: str) -> Ran:
        """Run one command."""
        return typed_at(self.root, self.environ, *arguments)

    def plan(self, *arguments: str) -> tuple[int, str, str]:
        """Plan, and give all that was told."""
        ran = self.run("plan", *arguments)
        # A page says when it was made.
        return ran.code, re.sub("<time.*?</time>", "", ran.out), ran.err

    @property
    def entries(self) -> list[Path]:
        """The entries of the cache, the one that was used last at the end."""
        found = (self.root.parent / "cache").glob("*.entry")
        return sorted(found, key=lambda one: one.stat().st_mtime_ns)

    def gets(self) -> list[str]:
        """Give the paths that were read so far."""
        return [
            request.path.removeprefix(API_ROOT)
            for request in self.service.switch.app.state.requests
            if request.method == "GET"
        ]

    def put(self, word: str) -> None:
        """Write one dashboard of the service as somebody else does."""
        headers = {"Authorization": self.environ["RECONCILER_API_KEY"]}
        with httpx.Client(base_url=self.service.base_url + API_ROOT, headers=headers) as client:
            ids = [get.rpartition("/")[2] for get in self.gets() if get.startswith(DASHBOARDS)]
            for remote_id in sorted(set(ids))[:1]:
                found = client.get(f"{DASHBOARDS}/{remote_id}")
                if found.status_code == httpx.codes.OK:
                    board = {**found.json()["dashboard"], "description": word}
                    body = {"dashboard": board, "requestId": word + str(time.time_ns())}
                    client.put(DASHBOARDS, json=body).raise_for_status()


@pytest.fixture
def world(tmp_path: Path, service: Served) -> World:
    """Give the usual workspace, applied."""
    made = Workspace(tmp_path / "world")
    made.settle("environments: {local: {guards: {allow: [takes-over]}}}\n")
    made.write("all.yaml", WORKSPACE)
    made.write("referring.yaml", REFERRING)
    world = World(made.root, service)
    applied = world.run(*APPLY, "--yes")
    assert applied.code == 0, applied.err
    return world


@pytest.fixture
def decisions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which resources are decided."""
    made: list[str] = []
    decided_really = decide.decide

    def noted(manifest: Any, knowledge: Any) -> Any:
        made.append(str(manifest.ref))
        return decided_really(manifest, knowledge)

    monkeypatch.setattr(decision_cache, "decide", noted)
    return made


@pytest.mark.parametrize("form", FORMS)
def test_same_in_every_form(world: World, form: str) -> None:
    """What was decided before is told as deciding it tells it, in every form and in the file."""
    without = world.plan("--no-cache", "--format", form, "--out", "one.json")
    first = world.plan("--format", form)
    again = world.plan("--format", form, "--out", "two.json")

    assert without == first == again
    assert (world.root / "one.json").read_text() == (world.root / "two.json").read_text()


def test_nothing_is_decided_twice(world: World, decisions: list[str]) -> None:
    """What was decided while others were waited for is not decided again."""
    world.plan("--no-cache")

    assert len(decisions) == len(set(decisions)) > 1


def test_what_is_unchanged_is_not_decided(world: World, decisions: list[str]) -> None:
    """A second plan asks for the same documents, and decides only lists of which there is one."""
    world.plan()
    decisions.clear()
    before = len(world.gets())
    world.plan()
    asked = world.gets()[before:]

    assert 0 < len(asked) == len(set(asked))
    assert decisions == ["LogPolicySet/all"]


@pytest.mark.parametrize("seed", range(WORLDS))
def test_random_worlds(seed: int, tmp_path: Path) -> None:
    """Warm, cold, damaged and foreign caches give one plan, whatever happened since the last."""
    random = Random(seed)  # noqa: S311 - no secret
    made = RandomWorkspace(random)
    root = tmp_path / "world"
    root.mkdir()
    made.edit()
    made.write(root)
    profile = settings_of(Profile, {"etags": random.choice(["none", "strong", "weak"])})
    with served(profile=profile) as service:
        app = service.switch.app
        with app.state.store.writing():
            plant(app.state.store, ALERT_IDS, "2026-01-01T00:00:00Z")
        world = World(root, service)
        for _ in range(4):
            happens = random.choice(["apply", "edit", "live", "secret", "nothing", "refused"])
            if happens == "apply":
                world.run(*APPLY, "--yes")
            elif happens == "edit":
                made.edit(0.15)
                made.write(root)
            elif happens == "live":
                world.put(random.choice(["edited", "plain"]))
            elif happens == "secret":
                world.environ[SECRET] = random.choice([OTHER, OTHER + "other"])
            elif happens == "refused":
                service.switch.misbehave({"method": "GET", "path": "*", "fault": {"status": 404}})
            asked = "--format", random.choice(FORMS), *random.choice(FLAGS)
            warm = world.plan(*asked)
            _spoil(world, random)
            assert world.plan(*asked) == warm
            assert world.plan(*asked, "--no-cache") == warm
            with mock.patch.object(decision_cache.Decisions, "observed", lambda *given: given[-1]):
                assert world.plan(*asked, "--no-cache") == warm
            service.switch.behave()


def _spoil(world: World, random: Random) -> None:
    """Damage an entry, give it to another name, or leave all as it is."""
    entries = world.entries
    way = random.randrange(4)
    if not entries or way == 0:
        return
    one = random.choice(entries)
    if way == 1:
        content = bytearray(one.read_bytes())
        content[random.randrange(len(content))] ^= 1
        one.write_bytes(content)
    elif way == 2:
        one.write_bytes(one.read_bytes()[: random.randrange(one.stat().st_size)])
    else:
        one.write_bytes(random.choice(entries).read_bytes())


BROKEN = (
    {"body": "{not JSON"},
    {"body": "[]"},
    {"html": True},
    {"status": 400},
    {"status": 404},
    {"status": 206},
    {"truncate": 9},
)


@pytest.mark.parametrize("fault", BROKEN)
def test_answers_of_no_use(world: World, fault: dict[str, Any]) -> None:
    """An answer that is of no use is told as it is without a cache, and so is all else."""
    world.plan()
    world.service.switch.misbehave({"method": "GET", "path": "/v1/slo/*", "fault": fault})
    warm = world.plan("--format", "json")

    assert warm == world.plan("--format", "json", "--no-cache")
    world.service.switch.behave()


def test_folders_in_the_cache(world: World) -> None:
    """Folders where the cache has files are as if nothing had been kept."""
    without = world.plan("--no-cache")
    world.plan()
    for entry in world.entries:
        entry.unlink()
        entry.mkdir()
    assert world.plan() == without
    key = world.root.parent / "cache" / "key"
    key.unlink()
    key.mkdir()

    assert world.plan() == without
    assert world.run("validate").code == world.run("doctor").code == 0


def test_the_plan_of_a_part_forgets_nothing(world: World, decisions: list[str]) -> None:
    """What a plan of a part did not look at is still decided for the next whole one."""
    world.plan()
    world.plan("--select", "SLO")
    decisions.clear()
    world.plan()

    assert decisions == ["LogPolicySet/all"]


def test_an_edit_is_seen(world: World) -> None:
    """What somebody edited since is decided, though all else of the run is remembered."""
    world.plan()
    world.put("by hand")
    code, told, _ = world.plan("--format", "json")

    assert code == 0
    assert '"action": "update"' in told


def test_another_id_of_what_is_referred_to(world: World, decisions: list[str]) -> None:
    """What refers to something is decided anew once that has another id."""
    world.plan()
    decisions.clear()
    found = decision_cache.read_decisions

    def renumbered(text: bytes | None) -> Any:
        known = found(text)
        for row in known.known.values():
            row["ids"] = dict.fromkeys(row["ids"], "another")
        return known

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decision_cache, "read_decisions", renumbered)
        assert world.plan()[0] == 0

    assert sorted(decisions) == ["Dashboard/referring", "LogPolicySet/all"]


def test_nothing_is_parsed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an answer that did not change nobody reads more than its bytes."""
    world.plan()
    parsed: list[int] = []
    make = replies.make_reply

    def noted(status: int, body: bytes, headers: Any) -> Any:
        parsed.append(status)
        return make(status, body, headers)

    monkeypatch.setattr(replies, "make_reply", noted)
    world.plan()

    assert len(parsed) == len([number for number in parsed if number == 200]) <= 2


def test_rules_of_plans_see_documents(world: World, decisions: list[str]) -> None:
    """Where a rule looks at a plan, every resource of it is decided."""
    rule = "rules: [{name: any, on: plan, kinds: [SLO], check: 'true', message: m}]\n"
    (world.root / "reconciler.yaml").write_text(rule + "environments: {local: {}}\n")
    world.plan()
    decisions.clear()
    world.plan()

    assert len(decisions) > 1


def test_an_edited_manifest_is_decided(world: World, decisions: list[str]) -> None:
    """An edit of one manifest leaves the decisions about the others as they are."""
    world.plan()
    text = (world.root / "all.yaml").read_text()
    (world.root / "all.yaml").write_text(text.replace("99.9", "99.5"))
    decisions.clear()
    world.plan()

    assert sorted(decisions) == ["LogPolicySet/all", "SLO/checkout"]


def test_all_that_decides_is_in_the_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program, project, environment, setting, target or journal has other decisions."""
    with chdir(world.root), mock.patch.dict(os.environ, world.environ, clear=True):
        bench = begin_session(
            Options(paths=(), environment=None, project=None, verbose=False, quiet=True)
        )
        journal = bench.journal()
        longer = replace(journal, content=replace(journal.content, sums=["another"]))
        benches = [
            bench,
            replace(bench, name="another"),
            replace(bench, project=replace(bench.project, root=world.root.parent)),
            replace(bench, environment=bench.environment.model_copy(update={"api": ANOTHER})),
            replace(bench, target=Service("https://other.example.com", "raw")),
            replace(bench, early=lambda: longer),
            replace(bench, early=lambda: replace(journal, environment="another")),
        ]
        keys = [session.key_of_decisions(benche) for benche in benches]
        monkeypatch.setattr(session, "program", lambda: "another")
        keys.append(session.key_of_decisions(bench))

    assert len({*keys}) == len(keys)
