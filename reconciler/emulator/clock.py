"""Time as the service writes it."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Give the present moment, aware of its zone."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """Write a moment as ISO 8601 in UTC with milliseconds: `2025-01-31T09:00:00.000Z`."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
