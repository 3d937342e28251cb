"""Numbers that no service means, in every place where a report reckons with one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from sample_plans import dashboard, plan_of, rewritten, updated, widget

from reconciler.document import Json
from reconciler.model import Plan
from reconciler.report.html import plan_html
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.table import Style

ABSURD = st.one_of(
    st.integers(-2, 200),
    st.sampled_from((10**18, 10**400, -(10**400), 10**4_000, 2**1_024)),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(("9" * 5_000 + "s", "9" * 5_000, "-1s", "²s", True, None, [1])),
)


def board(height: Json, *widths: Json) -> dict[str, Json]:
    """Give a dashboard of one row, its height and the widths of its widgets as they come."""
    widgets = [
        {**widget(f"w{place}", "up"), "appearance": {"width": width}}
        for place, width in enumerate(widths)
    ]
    spec = dashboard("Checkout", *widgets)
    inner = spec["dashboard"]
    assert isinstance(inner, dict)
    inner["layout"] = {
        "sections": [{"rows": [{"appearance": {"height": height}, "widgets": [*widgets]}]}]
    }
    return spec


def objective(target: Json) -> dict[str, Json]:
    """Give an SLO with a target as it comes."""
    return {
        "name": "Checkout",
        "targetThresholdPercentage": target,
        "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
        "windowBasedMetricSli": {"window": target},
    }


def shown(plan: Plan) -> str:
    """Show a plan in every format."""
    text = plan_text(plan, Style(verbose=True)) + plan_text(plan, Style(width=60))
    return text + plan_markdown(plan) + plan_html(plan) + plan_json(plan)


@given(st.lists(ABSURD, min_size=3, max_size=3), st.lists(ABSURD, min_size=3, max_size=3))
def test_grids(before: list[Json], after: list[Json]) -> None:
    """Whatever sizes a dashboard has, it is drawn."""
    sides = (board(*before), board(*after))
    plan = plan_of([updated("Dashboard", "checkout", *sides)])

    assert "checkout" in shown(plan)


@given(ABSURD, ABSURD)
def test_objectives(before: Json, after: Json) -> None:
    """A target that is no share is said as a field, and never reckoned with."""
    plan = plan_of([updated("SLO", "checkout", objective(before), objective(after))])

    assert "checkout" in shown(plan)


@given(ABSURD, ABSURD)
def test_times(before: Json, after: Json) -> None:
    """A time that is none is said as it is."""
    sides: tuple[dict[str, Json], ...] = tuple(
        {"name": "Errors", "incidentsSettings": {"minutes": side}} for side in (before, after)
    )
    plan = plan_of([rewritten("errors", *sides)])

    assert "errors" in shown(plan)
