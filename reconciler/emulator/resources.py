"""Everything the emulator knows: the only list of its resources."""

from reconciler.emulator.alert_definitions import ALERT_DEFINITIONS
from reconciler.emulator.alert_events import ALERT_EVENTS
from reconciler.emulator.cases import CASES
from reconciler.emulator.dashboards import DASHBOARDS
from reconciler.emulator.data_usage import DATA_USAGE
from reconciler.emulator.endpoint import Resource
from reconciler.emulator.incidents import INCIDENTS
from reconciler.emulator.life import LIFE
from reconciler.emulator.log_policies import LOG_POLICIES
from reconciler.emulator.saved_views import SAVED_VIEWS
from reconciler.emulator.slos import SLOS

SEEDED = Resource(tables=("seeds (name TEXT PRIMARY KEY)",), endpoints=())
"""Which seeds were put in."""

RESOURCES = (
    ALERT_DEFINITIONS,
    ALERT_EVENTS,
    DASHBOARDS,
    CASES,
    INCIDENTS,
    SLOS,
    LOG_POLICIES,
    DATA_USAGE,
    SAVED_VIEWS,
    LIFE,
    SEEDED,
)
