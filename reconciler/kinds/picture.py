"""What of a kind is best shown as a picture: where its parts stand in a document. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Grid:
    """Sections of rows of widgets; `sections` leads to them."""

    sections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A list whose order is its meaning: the first item that matches decides.

    `items` leads to the list; inside an item, `name` leads to its name and
    `says` to what a reader wants to see beside it.
    """

    items: tuple[str, ...]
    name: tuple[str, ...]
    says: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Objective:
    """A share of what is good, in per cent, and the time it is kept over."""

    target: tuple[str, ...]
    window: tuple[str, ...]


Picture: TypeAlias = Grid | Ranking | Objective
