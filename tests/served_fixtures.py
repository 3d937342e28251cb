"""A service on a port of this machine, and a workspace to apply to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import Served, served, workspace


@pytest.fixture
def service() -> Iterator[Served]:
    with served() as service:
        yield service


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return workspace(tmp_path / "work")
