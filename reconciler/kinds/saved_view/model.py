"""What stands under `spec:` of a saved view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from reconciler.document import Json
from reconciler.kinds.field_traits import (
    OWN_ID,
    AtMost,
    Choosing,
    Flag,
    Keyed,
    LowerUuid,
    ObservedPart,
    Part,
    Text,
    Unit,
    known,
)
from reconciler.queries import Language, Query
from reconciler.syntax.diagnostic import Finding

VIEW_TYPE: Final = known(
    "VIEW_TYPE_", "UNSPECIFIED", "LOGS", "TEMPLATES", "ARCHIVE_LOGS", "ARCHIVE_TEMPLATES"
)

_PIPELINE: Final = re.compile(r"^\s*source\s|\s\|\s")


class QuickSelection(ObservedPart):
    """The last so many seconds."""

    needed: ClassVar[tuple[str, ...]] = ("seconds",)

    seconds: Annotated[int | None, AtMost(low=0), Unit.SECONDS] = None
    """How many seconds back from now the view shows."""
    caption: Text = None
    """What the selection is called in the web interface."""


class CustomSelection(ObservedPart):
    """From one time to another."""

    needed: ClassVar[tuple[str, ...]] = ("fromTime", "toTime")

    from_time: Text = None
    """When the time begins, as ISO 8601 in UTC."""
    to_time: Text = None
    """When the time ends, as ISO 8601 in UTC."""


class TimeSelection(ObservedPart):
    """The time that the view shows."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset(("quickSelection", "customSelection")),
    )
    choosing: ClassVar[Choosing] = Choosing.EXPECTED
    complete: ClassVar[bool] = False

    quick_selection: QuickSelection | None = None
    """The last so many seconds: a time that moves."""
    custom_selection: CustomSelection | None = None
    """From one time to another: a time that stays."""


class SearchQuery(ObservedPart):
    """The query that the view runs; an empty text is fine."""

    complete: ClassVar[bool] = False
    needed: ClassVar[tuple[str, ...]] = ("query",)

    query: Text = None
    """The text of the query, in the syntax that `syntaxType` names; it is sent as written."""
    syntax_type: Text = None
    """The syntax of the query; the values are not documented."""


class ViewFilter(Part):
    """The values picked of one field."""

    name: Text = None
    """The field whose values are picked."""
    selected_values: dict[str, bool] | None = None
    """Each value of the field, with whether it is picked."""


class Filters(Part):
    """The filters of a view."""

    filters: Annotated[list[ViewFilter] | None, Keyed(("name",))] = None
    """One entry for each field that is filtered by."""


class SavedViewSpec(Part):
    """A saved view of the data exploration."""

    name: Annotated[str, Field(min_length=1), AtMost(250)]
    """What people call the view; it must not be empty."""
    time_selection: TimeSelection
    """The time that the view shows. Its inner shape is not documented."""
    filters: Filters | None = None
    """Which values of which fields are picked."""
    folder_id: LowerUuid | None = None
    """The folder of the view: a uuid in lower case, exactly 36 characters."""
    is_compact_mode: Flag = None
    """Whether the view is compact. The API document takes it on a replace, not on a create."""
    search_query: SearchQuery | None = None
    """The query that the view runs. Its inner shape is not documented."""
    view_type: Annotated[Text, VIEW_TYPE] = None
    """What the view shows: logs or templates, live or from the archive."""

    id: Annotated[Any, OWN_ID] = None
    """The id of the view, which the service gives."""


def check(spec: dict[str, Json]) -> Iterator[Finding]:  # noqa: ARG001 - the face of every kind
    """Yield nothing: no two fields of a saved view can disagree."""
    yield from ()


def queries(spec: dict[str, Json]) -> Iterator[Query]:
    """Yield the query of the view, unless something tells that it is in another language."""
    search = spec.get("searchQuery")
    if not isinstance(search, dict):
        return
    text, syntax = search.get("query"), search.get("syntaxType")
    is_lucene = "LUCENE" in syntax.upper() if isinstance(syntax, str) else syntax is None
    # Of the two only pipelines are written so.
    if isinstance(text, str) and is_lucene and not _PIPELINE.search(text):
        yield Query(("searchQuery", "query"), Language.LUCENE, text)
