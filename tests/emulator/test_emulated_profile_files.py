"""Profiles as files."""

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from reconciler.emulator import Profile, UnreadableSettingsError, load_profile


def test_profile_file(tmp_path: Path) -> None:
    """A file names the switches in lower camelCase; what it leaves out is as ever."""
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"unknownFields": "refused", "staleReads": 3}))

    assert load_profile(path) == Profile(unknown_fields="refused", stale_reads=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"unknownFields": "lost"}', "unknownFields"),
        ('{"unknownField": "kept"}', "unknownField"),
        ('{"staleReads": -1}', "staleReads"),
        ('{"staleReads": "1"}', "staleReads"),
        ("[]", "the file"),
        ("{", "not JSON"),
    ],
)
def test_bad_profile_file(tmp_path: Path, text: str, message: str) -> None:
    """A file that is no profile is refused and names the switch."""
    path = tmp_path / "profile.json"
    path.write_text(text)

    with pytest.raises(UnreadableSettingsError, match=rf"profile\.json: .*{message}"):
        load_profile(path)


def test_missing_profile_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(UnreadableSettingsError, match="nothing"):
        load_profile(tmp_path / "nothing")


def test_switches_are_described() -> None:
    """A comment above each switch says what it does, as docs/emulator-switches.md has it."""
    source = inspect.getsource(Profile)
    commented = re.findall(r"^    # .+\n    (\w+): ", source, re.MULTILINE)

    assert commented == [switch.name for switch in fields(Profile)]
