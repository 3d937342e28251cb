"""What stands under `spec:` of a saved view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from reconciler.document import Json
from reconciler.kinds.fields import (
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
from reconciler.source.diagnostic import Finding

VIEW_TYPE: Final = known(
    "VIEW_TYPE_", "UNSPECIFIED", "LOGS", "TEMPLATES", "ARCHIVE_LOGS", "ARCHIVE_TEMPLATES"
)

_PIPELINE: Final = re.compile(r"^\s*source\s|\s\|\s")


class QuickSelection(ObservedPart):
    """The last so many seconds."""

    needed: ClassVar[tuple[str, ...]] = ("seconds",)

    seconds: Annotated[int | None, AtMost(low=0), Unit.SECONDS] = None
    caption: Text = None


class CustomSelection(ObservedPart):
    """From one time to another."""

    needed: ClassVar[tuple[str, ...]] = ("fromTime", "toTime")

    from_time: Text = None
    to_time: Text = None


class TimeSelection(ObservedPart):
    """The time that the view shows."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset(("quickSelection", "customSelection")),
    )
    choosing: ClassVar[Choosing] = Choosing.EXPECTED
    complete: ClassVar[bool] = False

    quick_selection: QuickSelection | None = None
    custom_selection: CustomSelection | None = None


class SearchQuery(ObservedPart):
    """The query that the view runs; an empty text is fine."""

    complete: ClassVar[bool] = False
    needed: ClassVar[tuple[str, ...]] = ("query",)

    query: Text = None
    syntax_type: Text = None


class Filter(Part):
    """The values picked of one field."""

    name: Text = None
    selected_values: Annotated[
        dict[str, bool] | None, Field(description="Which values are picked.")
    ] = None


class Filters(Part):
    """The filters of a view."""

    filters: Annotated[list[Filter] | None, Keyed(("name",))] = None


class SavedViewSpec(Part):
    """A saved view of the data exploration."""

    name: Annotated[str, Field(min_length=1), AtMost(250)]
    time_selection: TimeSelection
    filters: Filters | None = None
    folder_id: LowerUuid | None = None
    is_compact_mode: Flag = None
    search_query: SearchQuery | None = None
    view_type: Annotated[Text, VIEW_TYPE] = None

    id: Annotated[Any, OWN_ID] = None


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
