"""`reconciler incidents`: incidents (8), their events (9), and closing them (10)."""

from __future__ import annotations

from typing import Any

import click

from reconciler.cli import options, record_output
from reconciler.cli.console import agreed, data, is_terminal, json_data, stderr_style, words
from reconciler.cli.record_output import (
    Column,
    Records,
    clock_time,
    parse_range,
    plain,
    record_table,
)
from reconciler.cli.root import Group
from reconciler.errors import ExitCode, UsageError
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import open_target
from reconciler.records.incident_records import (
    EVENT_TYPES,
    SEVERITIES,
    STATES,
    STATUSES,
    EventMetadata,
    ExtendedIncidentEvent,
    Incident,
    IncidentEventFilter,
    IncidentFilter,
    close_incidents,
    find_incidents,
    list_incident_events,
    list_incidents,
)
from reconciler.report.safe import safe

COLUMNS: tuple[Column[Incident], ...] = (
    Column("incident", lambda incident: incident.id, whole=True),
    Column("created", lambda incident: clock_time(incident.created_at), whole=True),
    Column("closed", lambda incident: clock_time(incident.closed_at) or "open", whole=True),
    Column("severity", lambda incident: plain(SEVERITIES, incident.severity)),
    Column("status", lambda incident: plain(STATUSES, incident.status)),
    Column("name", lambda incident: incident.name),
)


def _known(event: ExtendedIncidentEvent) -> EventMetadata:
    return event.incident_event_extended_metadata or EventMetadata()


def _kind(event: ExtendedIncidentEvent) -> str:
    kind = event.incident_event.incident_event_type if event.incident_event is not None else ""
    return plain(EVENT_TYPES, kind)


EVENT_COLUMNS: tuple[Column[ExtendedIncidentEvent], ...] = (
    Column("time", lambda event: clock_time(event.cx_event_timestamp), whole=True),
    Column("event", _kind),
    Column("severity", lambda event: plain(SEVERITIES, _known(event).incident_severity)),
    Column("status", lambda event: plain(STATUSES, _known(event).incident_status)),
    Column("alert", lambda event: _known(event).alert_name),
)


@click.group(cls=Group)
def incidents() -> None:
    """List and close incidents."""


_severities = record_output.values_of(SEVERITIES, "--severity", "severities", "error …")
_statuses = record_output.values_of(STATUSES, "--status", "statuses", "triggered …")
_muted = click.option(
    "--muted/--not-muted", "muted", default=None, help="Only muted ones, or no muted."
)


@incidents.command("list")
@click.option("--open", "open_only", is_flag=True, help="Only those that nothing has closed.")
@_severities
@_statuses
@record_output.values_of(STATES, "--state", "states", "triggered, resolved.")
@click.option("--application", "applications", multiple=True, metavar="NAME", help="Repeatable.")
@click.option("--subsystem", "subsystems", multiple=True, metavar="NAME", help="Repeatable.")
@record_output.pairs("--label", "labels", "Contextual labels.", record_output.parse_single_pairs)
@_muted
@click.option("--text", default="", metavar="WORDS", help="Search in incidents.")
@record_output.span("Created from then on: 24h, 7d, an ISO 8601 time.", "Created before then.")
@record_output.listing(COLUMNS, "incident")
def list_all(since: str | None, until: str | None, **wanted: Any) -> Records[Incident]:
    """List incidents, such as the open ones of the last week: --open --since 7d."""
    found = IncidentFilter(created=parse_range(since, until), **wanted)
    return lambda api, most: list_incidents(api, found, most)


@incidents.command
@click.option("--name", default="", metavar="NAME", help="Of incidents with this name.")
@_severities
@_statuses
@_muted
@record_output.span("From then on: 24h, 7d, or an ISO 8601 time.", "Before then.")
@record_output.listing(EVENT_COLUMNS, "event")
def events(since: str | None, until: str | None, **wanted: Any) -> Records[ExtendedIncidentEvent]:
    """List what happened to incidents."""
    found = IncidentEventFilter(span=parse_range(since, until), **wanted)
    return lambda api, most: list_incident_events(api, found, most)


@incidents.command
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask; required without a terminal.")
@options.connected
@options.formats("text", "json")
def close(*, ids: tuple[str, ...], yes: bool, options: Options, form: str) -> int:
    """Show the incidents, ask, and close them. Exits with 3 where one stays open."""
    if not yes and not is_terminal():
        raise UsageError("there is no terminal: give --yes")
    session = open_target(options)
    wanted = list(dict.fromkeys(ids))
    found = session.ask(lambda api: find_incidents(api, wanted))
    lost = [text for text in wanted if text not in found]
    if lost:
        raise UsageError(f"there is no incident {', '.join(lost)}; nothing was closed")
    still_open = [text for text in wanted if found[text].is_open]
    if not options.quiet:
        words(record_table(COLUMNS, list(found.values()), stderr_style(verbose=options.verbose)))
    if not still_open and not options.quiet:
        words("nothing to close: closed already")
    if still_open and not yes and not agreed(f"Close {len(still_open)} of {len(wanted)}?"):
        words("nothing was closed")
        still_open = []
    known = session.ask(lambda api: close_incidents(api, still_open)) if still_open else []
    closed = [incident for incident in known if not incident.is_open]
    stay = [text for text in still_open if text not in {incident.id for incident in closed}]
    code = ExitCode.PARTIAL if stay else ExitCode.DONE
    if stay:
        words(f"still open: {', '.join(stay)}")
    if form == "json":
        return json_data([incident.document for incident in closed], ending=code)
    return data("".join(f"closed {safe(incident.id)}\n" for incident in closed), ending=code)
