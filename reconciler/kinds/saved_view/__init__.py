"""The kind `SavedView`."""

from __future__ import annotations

from reconciler.document import Json
from reconciler.kinds.kind import INT32, Endpoint, Essential, Kind
from reconciler.kinds.saved_view.model import NAME, SavedViewSpec, cannot_create, queries

ESSENTIALS = (
    Essential(("viewType",)),
    Essential(("timeSelection", "quickSelection", "seconds"), "quickSelection"),
    Essential(("timeSelection", "customSelection", "fromTime")),
    Essential(("timeSelection", "customSelection", "toTime")),
    Essential(("searchQuery", "query")),
    Essential(("filters", "filters")),
)


def example() -> dict[str, Json]:
    """Return a small, useful `spec`."""
    return {
        "name": "Checkout errors",
        "viewType": "VIEW_TYPE_LOGS",
        "timeSelection": {"quickSelection": {"seconds": 900}},
        "searchQuery": {"query": "severity:error AND service:checkout"},
    }


ENDPOINTS = (
    Endpoint(20, "POST", "/data-exploration/saved-views/v1", "makes it"),
    Endpoint(21, "PUT", "/data-exploration/saved-views/v1/{id}", "replaces it"),
)

SAVED_VIEW = Kind(
    name=NAME,
    noun="view",
    spec=SavedViewSpec,
    id_form=INT32,
    queries=queries,
    readable=False,
    cannot_create=cannot_create,
    essentials=ESSENTIALS,
    endpoints=ENDPOINTS,
    example=example,
    limits="The API cannot read saved views: drift cannot be seen, nor a lost create be found.",
)
