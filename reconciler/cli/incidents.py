"""`reconciler incidents`: incidents (8), their events (9), and closing them (10)."""

from __future__ import annotations

import asyncio

import click

from reconciler.cli import options
from reconciler.cli.console import agreed, data, is_terminal, json_data, stderr_style, words
from reconciler.cli.record_output import (
    Column,
    ListFormat,
    clock_time,
    enumerated,
    limit,
    parse_range,
    parse_single_pairs,
    plain,
    record_table,
    run_listing,
)
from reconciler.cli.root import Group
from reconciler.errors import ExitCode, UsageError
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session, open_api, open_target
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


@incidents.command("list")
@click.option("--open", "open_only", is_flag=True, help="Only those that nothing has closed.")
@click.option("--severity", "severities", multiple=True, metavar="NAME", help="error …")
@click.option("--status", "statuses", multiple=True, metavar="NAME", help="triggered …")
@click.option("--state", "states", multiple=True, metavar="NAME", help="triggered, resolved.")
@click.option("--application", "applications", multiple=True, metavar="NAME", help="Repeatable.")
@click.option("--subsystem", "subsystems", multiple=True, metavar="NAME", help="Repeatable.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Contextual labels.")
@click.option("--muted/--not-muted", "muted", default=None, help="Only muted ones, or no muted.")
@click.option("--text", default="", metavar="WORDS", help="Search in incidents.")
@click.option("--since", metavar="TIME", help="Created from then on: 24h, 7d, an ISO 8601 time.")
@click.option("--until", metavar="TIME", help="Created before then.")
@limit
@options.connected
@options.formats("text", "json", "jsonl", "csv")
def list_all(  # noqa: PLR0913 - one parameter a flag
    *,
    open_only: bool,
    severities: tuple[str, ...],
    statuses: tuple[str, ...],
    states: tuple[str, ...],
    applications: tuple[str, ...],
    subsystems: tuple[str, ...],
    labels: tuple[str, ...],
    muted: bool | None,
    text: str,
    since: str | None,
    until: str | None,
    limit: int,
    options: Options,
    form: str,
) -> int:
    """List incidents, such as the open ones of the last week: --open --since 7d."""
    wanted = IncidentFilter(
        applications=applications,
        subsystems=subsystems,
        severities=enumerated(SEVERITIES, severities, "--severity"),
        states=enumerated(STATES, states, "--state"),
        statuses=enumerated(STATUSES, statuses, "--status"),
        muted=muted,
        text=text,
        labels=parse_single_pairs(labels, "--label"),
        created=parse_range(since, until),
        open_only=open_only,
    )
    listing = ListFormat(COLUMNS, form, limit, "incident")
    return run_listing(options, listing, lambda api, most: list_incidents(api, wanted, most))


@incidents.command
@click.option("--name", default="", metavar="NAME", help="Of incidents with this name.")
@click.option("--severity", "severities", multiple=True, metavar="NAME", help="error …")
@click.option("--status", "statuses", multiple=True, metavar="NAME", help="triggered …")
@click.option("--muted/--not-muted", "muted", default=None, help="Only muted ones, or no muted.")
@click.option("--since", metavar="TIME", help="From then on: 24h, 7d, or an ISO 8601 time.")
@click.option("--until", metavar="TIME", help="Before then.")
@limit
@options.connected
@options.formats("text", "json", "jsonl", "csv")
def events(  # noqa: PLR0913 - one parameter a flag
    *,
    name: str,
    severities: tuple[str, ...],
    statuses: tuple[str, ...],
    muted: bool | None,
    since: str | None,
    until: str | None,
    limit: int,
    options: Options,
    form: str,
) -> int:
    """List what happened to incidents."""
    wanted = IncidentEventFilter(
        name=name,
        severities=enumerated(SEVERITIES, severities, "--severity"),
        statuses=enumerated(STATUSES, statuses, "--status"),
        muted=muted,
        span=parse_range(since, until),
    )
    listing = ListFormat(EVENT_COLUMNS, form, limit, "event")
    return run_listing(options, listing, lambda api, most: list_incident_events(api, wanted, most))


@incidents.command
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask; required without a terminal.")
@options.connected
@options.formats("text", "json")
def close(
    *,
    ids: tuple[str, ...],
    yes: bool,
    options: Options,
    form: str,
) -> int:
    """Show the incidents, ask, and close them. Exits with 3 where one stays open."""
    if not yes and not is_terminal():
        raise UsageError("there is no terminal: give --yes")
    session = open_target(options)
    wanted = list(dict.fromkeys(ids))
    found = asyncio.run(_find(session, wanted))
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
    known = asyncio.run(_close(session, still_open)) if still_open else []
    closed = [incident for incident in known if not incident.is_open]
    stay = [text for text in still_open if text not in {incident.id for incident in closed}]
    code = ExitCode.PARTIAL if stay else ExitCode.DONE
    if stay:
        words(f"still open: {', '.join(stay)}")
    if form == "json":
        return json_data([incident.document for incident in closed], ending=code)
    return data("".join(f"closed {safe(incident.id)}\n" for incident in closed), ending=code)


async def _find(session: Session, ids: list[str]) -> dict[str, Incident]:
    async with open_api(session) as api:
        return await find_incidents(api, ids)


async def _close(session: Session, ids: list[str]) -> list[Incident]:
    async with open_api(session) as api:
        return await close_incidents(api, ids)
