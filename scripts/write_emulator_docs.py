"""Write docs/emulator-switches.md: the switches of a profile and the fields of faults.

A comment in the code says what each does. tests/cli/test_emulator.py fails where the page is stale.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.alias_generators import to_camel

from reconciler.emulator import Profile
from reconciler.emulator.faults import Fault, Rule

TARGET = Path(__file__).resolve().parent.parent / "docs" / "emulator-switches.md"
PAGE = """\
# Switches and faults of the emulator

What a profile (`--profile FILE`) and a file of faults (`--faults FILE`) may say: see
[the emulator](emulator.md). Written by `scripts/write_emulator_docs.py`; a test fails when it is
stale.

## Switches

A switch that is left out has the first of its values.

| switch | values | meaning |
|---|---|---|
{switches}

## Rules of faults

| of a rule | meaning |
|---|---|
{rules}

| of a fault | meaning |
|---|---|
{faults}
"""
ABOVE = re.compile(r"((?:^    # .+\n)+)    (\w+): ", re.MULTILINE)
BEHIND = re.compile(r"^    (\w+): .*[^#]  # (.+)$", re.MULTILINE)
OPEN = {"integer": "0, or a number", "object": "none, or an object", "string": "any text"}


def comments(model: type) -> dict[str, str]:
    """Return the comment above or behind each field, by the field's name in a file."""
    source = inspect.getsource(model)
    said = dict(BEHIND.findall(source))
    for text, name in ABOVE.findall(source):
        said[name] = " ".join(line.strip("# ") for line in text.splitlines())
    return {to_camel(name): text.replace("|", "\\|") for name, text in said.items()}


def _values(switch: dict[str, Any]) -> str:
    default = switch["default"]
    if "enum" in switch:
        others = [value for value in switch["enum"] if value != default]
        return ", ".join(map(str, (default, *others)))
    if switch["type"] == "boolean":
        return ", ".join(json.dumps(value) for value in (default, not default))
    return OPEN[switch["type"]]


def _fields(model: type[BaseModel]) -> Iterator[str]:
    said = comments(model)
    for name, field in model.model_fields.items():
        key = field.alias or name
        yield f"| `{key}` | {said.get(key, 'what strikes: the table below')} |"


def page() -> str:
    """Return the whole page."""
    said = comments(Profile)
    switches: dict[str, Any] = TypeAdapter(Profile).json_schema()["properties"]
    return PAGE.format(
        switches="\n".join(
            f"| `{name}` | {_values(switch)} | {said[name]} |" for name, switch in switches.items()
        ),
        rules="\n".join(_fields(Rule)),
        faults="\n".join(_fields(Fault)),
    )


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
