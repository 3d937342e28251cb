"""The kind `AlertDefinition`."""

from __future__ import annotations

from reconciler.document import Json
from reconciler.kinds.alert_definition import model
from reconciler.kinds.kind import ANY_STEP, REQUIRED_UUID, Bearing, Endpoint, Essential, Kind
from reconciler.model.assumptions import BULK_LIMIT

# Paths in the part that belongs to the type of the alert: its name differs for each type.
QUERY = ("simpleFilter", "luceneQuery")
RULE = (ANY_STEP, "rules", ANY_STEP, "condition")
TRACES = (ANY_STEP, "tracingFilter", "simpleFilter")
TOLD = "notificationGroup"
ESSENTIALS = (
    Essential(("enabled",), usual=True),
    Essential(("phantomMode",), usual=False),
    Essential(("deleted",), usual=False),
    Essential((ANY_STEP, "logsFilter", *QUERY)),
    Essential((ANY_STEP, "numerator", *QUERY), "numerator"),
    Essential((ANY_STEP, "denominator", *QUERY), "denominator"),
    Essential(("metricThreshold", "metricFilter", "promql")),
    Essential(("priority",)),
    Essential(("type",)),
    Essential(("groupByKeys",)),
    Essential((*TRACES, "latencyThresholdMs")),
    Essential((*TRACES, "tracingLabelFilters", "serviceName", ANY_STEP, "values"), "serviceName"),
    Essential(("sloThreshold", "sloDefinition", "sloId")),
    Essential(("sloThreshold", "errorBudget", "rules", ANY_STEP, "condition", "threshold")),
    Essential(("flow", "stages")),
    Essential((*RULE, "conditionType")),
    Essential((*RULE, "threshold")),
    Essential((*RULE, "timeWindow", ANY_STEP)),
    Essential((*RULE, "ofTheLast", ANY_STEP)),
    Essential((TOLD, "destinations", ANY_STEP, "connectorId")),
    Essential((TOLD, "webhooks", ANY_STEP, "integration", "integrationId")),
    Essential((TOLD, "webhooks", ANY_STEP, "integration", "recipients", "emails")),
    Essential((TOLD, "router", "id"), "router"),
)


def example() -> dict[str, Json]:
    """Return a small, useful `spec`."""
    return {
        "name": "Checkout errors",
        "priority": "ALERT_DEF_PRIORITY_P1",
        "type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
        "logsImmediate": {
            "logsFilter": {"simpleFilter": {"luceneQuery": "severity:error AND service:checkout"}}
        },
    }


ENDPOINTS = (Endpoint(1, "PUT", "/alerts/alerts-general/v3/bulk", "replaces many"),)

ALERT_DEFINITION = Kind(
    name=model.NAME,
    noun="alert",
    spec=model.AlertDefinitionSpec,
    id_form=REQUIRED_UUID,
    check=model.check,
    queries=model.queries,
    readable=False,
    cannot_create=model.cannot_create,
    batch_size=BULK_LIMIT,
    weakens=model.weakens,
    consents=model.CONSENTS,
    fires=True,
    watches=model.watches,
    bearing=Bearing((("entityLabels",),)),
    essentials=ESSENTIALS,
    endpoints=ENDPOINTS,
    example=example,
    limits="The API can neither read nor create alert definitions: drift cannot be seen.",
)
