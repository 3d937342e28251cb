"""`reconciler usage`: daily data-usage units (19)."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path

import click

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style, words
from reconciler.cli.record_output import Column, each, print_records, report_count
from reconciler.errors import InvalidInput, MissingExtra, UsageError
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import open_target
from reconciler.records.data_usage import RANGES, DailyUnits, daily_units
from reconciler.report.table import usage_chart
from reconciler.runtime import regular_files

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def check_picture(file: Path) -> None:
    """Raise UsageError where no picture can be drawn into a file.

    Raises InvalidInput where the file has other content.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtra("--png", "plot")
    if not os.path.isdir(file.parent):  # noqa: PTH112 - never raises
        raise UsageError(f"--png: there is no folder {file.parent}")
    if os.path.isdir(file):  # noqa: PTH112 - never raises
        raise UsageError(f"--png: {file} is a folder")
    if os.path.exists(file) and not _is_picture(file):  # noqa: PTH110 - never raises
        raise InvalidInput(
            f"{file} cannot be written: it is there, and no PNG: remove it first, or name another "
            "file"
        )


def _is_picture(file: Path) -> bool:
    """Return whether a file is a picture or empty; False where it cannot be read."""
    try:
        with regular_files.opened(file) as stream:
            return stream.read(len(_SIGNATURE)) in (b"", _SIGNATURE)
    except OSError:
        return False


def _draw(days: Sequence[DailyUnits], file: Path) -> None:
    """Write a stacked bar chart as PNG.

    Raises UsageError where the file cannot be written.
    """
    from matplotlib import colormaps  # noqa: PLC0415 - an extra, and heavy
    from matplotlib.backends.backend_agg import (  # noqa: PLC0415 - an extra, and heavy
        FigureCanvasAgg,
    )
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and heavy

    # Any other text could be parsed as mathematics, and fail.
    dates = [day.stats_date[:10] if DAY.match(day.stats_date) else "?" for day in days]
    series = {name: [getattr(day, field) for day in days] for name, field in SERIES}
    # Blocked data is not part of the total, so it is not in the stack.
    used = {
        name: numbers
        for name, numbers in series.items()
        if any(numbers) and not name.startswith("blocked")
    }
    figure = Figure(figsize=(12, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places = range(len(dates))
    below = [0.0] * len(dates)
    colours = colormaps["tab20"]
    for place, (name, numbers) in enumerate(used.items()):
        colour = colours(place % colours.N)
        axes.bar(places, numbers, bottom=below, label=name, width=0.85, color=colour)
        below = [number + other for number, other in zip(below, numbers, strict=True)]
    step = max(1, len(dates) // 14)
    axes.set_xticks(list(places)[::step], [date[5:] for date in dates][::step])
    axes.set_ylabel("units a day")
    axes.set_title(f"Data usage, {dates[0]} to {dates[-1]}" if dates else "Data usage")
    axes.spines[["top", "right"]].set_visible(False)
    if used:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, reverse=True)
    try:
        figure.savefig(file, dpi=120, format="png")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


SERIES = (
    ("high logs", "high_logs_units"),
    ("medium logs", "medium_logs_units"),
    ("low logs", "low_logs_units"),
    ("high metrics", "high_metrics_units"),
    ("high tracing", "high_tracing_units"),
    ("medium tracing", "medium_tracing_units"),
    ("low tracing", "low_tracing_units"),
    ("session recording", "low_session_recording_units"),
    ("cpu profiles", "cpu_profiles_units"),
    ("evaluation", "evaluation_units"),
    ("blocked", "blocked_units"),
    ("blocked metrics", "blocked_metrics_units"),
)


def _column(header: str, name: str) -> Column[DailyUnits]:
    return Column(header, figure=attrgetter(name))


COLUMNS: tuple[Column[DailyUnits], ...] = (
    Column("date", lambda day: day.stats_date[:10], whole=True),
    *(_column(header, name) for header, name in SERIES),
    _column("total", "total_units"),
)
NARROW = tuple(
    column
    for column in COLUMNS
    if column.header in ("date", "high logs", "medium logs", "low logs", "high metrics", "total")
)


@click.command
@click.option(
    "--range",
    "span",
    type=click.Choice([text.lower().replace("_", "-") for text in RANGES]),
    default="last-30-days",
    show_default=True,
    help="Which days.",
)
@click.option("--chart", is_flag=True, help="Bars in the terminal instead of a table.")
@click.option(
    "--png",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also draw a picture; needs the extra `plot`.",
)
@options.connected
@options.formats("text", "json", "jsonl", "csv")
def usage(*, span: str, chart: bool, png: Path | None, options: Options, form: str) -> int:
    """Show the units of each day. The table shows the main ones; -v and CSV show all."""
    if chart and form != "text":
        raise UsageError("--chart and --format exclude each other")
    if png is not None:
        check_picture(png)
    wanted = span.upper().replace("-", "_")
    days = open_target(options).ask(lambda api: daily_units(api, wanted))
    if png is not None:
        _draw(days, png)
    if chart:
        bars = [(day.stats_date, day.total_units) for day in days]
        data(usage_chart(bars, stdout_style(verbose=options.verbose)))
    else:
        columns = COLUMNS if options.verbose or form != "text" else NARROW
        asyncio.run(print_records(each(days), columns, form))
    report_count(len(days), 0, "day", quiet=options.quiet)
    if png is not None and not options.quiet:
        words(f"drew {png}")
    return 0
