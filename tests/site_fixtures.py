"""A service in this process that knows one alert."""

from __future__ import annotations

from pathlib import Path

import pytest
from sites import ALERT_ID, Site

from reconciler.emulator import create_app


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, create_app(alert_ids=[ALERT_ID]))
