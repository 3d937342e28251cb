"""Documents of other tools in which every published field is set once.

Facts of the published lists: Grafana's JSON model of dashboards, panels and Prometheus queries
(with the panels of old, `graph` and `singlestat`), OpenSLO v1, rule files of Prometheus with the
fields that Thanos and Mimir add to groups, and `PrometheusRule` of Kubernetes.
"""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.document import Json

QUERY: dict[str, Json] = {
    "refId": "A",
    "expr": "up",
    "legendFormat": "{{pod}}",
    "hide": True,
    "datasource": {"type": "prometheus", "uid": "query-source"},
    "queryType": "range",
    "instant": True,
    "range": True,
    "exemplar": True,
    "editorMode": "code",
    "format": "time_series",
    "intervalFactor": 2,
    "interval": "30s",
    "step": 15,
    "scope": "everything",
    "adhocFilters": [{"key": "a"}],
}
PANEL: dict[str, Json] = {
    "id": 7,
    "title": "Panel",
    "description": "What it shows",
    "pluginVersion": "11.0.0",
    "datasource": {"type": "prometheus", "uid": "panel-source"},
    "gridPos": {"x": 0, "y": 5, "w": 8, "h": 9, "static": True},
    "targets": [QUERY],
    "transparent": True,
    "links": [{"title": "There"}],
    "repeat": "host",
    "repeatDirection": "v",
    "maxPerRow": 3,
    "maxDataPoints": 100,
    "transformations": [{"id": "sort"}],
    "interval": "5m",
    "timeFrom": "1h",
    "timeShift": "1d",
    "hideTimeOverride": True,
    "libraryPanel": {"uid": "lib", "name": "Lib"},
    "cacheTimeout": "60",
    "queryCachingTTL": 60_000,
    "alert": {"name": "old"},
}
DEFAULTS: dict[str, Json] = {
    "displayName": "Shown",
    "displayNameFromDS": "From the source",
    "description": "A field",
    "path": "a.b",
    "writeable": True,
    "filterable": True,
    "unit": "bytes",
    "decimals": 2,
    "min": 1,
    "max": 9,
    "fieldMinMax": True,
    "mappings": [{"type": "value"}],
    "thresholds": {"mode": "absolute", "steps": [{"color": "red", "value": 80}]},
    "color": {"mode": "fixed", "fixedColor": "red", "seriesBy": "max"},
    "links": [{"title": "Field"}],
    "noValue": "none",
    "actions": [{"title": "Act"}],
}
CUSTOM: dict[str, Json] = {
    "drawStyle": "bars",
    "lineInterpolation": "smooth",
    "lineWidth": 2,
    "lineColor": "red",
    "lineStyle": {"fill": "dash", "dash": [10, 10]},
    "fillOpacity": 10,
    "fillColor": "red",
    "fillBelowTo": "A",
    "gradientMode": "hue",
    "showPoints": "always",
    "pointSize": 4,
    "pointColor": "red",
    "pointSymbol": "circle",
    "spanNulls": True,
    "insertNulls": 3600,
    "barAlignment": 1,
    "barWidthFactor": 0.5,
    "barMaxWidth": 10,
    "stacking": {"mode": "normal", "group": "G"},
    "axisPlacement": "right",
    "axisLabel": "Axis",
    "axisWidth": 10,
    "axisSoftMin": 1,
    "axisSoftMax": 2,
    "axisGridShow": True,
    "axisBorderShow": True,
    "axisCenteredZero": True,
    "axisColorMode": "series",
    "scaleDistribution": {"type": "log", "log": 10, "linearThreshold": 1},
    "hideFrom": {"tooltip": True, "legend": True, "viz": True},
    "thresholdsStyle": {"mode": "line"},
    "transform": "negative-Y",
}
OF_LINES: dict[str, Json] = {
    "legend": {
        "displayMode": "table",
        "placement": "right",
        "showLegend": True,
        "asTable": True,
        "isVisible": True,
        "sortBy": "Max",
        "sortDesc": True,
        "width": 100,
        "calcs": ["max"],
    },
    "tooltip": {"mode": "multi", "sort": "desc", "maxWidth": 1, "maxHeight": 2, "hideZeros": True},
    "timezone": ["utc"],
    "orientation": "vertical",
    "timeCompare": "1d",
    "annotations": {"multiLane": True},
}
OF_VALUES: dict[str, Json] = {
    "reduceOptions": {"values": True, "limit": 5, "calcs": ["mean"], "fields": "/a/"},
    "text": {"titleSize": 10, "valueSize": 12},
    "orientation": "vertical",
    "graphMode": "area",
    "colorMode": "background",
    "justifyMode": "center",
    "textMode": "name",
    "wideLayout": True,
    "showPercentChange": True,
    "percentChangeColorMode": "inverted",
    "showThresholdLabels": True,
    "showThresholdMarkers": True,
    "sizing": "manual",
    "minVizWidth": 1,
    "minVizHeight": 2,
    "cellHeight": "sm",
    "footer": {"show": True},
    "showHeader": True,
    "sortBy": [{"displayName": "a"}],
    "pieType": "donut",
    "displayLabels": ["name"],
    "showTime": True,
    "wrapLogMessage": True,
}
OF_OLD: dict[str, Json] = {
    "bars": True,
    "lines": False,
    "points": True,
    "stack": True,
    "percentage": True,
    "linewidth": 2,
    "fill": 1,
    "fillGradient": 2,
    "steppedLine": True,
    "nullPointMode": "connected",
    "pointradius": 2,
    "dashes": True,
    "dashLength": 10,
    "spaceLength": 10,
    "aliasColors": {"a": "red"},
    "seriesOverrides": [{"alias": "a"}],
    "legend": {"show": True, "values": True},
    "tooltip": {"shared": True, "sort": 1, "value_type": "individual"},
    "xaxis": {"mode": "time", "show": True},
    "yaxes": [{"format": "bytes", "min": 1}],
    "yaxis": {"align": True},
    "grid": {"threshold1": 1},
    "thresholds": [{"value": 1}],
    "timeRegions": [{"op": "time"}],
    "renderer": "png",
    "hiddenSeries": True,
    "decimals": 3,
    "span": 6,
    "height": 200,
    "minSpan": 3,
    "editable": True,
    "error": True,
    "valueName": "avg",
    "format": "bytes",
    "prefix": "a",
    "postfix": "b",
    "nullText": "none",
    "valueMaps": [{"value": "1"}],
    "rangeMaps": [{"from": "1"}],
    "mappingType": 1,
    "mappingTypes": [{"name": "value"}],
    "sparkline": {"show": True},
    "gauge": {"show": True},
    "colorBackground": True,
    "colorValue": True,
    "colors": ["red"],
    "columns": [{"text": "Max"}],
    "styles": [{"type": "number"}],
    "sort": {"col": 0},
    "transform": "table",
    "showHeader": True,
    "fontSize": "80%",
    "pageSize": 10,
    "scroll": True,
}
ANY_PANEL: dict[str, Json] = {
    **OF_OLD,
    **PANEL,
    "options": {**OF_LINES, **OF_VALUES, "content": "# Text", "mode": "code"},
    "fieldConfig": {
        "defaults": {**DEFAULTS, "custom": CUSTOM},
        "overrides": [{"matcher": {"id": "byName"}}],
    },
    "content": "old text",
    "mode": "html",
}
INTERVAL: dict[str, Json] = {
    "id": "var-1",
    "type": "interval",
    "name": "step",
    "label": "Step",
    "description": "How fine",
    "hide": 1,
    "skipUrlSync": True,
    "query": "1m,5m",
    "datasource": {"uid": "variable-source"},
    "current": {"selected": True, "text": "5m", "value": "5m"},
    "options": [{"value": "1m"}],
    "multi": True,
    "allowCustomValue": True,
    "includeAll": True,
    "allValue": ".*",
    "regex": "/a/",
    "refresh": 2,
    "sort": 1,
    "auto": True,
    "auto_count": 30,
    "auto_min": "10s",
    "definition": "1m,5m",
    "staticOptions": [{"value": "1m"}],
}
BOARD: dict[str, Json] = {
    "id": 1,
    "uid": "board-uid",
    "title": "Board",
    "description": "About it",
    "revision": 1,
    "gnetId": "123",
    "tags": ["a"],
    "style": "dark",
    "timezone": "utc",
    "editable": True,
    "graphTooltip": 1,
    "time": {"from": "now-6h", "to": "now"},
    "timepicker": {"hidden": True, "refresh_intervals": ["5s"], "nowDelay": "1m"},
    "fiscalYearStartMonth": 2,
    "liveNow": True,
    "weekStart": "monday",
    "refresh": "5m",
    "schemaVersion": 39,
    "version": 4,
    "iteration": 5,
    "preload": True,
    "hideControls": True,
    "sharedCrosshair": True,
    "annotations": {"list": [{"name": "Deploys"}]},
    "links": [{"title": "Home"}],
    "snapshot": {"name": "x"},
    "__inputs": [{"name": "DS"}],
    "__requires": [{"type": "panel"}],
    "__elements": {"a": {}},
    "templating": {"list": [INTERVAL]},
}
ROW: dict[str, Json] = {
    "type": "row",
    "id": 3,
    "title": "Row",
    "collapsed": True,
    "gridPos": {"x": 0, "y": 4, "w": 24, "h": 1},
    "datasource": {"uid": "row-source"},
    "repeat": "host",
    "repeatDirection": "h",
    "targets": [{"refId": "R"}],
}
OLD_ROW: dict[str, Json] = {
    "title": "Row",
    "collapse": True,
    "height": "250px",
    "repeat": "host",
    "repeatIteration": 1,
    "repeatRowId": 2,
    "showTitle": True,
    "titleSize": "h6",
    "editable": True,
}
METRIC: dict[str, Json] = {
    "metricSource": {
        "metricSourceRef": "prom",
        "type": "Prometheus",
        "spec": {"query": "sum(increase(good[5m]))", "dimensions": ["a"]},
    }
}
RATIO: dict[str, Json] = {
    "ratioMetric": {
        "counter": True,
        "good": METRIC,
        "bad": METRIC,
        "total": METRIC,
        "rawType": "success",
        "raw": METRIC,
    }
}
DESCRIBED: dict[str, Json] = {
    "name": "checkout",
    "displayName": "Checkout",
    "labels": {"team": ["a"]},
    "annotations": {"owner": "b"},
}
OBJECTIVE: dict[str, Json] = {
    "displayName": "Usual",
    "op": "lte",
    "value": 0.4,
    "target": 0.99,
    "targetPercent": 98,
    "timeSliceTarget": 0.95,
    "timeSliceWindow": "5m",
    "compositeWeight": 2,
}
RULE: dict[str, Json] = {
    "alert": "High",
    "expr": "a > 1",
    "for": "5m",
    "keep_firing_for": "10m",
    "labels": {"severity": "critical", "team": "shop"},
    "annotations": {"summary": "Much", "runbook_url": "https://runbooks.example.com/1"},
}
GROUP: dict[str, Json] = {
    "name": "shop",
    "interval": "30s",
    "query_offset": "1m",
    "limit": 10,
    "labels": {"region": "eu"},
    "partial_response_strategy": "abort",
    "source_tenants": ["a"],
    "evaluation_delay": "2m",
    "align_evaluation_time_on_interval": True,
}


@dataclass(frozen=True, slots=True)
class Published:
    """A document in which all is set; `owners` name the parts that its fields belong to."""

    name: str
    document: dict[str, Json]


def _panel(kind: str, **more: Json) -> Published:
    panel = {**ANY_PANEL, "type": kind, **more}
    # With it the row is full, so that each side of the grid counts.
    beside: Json = {"type": "text", "title": "Beside", "gridPos": {"x": 8, "y": 5, "w": 16, "h": 9}}
    return Published(f"panel-{kind}", {**BOARD, "panels": [panel, beside]})


def _slo(method: str, metric: dict[str, Json], **more: Json) -> Published:
    indicator: dict[str, Json] = {
        "metadata": {**DESCRIBED, "name": "ratio"},
        "spec": {"description": "An indicator", **metric},
    }
    spec: dict[str, Json] = {
        "description": "Orders go through.",
        "service": "shop",
        "indicator": indicator,
        "indicatorRef": "other",
        "timeWindow": [
            {
                "duration": "28d",
                "isRolling": False,
                "calendar": {"startTime": "2026-01-01 00:00:00", "timeZone": "UTC"},
            }
        ],
        "budgetingMethod": method,
        "objectives": [OBJECTIVE],
        "alertPolicies": [{"alertPolicyRef": "fast"}],
        **more,
    }
    document: dict[str, Json] = {
        "apiVersion": "openslo/v1",
        "kind": "SLO",
        "metadata": DESCRIBED,
        "spec": spec,
    }
    return Published(f"slo-{method}-{next(iter(metric))}", document)


PUBLISHED: list[Published] = [
    *map(
        _panel,
        (
            *("timeseries", "graph", "stat", "gauge", "singlestat", "table", "table-old"),
            *("piechart", "grafana-piechart-panel", "text", "heatmap"),
        ),
    ),
    _panel("logs", targets=[{**QUERY, "expr": '{app="shop"}', "datasource": {"type": "loki"}}]),
    Published("row", {**BOARD, "panels": [{**ROW, "panels": [{**ANY_PANEL, "type": "stat"}]}]}),
    Published("old-row", {**BOARD, "rows": [{**OLD_ROW, "panels": [{**PANEL, "type": "graph"}]}]}),
    Published("api", {"dashboard": {**BOARD, "panels": []}, "meta": {"folderTitle": "F"}}),
    _slo("Occurrences", RATIO),
    _slo("Timeslices", RATIO),
    _slo("RatioTimeslices", RATIO),
    _slo("Occurrences", {"thresholdMetric": METRIC}),
    _slo("Timeslices", {"thresholdMetric": METRIC}),
    Published("rules", {"groups": [{**GROUP, "rules": [RULE]}]}),
    Published("short-rule", {"groups": [{**GROUP, "rules": [{**RULE, "for": "10s"}]}]}),
    Published(
        "kubernetes",
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PrometheusRule",
            "metadata": {**DESCRIBED, "namespace": "monitoring"},
            "spec": {"groups": [{**GROUP, "rules": [RULE]}]},
        },
    ),
]
