"""What a run does with a plan: batches, stop rules, references, and what it reads again."""

from __future__ import annotations

import httpx
import pytest
from harness.golden import Golden
from harness.routes import ALERTS, BY_SLUG, DASHBOARDS, OVERWRITE, POLICIES, SLOS, VIEWS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Meddler,
    Site,
    actions,
    answer_with,
    assert_settled,
    dashboard,
    manifest,
    outcomes,
    policy,
    policy_set,
    unreachable,
    untouched,
    watching,
)

from reconciler.document import Json
from reconciler.model import Manifest, Ref, Skipped
from reconciler.redaction.templates import RefHole, Template

SLO = Ref("SLO", "checkout")
CHECKOUT = manifest("SLO/checkout", SLO_SPEC)
VIEW = manifest("SavedView/errors", VIEW_SPEC)


@pytest.fixture
def site(either_site: Site) -> Site:
    """Each law holds whether alerts and views can be read or not."""
    return either_site


def leading(to: str, name: str = "start") -> Manifest:
    """Give a dashboard whose action leads to another one."""
    target: Json = Template((RefHole(Ref("Dashboard", to)),))
    action: Json = {
        "id": "a",
        "name": "Go",
        "definition": {"goToDashboardAction": {"dashboardId": target}},
    }
    return manifest(f"Dashboard/{name}", {"dashboard": {"name": name, "actions": [action]}})


def test_reference_known_after_apply(site: Site) -> None:
    """An id that does not exist yet is open in the plan, and filled in when it is known."""
    change = site.change(watching(), CHECKOUT)
    site.apply(watching(), CHECKOUT)

    assert change.awaits == {SLO}
    sent = site.writes[-1].body["alertDefsToReplace"][0]["alertDefProperties"]
    assert sent["sloThreshold"]["sloDefinition"]["sloId"] == site.journal.history.of(SLO).remote_id
    assert_settled(site, watching(), CHECKOUT)


def test_declared_order_means_nothing(site: Site) -> None:
    """What is referred to is written first, in whatever order it is declared."""
    site.apply(leading("end"), dashboard("end"))

    first, second = (write.body["dashboard"] for write in site.writes)
    assert first["slugName"] == "end"
    assert (
        second["actions"][0]["definition"]["goToDashboardAction"]["dashboardId"]
        == (site.writes[0].answer["dashboardId"])
    )
    assert_settled(site, leading("end"), dashboard("end"))


def test_failed_resource(site: Site, golden: Golden) -> None:
    """A refusal skips what depends on it, and what depends on that, and nothing else."""
    chain = [dashboard("end"), leading("end", "middle"), leading("middle", "start"), VIEW]
    site.meddle("POST", DASHBOARDS, answer_with(400, {"message": "no"}))

    applied = site.apply(*chain)

    assert outcomes(applied) == {
        "Dashboard/end": "refused",
        "Dashboard/middle": "skipped",
        "Dashboard/start": "skipped",
        "SavedView/errors": "written",
    }
    assert applied.exit_codes == {3}
    golden(next(outcome for outcome in applied.outcomes if isinstance(outcome, Skipped)).message)
    site.apply(*chain)
    assert_settled(site, *chain)


def test_blocked_resource(site: Site) -> None:
    """What depends on something blocked is blocked in the plan already."""
    missing = manifest("SLO/checkout", SLO_SPEC, ALERT_ID)

    made = site.plan(missing, watching(), VIEW)

    assert actions(made) == {
        "SLO/checkout": "blocked",
        "AlertDefinition/budget": "blocked",
        "SavedView/errors": "create",
    }
    assert outcomes(site.apply(plan=made))["SavedView/errors"] == "written"
    assert site.count("PUT", ALERTS) == 0


def test_kept_reference(site: Site) -> None:
    """What refers to something that is kept gets its id, also when only it is declared anew."""
    site.apply(CHECKOUT)

    change = site.change(watching(), CHECKOUT)

    assert change.awaits == frozenset()
    assert change.body["sloThreshold"]["sloDefinition"]["sloId"] == (  # type: ignore[index,call-overload]  # of this form
        site.journal.history.of(SLO).remote_id
    )


@pytest.mark.parametrize(
    ("stop", "exit_code"),
    [
        (answer_with(401, {"message": "expired"}), 10),
        (answer_with(403, {"message": "no"}), 10),
        (answer_with(308), 9),
        (answer_with(404, {"code": 5, "message": "Not Found"}), 9),
    ],
)
def test_stopped_run(site: Site, stop: Meddler, exit_code: int) -> None:
    """What concerns the whole service ends the run, and nothing is sent after it."""
    site.meddle("POST", DASHBOARDS, stop)

    applied = site.apply(dashboard(), policy_set(policy("a")), VIEW)

    assert outcomes(applied) == {
        "Dashboard/checkout": "refused",
        "LogPolicySet/all": "skipped",
        "SavedView/errors": "skipped",
    }
    assert max(applied.exit_codes) == exit_code
    assert [write.path for write in site.writes] == [DASHBOARDS]
    assert site.journal.history.unsettled() == {}


def test_worst_reason(site: Site) -> None:
    """Of two reasons to stop, the first in the order of exit codes is told."""
    boards = [dashboard(f"board-{number}") for number in range(2)]
    site.apply(*boards)
    site.meddle("PUT", DASHBOARDS, answer_with(307), answer_with(401))

    applied = site.apply(*(dashboard(board.ref.name, description="x") for board in boards))

    assert applied.stopped_by is not None
    assert applied.stopped_by.exit_code == 10


@pytest.mark.parametrize("changed", ["dashboard", "SLO", "policies", "new dashboard"])
def test_changed_between_plan_and_write(site: Site, changed: str) -> None:
    """What changed live since the plan is left alone with what depends on it: exit 6."""
    first = [dashboard(), CHECKOUT, policy_set(policy("a"))]
    site.apply(*first)
    later = {
        "dashboard": dashboard(description="new"),
        "SLO": manifest("SLO/checkout", {**SLO_SPEC, "description": "new"}),
        "policies": policy_set(policy("b")),
        "new dashboard": dashboard("fresh"),
    }
    made = site.plan(later[changed], VIEW)
    edit_outside(site, changed)
    site.forget()

    applied = site.apply(plan=made)

    assert outcomes(applied) == {str(later[changed].ref): "refused", "SavedView/errors": "written"}
    assert applied.exit_codes == {6}
    assert [write.path for write in site.writes] == [VIEWS]


def edit_outside(site: Site, what: str) -> None:
    """Change one thing as someone else does."""
    match what:
        case "dashboard":
            body = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
            write: Json = {"dashboard": {**body, "description": "theirs"}, "requestId": "x"}
            site.outside("PUT", DASHBOARDS, write)
        case "new dashboard":
            write = {"dashboard": {"name": "T", "slugName": "fresh"}, "requestId": "x"}
            site.outside("POST", DASHBOARDS, write)
        case "SLO":
            slo_id = site.journal.history.of(SLO).remote_id
            slo = site.outside("GET", f"{SLOS}/{slo_id}")["slo"]
            site.outside("PUT", SLOS, {"id": slo_id, **SLO_SPEC, "name": slo["name"]})
        case _:
            site.outside("POST", OVERWRITE, {"policies": [policy("theirs")]})


@pytest.mark.parametrize("failure", [answer_with(500), unreachable, answer_with(401)])
def test_no_look_before_the_write(site: Site, failure: Meddler) -> None:
    """Where live cannot be read again, nothing is written, and the journal has no trace of it."""
    made = site.plan(dashboard(), policy_set(policy("a")))
    site.meddle("GET", "*", *[failure] * 5)

    applied = site.apply(plan=made)

    assert set(outcomes(applied).values()) == {"refused", "skipped"}
    assert site.writes == []
    assert site.entries() == []


@pytest.mark.parametrize(
    "failure", [answer_with(500), unreachable, answer_with(404), answer_with(200)]
)
def test_no_look_after_the_write(site: Site, failure: Meddler) -> None:
    """A read after a write that fails costs only the comparison."""
    made = site.plan(dashboard())
    site.meddle("GET", "*", untouched, *[failure] * 5)

    applied = site.apply(plan=made)

    assert outcomes(applied) == {"Dashboard/checkout": "written"}
    assert applied.exit_codes == set()
    site.wire.meddlers.clear()
    assert_settled(site, dashboard())


def signalling(site: Site) -> Meddler:
    """Let the first signal come while a request is on its way."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        assert site.stopping is not None
        site.stopping.set()
        return await inner.handle_async_request(request)

    return meddle


def test_interrupted(site: Site) -> None:
    """After the first signal the request in flight is finished and journaled, and no other sent."""
    site.meddle("POST", DASHBOARDS, signalling(site))

    applied = site.apply(dashboard(), policy_set(policy("a")), VIEW)

    assert outcomes(applied) == {
        "Dashboard/checkout": "written",
        "LogPolicySet/all": "skipped",
        "SavedView/errors": "skipped",
    }
    assert site.entries() == [
        f"{entry} Dashboard/checkout" for entry in ("started", "identified", "written")
    ]


def test_interrupted_while_reading(site: Site) -> None:
    """A signal that comes while live is read again keeps the write from being sent."""
    made = site.plan(dashboard())
    site.meddle("GET", BY_SLUG + "/*", signalling(site))

    applied = site.apply(plan=made)

    assert outcomes(applied) == {"Dashboard/checkout": "skipped"}
    assert site.writes == []


def test_order_of_kinds(site: Site) -> None:
    """Without references the kinds go in the order of their table, lonely creates last."""
    site.apply(
        VIEW,
        policy_set(policy("a")),
        dashboard(),
        manifest("AlertDefinition/plain", ALERT_SPEC, ALERT_ID),
        CHECKOUT,
    )

    assert [write.path for write in site.writes] == [ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS]


def test_read_policies_before_the_write(site: Site) -> None:
    """The list is the last thing read before it is written over."""
    site.apply(policy_set(policy("a")))

    asked = [(one.method, one.path) for one in site.sent]
    assert asked[asked.index(("POST", OVERWRITE)) - 1] == ("GET", POLICIES)
