"""Saved views. The shapes inside come from docs/assumptions.md."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from reconciler.emulator.models.enumerations import ViewType
from reconciler.emulator.models.wire import Int32, Timestamp, WireObject, bounds, only_one

ViewName = Annotated[str, Field(min_length=1, max_length=250)]
FolderId = Annotated[
    str,
    Field(
        min_length=36,
        max_length=36,
        pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    ),
]


class QuickSelection(WireObject):
    """The last so many seconds."""

    seconds: Annotated[Int32, bounds(0)] = 0
    caption: str = ""


class CustomSelection(WireObject):
    """From one moment to another."""

    from_time: Timestamp | None = None
    to_time: Timestamp | None = None


class TimeSelection(WireObject):
    """Which time the view shows."""

    quick_selection: QuickSelection | None = None
    custom_selection: CustomSelection | None = None

    @model_validator(mode="after")
    def _one_selection(self) -> Self:
        only_one(self, "quick_selection", "custom_selection")
        return self


class ViewFilter(WireObject):
    """The values of one field that are ticked."""

    name: str = ""
    selected_values: dict[str, bool] = Field(default_factory=dict)


class ViewFilters(WireObject):
    """The filters beside the query; an empty list is met."""

    filters: list[ViewFilter] = Field(default_factory=list)


class SearchQuery(WireObject):
    """What is looked for; an empty query is met."""

    query: str = ""
    syntax_type: str | None = None


class SavedViewFields(WireObject):
    """What create and replace share; the id stands in the path, if anywhere."""

    read_only: ClassVar[frozenset[str]] = frozenset({"id"})

    name: ViewName
    time_selection: TimeSelection
    filters: ViewFilters | None = None
    folder_id: FolderId | None = None
    search_query: SearchQuery | None = None
    view_type: ViewType = "VIEW_TYPE_UNSPECIFIED"


class CreateSavedView(SavedViewFields):
    """Request of endpoint 20, which does not know `isCompactMode`."""

    @model_validator(mode="after")
    def _no_compact_mode(self) -> Self:
        if "isCompactMode" in (self.model_extra or {}):
            raise PydanticCustomError("unknown_field", "isCompactMode is not a field of create")
        return self


class SavedView(SavedViewFields):
    """Request of endpoint 21 and reply of 20 and 21; in a request the id is ignored."""

    id: Int32 | None = None
    is_compact_mode: bool = False
