"""The kinds of resources."""

from functools import cache

from reconciler.kinds.alert_definition import ALERT_DEFINITION
from reconciler.kinds.dashboard import DASHBOARD
from reconciler.kinds.kind import Kind
from reconciler.kinds.log_policy_set import LOG_POLICY_SET
from reconciler.kinds.saved_view import SAVED_VIEW
from reconciler.kinds.slo import SLO

KINDS: tuple[Kind, ...] = (SLO, ALERT_DEFINITION, DASHBOARD, LOG_POLICY_SET, SAVED_VIEW)
"""Every kind, in the order in which they are applied: what others refer to comes first."""

BY_NAME: dict[str, Kind] = {kind.name: kind for kind in KINDS}


@cache
def only_asked() -> frozenset[str]:
    """Give the codes of the checks of practice that are made where `checks:` asks for them."""
    return frozenset(one.code for kind in KINDS for one in kind.practices() if one.asked)
