"""`reconciler events`: alert events (2)."""

from __future__ import annotations

import click

from reconciler.cli import options
from reconciler.cli.record_output import (
    Column,
    ListFormat,
    clock_time,
    limit,
    parse_range,
    parse_single_pairs,
    run_listing,
)
from reconciler.cli.root import Group
from reconciler.operations.open_project import Options
from reconciler.records.alert_events import AlertEvent, EventFilter, list_alert_events

COLUMNS: tuple[Column[AlertEvent], ...] = (
    Column("time", lambda event: clock_time(event.cx_event_timestamp), whole=True),
    Column("type", lambda event: event.cx_event_type),
    Column(
        "labels",
        lambda event: " ".join(f"{key}={text}" for key, text in event.cx_event_labels.items()),
    ),
    Column("key", lambda event: event.cx_event_key, whole=True),
)


@click.group(cls=Group)
def events() -> None:
    """List the events of alerts."""


@events.command("list")
@click.option("--since", metavar="TIME", help="From then on: 24h, 7d, or an ISO 8601 time.")
@click.option("--until", metavar="TIME", help="Before then.")
@click.option("--alert-version-id", "versions", multiple=True, metavar="ID", help="Repeatable.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Repeatable: all.")
@limit
@options.connected
@options.formats("text", "json", "jsonl", "csv")
def list_events(
    *,
    since: str | None,
    until: str | None,
    versions: tuple[str, ...],
    labels: tuple[str, ...],
    limit: int,
    options: Options,
    form: str,
) -> int:
    """List alert events, such as those of the last day: --since 24h."""
    wanted = EventFilter(versions, parse_range(since, until), parse_single_pairs(labels, "--label"))
    listing = ListFormat(COLUMNS, form, limit, "event")
    return run_listing(options, listing, lambda api, most: list_alert_events(api, wanted, most))
