"""Every field of the API document, by what holds it.

Fields of kinds are those that the models of the client do not mark as observed, so that schemas of
the emulator are compared with another reading of the document. The others were written from the
document by hand. A path is `widgets[].id.value`; what is last has no shape there, or is no object.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import Part
from reconciler.kinds.shape import Facts, facts_of


def under(place: str, fields: str) -> str:
    """Return the fields as they are below a place: `dashboard.`, `policies[].`."""
    return " ".join(place + path for path in fields.split())


def known_places(model: type[Part], prefix: str = "") -> Iterator[tuple[str, Facts]]:
    """Yield every place a model knows, as `widgets[].id.value`, with its facts."""
    for name, facts in facts_of(model).items():
        yield from _inner_places(prefix + name, facts)


def _inner_places(place: str, facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield place, facts
    if facts.items is not None:
        yield from _inner_places(f"{place}[]", facts.items)
    if facts.part is not None:
        yield from known_places(facts.part, f"{place}.")


def _documented(kind: str) -> str:
    """Return the fields of a kind that no other is inside, without what is observed."""
    known = dict(known_places(BY_NAME[kind].spec))
    hidden = tuple(
        f"{place}{end}" for place, facts in known.items() if facts.observed for end in ".["
    )
    shown = [
        place
        for place, facts in known.items()
        if not facts.observed and not place.startswith(hidden) and place not in OURS
    ]
    inside = {
        place
        for place in shown
        if any(other.startswith((f"{place}.", f"{place}[")) for other in shown)
    }
    return " ".join(place for place in shown if place not in inside)


def _below(place: str, fields: str) -> str:
    """Return the fields below a place, as they are there."""
    return " ".join(
        field.removeprefix(place) for field in fields.split() if field.startswith(place)
    )


OURS = {"file", "alertDefProperties"}
"""Places that are no fields of the API."""
MANIFESTS = {kind: _documented(kind) for kind in BY_NAME}
"""What is under `spec:` of each kind, with what only the service sets."""

ALERT_RECORD = "id alertVersionId createdTime updatedTime lastTriggeredTime status"
ALERT_PROPERTIES = " ".join(
    field for field in MANIFESTS["AlertDefinition"].split() if field not in ALERT_RECORD.split()
)
SLO = MANIFESTS["SLO"]
REVISION = "revision.revision revision.updateTime"
STORED_DASHBOARD = MANIFESTS["Dashboard"].replace("requestId", "")
DASHBOARD_WRITE = (
    f"{under('dashboard.', _below('dashboard.', STORED_DASHBOARD))} requestId isLocked"
)
POLICY_RECORD = {
    "id",
    "companyId",
    "order",
    "enabled",
    "deleted",
    "createdAt",
    "updatedAt",
    "placement",
}
LOG_POLICY = " ".join(
    field
    for field in _below("policies[].policy.", MANIFESTS["LogPolicySet"]).split()
    if field not in {"disabled", "placement"}
)
POLICY_INPUT = " ".join(
    field
    for field in _below("policies[].policy.", MANIFESTS["LogPolicySet"]).split()
    if field not in POLICY_RECORD
)
STORED_VIEW = MANIFESTS["SavedView"]
SAVED_VIEW = " ".join(
    field for field in STORED_VIEW.split() if field not in {"id", "isCompactMode"}
)

PAGINATION = "pagination.nextPageToken pagination.totalSize"

PAIRS = "key value"
CASE = f"""
id readableId title description category priority priorityDetails.override priorityDetails.system
state status createTime updateTime acknowledgeTime assignee.userId
{under("groupings[].", PAIRS)} {under("labels[].", PAIRS)}
resolutionDetails.resolveTime resolutionDetails.resolvedBy
alertIndicators[].alertId alertIndicators[].alertVersionId alertIndicators[].groupingType
{under("alertIndicators[].groupings[].", PAIRS)} alertIndicators[].priority
alertIndicators[].state alertIndicators[].triggerTime alertIndicators[].resolveTime
"""
CASE_LISTING = """
filters.assignees[].unassigned filters.categories[] filters.groupings[].key
filters.groupings[].values[] filters.labels[].key filters.labels[].values[]
filters.priorities[] filters.states[] filters.statuses[] filters.textSearch
orderBy.direction orderBy.field pagination.pageSize pagination.pageToken pagination.skip
"""

INCIDENT_EVENT = """
id incidentEventType originatorType administrativeEvent.userId close
"""
INCIDENT = f"""
id name description createdAt closedAt duration severity state status isMuted
lastStateUpdateKey lastStateUpdateTime contextualLabels displayLabels
{under("metaLabels[].", PAIRS)} assignments[].assignedBy.userId assignments[].assignedTo.userId
{under("events[].", INCIDENT_EVENT)}
"""
EXTENDED_EVENT = f"""
cxEventKey cxEventTimestamp {under("incidentEvent.", INCIDENT_EVENT)}
incidentEventExtendedMetadata.alertGroupByFields[] incidentEventExtendedMetadata.alertId
{under("incidentEventExtendedMetadata.alertLabels[].", PAIRS)}
incidentEventExtendedMetadata.alertName incidentEventExtendedMetadata.alertType
incidentEventExtendedMetadata.incidentPermutation incidentEventExtendedMetadata.incidentSeverity
incidentEventExtendedMetadata.incidentState incidentEventExtendedMetadata.incidentStatus
incidentEventExtendedMetadata.isMuted
"""

ALERT_EVENT = """
companyId cxEventKey cxEventLabels cxEventPayload cxEventPayloadType cxEventTimestamp
cxEventType cxEventDedupKey cxEventMetadata
"""

UNITS = """
blockedMetricsUnits blockedUnits cpuProfilesUnits evaluationUnits highLogsUnits
highMetricsUnits highTracingUnits lowLogsUnits lowSessionRecordingUnits lowTracingUnits
mediumLogsUnits mediumTracingUnits totalUnits
"""

META_FIELDS = "applicationNameValues severityValues subsystemNameValues"
STORED_SLO = f"{SLO} {REVISION}"

REQUESTS = {
    1: f"""
alertDefsToReplace[].id
{under("alertDefsToReplace[].alertDefProperties.", ALERT_PROPERTIES)}
""",
    3: DASHBOARD_WRITE,
    4: DASHBOARD_WRITE,
    7: CASE_LISTING,
    11: SLO,
    12: SLO,
    14: SLO,
    16: under("policyRequests[].", f"{POLICY_INPUT} placement.first"),
    17: f"policies[].logRules.severities[] {under('policies[].policy.', POLICY_INPUT)}",
    18: under("metaFieldsValuesList[].", META_FIELDS),
    19: "range",
    20: SAVED_VIEW,
    21: f"isCompactMode {SAVED_VIEW}",
}
"""The fields of each request body, by the number of the endpoint; the others have none."""
BODIES = {"AlertDefinition": 1, "SLO": 11, "Dashboard": 3, "LogPolicySet": 17, "SavedView": 21}
"""The request that has all fields of each kind."""

REPLIES = {
    1: f"""
{under("alertDefs[].", ALERT_RECORD)} {under("alertDefs[].alertDefProperties.", ALERT_PROPERTIES)}
failedToReplaceAlertDefs[].id notFoundIds[] skippedIds[]
""",
    2: f"{under('events[].', ALERT_EVENT)} {PAGINATION}",
    3: "dashboardId",
    4: "",
    5: STORED_DASHBOARD,
    6: STORED_DASHBOARD,
    7: f"{under('cases[].', CASE)} {PAGINATION}",
    8: f"{under('incidents[].', INCIDENT)} {PAGINATION}",
    9: f"{under('items[].', EXTENDED_EVENT)} pagination",
    10: under("incidents[].", INCIDENT),
    11: under("slo.", STORED_SLO),
    12: f"{under('slo.', STORED_SLO)} effectedSloAlertIds[]",
    13: under("slo.", STORED_SLO),
    14: under("alertsValidationResult[].", "id name alertVersionId errorMessage"),
    15: under("policies[].", LOG_POLICY),
    16: under("createResponses[].policy.", LOG_POLICY),
    17: under("createResponses[].policy.", LOG_POLICY),
    18: f"""
testPoliciesBulkResult[].matched
{under("testPoliciesBulkResult[].metaFieldsValues.", META_FIELDS)}
{under("testPoliciesBulkResult[].policy.", LOG_POLICY)}
""",
    19: f"units[].statsDate {' '.join(f'units[].{name}.value' for name in UNITS.split())}",
    20: STORED_VIEW,
    21: STORED_VIEW,
}
"""The fields of each answer, by the number of the endpoint."""
