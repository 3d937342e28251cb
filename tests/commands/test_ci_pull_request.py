"""From a change to the service: plan under the pull request, review, merge, apply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from ci_jobs import Shop, a_shop
from fake_forge import Fault
from forge_events import HEAD, NUMBER, merge_group
from processes import VIEWS

COMMENTS = "/repos/team/shop/issues/7/comments"


@pytest.fixture
def shop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    with a_shop(tmp_path, capsys) as opened:
        monkeypatch.chdir(opened.root)
        yield opened


def test_opened(shop: Shop) -> None:
    """A change gets its plan as a comment that the outputs lead to, and nothing is written."""
    ran = shop.change()

    assert (ran.code, ran.outputs["result"], ran.outputs["exit-code"]) == (0, "changes", "2")
    assert ran.outputs["digest"] == shop.marker.digest
    assert (shop.marker.environment, shop.marker.head) == ("production", HEAD)
    assert (shop.marker.base, shop.marker.state) == (shop.base, "planned")
    assert "### Plan for `production`" in shop.comment
    assert ran.outputs["comment-url"].endswith(f"#{ran.outputs['comment-id']}")
    assert shop.service.writes == []
    plan = json.loads(Path(ran.outputs["plan-path"]).read_text(encoding="utf-8"))
    assert plan["digest"] == shop.marker.digest
    assert ran.spoken == []


def test_updated(shop: Shop) -> None:
    """The next push changes the comment in its place."""
    shop.change()
    before = shop.marker.digest
    shop.edit("description: first", "description: second")
    shop.change()

    assert shop.marker.digest != before
    assert len(shop.forge.comments[NUMBER]) == 1


def test_updated_to_no_changes(shop: Shop) -> None:
    """A stale plan does not stay visible: the comment then says that there is nothing to do."""
    shop.change()
    shop.merged(require_plan="none")
    ran = shop.change()

    assert (ran.outputs["result"], ran.outputs["keep"]) == ("no-changes", "5")
    assert shop.marker.state == "no-changes"
    assert "5 unchanged" in shop.comment


def test_no_changes_from_the_start(shop: Shop) -> None:
    """Without changes there is no comment, and the summary has its line all the same."""
    shop.merged(require_plan="none")
    ran = shop.change()

    assert shop.forge.comments == {}
    assert "### Plan for `production`" in ran.summary


def test_plan_failed(shop: Shop) -> None:
    """A change that cannot be planned takes the digest away, and names its errors in place."""
    shop.change()
    for name in ("SLO", "Dashboard"):
        shop.edit(f"kind: {name}", f"kind: {name}s")
    ran = shop.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (4, "validation")
    assert (shop.marker.state, shop.marker.digest) == ("failed", "")
    assert shop.comment.count("all.yaml:") == 2
    assert "plan-path" not in ran.outputs
    assert [line.split(",")[0] for line in ran.spoken] == ["::error file=all.yaml"] * 2
    assert shop.merged().outputs["failure-reason"] == "validation"


def test_many_errors(shop: Shop) -> None:
    """Ten errors stand in the comment and nine beside the lines, each with how many more."""
    text = (shop.root / "all.yaml").read_text(encoding="utf-8").replace("kind: ", "kind: x")
    (shop.root / "all.yaml").write_text("---\n".join([text] * 5), encoding="utf-8")
    ran = shop.change()

    assert shop.comment.count("all.yaml:") == 10
    assert "and 15 more" in shop.comment
    assert sum(line.startswith("::error ") for line in ran.spoken) == 9
    assert "and 16 more" in ran.spoken[-1]


@pytest.mark.parametrize("how", ["merge", "squash", "rebase", "queue"])
def test_merged(shop: Shop, how: str) -> None:
    """However a change was merged, what was reviewed is applied, and the comment says so."""
    shop.change()
    if how == "queue":
        queued = shop.job("plan", "merge_group", merge_group(shop.base))
        assert (queued.code, shop.marker.run) == (0, 41)
    commit = shop.merge()
    if how == "rebase":
        pull = {"number": NUMBER, "merged_at": "2026-01-02T00:00:00Z", "base": {"ref": "main"}}
        shop.forge.pulls[commit] = [{**pull, "merge_commit_sha": None}]
    ran = shop.merged(commit=commit)

    assert (ran.code, ran.outputs["result"]) == (0, "applied")
    assert shop.marker.state == "applied"
    assert "### Applied to `production`: 5 written" in shop.comment
    assert len(shop.service.writes) == 5
    again = shop.merged(commit=commit)
    assert (again.code, again.outputs["result"]) == (0, "no-changes")
    assert shop.marker.state == "applied"


def test_the_comment_while_it_applies(shop: Shop) -> None:
    """Before the first write the comment says that the plan is being applied."""
    shop.change()
    shop.forge.requests.clear()
    shop.merged()

    assert sum(one.startswith("PATCH") for one in shop.forge.requests) == 2


def test_stale(shop: Shop) -> None:
    """Where live is no more what was reviewed, nothing is written, and what differs is named."""
    shop.change()
    reviewed = shop.marker.digest
    shop.edit("description: first", "description: second")
    ran = shop.merged()

    assert (ran.code, ran.outputs["result"]) == (6, "stale")
    assert ran.outputs["failure-reason"] == "stale"
    assert (shop.marker.state, shop.marker.digest) == ("not-applied", reviewed)
    assert "Dashboard/checkout: another change than the reviewed one" in shop.comment
    assert "Dashboard/checkout" in ran.summary
    assert shop.service.writes == []
    shop.edit("description: second", "description: first")
    assert shop.merged().outputs["result"] == "applied"


def test_a_queued_merge_that_is_not_what_was_reviewed(shop: Shop) -> None:
    """A merge queue is told before it merges, and the reviewed digest stays."""
    shop.change()
    reviewed = shop.marker
    shop.edit("description: first", "description: second")
    ran = shop.job("plan", "merge_group", merge_group(shop.base))

    assert (ran.code, ran.outputs["result"]) == (6, "stale")
    assert shop.marker == reviewed


def test_nobody_reviewed_it(shop: Shop) -> None:
    """Without a comment of ours nothing is sent."""
    ran = shop.merged()

    assert (ran.code, ran.outputs["failure-reason"]) == (11, "plan-not-found")
    assert "pull request 7 has no plan of ours" in ran.summary
    assert shop.service.writes == []


def test_no_pull_request(shop: Shop) -> None:
    """A commit that no pull request brought is not applied."""
    commit = shop.merge()
    shop.forge.pulls[commit] = []
    ran = shop.merged(commit=commit)

    assert ran.outputs["failure-reason"] == "plan-not-found"
    assert "no pull request brought this commit here" in ran.summary


def test_somebody_elses_comment(shop: Shop) -> None:
    """A digest that another user wrote into a comment is not believed."""
    shop.change()
    forged = shop.comment
    shop.forge.comments.clear()
    shop.forge.write(NUMBER, forged, "person-token-1f1f")
    ran = shop.merged()

    assert ran.outputs["failure-reason"] == "plan-not-found"
    assert shop.service.writes == []


def test_in_doubt(shop: Shop) -> None:
    """A create whose answer was lost is told with the line that settles it."""
    shop.change()
    shop.service.switch.misbehave({"method": "POST", "path": VIEWS, "fault": {"drop": "after"}})
    ran = shop.merged()

    assert (ran.code, ran.outputs["result"]) == (7, "in-doubt")
    assert shop.marker.state == "in-doubt"
    assert "reconciler journal settle -e production SavedView/errors --id ID" in shop.comment
    assert "| in doubt | `SavedView/errors` |" in shop.comment


def test_partly_refused(shop: Shop) -> None:
    """What the service refuses is told for each resource; the rest is written."""
    shop.change()
    refused = {"method": "PUT", "path": "*alert*", "fault": {"status": 422}}
    shop.service.switch.misbehave(refused)
    ran = shop.merged()

    assert (ran.code, ran.outputs["result"]) == (3, "partial")
    assert "### Applied in part to `production`: 4 written, 1 refused" in shop.comment


def test_with_the_file(shop: Shop) -> None:
    """With `require-plan: file`, the file that plan wrote is what counts."""
    shop.change(comment="never")
    ran = shop.merged(require_plan="file")

    assert (ran.code, ran.outputs["result"]) == (0, "applied")


def test_without_the_file(shop: Shop) -> None:
    """Without that file nothing is applied, whatever the comment says."""
    ran = shop.change()
    Path(ran.outputs["plan-path"]).unlink()
    ran = shop.merged(require_plan="file")

    assert (ran.code, ran.outputs["failure-reason"]) == (11, "plan-not-found")
    assert shop.service.writes == []


def test_a_stale_file(shop: Shop) -> None:
    """A plan that is not the one in the file is refused with the field that differs."""
    shop.change()
    shop.edit("description: first", "description: second")
    ran = shop.merged(require_plan="file")

    assert (ran.code, ran.outputs["result"]) == (6, "stale")
    assert "Dashboard/checkout: another create" in ran.summary


@pytest.mark.parametrize(
    ("mode", "comments"), [("changes", 1), ("always", 1), ("on-error", 0), ("never", 0), ("new", 1)]
)
def test_modes_with_changes(shop: Shop, mode: str, comments: int) -> None:
    """`comment` says when a plan with changes is told."""
    shop.change(comment=mode)

    assert len(shop.forge.comments.get(NUMBER, ())) == comments


@pytest.mark.parametrize(
    ("mode", "comments"), [("changes", 1), ("always", 1), ("on-error", 1), ("never", 0), ("new", 1)]
)
def test_modes_with_an_error(shop: Shop, mode: str, comments: int) -> None:
    """Only `never` keeps an error from being told."""
    shop.edit("kind: SLO", "kind: Slo")
    shop.change(comment=mode)

    assert len(shop.forge.comments.get(NUMBER, ())) == comments


def test_always(shop: Shop) -> None:
    """With `always`, also a plan without changes is told."""
    shop.merged(require_plan="none")
    shop.change(comment="always")

    assert shop.marker.state == "no-changes"


def test_one_for_each_run(shop: Shop) -> None:
    """With `new`, each run has its comment, the older are folded, and the newest is applied."""
    shop.change(comment="new")
    shop.edit("description: first", "description: second")
    shop.change(comment="new")

    assert len(shop.forge.comments[NUMBER]) == 2
    assert shop.marker.state == "planned"
    assert shop.merged(comment="new").outputs["result"] == "applied"


@pytest.mark.parametrize(
    ("input_value", "code", "level"), [("warn", 0, "warning"), ("error", 9, "error")]
)
def test_a_comment_that_fails(shop: Shop, input_value: str, code: int, level: str) -> None:
    """`comment-failure` says how bad a lost comment is; the plan is in the summary."""
    refused = {"message": "Validation Failed"}
    shop.forge.faults.append(Fault("POST", COMMENTS, 422, refused, times=9))
    ran = shop.change(comment_failure=input_value)

    assert ran.code == code
    assert ran.spoken[0].startswith(f"::{level} title=reconciler::no comment: POST")
    assert "### Plan for `production`" in ran.summary
    assert ran.outputs.get("failure-reason", "") == ("api" if code else "")


def test_a_forge_that_is_down(shop: Shop) -> None:
    """Without an answer of the forge nobody knows what was reviewed: nothing is written."""
    shop.change()
    refused = {"message": "Must have admin rights"}
    shop.forge.faults.append(Fault("GET", ".*/pulls", 403, refused, times=9))
    ran = shop.merged()

    assert (ran.code, ran.outputs["failure-reason"]) == (9, "api")
    assert shop.service.writes == []


def test_a_refused_key(shop: Shop) -> None:
    """A key that the service does not accept is told as that, without the key."""
    shop.key = "another-canary-key"
    ran = shop.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (10, "auth")
    assert shop.marker.state == "failed"
    first, *rest = ran.log.splitlines()
    assert first == "::add-mask::another-canary-key"
    everything = "\n".join((shop.comment, ran.summary, str(ran.outputs), *rest))
    assert "another-canary-key" not in everything


def test_drift(shop: Shop) -> None:
    """Drift is a result and a table of what differs; nothing is said on a pull request."""
    shop.merged(require_plan="none")
    same = shop.merged("drift")
    store = shop.service.switch.app.state.store
    assert same.outputs["result"] == "no-changes"
    assert store is not None
    assert shop.forge.comments == {}


def test_fail_on_changes(shop: Shop) -> None:
    """With `fail-on-changes`, changes fail the step, and are told all the same."""
    ran = shop.change(fail_on_changes="true")

    assert (ran.code, ran.outputs["result"]) == (2, "changes")
    assert shop.marker.state == "planned"


def test_sarif(shop: Shop) -> None:
    """`sarif-file` gets all complaints, also where there are none."""
    file = shop.temporary / "complaints.sarif"
    shop.change("validate", sarif_file=str(file))
    none = json.loads(file.read_text(encoding="utf-8"))
    shop.edit("kind: SLO", "kind: Slo")
    ran = shop.change("validate", sarif_file=str(file), annotations="false")

    assert none["runs"][0]["results"] == []
    assert len(json.loads(file.read_text(encoding="utf-8"))["runs"][0]["results"]) == 1
    assert len(ran.spoken) == 1
    assert ran.spoken[0].startswith("::error title=reconciler::validate: ")


def test_no_summary(shop: Shop) -> None:
    """With `summary: false` the summary stays empty."""
    assert shop.change(summary="false").summary == ""
