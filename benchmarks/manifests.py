"""Manifests like those that people write and export: realistic text of any amount."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID, uuid5

from reconciler.document import Json

NAMESPACE = UUID("0d3f6a0e-6a58-5f6c-9d55-1f4f1a0b7c11")

ALERT = """\
# Alert {index} of the generated workspace.
apiVersion: reconciler/v1
kind: AlertDefinition
metadata:
  name: service-{index:04}-errors
  id: {id}
  labels: {{team: team-{team}}}
spec:
  name: Errors of service {index}
  description: Requests to service {index} fail; the runbook says what to look at first.
  enabled: true
  priority: ALERT_DEF_PRIORITY_P3
  entityLabels:
    team: team-{team}
    environment: production
  groupByKeys: [region, zone]
  incidentsSettings:
    minutes: 30                   # tell again after half an hour
    notifyOn: NOTIFY_ON_TRIGGERED_AND_RESOLVED
  notificationGroup:
    groupByKeys: [region]
    webhooks:
      - integration:
          recipients:
            emails:
              - team-{team}@example.com
        minutes: 60
        notifyOn: NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED
  type: ALERT_DEF_TYPE_LOGS_THRESHOLD
  logsThreshold:
    logsFilter:
      simpleFilter:
        luceneQuery: 'service:"service-{index}" AND level:error AND NOT reason:"card_declined"'
        labelFilters:
          applicationName:
            - operation: LOG_FILTER_OPERATION_TYPE_IS_OR_UNSPECIFIED
              value: shop
          severities: [LOG_SEVERITY_ERROR, LOG_SEVERITY_CRITICAL]
    rules:
      - condition:
          conditionType: LOGS_THRESHOLD_CONDITION_TYPE_MORE_THAN_OR_UNSPECIFIED
          threshold: {index}
          timeWindow:
            logsTimeWindowSpecificValue: LOGS_TIME_WINDOW_VALUE_MINUTES_10
        override:
          priority: ALERT_DEF_PRIORITY_P3
"""

SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata:
  name: service-{index:04}-success
  id: {id}
spec:
  name: Service {index} answers
  description: Answers without an error of ours, of all answers.
  targetThresholdPercentage: 99.5
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  labels: {{team: team-{team}}}
  requestBasedMetricSli:
    goodEvents:
      query: sum(rate(http_requests_total{{service="service-{index}", code!~"5.."}}[5m]))
    totalEvents:
      query: sum(rate(http_requests_total{{service="service-{index}"}}[5m]))
"""

DASHBOARD = """\
# Written by hand: ids are left out.
apiVersion: reconciler/v1
kind: Dashboard
metadata:
  name: service-{index:04}
  labels: {{team: team-{team}}}
spec:
  isLocked: false
  dashboard:
    name: Service {index}
    description: How service {index} does, and where to look when it does not.
    folderPath:
      segments: [Services, Team {team}]
    relativeTimeFrame: 21600s     # the last six hours
    twoMinutes: {{}}
    layout:
      sections:
        - options:
            custom:
              name: Requests
              collapsed: false
          rows:
"""

ROW = """\
            - appearance: {height: 19}
              widgets:
"""

WIDGET = """\
                - title: Latency of endpoint {number}
                  description: Seconds, by percentile and region.
                  appearance: {{width: 0}}
                  definition:
                    lineChart:
                      legend:
                        isVisible: true
                        columns: [LEGEND_COLUMN_AVG, LEGEND_COLUMN_MAX]
                        groupByQuery: false
                      tooltip: {{showLabels: false, type: TOOLTIP_TYPE_ALL}}
                      queryDefinitions:
                        - id: query-{number}
                          query:
                            metrics:
                              promqlQuery:
                                value: >-
                                  histogram_quantile(0.95, sum by (le, region)
                                  (rate(http_seconds_bucket{{service="service-{index}"}}[5m])))
                          seriesCountLimit: "20"
                          unit: UNIT_SECONDS
                          scaleType: SCALE_TYPE_LINEAR
                          isVisible: true
"""


def uuid_of(name: str) -> str:
    """Give the same id for the same name, so that two runs measure the same text."""
    return str(uuid5(NAMESPACE, name))


def alert(index: int) -> str:
    """Give an alert of about 1.7 kB."""
    return ALERT.format(index=index, id=uuid_of(f"alert {index}"), team=index % 20)


def slo(index: int) -> str:
    """Give an SLO of about 0.7 kB."""
    return SLO.format(index=index, id=uuid_of(f"slo {index}"), team=index % 20)


def dashboard(index: int, widgets: int) -> str:
    """Give a dashboard of about 1.1 kB a widget, four widgets to a row."""
    parts = [DASHBOARD.format(index=index, team=index % 20)]
    for number in range(widgets):
        if number % 4 == 0:
            parts.append(ROW)
        parts.append(WIDGET.format(index=index, number=number))
    return "".join(parts)


def write_workspace(folder: Path, files: int, widgets: int) -> int:
    """Write alerts, dashboards and SLOs, 5 : 4 : 1; give the bytes written."""
    size = 0
    for index in range(files):
        match index % 10:
            case 0 | 2 | 4 | 6 | 8:
                text = alert(index)
            case 9:
                text = slo(index)
            case _:
                text = dashboard(index, widgets)
        file = folder / f"team-{index % 20}" / f"{index:04}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        size += file.write_text(text, encoding="utf-8")
    return size


def dashboard_spec(widgets: int) -> dict[str, Json]:
    """Give the spec of a dashboard with every id written out, as an export has it."""
    rows: list[Json] = []
    for start in range(0, widgets, 4):
        row: list[Json] = [_widget(number) for number in range(start, min(start + 4, widgets))]
        rows.append(
            {"id": {"value": uuid_of(f"row {start}")}, "appearance": {"height": 19}, "widgets": row}
        )
    section: Json = {
        "id": {"value": uuid_of("section")},
        "options": {"custom": {"name": "Requests", "collapsed": False}},
        "rows": rows,
    }
    return {
        "isLocked": False,
        "dashboard": {
            "name": "Service",
            "slugName": "service",
            "relativeTimeFrame": "21600s",
            "twoMinutes": {},
            "layout": {"sections": [section]},
        },
    }


def _widget(number: int) -> Json:
    query: Json = {
        "id": f"query-{number}",
        "query": {"metrics": {"promqlQuery": {"value": f"sum(rate(x_{number}[5m]))" + " " * 60}}},
        "seriesCountLimit": "20",
        "unit": "UNIT_SECONDS",
        "isVisible": True,
    }
    chart: Json = {
        "legend": {"isVisible": True, "columns": ["LEGEND_COLUMN_AVG"], "groupByQuery": False},
        "tooltip": {"showLabels": False, "type": "TOOLTIP_TYPE_ALL"},
        "queryDefinitions": [query],
    }
    return {
        "id": {"value": uuid_of(f"widget {number}")},
        "title": f"Latency of endpoint {number}",
        "description": "Seconds, by percentile and region.",
        "appearance": {"width": 0},
        "definition": {"lineChart": chart},
    }


def as_stored(document: Json) -> Json:
    """Give a document as a service answers it: other objects, its own order, its own defaults."""
    if isinstance(document, dict):
        stored = {key: as_stored(value) for key, value in sorted(document.items(), reverse=True)}
        if "title" in stored:
            stored |= {"createdBy": "service", "colorScheme": "classic", "timeMode": ""}
        if "seriesCountLimit" in stored:
            stored |= {"decimal": 2, "dataModeType": "DATA_MODE_TYPE_HIGH_UNSPECIFIED"}
        return stored
    if isinstance(document, list):
        return [as_stored(item) for item in document]
    copy: Json = json.loads(json.dumps(document))
    return copy
