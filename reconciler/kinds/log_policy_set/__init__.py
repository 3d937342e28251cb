"""The kind `LogPolicySet`."""

from reconciler.kinds.essential import Essential
from reconciler.kinds.ids import NO_ID
from reconciler.kinds.kind import Kind
from reconciler.kinds.log_policy_set.model import LogPolicySetSpec, check
from reconciler.kinds.log_policy_set.remote import observe, write
from reconciler.kinds.picture import Ranking

LOG_POLICY_SET = Kind(
    name="LogPolicySet",
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
    limits="The overwrite destroys every policy that the list leaves out. "
    "Severities may not be returned: then they are compared with the journal.",
)
