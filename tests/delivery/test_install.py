"""What `make` says while it installs."""

from __future__ import annotations

import re

import pytest
from install import packages_in, steps
from runner import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
RUNTIME = str(ROOT / "requirements" / "runtime.txt")


@pytest.mark.promise("P48")
def test_steps_of_an_install() -> None:
    """What is fetched is named at most once a second, and what is done last is said."""
    names = [f"package-{number}" for number in range(40)]
    times = iter(range(1_000))
    lines = [f"Collecting {name}==1.0\n" for name in names]
    lines.append(f"Installing collected packages: {', '.join(names)}\n")

    said = list(steps(lines, 44, lambda: next(times) * 0.1))

    assert said[0] == "  fetching package-0: 1 of at most 44"
    assert said[-1] == "  putting 40 packages in place"
    assert len(said) <= 2 + len(names) * 0.2


@pytest.mark.promise("P48")
def test_make_says_what_it_installs() -> None:
    """Each long install of `make` and `make demo` is announced, and goes by what counts it."""
    recipes = re.findall(r"^\$\(VENV\)/\.[a-z]+:(?:.+\n)+", MAKEFILE, re.MULTILINE)

    assert len(recipes) == 2
    assert all("@echo 'Installing" in recipe and "$(INSTALL) " in recipe for recipe in recipes)
    assert packages_in(["--require-hashes", "-r", RUNTIME]) > 20
