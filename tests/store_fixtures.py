"""The stores of the contract, each in a place of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from stores import SHARED, STORES, Opening, object_service, opening


@pytest.fixture(scope="session")
def s3() -> Iterator[Mapping[str, str]]:
    with object_service() as environ:
        yield environ


@pytest.fixture
def in_s3(s3: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    if request.param == "s3":
        request.getfixturevalue("in_s3")
    return opening(request.param, tmp_path)


@pytest.fixture(params=SHARED)
def shared_place(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    if request.param == "s3":
        request.getfixturevalue("in_s3")
    return opening(request.param, tmp_path)
