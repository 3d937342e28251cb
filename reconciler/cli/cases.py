"""`reconciler cases`: cases (7)."""

from __future__ import annotations

from typing import Any

import click

from reconciler.cli.record_output import (
    Column,
    Records,
    clock_time,
    listing,
    pairs,
    plain,
    values_of,
)
from reconciler.cli.root import Group
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
@values_of(STATES, "--state", "states", "active, resolved …")
@values_of(STATUSES, "--status", "statuses", "open, acknowledged …")
@values_of(PRIORITIES, "--priority", "priorities", "p1 to p5.", "P")
@values_of(CATEGORIES, "--category", "categories", "security …")
@pairs("--label", "labels", "Repeatable.")
@pairs("--grouping", "groupings", "Repeatable.")
@click.option("--text", default="", metavar="WORDS", help="Search in the text of cases.")
@click.option("--unassigned", is_flag=True, help="Only those without an assignee.")
@listing(COLUMNS, "case")
def list_all(**wanted: Any) -> Records[Case]:
    """List cases, newest first. The key needs the permission `case:Read`."""
    return lambda api, most: list_cases(api, CaseFilter(**wanted), most)
