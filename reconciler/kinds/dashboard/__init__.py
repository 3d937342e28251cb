"""The kind `Dashboard`."""

from __future__ import annotations

from reconciler.document import Json
from reconciler.kinds.dashboard import model
from reconciler.kinds.kind import ANY_STEP, DASHBOARD_ID, Endpoint, Essential, Grid, Kind

WRAPPERS = frozenset(
    (
        *("dashboard", "layout", "definition", "appearance", "options", "custom"),
        *("queryDefinitions", "metrics", "logs", "spans", "promqlQuery", "luceneQuery"),
        *("queryLanguage", "queryLanguageQuery", "text", "value"),
    )
)

SECTIONS = ("dashboard", "layout", "sections")
WIDGETS = (*SECTIONS, ANY_STEP, "rows", ANY_STEP, "widgets")
ESSENTIALS = (
    Essential(WIDGETS),
    *(
        Essential((*WIDGETS, ANY_STEP, "definition", ANY_STEP, *path, ANY_STEP, "value"), "queries")
        for path in (("query", ANY_STEP), ("queryDefinitions", ANY_STEP, "query", ANY_STEP))
    ),
    Essential(("dashboard", "relativeTimeFrame")),
    Essential(("dashboard", "folderPath", "segments"), "folderPath"),
    Essential(("dashboard", "variables")),
    Essential(("dashboard", "variablesV2")),
    Essential(("dashboard", "filters")),
    Essential(("isLocked",), usual=False),
)


def example() -> dict[str, Json]:
    """Return a small, useful `spec`."""
    return {
        "dashboard": {
            "name": "Checkout",
            "relativeTimeFrame": "900s",
            "layout": {
                "sections": [
                    {
                        "rows": [
                            {
                                "widgets": [
                                    {
                                        "title": "What this shows",
                                        "definition": {"markdown": {"markdownText": "# Checkout"}},
                                    }
                                ]
                            }
                        ]
                    }
                ]
            },
        }
    }


READ = "/v1/dashboards/dashboards/{dashboard_id}"
ENDPOINTS = (
    Endpoint(3, "POST", "/v1/dashboards/dashboards", "makes it", tells=False),
    Endpoint(4, "PUT", "/v1/dashboards/dashboards", "replaces it", tells=False),
    Endpoint(5, "GET", READ, "reads it by its id", sends=False),
    Endpoint(6, "GET", "/v1/dashboards/by-slug/{slug}", "reads it by its slug", sends=False),
)

DASHBOARD = Kind(
    name="Dashboard",
    noun="dashboard",
    spec=model.DashboardSpec,
    id_form=DASHBOARD_ID,
    check=model.check,
    queries=model.queries,
    identities=model.identities,
    declared_id=model.declared_id,
    title=("dashboard", "name"),
    from_export=model.from_export,
    inner_id=("dashboard", "id"),
    findable=True,
    batch_size=16,
    weakens=model.weakens,
    consents=(model.LOCKED,),
    essentials=ESSENTIALS,
    picture=Grid(SECTIONS),
    unsaid=WRAPPERS.union(*model.WidgetDefinition.alternatives),
    endpoints=ENDPOINTS,
    example=example,
    limits="The API cannot delete dashboards.",
)
