"""Without the feature of rollbacks, no setting asks for one."""

from __future__ import annotations

from unittest import mock

import pytest
from pydantic import ValidationError

from reconciler.features import FEATURES
from reconciler.features.watch.watch_settings import Watching


def test_no_way_back() -> None:
    """`onNoisier: rollback` is refused where there is no such command, and taken where there is."""
    assert Watching.model_validate({"onNoisier": "rollback"}).on_noisier == "rollback"

    with mock.patch.dict(FEATURES):
        del FEATURES["rollback"]

        with pytest.raises(ValidationError):
            Watching.model_validate({"onNoisier": "rollback"})
