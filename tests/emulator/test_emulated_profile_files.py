"""Profiles as files."""

import json
import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from reconciler.emulator import Profile, UnreadableSettingsError, load_settings

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "emulator.md").read_text(
    encoding="utf-8"
)


def test_profile_file(tmp_path: Path) -> None:
    """A file names the switches in lower camelCase; what it leaves out is as ever."""
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"unknownFields": "refused", "staleReads": 3}))

    assert load_settings(Profile, path) == Profile(unknown_fields="refused", stale_reads=3)


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
        load_settings(Profile, path)


def test_missing_profile_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(UnreadableSettingsError, match="nothing"):
        load_settings(Profile, tmp_path / "nothing")


def _documented() -> dict[str, str]:
    """Give the values of each switch as docs/reference/emulator.md lists them."""
    section = PAGE.partition("## Profile")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE))


def test_switches_are_documented() -> None:
    """The reference lists every switch, with every value and its default first."""
    schema = TypeAdapter(Profile).json_schema()["properties"]
    documented = _documented()

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
