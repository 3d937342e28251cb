"""`freeze:` of an environment: when an apply writes nothing, and until when that is so.

A window begins at each moment that its cron expression tells in its time zone, and lasts a
time that passes, whatever clocks are turned meanwhile. Source: docs/freeze.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError

from reconciler.model_config import STRICT
from reconciler.suggestions import nearest

FIELDS: Final = "minute hour day month weekday, as `0 18 * * 5`"
LONGEST: Final = timedelta(days=366)
"""The longest window, and how far ahead an end is looked for."""

_MOST_STEPS: Final = 5_000
_PADDING: Final = timedelta(days=1)
_LONGEST_TEXT: Final = 200
_DURATION: Final = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_PREFIX: Final = "INCIDENT_SEVERITY_"
SEVERITIES: Final = ("low", "info", "warning", "error", "critical")


def duration(text: str) -> timedelta:
    """Read `90m`, `12h`, `3d` or `1w`. Raises ValueError for anything else, and for nothing."""
    match = _DURATION.fullmatch(text.strip())
    span = timedelta(**{_UNITS[match[2]]: int(match[1])}) if match is not None else timedelta()
    if not timedelta() < span <= LONGEST:
        raise ValueError(text)
    return span


class _Strict(BaseModel):
    model_config = STRICT


def _refused(said: str, near: str | None = None) -> PydanticCustomError:
    """Give a complaint of one setting; `near` is what was perhaps meant."""
    return PydanticCustomError("freeze", "{said}", {"said": said, "near": near})


class Window(_Strict):
    """A time in which nothing is written, which comes again."""

    cron: Annotated[
        str,
        Field(
            max_length=_LONGEST_TEXT,
            description="When it begins: minute, hour, day of month, month and day of week.",
        ),
    ]
    lasts: Annotated[
        str,
        Field(alias="for", description="How long it lasts, as 90m, 12h, 3d or 1w; at most 366d."),
    ]
    timezone: Annotated[
        str,
        Field(
            max_length=_LONGEST_TEXT,
            description="The time zone that `cron` is meant in, as Europe/Berlin.",
        ),
    ] = "UTC"
    reason: Annotated[
        str, Field(max_length=_LONGEST_TEXT, description="Why; told to whoever is frozen.")
    ]

    @field_validator("cron")
    @classmethod
    def _comes_some_time(cls, cron: str) -> str:
        from reconciler.project.cron import flaw_of  # noqa: PLC0415 - for those with windows

        found = flaw_of(cron)
        if found is not None:
            raise _refused(f"{found.said}; it is {FIELDS}", found.near)
        return cron

    @field_validator("lasts")
    @classmethod
    def _lasts_some_time(cls, lasts: str) -> str:
        try:
            duration(lasts)
        except ValueError:
            said = f"must be a duration up to 366d, as 90m, 12h, 3d or 1w, and not `{lasts}`"
            raise _refused(said) from None
        return lasts

    @field_validator("timezone")
    @classmethod
    def _is_somewhere(cls, timezone: str) -> str:
        if _zone(timezone) is None:
            from zoneinfo import available_timezones  # noqa: PLC0415 - for a complaint alone

            near = nearest(timezone, available_timezones())
            raise _refused(f"names no time zone: `{timezone}`", near)
        return timezone

    @field_validator("reason")
    @classmethod
    def _says_why(cls, reason: str) -> str:
        if not reason.strip():
            raise _refused("must say why nothing is written then")
        return reason

    @property
    def span(self) -> timedelta:
        """How long it lasts."""
        return duration(self.lasts)

    @property
    def zone(self) -> tzinfo:
        """Where its clock stands."""
        found = _zone(self.timezone)
        assert found is not None  # noqa: S101 - else it is not valid
        return found

    def starts(self, after: datetime) -> Iterator[datetime]:
        """Yield the moments at which it begins, in UTC and in their order.

        `after` is far before whatever is asked for: at a change of clocks a start from close
        by could be passed over.
        """
        from cronsim import CronSim  # noqa: PLC0415 - for those with windows

        last = datetime.min.replace(tzinfo=UTC)
        for found in CronSim(self.cron, after.astimezone(self.zone)):
            at = found.astimezone(UTC)
            # Several times that clocks leave out are one moment.
            if at > last:
                yield at
                last = at

    def end_at(self, now: datetime) -> datetime | None:
        """Give when it ends as far as it has begun by now; None where it does not hold."""
        last = self._last_start(now)
        end = last + self.span if last is not None else now
        return end if end > now else None

    def _last_start(self, now: datetime) -> datetime | None:
        """Give the last start of those that may still hold, as it ends last."""
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

    # ZoneInfoNotFoundError is a KeyError; a folder of zones, or a path, is another error.
    with suppress(KeyError, ValueError, OSError):
        return ZoneInfo(name)
    return None


def _severity(text: str) -> str:
    return text.strip().upper().removeprefix(_PREFIX).lower()


def _known_severity(text: str) -> str:
    told = _severity(text)
    if told not in SEVERITIES:
        said = f"is no severity that is known (known: {', '.join(SEVERITIES)})"
        raise _refused(said, nearest(told, SEVERITIES))
    return told


class Incidents(_Strict):
    """Which open incidents let nothing be written."""

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
            description="all: any of them; matching: those whose labels, names, alerts or "
            "applications are those of what would be written."
        ),
    ] = "all"

    def has(self, severity: str) -> bool:
        """Tell whether an incident is so severe; one of an unknown severity may be."""
        told = _severity(severity)
        return not self.severities or told not in SEVERITIES or told in self.severities


class Freeze(_Strict):
    """When an apply of the environment writes nothing, whoever reviewed it."""

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
            description="What follows where nobody can tell whether it is frozen.",
        ),
    ] = "refuse"


@dataclass(frozen=True, slots=True)
class Holding:
    """The windows that hold at a moment. `until` is the next one at which none does.

    It is None where there is none within a year, or too many windows follow each other.
    """

    windows: tuple[Window, ...]
    until: datetime | None


def holding(windows: Sequence[Window], now: datetime) -> Holding | None:
    """Give what holds now, None where no window does; windows that overlap are one."""
    ends = [(window, end) for window in windows if (end := window.end_at(now)) is not None]
    if not ends:
        return None
    reach = max(end for _, end in ends)
    return Holding(tuple(window for window, _ in ends), _end_through(windows, now, reach))


def _end_through(windows: Sequence[Window], now: datetime, reach: datetime) -> datetime | None:
    """Follow windows that begin before the others end."""
    ahead = [_Ahead(window.starts(now - _PADDING), window.span) for window in windows]
    left, before = _MOST_STEPS, None
    while before != reach:
        before = reach
        for one in ahead:
            left, reach = one.reaching(reach, left)
        if not left or reach - now > LONGEST:
            return None
    return reach


class _Ahead:
    """The starts of a window that were not passed yet."""

    def __init__(self, starts: Iterator[datetime], span: timedelta) -> None:
        self._next: Callable[[], datetime | None] = lambda: next(starts, None)
        self._span = span
        self._head = self._next()

    def reaching(self, reach: datetime, most: int) -> tuple[int, datetime]:
        """Pass the starts before an end, and give how many more may be, and the end with them."""
        left, end = most, reach
        while left and self._head is not None and self._head <= reach:
            end = max(end, self._head + self._span)
            self._head = self._next()
            left -= 1
        return left, end
