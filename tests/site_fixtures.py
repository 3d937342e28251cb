"""A service in this process that knows one alert."""

from __future__ import annotations

from pathlib import Path

import pytest
from profiles import profile
from sites import ALERT_ID, Site

from reconciler.emulator import create_app


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, create_app(alert_ids=[ALERT_ID]))


@pytest.fixture(params=["none", "wrapped"])
def either_site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    """Give one that cannot be asked for alerts and views, and one that can."""
    return Site(
        tmp_path, create_app(alert_ids=[ALERT_ID], profile=profile({"reads": request.param}))
    )
