"""The kind `SavedView`, and its `spec:`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Annotated, ClassVar, Final

from pydantic import Field

from reconciler.document import Json
from reconciler.kinds import field_traits as of
from reconciler.kinds.kind import INT32, Endpoint, Essential, Kind, gives_out_ids
from reconciler.queries import Language, Query

NAME: Final = "SavedView"
VIEW_TYPE: Final = of.known(
    "VIEW_TYPE_", "UNSPECIFIED", "LOGS", "TEMPLATES", "ARCHIVE_LOGS", "ARCHIVE_TEMPLATES"
)

_PIPELINE: Final = re.compile(r"^\s*source\s|\s\|\s")


class QuickSelection(of.ObservedPart):
    """The time up to now, in seconds."""

    seconds: Annotated[int | None, of.Needed(), of.AtMost(low=0), of.Unit.SECONDS] = None
    """The time that the view shows, in seconds up to now."""
    caption: of.Text = None
    """The name of the selection in the web interface."""


class CustomSelection(of.ObservedPart):
    """A start time and an end time."""

    from_time: Annotated[of.Text, of.Needed()] = None
    """The start time, as ISO 8601 in UTC."""
    to_time: Annotated[of.Text, of.Needed()] = None
    """The end time, as ISO 8601 in UTC."""


class TimeSelection(of.PartlyObserved):
    """The time that the view shows."""

    alternatives: ClassVar[of.Choices] = (frozenset(("quickSelection", "customSelection")),)
    choosing: ClassVar[of.Choosing] = of.Choosing.EXPECTED

    quick_selection: QuickSelection | None = None
    """The last seconds up to now: a time that moves."""
    custom_selection: CustomSelection | None = None
    """A start time and an end time: a fixed time."""


class SearchQuery(of.PartlyObserved):
    """The query that the view runs; an empty text is valid."""

    query: Annotated[of.Text, of.Needed()] = None
    """The text of the query, in the syntax that `syntaxType` names; it is sent as written."""
    syntax_type: of.Text = None
    """The syntax of the query; the values are not documented."""


class ViewFilter(of.Part):
    """The selected values of one field."""

    name: of.Text = None
    """The field that is filtered."""
    selected_values: dict[str, bool] | None = None
    """Each value of the field, with whether it is selected."""


class Filters(of.Part):
    """The filters of a view."""

    filters: Annotated[list[ViewFilter] | None, of.Keyed(("name",))] = None
    """One entry for each filtered field."""


class SavedViewSpec(of.Part):
    """A saved view of the data exploration."""

    read_only: ClassVar[of.ReadOnlyFields] = {
        "id": of.own_id("The id of the view, assigned by the service."),
    }

    name: Annotated[str, Field(min_length=1), of.AtMost(250)]
    """The name of the view for people; it must not be empty."""
    time_selection: TimeSelection
    """The time that the view shows. Its inner shape is not documented."""
    filters: Filters | None = None
    """The selected values of fields."""
    folder_id: of.LowerUuid | None = None
    """The folder of the view: a uuid in lower case, exactly 36 characters."""
    is_compact_mode: of.Flag = None
    """Whether the view is compact. The API document has it for a replace, not for a create."""
    search_query: SearchQuery | None = None
    """The query that the view runs. Its inner shape is not documented."""
    view_type: Annotated[of.Text, VIEW_TYPE] = None
    """The content of the view: logs or templates, live or from the archive."""


def queries(spec: dict[str, Json]) -> Iterator[Query]:
    """Yield the query of the view, unless it is known to be in another language."""
    search = spec.get("searchQuery")
    if not isinstance(search, dict):
        return
    text, syntax = search.get("query"), search.get("syntaxType")
    is_lucene = "LUCENE" in syntax.upper() if isinstance(syntax, str) else syntax is None
    # Of the two languages, only pipelines match this pattern.
    if isinstance(text, str) and is_lucene and not _PIPELINE.search(text):
        yield Query(("searchQuery", "query"), Language.LUCENE, text)


ESSENTIALS = (
    Essential(("viewType",)),
    Essential(("timeSelection", "quickSelection", "seconds"), "quickSelection"),
    Essential(("timeSelection", "customSelection", "fromTime")),
    Essential(("timeSelection", "customSelection", "toTime")),
    Essential(("searchQuery", "query")),
    Essential(("filters", "filters")),
)


EXAMPLE: Final[dict[str, Json]] = {
    "name": "Checkout errors",
    "viewType": "VIEW_TYPE_LOGS",
    "timeSelection": {"quickSelection": {"seconds": 900}},
    "searchQuery": {"query": "severity:error AND service:checkout"},
}

SAVED_VIEW = Kind(
    name=NAME,
    noun="view",
    spec=SavedViewSpec,
    id_form=INT32,
    queries=queries,
    readable=False,
    cannot_create=partial(gives_out_ids, what="saved view", short="view"),
    essentials=ESSENTIALS,
    endpoints=(
        Endpoint(20, "POST", "/data-exploration/saved-views/v1", "makes it"),
        Endpoint(21, "PUT", "/data-exploration/saved-views/v1/{id}", "replaces it"),
    ),
    example=EXAMPLE,
    limits="The API cannot read saved views: drift cannot be seen, nor a lost create be found.",
)
