"""An overwrite of log policies is proved by samples, and put back where it does otherwise."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from harness.sites import Site, answer_with, lost_after, lost_before, policy, policy_set, untouched

from reconciler.api.client import Api
from reconciler.applying.run import Applied, Run
from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.errors import ExitCode, worst
from reconciler.features.history.command import stats_of
from reconciler.features.policy_samples.policy_impact import (
    OnMismatch,
    PolicyImpact,
    PolicySample,
    Samples,
)
from reconciler.features.policy_samples.sample_impact import policy_impact
from reconciler.journal.history import compacted, runs_of
from reconciler.journal.journal import Journal
from reconciler.model import Manifest, Plan, Refused, Unconfirmed, Written
from reconciler.report.journal_formats import journal_text
from reconciler.report.table import Style
from reconciler.runtime.failpoints import Point, watch

POLICIES = "/dataplans/policies/v1"
OVERWRITE = f"{POLICIES}/atomicOverwriteLogPolicies"
TEST = f"{POLICIES}/bulkTestLog"

OLD = policy_set(policy("everything", "ERROR"))
NEW = policy_set(
    policy("shop", "ERROR", applicationRule={"name": "shop", "ruleTypeId": "RULE_TYPE_ID_IS"}),
    policy("everything", "ERROR", priority="PRIORITY_TYPE_LOW"),
)
ROWS = (
    PolicySample("SHOP", "checkout", "SEVERITY_ERROR"),
    PolicySample("other", "checkout", "SEVERITY_ERROR"),
)


def deviating(root: Path, profile: Profile | None = None) -> Site:
    """Give a site with the old list, whose service takes no notice of capitals in names."""
    held = profile or Profile()
    site = Site(root, create_app(profile=replace(held, policy_names="any_case")))
    site.apply(OLD)
    site.forget()
    return site


def planned(site: Site, wanted: Manifest = NEW, on_mismatch: OnMismatch = "rollback") -> Plan:
    """Plan with the samples."""
    made = site.plan(wanted)

    async def ask(api: Api) -> Plan:
        impact = await policy_impact(api, made, Samples(ROWS, on_mismatch))
        return made if impact is None else made.with_section(impact)

    return site.ask(ask)


def live(site: Site) -> list[str]:
    """Name the policies that are live, in their order."""
    listed = site.outside("GET", POLICIES)["policies"]
    return [value["name"] for value in sorted(listed, key=lambda one: int(one["order"]))]


def code(applied: Applied) -> int:
    """Give the exit code of a run."""
    return worst(applied.exit_codes) or 0


def test_put_back(tmp_path: Path) -> None:
    """A mismatch puts the list back in one overwrite more, and says what is live."""
    site = deviating(tmp_path)
    applied = site.apply(plan=planned(site))

    assert live(site) == ["everything"]
    assert site.count("POST", OVERWRITE) == 2
    assert isinstance(applied.outcomes[0], Refused)
    assert code(applied) == ExitCode.PARTIAL
    new, old = (one.body["policies"] for one in site.sent if one.path == OVERWRITE)
    assert len(new) == len(NEW.spec["policies"])  # type: ignore[arg-type]  # it is a list
    assert [value["logRules"] for value in old] == [{"severities": ["SEVERITY_ERROR"]}]


def test_put_back_in_history(tmp_path: Path) -> None:
    """The history tells a list that was put back from one that was written, compacted too."""
    site = deviating(tmp_path)
    site.apply(plan=planned(site))
    entries = site.journal.entries
    told = stats_of(entries, {}, datetime.now(UTC))

    for known in (entries, compacted(entries, "2026-01-01T00:00:00Z")):
        assert [run.counts for run in runs_of(known)] == [{"written": 1}, {"put-back": 1}]
    assert (told.applies, told.whole["changes"], told.put_back) == (1, 1, 1)
    assert "put back" in journal_text(entries, site.journal.history, Style())


def test_next_plan_after_put_back(tmp_path: Path) -> None:
    """After a list was put back, the next plan shows the same change once more, and no other."""
    site = deviating(tmp_path)
    first = planned(site)
    site.apply(plan=first)
    again = planned(site)

    assert again.changes[0].differences == first.changes[0].differences
    assert again.changes[0].reasons == first.changes[0].reasons
    assert again.section(PolicyImpact) == first.section(PolicyImpact)


def test_agreement(tmp_path: Path) -> None:
    """A sample that lives up to the plan lets the overwrite stand, asked once before and after."""
    site = Site(tmp_path)
    site.apply(OLD)
    site.forget()
    applied = site.apply(plan=planned(site))

    assert live(site) == ["shop", "everything"]
    assert site.count("POST", TEST) == 2
    assert site.count("POST", OVERWRITE) == 1
    assert code(applied) == ExitCode.DONE


def test_report_alone(tmp_path: Path) -> None:
    """Without `rollback` a mismatch is told, with exit 3, and the new list stands."""
    site = deviating(tmp_path)
    applied = site.apply(plan=planned(site, on_mismatch="report"))

    assert live(site) == ["shop", "everything"]
    assert isinstance(applied.outcomes[0], Written)
    assert code(applied) == ExitCode.PARTIAL
    assert applied.unproved


@pytest.mark.parametrize("status", [403, 404, 500, 503])
@pytest.mark.parametrize("on_mismatch", ["report", "rollback"])
def test_unasked_after(tmp_path: Path, status: int, on_mismatch: OnMismatch) -> None:
    """Where the samples cannot be asked after the overwrite, it stands, with exit 3."""
    site = deviating(tmp_path)
    made = planned(site, on_mismatch=on_mismatch)
    site.meddle("POST", TEST, *[answer_with(status, {"message": "no"})] * 20)
    applied = site.apply(plan=made)

    assert live(site) == ["shop", "everything"]
    assert code(applied) == ExitCode.PARTIAL
    assert applied.unproved


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_unasked_before(tmp_path: Path, status: int) -> None:
    """Where the samples cannot be asked for a plan, it says so, and is the same plan."""
    site = deviating(tmp_path)
    whole = planned(site)
    site.meddle("POST", TEST, *[answer_with(status, {"message": "no"})] * 20)
    made = planned(site)
    impact = made.section(PolicyImpact)

    assert impact is not None
    assert impact.unasked
    assert impact.agreement is None
    assert made.digest == whole.digest
    assert made.changes[0].body == whole.changes[0].body


def test_late_answers(tmp_path: Path) -> None:
    """A service that tells of the new list a little later is asked again, and nothing put back."""
    site = Site(tmp_path)
    site.apply(OLD)
    made = planned(site)
    told = site.outside("POST", TEST, {"metaFieldsValuesList": [_row(sample) for sample in ROWS]})
    site.meddle("POST", TEST, answer_with(200, told), answer_with(200, told))
    site.forget()
    applied = site.apply(plan=made)

    assert live(site) == ["shop", "everything"]
    assert code(applied) == ExitCode.DONE


def _row(sample: PolicySample) -> dict[str, Json]:
    return {
        "applicationNameValues": sample.application,
        "subsystemNameValues": sample.subsystem,
        "severityValues": sample.severity,
    }


def test_unknown_severities(tmp_path: Path) -> None:
    """A list whose severities nobody knows is not put back by a guess."""
    site = Site(tmp_path, create_app(profile=Profile(policy_names="any_case")))
    site.outside("POST", OVERWRITE, {"policies": OLD.spec["policies"]})
    made = planned(site)
    impact = made.section(PolicyImpact)
    assert impact is not None
    assert impact.unknown == ("everything",)
    assert impact.agreement == 0
    applied = site.apply(plan=made)

    assert live(site) == ["shop", "everything"]
    assert site.count("POST", OVERWRITE) == 1
    assert code(applied) == ExitCode.PARTIAL


def test_returned_severities(tmp_path: Path) -> None:
    """Severities that the service returns are put back, though the journal never wrote them."""
    profile = Profile(policy_names="any_case", policy_severities="returned")
    site = Site(tmp_path, create_app(profile=profile))
    site.outside("POST", OVERWRITE, {"policies": OLD.spec["policies"]})
    applied = site.apply(plan=planned(site))

    assert live(site) == ["everything"]
    assert isinstance(applied.outcomes[0], Refused)


def test_refused_put_back(tmp_path: Path) -> None:
    """Where the service refuses the old list, the new one is said to be live."""
    site = deviating(tmp_path)
    made = planned(site)
    site.meddle("POST", OVERWRITE, untouched, answer_with(400, {"message": "no"}))
    applied = site.apply(plan=made)

    assert live(site) == ["shop", "everything"]
    assert isinstance(applied.outcomes[0], Written)
    assert code(applied) == ExitCode.PARTIAL
    assert planned(site).changes[0].action.word == "keep"


@pytest.mark.parametrize("lost", [lost_before, lost_after])
def test_lost_put_back(
    tmp_path: Path, lost: Callable[[httpx.Request, httpx.AsyncBaseTransport], object]
) -> None:
    """A put-back whose answer is lost is looked up, and sent again only where it did not happen."""
    site = deviating(tmp_path)
    made = planned(site)
    site.meddle("POST", OVERWRITE, untouched, lost)  # type: ignore[arg-type]  # both are meddlers
    applied = site.apply(plan=made)

    assert live(site) == ["everything"]
    assert isinstance(applied.outcomes[0], Refused)
    assert planned(site).changes[0].action.word == "update"


def test_in_the_dark(tmp_path: Path) -> None:
    """A put-back of which nothing is heard is unconfirmed, and the next plan tells what is live."""
    site = deviating(tmp_path)
    made = planned(site)
    site.meddle("POST", OVERWRITE, untouched, *[answer_with(503, carried_out=True)] * 9)
    reads = [untouched] * 4 + [answer_with(503)] * 40
    site.meddle("GET", POLICIES, *reads)
    applied = site.apply(plan=made)
    site.wire.meddlers.clear()

    assert live(site) == ["everything"]
    assert isinstance(applied.outcomes[0], Unconfirmed)
    again = planned(site)
    assert again.changes[0].action.word == "update"


def test_somebody_else(tmp_path: Path) -> None:
    """A list that another writer changed after the overwrite is not overwritten by the old one."""
    site = deviating(tmp_path)
    made = planned(site)
    theirs = {"policies": [policy("theirs", "ERROR")]}
    told = site.outside("POST", TEST, {"metaFieldsValuesList": [_row(sample) for sample in ROWS]})

    async def meddle(_: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        url = "http://emulator/mgmt/openapi/latest" + OVERWRITE
        request = httpx.Request("POST", url, json=theirs, headers={"Authorization": "x"})
        await (await inner.handle_async_request(request)).aread()
        return httpx.Response(200, json=told)

    site.meddle("POST", TEST, *[meddle] * 9)
    applied = site.apply(plan=made)

    assert live(site) == ["theirs"]
    assert code(applied) == ExitCode.PARTIAL


def test_an_edit_that_keeps_ids(tmp_path: Path) -> None:
    """A policy that somebody edited in its place, ids and all, is not overwritten either."""
    site = deviating(tmp_path)
    made = planned(site)
    edited = False

    async def seen(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        reply = await inner.handle_async_request(request)
        told = json.loads(await reply.aread())
        if edited:
            told["policies"][0]["description"] = "theirs"
        return httpx.Response(200, json=told)

    async def asked(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        nonlocal edited
        edited = True
        return await untouched(request, inner)

    site.meddle("GET", POLICIES, *[seen] * 9)
    site.meddle("POST", TEST, *[asked] * 9)
    applied = site.apply(plan=made)

    assert live(site) == ["shop", "everything"]
    assert site.count("POST", OVERWRITE) == 1
    assert "another writer" in applied.unproved[made.changes[0].ref]


class Death(BaseException):
    """The process dies here."""


@pytest.mark.slow
@pytest.mark.parametrize("on_mismatch", ["rollback", "report"])
def test_death_at_each_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_mismatch: OnMismatch
) -> None:
    """Wherever a run dies, the next plan tells what is live, and an apply comes to the same end."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    watchers: list[Callable[[Point], None]] = []
    monkeypatch.setattr("reconciler.runtime.failpoints._watchers", watchers)
    number = deaths = 0
    while True:
        site = deviating(tmp_path / str(number))
        made = planned(site, on_mismatch=on_mismatch)
        left = number

        def count(_: Point) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Death

        watch(count)
        try:
            site.apply(plan=made)
        except Death:
            deaths += 1
        watchers.clear()
        _assert_honest(site, on_mismatch)
        if left >= 0:
            break
        number += 1
    assert deaths > 10


def _assert_honest(site: Site, on_mismatch: OnMismatch) -> None:
    """Assert that a plan says what is live, and that the journal can be read."""
    assert isinstance(site.journal, Journal)
    names = live(site)
    made = planned(site, on_mismatch=on_mismatch)
    impact = made.section(PolicyImpact)
    assert impact is not None
    if names == ["everything"]:
        assert made.changes[0].action.word == "update"
        assert impact.agreement == 1
    else:
        # The new list is live and unproved: that service and evaluator differ is said.
        assert made.changes[0].action.word in {"keep", "update"}
        assert impact.agreement == 1 / len(ROWS)
    applied = site.apply(plan=made)
    assert code(applied) in {ExitCode.DONE, ExitCode.PARTIAL}
    assert live(site) == names if on_mismatch == "rollback" else ["shop", "everything"]


def left_at(site: Site, made: Plan, path: str, number: int) -> Applied:
    """Apply, and leave the run by a second signal while a request to a path is in flight."""
    journal = site.journal

    async def ask(api: Api) -> Applied:
        run = Run(api, journal, "run", tell=site.told.append, stopping=asyncio.Event())
        work = asyncio.ensure_future(run.apply(made))

        async def leave(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
            work.cancel()
            return await inner.handle_async_request(request)

        site.meddle("POST", path, *[untouched] * number, leave)
        with suppress(asyncio.CancelledError):
            await work
        run.leave(made)
        return run.applied

    with journal.locked():
        return site.ask(ask)


def test_left_before_the_samples_were_asked(tmp_path: Path) -> None:
    """A run that is left while it asks says that the new list is live, and exits so."""
    site = deviating(tmp_path)
    applied = left_at(site, planned(site), TEST, 0)

    assert live(site) == ["shop", "everything"]
    assert isinstance(applied.outcomes[0], Written)
    assert code(applied) == ExitCode.PARTIAL
    impact = planned(site).section(PolicyImpact)
    assert impact is not None
    assert impact.agreement == 1 / len(ROWS)


def test_left_while_put_back(tmp_path: Path) -> None:
    """A run that is left while the list is put back leaves that open, for the next plan to tell."""
    site = deviating(tmp_path)
    applied = left_at(site, planned(site), OVERWRITE, 1)

    assert isinstance(applied.outcomes[0], Unconfirmed)
    _assert_honest(site, "rollback")


def test_asked_to_stop(tmp_path: Path) -> None:
    """One signal lets the check, and the put-back, come to their end."""
    site = deviating(tmp_path)
    made = planned(site)

    async def signal(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        assert site.stopping is not None
        site.stopping.set()
        return await inner.handle_async_request(request)

    site.meddle("POST", OVERWRITE, signal)
    applied = site.apply(plan=made)

    assert live(site) == ["everything"]
    assert isinstance(applied.outcomes[0], Refused)
