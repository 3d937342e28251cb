"""The kind `AlertDefinition`."""

from reconciler.kinds.alert_definition.model import AlertDefinitionSpec, check
from reconciler.kinds.alert_definition.remote import BULK_LIMIT, observe, write
from reconciler.kinds.alert_definition.weakening import CONSENTS, weakens
from reconciler.kinds.ids import REQUIRED_UUID
from reconciler.kinds.kind import Kind

ALERT_DEFINITION = Kind(
    name="AlertDefinition",
    spec=AlertDefinitionSpec,
    id_form=REQUIRED_UUID,
    observe=observe,
    write=write,
    check=check,
    readable=False,
    batch_size=BULK_LIMIT,
    weakens=weakens,
    consents=CONSENTS,
    limits="The API can neither read nor create alert definitions: drift cannot be seen.",
)
