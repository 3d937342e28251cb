"""The models under test, and what a manifest of each kind looks like at least."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reconciler.document import Json
from reconciler.kinds import alert_definition, dashboard, log_policy_set, saved_view, slo
from reconciler.kinds.checks import lint
from reconciler.kinds.field_traits import Part
from reconciler.kinds.saved_view import SAVED_VIEW
from reconciler.syntax.diagnostic import Finding, Severity


@dataclass(frozen=True)
class SpecModel:
    """The face of one kind, and the least spec it takes without a finding."""

    spec: type[Part]
    check: Callable[[dict[str, Json]], Iterator[Finding]]
    least: dict[str, Json]

    def findings(self, spec: dict[str, Json]) -> list[Finding]:
        """Give all findings of a spec, generic and of the kind."""
        return [*lint(spec, self.spec), *self.check(spec)]

    def codes(self, spec: dict[str, Json]) -> list[str]:
        """Give the codes of a spec's findings, warnings with a `?`."""
        return [code_of(finding) for finding in self.findings(spec)]

    def of(self, **fields: Json) -> list[Finding]:
        """Give the findings of the least spec with some more fields."""
        return self.findings(self.with_more(**fields))

    def codes_of(self, **fields: Json) -> list[str]:
        """Give the codes of the least spec with some more fields."""
        return self.codes(self.with_more(**fields))

    def with_more(self, **fields: Json) -> dict[str, Json]:
        """Give the least spec with some more fields, one of which may stand for one of its own."""
        instead = {
            *(key for group in self.spec.alternatives if group & fields.keys() for key in group),
            *("type" for key in fields if key.endswith(("Immediate", "Threshold"))),
        }
        least = {key: value for key, value in self.least.items() if key not in instead}
        return {**least, **fields}


def code_of(finding: Finding) -> str:
    """Give a finding's code, with a `?` where it is a warning."""
    return finding.code + ("?" if finding.severity is Severity.WARNING else "")


ALERT = SpecModel(
    alert_definition.AlertDefinitionSpec,
    alert_definition.check,
    {
        "name": "Checkout errors",
        "type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
        "logsImmediate": {},
    },
)
SLO = SpecModel(
    slo.SloSpec,
    slo.check,
    {
        "name": "Checkout",
        "targetThresholdPercentage": 99.9,
        "requestBasedMetricSli": {"goodEvents": {"query": "good"}, "totalEvents": {"query": "all"}},
    },
)
DASHBOARD = SpecModel(dashboard.DashboardSpec, dashboard.check, {"dashboard": {"name": "Checkout"}})
POLICIES = SpecModel(log_policy_set.LogPolicySetSpec, log_policy_set.check, {"policies": []})
VIEW = SpecModel(
    saved_view.SavedViewSpec,
    SAVED_VIEW.check,
    {"name": "Errors", "timeSelection": {"quickSelection": {"seconds": 900}}},
)

MODELS = {
    "AlertDefinition": ALERT,
    "SLO": SLO,
    "Dashboard": DASHBOARD,
    "LogPolicySet": POLICIES,
    "SavedView": VIEW,
}


def board(**fields: Json) -> dict[str, Json]:
    """Give the spec of a dashboard with these fields."""
    return {"dashboard": {"name": "Checkout", **fields}}


def widget_board(**fields: Json) -> dict[str, Json]:
    """Give the spec of a dashboard whose only widget has these fields."""
    widget: Json = {"definition": {"markdown": {}}, **fields}
    return board(layout={"sections": [{"rows": [{"widgets": [widget]}]}]})


def policy(**fields: Json) -> dict[str, Json]:
    """Give an item of a policy list that has all an overwrite needs, and these fields."""
    needed: dict[str, Json] = {
        "name": "errors",
        "description": "",
        "priority": "PRIORITY_TYPE_HIGH",
        **fields,
    }
    return {"logRules": {"severities": ["SEVERITY_ERROR"]}, "policy": needed}
