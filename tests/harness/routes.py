"""Where the management API stands, and the paths of its resources below that."""

from __future__ import annotations

API_ROOT = "/mgmt/openapi/latest"
ALERTS = "/alerts/alerts-general/v3/bulk"
DASHBOARDS = "/v1/dashboards/dashboards"
BY_SLUG = "/v1/dashboards/by-slug"
SLOS = "/v1/slo/slos"
VALIDATE = SLOS + "/validate"
POLICIES = "/dataplans/policies/v1"
OVERWRITE = POLICIES + "/atomicOverwriteLogPolicies"
VIEWS = "/data-exploration/saved-views/v1"
ALERT_EVENTS = "/alerts/events/v3/alert-events"
CASES = "/cases/cases/v1"
INCIDENTS = "/incidents/incidents/v1"
INCIDENT_EVENTS = INCIDENTS + "/events"
CLOSE = INCIDENTS + "/close"
USAGE = "/dataplans/data-usage/v2/daily:units"

READING_POSTS = (VALIDATE, CASES, INCIDENTS)
"""What is asked by a POST and changes nothing."""
