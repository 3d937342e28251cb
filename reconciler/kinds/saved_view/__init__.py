"""The kind `SavedView`."""

from reconciler.kinds.kind import INT32, Essential, Kind
from reconciler.kinds.saved_view.model import SavedViewSpec, check, queries
from reconciler.kinds.saved_view.remote import NAME, cannot_create, observe, write

ESSENTIALS = (
    Essential(("viewType",)),
    Essential(("timeSelection", "quickSelection", "seconds"), "quickSelection"),
    Essential(("timeSelection", "customSelection", "fromTime")),
    Essential(("timeSelection", "customSelection", "toTime")),
    Essential(("searchQuery", "query")),
    Essential(("filters", "filters")),
)

SAVED_VIEW = Kind(
    name=NAME,
    noun="view",
    spec=SavedViewSpec,
    id_form=INT32,
    observe=observe,
    write=write,
    check=check,
    queries=queries,
    readable=False,
    cannot_create=cannot_create,
    essentials=ESSENTIALS,
    limits="The API cannot read saved views: drift cannot be seen, nor a lost create be found.",
)
