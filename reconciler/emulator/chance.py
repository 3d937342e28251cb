"""Chance that is the same every time: a draw is a function of its name."""

import math
import zlib
from uuid import NAMESPACE_URL, uuid5


def draw(*name: object) -> float:
    """Give a number from 0 on and below 1."""
    text = ":".join(map(str, name)).encode()
    # Two sums, as one alone gives similar names similar numbers.
    return (zlib.crc32(text) ^ zlib.adler32(text[::-1]) * 2654435761 % 2**32) % 2**32 / 2**32


def waiting_time(mean: float, *name: object) -> float:
    """Give a time as chance spreads them: many short ones, few long ones."""
    return -mean * math.log(1 - draw(*name))


def drawn_id(*name: object) -> str:
    """Give a uuid."""
    return str(uuid5(NAMESPACE_URL, ":".join(map(str, name))))
