"""The kind `LogPolicySet`."""

from reconciler.document import Json
from reconciler.kinds.endpoints import Endpoint
from reconciler.kinds.kind import NO_ID, Essential, Kind, Ranking
from reconciler.kinds.log_policy_set.model import LogPolicySetSpec, check
from reconciler.kinds.log_policy_set.remote import observe, write


def example() -> dict[str, Json]:
    """Give a small `spec` that says something."""
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
    observe=observe,
    write=write,
    check=check,
    findable=True,
    singleton=True,
    destroyable=("policies",),
    essentials=(Essential(("policies",)),),
    picture=Ranking(
        ("policies",),
        ("policy", "name"),
        (("policy", "priority"), ("policy", "disabled"), ("logRules", "severities")),
    ),
    unsaid=frozenset(("policy", "logRules")),
    endpoints=ENDPOINTS,
    example=example,
    limits="The overwrite destroys every policy that the list leaves out. "
    "Severities may not be returned: then they are compared with the journal.",
)
