"""The trust table: every event, checkout and project file, and where the key arrives in each.

`TRUST_TABLE=whole` tries all events of the forge with a listener, and not only one of each sort.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest
from harness.doors import KEY
from harness.ports import Stranger, stranger
from trust_cells import (
    CHECKOUTS,
    EVENTS,
    MAIN,
    PROJECTS,
    SHORT,
    Places,
    Repository,
    new_repository,
    planned_in_a_job,
    wanted,
)
from trust_product import asked_once

from reconciler.ci.trust import (
    Barred,
    BaseFile,
    BaseProject,
    Checkout,
    OverBase,
    Settings,
    Whole,
    may_use,
    read_event,
)
from reconciler.project import Project, ProjectFile, nothing_known

TRIED = EVENTS if os.environ.get("TRUST_TABLE") == "whole" else SHORT

FEWER = len(TRIED) if len(TRIED) > len(SHORT) else 8
CANARY = "canary-of-a-file-51d0"
SECRET = f"[x]\n  token: {CANARY}\n"
NOT_FOUND = {"message": "Not Found: it"}


@dataclass(frozen=True)
class World:
    """Two services that listen, a folder of somebody else, and what was asked for so far."""

    services: tuple[Stranger, Stranger]
    places: Places
    folder: Path
    made: dict[tuple[str, str], Repository] = field(default_factory=dict)

    def repository(self, checkout: str, project: str) -> Repository:
        """Give the repository of a cell, made once."""
        if (checkout, project) not in self.made:
            folder = self.folder / f"{checkout}-{project}"
            self.made[checkout, project] = new_repository(folder, checkout, project, self.places)
        return self.made[checkout, project]

    def arrived(self) -> list[str]:
        """Give where the key arrived since the last question."""
        found = [
            service.url for service in self.services if any(KEY in key for key in service.keys)
        ]
        for service in self.services:
            service.asked.clear()
        return found

    def left_outside(self) -> set[str]:
        """Give the files that stand outside since the last question, and take them away."""
        found = set()
        for file in self.places.outside.iterdir():
            if file != self.places.secret:
                found.add(file.name)
                file.unlink()
        assert self.places.secret.read_text(encoding="utf-8") == SECRET
        return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("trust")
    with stranger(404, NOT_FOUND) as good, stranger(404, NOT_FOUND) as evil:
        places = Places(good.url, evil.url, folder / "outside")
        places.outside.mkdir()
        places.secret.write_text(SECRET, encoding="utf-8")
        yield World((good, evil), places, folder)


@pytest.mark.promise("P1", "P2", "P3", "P4")
@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("checkout", CHECKOUTS)
def test_where_the_key_arrives(world: World, tmp_path: Path, checkout: str, project: str) -> None:
    """In every cell the key arrives where the rule says, and never where main does not lead."""
    repository = world.repository(checkout, project)
    answers: dict[object, bytes] = {}
    for name, ref in TRIED:
        with asked_once(answers):
            ran = planned_in_a_job(repository, tmp_path, name, ref)
        arrived = world.arrived()

        expected = wanted(repository, name, ref, world.places)
        assert arrived == ([expected] if expected else []), (name, ref, ran)
        assert ran.code == (0 if expected else 11) or project == "link", (name, ref)
        named = {repository.names, *([world.places.evil] if is_main(repository, ref) else [])}
        assert set(arrived) <= named, (name, ref)
        assert world.left_outside() == set()


@pytest.mark.promise("P6", "P5")
@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("checkout", CHECKOUTS)
def test_files_outside_of_the_project(
    world: World, tmp_path: Path, checkout: str, project: str
) -> None:
    """In every cell nothing outside is written or told, but where main itself names the place."""
    repository = world.repository(checkout, project)
    link = repository.root / "reconciler.yaml"
    answers: dict[object, bytes] = {}
    for name, ref in TRIED[:FEWER]:
        with asked_once(answers):
            ran = planned_in_a_job(repository, tmp_path, name, ref, environment="files")
        assert CANARY not in ran.out + ran.err
        outside = world.left_outside()
        led = wanted(repository, name, ref, world.places) == world.places.evil
        assert bool(outside) == led, (name, ref, outside)
        assert world.arrived() == []
    if project == "link":
        link.unlink()
        link.symlink_to(world.places.secret)
        for name, ref in TRIED[:FEWER]:
            ran = planned_in_a_job(repository, tmp_path, name, ref, environment="files")
            assert (ran.code, CANARY in ran.out + ran.err) == (4, False)
        link.unlink()
        link.symlink_to("other/reconciler.yaml")


def is_main(repository: Repository, ref: str) -> bool:
    """Tell whether what is checked out is what the forge calls the newest commit of main."""
    return repository.checkout == "own" and ref == MAIN


@pytest.mark.promise("P1")
def test_the_size_of_the_table() -> None:
    """The table has 120 cells and more, of every event that was ever believed too much."""
    assert len(TRIED) * len(CHECKOUTS) * len(PROJECTS) >= 120
    assert FEWER * len(CHECKOUTS) * len(PROJECTS) >= 120
    assert set(SHORT) <= set(EVENTS)
    assert len({name for name, _ in EVENTS}) >= 30
    assert len(set(EVENTS)) == len(EVENTS)


@pytest.mark.promise("P1")
@pytest.mark.parametrize("checkout", CHECKOUTS)
def test_every_event(world: World, tmp_path: Path, checkout: str) -> None:
    """To the rule every event of the forge is like one that is tried with a listener."""
    repository = world.repository(checkout, "edited")

    def facts(name: str, ref: str) -> tuple[bool, str, str]:
        event = read_event(repository.variables(tmp_path, name, ref))
        return event.is_try, event.named_commit if event.is_on_default else "", event.commit

    tried = [facts(*pair) for pair in SHORT]
    assert [pair for pair in EVENTS if facts(*pair) not in tried] == []


EVIL = "https://evil.test"
PRODUCTION = {"environments": {"production": {"baseUrl": EVIL}}}
OWN = Project(Path("/work"), None, ProjectFile.model_validate(PRODUCTION))
BASE = ProjectFile.model_validate({"environments": {"production": {"baseUrl": "https://a.test"}}})
HEAD, OTHER = "a" * 40, "b" * 40
STATES = [
    Checkout(commit=HEAD, is_contained=contained, differs=differs)
    for contained in (False, True)
    for differs in ("", "all.yaml")
]
BASES: tuple[BaseFile, ...] = (
    BaseProject(commit=OTHER, settings=BASE),
    BaseProject(commit=OTHER, settings=nothing_known(OWN.settings)),
    Barred(why="lost"),
)


@pytest.mark.promise("P1", "P4")
@pytest.mark.parametrize(("name", "ref"), EVENTS)
def test_the_rule_itself(tmp_path: Path, name: str, ref: str) -> None:
    """For every event, checkout and base the address is main's; a reviewed commit is used whole."""
    made = Repository("other", "same", tmp_path, HEAD, OTHER, "")
    for commit, checkout, base, allowed in product((HEAD, OTHER), STATES, BASES, (False, True)):
        event = read_event({**made.variables(tmp_path, name, ref), "GITHUB_SHA": commit})
        use = may_use(event, checkout, Settings(own=OWN, base=base, allow_untrusted=allowed))

        is_own = ref == MAIN and commit == HEAD
        is_trusted = not checkout.differs and (checkout.is_contained or is_own)
        assert isinstance(use, Whole) == (is_trusted and isinstance(base, BaseProject))
        if not isinstance(use, Barred):
            assert use.project.settings.environments["production"].base_url != EVIL
        if isinstance(use, OverBase):
            assert use.postponed == ("environments.production.baseUrl",)
            assert name != "pull_request_target" or allowed
