"""The kind `LogPolicySet`."""

from __future__ import annotations

from reconciler.document import Json
from reconciler.kinds.kind import NO_ID, Bearing, Endpoint, Essential, Kind, Ranking
from reconciler.kinds.log_policy_set.model import SEVERITIES, LogPolicySetSpec, check, takes_logs_of


def example() -> dict[str, Json]:
    """Return a small, useful `spec`."""
    return {
        "policies": [
            {
                "logRules": {"severities": ["SEVERITY_ERROR", "SEVERITY_CRITICAL"]},
                "policy": {
                    "name": "errors",
                    "description": "Keep errors.",
                    "priority": "PRIORITY_TYPE_HIGH",
                },
            }
        ]
    }


ENDPOINTS = (
    Endpoint(15, "GET", "/dataplans/policies/v1", "reads all", sends=False),
    Endpoint(17, "POST", "/dataplans/policies/v1/atomicOverwriteLogPolicies", "replaces all"),
)

LOG_POLICY_SET = Kind(
    name="LogPolicySet",
    noun="policies",
    spec=LogPolicySetSpec,
    id_form=NO_ID,
    check=check,
    findable=True,
    singleton=True,
    bearing=Bearing(takes_logs_of=takes_logs_of),
    destroyable=("policies",),
    needed=(SEVERITIES,),
    essentials=(Essential(("policies",)),),
    picture=Ranking(
        ("policies",),
        ("policy", "name"),
        (("policy", "priority"), ("policy", "disabled"), ("logRules", "severities")),
    ),
    sampled=True,
    unsaid=frozenset(("policy", "logRules")),
    endpoints=ENDPOINTS,
    example=example,
    limits="The overwrite destroys every policy that the list leaves out. "
    "Severities may not be returned: then they are compared with the journal.",
)
