"""Profiles as files."""

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from reconciler.emulator import Profile, UnreadableSettingsError, load_profile

PAGE = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text(encoding="utf-8")


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
    """The page says what every switch does, and a comment above each switch does too."""
    schema = TypeAdapter(Profile).json_schema()["properties"]
    meanings = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| (\S[^|]+) \|$", PAGE, re.MULTILINE))
    source = inspect.getsource(Profile)
    commented = re.findall(r"^    # .+\n    (\w+): ", source, re.MULTILINE)

    assert len(schema) == len(fields(Profile))
    assert meanings.keys() >= schema.keys()
    assert commented == [switch.name for switch in fields(Profile)]


def _documented() -> dict[str, str]:
    """Give the values of each switch as docs/emulator.md lists them."""
    section = PAGE.partition("## Profiles")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE))


def test_switches_are_documented() -> None:
    """The page lists every switch, with every value and its default first."""
    schema = TypeAdapter(Profile).json_schema()["properties"]
    documented = _documented()

    assert list(documented) == [*(name for name in documented if name in schema)]
    assert documented.keys() == schema.keys()
    for name, switch in schema.items():
        listed = documented[name].split(", ")
        default = json.dumps(switch["default"]).strip('"')
        if "enum" in switch:
            assert set(listed) == {str(value) for value in switch["enum"]}, name
        elif switch["type"] == "boolean":
            assert set(listed) == {"true", "false"}, name
        else:
            continue
        assert listed[0] == default, name
