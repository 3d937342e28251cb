"""Output of records as they arrive: a table, JSON, JSON Lines or CSV."""

from __future__ import annotations

import functools
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import click

from reconciler.cli import options as shared
from reconciler.cli.console import data, json_data, stdout_style, words
from reconciler.errors import UsageError
from reconciler.operations.open_project import Options, now
from reconciler.operations.open_session import open_target
from reconciler.records.record import (
    Allowance,
    Enumeration,
    Record,
    Span,
    moment,
    read_moment,
    stamp,
)
from reconciler.report.table import Heading, Style, csv_line, table
from reconciler.runtime.progress import Deed, Progress
from reconciler.syntax.suggestions import nearest

if TYPE_CHECKING:
    # Only its type is needed here; the import would load the whole HTTP client.
    from reconciler.api.client import Api

DEFAULT_LIMIT = 100
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

Item = TypeVar("Item", bound=Record)
Command = TypeVar("Command", bound=Callable[..., Any])


_limit = click.option(
    "--limit",
    type=click.IntRange(0),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="List at most this many; 0 lists all.",
)


@dataclass(frozen=True, slots=True)
class Column(Generic[Item]):
    """A column of a table or of CSV; a `whole` column, such as an id, is never cut.

    `figure` returns a number instead of text: rounded in a table, exact in CSV.
    """

    header: str
    cell: Callable[[Item], str] = str
    whole: bool = False
    figure: Callable[[Item], float] | None = None

    @property
    def heading(self) -> Heading:
        """Return the heading of the column in a table."""
        return Heading(self.header, self.whole, right=self.figure is not None)

    def shown(self, record: Item) -> str:
        """Return the cell of a table."""
        return self.cell(record) if self.figure is None else f"{self.figure(record):,.2f}"

    def exact(self, record: Item) -> str:
        """Return the cell of a CSV line."""
        return self.cell(record) if self.figure is None else repr(self.figure(record))


def parse_range(since: str | None, until: str | None) -> Span | None:
    """Return the range of --since and --until; if one is missing, up to now, or from 1970 on.

    None if both are missing. Raises UsageError, also for an empty range.
    """
    if since is None and until is None:
        return None
    start = _parse_moment(since, "--since") or BEGINNING
    end = _parse_moment(until, "--until") or now()
    if start >= end:
        after = f"--until `{until}`" if until is not None else "now"
        before = f"--since `{since}`" if since is not None else stamp(BEGINNING)
        raise UsageError(f"{before} is not before {after}")
    return Span(start, end)


def _parse_moment(text: str | None, flag: str) -> datetime | None:
    """Return the time of `24h`, `7d`, `2w` (before now) or an ISO 8601 text, by default in UTC."""
    if text is None:
        return None
    try:
        return read_moment(text, "smhdw", now())
    except (ValueError, OverflowError):
        raise UsageError(f"{flag} takes 24h, 7d, 2w or an ISO 8601 time, not `{text}`") from None


def parse_pairs(texts: Sequence[str], flag: str) -> dict[str, tuple[str, ...]]:
    """Return `key=value` pairs, with the values of each key together. Raises UsageError."""
    pairs: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"{flag} takes KEY=VALUE, not `{text}`")
        pairs[key] = (*pairs.get(key, ()), value)
    return pairs


def parse_single_pairs(texts: Sequence[str], flag: str) -> dict[str, str]:
    """Return `key=value` pairs, each key once. Raises UsageError."""
    pairs = parse_pairs(texts, flag)
    doubled = next((key for key, values in pairs.items() if len(values) > 1), None)
    if doubled is not None:
        raise UsageError(f"{flag} gives `{doubled}` more than once, and all must hold")
    return {key: value for key, (value,) in pairs.items()}


def span(since: str, until: str) -> Callable[[Command], Command]:
    """Add the options `--since` and `--until`; the arguments begin their help texts."""
    forms = "a duration as 24h or 7d, or an ISO 8601 time"
    return shared.together(
        click.option("--since", metavar="TIME", help=f"{since}: {forms}."),
        click.option("--until", metavar="TIME", help=f"{until}, in the forms of --since."),
    )


def pairs(
    flag: str, name: str, shown: str, parse: Callable[[Sequence[str], str], Any] = parse_pairs
) -> Callable[[Command], Command]:
    """Add an option for `KEY=VALUE`, which may be repeated."""
    return click.option(
        flag,
        name,
        multiple=True,
        metavar="KEY=VALUE",
        callback=lambda _context, _option, texts: parse(texts, flag),
        help=shown,
    )


def values_of(
    enumeration: Enumeration, flag: str, name: str, shown: str, metavar: str = "NAME"
) -> Callable[[Command], Command]:
    """Add an option for values of an enumeration, which may be repeated."""
    return click.option(
        flag,
        name,
        multiple=True,
        metavar=metavar,
        callback=lambda _context, _option, texts: enumerated(enumeration, texts, flag),
        help=f"{shown}; repeat it for more.",
    )


def enumerated(enumeration: Enumeration, values: Sequence[str], flag: str) -> tuple[str, ...]:
    """Return values as the API writes them.

    Raises UsageError for an unknown value. With the whole prefix any value is accepted, as a
    service may have more values.
    """
    return tuple(_value(enumeration, value, flag) for value in values)


def _value(enumeration: Enumeration, value: str, flag: str) -> str:
    spelled = value.strip().upper().replace("-", "_").replace(" ", "_")
    if re.fullmatch(f"{enumeration.prefix}[A-Z0-9_]+", spelled):
        return spelled
    if spelled in enumeration.known:
        return enumeration.prefix + spelled
    near = nearest(spelled, enumeration.known)
    listed = ", ".join(known.lower().replace("_", "-") for known in enumeration.known)
    raise UsageError(
        f"{flag} `{value}` is not known"
        + (f"; did you mean `{near.lower().replace('_', '-')}`?" if near else "")
        + f" (known: {listed}; any other goes with its whole name, {enumeration.prefix}…)"
    )


def plain(enumeration: Enumeration, value: str) -> str:
    """Return an enumeration's value as a person writes it."""
    return value.removeprefix(enumeration.prefix).lower().replace("_", " ")


async def each(records: Sequence[Item]) -> AsyncIterator[Item]:
    """Yield records of a list, for code that expects a stream."""
    for record in records:
        yield record


async def print_records(
    records: AsyncIterator[Item],
    columns: Sequence[Column[Item]],
    form: str,
    step: Progress | None = None,
) -> int:
    """Print records and return their number, which `step` counts.

    JSON Lines and CSV are printed as the records arrive.
    """
    flows = form in ("jsonl", "csv")
    collected: list[Item] = []
    count = 0
    if form == "csv":
        data(csv_line([column.header for column in columns]))
    async for record in records:
        count += 1
        if flows:
            _print_line(record, columns, form)
        else:
            collected.append(record)
        if step is not None:
            step.done = count
    if form == "json":
        json_data([record.document for record in collected])
    elif form == "text":
        data(record_table(columns, collected, stdout_style(verbose=False)))
    return count


def _print_line(record: Item, columns: Sequence[Column[Item]], form: str) -> None:
    if form == "jsonl":
        json_data(record.document, one_line=True)
    else:
        data(csv_line([column.exact(record) for column in columns]))


def record_table(columns: Sequence[Column[Item]], records: Sequence[Item], style: Style) -> str:
    """Return records as a table, "" for none."""
    rows = [[column.shown(record) for column in columns] for record in records]
    return table([column.heading for column in columns], rows, style) if rows else ""


def clock_time(text: str) -> str:
    """Return a timestamp as `2026-03-02 12:04:11`, in UTC; other text is returned unchanged."""
    at = moment(text)
    return at.replace(tzinfo=None).isoformat(" ", "seconds") if at is not None else text


Records: TypeAlias = "Callable[[Api, Allowance], AsyncIterator[Item]]"
"""Yields records of the service, within an allowance."""


def listing(
    columns: Sequence[Column[Item]], noun: str
) -> Callable[[Callable[..., Records[Item]]], Callable[..., None]]:
    """Make a command of a function that returns what to list.

    The command prints the records and their number. A warning that the service announces more than
    it lists is printed even with --quiet.
    """

    def decorated(command: Callable[..., Records[Item]]) -> Callable[..., None]:
        @functools.wraps(command)
        def listed(*, limit: int, options: Options, form: str, **wanted: Any) -> None:
            records = command(**wanted)
            allowed = Allowance(records=limit or None)

            async def printed(api: Api) -> int:
                with api.waits.step(Deed.LISTING, noun) as step:
                    return await print_records(records(api, allowed), columns, form, step)

            count = open_target(options).ask(printed)
            report_count(count, limit, noun, quiet=options.quiet)
            if allowed.missing:
                words(f"warning: the service announces {allowed.missing:,} more than it lists")

        return _limit(shared.connected(shared.formats("text", "json", "jsonl", "csv")(listed)))

    return decorated


def report_count(count: int, most: int, noun: str, *, quiet: bool) -> None:
    """Print how many records were listed, and that there may be more; `noun` is singular."""
    if quiet:
        return
    message = f"{count:,} {noun if count == 1 else noun + 's'}"
    if most and count == most:
        message += f"; there may be more: --limit {most * 10}, or --limit 0 for all"
    words(message)
