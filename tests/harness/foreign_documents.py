"""Documents of other tools as they export them, to be read and to be damaged."""

from __future__ import annotations

from typing import Any

from reconciler.document import Json
from reconciler.syntax.read_text import read_text

SLO = """\
apiVersion: openslo/v1
kind: SLO
metadata: {name: checkout, displayName: Checkout succeeds, labels: {team: [a, b]}}
spec:
  description: Orders go through.
  service: shop
  indicator:
    metadata: {name: ratio}
    spec:
      ratioMetric:
        counter: false
        good: {metricSource: {type: Prometheus, spec: {query: 'sum(increase(good[5m]))'}}}
        total: {metricSource: {type: Prometheus, spec: {query: 'sum(increase(all[5m]))'}}}
  timeWindow: [{duration: 28d, isRolling: true}]
  budgetingMethod: Occurrences
  objectives: [{displayName: Usual, target: 0.995}]
"""
RULES = """\
groups:
  - name: shop
    interval: 30s
    rules:
      - record: job:errors:rate5m
        expr: sum by (job) (rate(errors_total[5m]))
      - alert: HighErrors
        expr: sum(rate(errors_total{job="a > b"}[5m])) by (job) / 2 > 0.5
        for: 1h30m
        labels: {severity: critical, team: shop, shard: '{{ $labels.shard }}'}
        annotations: {summary: Too many errors, runbook_url: https://runbooks.example.com/1}
      - alert: NoData
        expr: absent(up{job="shop"})
      - alert: OfLogs
        expr: 'sum(count_over_time({app="shop"} |= "error" [5m])) > 3'
"""
BOARD: dict[str, Any] = {
    "title": "Shop",
    "schemaVersion": 39,
    "time": {"from": "now-6h", "to": "now"},
    "refresh": "30s",
    "templating": {
        "list": [
            {"name": "step", "type": "interval", "query": "1m,5m", "current": {"value": "5m"}},
            {"name": "pod", "type": "query", "query": "label_values(pod)"},
        ]
    },
    "panels": [
        {
            "type": "row",
            "title": "Errors",
            "collapsed": True,
            "gridPos": {"y": 9},
            "panels": [
                {
                    "type": "heatmap",
                    "title": "Heat",
                    "gridPos": {"y": 10},
                    "targets": [{"expr": "rate(x[$__rate_interval])"}],
                },
                {
                    "type": "logs",
                    "title": "Lines",
                    "gridPos": {"y": 20},
                    "datasource": {"type": "loki"},
                    "targets": [{"expr": '{app="shop", env!="dev"} |= "failed" != "retry"'}],
                },
            ],
        },
        {
            "type": "stat",
            "title": "Now",
            "gridPos": {"x": 12, "y": 0, "h": 8},
            "fieldConfig": {"defaults": {"unit": "percent", "min": 0, "max": 100}},
            "targets": [{"expr": "a"}, {"expr": "b"}],
        },
        {
            "type": "timeseries",
            "title": "Rate",
            "gridPos": {"x": 0, "y": 0, "h": 16},
            "datasource": {"type": "prometheus"},
            "transformations": [{"id": "merge"}],
            "targets": [{"refId": "A", "expr": "rate(x[$step])", "legendFormat": "{{pod}}"}],
        },
        {"type": "text", "gridPos": {"y": 8}, "options": {"mode": "markdown", "content": "# Hi"}},
    ],
}


def yaml(text: str) -> Json:
    """Read the one document of a text."""
    (read,) = read_text(text).documents
    return read.value


DOCUMENTS: list[Json] = [yaml(SLO), yaml(RULES), BOARD]
