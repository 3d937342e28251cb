"""Colour and width of a terminal, decided once and handed in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

NARROWEST = 60
DEFAULT_WIDTH = 100


class Colour(Enum):
    """The few colours in use, as their terminal codes."""

    GREEN = "32"
    YELLOW = "33"
    RED = "31"
    MAGENTA = "35"
    CYAN = "36"
    DIM = "2"
    BOLD = "1"


@dataclass(frozen=True, slots=True)
class Style:
    """How text is laid out. Without colour, no escape sequence is ever written."""

    colour: bool = False
    width: int = DEFAULT_WIDTH
    verbose: bool = False
    terminal: bool = False

    def paint(self, text: str, *colours: Colour) -> str:
        """Give the text in colours, where there are any."""
        if not self.colour or not colours:
            return text
        return f"\x1b[{';'.join(colour.value for colour in colours)}m{text}\x1b[0m"
