"""The setting and the option of track records."""

from __future__ import annotations

from typing import Annotated, Final

import click
from pydantic import Field

TRACKED_DAYS: Final = 14
MOST_TRACKED_DAYS: Final = 90
"""Days of a track record; docs/track-record.md describes the cost."""

TRACK_RECORD: Final = Annotated[
    int,
    Field(
        default=TRACKED_DAYS,
        ge=0,
        le=MOST_TRACKED_DAYS,
        description="Of how many days the comment of `ci plan` shows what the alerts did; 0 "
        "for none.",
    ),
]


track_record: Final = click.option(
    "--track-record",
    "trackRecord",
    metavar="[DAYS]",
    type=click.IntRange(0, MOST_TRACKED_DAYS),
    is_flag=False,
    flag_value=TRACKED_DAYS,
    default=0,
    help="Show how often each changed alert fired, and its incidents, in the last DAYS days; "
    f"without DAYS in the last {TRACKED_DAYS}.",
)
