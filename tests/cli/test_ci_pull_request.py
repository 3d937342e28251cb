"""From a change to the service: plan under the pull request, review, merge, apply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.forge import HEAD, NUMBER, Fault, merge_group
from harness.golden import Golden
from harness.jobs import Jobs
from harness.routes import VIEWS

COMMENTS = "/repos/team/shop/issues/7/comments"


def test_opened(jobs: Jobs) -> None:
    """A change gets its plan as a comment that the outputs lead to, and nothing is written."""
    ran = jobs.change()

    assert (ran.code, ran.outputs["result"], ran.outputs["exit-code"]) == (0, "changes", "2")
    assert ran.outputs["digest"] == jobs.marker.digest
    assert (jobs.marker.environment, jobs.marker.head) == ("production", HEAD)
    assert (jobs.marker.base, jobs.marker.state) == (jobs.base, "planned")
    assert "### Plan for `production`" in jobs.comment
    assert ran.outputs["comment-url"].endswith(f"#{ran.outputs['comment-id']}")
    assert jobs.service.writes == []
    plan = json.loads(Path(ran.outputs["plan-path"]).read_text(encoding="utf-8"))
    assert plan["digest"] == jobs.marker.digest
    assert ran.spoken == []


def test_updated(jobs: Jobs) -> None:
    """The next push changes the comment in its place."""
    jobs.change()
    before = jobs.marker.digest
    jobs.edit("description: first", "description: second")
    jobs.change()

    assert jobs.marker.digest != before
    assert len(jobs.forge.comments[NUMBER]) == 1


def test_updated_to_no_changes(jobs: Jobs) -> None:
    """A stale plan does not stay visible: the comment then says that there is nothing to do."""
    jobs.change()
    jobs.merged(require_plan="none")
    ran = jobs.change()

    assert (ran.outputs["result"], ran.outputs["keep"]) == ("no-changes", "5")
    assert jobs.marker.state == "no-changes"
    assert "3 as declared, 2 as last written (cannot be read)" in jobs.comment


def test_no_changes_from_the_start(jobs: Jobs) -> None:
    """Without changes there is no comment, and the summary has its line all the same."""
    jobs.merged(require_plan="none")
    ran = jobs.change()

    assert jobs.forge.comments == {}
    assert "### Plan for `production`" in ran.summary


def test_plan_failed(jobs: Jobs) -> None:
    """A change that cannot be planned takes the digest away, and names its errors in place."""
    jobs.change()
    for name in ("SLO", "Dashboard"):
        jobs.edit(f"kind: {name}", f"kind: {name}s")
    ran = jobs.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (4, "validation")
    assert (jobs.marker.state, jobs.marker.digest) == ("failed", "")
    assert jobs.comment.count("all.yaml:") == 2
    assert "plan-path" not in ran.outputs
    assert [line.split(",")[0] for line in ran.spoken] == ["::error file=all.yaml"] * 2
    assert jobs.merged().outputs["failure-reason"] == "validation"


def test_many_errors(jobs: Jobs) -> None:
    """Ten errors stand in the comment and nine beside the lines, each with how many more."""
    text = (jobs.root / "all.yaml").read_text(encoding="utf-8").replace("kind: ", "kind: x")
    (jobs.root / "all.yaml").write_text("---\n".join([text] * 5), encoding="utf-8")
    ran = jobs.change()

    assert jobs.comment.count("all.yaml:") == 10
    assert "and 15 more" in jobs.comment
    assert sum(line.startswith("::error ") for line in ran.spoken) == 9
    assert "and 16 more" in ran.spoken[-1]


@pytest.mark.parametrize("how", ["merge", "squash", "rebase", "queue"])
def test_merged(jobs: Jobs, how: str) -> None:
    """However a change was merged, what was reviewed is applied, and the comment says so."""
    jobs.change()
    if how == "queue":
        queued = jobs.job("plan", "merge_group", merge_group(jobs.base))
        assert (queued.code, jobs.marker.run) == (0, 41)
    commit = jobs.merge()
    if how == "rebase":
        pull = {"number": NUMBER, "merged_at": "2026-01-02T00:00:00Z", "base": {"ref": "main"}}
        jobs.forge.pulls[commit] = [{**pull, "merge_commit_sha": None}]
    ran = jobs.merged(commit=commit)

    assert (ran.code, ran.outputs["result"]) == (0, "applied")
    assert jobs.marker.state == "applied"
    assert "### Applied to `production`: 5 written" in jobs.comment
    assert len(jobs.service.writes) == 5
    again = jobs.merged(commit=commit)
    assert (again.code, again.outputs["result"]) == (0, "no-changes")
    assert jobs.marker.state == "applied"


def test_the_comment_while_it_applies(jobs: Jobs) -> None:
    """Before the first write the comment says that the plan is being applied."""
    jobs.change()
    jobs.forge.requests.clear()
    jobs.merged()

    assert sum(request.startswith("PATCH") for request in jobs.forge.requests) == 2


def test_stale(jobs: Jobs) -> None:
    """Where live is no more what was reviewed, nothing is written, and what differs is named."""
    jobs.change()
    reviewed = jobs.marker.digest
    jobs.edit("description: first", "description: second")
    ran = jobs.merged()

    assert (ran.code, ran.outputs["result"]) == (6, "stale")
    assert ran.outputs["failure-reason"] == "stale"
    assert (jobs.marker.state, jobs.marker.digest) == ("not-applied", reviewed)
    assert "Dashboard/checkout: another change than the reviewed one" in jobs.comment
    assert "Dashboard/checkout" in ran.summary
    assert jobs.service.writes == []
    jobs.edit("description: second", "description: first")
    assert jobs.merged().outputs["result"] == "applied"


def test_a_queued_merge_that_is_not_what_was_reviewed(jobs: Jobs) -> None:
    """A merge queue is told before it merges, and the reviewed digest stays."""
    jobs.change()
    reviewed = jobs.marker
    jobs.edit("description: first", "description: second")
    ran = jobs.job("plan", "merge_group", merge_group(jobs.base))

    assert (ran.code, ran.outputs["result"]) == (6, "stale")
    assert jobs.marker == reviewed


def test_nobody_reviewed_it(jobs: Jobs, golden: Golden) -> None:
    """Without a comment of ours nothing is sent."""
    ran = jobs.merged()

    assert (ran.code, ran.outputs["failure-reason"]) == (11, "plan-not-found")
    golden(ran.summary.partition("### Plan")[0])
    assert jobs.service.writes == []


def test_no_pull_request(jobs: Jobs, golden: Golden) -> None:
    """A commit that no pull request brought is not applied."""
    commit = jobs.merge()
    jobs.forge.pulls[commit] = []
    ran = jobs.merged(commit=commit)

    assert ran.outputs["failure-reason"] == "plan-not-found"
    golden(ran.summary.partition("### Plan")[0])


def test_somebody_elses_comment(jobs: Jobs) -> None:
    """A digest that another user wrote into a comment is not believed."""
    jobs.change()
    forged = jobs.comment
    jobs.forge.comments.clear()
    jobs.forge.write(NUMBER, forged, "person-token-1f1f")
    ran = jobs.merged()

    assert ran.outputs["failure-reason"] == "plan-not-found"
    assert jobs.service.writes == []


def test_in_doubt(jobs: Jobs) -> None:
    """A create whose answer was lost is told with the line that settles it."""
    jobs.change()
    jobs.service.switch.misbehave({"method": "POST", "path": VIEWS, "fault": {"drop": "after"}})
    ran = jobs.merged()

    assert (ran.code, ran.outputs["result"]) == (7, "in-doubt")
    assert jobs.marker.state == "in-doubt"
    assert "reconciler journal settle -e production SavedView/errors --id ID" in jobs.comment
    assert "| in doubt | `SavedView/errors` |" in jobs.comment


def test_partly_refused(jobs: Jobs) -> None:
    """What the service refuses is told for each resource; the rest is written."""
    jobs.change()
    refused = {"method": "PUT", "path": "*alert*", "fault": {"status": 422}}
    jobs.service.switch.misbehave(refused)
    ran = jobs.merged()

    assert (ran.code, ran.outputs["result"]) == (3, "partial")
    assert "### Applied in part to `production`: 4 written, 1 refused" in jobs.comment


def test_with_the_file(jobs: Jobs) -> None:
    """With `require-plan: file`, the file that plan wrote is what counts."""
    jobs.change(comment="never")
    ran = jobs.merged(require_plan="file")

    assert (ran.code, ran.outputs["result"]) == (0, "applied")


def test_without_the_file(jobs: Jobs) -> None:
    """Without that file nothing is applied, whatever the comment says."""
    ran = jobs.change()
    Path(ran.outputs["plan-path"]).unlink()
    ran = jobs.merged(require_plan="file")

    assert (ran.code, ran.outputs["failure-reason"]) == (11, "plan-not-found")
    assert jobs.service.writes == []


def test_a_stale_file(jobs: Jobs) -> None:
    """A plan that is not the one in the file is refused with the field that differs."""
    jobs.change()
    jobs.edit("description: first", "description: second")
    ran = jobs.merged(require_plan="file")

    assert (ran.code, ran.outputs["result"]) == (6, "stale")
    assert "Dashboard/checkout: another create" in ran.summary


@pytest.mark.parametrize(
    ("mode", "comments"), [("changes", 1), ("always", 1), ("on-error", 0), ("never", 0), ("new", 1)]
)
def test_modes_with_changes(jobs: Jobs, mode: str, comments: int) -> None:
    """`comment` says when a plan with changes is told."""
    jobs.change(comment=mode)

    assert len(jobs.forge.comments.get(NUMBER, ())) == comments


@pytest.mark.parametrize(
    ("mode", "comments"), [("changes", 1), ("always", 1), ("on-error", 1), ("never", 0), ("new", 1)]
)
def test_modes_with_an_error(jobs: Jobs, mode: str, comments: int) -> None:
    """Only `never` keeps an error from being told."""
    jobs.edit("kind: SLO", "kind: Slo")
    jobs.change(comment=mode)

    assert len(jobs.forge.comments.get(NUMBER, ())) == comments


def test_always(jobs: Jobs) -> None:
    """With `always`, also a plan without changes is told."""
    jobs.merged(require_plan="none")
    jobs.change(comment="always")

    assert jobs.marker.state == "no-changes"


def test_one_for_each_run(jobs: Jobs) -> None:
    """With `new`, each run has its comment, the older are folded, and the newest is applied."""
    jobs.change(comment="new")
    jobs.edit("description: first", "description: second")
    jobs.change(comment="new")

    assert len(jobs.forge.comments[NUMBER]) == 2
    assert jobs.marker.state == "planned"
    assert jobs.merged(comment="new").outputs["result"] == "applied"


@pytest.mark.parametrize(
    ("input_value", "code", "level"), [("warn", 0, "warning"), ("error", 9, "error")]
)
def test_a_comment_that_fails(jobs: Jobs, input_value: str, code: int, level: str) -> None:
    """`comment-failure` says how bad a lost comment is; the plan is in the summary."""
    refused = {"message": "Validation Failed"}
    jobs.forge.faults.append(Fault("POST", COMMENTS, 422, refused, times=9))
    ran = jobs.change(comment_failure=input_value)

    assert ran.code == code
    assert ran.spoken[0].startswith(f"::{level} title=reconciler::no comment: POST")
    assert "### Plan for `production`" in ran.summary
    assert ran.outputs.get("failure-reason", "") == ("api" if code else "")


def test_a_forge_that_is_down(jobs: Jobs) -> None:
    """Without an answer of the forge nobody knows what was reviewed: nothing is written."""
    jobs.change()
    refused = {"message": "Must have admin rights"}
    jobs.forge.faults.append(Fault("GET", ".*/pulls", 403, refused, times=9))
    ran = jobs.merged()

    assert (ran.code, ran.outputs["failure-reason"]) == (9, "api")
    assert jobs.service.writes == []


def test_a_refused_key(jobs: Jobs) -> None:
    """A key that the service does not accept is told as that, without the key."""
    jobs.key = "another-canary-key"
    ran = jobs.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (10, "auth")
    assert jobs.marker.state == "failed"
    first, *rest = ran.log.splitlines()
    assert first == "::add-mask::another-canary-key"
    everything = "\n".join((jobs.comment, ran.summary, str(ran.outputs), *rest))
    assert "another-canary-key" not in everything


def test_drift(jobs: Jobs) -> None:
    """Drift is a result and a table of what differs; nothing is said on a pull request."""
    jobs.merged(require_plan="none")
    same = jobs.merged("drift")
    store = jobs.service.switch.app.state.store
    assert same.outputs["result"] == "no-changes"
    assert store is not None
    assert jobs.forge.comments == {}


def test_fail_on_changes(jobs: Jobs) -> None:
    """With `fail-on-changes`, changes fail the step, and are told all the same."""
    ran = jobs.change(fail_on_changes="true")

    assert (ran.code, ran.outputs["result"]) == (2, "changes")
    assert jobs.marker.state == "planned"


def test_sarif(jobs: Jobs) -> None:
    """`sarif-file` gets all complaints, also where there are none."""
    file = jobs.temporary / "complaints.sarif"
    jobs.change("validate", sarif_file=str(file))
    none = json.loads(file.read_text(encoding="utf-8"))
    jobs.edit("kind: SLO", "kind: Slo")
    ran = jobs.change("validate", sarif_file=str(file), annotations="false")

    assert none["runs"][0]["results"] == []
    assert len(json.loads(file.read_text(encoding="utf-8"))["runs"][0]["results"]) == 1
    assert len(ran.spoken) == 1
    assert ran.spoken[0].startswith("::error title=reconciler::validate: ")


def test_no_summary(jobs: Jobs) -> None:
    """With `summary: false` the summary stays empty."""
    assert jobs.change(summary="false").summary == ""
