"""What a plan tells of samples: asked in bounded batches, and honest about what is unknown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness.sites import PLACE, Site, answer_with, dashboard, policy, policy_set

from reconciler.api.client import Api
from reconciler.emulator import Profile, create_app
from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    PolicySample,
    Samples,
)
from reconciler.features.policy_samples.sample_impact import failing_samples, policy_impact
from reconciler.model import GuardViolation, Manifest, Plan
from reconciler.planning.guards import Agreed, objections, unmet
from reconciler.project import Guards

POLICIES = "/dataplans/policies/v1"
TEST = f"{POLICIES}/bulkTestLog"
ERROR = PolicySample("shop", "cart", "SEVERITY_ERROR", "errors", expects=True)
INFO = PolicySample("shop", "cart", "SEVERITY_INFO")
HIGH = "PRIORITY_TYPE_HIGH"
OLD = policy_set(policy("errors", "ERROR"), policy("rest", "ERROR", "INFO"))
NEW = policy_set(policy("rest", "ERROR", "INFO"), policy("errors", "ERROR"))


def told(
    site: Site, wanted: Manifest, *rows: PolicySample, beside: tuple[Manifest, ...] = ()
) -> Plan:
    """Plan with these samples."""
    made = site.plan(wanted, *beside)

    async def ask(api: Api) -> Plan:
        impact = await policy_impact(api, made, Samples(rows))
        return made if impact is None else made.with_section(impact)

    return site.ask(ask)


def impact_in(plan: Plan) -> PolicyImpact:
    """Give what a plan tells of the samples."""
    impact = plan.section(PolicyImpact)
    assert impact is not None
    return impact


def test_both_sides(site: Site) -> None:
    """Today is what the service tells, tomorrow what the declared list says."""
    site.apply(OLD)
    impact = impact_in(told(site, NEW, ERROR, INFO))

    assert [answer.before for answer in impact.answers] == [Met("errors", HIGH), Met("rest", HIGH)]
    assert [answer.after for answer in impact.answers] == [Met("rest", HIGH)] * 2
    assert [change.sample for change in impact.changes] == [ERROR]
    assert [failure.sample for failure in impact.failures] == [ERROR]
    assert impact.shadowed == ("errors",)
    assert impact.agreement == 1


def test_batches(site: Site) -> None:
    """A thousand samples are asked for in ten requests."""
    site.apply(OLD)
    site.forget()
    rows = [replace(INFO, application=f"a{number}") for number in range(1_000)]

    assert len(impact_in(told(site, NEW, *rows)).answers) == 1_000
    assert site.count("POST", TEST) == 10


def objected(made: Plan, guards: Guards) -> list[GuardViolation]:
    """Give all that a plan would need consent for."""
    return [*objections(made, guards), *failing_samples(made, guards)]


def test_the_guard(site: Site) -> None:
    """A failing sample is an objection of one code, lifted by review, override or the project."""
    site.apply(OLD)
    made = told(site, NEW, ERROR, INFO)
    (objection,) = objected(made, Guards())

    assert objection.code == "policy-samples"
    assert unmet([objection], Agreed())
    assert not unmet([objection], Agreed(reviewed=True))
    assert not unmet([objection], Agreed(override=True))
    assert not objected(made, Guards.model_validate({"allow": ["policy-samples"]}))


def test_nothing_to_write(site: Site) -> None:
    """Where nothing is written, tomorrow is what the service tells, and no guard stands."""
    site.apply(NEW)
    made = told(site, NEW, ERROR)

    assert impact_in(made).failures
    assert not impact_in(made).changes
    assert not objected(made, Guards())


def test_an_unread_list(site: Site) -> None:
    """Where the live list cannot be read, nothing is said of any sample."""
    site.apply(OLD)
    site.meddle("GET", POLICIES, *[answer_with(200, {"nothing": []})] * 9)
    impact = impact_in(told(site, NEW, ERROR, beside=(dashboard(),)))

    assert impact.unasked
    assert impact.agreement is None
    assert not impact.failures
    assert [(answer.before, answer.after) for answer in impact.answers] == [(None, None)]


@pytest.mark.parametrize(
    "results",
    [
        [],
        [{"matched": True}],
        [{"matched": True, "policy": {}}],
        [{"matched": "yes", "policy": {"name": "rest"}}],
        [{"policy": {"name": "rest"}}],
        ["rest"],
    ],
)
def test_unreadable_answers(site: Site, results: list[object]) -> None:
    """An answer that does not say which policy a sample meets is no answer, and no error."""
    site.apply(OLD)
    site.meddle("POST", TEST, *[answer_with(200, {"testPoliciesBulkResult": results})] * 9)  # type: ignore[dict-item]  # any JSON

    assert impact_in(told(site, NEW, ERROR)).unasked


def test_answers_in_another_order(site: Site) -> None:
    """Answers that repeat the questions in another order are not taken for the answers."""
    site.apply(OLD)
    rows = [
        {
            "applicationNameValues": sample.application,
            "subsystemNameValues": sample.subsystem,
            "severityValues": sample.severity,
        }
        for sample in (INFO, ERROR)
    ]
    results = [{"matched": False, "metaFieldsValues": row} for row in rows]
    site.meddle("POST", TEST, answer_with(200, {"testPoliciesBulkResult": results}))  # type: ignore[dict-item]  # any JSON

    assert impact_in(told(site, NEW, ERROR, INFO)).unasked


def test_a_service_that_says_less(tmp_path: Path) -> None:
    """A service that leaves out what is false, empty or unspecified is read all the same."""
    site = Site(tmp_path, create_app(profile=Profile(zero_values="dropped")))
    site.apply(policy_set(policy("errors", "ERROR", priority="PRIORITY_TYPE_UNSPECIFIED")))
    impact = impact_in(told(site, OLD, ERROR, INFO))

    assert [answer.before for answer in impact.answers] == [Met("errors"), Met()]
    assert impact.agreement == 1


def test_assumed_case(tmp_path: Path) -> None:
    """A deployment that takes no notice of capitals agrees once the project file says so."""
    site = Site(tmp_path, create_app(profile=Profile(policy_names="any_case")))
    rule = {"name": "Shop", "ruleTypeId": "RULE_TYPE_ID_IS"}
    site.apply(policy_set(policy("errors", "ERROR", applicationRule=rule)))  # type: ignore[arg-type]  # JSON
    made = site.plan(OLD, place=PLACE)

    async def ask(api: Api) -> tuple[PolicyImpact | None, PolicyImpact | None]:
        samples = Samples((ERROR,))
        exact = await policy_impact(api, made, samples)
        said = api.assumptions.model_copy(update={"policy_names": "anyCase"})
        api.assumptions = said
        return exact, await policy_impact(api, made, samples)

    exact, any_case = site.ask(ask)
    assert exact is not None
    assert any_case is not None
    assert (exact.agreement, any_case.agreement) == (0, 1)
