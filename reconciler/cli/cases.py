"""`reconciler cases`: cases (7)."""

from __future__ import annotations

import click

from reconciler.cli import options
from reconciler.cli.record_output import (
    Column,
    ListFormat,
    clock_time,
    enumerated,
    limit,
    parse_pairs,
    plain,
    run_listing,
)
from reconciler.cli.root import Group
from reconciler.operations.open_project import Options
from reconciler.records.case_records import (
    CATEGORIES,
    PRIORITIES,
    STATES,
    STATUSES,
    Case,
    CaseFilter,
    list_cases,
)

COLUMNS: tuple[Column[Case], ...] = (
    Column("case", lambda case: case.readable_id or case.id, whole=True),
    Column("created", lambda case: clock_time(case.create_time), whole=True),
    Column("priority", lambda case: plain(PRIORITIES, case.priority)),
    Column("state", lambda case: plain(STATES, case.state)),
    Column("status", lambda case: plain(STATUSES, case.status)),
    Column("category", lambda case: plain(CATEGORIES, case.category)),
    Column("title", lambda case: case.title),
)


@click.group(cls=Group)
def cases() -> None:
    """List cases."""


@cases.command("list")
@click.option("--state", "states", multiple=True, metavar="NAME", help="active, resolved …")
@click.option("--status", "statuses", multiple=True, metavar="NAME", help="open, acknowledged …")
@click.option("--priority", "priorities", multiple=True, metavar="P", help="p1 to p5.")
@click.option("--category", "categories", multiple=True, metavar="NAME", help="security …")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Repeatable.")
@click.option("--grouping", "groupings", multiple=True, metavar="KEY=VALUE", help="Repeatable.")
@click.option("--text", default="", metavar="WORDS", help="Search in the text of cases.")
@click.option("--unassigned", is_flag=True, help="Only those without an assignee.")
@limit
@options.connected
@options.formats("text", "json", "jsonl", "csv")
def list_all(  # noqa: PLR0913 - one parameter a flag
    *,
    states: tuple[str, ...],
    statuses: tuple[str, ...],
    priorities: tuple[str, ...],
    categories: tuple[str, ...],
    labels: tuple[str, ...],
    groupings: tuple[str, ...],
    text: str,
    unassigned: bool,
    limit: int,
    options: Options,
    form: str,
) -> int:
    """List cases, newest first. The key needs the permission `case:Read`."""
    wanted = CaseFilter(
        states=enumerated(STATES, states, "--state"),
        statuses=enumerated(STATUSES, statuses, "--status"),
        priorities=enumerated(PRIORITIES, priorities, "--priority"),
        categories=enumerated(CATEGORIES, categories, "--category"),
        labels=parse_pairs(labels, "--label"),
        groupings=parse_pairs(groupings, "--grouping"),
        text=text,
        unassigned=unassigned,
    )
    listing = ListFormat(COLUMNS, form, limit, "case")
    return run_listing(options, listing, lambda api, most: list_cases(api, wanted, most))
