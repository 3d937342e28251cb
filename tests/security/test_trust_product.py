"""The trust table as a product: in every cell the key goes where the rule says, and 0 go astray."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from trust_product import (
    CELLS,
    COMMITS,
    EVENTS,
    NOWHERE,
    WAYS,
    WHO,
    Decided,
    Repositories,
    summary,
    wanted,
)

DOCS = Path(__file__).parents[2] / "docs" / "security.md"


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Repositories:
    return Repositories(tmp_path_factory.mktemp("trust-product"))


@pytest.mark.promise("S25", "S58", "S31", "P1", "P2")
@pytest.mark.parametrize(("way", "commit"), list(product(WAYS, COMMITS)))
def test_where_the_key_goes(repositories: Repositories, way: str, commit: str) -> None:
    """In no cell does anything but the default branch's newest project file decide."""
    cells = [cell for cell in CELLS if (cell.way, cell.commit) == (way, commit)]
    decided = {cell: repositories.decide(cell) for cell in cells}

    astray = {cell: found for cell, found in decided.items() if found.key not in SAFE}
    assert astray == {}
    assert {cell: found for cell, found in decided.items() if found != wanted(cell)} == {}


SAFE = ("newest", NOWHERE)


@pytest.mark.promise("S25", "S58")
def test_the_rule_of_the_table() -> None:
    """The rule of the table sends the key nowhere but to the newest, and lets it go somewhere."""
    assert len(CELLS) == len(WHO) * len(WAYS) * len(COMMITS) * len(EVENTS) == 960
    rules = {wanted(cell) for cell in CELLS}

    newest = frozenset(["newest"])
    assert rules == {
        Decided(NOWHERE),
        Decided("newest", newest, trusted=False),
        Decided("newest", newest, trusted=True),
    }


@pytest.mark.promise("S25", "S58")
def test_the_table_of_the_page() -> None:
    """The page on security has the table that the rule makes."""
    assert summary() in DOCS.read_text(encoding="utf-8")
