"""The kind `Dashboard`."""

from reconciler.kinds.dashboard.export import from_export
from reconciler.kinds.dashboard.layout import WidgetDefinition
from reconciler.kinds.dashboard.model import DashboardSpec, check
from reconciler.kinds.dashboard.remote import complete, identities, observe, write
from reconciler.kinds.dashboard.weakening import LOCKED, weakens
from reconciler.kinds.ids import DASHBOARD_ID
from reconciler.kinds.kind import Kind
from reconciler.kinds.picture import Grid

WRAPPERS = frozenset(
    (
        *("dashboard", "layout", "definition", "appearance", "options", "custom"),
        *("queryDefinitions", "metrics", "logs", "spans", "promqlQuery", "luceneQuery"),
        *("queryLanguage", "queryLanguageQuery", "text", "value"),
    )
)

DASHBOARD = Kind(
    name="Dashboard",
    spec=DashboardSpec,
    id_form=DASHBOARD_ID,
    observe=observe,
    write=write,
    check=check,
    identities=identities,
    complete=complete,
    from_export=from_export,
    findable=True,
    batch_size=16,
    weakens=weakens,
    consents=(LOCKED,),
    picture=Grid(("dashboard", "layout", "sections")),
    unsaid=WRAPPERS.union(*WidgetDefinition.alternatives),
    limits="The API cannot delete dashboards.",
)
