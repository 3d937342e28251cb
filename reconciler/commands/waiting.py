"""`--lock-timeout`: how long a command waits for a journal that another run holds."""

from __future__ import annotations

import re

import click

from reconciler.journal.waiting import Patience

_DURATION = re.compile(r"([0-9]{1,5})(s|m|h)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, None: 1}
_LONGEST = 24 * 3600


def _patience(_: click.Context, __: click.Parameter, text: str) -> Patience:
    match = _DURATION.fullmatch(text.strip())
    seconds = int(match[1]) * _SECONDS[match[2]] if match is not None else _LONGEST + 1
    if seconds > _LONGEST:
        raise click.BadParameter(f"`{text}` is not a duration up to 24h, as 30s or 5m")
    return Patience(seconds)


lock_timeout = click.option(
    "--lock-timeout",
    "patience",
    metavar="DURATION",
    default="0",
    callback=_patience,
    help="How long to wait while another run holds the journal, as 30s or 5m; else not at all.",
)
