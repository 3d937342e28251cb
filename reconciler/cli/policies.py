"""`reconciler policies`: log policies as they are (15), tested (18), and added (16)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

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
from reconciler.cli.record_output import Column, each, enumerated, plain, print_records
from reconciler.cli.root import Group
from reconciler.document import Json
from reconciler.errors import InvalidInput, UsageError
from reconciler.kinds.assumed_reads import text as text_of
from reconciler.kinds.log_policy_set.remote import bulk_create, bulk_test, flaw_of_input
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import open_target
from reconciler.records.listings import (
    POLICY_PRIORITIES,
    POLICY_SEVERITIES,
    RULE_TYPES,
    LogPolicy,
    PolicyRuleRecord,
    list_log_policies,
)
from reconciler.report.safe import safe
from reconciler.report.table import Heading, csv_line, table
from reconciler.syntax.read_text import read_rows

ROW_FIELDS = ("application", "subsystem", "severity")
EXPECTED = "policy"
NO_POLICY = "(none)"
WIRE_FIELDS = ("applicationNameValues", "subsystemNameValues", "severityValues")


def _rule(rule: PolicyRuleRecord | None) -> str:
    if rule is None or not rule.name:
        return ""
    return f"{plain(RULE_TYPES, rule.rule_type_id)} {rule.name}"


COLUMNS: tuple[Column[LogPolicy], ...] = (
    Column("order", lambda policy: "" if policy.order is None else str(policy.order)),
    Column("name", lambda policy: policy.name),
    Column("priority", lambda policy: plain(POLICY_PRIORITIES, policy.priority)),
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
        lambda api: list_log_policies(api, source.upper(), enabled_only=enabled_only)
    )
    asyncio.run(print_records(each(found), COLUMNS, form))


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
    spelled = ",".join(enumerated(POLICY_SEVERITIES, severities, flag))
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
            lines = [[*line, _expected(row)] for row, line in zip(rows, lines, strict=True)]
        if form == "csv":
            data("".join(map(csv_line, (headers, *lines))))
        else:
            data(table([*map(Heading, headers)], lines, stdout_style(verbose=verbose)))


def _expected(row: dict[str, Json]) -> str:
    """Return the policy that a row expects, "" where it expects nothing."""
    return (text_of(row, EXPECTED) or NO_POLICY) if EXPECTED in row else ""


def _result_cells(row: dict[str, Json], result: dict[str, Json]) -> list[str]:
    policy = result.get("policy")
    met = result.get("matched") is True and isinstance(policy, dict)
    return [
        *(text_of(row, name) for name in ROW_FIELDS),
        text_of(policy, "name") if met and isinstance(policy, dict) else NO_POLICY,
        plain(POLICY_PRIORITIES, text_of(policy, "priority")) if isinstance(policy, dict) else "",
    ]


@policies.command
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--yes", is_flag=True, help="Do not ask for consent; without a terminal it is required."
)
@options.connected
@options.formats("text", "json")
def add(*, file: Path, yes: bool, options: Options, form: str) -> None:
    """Add the policies of FILE, all or none: a list in the form of the API.

    A LogPolicySet manifest that leaves them out destroys them at its next apply,
    so add only what is not kept as code.
    """
    if not yes and not is_terminal():
        raise UsageError("there is no terminal: give --yes")
    requests = read_rows(file, None)
    _check_inputs(requests, file)
    session = open_target(options)
    if not yes:
        rows = [[text_of(request, "name"), text_of(request, "priority")] for request in requests]
        headings = (Heading("name", whole=True), Heading("priority"))
        words(table(headings, rows, stderr_style(verbose=options.verbose)))
    is_agreed = yes or agreed(f"Add them to {session.name}?")
    if not is_agreed:
        words("nothing was added")
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
