"""What a change under review may not do: choose where the key goes, or speak to the runner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ci_jobs import Shop, a_shop, git
from fake_forge import READ_ONLY
from forge_events import FORK, HEAD, NUMBER, pull_request, push, workflow_run
from processes import KEY

GUARD = 11
ELSEWHERE = "http://127.0.0.1:9"


@pytest.fixture
def shop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    with a_shop(tmp_path, capsys) as opened:
        monkeypatch.chdir(opened.root)
        yield opened


def leads_elsewhere(shop: Shop) -> None:
    """Let the project file of the change lead to another service."""
    shop.edit(shop.service.base_url, ELSEWHERE, "reconciler.yaml")


def test_a_fork(shop: Shop) -> None:
    """A fork's change is planned without service, key and comment, and that is no failure."""
    shop.key, shop.token = "", READ_ONLY
    ran = shop.change(repository=FORK)

    assert (ran.code, ran.outputs["result"]) == (0, "changes")
    assert ran.outputs["assert"] == "1"
    assert "**No live comparison.**" in ran.summary
    assert shop.forge.comments == {}
    assert shop.service.switch.asked == 0
    assert ran.spoken == [
        "::notice title=reconciler::no comment: the token of this change may only read"
    ]


def test_a_fork_with_secrets_in_its_manifests(shop: Shop) -> None:
    """A secret that a fork cannot have stands for itself."""
    shop.edit("description: first", "description: ${secret:CHANNEL}")
    shop.key, shop.token = "", READ_ONLY

    assert shop.change(repository=FORK).code == 0


def test_a_fork_that_is_wrong(shop: Shop) -> None:
    """A fork's wrong manifests are a failure, with the errors beside the lines."""
    shop.edit("kind: SLO", "kind: Slo")
    shop.key, shop.token = "", READ_ONLY
    ran = shop.change(repository=FORK)

    assert (ran.code, ran.outputs["failure-reason"]) == (4, "validation")
    assert any(line.startswith("::error file=all.yaml") for line in ran.spoken)


def test_a_bot_that_may_comment(shop: Shop) -> None:
    """What was planned without the service cannot be applied, though it stands in a comment."""
    shop.key = ""
    shop.more = {"GITHUB_ACTOR": "renovator[bot]"}
    shop.change()

    assert (shop.marker.state, shop.marker.digest) == ("offline", "")
    assert "**No live comparison.**" in shop.comment
    shop.key, shop.more = KEY, {}
    assert shop.merged().outputs["failure-reason"] == "plan-not-found"


def test_no_key_by_mistake(shop: Shop) -> None:
    """A change of the repository's own without a key is a failure that names the variable."""
    shop.key = ""
    ran = shop.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (10, "auth")
    assert "RECONCILER_API_KEY" in ran.summary


def test_a_change_that_leads_elsewhere(shop: Shop) -> None:
    """A project file that the base branch does not have is not followed."""
    leads_elsewhere(shop)
    ran = shop.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (GUARD, "guard")
    assert ELSEWHERE in ran.summary
    assert shop.service.base_url in ran.summary


def test_an_environment_of_the_change(shop: Shop) -> None:
    """An environment that only the change knows leads nowhere on the base branch."""
    shop.edit(
        "environments:", f"environments:\n  mine: {{baseUrl: '{ELSEWHERE}'}}", "reconciler.yaml"
    )
    ran = shop.change(environment="mine")

    assert ran.code == GUARD
    assert "on the base branch it leads nowhere" in ran.summary


def test_a_project_file_of_the_change(shop: Shop) -> None:
    """A project file at a new place is none of the base branch's."""
    (shop.root / "sub").mkdir()
    project = (shop.root / "reconciler.yaml").read_text(encoding="utf-8")
    (shop.root / "sub" / "reconciler.yaml").write_text(project, encoding="utf-8")

    assert shop.change(project="sub/reconciler.yaml").code == GUARD


def test_the_workflow_says_where(shop: Shop) -> None:
    """`base-url` is what counts, against the change and instead of the base branch."""
    url = shop.service.base_url
    shop.base = "f" * 40
    assert shop.change().code == GUARD
    assert shop.change(base_url=url + "/").code == 0
    leads_elsewhere(shop)
    ran = shop.change(base_url=url)

    assert ran.code == GUARD
    assert "`base-url`" in ran.summary
    assert shop.change(base_url="").code == GUARD


def test_a_bucket_of_the_change(shop: Shop) -> None:
    """A bucket that the base branch does not name is never read, `base-url` or not."""
    url = shop.service.base_url
    shop.edit(".reconciler/production.jsonl", "s3://theirs/j", "reconciler.yaml")
    ran = shop.change(base_url=url)

    assert (ran.code, ran.outputs["failure-reason"]) == (GUARD, "guard")
    assert "keeps its journal at s3://theirs/j here" in ran.summary
    assert "in no bucket" in ran.summary
    shop.base = "f" * 40
    assert "fetch-depth: 0" in shop.change(base_url=url).summary


def test_the_default_branch_is_believed(shop: Shop) -> None:
    """What was merged says where the key goes."""
    assert shop.merged("plan").outputs["result"] == "changes"


def test_another_branch_is_not(shop: Shop) -> None:
    """A branch that nobody reviewed is compared with the default branch."""
    shop.more = {"GITHUB_REF": "refs/heads/try"}
    assert shop.job("plan", "push", push()).code == GUARD
    git(shop.root, "update-ref", "refs/remotes/origin/main", shop.base)

    assert shop.job("plan", "push", push()).code == 0
    leads_elsewhere(shop)
    assert shop.job("plan", "workflow_dispatch", push()).code == GUARD


def test_a_strangers_change_with_secrets(shop: Shop) -> None:
    """With the change checked out, pull_request_target is refused unless that is meant."""
    git(shop.root, "commit", "--quiet", "--allow-empty", "--message", "A stranger's")
    shop.more = {"GITHUB_SHA": shop.base}
    payload = pull_request(FORK, base=shop.base)
    refused = shop.job("plan", "pull_request_target", payload)
    allowed = shop.job("plan", "pull_request_target", payload, allow_untrusted_manifests="true")

    assert (refused.code, allowed.code) == (GUARD, 0)
    assert "allow-untrusted-manifests" in refused.summary
    assert shop.job("validate", "pull_request_target", payload).code == 0
    leads_elsewhere(shop)
    again = shop.job("plan", "pull_request_target", payload, allow_untrusted_manifests="true")
    assert again.code == GUARD


def test_the_base_branch_with_secrets(shop: Shop) -> None:
    """What pull_request_target checks out by itself is the base branch, and that is fine."""
    shop.more = {"GITHUB_SHA": shop.base}

    assert shop.job("plan", "pull_request_target", pull_request(FORK, base=shop.base)).code == 0


def test_a_second_workflow_for_forks(shop: Shop) -> None:
    """A run that follows on a fork's change plans it live, and comments where the forge says."""
    shop.more = {"GITHUB_SHA": shop.base}
    shop.forge.pulls[HEAD] = [{"number": NUMBER, "state": "open", "head": {"sha": HEAD}}]
    ran = shop.job("plan", "workflow_run", workflow_run())

    assert ran.code == 0
    assert (shop.marker.state, shop.marker.head) == ("planned", HEAD)


def test_manifests_cannot_speak_to_the_runner(shop: Shop) -> None:
    """No text of a manifest reaches the runner as a command, or the comment as markdown."""
    text = "x ::add-mask::x ##[add-mask]x ```` <b> @a --> \\n::set-output name=a::y\\n::error::z"
    shop.edit("name: Checkout\n    description: first", f'name: "{text}"')
    planned = shop.change()
    shop.edit("kind: SavedView", f'kind: "{text}"')
    failed = shop.change()

    assert planned.outputs["result"] == "changes"
    assert planned.spoken == []
    assert [line.split(" ")[0] for line in failed.spoken] == ["::error"]
    assert failed.spoken[0].startswith("::error file=all.yaml,line=")
    fence = re.search(r"^(`{4,})text$", failed.summary, re.MULTILINE)
    assert fence is not None
    assert failed.summary.count(fence[1]) == 2


def test_the_runners_variables_are_no_secrets(shop: Shop) -> None:
    """A manifest cannot name the runner's own variables, tokens among them."""
    shop.edit("description: first", "description: ${secret:INPUT_TOKEN}")
    ran = shop.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (4, "validation")
    assert "INPUT_TOKEN" in shop.comment


def test_the_token_is_nowhere(shop: Shop) -> None:
    """Token and key are masked first, and stand nowhere else."""
    ran = shop.change()
    masks = [line for line in ran.log.splitlines() if line.startswith("::add-mask::")]
    rest = "\n".join(ran.log.splitlines()[len(masks) :])

    assert ran.log.splitlines()[: len(masks)] == masks
    assert masks == [f"::add-mask::{KEY}", f"::add-mask::{shop.token}"]
    for secret in (KEY, shop.token):
        assert secret not in "\n".join((rest, ran.summary, str(ran.outputs), shop.comment))
