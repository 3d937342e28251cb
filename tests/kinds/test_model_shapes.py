from __future__ import annotations

import pytest
from spec_models import MODELS

from reconciler.document import ANY, Json, Shape, differences, merge, same
from reconciler.kinds.shape import shape_of


def shape_at(kind: str, path: str) -> Shape:
    """Give the shape at a path, `[]` standing for the items of a list."""
    shape = shape_of(MODELS[kind].spec)
    for step in path.replace("[]", ".[]").split("."):
        shape = shape.item if step == "[]" else shape.at(step)
    return shape


@pytest.mark.parametrize(
    ("kind", "path", "identity"),
    [
        ("Dashboard", "dashboard.layout.sections", ("id", "value")),
        ("Dashboard", "dashboard.layout.sections[].rows", ("id", "value")),
        ("Dashboard", "dashboard.layout.sections[].rows[].widgets", ("id", "value")),
        ("Dashboard", "dashboard.filters", ("id", "value")),
        ("Dashboard", "dashboard.variablesV2", ("id", "value")),
        ("Dashboard", "dashboard.variables", ("name",)),
        ("Dashboard", "dashboard.annotations", ("id",)),
        ("Dashboard", "dashboard.actions", ("id",)),
        ("LogPolicySet", "policies", ("policy", "name")),
        ("SavedView", "filters.filters", ("name",)),
        ("AlertDefinition", "notificationGroup.destinations", ()),
    ],
)
def test_identities(kind: str, path: str, identity: tuple[str, ...]) -> None:
    """Lists whose items have a name or id are compared by it, ordered lists by place."""
    assert shape_at(kind, path).identity == identity
    assert not shape_at(kind, path).unordered


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("AlertDefinition", "groupByKeys"),
        ("AlertDefinition", "notificationGroup.groupByKeys"),
        ("AlertDefinition", "notificationGroupExcess[].groupByKeys"),
        ("AlertDefinition", "activeOn.dayOfWeek"),
        ("AlertDefinition", "logsThreshold.logsFilter.simpleFilter.labelFilters.severities"),
        ("LogPolicySet", "policies[].logRules.severities"),
        ("SLO", "grouping.labels"),
        ("Dashboard", "dashboard.annotations[].scope.specificWidgets.widgetIds"),
    ],
)
def test_sets(kind: str, path: str) -> None:
    """The order of labels, days and severities means nothing."""
    shape = shape_at(kind, path)

    assert same(["a", "b"], ["b", "a"], shape)


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (
            "AlertDefinition",
            "tracingImmediate.tracingFilter.simpleFilter.latencyThresholdMs",
        ),
        ("AlertDefinition", "flow.stages[].timeframeMs"),
        ("AlertDefinition", "logsUniqueCount.rules[].condition.maxUniqueCount"),
    ],
)
def test_int64_is_compared_as_a_number(kind: str, path: str) -> None:
    """An int64 that comes back in the other form is no difference."""
    assert same("1000", 1000, shape_at(kind, path))


def test_what_is_opaque_has_no_shape() -> None:
    """The inside of a widget's definition is unknown, a map of labels is not."""
    widget = "dashboard.layout.sections[].rows[].widgets[].definition"

    assert shape_at("Dashboard", f"{widget}.gauge") is ANY
    assert shape_at("AlertDefinition", "entityLabels").known


def test_a_map_keeps_labels_nobody_declared() -> None:
    """Labels that share no key with the live ones are added to them."""
    labels = shape_at("AlertDefinition", "entityLabels")

    assert merge({}, {"team": "a"}, {"tier": "1"}, labels) == {"team": "a", "tier": "1"}


def test_another_choice_ousts_the_live_one() -> None:
    """A widget that becomes another kind does not keep the old one beside it."""
    widget = shape_at("Dashboard", "dashboard.layout.sections[].rows[].widgets[]")
    live: Json = {"definition": {"gauge": {}}}
    declared: Json = {"definition": {"markdown": {}}}

    merged = merge({}, declared, live, widget)

    assert merged == declared
    assert [change.operation for change in differences(live, merged, widget)] == ["add", "remove"]
