"""`reconciler events`: alert events (2)."""

from __future__ import annotations

from collections.abc import Mapping

import click

from reconciler.cli import record_output
from reconciler.cli.record_output import Column, clock_time, parse_range, parse_single_pairs
from reconciler.cli.root import Group
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
@record_output.span("From then on: 24h, 7d, or an ISO 8601 time.", "Before then.")
@click.option("--alert-version-id", "versions", multiple=True, metavar="ID", help="Repeatable.")
@record_output.pairs("--label", "labels", "Repeatable: all.", parse_single_pairs)
@record_output.listing(COLUMNS, "event")
def list_events(
    *, since: str | None, until: str | None, versions: tuple[str, ...], labels: Mapping[str, str]
) -> record_output.Records[AlertEvent]:
    """List alert events, such as those of the last day: --since 24h."""
    wanted = EventFilter(versions, parse_range(since, until), labels)
    return lambda api, most: list_alert_events(api, wanted, most)
