"""Problems of a cron expression, and the expression that was likely meant. Pure.

Five fields, as the library reads them: docs/freeze.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

_FIELD_COUNT: Final = 5
_WORDS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS: Final = (
    *("JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE"),
    *("JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"),
)
_DAYS: Final = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")
_LENGTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SHORT: Final = 3
_RANGES: Final = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day-of-month": "1 to 31, or L for the last",
    "month": "1 to 12, or JAN to DEC",
    "day-of-week": "0 to 7, or SUN to SAT",
}
_WORD: Final = re.compile("[A-Za-z]{3,}")
_WHOLE: Final = re.compile("[0-9]{1,2}(,[0-9]{1,2})*")


@dataclass(frozen=True, slots=True)
class CronProblem:
    """The problem of an expression, and the likely correction, "" where none is known."""

    said: str
    near: str = ""


def flaw_of(cron: str) -> CronProblem | None:
    """Return the problem of a cron expression; None for an expression that has a next date."""
    fields = cron.split()
    problem = "must be five fields"
    if len(fields) == _FIELD_COUNT:
        problem = _unread(cron)
        if not problem:
            return None
        impossible = _no_such_date(fields)
        if impossible is not None:
            return impossible
    near = _meant(fields)
    return CronProblem(problem, near if near and near != cron and not _unread(near) else "")


def _unread(cron: str) -> str:
    """Return why the library cannot read an expression, "" where it has a next date."""
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - for those with windows

    try:
        found = next(CronSim(cron, datetime(2024, 1, 1, tzinfo=UTC)), None)
    except CronSimError as error:
        what = str(error).lower().removeprefix("bad ")
        known = _RANGES.get(what)
        return f"is no cron expression: {what} is {known}" if known else "is no cron expression"
    # Errors of the library on input that it does not check.
    except (AssertionError, TypeError, ValueError, IndexError, OverflowError):
        return "is no cron expression"
    return "" if found is not None else "never comes"


def _no_such_date(fields: Sequence[str]) -> CronProblem | None:
    """Return a problem if no named month has so many days; None if one has, or it is unknown."""
    minute, hour, day, month, weekday = fields
    months = [_numbered(part) for part in month.split(",")]
    if weekday != "*" or not _WHOLE.fullmatch(day) or not all(months):
        return None
    longest = max(_LENGTHS[month - 1] for month in months if month)
    days = [int(part) for part in day.split(",")]
    if not all(longest < day <= max(_LENGTHS) for day in days):
        return None
    names = " and ".join(_MONTHS[month - 1].capitalize() for month in months if month)
    plural = "have" if len(months) > 1 else "has"
    last = f"{minute} {hour} L {month} {weekday}"
    problem = f"never comes: {names} {plural} at most {longest} days, and L is the last"
    return CronProblem(problem, "" if _unread(last) else last)


def _numbered(month: str) -> int | None:
    """Return a month of the year from 1; None for anything but a single month."""
    if month.isascii() and month.isdecimal():
        return int(month) if 1 <= int(month) <= len(_MONTHS) else None
    short = [month_name[:_SHORT] for month_name in _MONTHS]
    return short.index(month.upper()) + 1 if month.upper() in short else None


def _meant(fields: Sequence[str]) -> str:
    """Return the expression with the notation of other crons replaced by this library's."""
    if len(fields) == 1:
        return _WORDS.get(fields[0].lower(), "")
    # Crons with seconds have them first, and write `?` for a day that is left open.
    rest = fields[1:] if len(fields) == _FIELD_COUNT + 1 else fields
    if len(rest) != _FIELD_COUNT:
        return ""
    minute, hour, day, month, weekday = ("*" if text == "?" else text for text in rest)
    return " ".join((minute, hour, day, _short(month, _MONTHS), _short(weekday, _DAYS)))


def _short(field: str, names: Sequence[str]) -> str:
    """Return a field with names in three letters: FRIDAY, Fridays and Thurs become FRI and THU."""

    def shortened(word: re.Match[str]) -> str:
        typed = word[0].upper().removesuffix("S") if len(word[0]) > _SHORT else word[0].upper()
        whole = next((name for name in names if name.startswith((typed, word[0].upper()))), "")
        return whole[:_SHORT] or word[0]

    return _WORD.sub(shortened, field)
