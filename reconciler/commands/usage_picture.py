"""Daily data usage as a picture, drawn by a library that is an extra."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from reconciler.errors import InvalidInput, MissingExtra, UsageError

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def check_picture(file: Path) -> None:
    """Raise UsageError where no picture could be drawn into that file.

    Raises InvalidInput where it holds something else.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtra("--png", "plot")
    if not os.path.isdir(file.parent):  # noqa: PTH112 - never raises
        raise UsageError(f"--png: there is no folder {file.parent}")
    if os.path.isdir(file):  # noqa: PTH112 - never raises
        raise UsageError(f"--png: {file} is a folder")
    if os.path.isfile(file) and not _is_picture(file):  # noqa: PTH113 - never raises
        raise InvalidInput(
            f"{file} cannot be written: it is there, and no PNG: remove it first, or name another "
            "file"
        )


def _is_picture(file: Path) -> bool:
    """Tell a picture, or a file that holds nothing; what cannot be read may be anything."""
    try:
        with file.open("rb") as stream:
            return stream.read(len(_SIGNATURE)) in (b"", _SIGNATURE)
    except OSError:
        return False


def usage_picture(days: Sequence[str], series: Mapping[str, Sequence[float]], file: Path) -> None:
    """Write a stacked bar chart as PNG; each series has one number a day.

    Raises UsageError where the file cannot be written.
    """
    from matplotlib import colormaps  # noqa: PLC0415 - an extra, and heavy
    from matplotlib.backends.backend_agg import (  # noqa: PLC0415 - an extra, and heavy
        FigureCanvasAgg,
    )
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and heavy

    # Anything else than a date could be taken for mathematics, and fail.
    dates = [day[:10] if DAY.match(day) else "?" for day in days]
    figure = Figure(figsize=(12, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places = range(len(dates))
    below = [0.0] * len(dates)
    colours = colormaps["tab20"]
    for place, (name, numbers) in enumerate(series.items()):
        colour = colours(place % colours.N)
        axes.bar(places, numbers, bottom=below, label=name, width=0.85, color=colour)
        below = [one + other for one, other in zip(below, numbers, strict=True)]
    step = max(1, len(dates) // 14)
    axes.set_xticks(list(places)[::step], [date[5:] for date in dates][::step])
    axes.set_ylabel("units a day")
    axes.set_title(f"Data usage, {dates[0]} to {dates[-1]}" if dates else "Data usage")
    axes.spines[["top", "right"]].set_visible(False)
    if series:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, reverse=True)
    try:
        figure.savefig(file, dpi=120, format="png")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
