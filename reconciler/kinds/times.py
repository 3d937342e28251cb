"""Times in words: `1 h 30 min`, and the time of a window that an objective may fail. Pure."""

from __future__ import annotations

import re
from typing import Final

from reconciler.document import Json, Missing

_STEPS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))
_DAYS: Final = re.compile(r"(\d{1,4})_DAYS$")
_DAY_SECONDS: Final = 86_400
_HOUR_SECONDS: Final = 3_600


def duration(milliseconds: int) -> str:
    """Return a time above zero, exactly: `1 h 30 min`."""
    words = []
    for sign, size in _STEPS:
        count, milliseconds = divmod(milliseconds, size)
        if count:
            words.append(f"{count} {sign}")
    return " ".join(words)


def days_in(window: Json | Missing) -> int | None:
    """Return the days of a window as the API writes it, `…_28_DAYS`; None for any other."""
    found = _DAYS.search(window) if isinstance(window, str) else None
    return int(found[1]) if found else None


def failing_time(target: float, days: int) -> str:
    """Return the time that may fail: `3 h 21 min of 28 days`; from one hour on without seconds."""
    seconds = round(days * _DAY_SECONDS * (100 - target) / 100)
    shown = seconds - seconds % 60 if seconds >= _HOUR_SECONDS else seconds
    return f"{duration(shown * 1_000) or '0 s'} of {days} days"
