"""Policies that somebody else overwrote are told by their new ids, whatever else shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.golden import Golden
from harness.routes import OVERWRITE, POLICIES
from harness.sites import (
    SALT,
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

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.journal.entries import RunEntry, WrittenEntry
from reconciler.journal.history import History, compacted
from reconciler.model import (
    Change,
    Drift,
    DriftReport,
    Evidence,
    Manifest,
    NotInAnswer,
    OverwritesEdit,
    OverwrittenSince,
    Seen,
    TakesOver,
)
from reconciler.planning.find_drift import find_drift
from reconciler.project import Guards
from reconciler.report.drift_formats import drift_json, drift_markdown, drift_text
from reconciler.report.table import Style

A, B = policy("a"), policy("b", "INFO")
THEIRS = policy("a", "DEBUG")
BOTH = policy_set(A, B)
REF = BOTH.ref
WATCHED = ("logRules", "severities")


def overwrite(site: Site, *policies: dict[str, Json]) -> None:
    """Put in a list as someone else does."""
    site.outside("POST", OVERWRITE, {"policies": list(policies)})


def add(site: Site, name: str) -> None:
    """Add one policy behind the others, as someone else does."""
    made: Json = {"name": name, "description": "", "priority": "PRIORITY_TYPE_LOW"}
    site.outside("POST", f"{POLICIES}/bulkCreate", {"policyRequests": [made]})


def overwritten(change: Change) -> list[str]:
    """Name the policies that a change says were overwritten by others."""
    return [
        str(path[1])
        for reason in change.reasons
        if isinstance(reason, OverwrittenSince)
        for path in reason.paths
    ]


def revision(site: Site) -> str:
    """Give the ids that the journal keeps."""
    last = site.journal.history.of(REF).last
    return last.revision if last is not None else ""


def live_ids(site: Site) -> str:
    """Give the ids that the service has."""
    return " ".join(sorted(value["id"] for value in site.outside("GET", POLICIES)["policies"]))


def drift(site: Site) -> Drift:
    """Compare live with what was applied."""

    async def ask(api: Api) -> Drift:
        (found,) = (await find_drift(api, (BOTH,), site.journal.history, SALT)).found
        return found

    return site.ask(ask)


@pytest.mark.promise("P20")
def test_overwritten_by_someone(site: Site) -> None:
    """The same names with other severities are no keep: they are sent again, and it says why."""
    site.apply(BOTH)
    overwrite(site, THEIRS, B)

    change = site.change(BOTH)
    applied = site.apply(BOTH)

    assert change.action.word == "update"
    assert overwritten(change) == ["a", "b"]
    assert {path[:2] for path in paths(change)} == {("policies", "a"), ("policies", "b")}
    (why,) = (reason for reason in change.reasons if isinstance(reason, OverwrittenSince))
    assert {path[-1] for path in why.paths} == {"severities"}
    assert isinstance(change.observation, Seen)
    assert change.observation.recalled == ()
    assert change.evidence is Evidence.LIVE
    assert not any(isinstance(reason, OverwritesEdit | NotInAnswer) for reason in change.reasons)
    assert outcomes(applied) == {str(REF): "written"}
    (severities, _) = site.app.state.store.rows(
        "SELECT severities FROM log_policies ORDER BY place"
    )
    assert severities == ('["SEVERITY_ERROR"]',)
    assert_settled(site, BOTH)


@pytest.mark.promise("P20")
def test_drift_of_what_cannot_be_seen(site: Site) -> None:
    """`drift` tells an overwrite by someone else, and none where the ids are ours."""
    site.apply(BOTH)
    same = drift(site)
    overwrite(site, A, B)

    found = drift(site)

    assert same.state == "same"
    assert (found.state, found.differences) == ("drifted", ())
    assert found.note.startswith("overwritten by someone since")
    assert found.unseen == tuple(("policies", name, *WATCHED) for name in "ab")
    for told in (
        drift_text(DriftReport([found]), Style()),
        drift_markdown(DriftReport([found]), "local"),
        drift_json(DriftReport([found]), "local", "emulator"),
    ):
        assert "severities" in told


@pytest.mark.promise("P20")
def test_drift_beside_what_cannot_be_seen(site: Site) -> None:
    """What is seen of an overwritten policy is compared, and what cannot be is left out."""
    site.apply(BOTH)
    overwrite(site, policy("a", "DEBUG", description="theirs"), B)

    found = drift(site)

    assert [difference.path for difference in found.differences] == [
        ("policies", "a", "policy", "description")
    ]


@pytest.mark.promise("P20")
def test_guard_on_what_cannot_be_seen(site: Site, golden: Golden) -> None:
    """An overwrite over what someone wrote and nobody sees needs consent, in words that fit."""
    site.apply(BOTH)
    overwrite(site, THEIRS, B)

    (objection,) = site.plan(BOTH, guards=Guards()).guarded

    assert objection.code == "overwrites-edit"
    golden(objection.message)
    assert "changed since" not in objection.message


@pytest.mark.promise("P20")
@pytest.mark.parametrize(("there", "differs"), [(BOTH, False), (policy_set(B, A), True)])
def test_takes_over_what_cannot_be_seen(site: Site, there: Manifest, differs: bool) -> None:
    """Only what is seen to differ is said to: of severities that nobody sees nobody knows."""
    site.outside("POST", OVERWRITE, there.spec)

    made = site.plan(BOTH, guards=Guards())

    (reason,) = (reason for reason in made.changes[0].reasons if isinstance(reason, TakesOver))
    assert reason.differs is differs
    assert any("cannot be seen" in violation.message for violation in made.guarded) is not differs


@pytest.mark.promise("P20")
def test_digest_of_what_cannot_be_seen(site: Site) -> None:
    """Who reviewed a plan before someone overwrote the list has not agreed to what is there now."""
    site.apply(BOTH)
    wanted = policy_set(policy("a", "DEBUG"), B)
    before = site.plan(wanted).digest
    overwrite(site, THEIRS, B)

    assert site.plan(wanted).digest != before


@pytest.mark.promise("P20")
def test_only_what_was_overwritten(site: Site) -> None:
    """A policy that somebody adds leaves the ids of the others, and so what is known of them."""
    site.apply(BOTH)
    add(site, "new")

    change = site.change(BOTH)

    assert overwritten(change) == []
    assert paths(change) == [("policies", "new")]
    assert isinstance(change.observation, Seen)
    assert [path[1] for path in change.observation.recalled] == ["a", "b"]


@pytest.mark.promise("P20")
def test_severities_that_come_back(tmp_path: Path) -> None:
    """Where severities are returned, an overwrite by someone hides nothing and is told as it is."""
    site = Site(tmp_path, create_app(profile=Profile(policy_severities="returned")))
    site.apply(BOTH)
    overwrite(site, A, B)
    same = site.change(BOTH)
    overwrite(site, THEIRS, B)

    change = site.change(BOTH)

    assert (same.action.word, same.reasons) == ("keep", ())
    assert overwritten(change) == []
    assert paths(change) == [("policies", "a", *WATCHED)]


def untold(reply: dict[str, Any]) -> Json:
    """Take the policies out of an answer."""
    del reply["createResponses"]
    return reply


def half_told(reply: dict[str, Any]) -> Json:
    """Leave out the id of one policy."""
    reply["createResponses"][0]["policy"].pop("id")
    return reply


@pytest.mark.promise("P20")
@pytest.mark.parametrize("cut", [None, untold, half_told])
def test_journaled_ids(site: Site, cut: Any) -> None:
    """The ids of our overwrite are journaled: the answer's, else those of the read after it."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        response = await inner.handle_async_request(request)
        reply = json.loads(await response.aread())
        return httpx.Response(200, json=reply if cut is None else cut(reply))

    site.meddle("POST", OVERWRITE, meddle)

    site.apply(BOTH)

    assert revision(site) == live_ids(site) != ""


@pytest.mark.promise("P20")
def test_answer_tells_and_not_the_read(site: Site) -> None:
    """Where someone overwrites right after us, the ids that are journaled are ours."""

    async def raced(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        ours = await inner.handle_async_request(request)
        answer = json.loads(await ours.aread())
        headers = {k: v for k, v in request.headers.items() if k != "content-length"}
        body: Json = {"policies": [THEIRS, B]}
        again = httpx.Request("POST", request.url, headers=headers, json=body)
        await (await inner.handle_async_request(again)).aread()
        return httpx.Response(200, json=answer)

    site.meddle("POST", OVERWRITE, raced)

    applied = site.apply(BOTH)

    assert applied.exit_codes == {6}
    assert revision(site) not in ("", live_ids(site))
    assert overwritten(site.change(BOTH)) == ["a", "b"]


@pytest.mark.promise("P20")
@pytest.mark.parametrize("lose", [lost_after, lost_before])
@pytest.mark.parametrize("blind", [False, True])
def test_recovery(site: Site, lose: Meddler, blind: bool) -> None:
    """New ids of an overwrite of our own whose answer was lost make no difference for ever."""
    site.apply(policy_set(A))
    site.meddle("POST", OVERWRITE, lose, *[lose] * (5 if blind else 0))
    if blind:
        # The look-up after the lost answer fails too, as if the process had died there.
        site.meddle("GET", POLICIES, untouched, untouched, *[answer_with(500)] * 9)
    site.apply(BOTH)
    site.wire.meddlers.clear()

    change = site.change(BOTH)
    site.apply(BOTH)

    assert overwritten(change) == []
    assert not any(isinstance(reason, OverwritesEdit) for reason in change.reasons)
    if blind and lose is lost_before:
        # The ids are still those of the overwrite before it, which tells its severities.
        assert isinstance(change.observation, Seen)
        assert change.observation.recalled == (("policies", "a", *WATCHED),)
    assert_settled(site, BOTH)
    assert revision(site) == live_ids(site)


@pytest.mark.promise("P15")
@pytest.mark.parametrize("there", [[], [THEIRS]])
def test_first_write_that_never_happened(site: Site, there: list[dict[str, Json]]) -> None:
    """Live that is as it was before a first write in doubt was edited by nobody since."""
    overwrite(site, *there)
    site.meddle("POST", OVERWRITE, lost_before, lost_before)
    site.apply(BOTH)

    change = site.change(BOTH)
    overwrite(site, policy("c"))
    edited = site.change(BOTH)

    assert not any(isinstance(reason, OverwritesEdit) for reason in change.reasons)
    assert any(isinstance(reason, TakesOver) for reason in change.reasons) == bool(there)
    assert any(isinstance(reason, OverwritesEdit) for reason in edited.reasons)


@pytest.mark.promise("P20")
def test_adopted_ids(site: Site) -> None:
    """What is adopted is ours from then on, and so are its ids."""
    site.apply(policy_set(A))
    site.apply(BOTH)
    overwrite(site, A, B)
    bare = {"policies": [{"policy": A["policy"]}, {"policy": B["policy"]}]}
    undeclared = policy_set()
    undeclared.spec.update(bare)  # type: ignore[arg-type]  # policies without severities

    site.apply(undeclared)

    assert revision(site) == live_ids(site)


@pytest.mark.promise("P20")
def test_journal_of_an_earlier_version(site: Site) -> None:
    """A journal that has no ids yet learns them by an apply that keeps, and then tells others."""
    site.apply(BOTH)
    journal = site.journal
    entries = [
        WrittenEntry(run=entry.run, at=entry.at, ref=entry.ref, remote_id=entry.remote_id)
        if isinstance(entry, WrittenEntry)
        else entry
        for entry in journal.entries
    ]
    with journal.locked():
        assert journal.header is not None
        journal.replace(journal.header, entries)
    assert revision(site) == ""

    assert site.change(BOTH).action.word == "keep"
    site.apply(BOTH)
    assert revision(site) == live_ids(site)
    before = len(site.entries())
    site.apply(BOTH)
    assert len(site.entries()) == before
    overwrite(site, THEIRS, B)
    assert overwritten(site.change(BOTH)) == ["a", "b"]


@pytest.mark.promise("P20")
def test_compacted(site: Site) -> None:
    """Compacting keeps the ids."""
    site.apply(BOTH)
    short = History()

    short.add(compacted(site.journal.entries, "2026-01-01T00:00:00Z"))

    last = short.of(REF).last
    assert last is not None
    assert last.revision == revision(site) == live_ids(site)


@pytest.mark.promise("P20")
def test_compacted_on_disk(site: Site) -> None:
    """A compacted journal is read back with its ids."""
    site.apply(BOTH)
    journal = site.journal
    with journal.locked():
        journal.compact(
            RunEntry(
                run="run",
                at="2026-01-01T00:00:00Z",
                actor="me",
                commit="",
                digest="",
                command="journal compact",
            )
        )

    assert revision(site) == live_ids(site)
    assert_settled(site, BOTH)
