"""The kind `SavedView`."""

from reconciler.kinds.kind import INT32, Essential, Kind
from reconciler.kinds.saved_view.model import SavedViewSpec, check
from reconciler.kinds.saved_view.remote import observe, write

ESSENTIALS = (
    Essential(("viewType",)),
    Essential(("timeSelection", "quickSelection", "seconds"), "quickSelection"),
    Essential(("timeSelection", "customSelection", "fromTime")),
    Essential(("timeSelection", "customSelection", "toTime")),
    Essential(("searchQuery", "query")),
    Essential(("filters", "filters")),
)

SAVED_VIEW = Kind(
    name="SavedView",
    spec=SavedViewSpec,
    id_form=INT32,
    observe=observe,
    write=write,
    check=check,
    readable=False,
    essentials=ESSENTIALS,
    limits="The API cannot read saved views: drift cannot be seen, nor a lost create be found.",
)
