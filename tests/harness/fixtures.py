"""Fixtures that many folders of tests share."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.jobs import Jobs, open_jobs
from harness.served import Served, served
from harness.sites import ALERT_ID, Site
from harness.stores import Opening, object_service, opening
from harness.workspaces import Shop, Workspace, open_shop, project_at, seed
from harness.workspaces import workspace as write_workspace
from reconciler.emulator import create_app


@pytest.fixture
def service() -> Iterator[Served]:
    with served() as service:
        yield service


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_workspace(tmp_path / "work")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return project_at(tmp_path / "project")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, create_app(alert_ids=[ALERT_ID]))


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seed(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def shop(tmp_path: Path, demo_data: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    return open_shop(tmp_path, demo_data, monkeypatch)


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    with open_jobs(tmp_path) as opened:
        monkeypatch.chdir(opened.root)
        yield opened


@pytest.fixture
def unused_port() -> int:
    """Give a port of this machine that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture(scope="session")
def s3() -> Iterator[Mapping[str, str]]:
    with object_service() as environ:
        yield environ


@pytest.fixture
def in_s3(s3: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.items():
        monkeypatch.setenv(name, value)


def _place(request: pytest.FixtureRequest, folder: Path) -> Opening:
    if request.param == "s3":
        request.getfixturevalue("in_s3")
    return opening(request.param, folder)


@pytest.fixture(params=["file", "git", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    return _place(request, tmp_path)


@pytest.fixture(params=["git", "s3"])
def shared_place(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    return _place(request, tmp_path)
