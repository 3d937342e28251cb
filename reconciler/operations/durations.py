"""Durations as people write them."""

from __future__ import annotations

import re
from datetime import timedelta

_DURATION = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LONGEST = timedelta(days=7)


def read_duration(text: str) -> timedelta | None:
    """Return the duration that a text such as 90m or 2h means, up to a week; else None."""
    match = _DURATION.fullmatch(text.strip())
    found = timedelta(**{_UNITS[match[2]]: int(match[1])}) if match is not None else None
    return found if found is not None and found <= _LONGEST else None
