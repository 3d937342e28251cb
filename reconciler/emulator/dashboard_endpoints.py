"""Dashboards: endpoints 3 to 6.

Where the API document is silent, a write behaves so:

- A POST with a `requestId` seen before returns the same `dashboardId` and does nothing, whatever
  else it holds, and even when that dashboard was deleted since.
- A dashboard that is sent without a slug has none, unless the profile makes slugs: then a POST
  makes one of the name, and a PUT keeps the slug that it has.
- A PUT without `isLocked` leaves the lock as it is. A lock stops no write: the document does not
  name the writes that it would stop.
"""

import json
import re
import secrets
import string
from itertools import chain, count
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from reconciler.emulator import wire
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, NoBody, Records, Resource

QUERY_LIMIT = 10_000  # docs/assumptions.md: characters of a metric query


def _has_short_queries(definition: object) -> bool:
    """Return whether each `promqlQuery` is short, however deep, as definitions are opaque."""
    if isinstance(definition, list):
        return all(map(_has_short_queries, definition))
    if not isinstance(definition, dict):
        return True
    query = definition.get("promqlQuery")
    query = query.get("value") if isinstance(query, dict) else query
    is_short = not isinstance(query, str) or len(query) <= QUERY_LIMIT
    return is_short and all(map(_has_short_queries, definition.values()))


Opaque = Annotated[
    wire.JsonObject,
    AfterValidator(
        wire.rule(_has_short_queries, "metric_query", "promqlQuery is longer than 10000 characters")
    ),
]


class WidgetDefinition(wire.WireObject):
    """Exactly one kind of widget; the API document does not show its content."""

    markdown: Opaque | None = None
    gauge: Opaque | None = None
    bar_chart: Opaque | None = None
    horizontal_bar_chart: Opaque | None = None
    pie_chart: Opaque | None = None
    line_chart: Opaque | None = None
    data_table: Opaque | None = None
    hexagon: Opaque | None = None
    dynamic: Opaque | None = None

    _one_kind = wire.choice(is_required=True)


class Identified(wire.WireObject):
    """An object that services are known to require an id of."""

    needed: ClassVar[frozenset[str]] = frozenset({"id"})

    id: wire.Identifier | None = None

    @property
    def key(self) -> str:
        """The id; hand-made dashboards use the same id for several objects."""
        return self.id.value if self.id else ""


class WidgetAppearance(wire.WireObject):
    """Zero means the width the row gives."""

    width: Annotated[wire.Int32, wire.bounds(0)] = 0


class Widget(Identified):
    """One widget; only the service sets its times."""

    read_only: ClassVar[frozenset[str]] = frozenset({"createdAt", "updatedAt"})

    title: str = ""
    description: str = ""
    appearance: WidgetAppearance | None = None
    definition: WidgetDefinition | None = None
    created_at: wire.Timestamp | None = None
    updated_at: wire.Timestamp | None = None


class RowAppearance(wire.WireObject):
    """How high the row is."""

    height: Annotated[wire.Int32, wire.bounds(1)] | None = None


class Row(Identified):
    """Widgets side by side."""

    appearance: RowAppearance | None = None
    widgets: Annotated[list[Widget], Field(max_length=1000)] = Field(default_factory=list)


class SectionOptions(wire.WireObject):
    """A section with its own name, or an internal one."""

    internal: wire.Empty | None = None
    custom: wire.JsonObject | None = None

    _one_option = wire.choice("internal", "custom")


class Section(Identified):
    """Rows under one heading."""

    options: SectionOptions | None = None
    rows: Annotated[list[Row], Field(max_length=1000)] = Field(default_factory=list)


class Layout(wire.WireObject):
    """The sections, in order."""

    sections: Annotated[list[Section], Field(max_length=1000)] = Field(default_factory=list)


DatasetScope = Annotated[str, wire.OpenEnum("DATASET_SCOPE_", "UNSPECIFIED")]


class ObservationField(wire.WireObject):
    """A field of the data, by path and dataset."""

    keypath: list[str] = Field(default_factory=list)
    scope: DatasetScope = "DATASET_SCOPE_UNSPECIFIED"


class AnnotationQuery(wire.WireObject):
    """The query of an annotation."""

    text: Annotated[str, Field(max_length=QUERY_LIMIT)] = ""


class InstantStrategy(wire.WireObject):
    """A mark at one moment."""

    timestamp_field: ObservationField | None = None


class AnnotationStrategy(wire.WireObject):
    """How a mark gets its time."""

    instant: InstantStrategy | None = None


class QueryLanguageSource(wire.WireObject):
    """Marks found by a query."""

    data_mode_type: Annotated[str, wire.OpenEnum("DATA_MODE_TYPE_", "HIGH_UNSPECIFIED")] = (
        "DATA_MODE_TYPE_HIGH_UNSPECIFIED"
    )
    label_fields: list[ObservationField] = Field(default_factory=list)
    message_template: str = ""
    orientation: Annotated[
        str, wire.OpenEnum("ANNOTATION_ORIENTATION_", "VERTICAL_UNSPECIFIED")
    ] = "ANNOTATION_ORIENTATION_VERTICAL_UNSPECIFIED"
    query: AnnotationQuery | None = None
    strategy: AnnotationStrategy | None = None


class AnnotationSource(wire.WireObject):
    """Where the marks come from."""

    query_language: QueryLanguageSource | None = None


class SpecificWidgets(wire.WireObject):
    """The widgets that show the marks."""

    widget_ids: list[str] = Field(default_factory=list)


class AnnotationScope(wire.WireObject):
    """Which widgets show the marks."""

    specific_widgets: SpecificWidgets | None = None


class Annotation(wire.WireObject):
    """One set of marks."""

    id: str = ""
    name: str = ""
    description: str = ""
    enabled: bool = False
    color: Annotated[str, wire.OpenEnum("ANNOTATION_COLOR_", "UNSPECIFIED")] = (
        "ANNOTATION_COLOR_UNSPECIFIED"
    )
    scope: AnnotationScope | None = None
    source: AnnotationSource | None = None


class ConstantDefinition(wire.WireObject):
    """A fixed value."""

    value: str = ""


class VariableDefinition(wire.WireObject):
    """Where the value of a variable comes from; only constants are documented."""

    constant: ConstantDefinition | None = None


class Variable(wire.WireObject):
    """A variable of the first generation, known by its name."""

    name: str = ""
    display_name: str = ""
    description: str = ""
    display_type: Annotated[str, wire.OpenEnum("VARIABLE_DISPLAY_TYPE_", "UNSPECIFIED")] = (
        "VARIABLE_DISPLAY_TYPE_UNSPECIFIED"
    )
    definition: VariableDefinition | None = None


class AllOption(wire.WireObject):
    """The option to choose all values at once."""

    include_all: bool = False
    label: str = ""


class StaticValue(wire.WireObject):
    """One value to choose."""

    is_default: bool = False
    label: str = ""
    value: str = ""


class StaticSource(wire.WireObject):
    """A written list of values."""

    all_option: AllOption | None = None
    values: list[StaticValue] = Field(default_factory=list)
    values_order_direction: Annotated[str, wire.OpenEnum("ORDER_DIRECTION_", "UNSPECIFIED")] = (
        "ORDER_DIRECTION_UNSPECIFIED"
    )


class VariableSource(wire.WireObject):
    """Where the values come from; only static lists are documented."""

    static: StaticSource | None = None


class LabelledValue(wire.WireObject):
    """A value and its name."""

    label: str = ""
    value: str = ""


class IntervalValue(wire.WireObject):
    """A chosen interval."""

    value: LabelledValue | None = None


class VariableValue(wire.WireObject):
    """The chosen values."""

    interval: IntervalValue | None = None


class VariableV2(Identified):
    """A variable of the second generation, known by its id."""

    name: str = ""
    display_name: str = ""
    description: str = ""
    display_full_row: bool = False
    display_type: Annotated[str, wire.OpenEnum("VARIABLE_DISPLAY_TYPE_V2_", "UNSPECIFIED")] = (
        "VARIABLE_DISPLAY_TYPE_V2_UNSPECIFIED"
    )
    source: VariableSource | None = None
    value: VariableValue | None = None


OriginType = Annotated[str, wire.OpenEnum("TOKEN_ORIGIN_TYPE_", "UNSPECIFIED", "USER", "API")]

DASHBOARD_ID = "^[A-Za-z0-9_-]{21}$"  # docs/assumptions.md; a profile may allow others
DashboardId = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": DASHBOARD_ID})]


class FolderPath(wire.WireObject):
    """A folder by name, at most two deep."""

    segments: Annotated[list[str], Field(min_length=1, max_length=2)]


class AbsoluteTimeFrame(wire.WireObject):
    """A span from one moment to another."""

    from_: Annotated[wire.Timestamp | None, Field(alias="from")] = None
    to: wire.Timestamp | None = None


class GoToDashboardAction(wire.WireObject):
    """Opens another dashboard."""

    dashboard_id: str = ""


class ActionDefinition(wire.WireObject):
    """The definition of an action."""

    go_to_dashboard_action: GoToDashboardAction | None = None


class Action(wire.WireObject):
    """An action that a widget offers."""

    id: str = ""
    name: str = ""
    data_source: Annotated[str, wire.OpenEnum("ACTION_DATA_SOURCE_TYPE_", "NONE_UNSPECIFIED")] = (
        "ACTION_DATA_SOURCE_TYPE_NONE_UNSPECIFIED"
    )
    definition: ActionDefinition | None = None
    should_open_in_new_window: bool = False
    widget_id: str = ""


class SelectedValues(wire.WireObject):
    """The values of a list; an empty list selects none."""

    values: list[str] = Field(default_factory=list)


class Selection(wire.WireObject):
    """All values, or those of a list."""

    all: wire.Empty | None = None
    list_: Annotated[SelectedValues | None, Field(alias="list")] = None


class MetricsOperatorEquals(wire.WireObject):
    """The label equals one of the selected values."""

    selection: Selection | None = None


class MetricsOperator(wire.WireObject):
    """How a label is compared."""

    equals: MetricsOperatorEquals | None = None


class MetricsFilterSource(wire.WireObject):
    """A label of a metric."""

    label: str = ""
    metric: str = ""
    operator: MetricsOperator | None = None


class FilterSource(wire.WireObject):
    """Where the filtered values come from."""

    metrics: MetricsFilterSource | None = None


class DashboardFilter(Identified):
    """A filter over the whole dashboard."""

    display_name: str = ""
    enabled: bool = False
    collapsed: bool = False
    source: FilterSource | None = None


class Dashboard(wire.WireObject):
    """The dashboard itself."""

    id: DashboardId | None = None
    name: Annotated[str, Field(min_length=1, max_length=4096)]
    description: Annotated[str, Field(max_length=4096)] = ""
    slug_name: (
        Annotated[str, Field(max_length=255, pattern=r"^[a-z0-9]+(?:[-_]+[a-z0-9]+)*$")] | None
    ) = None
    folder_id: wire.Identifier | None = None
    folder_path: FolderPath | None = None
    off: wire.Empty | None = None
    two_minutes: wire.Empty | None = None
    five_minutes: wire.Empty | None = None
    relative_time_frame: Annotated[str, Field(min_length=2, max_length=64)] | None = None
    absolute_time_frame: AbsoluteTimeFrame | None = None
    layout: Layout | None = None
    actions: Annotated[list[Action], Field(max_length=1000)] = Field(default_factory=list)
    annotations: Annotated[list[Annotation], Field(max_length=1000)] = Field(default_factory=list)
    filters: Annotated[list[DashboardFilter], Field(max_length=1000)] = Field(default_factory=list)
    variables: Annotated[list[Variable], Field(max_length=1000)] = Field(default_factory=list)
    variables_v2: Annotated[list[VariableV2], Field(max_length=1000)] = Field(default_factory=list)

    _one_refresh = wire.choice("off", "two_minutes", "five_minutes")
    _one_time_frame = wire.choice("relative_time_frame", "absolute_time_frame")
    _one_folder = wire.choice("folder_id", "folder_path")

    def widgets(self) -> list[Widget]:
        """Return all widgets, in reading order."""
        sections = self.layout.sections if self.layout else []
        return [widget for section in sections for row in section.rows for widget in row.widgets]


class DashboardWriteRequest(wire.WireObject):
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


class DashboardCreateReply(wire.WireObject):
    """Reply of endpoint 3."""

    dashboard_id: str


class StoredDashboard(wire.WireObject):
    """Reply of endpoints 5 and 6; it names the locker while the dashboard is locked."""

    metadata: ClassVar[frozenset[str]] = DashboardWriteRequest.read_only

    dashboard: Dashboard
    is_locked: bool = False
    author_id: str = ""
    author_name: str = ""
    created_at: wire.Timestamp
    created_origin_type: OriginType = "TOKEN_ORIGIN_TYPE_UNSPECIFIED"
    updated_at: wire.Timestamp
    updated_origin_type: OriginType = "TOKEN_ORIGIN_TYPE_UNSPECIFIED"
    updater_author_id: str = ""
    updater_name: str = ""
    locker_author_id: str | None = None
    locker_name: str | None = None


DASHBOARDS = Resource(
    "dashboards (id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, record TEXT NOT NULL)",
    "dashboard_requests (request_id TEXT PRIMARY KEY, dashboard_id TEXT NOT NULL)",
)
DASHBOARD_RECORDS = Records("dashboard", "dashboards", "dashboard.name", "dashboard.id")
_PATH = "/v1/dashboards/dashboards"
_ID_LETTERS = string.ascii_letters + string.digits + "_-"
_ID_LENGTH = 21  # docs/assumptions.md
_STEM_LENGTH = 245  # leaves room for a number, see docs/assumptions.md
_NO_SLUG = "/"  # before an id: no slug has it, and no path can contain it


@DASHBOARDS.answers(3, "POST", _PATH, DashboardWriteRequest, DashboardCreateReply, creates=True)
def _create(call: Call, request: DashboardWriteRequest) -> DashboardCreateReply:
    if seen := _id_created_by(call, request.request_id):
        return DashboardCreateReply(dashboard_id=seen)
    sent = request.dashboard.id
    _check_id(call, sent)
    dashboard_id = sent or ""
    if not sent or not call.profile.client_dashboard_ids:
        dashboard_id = "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))
    if call.store.find("dashboards", dashboard_id):
        raise wire.TakenError(f"dashboard {dashboard_id}")
    _add(call, request, dashboard_id)
    call.store.keep("dashboard_requests", request.request_id, dashboard_id)
    return DashboardCreateReply(dashboard_id=dashboard_id)


def _id_created_by(call: Call, request_id: str) -> str | None:
    query = "SELECT dashboard_id FROM dashboard_requests WHERE request_id = ?"
    row = call.store.row(query, request_id)
    if row is None or call.profile.request_ids == "ignored":
        return None
    is_kept = call.profile.request_ids == "deduplicated"
    return str(row[0]) if is_kept or call.store.find("dashboards", row[0]) else None


def _check_id(call: Call, dashboard_id: str | None) -> None:
    if dashboard_id is None or call.profile.dashboard_ids == "any":
        return
    if not re.fullmatch(DASHBOARD_ID, dashboard_id):
        raise wire.InvalidRequestError(
            f"dashboard.id: String should match pattern '{DASHBOARD_ID}'"
        )


def _add(call: Call, request: DashboardWriteRequest, dashboard_id: str) -> None:
    origin: wire.JsonObject = {
        "authorId": call.author.id,
        "authorName": call.author.name,
        "createdAt": call.now,
        "createdOriginType": call.author.origin,
        "dashboard": {},
    }
    _keep(call, request, dashboard_id, origin, "")


@DASHBOARDS.answers(4, "PUT", _PATH, DashboardWriteRequest, wire.Empty)
def _replace(call: Call, request: DashboardWriteRequest) -> wire.Empty:
    dashboard_id = request.dashboard.id
    if dashboard_id is None:
        raise wire.InvalidRequestError("dashboard.id: required")
    _check_id(call, dashboard_id)
    row = call.store.row("SELECT slug, record FROM dashboards WHERE id = ?", dashboard_id)
    if row is not None:
        _keep(call, request, dashboard_id, json.loads(row[1]), str(row[0]))
    elif call.profile.put_unknown == "created":
        _add(call, request, dashboard_id)
    else:
        raise wire.MissingObjectError("dashboard", dashboard_id)
    return wire.Empty()


def _keep(
    call: Call, request: DashboardWriteRequest, dashboard_id: str, before: wire.JsonObject, key: str
) -> None:
    """Store a dashboard: all of it is replaced, except who created it and when.

    `key` is its value in the column of slugs, "" for a new dashboard.
    """
    slug = _slug(call, request.dashboard, dashboard_id, key)
    dashboard = request.dashboard.model_copy(update={"id": dashboard_id, "slug_name": slug})
    _date_widgets(call, dashboard, before["dashboard"])
    author = call.author
    record = StoredDashboard(
        dashboard=dashboard,
        author_id=before["authorId"],
        author_name=before["authorName"],
        created_at=before["createdAt"],
        created_origin_type=before["createdOriginType"],
        updated_at=call.now,
        updated_origin_type=author.origin,
        updater_author_id=author.id,
        updater_name=author.name,
    )
    was_locked = before.get("isLocked")
    locked = was_locked if request.is_locked is None else request.is_locked
    if locked is not None:
        record.is_locked = locked
    if locked:
        record.locker_author_id = before["lockerAuthorId"] if was_locked else author.id
        record.locker_name = before["lockerName"] if was_locked else author.name
    DASHBOARD_RECORDS.refuse_taken_name(call, dashboard.name, dashboard_id)
    if _has_other(call.store, slug, dashboard_id):
        raise wire.TakenError(f"dashboard with slug {slug}")
    call.store.keep(
        "dashboards", dashboard_id, slug or _NO_SLUG + dashboard_id, wire.as_text(record.remember())
    )


def _date_widgets(call: Call, dashboard: Dashboard, before: wire.JsonObject) -> None:
    """Date the widgets where the profile says so: created once, updated when anything differs.

    Only the service sets these times.
    """
    tells = call.profile.widget_times == "told"
    # Hand-made dashboards use one id for several widgets.
    namesakes: dict[str, list[Widget]] = {}
    if tells and before:
        for widget in wire.read(Dashboard, before).widgets():
            namesakes.setdefault(widget.key, []).append(widget)
    for widget in dashboard.widgets():
        widget.created_at = widget.updated_at = call.now if tells else None
        if same := namesakes.get(widget.key):
            old = same.pop(0)
            widget.created_at = old.created_at or call.now
            widget.updated_at = old.updated_at or call.now
            if wire.canonical(widget) != wire.canonical(old):
                widget.updated_at = call.now


def _slug(call: Call, sent: Dashboard, dashboard_id: str, key: str) -> str | None:
    """Return the slug that was sent, or one that the profile makes; a number makes it unique."""
    slug, profile = sent.slug_name, call.profile
    if slug and profile.duplicate_slug == "suffixed" and _has_other(call.store, slug, dashboard_id):
        return _free_slug(call.store, slug[:_STEM_LENGTH].rstrip("-_"))
    if slug or profile.dashboard_slugs != "made":
        return slug
    if key and not key.startswith(_NO_SLUG):
        return key
    stem = re.sub(r"[^a-z0-9]+", "-", sent.name.lower())[:_STEM_LENGTH].strip("-")
    return _free_slug(call.store, stem or "dashboard")


def _has_other(store: Store, slug: str | None, dashboard_id: str) -> bool:
    taken = "SELECT 1 FROM dashboards WHERE slug = ? AND id <> ?"
    return store.row(taken, slug, dashboard_id) is not None


def _free_slug(store: Store, stem: str) -> str:
    slugs = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(slug for slug in slugs if store.find("dashboards", slug, "slug") is None)


@DASHBOARDS.answers(5, "GET", _PATH + "/{dashboard_id}", NoBody, StoredDashboard)
def _read_by_id(call: Call, _: NoBody) -> wire.JsonObject:
    return DASHBOARD_RECORDS.read(call.store, call.path["dashboard_id"])


@DASHBOARDS.answers(6, "GET", "/v1/dashboards/by-slug/{slug}", NoBody, StoredDashboard)
def _read_by_slug(call: Call, _: NoBody) -> wire.JsonObject:
    return DASHBOARD_RECORDS.read(call.store, call.path["slug"], "slug")
