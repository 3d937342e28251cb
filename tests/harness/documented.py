"""Every field of the API document, by what holds it.

Written from the document by hand, so that it and the models are two readings of it.
A path is `widgets[].id.value`; what stands last has no shape there, or is no object.
"""

from __future__ import annotations


def under(place: str, fields: str) -> str:
    """Give the fields as they stand below a place: `dashboard.`, `policies[].`."""
    return " ".join(place + path for path in fields.split())


NOTIFICATION_GROUP = """
destinations[] destinations[].connectorId destinations[].presetId destinations[].notifyOn
destinations[].resolvedRouteOverrides destinations[].triggeredRoutingOverrides
destinations[].resolvedRouteOverrides.configOverrides.connectorConfigFields[].fieldName
destinations[].resolvedRouteOverrides.configOverrides.connectorConfigFields[].template
destinations[].resolvedRouteOverrides.configOverrides.messageConfigFields[].fieldName
destinations[].resolvedRouteOverrides.configOverrides.messageConfigFields[].template
destinations[].resolvedRouteOverrides.configOverrides.payloadType
destinations[].triggeredRoutingOverrides.configOverrides.connectorConfigFields[].fieldName
destinations[].triggeredRoutingOverrides.configOverrides.connectorConfigFields[].template
destinations[].triggeredRoutingOverrides.configOverrides.messageConfigFields[].fieldName
destinations[].triggeredRoutingOverrides.configOverrides.messageConfigFields[].template
destinations[].triggeredRoutingOverrides.configOverrides.payloadType
groupByKeys[] router.id router.notifyOn
webhooks[].integration.integrationId webhooks[].minutes webhooks[].notifyOn
"""

LABEL_FILTERS = "tracingImmediate.tracingFilter.simpleFilter.tracingLabelFilters"

ALERT_PROPERTIES = f"""
name description enabled deleted phantomMode priority type entityLabels groupByKeys[]
activeOn.dayOfWeek[] activeOn.startTime.hours activeOn.startTime.minutes
activeOn.endTime.hours activeOn.endTime.minutes
incidentsSettings.minutes incidentsSettings.notifyOn
{under("notificationGroup.", NOTIFICATION_GROUP)}
{under("notificationGroupExcess[].", NOTIFICATION_GROUP)}
tracingImmediate.notificationPayloadFilter[]
tracingImmediate.tracingFilter.simpleFilter.latencyThresholdMs
{LABEL_FILTERS}.applicationName[].operation {LABEL_FILTERS}.applicationName[].values[]
{LABEL_FILTERS}.operationName[].operation {LABEL_FILTERS}.operationName[].values[]
{LABEL_FILTERS}.serviceName[].operation {LABEL_FILTERS}.serviceName[].values[]
{LABEL_FILTERS}.subsystemName[].operation {LABEL_FILTERS}.subsystemName[].values[]
{LABEL_FILTERS}.spanFields[].key
{LABEL_FILTERS}.spanFields[].filterType.operation
{LABEL_FILTERS}.spanFields[].filterType.values[]
"""
ALERT_RECORD = "id alertVersionId createdTime updatedTime lastTriggeredTime status"

SLO = """
name targetThresholdPercentage id description creator createTime updateTime grouping.labels[]
labels revision sloTimeFrame type requestBasedMetricSli windowBasedMetricSli
"""
REVISION = "revision.revision revision.updateTime"

DASHBOARD = """
id name description slugName folderId.value
folderPath.segments[] fiveMinutes relativeTimeFrame
layout.sections[].id.value layout.sections[].options.internal
layout.sections[].rows[].id.value
layout.sections[].rows[].appearance.height
layout.sections[].rows[].widgets[].id.value
layout.sections[].rows[].widgets[].title
layout.sections[].rows[].widgets[].description
layout.sections[].rows[].widgets[].appearance.width
layout.sections[].rows[].widgets[].definition
layout.sections[].rows[].widgets[].createdAt
layout.sections[].rows[].widgets[].updatedAt
actions[].id actions[].name actions[].dataSource
actions[].definition.goToDashboardAction.dashboardId
actions[].shouldOpenInNewWindow actions[].widgetId
annotations[].id annotations[].name annotations[].description
annotations[].enabled annotations[].color
annotations[].scope.specificWidgets.widgetIds[]
annotations[].source.queryLanguage.dataModeType
annotations[].source.queryLanguage.labelFields[].keypath[]
annotations[].source.queryLanguage.labelFields[].scope
annotations[].source.queryLanguage.messageTemplate
annotations[].source.queryLanguage.orientation
annotations[].source.queryLanguage.query.text
annotations[].source.queryLanguage.strategy.instant.timestampField.keypath[]
annotations[].source.queryLanguage.strategy.instant.timestampField.scope
filters[].id.value filters[].displayName filters[].enabled
filters[].collapsed filters[].source.metrics.label
filters[].source.metrics.metric
filters[].source.metrics.operator.equals.selection.all
variables[].name variables[].displayName variables[].description
variables[].displayType variables[].definition.constant.value
variablesV2[].id.value variablesV2[].name
variablesV2[].displayName variablesV2[].description
variablesV2[].displayFullRow variablesV2[].displayType
variablesV2[].source.static.allOption.includeAll
variablesV2[].source.static.allOption.label
variablesV2[].source.static.values[].isDefault
variablesV2[].source.static.values[].label
variablesV2[].source.static.values[].value
variablesV2[].source.static.valuesOrderDirection
variablesV2[].value.interval.value.label
variablesV2[].value.interval.value.value
"""
DASHBOARD_RECORD = """
authorId authorName createdAt createdOriginType updatedAt updatedOriginType
updaterAuthorId updaterName lockerAuthorId lockerName
"""

POLICY_INPUT = """
name description priority disabled
applicationRule.name applicationRule.ruleTypeId subsystemRule.name subsystemRule.ruleTypeId
archiveRetention.id
"""
LOG_POLICY = f"""
id companyId order enabled deleted createdAt updatedAt
{POLICY_INPUT.replace("disabled", "")}
"""

SAVED_VIEW = """
name timeSelection filters.filters[].name filters.filters[].selectedValues folderId
searchQuery viewType
"""

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
STORED_DASHBOARD = f"{under('dashboard.', DASHBOARD)} isLocked {DASHBOARD_RECORD}"
STORED_VIEW = f"id isCompactMode {SAVED_VIEW}"
DASHBOARD_WRITE = f"{under('dashboard.', DASHBOARD)} requestId isLocked"

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

MANIFESTS = {
    "AlertDefinition": f"{ALERT_RECORD} {ALERT_PROPERTIES}",
    "SLO": SLO,
    "Dashboard": f"requestId {STORED_DASHBOARD}",
    "LogPolicySet": f"""
policies[].logRules.severities[] policies[].policy.placement
{under("policies[].policy.", POLICY_INPUT)} {under("policies[].policy.", LOG_POLICY)}
""",
    "SavedView": STORED_VIEW,
}
"""What stands under `spec:` of each kind, with what only the service sets."""
