"""`metadata.protect`: nothing changes, until an earlier apply has lifted it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sample_objections as samples
from harness.routes import SLOS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    assert_settled,
    dashboard,
    manifest,
    policy,
    policy_set,
)

from reconciler.document import Difference, Json
from reconciler.model import Action, Manifest, ProtectionTurns, Ref
from reconciler.planning.guards import Agreed, objections, unmet
from reconciler.project import Guards


def declared(ref: str, spec: dict[str, Json], edit: dict[str, Json]) -> tuple[Manifest, Manifest]:
    """Give a resource and an edited one."""
    remote_id = ALERT_ID if ref.startswith("AlertDefinition") else None
    return manifest(ref, spec, remote_id), manifest(ref, {**spec, **edit}, remote_id)


EDITS = [
    declared("AlertDefinition/errors", ALERT_SPEC, {"name": "Other"}),
    declared("SLO/checkout", SLO_SPEC, {"description": "new"}),
    declared("SavedView/errors", VIEW_SPEC, {"name": "Other"}),
    (dashboard(), dashboard(description="new")),
    (policy_set(policy("a")), policy_set(policy("a", description="new"))),
]
KINDS = pytest.mark.parametrize(("first", "edited"), EDITS, ids=lambda one: one.ref.kind)


def protected(one: Manifest) -> Manifest:
    """Give it with `protect: true`."""
    return replace(one, protect=True)


def codes(site: Site, *manifests: Manifest) -> list[str]:
    """Give the codes of what an apply would refuse."""
    return [objection.code for objection in objections(site.plan(*manifests), Guards())]


@KINDS
def test_no_change(site: Site, first: Manifest, edited: Manifest) -> None:
    """A protected resource is not changed, not even where the same merge lifts its protection."""
    site.apply(protected(first))

    assert codes(site, protected(edited)) == codes(site, edited) == ["protected"]
    assert codes(site, protected(first)) == []
    (objection,) = objections(site.plan(edited), Guards())
    assert unmet([objection], Agreed(flags={"allow-destroy"}, override=False)) == (objection,)
    assert unmet([objection], Agreed(override=True)) == ()


@KINDS
def test_lifted_before(site: Site, first: Manifest, edited: Manifest) -> None:
    """Lifting alone is journaled without a request, and the next merge may change the resource."""
    site.apply(protected(first))
    site.forget()

    lifting = site.plan(first)
    site.apply(plan=lifting)

    assert [change.action for change in lifting.changes] == [Action.KEEP]
    assert ProtectionTurns(begins=False) in lifting.changes[0].reasons
    assert site.writes == []
    assert codes(site, edited) == []
    assert not site.plan(first).turns_protection
    assert_settled(site, first)


@KINDS
def test_begun_later(site: Site, first: Manifest, edited: Manifest) -> None:
    """Protecting alone is journaled too, and holds from then on."""
    site.apply(first)
    before = site.plan(first).digest

    beginning = site.plan(protected(first))
    site.apply(plan=beginning)

    assert beginning.digest != before
    assert ProtectionTurns(begins=True) in beginning.changes[0].reasons
    assert codes(site, edited) == ["protected"]
    assert_settled(site, protected(first))


def test_edited_live(site: Site) -> None:
    """A protected resource is not declared as someone edited it live, though nothing is sent."""
    site.apply(protected(manifest("SLO/checkout", {**SLO_SPEC, "description": "ours"})))
    remote_id = site.journal.history.of(Ref("SLO", "checkout")).remote_id
    edited = manifest("SLO/checkout", {**SLO_SPEC, "description": "by hand"})
    site.outside("PUT", SLOS, {**edited.spec, "id": remote_id})

    made = site.plan(protected(edited))

    assert made.changes[0].action is Action.KEEP
    assert codes(site, protected(edited)) == codes(site, edited) == ["protected"]
    site.apply(plan=made)
    assert codes(site, protected(edited)) == []


def test_declared_at_last(site: Site) -> None:
    """A field that live has had all along may be declared of a protected resource."""
    site.apply(protected(manifest("SLO/checkout", SLO_SPEC)))
    stored = site.plan(protected(manifest("SLO/checkout", SLO_SPEC))).changes[0].before
    assert isinstance(stored, dict)
    known = {key: value for key, value in stored.items() if key in ("labels", "grouping")}

    assert codes(site, protected(manifest("SLO/checkout", {**SLO_SPEC, **known}))) == []


def test_another_name(site: Site) -> None:
    """A new name in the workspace is no way around the protection of the same resource."""
    site.apply(protected(manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID)))
    site.apply(protected(policy_set(policy("a"))))
    renamed = manifest("AlertDefinition/renamed", {**ALERT_SPEC, "name": "New"}, ALERT_ID)
    other = manifest("LogPolicySet/other", {"policies": [policy("a", description="new")]})

    assert codes(site, renamed) == codes(site, other) == ["protected"]


def test_refused_protection(site: Site) -> None:
    """A write that never happened protects nothing."""
    site.apply(dashboard())
    made = site.plan(protected(dashboard(description="new")))
    site.outside(
        "PUT",
        "/v1/dashboards/dashboards",
        {
            "dashboard": {
                **site.outside("GET", "/v1/dashboards/by-slug/checkout")["dashboard"],
                "description": "theirs",
            },
            "requestId": "x",
        },
    )

    assert site.apply(plan=made).exit_codes == {6}
    assert codes(site, dashboard(description="new")) == []


def test_override_keeps_protection(site: Site) -> None:
    """A change that was forced through leaves the resource as protected as it declares."""
    site.apply(protected(dashboard()))

    site.apply(protected(dashboard(description="forced")))

    assert codes(site, dashboard(description="again")) == ["protected"]


def test_accepted_edit() -> None:
    """The refusal of an edit that someone made live says that it is an edit of so many fields."""
    (found,) = objections(
        samples.plan(
            replace(
                samples.planned(samples.BOARD, Action.KEEP),
                protected=True,
                since_applied=(Difference(samples.TITLE, "a", "b"),),
            )
        ),
        Guards(),
    )

    assert "edit of 1 field " in found.said
