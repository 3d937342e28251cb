"""The story of someone without a key: the same difference on a desk, in a fork, and beside live."""

from __future__ import annotations

import os
from unittest import mock

from harness.doors import KEY, in_this_process, typed
from harness.forge import FORK
from harness.golden import Golden
from harness.jobs import Jobs, without_a_job
from harness.repositories import committed, git
from harness.workspaces import SLO, WORKSPACE

from reconciler.features.against.base_drift import TITLE
from reconciler.runtime.cache import VARIABLE

LIVE = ("apply", "--yes", "--new-journal", "-e", "production", "--override-guard", "by hand")


def test_the_story_of_a_change_without_a_key(jobs: Jobs, golden: Golden) -> None:
    """Desk, fork and reviewer see one difference, and the reviewer sees where live strayed."""
    assert in_this_process(jobs.root, jobs.service.base_url, *LIVE).code == 0
    git(jobs.root, "checkout", "--quiet", "-b", "change")
    new = SLO.replace("{name: checkout}", "{name: search}").replace("Checkout", "Search")
    (jobs.root / "search.yaml").write_text(new, "utf-8")
    jobs.edit("description: first", "description: second")

    # On a desk, before anything is committed: no key, no target, nothing left behind.
    asked = jobs.service.switch.asked
    with mock.patch.dict(os.environ, {"PATH": os.environ["PATH"], **_nobody()}, clear=True):
        desk = typed("plan", "--against", "main")
    assert desk.code == 0, desk.err
    assert jobs.base[:12] in desk.out
    golden(desk.out)

    # The same, pushed from a fork: labelled as what it is, and never applied.
    committed(jobs.root)
    jobs.key = ""
    fork = jobs.change(repository=FORK)
    assert (fork.outputs["create"], fork.outputs["update"]) == ("1", "1")
    golden(fork.summary)
    assert (jobs.marker.state, jobs.marker.digest) == ("offline", "")
    assert jobs.service.switch.asked == asked

    # Meanwhile someone turned the target by hand; the job with the key shows both.
    mine = (jobs.root / "all.yaml").read_text("utf-8")
    (jobs.root / "all.yaml").write_text(WORKSPACE.replace("99.9", "98"), "utf-8")
    (jobs.root / "search.yaml").unlink()
    assert in_this_process(jobs.root, jobs.service.base_url, *LIVE).code == 0
    (jobs.root / "all.yaml").write_text(mine, "utf-8")
    (jobs.root / "search.yaml").write_text(new, "utf-8")
    jobs.key = KEY
    live = jobs.change()
    assert live.outputs["update"] == "2"
    assert TITLE in jobs.comment
    assert "`99.9` | `98" in jobs.comment


def _nobody() -> dict[str, str]:
    return {name: text for name, text in without_a_job().items() if name in ("HOME", VARIABLE)}
