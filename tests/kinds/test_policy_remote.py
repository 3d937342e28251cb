"""Log policies over the wire: the whole ordered list in one atomic overwrite."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import httpx
import pytest
from harness.golden import Golden
from harness.routes import OVERWRITE, POLICIES
from harness.sites import (
    Meddler,
    Site,
    answer_with,
    assert_settled,
    lost_after,
    lost_before,
    outcomes,
    paths,
    policy,
    policy_set,
    untouched,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.model import Evidence, Seen
from reconciler.planning.guards import Agreed, objections, unmet
from reconciler.project import Guards

A, B, C = policy("a"), policy("b"), policy("c")


def live(site: Site) -> list[str]:
    """Name the policies of the service, in their order."""
    return [
        name
        for (name,) in site.app.state.store.rows("SELECT name FROM log_policies ORDER BY place")
    ]


def overwrite(site: Site, *policies: dict[str, Json]) -> None:
    """Put in a list as someone else does."""
    site.outside("POST", OVERWRITE, {"policies": list(policies)})


def test_first_list(site: Site) -> None:
    """The list is read, and written in one request that holds exactly what is declared."""
    declared = policy_set(A, B)

    change = site.change(declared)
    site.apply(declared)

    assert (change.action.word, change.evidence) == ("update", Evidence.LIVE)
    assert paths(change) == [("policies", "a"), ("policies", "b")]
    assert [(write.method, write.path) for write in site.writes] == [("POST", OVERWRITE)]
    assert site.writes[0].body == {"policies": [A, B]}
    assert live(site) == ["a", "b"]
    assert_settled(site, declared)


def test_only_log_policies_are_read(site: Site) -> None:
    """Span policies are not asked for, as they would look destroyed."""
    queries: list[str] = []

    async def note(request: object, inner: object) -> object:
        queries.append(str(request.url.query, "ascii"))  # type: ignore[attr-defined]  # a request
        return await inner.handle_async_request(request)  # type: ignore[attr-defined]  # a transport

    site.meddle("GET", POLICIES, note)  # type: ignore[arg-type]  # as a meddler does

    site.plan(policy_set(A))

    assert queries == ["source_type=SOURCE_TYPE_LOGS"]


@pytest.mark.parametrize("order", list(permutations("abcd")))
def test_moves(site: Site, order: tuple[str, ...]) -> None:
    """Another order is told as the fewest moves, and nothing else."""
    site.apply(policy_set(*map(policy, "abcd")))
    declared = policy_set(*map(policy, order))
    places = ["abcd".index(name) for name in order]
    rising = max(
        (
            chosen
            for mask in range(16)
            if (chosen := [p for i, p in enumerate(places) if mask >> i & 1]) == sorted(chosen)
        ),
        key=len,
    )

    change = site.change(declared)
    site.apply(declared)

    assert {difference.operation for difference in change.differences} <= {"move"}
    assert len(change.differences) == 4 - len(rising)
    assert change.destroys == ()
    assert live(site) == list(order)
    assert_settled(site, declared)


def test_all_at_once(site: Site) -> None:
    """Adds, moves, edits and destroys are told by name, each as what it is."""
    site.apply(policy_set(A, B, C))
    edited = policy("a", priority="PRIORITY_TYPE_LOW")

    change = site.change(policy_set(C, edited, policy("new")))

    told = {(difference.operation, difference.path) for difference in change.differences}
    assert told == {
        ("move", ("policies", "c")),
        ("change", ("policies", "a", "policy", "priority")),
        ("add", ("policies", "new")),
        ("remove", ("policies", "b")),
    }
    assert change.destroys == ("b",)
    assert change.foreign == ()
    assert [value["policy"]["name"] for value in change.lost] == ["b"]  # type: ignore[index,call-overload]  # a policy


def refused(site: Site, *policies: dict[str, Json]) -> list[str]:
    """Give what a guard says of a list without consent."""
    made = site.plan(policy_set(*policies))
    found = objections(made, Guards())
    assert unmet(found, Agreed(flags={"allow-destroy"}, override=True)) == ()
    return [violation.message for violation in found if violation.code != "takes-over"]


def test_empty_list(site: Site, golden: Golden) -> None:
    """An empty list destroys everything, each by name, and needs consent."""
    site.apply(policy_set(A, B))

    (said,) = refused(site)

    golden(said)
    site.apply(policy_set())
    assert live(site) == []
    assert_settled(site, policy_set())


def test_foreign_policies(site: Site, golden: Golden) -> None:
    """Policies that we never wrote are told apart, and destroying them needs consent."""
    overwrite(site, A, policy("theirs"))

    (said,) = refused(site, A)

    golden(said)


def test_adopted_policies(site: Site) -> None:
    """A list that is live as declared is adopted without a write but for its severities."""
    overwrite(site, A, B)

    change = site.change(policy_set(A, B))

    assert {path[-2:] for path in paths(change)} <= {("b", "logRules"), ("a", "logRules")}
    site.apply(policy_set(A, B))
    assert_settled(site, policy_set(A, B))


@pytest.mark.parametrize("names", [["x", "x"], ["x", "x", "a"], ["", "a"], ["a", "a"]])
def test_odd_names(site: Site, names: list[str]) -> None:
    """A list that has a name twice, or one without, loses nothing without a line and consent."""
    records: Json = [{"name": name, "order": n, "enabled": True} for n, name in enumerate(names)]
    site.meddle("GET", POLICIES, *[answer_with(200, {"policies": records})] * 3)

    change = site.change(policy_set(A, B, C))

    kept = 1 if "a" in names else 0
    assert len(change.destroys) == len(set(change.destroys)) == len(names) - kept
    assert len(refused(site, A, B, C)) == 1


def test_severities(site: Site) -> None:
    """Severities are recalled from the journal, and a change of them is an update of that path."""
    site.apply(policy_set(A, B))
    declared = policy_set(A, policy("b", "ERROR", "CRITICAL"))

    kept = site.change(policy_set(A, B))
    change = site.change(declared)
    site.apply(declared)

    assert kept.action.word == "keep"
    assert isinstance(kept.observation, Seen)
    assert kept.observation.recalled == (
        ("policies", "a", "logRules", "severities"),
        ("policies", "b", "logRules", "severities"),
    )
    assert paths(change) == [("policies", "b", "logRules", "severities")]
    assert_settled(site, declared)


def test_order_of_severities(site: Site) -> None:
    """The order of severities means nothing."""
    site.apply(policy_set(policy("a", "ERROR", "INFO")))

    assert site.change(policy_set(policy("a", "INFO", "ERROR"))).action.word == "keep"


@pytest.mark.parametrize("disabled", [True, False])
def test_inverted_flag(site: Site, disabled: bool) -> None:
    """`disabled` is written, `enabled` is stored, and they are never confused."""
    declared = policy_set(policy("a", disabled=disabled))

    site.apply(declared)

    (stored,) = site.outside("GET", POLICIES)["policies"]
    assert stored["enabled"] is not disabled
    assert_settled(site, declared)


@pytest.mark.parametrize("disabled", [True, False])
def test_dropped_flag(tmp_path: Path, disabled: bool) -> None:
    """A policy that somebody disabled or enabled is seen where a service leaves zeros out."""
    site = Site(tmp_path, create_app(profile=Profile(zero_values="dropped")))
    declared = policy_set(policy("a", disabled=not disabled))
    site.apply(declared)
    overwrite(site, policy("a", disabled=disabled))

    change = site.change(declared)

    assert change.action.word == "update"
    assert ("policies", "a", "policy", "disabled") in paths(change)


@pytest.mark.parametrize("lose", [lost_after, answer_with(500, carried_out=True)])
def test_lost_after_the_overwrite(site: Site, lose: Meddler) -> None:
    """An overwrite whose answer was lost is looked up, and is not sent again."""
    site.apply(policy_set(A))
    site.meddle("POST", OVERWRITE, lose)

    applied = site.apply(policy_set(B, C))

    assert outcomes(applied) == {"LogPolicySet/all": "written"}
    assert site.count("POST", OVERWRITE) == 2
    assert_settled(site, policy_set(B, C))


@pytest.mark.parametrize("lose", [lost_before, answer_with(503)])
def test_lost_before_the_overwrite(site: Site, lose: Meddler) -> None:
    """While the list is still the old one, the overwrite is sent once more."""
    site.apply(policy_set(A))
    site.meddle("POST", OVERWRITE, lose)

    applied = site.apply(policy_set(B, C))

    assert outcomes(applied) == {"LogPolicySet/all": "written"}
    assert live(site) == ["b", "c"]
    assert_settled(site, policy_set(B, C))


def test_lost_severities(site: Site) -> None:
    """A lost overwrite that changes only severities is not taken for one that happened."""
    site.apply(policy_set(A))
    site.meddle("POST", OVERWRITE, lost_before)

    site.apply(policy_set(policy("a", "INFO")))

    (stored,) = site.app.state.store.row("SELECT severities FROM log_policies")
    assert stored == '["SEVERITY_INFO"]'


def test_lost_twice(site: Site) -> None:
    """An overwrite that is lost twice ends the run, and its severities are never assumed."""
    site.apply(policy_set(A))
    site.meddle("POST", OVERWRITE, lost_before, lost_before)
    declared = policy_set(policy("a", "INFO"))

    applied = site.apply(declared)
    change = site.change(declared)
    site.apply(declared)

    assert applied.exit_codes == {9}
    assert change.action.word == "update"
    (stored,) = site.app.state.store.row("SELECT severities FROM log_policies")
    assert stored == '["SEVERITY_INFO"]'
    assert_settled(site, declared)


def test_overwritten_by_another(site: Site) -> None:
    """A lost overwrite, and then a third list, is nobody's to write over: exit 6."""

    async def lose(request: object, inner: object) -> object:
        del request, inner
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(site.app), base_url="http://emulator"
        ) as client:
            await client.post(
                "/mgmt/openapi/latest" + OVERWRITE,
                json={"policies": [policy("theirs")]},
                headers={"Authorization": "any"},
            )
        raise httpx.ReadError("broken")

    site.apply(policy_set(A))
    site.meddle("POST", OVERWRITE, lose)  # type: ignore[arg-type]  # as a meddler does

    applied = site.apply(policy_set(B))

    assert applied.exit_codes == {6}
    assert live(site) == ["theirs"]
    assert site.count("POST", OVERWRITE) == 2


@pytest.mark.parametrize("failure", [answer_with(401), answer_with(403), answer_with(500)])
def test_lost_look_up(site: Site, failure: Meddler) -> None:
    """When the look-up fails too, the journal leaves the overwrite open."""
    site.apply(policy_set(A))
    made = site.plan(policy_set(B))
    site.meddle("GET", POLICIES, untouched, *[failure] * 5)
    site.meddle("POST", OVERWRITE, lost_after)

    applied = site.apply(plan=made)

    assert applied.exit_codes == {9}
    assert site.entries()[-1] == "started LogPolicySet/all"


def test_added_meanwhile(site: Site) -> None:
    """A policy that someone adds between plan and apply is not destroyed: exit 6."""
    site.apply(policy_set(A))
    made = site.plan(policy_set(B))
    overwrite(site, A, policy("theirs"))

    applied = site.apply(plan=made)

    assert applied.exit_codes == {6}
    assert live(site) == ["a", "theirs"]


def test_overwritten_with_the_same(site: Site) -> None:
    """An overwrite by someone else is noticed even where it changed nothing that shows."""
    site.apply(policy_set(A))
    made = site.plan(policy_set(B))
    overwrite(site, A)

    assert site.apply(plan=made).exit_codes == {6}


def test_empty_answer(site: Site) -> None:
    """A list that is there and empty is an empty one."""
    site.meddle("GET", POLICIES, answer_with(200, {"policies": []}))

    assert site.change(policy_set(A)).destroys == ()


@pytest.mark.promise("P23")
@pytest.mark.parametrize(
    "reply", [{}, {"policies": None}, {"other": []}, [], {"policies": {}}, {"policies": [5]}, "x"]
)
def test_odd_answer(site: Site, reply: Json) -> None:
    """A list that is missing or of another shape stops the plan; nothing is taken for empty."""
    site.meddle("GET", POLICIES, answer_with(200, reply))

    with pytest.raises(ExceptionGroup) as raised:
        site.plan(policy_set(A))
    assert raised.group_contains(Exception, match="policies")


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"name": 5},
        {"name": {"a": 1}, "order": "x"},
        {"name": "a", "order": None, "enabled": "yes"},
        {"name": "a", "policy": [], "applicationRule": 5},
        {"name": "a", "order": 10**400, "id": []},
        {"name": "a", "order": 1e308, "updatedAt": 5},
    ],
)
def test_odd_record(site: Site, record: dict[str, Json]) -> None:
    """No record makes the plan fail, whatever stands in it."""
    site.meddle("GET", POLICIES, answer_with(200, {"policies": [record, record, {"name": "b"}]}))

    change = site.change(policy_set(A, B))

    assert change.action.word == "update"
    assert len(change.destroys) >= 1


def test_deleted_record(site: Site) -> None:
    """A record that is marked as deleted is not there."""
    gone: Json = {"name": "gone", "deleted": True}
    site.meddle("GET", POLICIES, answer_with(200, {"policies": [gone]}))

    assert site.change(policy_set(A)).destroys == ()


def test_undeclared_fields(site: Site) -> None:
    """What live has and was never declared is kept by the overwrite."""
    overwrite(site, policy("a", archiveRetention={"id": "r-1"}), B)

    site.apply(policy_set(A, B))

    written = site.writes[0].body["policies"][0]["policy"]
    assert written["archiveRetention"] == {"id": "r-1"}
    assert_settled(site, policy_set(A, B))


def test_removed_field(site: Site) -> None:
    """A field that was declared and no longer is goes."""
    site.apply(policy_set(policy("a", archiveRetention={"id": "r-1"})))

    change = site.change(policy_set(A))
    site.apply(policy_set(A))

    assert paths(change) == [("policies", "a", "policy", "archiveRetention")]
    assert "archiveRetention" not in site.writes[-1].body["policies"][0]["policy"]
    assert_settled(site, policy_set(A))
