"""A service that lies about samples of logs proves nothing: no list is put back for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.sites import Meddler, answer_with, untouched
from test_proved_swap import OVERWRITE, TEST, code, deviating, live, planned

from reconciler.errors import ExitCode
from reconciler.features.policy_samples.policy_impact import PolicyImpact
from reconciler.model import Refused, Written

Answer = dict[str, Any]


def changed(change: Callable[[Answer], Any], status: int = 200, **headers: str) -> Meddler:
    """Give a meddler that changes what the service answers."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        reply = await inner.handle_async_request(request)
        told = change(json.loads(await reply.aread()))
        text = told if isinstance(told, str) else json.dumps(told)
        plain = {key.replace("_", "-"): value for key, value in headers.items()}
        sent = {"content-type": "application/json", **plain}
        return httpx.Response(status, headers=sent, content=text.encode())

    return meddle


def results(change: Callable[[list[Any]], Any]) -> Meddler:
    """Give a meddler that changes the list of what becomes of the samples."""
    name = "testPoliciesBulkResult"
    return changed(lambda told: {**told, name: change(told[name])})


def each(**fields: Any) -> Meddler:
    """Give a meddler that sets these fields in what is told of each sample."""
    return results(lambda told: [{**value, **fields} for value in told])


OTHER_LOG = {
    "applicationNameValues": "billing",
    "subsystemNameValues": "checkout",
    "severityValues": "SEVERITY_ERROR",
}
LIES: dict[str, Meddler] = {
    "a part": changed(lambda told: told, 206),
    "a range": changed(lambda told: told, content_range="items 0-1/9"),
    "cut": changed(lambda told: json.dumps(told)[:-9]),
    "no JSON": changed(lambda _: "<html>"),
    "nothing": changed(lambda _: {}),
    "null": changed(lambda _: {"testPoliciesBulkResult": None}),
    "a list alone": changed(lambda told: told["testPoliciesBulkResult"]),
    "one too few": results(lambda told: told[:1]),
    "one too many": results(lambda told: [*told, told[0]]),
    "text for answers": results(lambda told: ["x" for _ in told]),
    "more elsewhere": changed(lambda told: {**told, "totalSize": 40}),
    "another page": changed(lambda told: {**told, "nextPageToken": "x"}),
    "matched without a policy": each(matched=True, policy=None),
    "matched as text": each(matched="yes"),
    "no name": each(matched=True, policy={"priority": "PRIORITY_TYPE_HIGH"}),
    "name of a number": each(matched=True, policy={"name": 7}),
    "another order": results(lambda told: told[::-1]),
    "another log": each(metaFieldsValues=OTHER_LOG),
    "an error": answer_with(500, {"message": "no"}),
    "no access": answer_with(403, {"message": "no"}),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_proof(tmp_path: Path, lie: str) -> None:
    """An answer that cannot be one puts nothing back, and the run ends with 3 and says so."""
    site = deviating(tmp_path)
    made = planned(site)
    site.meddle("POST", TEST, *[LIES[lie]] * 20)
    applied = site.apply(plan=made)

    assert live(site) == ["shop", "everything"]
    assert site.count("POST", OVERWRITE) == 1
    assert isinstance(applied.outcomes[0], Written)
    assert code(applied) == ExitCode.PARTIAL
    assert "it is unknown" in applied.unproved[made.changes[0].ref]


@pytest.mark.parametrize("lie", LIES)
def test_no_proof_beforehand(tmp_path: Path, lie: str) -> None:
    """A plan that gets no answer that can be one says so, and is the same plan."""
    site = deviating(tmp_path)
    whole = planned(site)
    site.meddle("POST", TEST, *[LIES[lie]] * 20)
    made = planned(site)
    impact = made.section(PolicyImpact)

    assert impact is not None
    assert impact.unasked
    assert impact.agreement is None
    assert made.digest == whole.digest


@pytest.mark.parametrize("lie", LIES)
def test_mismatch_then_a_lie(tmp_path: Path, lie: str) -> None:
    """One mismatch before answers that say nothing is no proof: it may have been told too early."""
    site = deviating(tmp_path)
    made = planned(site)
    site.meddle("POST", TEST, untouched, *[LIES[lie]] * 20)
    applied = site.apply(plan=made)

    assert live(site) == ["shop", "everything"]
    assert code(applied) == ExitCode.PARTIAL


def test_an_invented_policy(tmp_path: Path) -> None:
    """A policy that nobody declared is a mismatch, however it is called: the list is put back."""
    site = deviating(tmp_path)
    made = planned(site)
    name = "`x`\n\x1b[2J<img src=x>" + "y" * 9_000
    site.meddle("POST", TEST, *[each(matched=True, policy={"name": name, "priority": "P"})] * 20)
    applied = site.apply(plan=made)

    assert live(site) == ["everything"]
    assert isinstance(applied.outcomes[0], Refused)
    assert len(applied.unproved[made.changes[0].ref]) < 1_000


@pytest.mark.parametrize("status", [200, 206, 400, 403, 404, 409, 500, 503])
def test_answer_to_putting_back(tmp_path: Path, status: int) -> None:
    """Whatever is answered to the put-back, what is said to be live is live."""
    site = deviating(tmp_path)
    made = planned(site)
    site.meddle("POST", OVERWRITE, untouched, *[answer_with(status, {"message": "no"})] * 9)
    applied = site.apply(plan=made)
    said = applied.unproved[made.changes[0].ref]

    assert code(applied) == ExitCode.PARTIAL or applied.stopped_by is not None
    if "put back, and is live" in said:
        assert live(site) == ["everything"]
    elif "the new list is live" in said:
        assert live(site) == ["shop", "everything"]
    else:
        assert "the next plan" in said
