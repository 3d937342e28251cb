from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from spec_models import MODELS

from reconciler.kinds.facts import Facts, facts_of
from reconciler.kinds.fields import Part

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

# Written from management-api.md by hand, so that it and the models are two readings of it.
DOCUMENTED = {
    "AlertDefinition": f"""
id alertVersionId createdTime updatedTime lastTriggeredTime status
name description enabled deleted phantomMode priority type entityLabels groupByKeys[]
activeOn.dayOfWeek[] activeOn.startTime.hours activeOn.startTime.minutes
activeOn.endTime.hours activeOn.endTime.minutes
incidentsSettings.minutes incidentsSettings.notifyOn
{" ".join("notificationGroup." + path for path in NOTIFICATION_GROUP.split())}
{" ".join("notificationGroupExcess[]." + path for path in NOTIFICATION_GROUP.split())}
tracingImmediate.notificationPayloadFilter[]
tracingImmediate.tracingFilter.simpleFilter.latencyThresholdMs
{LABEL_FILTERS}.applicationName[].operation {LABEL_FILTERS}.applicationName[].values[]
{LABEL_FILTERS}.operationName[].operation {LABEL_FILTERS}.operationName[].values[]
{LABEL_FILTERS}.serviceName[].operation {LABEL_FILTERS}.serviceName[].values[]
{LABEL_FILTERS}.subsystemName[].operation {LABEL_FILTERS}.subsystemName[].values[]
{LABEL_FILTERS}.spanFields[].key
{LABEL_FILTERS}.spanFields[].filterType.operation
{LABEL_FILTERS}.spanFields[].filterType.values[]
""",
    "SLO": """
name targetThresholdPercentage id description creator createTime updateTime grouping.labels[]
labels revision sloTimeFrame type requestBasedMetricSli windowBasedMetricSli
""",
    "Dashboard": """
requestId isLocked authorId authorName createdAt createdOriginType updatedAt updatedOriginType
updaterAuthorId updaterName lockerAuthorId lockerName
dashboard.id dashboard.name dashboard.description dashboard.slugName dashboard.folderId.value
dashboard.folderPath.segments[] dashboard.fiveMinutes dashboard.relativeTimeFrame
dashboard.layout.sections[].id.value dashboard.layout.sections[].options.internal
dashboard.layout.sections[].rows[].id.value
dashboard.layout.sections[].rows[].appearance.height
dashboard.layout.sections[].rows[].widgets[].id.value
dashboard.layout.sections[].rows[].widgets[].title
dashboard.layout.sections[].rows[].widgets[].description
dashboard.layout.sections[].rows[].widgets[].appearance.width
dashboard.layout.sections[].rows[].widgets[].definition
dashboard.layout.sections[].rows[].widgets[].createdAt
dashboard.layout.sections[].rows[].widgets[].updatedAt
dashboard.actions[].id dashboard.actions[].name dashboard.actions[].dataSource
dashboard.actions[].definition.goToDashboardAction.dashboardId
dashboard.actions[].shouldOpenInNewWindow dashboard.actions[].widgetId
dashboard.annotations[].id dashboard.annotations[].name dashboard.annotations[].description
dashboard.annotations[].enabled dashboard.annotations[].color
dashboard.annotations[].scope.specificWidgets.widgetIds[]
dashboard.annotations[].source.queryLanguage.dataModeType
dashboard.annotations[].source.queryLanguage.labelFields[].keypath[]
dashboard.annotations[].source.queryLanguage.labelFields[].scope
dashboard.annotations[].source.queryLanguage.messageTemplate
dashboard.annotations[].source.queryLanguage.orientation
dashboard.annotations[].source.queryLanguage.query.text
dashboard.annotations[].source.queryLanguage.strategy.instant.timestampField.keypath[]
dashboard.annotations[].source.queryLanguage.strategy.instant.timestampField.scope
dashboard.filters[].id.value dashboard.filters[].displayName dashboard.filters[].enabled
dashboard.filters[].collapsed dashboard.filters[].source.metrics.label
dashboard.filters[].source.metrics.metric
dashboard.filters[].source.metrics.operator.equals.selection.all
dashboard.variables[].name dashboard.variables[].displayName dashboard.variables[].description
dashboard.variables[].displayType dashboard.variables[].definition.constant.value
dashboard.variablesV2[].id.value dashboard.variablesV2[].name
dashboard.variablesV2[].displayName dashboard.variablesV2[].description
dashboard.variablesV2[].displayFullRow dashboard.variablesV2[].displayType
dashboard.variablesV2[].source.static.allOption.includeAll
dashboard.variablesV2[].source.static.allOption.label
dashboard.variablesV2[].source.static.values[].isDefault
dashboard.variablesV2[].source.static.values[].label
dashboard.variablesV2[].source.static.values[].value
dashboard.variablesV2[].source.static.valuesOrderDirection
dashboard.variablesV2[].value.interval.value.label
dashboard.variablesV2[].value.interval.value.value
""",
    "LogPolicySet": """
policies[].logRules.severities[] policies[].policy.id policies[].policy.companyId
policies[].policy.name policies[].policy.description policies[].policy.order
policies[].policy.priority policies[].policy.enabled policies[].policy.deleted
policies[].policy.disabled policies[].policy.placement
policies[].policy.applicationRule.name policies[].policy.applicationRule.ruleTypeId
policies[].policy.subsystemRule.name policies[].policy.subsystemRule.ruleTypeId
policies[].policy.archiveRetention.id policies[].policy.createdAt policies[].policy.updatedAt
""",
    "SavedView": """
id name timeSelection filters.filters[].name filters.filters[].selectedValues folderId
isCompactMode searchQuery viewType
""",
}

READ_ONLY = {
    "AlertDefinition": {
        "id",
        "alertDefProperties",
        "alertVersionId",
        "createdTime",
        "updatedTime",
        "lastTriggeredTime",
        "status",
    },
    "SLO": {"id", "creator", "createTime", "updateTime", "revision", "type"},
    "Dashboard": {
        "requestId",
        "authorId",
        "authorName",
        "createdAt",
        "createdOriginType",
        "updatedAt",
        "updatedOriginType",
        "updaterAuthorId",
        "updaterName",
        "lockerAuthorId",
        "lockerName",
        "dashboard.layout.sections[].rows[].widgets[].createdAt",
        "dashboard.layout.sections[].rows[].widgets[].updatedAt",
    },
    "LogPolicySet": {
        f"policies[].policy.{name}"
        for name in (
            "id",
            "companyId",
            "order",
            "placement",
            "enabled",
            "deleted",
            "createdAt",
            "updatedAt",
        )
    },
    "SavedView": {"id"},
}


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


@pytest.mark.parametrize("kind", MODELS)
def test_every_documented_field_is_in_the_model(kind: str) -> None:
    """Each field and nested field of the API document is known to the kind's model."""
    known = {place for place, _ in known_places(MODELS[kind].spec)}

    assert sorted(set(DOCUMENTED[kind].split()) - known) == []


@pytest.mark.parametrize("kind", MODELS)
def test_fields_beyond_the_document_are_marked(kind: str) -> None:
    """A field that the API document does not show is marked as observed, or is not sent."""
    documented = {
        place[: name.end()]
        for place in DOCUMENTED[kind].split()
        for name in re.finditer(r"\w+", place)
    }
    ours = {"file", "dashboard", "policies", "alertDefProperties"}
    unmarked = {
        place
        for place, facts in known_places(MODELS[kind].spec)
        if not facts.observed and not place.endswith("[]") and place not in ours
    }
    hidden = {place for place, facts in known_places(MODELS[kind].spec) if facts.observed}

    assert (
        sorted(
            place
            for place in unmarked - documented
            if not any(place.startswith((f"{above}.", f"{above}[")) for above in hidden)
        )
        == []
    )


@pytest.mark.parametrize("kind", MODELS)
def test_the_fields_of_the_service_are_read_only(kind: str) -> None:
    """Exactly the fields that only the service sets are refused in a manifest."""
    refused = {place for place, facts in known_places(MODELS[kind].spec) if facts.read_only}

    assert refused == READ_ONLY[kind]
