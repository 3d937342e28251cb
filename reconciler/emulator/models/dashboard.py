"""Dashboards, how they are written and what is kept.

The fields are those of the API document; the choices (`off`, `absoluteTimeFrame`, ...)
and the limits come from docs/assumptions.md.
"""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from reconciler.emulator.models.dashboard_annotation import Annotation
from reconciler.emulator.models.dashboard_layout import Layout
from reconciler.emulator.models.dashboard_variable import Variable, VariableV2
from reconciler.emulator.models.enumerations import ActionDataSource, OriginType
from reconciler.emulator.models.wire import (
    Empty,
    Identifier,
    Timestamp,
    WireObject,
    only_one,
)

DASHBOARD_ID = "^[A-Za-z0-9_-]{21}$"  # docs/assumptions.md; a profile may allow others
DashboardId = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": DASHBOARD_ID})]
SlugName = Annotated[str, Field(max_length=255, pattern=r"^[a-z0-9]+(?:[-_]+[a-z0-9]+)*$")]


class FolderPath(WireObject):
    """A folder by name, at most two deep."""

    segments: Annotated[list[str], Field(min_length=1, max_length=2)]


class AbsoluteTimeFrame(WireObject):
    """From one moment to another."""

    from_: Annotated[Timestamp | None, Field(alias="from")] = None
    to: Timestamp | None = None


class GoToDashboardAction(WireObject):
    """Opens another dashboard."""

    dashboard_id: str = ""


class ActionDefinition(WireObject):
    """What the action does."""

    go_to_dashboard_action: GoToDashboardAction | None = None


class Action(WireObject):
    """Something a widget offers to do."""

    id: str = ""
    name: str = ""
    data_source: ActionDataSource = "ACTION_DATA_SOURCE_TYPE_NONE_UNSPECIFIED"
    definition: ActionDefinition | None = None
    should_open_in_new_window: bool = False
    widget_id: str = ""


class SelectedValues(WireObject):
    """Those of a list; an empty one selects none."""

    values: list[str] = Field(default_factory=list)


class Selection(WireObject):
    """All values, or those of a list."""

    all: Empty | None = None
    list_: Annotated[SelectedValues | None, Field(alias="list")] = None


class MetricsOperatorEquals(WireObject):
    """Is one of what is selected."""

    selection: Selection | None = None


class MetricsOperator(WireObject):
    """How a label is compared."""

    equals: MetricsOperatorEquals | None = None


class MetricsFilterSource(WireObject):
    """A label of a metric."""

    label: str = ""
    metric: str = ""
    operator: MetricsOperator | None = None


class FilterSource(WireObject):
    """Where the filtered values come from."""

    metrics: MetricsFilterSource | None = None


class DashboardFilter(WireObject):
    """A filter over the whole dashboard."""

    needed: ClassVar[tuple[str, ...]] = ("id",)

    id: Identifier | None = None
    display_name: str = ""
    enabled: bool = False
    collapsed: bool = False
    source: FilterSource | None = None


class Dashboard(WireObject):
    """The dashboard itself."""

    id: DashboardId | None = None
    name: Annotated[str, Field(min_length=1, max_length=4096)]
    description: Annotated[str, Field(max_length=4096)] = ""
    slug_name: SlugName | None = None
    folder_id: Identifier | None = None
    folder_path: FolderPath | None = None
    off: Empty | None = None
    two_minutes: Empty | None = None
    five_minutes: Empty | None = None
    relative_time_frame: Annotated[str, Field(min_length=2, max_length=64)] | None = None
    absolute_time_frame: AbsoluteTimeFrame | None = None
    layout: Layout | None = None
    actions: Annotated[list[Action], Field(max_length=1000)] = Field(default_factory=list)
    annotations: Annotated[list[Annotation], Field(max_length=1000)] = Field(default_factory=list)
    filters: Annotated[list[DashboardFilter], Field(max_length=1000)] = Field(default_factory=list)
    variables: Annotated[list[Variable], Field(max_length=1000)] = Field(default_factory=list)
    variables_v2: Annotated[list[VariableV2], Field(max_length=1000)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _choices(self) -> Self:
        only_one(self, "off", "two_minutes", "five_minutes")
        only_one(self, "relative_time_frame", "absolute_time_frame")
        only_one(self, "folder_id", "folder_path")
        return self


class DashboardWriteRequest(WireObject):
    """Request of endpoints 3 and 4."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {
            "authorId",
            "authorName",
            "createdAt",
            "createdOriginType",
            "updatedAt",
            "updatedOriginType",
            "updaterAuthorId",
            "updaterName",
            "lockerAuthorId",
            "lockerName",
        }
    )

    dashboard: Dashboard
    request_id: Annotated[str, Field(min_length=1)]
    is_locked: bool | None = None


class DashboardCreateReply(WireObject):
    """Reply of endpoint 3."""

    dashboard_id: str


class StoredDashboard(WireObject):
    """Reply of endpoints 5 and 6; the locker is there while it is locked."""

    metadata: ClassVar[frozenset[str]] = DashboardWriteRequest.read_only

    dashboard: Dashboard
    is_locked: bool = False
    author_id: str = ""
    author_name: str = ""
    created_at: Timestamp
    created_origin_type: OriginType = "TOKEN_ORIGIN_TYPE_UNSPECIFIED"
    updated_at: Timestamp
    updated_origin_type: OriginType = "TOKEN_ORIGIN_TYPE_UNSPECIFIED"
    updater_author_id: str = ""
    updater_name: str = ""
    locker_author_id: str | None = None
    locker_name: str | None = None
