"""`freeze:` of an environment: when an apply writes nothing, and until when.

A window begins at each time of its cron expression in its time zone. Its length is elapsed time,
regardless of clock changes. Source: docs/freeze.md.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import repeat
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from reconciler.document import duration_of
from reconciler.model.assumptions import STRICT, must
from reconciler.syntax.suggestions import nearest

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


def flaw_of(cron: str) -> tuple[str, str]:
    """Return the problem of a cron expression, and the likely correction, "" where none is known.

    The problem is "" for a valid expression, which has a next date.
    """
    fields = cron.split()
    problem = _unread(cron) if len(fields) == _FIELD_COUNT else "must be five fields"
    if problem and (impossible := _no_such_date(fields)) is not None:
        return impossible
    near = _meant(fields) if problem else ""
    return problem, near if near and near != cron and not _unread(near) else ""


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


def _no_such_date(fields: Sequence[str]) -> tuple[str, str] | None:
    """Return the problem and the correction where no named month has so many days; else None."""
    if len(fields) != _FIELD_COUNT:
        return None
    minute, hour, day, month, weekday = fields
    months = [_numbered(part) for part in month.split(",")]
    if weekday != "*" or not re.fullmatch("[0-9]{1,2}(,[0-9]{1,2})*", day) or not all(months):
        return None
    longest = max(_LENGTHS[month - 1] for month in months if month)
    days = [int(part) for part in day.split(",")]
    if not all(longest < day <= max(_LENGTHS) for day in days):
        return None
    names = " and ".join(_MONTHS[month - 1].capitalize() for month in months if month)
    plural = "have" if len(months) > 1 else "has"
    last = f"{minute} {hour} L {month} {weekday}"
    problem = f"never comes: {names} {plural} at most {longest} days, and L is the last"
    return problem, "" if _unread(last) else last


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

    return re.sub("[A-Za-z]{3,}", shortened, field)


FIELDS: Final = "minute hour day month weekday, as `0 18 * * 5`"
LONGEST: Final = timedelta(days=366)
"""The longest window, and how far ahead an end is looked for."""

_MOST_STEPS: Final = 5_000
_PADDING: Final = timedelta(days=1)
_LONGEST_TEXT: Final = 200
_PREFIX: Final = "INCIDENT_SEVERITY_"
SEVERITIES: Final = ("low", "info", "warning", "error", "critical")


def duration(text: str) -> timedelta:
    """Read `90m`, `12h`, `3d` or `1w`.

    Raises ValueError for any other text, and for a length of zero.
    """
    span = duration_of(text.strip(), "smhdw")
    if span is None or not timedelta() < span <= LONGEST:
        raise ValueError(text)
    return span


def _refused(message: str, near: str | None = None) -> PydanticCustomError:
    return PydanticCustomError("freeze", "{said}", {"said": message, "near": near})


class _Strict(BaseModel):
    model_config = STRICT


def _cron(cron: str) -> str:
    problem, near = flaw_of(cron)
    if problem:
        raise _refused(f"{problem}; it is {FIELDS}", near)
    return cron


def _length(lasts: str) -> str:
    try:
        duration(lasts)
    except ValueError:
        problem = f"must be a duration up to 366d, as 90m, 12h, 3d or 1w, and not `{lasts}`"
        raise _refused(problem) from None
    return lasts


def _zone_name(timezone: str) -> str:
    if _zone(timezone) is None:
        from zoneinfo import available_timezones  # noqa: PLC0415 - for a complaint alone

        near = nearest(timezone, available_timezones())
        raise _refused(f"names no time zone: `{timezone}`", near)
    return timezone


class Window(_Strict):
    """A recurring time in which nothing is written."""

    cron: Annotated[
        str,
        Field(
            max_length=_LONGEST_TEXT,
            description="When it begins: minute, hour, day of month, month and day of week.",
        ),
        AfterValidator(_cron),
    ]
    lasts: Annotated[
        str,
        Field(alias="for", description="How long it lasts, as 90m, 12h, 3d or 1w; at most 366d."),
        AfterValidator(_length),
    ]
    timezone: Annotated[
        str,
        Field(
            max_length=_LONGEST_TEXT,
            description="The time zone that `cron` is meant in, as Europe/Berlin.",
        ),
        AfterValidator(_zone_name),
    ] = "UTC"
    reason: Annotated[
        str,
        Field(max_length=_LONGEST_TEXT, description="Why; shown where an apply is refused."),
        must("freeze", "must say why nothing is written then", str.strip),
    ]

    @property
    def span(self) -> timedelta:
        """The length of the window."""
        return duration(self.lasts)

    @property
    def zone(self) -> tzinfo:
        """The time zone of the cron expression."""
        found = _zone(self.timezone)
        assert found is not None  # noqa: S101 - else it is not valid
        return found

    def starts(self, after: datetime) -> Iterator[datetime]:
        """Yield the starts of the window, in UTC and in order.

        `after` must be well before the first wanted start: at a clock change, a start close to
        `after` may be missing.
        """
        from cronsim import CronSim  # noqa: PLC0415 - for those with windows

        last = datetime.min.replace(tzinfo=UTC)
        for found in CronSim(self.cron, after.astimezone(self.zone)):
            at = found.astimezone(UTC)
            # Several local times that a clock change skips are one moment.
            if at > last:
                yield at
                last = at

    def end_at(self, now: datetime) -> datetime | None:
        """Return when the active window ends; None where none is active."""
        last = self._last_start(now)
        end = last + self.span if last is not None else now
        return end if end > now else None

    def _last_start(self, now: datetime) -> datetime | None:
        """Return the latest start up to `now`; None where all windows are over for sure.

        Its window ends last.
        """
        back = timedelta(hours=1)
        while True:
            begin = now - min(back, self.span)
            found = None
            for at in self.starts(begin - _PADDING):
                if at > now:
                    break
                found = at
            if found is not None or back >= self.span:
                return found
            back *= 8


def _zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - for those with windows

    # ZoneInfoNotFoundError is a KeyError; a folder of zones, or a path, raises another error.
    with suppress(KeyError, ValueError, OSError):
        return ZoneInfo(name)
    return None


def _severity(text: str) -> str:
    return text.strip().upper().removeprefix(_PREFIX).lower()


def _known_severity(text: str) -> str:
    known_name = _severity(text)
    if known_name not in SEVERITIES:
        problem = f"is no severity that is known (known: {', '.join(SEVERITIES)})"
        raise _refused(problem, nearest(known_name, SEVERITIES))
    return known_name


class Incidents(_Strict):
    """Open incidents that forbid writes."""

    advice: ClassVar[str] = "write `{}` for any open one, or which: `{severities: [critical]}`"

    severities: Annotated[
        list[Annotated[str, AfterValidator(_known_severity)]],
        Field(
            description="How severe they are: critical, or INCIDENT_SEVERITY_CRITICAL; left out, "
            "any."
        ),
    ] = []
    scope: Annotated[
        Literal["all", "matching"],
        Field(
            description="all: any of them; matching: those with the labels, names, alerts or "
            "applications of what would be written."
        ),
    ] = "all"

    def has(self, severity: str) -> bool:
        """Return whether incidents of a severity freeze writes; those of an unknown severity do."""
        name = _severity(severity)
        return not self.severities or name not in SEVERITIES or name in self.severities


class Freeze(_Strict):
    """Times at which an apply of the environment writes nothing, whoever reviewed it."""

    advice: ClassVar[str] = "say when: `windows:`, or `incidents: {severities: [critical]}`"

    windows: Annotated[
        list[Window], Field(max_length=100, description="Times that come again.")
    ] = []
    incidents: Annotated[
        Incidents | None, Field(description="Open incidents, as long as they are open.")
    ] = None
    on_unknown: Annotated[
        Literal["refuse", "allow"],
        Field(
            alias="onUnknown",
            description="What follows where it is unknown whether it is frozen.",
        ),
    ] = "refuse"

    def offline(self) -> Freeze:
        """Return the windows alone: incidents of an embedded emulator concern no person."""
        return self.model_copy(update={"incidents": None})


FREEZE: Final = Annotated[
    Freeze,
    Field(
        default=Freeze(),
        description="Times at which an apply of this environment writes nothing.",
    ),
]


@dataclass(frozen=True, slots=True)
class Holding:
    """The windows that are active at a moment; `until` is when no window is active any more.

    `until` is None where that is not within a year, or where too many windows follow each other.
    """

    windows: tuple[Window, ...]
    until: datetime | None


def holding(windows: Sequence[Window], now: datetime) -> Holding | None:
    """Return the windows that are active now, None for none; overlapping windows are one freeze."""
    ends = [(window, end) for window in windows if (end := window.end_at(now)) is not None]
    if not ends:
        return None
    reach = max(end for _, end in ends)
    return Holding(tuple(window for window, _ in ends), _end_through(windows, now, reach))


def _end_through(windows: Sequence[Window], now: datetime, reach: datetime) -> datetime | None:
    """Return the end of the freeze, past all windows that begin before it ends."""
    starts = heapq.merge(
        *(zip(window.starts(now - _PADDING), repeat(window.span)) for window in windows)
    )
    for passed, (start, span) in enumerate(starts, 1):
        if start > reach:
            break
        reach = max(reach, start + span)
        if passed == _MOST_STEPS or reach - now > LONGEST:
            return None
    return reach
