"""What is delivered: locked, hashed, few, freely licensed, and listed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import files, metadata
from pathlib import Path
from typing import Any

import pytest
from runner import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
PIN = re.compile(r"([a-z0-9-]+)==([^ ;]+)( ; [^\\]+)?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
MOST_PACKAGES = 34
# Each of them lets anyone use, change and pass on the whole.
LICENCES = re.compile(
    r"\b(MIT|BSD|Apache|PSF|Python Software Foundation|MPL|Mozilla|ISC|Redistribution and use)\b"
)


def requirements(file: Path) -> Iterator[list[str]]:
    """Yield each requirement of a lock: itself, and its options."""
    text = re.sub(r"^ *#.*\n", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for line in text.replace("\\\n", "").splitlines():
        if line.strip():
            yield [part.strip() for part in re.split(r" +(?=--)", line)]


def pins(file: Path) -> dict[str, str]:
    """Give the versions that a lock holds, wherever they are needed."""
    found = [PIN.fullmatch(first) for first, *_ in requirements(file)]
    return {match[1]: match[2] for match in found if match is not None}


@pytest.mark.parametrize("file", LOCKS, ids=lambda file: file.stem)
def test_every_requirement_is_hashed(file: Path) -> None:
    """A lock holds exact versions with hashes: no address, no option that leads elsewhere."""
    locked = list(requirements(file))

    assert locked
    for first, *options in locked:
        assert PIN.fullmatch(first), first
        assert options, first
        assert all(HASH.fullmatch(option) for option in options), first


def test_dependencies_are_few() -> None:
    """What is needed to run stays at most so many packages: each more is a decision."""
    assert len(pins(ROOT / "requirements" / "runtime.txt")) <= MOST_PACKAGES


@pytest.mark.parametrize("name", sorted(pins(ROOT / "requirements" / "remote.txt")))
def test_licences(name: str) -> None:
    """What is delivered may be used, changed and passed on by anyone."""
    about = metadata(name)
    classified = [
        value for value in about.get_all("Classifier") or () if value.startswith("License")
    ]
    told = [about["License-Expression"] or "", about["License"] or "", *classified]
    # Some name none, and bring its text.
    texts = (file for file in files(name) or () if "licenses" in file.parts)
    told += [file.read_text().strip().partition("\n")[0] for file in texts]

    assert LICENCES.search(" ".join(told)), told


def bill() -> Any:
    """Give the bill of materials, as `make sbom` makes it."""
    made = subprocess.run(
        [
            Path(sys.executable).with_name("cyclonedx-py"),
            *("requirements", "--output-reproducible", "--pyproject"),
            *(ROOT / "pyproject.toml", ROOT / "requirements" / "runtime.txt"),
        ],
        capture_output=True,
        check=True,
    ).stdout
    return json.loads(made)


def test_the_bill_of_materials_is_the_lock() -> None:
    """The bill of materials lists this project and every package of its lock, with its hashes."""
    made = bill()
    listed = {component["name"]: component["version"] for component in made["components"]}
    told = [component["externalReferences"] for component in made["components"]]
    hashes = {value["content"] for refs in told for ref in refs for value in ref.get("hashes", ())}

    assert made["metadata"]["component"]["name"] == "observability-reconciler"
    assert listed == pins(ROOT / "requirements" / "runtime.txt")
    text = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    assert hashes == set(re.findall(r"sha256:([0-9a-f]{64})", text))
    assert "timestamp" not in made["metadata"]
