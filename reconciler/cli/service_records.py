"""`reconciler events`, `cases`, `incidents` and `usage`: records of the service.

They are alert events (2), cases (7), incidents (8), their events (9), closing them (10), and daily
data-usage units (19).
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

import click

from reconciler.cli import options
from reconciler.cli.console import (
    agreed,
    data,
    is_terminal,
    json_data,
    stderr_style,
    stdout_style,
    words,
)
from reconciler.cli.record_output import (
    Column,
    Records,
    clock_time,
    each,
    enumerated,
    listing,
    pairs,
    parse_range,
    parse_single_pairs,
    plain,
    print_records,
    record_table,
    report_count,
    span,
    values_of,
)
from reconciler.cli.root import Group
from reconciler.document import Json
from reconciler.errors import ExitCode, InvalidInput, MissingExtra, UsageError
from reconciler.kinds.assumed_reads import text as text_of
from reconciler.kinds.log_policy_set.remote import bulk_create, bulk_test, flaw_of_input
from reconciler.operations.added_by_features import permit_write
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import open_target
from reconciler.records import listings
from reconciler.report.safe import safe
from reconciler.report.table import Heading, csv_line, table, usage_chart
from reconciler.runtime import regular_files
from reconciler.syntax.read_text import read_rows

EVENT_COLUMNS: tuple[Column[listings.AlertEvent], ...] = (
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
@span("Only events since then", "Only events before then")
@click.option(
    "--alert-version-id",
    "versions",
    multiple=True,
    metavar="ID",
    help="Only events of this version of an alert; repeat it for more.",
)
@pairs("--label", "labels", "Only events with each of these labels.", parse_single_pairs)
@listing(EVENT_COLUMNS, "event")
def list_events(
    *, since: str | None, until: str | None, versions: tuple[str, ...], labels: Mapping[str, str]
) -> Records[listings.AlertEvent]:
    """List alert events, such as those of the last day: --since 24h."""
    wanted = listings.EventFilter(versions, parse_range(since, until), labels)
    return lambda api, most: listings.list_alert_events(api, wanted, most)


CASE_COLUMNS: tuple[Column[listings.Case], ...] = (
    Column("case", lambda case: case.readable_id or case.id, whole=True),
    Column("created", lambda case: clock_time(case.create_time), whole=True),
    Column("priority", lambda case: plain(listings.CASE_PRIORITIES, case.priority)),
    Column("state", lambda case: plain(listings.CASE_STATES, case.state)),
    Column("status", lambda case: plain(listings.CASE_STATUSES, case.status)),
    Column("category", lambda case: plain(listings.CATEGORIES, case.category)),
    Column("title", lambda case: case.title),
)


@click.group(cls=Group)
def cases() -> None:
    """List cases."""


@cases.command("list")
@values_of(
    listings.CASE_STATES, "--state", "states", "Only cases in this state, as active or resolved"
)
@values_of(
    listings.CASE_STATUSES,
    "--status",
    "statuses",
    "Only cases with this status, as open or acknowledged",
)
@values_of(
    listings.CASE_PRIORITIES,
    "--priority",
    "priorities",
    "Only cases of this priority, p1 to p5",
    "P",
)
@values_of(
    listings.CATEGORIES, "--category", "categories", "Only cases of this category, as security"
)
@pairs("--label", "labels", "Only cases with this label; repeat it for more.")
@pairs("--grouping", "groupings", "Only cases with this grouping; repeat it for more.")
@click.option("--text", default="", metavar="WORDS", help="Only cases that contain this text.")
@click.option("--unassigned", is_flag=True, help="Only cases without an assignee.")
@listing(CASE_COLUMNS, "case")
def list_all_cases(**wanted: Any) -> Records[listings.Case]:
    """List cases, newest first. The key needs the permission `case:Read`."""
    return lambda api, most: listings.list_cases(api, listings.CaseFilter(**wanted), most)


INCIDENT_COLUMNS: tuple[Column[listings.Incident], ...] = (
    Column("incident", lambda incident: incident.id, whole=True),
    Column("created", lambda incident: clock_time(incident.created_at), whole=True),
    Column("closed", lambda incident: clock_time(incident.closed_at) or "open", whole=True),
    Column("severity", lambda incident: plain(listings.INCIDENT_SEVERITIES, incident.severity)),
    Column("status", lambda incident: plain(listings.INCIDENT_STATUSES, incident.status)),
    Column("name", lambda incident: incident.name),
)


def _known(event: listings.ExtendedIncidentEvent) -> listings.EventMetadata:
    return event.incident_event_extended_metadata or listings.EventMetadata()


def _kind(event: listings.ExtendedIncidentEvent) -> str:
    kind = event.incident_event.incident_event_type if event.incident_event is not None else ""
    return plain(listings.EVENT_TYPES, kind)


INCIDENT_EVENT_COLUMNS: tuple[Column[listings.ExtendedIncidentEvent], ...] = (
    Column("time", lambda event: clock_time(event.cx_event_timestamp), whole=True),
    Column("event", _kind),
    Column(
        "severity",
        lambda event: plain(listings.INCIDENT_SEVERITIES, _known(event).incident_severity),
    ),
    Column(
        "status", lambda event: plain(listings.INCIDENT_STATUSES, _known(event).incident_status)
    ),
    Column("alert", lambda event: _known(event).alert_name),
)


@click.group(cls=Group)
def incidents() -> None:
    """List and close incidents."""


_severities = values_of(
    listings.INCIDENT_SEVERITIES, "--severity", "severities", "Only this severity, as error"
)
_statuses = values_of(
    listings.INCIDENT_STATUSES, "--status", "statuses", "Only this status, as triggered"
)
_muted = click.option(
    "--muted/--not-muted",
    "muted",
    default=None,
    help="Only what is muted, or only what is not muted.",
)


@incidents.command("list")
@click.option("--open", "open_only", is_flag=True, help="Only incidents that are still open.")
@_severities
@_statuses
@values_of(
    listings.INCIDENT_STATES,
    "--state",
    "states",
    "Only incidents in this state, triggered or resolved",
)
@click.option(
    "--application",
    "applications",
    multiple=True,
    metavar="NAME",
    help="Only incidents of this application; repeat it for more.",
)
@click.option(
    "--subsystem",
    "subsystems",
    multiple=True,
    metavar="NAME",
    help="Only incidents of this subsystem; repeat it for more.",
)
@pairs(
    "--label", "labels", "Only incidents with each of these contextual labels.", parse_single_pairs
)
@_muted
@click.option("--text", default="", metavar="WORDS", help="Only incidents that contain this text.")
@span("Only incidents created since then", "Only incidents created before then")
@listing(INCIDENT_COLUMNS, "incident")
def list_all_incidents(
    since: str | None, until: str | None, **wanted: Any
) -> Records[listings.Incident]:
    """List incidents, such as the open ones of the last week: --open --since 7d."""
    found = listings.IncidentFilter(created=parse_range(since, until), **wanted)
    return lambda api, most: listings.list_incidents(api, found, most)


@incidents.command("events")
@click.option(
    "--name",
    default="",
    metavar="NAME",
    help="Only events of incidents with this name.",
)
@_severities
@_statuses
@_muted
@span("Only events since then", "Only events before then")
@listing(INCIDENT_EVENT_COLUMNS, "event")
def list_incident_events(
    since: str | None, until: str | None, **wanted: Any
) -> Records[listings.ExtendedIncidentEvent]:
    """List what happened to incidents."""
    found = listings.IncidentEventFilter(span=parse_range(since, until), **wanted)
    return lambda api, most: listings.list_incident_events(api, found, most)


@incidents.command
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--yes", is_flag=True, help="Do not ask for consent; without a terminal it is required."
)
@options.connected
@options.formats("text", "json")
@options.of_features("incidents close")
def close(
    *, ids: tuple[str, ...], yes: bool, options: Options, form: str, **added: str | None
) -> int:
    """Show the incidents, ask, and close them. Exits with 3 where one stays open."""
    if not yes and not is_terminal():
        raise UsageError("there is no terminal: give --yes")
    session = open_target(options)
    note_consent = permit_write(session, "incidents close", added)
    wanted = list(dict.fromkeys(ids))
    found = session.ask(lambda api: listings.find_incidents(api, wanted))
    lost = [text for text in wanted if text not in found]
    if lost:
        raise UsageError(f"there is no incident {', '.join(lost)}; nothing was closed")
    still_open = [text for text in wanted if found[text].is_open]
    if not options.quiet:
        words(
            record_table(
                INCIDENT_COLUMNS, list(found.values()), stderr_style(verbose=options.verbose)
            )
        )
    if not still_open and not options.quiet:
        words("nothing to close: closed already")
    asking = f"Close {len(still_open)} of {len(wanted)}?"
    if still_open and not _is_agreed(asking, "nothing was closed", note_consent, yes=yes):
        still_open = []
    known = session.ask(lambda api: listings.close_incidents(api, still_open)) if still_open else []
    closed = [incident for incident in known if not incident.is_open]
    stay = [text for text in still_open if text not in {incident.id for incident in closed}]
    code = ExitCode.PARTIAL if stay else ExitCode.DONE
    if stay:
        words(f"still open: {', '.join(stay)}")
    if form == "json":
        return json_data([incident.document for incident in closed], ending=code)
    return data("".join(f"closed {safe(incident.id)}\n" for incident in closed), ending=code)


def _is_agreed(asking: str, otherwise: str, note: Callable[[], None], *, yes: bool) -> bool:
    if yes or agreed(asking):
        note()
        return True
    words(otherwise)
    return False


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


def _draw(days: Sequence[listings.DailyUnits], file: Path) -> None:
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


def _column(header: str, name: str) -> Column[listings.DailyUnits]:
    return Column(header, figure=attrgetter(name))


SERVICE_RECORDS_COLUMNS: tuple[Column[listings.DailyUnits], ...] = (
    Column("date", lambda day: day.stats_date[:10], whole=True),
    *(_column(header, name) for header, name in SERIES),
    _column("total", "total_units"),
)
NARROW = tuple(
    column
    for column in SERVICE_RECORDS_COLUMNS
    if column.header in ("date", "high logs", "medium logs", "low logs", "high metrics", "total")
)


@click.command
@click.option(
    "--range",
    "span",
    type=click.Choice([text.lower().replace("_", "-") for text in listings.RANGES]),
    default="last-30-days",
    show_default=True,
    help="The days to show.",
)
@click.option("--chart", is_flag=True, help="Print a bar chart instead of a table.")
@click.option(
    "--png",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also draw the chart into this PNG file; it needs the extra `plot`.",
)
@options.connected
@options.formats("text", "json", "jsonl", "csv")
def usage(*, span: str, chart: bool, png: Path | None, options: Options, form: str) -> None:
    """Show the units of each day. The table shows the main ones; -v and CSV show all."""
    if chart and form != "text":
        raise UsageError("--chart and --format exclude each other")
    if png is not None:
        check_picture(png)
    wanted = span.upper().replace("-", "_")
    days = open_target(options).ask(lambda api: listings.daily_units(api, wanted))
    if png is not None:
        _draw(days, png)
    if chart:
        bars = [(day.stats_date, day.total_units) for day in days]
        data(usage_chart(bars, stdout_style(verbose=options.verbose)))
    else:
        columns = SERVICE_RECORDS_COLUMNS if options.verbose or form != "text" else NARROW
        asyncio.run(print_records(each(days), columns, form))
    report_count(len(days), 0, "day", quiet=options.quiet)
    if png is not None and not options.quiet:
        words(f"drew {png}")


ROW_FIELDS = ("application", "subsystem", "severity")
EXPECTED = "policy"
NO_POLICY = "(none)"
WIRE_FIELDS = ("applicationNameValues", "subsystemNameValues", "severityValues")


def _rule(rule: listings.PolicyRuleRecord | None) -> str:
    if rule is None or not rule.name:
        return ""
    return f"{plain(listings.RULE_TYPES, rule.rule_type_id)} {rule.name}"


POLICIES_COLUMNS: tuple[Column[listings.LogPolicy], ...] = (
    Column("order", lambda policy: "" if policy.order is None else str(policy.order)),
    Column("name", lambda policy: policy.name),
    Column("priority", lambda policy: plain(listings.POLICY_PRIORITIES, policy.priority)),
    Column("enabled", lambda policy: "no" if policy.enabled is False else "yes"),
    Column("application", lambda policy: _rule(policy.application_rule)),
    Column("subsystem", lambda policy: _rule(policy.subsystem_rule)),
)


@click.group(cls=Group)
def policies() -> None:
    """List, test and add log policies."""


@policies.command("list")
@click.option("--enabled", "enabled_only", is_flag=True, help="Only policies that are enabled.")
@click.option(
    "--source",
    type=click.Choice(["logs", "spans"]),
    default="logs",
    show_default=True,
    help="List the policies of logs, or those of spans.",
)
@options.connected
@options.formats("text", "json", "jsonl", "csv")
def list_all(*, enabled_only: bool, source: str, options: Options, form: str) -> None:
    """List the policies in the order in which they are tried."""
    found = open_target(options).ask(
        lambda api: listings.list_log_policies(api, source.upper(), enabled_only=enabled_only)
    )
    asyncio.run(print_records(each(found), POLICIES_COLUMNS, form))


@policies.command
@click.option(
    "--application",
    default="",
    metavar="NAME",
    help="The application of the log, as in `checkout`.",
)
@click.option(
    "--subsystem", default="", metavar="NAME", help="The subsystem of the log, as in `payments`."
)
@click.option(
    "--severity", default="", metavar="NAME", help="The severity of the log, as `info` or `error`."
)
@click.option(
    "--file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A YAML or JSON file with a list of logs to test, each with application, "
    "subsystem and severity.",
)
@options.connected
@options.formats("text", "json", "jsonl", "csv")
def test(
    *,
    application: str,
    subsystem: str,
    severity: str,
    file: Path | None,
    options: Options,
    form: str,
) -> None:
    """Show which policy each kind of log would meet; nothing is changed."""
    if file is not None and (application or subsystem or severity):
        raise UsageError("--file and the other flags exclude each other")
    row: dict[str, Json] = dict(zip(ROW_FIELDS, (application, subsystem, severity), strict=True))
    if file is None and not any(row.values()):
        raise UsageError("give --application, --subsystem or --severity, or --file FILE")
    rows = [row] if file is None else read_rows(file, (*ROW_FIELDS, EXPECTED), EXPECTED)
    wire_rows = [_wire_row(row, "--severity")] if file is None else _wire_rows(rows, file)
    results = open_target(options).ask(lambda api: bulk_test(api, wire_rows))
    _print_results(rows, results, form, verbose=options.verbose)


def _wire_rows(rows: Sequence[dict[str, Json]], file: Path) -> list[dict[str, Json]]:
    try:
        return [
            _wire_row(row, f"{file}: item {number}: severity") for number, row in enumerate(rows, 1)
        ]
    except UsageError as error:
        raise InvalidInput(str(error)) from error


def _wire_row(row: dict[str, Json], flag: str) -> dict[str, Json]:
    severities = [part for part in text_of(row, "severity").split(",") if part]
    spelled = ",".join(enumerated(listings.POLICY_SEVERITIES, severities, flag))
    values = (text_of(row, "application"), text_of(row, "subsystem"), spelled)
    return dict(zip(WIRE_FIELDS, values, strict=True))


def _print_results(
    rows: Sequence[dict[str, Json]],
    results: Sequence[dict[str, Json]],
    form: str,
    *,
    verbose: bool,
) -> None:
    if form == "json":
        json_data(list(results))
    elif form == "jsonl":
        for result in results:
            json_data(result, one_line=True)
    else:
        headers = [*ROW_FIELDS, "policy", "priority"]
        lines = [_result_cells(*pair) for pair in zip(rows, results, strict=True)]
        if any(EXPECTED in row for row in rows):
            headers.append("expected")
            wanted = (EXPECTED in row and (text_of(row, EXPECTED) or NO_POLICY) for row in rows)
            lines = [[*line, policy or ""] for line, policy in zip(lines, wanted, strict=True)]
        if form == "csv":
            data("".join(map(csv_line, (headers, *lines))))
        else:
            data(table([*map(Heading, headers)], lines, stdout_style(verbose=verbose)))


def _result_cells(row: dict[str, Json], result: dict[str, Json]) -> list[str]:
    policy = result.get("policy")
    met = result.get("matched") is True and isinstance(policy, dict)
    return [
        *(text_of(row, name) for name in ROW_FIELDS),
        text_of(policy, "name") if met and isinstance(policy, dict) else NO_POLICY,
        plain(listings.POLICY_PRIORITIES, text_of(policy, "priority"))
        if isinstance(policy, dict)
        else "",
    ]


@policies.command
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--yes", is_flag=True, help="Do not ask for consent; without a terminal it is required."
)
@options.connected
@options.formats("text", "json")
@options.of_features("policies add")
def add(*, file: Path, yes: bool, options: Options, form: str, **added: str | None) -> None:
    """Add the policies of FILE, all or none: a list in the form of the API.

    A LogPolicySet manifest that leaves them out destroys them at its next apply,
    so add only what is not kept as code.
    """
    if not yes and not is_terminal():
        raise UsageError("there is no terminal: give --yes")
    session = open_target(options)
    note_consent = permit_write(session, "policies add", added)
    requests = read_rows(file, None)
    _check_inputs(requests, file)
    if not yes:
        rows = [[text_of(request, "name"), text_of(request, "priority")] for request in requests]
        headings = (Heading("name", whole=True), Heading("priority"))
        words(table(headings, rows, stderr_style(verbose=options.verbose)))
    asking = f"Add them to {session.name}?"
    is_agreed = _is_agreed(asking, "nothing was added", note_consent, yes=yes)
    created = session.ask(lambda api: bulk_create(api, requests)) if is_agreed else []
    if form == "json":
        json_data(list(created))
    else:
        data("".join(f"added {safe(text_of(document, 'name'))}\n" for document in created))


def _check_inputs(requests: Sequence[dict[str, Json]], file: Path) -> None:
    names: set[str] = set()
    for number, request in enumerate(requests, 1):
        flaw = flaw_of_input(request)
        name = text_of(request, "name")
        if not flaw and name in names:
            flaw = f"`{name}` is there twice"
        if flaw:
            raise InvalidInput(f"{file}: item {number}: {flaw}")
        names.add(name)
