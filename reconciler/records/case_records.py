"""Cases. Source: docs/endpoints.md, 7."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from reconciler.document import Json
from reconciler.model.assumptions import Assumptions
from reconciler.records.record import (
    Allowance,
    Enumeration,
    KeyValue,
    OrEmpty,
    PageShape,
    Record,
    Text,
    follow,
)

if TYPE_CHECKING:
    from reconciler.api.client import Api

CASES = "/cases/cases/v1"

STATES = Enumeration("CASE_STATE_", ("CREATED", "ACTIVE", "RESOLVED"))
STATUSES = Enumeration("CASE_STATUS_", ("OPEN", "ACKNOWLEDGED", "CLOSED"))
PRIORITIES = Enumeration("CASE_PRIORITY_", ("P1", "P2", "P3", "P4", "P5"))
CATEGORIES = Enumeration("CASE_CATEGORY_", ("SECURITY", "AVAILABILITY"))


class PriorityDetails(Record):
    """The priority from the system, and the priority that a person set instead."""

    override: Text = ""
    system: Text = ""


class Assignee(Record):
    """The person who looks after a case."""

    user_id: Text = ""


class ResolutionDetails(Record):
    """The time when a case was resolved, and by whom."""

    resolve_time: Text = ""
    resolved_by: Text = ""


class AlertIndicator(Record):
    """One alert of a case."""

    alert_id: Text = ""
    alert_version_id: Text = ""
    grouping_type: Text = ""
    groupings: Annotated[list[KeyValue], OrEmpty] = Field(default_factory=list)
    priority: Text = ""
    state: Text = ""
    trigger_time: Text = ""
    resolve_time: Text = ""


class Case(Record):
    """One case; the fields without a default are required in every answer."""

    id: Text
    category: Text
    create_time: Text
    priority: Text
    state: Text
    status: Text
    title: Text
    readable_id: Text = ""
    description: Text = ""
    priority_details: PriorityDetails | None = None
    update_time: Text = ""
    acknowledge_time: Text = ""
    assignee: Assignee | None = None
    groupings: Annotated[list[KeyValue], OrEmpty] = Field(default_factory=list)
    labels: Annotated[list[KeyValue], OrEmpty] = Field(default_factory=list)
    resolution_details: ResolutionDetails | None = None
    alert_indicators: Annotated[list[AlertIndicator], OrEmpty] = Field(default_factory=list)


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
    api: Api, wanted: CaseFilter, limit: int | Allowance | None = None
) -> AsyncIterator[Case]:
    """Return cases page by page, newest first.

    Needs the permission `case:Read`. Raises what `Api.ask` raises.
    """
    filters = wanted.document(api.assumptions)

    def fetch(pagination: dict[str, Json]) -> Awaitable[Json]:
        return api.ask(CASES, {"filters": filters, "pagination": pagination})

    return follow(fetch, PageShape("cases", Case), limit)
