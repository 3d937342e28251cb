"""Which changes of a reviewed plan count as done since."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.sites import Site, policy, policy_set

from reconciler.report.plan.document import plan_document, with_done


@pytest.mark.promise("S24")
@pytest.mark.parametrize(("then", "action"), [("cab", "keep"), ("bca", "update")])
def test_an_order(tmp_path: Path, then: str, action: str) -> None:
    """A list that was to be ordered anew is done where it has that order, and no other."""
    site = Site(tmp_path)
    site.apply(policy_set(*map(policy, "abc")))
    reviewed = plan_document(site.plan(policy_set(*map(policy, "cab"))))
    now = policy_set(*map(policy, then))
    site.apply(now)

    (change,) = with_done(reviewed, site.plan(now))["changes"]

    assert {field["operation"] for field in reviewed["changes"][0]["fields"]} == {"move"}
    assert change["action"] == action
