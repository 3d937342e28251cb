"""Random workspaces and random edits: one apply settles each, and the plan tells no lie."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from harness.profiles import WAITING, Position, profiles
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    assert_settled,
    manifest,
    policy,
    policy_set,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconciler.document import Json, differences
from reconciler.emulator import Profile, create_app
from reconciler.kinds import BY_NAME
from reconciler.model import Manifest, Ref, Seen

FEW = settings().max_examples // 4

words = st.sampled_from(["", "a", "b", "0", "ü", "X_UNSPECIFIED", " padded "])
scalars: st.SearchStrategy[Json] = words | st.sampled_from([0, 1, 1.0, 2.5, True, False, None])
opaque: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=5,
)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Give objects with any of some fields."""
    return st.fixed_dictionaries({}, optional=fields)


named = st.lists(st.sampled_from("pqrs"), unique=True, max_size=4)


@st.composite
def slos(draw: st.DrawFn) -> Manifest:
    """Draw an SLO."""
    fields = optional(
        description=words,
        labels=st.dictionaries(st.sampled_from("kl"), st.sampled_from("vw"), max_size=2),
        grouping=st.fixed_dictionaries({"labels": named}),
        targetThresholdPercentage=st.sampled_from([99, 99.0, 99.9]),
    )
    return manifest("SLO/one", {**SLO_SPEC, **draw(fields)})


@st.composite
def alerts(draw: st.DrawFn) -> Manifest:
    """Draw an alert."""
    fields = optional(
        description=words,
        enabled=st.booleans(),
        groupByKeys=named,
        entityLabels=st.dictionaries(st.sampled_from("kl"), st.sampled_from("vw"), max_size=2),
        phantomMode=st.booleans(),
    )
    return manifest("AlertDefinition/one", {**ALERT_SPEC, **draw(fields)}, ALERT_ID)


labels = st.sampled_from(["t", "u", " t ", "T", "e\u0301", "X_UNSPECIFIED"])


def _widget(title: str, definition: dict[str, Json]) -> Json:
    return {"title": title, "definition": {"dynamic": definition}}


def _section(name: str, rows: list[Json]) -> Json:
    return {"options": {"custom": {"name": name}}, "rows": rows}


def _filter(name: str, label: str) -> Json:
    return {"displayName": name, "source": {"metrics": {"label": label, "metric": "m"}}}


@st.composite
def dashboards(draw: st.DrawFn) -> Manifest:
    """Draw a dashboard with sections, rows and widgets, without ids."""
    definitions = st.dictionaries(st.sampled_from("abc"), opaque, max_size=3)
    widgets = st.lists(st.builds(_widget, labels, definitions), max_size=3)
    rows = st.lists(
        st.builds(
            lambda inner, height: {"widgets": inner, "appearance": {"height": height}},
            widgets,
            st.sampled_from([5, 9]),
        ),
        max_size=2,
    )
    fields = optional(
        description=words,
        relativeTimeFrame=st.sampled_from(["60s", "900s"]),
        layout=st.lists(st.builds(_section, labels, rows), max_size=2).map(
            lambda sections: {"sections": sections}
        ),
        filters=st.lists(st.builds(_filter, labels, words), max_size=3),
        variables=st.lists(labels, max_size=3, unique_by=str.strip).map(
            lambda names: [{"name": name} for name in names]
        ),
        variablesV2=named.map(
            lambda names: [{"name": name, "displayName": name} for name in names]
        ),
        somethingNew=opaque,
    )
    spec: dict[str, Json] = {"dashboard": {"name": "One", **draw(fields)}}
    if draw(st.booleans()):
        spec["isLocked"] = draw(st.booleans())
    return manifest("Dashboard/one", spec)


@st.composite
def policy_sets(draw: st.DrawFn) -> Manifest:
    """Draw a list of policies."""
    items = []
    for name in draw(named):
        fields = optional(
            disabled=st.booleans(),
            priority=st.sampled_from(["PRIORITY_TYPE_LOW", "PRIORITY_TYPE_HIGH"]),
            applicationRule=st.just({"name": "x", "ruleTypeId": "RULE_TYPE_ID_IS"}),
            archiveRetention=st.just({"id": "r"}),
        )
        severities = draw(st.lists(st.sampled_from(["INFO", "ERROR"]), unique=True, min_size=1))
        items.append(policy(name, *severities, **draw(fields)))
    return policy_set(*items)


@st.composite
def views(draw: st.DrawFn) -> Manifest:
    """Draw a saved view."""
    fields = optional(
        isCompactMode=st.booleans(),
        viewType=st.sampled_from(["VIEW_TYPE_LOGS", "VIEW_TYPE_UNSPECIFIED"]),
        filters=st.just({"filters": [{"name": "level", "selectedValues": {"error": True}}]}),
    )
    return manifest("SavedView/one", {**VIEW_SPEC, **draw(fields)})


def live(site: Site, declared: tuple[Manifest, ...]) -> dict[Ref, Json]:
    """Give the live documents of what can be read."""
    return {
        change.ref: change.observation.document
        for change in site.plan(*declared).changes
        if isinstance(change.observation, Seen)
    }


workspaces = st.tuples(slos(), alerts(), dashboards(), policy_sets(), views())
WAITING_HERE: dict[Position, str] = {
    **WAITING,
    ("slis", "documented"): "an SLO that is created from one SLI is replaced by the other only",
    ("requiredLists", "left_out"): "policies and alerts are answered with nothing but lists",
    ("requiredLists", "empty_left_out"): "these worlds begin without any policy",
    ("unknownFields", "refused"): "these dashboards hold a field that the document does not show",
}
"""Positions of switches that are not drawn here, each with its reason."""


@pytest.mark.slow
@settings(max_examples=FEW, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(workspaces, min_size=1, max_size=3), profiles(WAITING_HERE))
def test_settled_at_once(versions: list[tuple[Manifest, ...]], profile: Profile) -> None:
    """After each full apply everything is kept, whatever was declared before (I3, I6)."""
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), create_app(alert_ids=[ALERT_ID], profile=profile))
        for declared in versions:
            applied = site.apply(*declared)
            assert applied.exit_codes == set(), applied.outcomes
            assert_settled(site, *declared)


@pytest.mark.slow
@settings(max_examples=FEW, suppress_health_check=[HealthCheck.too_slow])
@given(workspaces, workspaces)
def test_way_back(first: tuple[Manifest, ...], second: tuple[Manifest, ...]) -> None:
    """Declaring again what was declared before restores what live was then."""
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), create_app(alert_ids=[ALERT_ID]))
        site.apply(*first)
        before = live(site, first)
        site.apply(*second)

        site.apply(*first)

        after = live(site, first)
        assert [
            difference
            for ref, document in before.items()
            for difference in differences(document, after[ref], BY_NAME[ref.kind].shape)
        ] == []


@pytest.mark.slow
@settings(max_examples=FEW, suppress_health_check=[HealthCheck.too_slow])
@given(workspaces, workspaces)
def test_deed_as_word(first: tuple[Manifest, ...], second: tuple[Manifest, ...]) -> None:
    """What is not in a plan's changes is not written, and each write has its line."""
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), create_app(alert_ids=[ALERT_ID]))
        site.apply(*first)
        made = site.plan(*second)
        site.forget()
        site.apply(plan=made)

        writing = [change for change in made.changes if change.action.writes]
        assert all(change.differences for change in writing)
        assert len(site.writes) == len(writing)
