"""The kind `SavedView`."""

from reconciler.kinds.ids import INT32
from reconciler.kinds.kind import Kind
from reconciler.kinds.saved_view.model import SavedViewSpec, check
from reconciler.kinds.saved_view.remote import observe, write

SAVED_VIEW = Kind(
    name="SavedView",
    spec=SavedViewSpec,
    id_form=INT32,
    observe=observe,
    write=write,
    check=check,
    readable=False,
    limits="The API cannot read saved views: drift cannot be seen, nor a lost create be found.",
)
