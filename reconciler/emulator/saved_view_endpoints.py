"""Saved views: endpoints 20 and 21, and their models. There is no read.

The shapes inside come from docs/assumptions.md.
"""

import re
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from reconciler.emulator import wire
from reconciler.emulator.endpoint import Call, Records, Resource

ViewType = Annotated[
    str,
    wire.OpenEnum(
        "VIEW_TYPE_", "UNSPECIFIED", "LOGS", "TEMPLATES", "ARCHIVE_LOGS", "ARCHIVE_TEMPLATES"
    ),
]

FolderId = Annotated[
    str,
    Field(
        min_length=36,
        max_length=36,
        pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    ),
]


class QuickSelection(wire.WireObject):
    """The last so many seconds."""

    seconds: Annotated[wire.Int32, wire.bounds(0)] = 0
    caption: str = ""


class CustomSelection(wire.WireObject):
    """A span from one moment to another."""

    from_time: wire.Timestamp | None = None
    to_time: wire.Timestamp | None = None


class TimeSelection(wire.WireObject):
    """The time range of the view."""

    quick_selection: QuickSelection | None = None
    custom_selection: CustomSelection | None = None

    _one_selection = wire.choice("quick_selection", "custom_selection")


class ViewFilter(wire.WireObject):
    """The values of one field that are ticked."""

    name: str = ""
    selected_values: dict[str, bool] = Field(default_factory=dict)


class ViewFilters(wire.WireObject):
    """The filters next to the query; the list may be empty."""

    filters: list[ViewFilter] = Field(default_factory=list)


class SearchQuery(wire.WireObject):
    """The query of the view, which may be empty."""

    query: str = ""
    syntax_type: str | None = None


class SavedViewFields(wire.WireObject):
    """The fields that create and replace share; only replace has an id, in the path."""

    read_only: ClassVar[frozenset[str]] = frozenset({"id"})

    name: Annotated[str, Field(min_length=1, max_length=250)]
    time_selection: TimeSelection
    filters: ViewFilters | None = None
    folder_id: FolderId | None = None
    search_query: SearchQuery | None = None
    view_type: ViewType = "VIEW_TYPE_UNSPECIFIED"


class CreateSavedView(SavedViewFields):
    """Request of endpoint 20, which does not know `isCompactMode`."""

    _no_compact_mode = model_validator(mode="after")(
        wire.rule(
            lambda view: "isCompactMode" not in (view.model_extra or {}),
            "unknown_field",
            "isCompactMode is not a field of create",
        )
    )


class SavedView(SavedViewFields):
    """Request of endpoint 21 and reply of 20 and 21; in a request the id is ignored."""

    id: wire.Int32 | None = None
    is_compact_mode: bool = False


SAVED_VIEWS = Resource("saved_views (id INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL)")
SAVED_VIEW_RECORDS = Records("saved view", "saved_views", "name")
_PATH = "/data-exploration/saved-views/v1"
_LARGEST_ID = 2**31 - 1


@SAVED_VIEWS.answers(20, "POST", _PATH, CreateSavedView, SavedView)
def _create(call: Call, request: CreateSavedView) -> SavedView:
    SAVED_VIEW_RECORDS.refuse_taken_name(call, request.name, 0)
    view_id = call.store.write("INSERT INTO saved_views (record) VALUES ('')")
    view = wire.read(SavedView, {**wire.as_json(request), "id": view_id})
    call.store.keep("saved_views", view_id, wire.as_text(view))
    return view


@SAVED_VIEWS.answers(21, "PUT", _PATH + "/{id}", SavedView, SavedView)
def _replace(call: Call, request: SavedView) -> SavedView:
    sent = call.path["id"]
    if not re.fullmatch(r"[1-9][0-9]{0,9}", sent) or int(sent) > _LARGEST_ID:
        raise wire.InvalidRequestError(f"id: not an int32 from 1 to {_LARGEST_ID}")
    SAVED_VIEW_RECORDS.refuse_taken_name(call, request.name, int(sent))
    if call.profile.put_unknown == "missing":
        SAVED_VIEW_RECORDS.read(call.store, sent)
    view = request.model_copy(update={"id": int(sent)})
    call.store.keep("saved_views", view.id, wire.as_text(view))
    return view
