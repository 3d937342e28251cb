"""Cases. Source: docs/endpoints.md, 7."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from reconciler.document import Json
from reconciler.model.assumptions import Assumptions
from reconciler.records import record

if TYPE_CHECKING:
    from reconciler.api.client import Api

CASES = "/cases/cases/v1"

STATES = record.Enumeration("CASE_STATE_", ("CREATED", "ACTIVE", "RESOLVED"))
STATUSES = record.Enumeration("CASE_STATUS_", ("OPEN", "ACKNOWLEDGED", "CLOSED"))
PRIORITIES = record.Enumeration("CASE_PRIORITY_", ("P1", "P2", "P3", "P4", "P5"))
CATEGORIES = record.Enumeration("CASE_CATEGORY_", ("SECURITY", "AVAILABILITY"))


class PriorityDetails(record.Record):
    """The priority from the system, and the priority that a person set instead."""

    override: record.Text = ""
    system: record.Text = ""


class Assignee(record.Record):
    """The person who looks after a case."""

    user_id: record.Text = ""


class ResolutionDetails(record.Record):
    """The time when a case was resolved, and by whom."""

    resolve_time: record.Text = ""
    resolved_by: record.Text = ""


class AlertIndicator(record.Record):
    """One alert of a case."""

    alert_id: record.Text = ""
    alert_version_id: record.Text = ""
    grouping_type: record.Text = ""
    groupings: Annotated[list[record.KeyValue], record.OrEmpty] = Field(default_factory=list)
    priority: record.Text = ""
    state: record.Text = ""
    trigger_time: record.Text = ""
    resolve_time: record.Text = ""


class Case(record.Record):
    """One case; the fields without a default are required in every answer."""

    id: record.Text
    category: record.Text
    create_time: record.Text
    priority: record.Text
    state: record.Text
    status: record.Text
    title: record.Text
    readable_id: record.Text = ""
    description: record.Text = ""
    priority_details: PriorityDetails | None = None
    update_time: record.Text = ""
    acknowledge_time: record.Text = ""
    assignee: Assignee | None = None
    groupings: Annotated[list[record.KeyValue], record.OrEmpty] = Field(default_factory=list)
    labels: Annotated[list[record.KeyValue], record.OrEmpty] = Field(default_factory=list)
    resolution_details: ResolutionDetails | None = None
    alert_indicators: Annotated[list[AlertIndicator], record.OrEmpty] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilter:
    """The cases that are wanted. Lists are alternatives; labels must all be there."""

    states: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str = ""
    unassigned: bool = False

    def document(self, assumptions: Assumptions) -> dict[str, Json]:
        """Return the `filters` of the request, without those that are not set."""
        bare = assumptions.case_statuses == "bare"
        filters: dict[str, Json] = {
            "states": list(self.states),
            # This is the only filter for which the API document shows values without their prefix.
            "statuses": [
                status.removeprefix(STATUSES.prefix) if bare else status for status in self.statuses
            ],
            "priorities": list(self.priorities),
            "categories": list(self.categories),
            "labels": _pairs(self.labels),
            "groupings": _pairs(self.groupings),
            "textSearch": self.text,
            "assignees": [{"unassigned": {}}] if self.unassigned else [],
        }
        return {key: value for key, value in filters.items() if value}


def _pairs(labels: Mapping[str, tuple[str, ...]]) -> list[Json]:
    return [{"key": key, "values": list(values)} for key, values in labels.items()]


def list_cases(
    api: Api, wanted: CaseFilter, limit: int | record.Allowance | None = None
) -> AsyncIterator[Case]:
    """Return cases page by page, newest first.

    Needs the permission `case:Read`. Raises what `Api.ask` raises.
    """
    filters = wanted.document(api.assumptions)

    def fetch(pagination: dict[str, Json]) -> Awaitable[Json]:
        return api.ask(CASES, {"filters": filters, "pagination": pagination})

    return record.follow(fetch, record.PageShape("cases", Case), limit)
