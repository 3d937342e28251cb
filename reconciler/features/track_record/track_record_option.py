"""The option of `plan` that asks for track records."""

from __future__ import annotations

from typing import Final

import click

from reconciler.features.track_record.track_record_settings import (
    MOST_TRACKED_DAYS,
    TRACKED_DAYS,
)

track_record: Final = click.option(
    "--track-record",
    "trackRecord",
    metavar="[DAYS]",
    type=click.IntRange(0, MOST_TRACKED_DAYS),
    is_flag=False,
    flag_value=TRACKED_DAYS,
    default=0,
    help=f"Say what each alert that is touched did in the last DAYS, {TRACKED_DAYS} unless told.",
)
