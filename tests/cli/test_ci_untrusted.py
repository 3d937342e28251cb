"""What a change under review may not do: choose where the key goes, or speak to the runner."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness.doors import KEY
from harness.forge import FORK, HEAD, NUMBER, READ_ONLY, pull_request, push, workflow_run
from harness.golden import Golden
from harness.jobs import Jobs
from harness.repositories import git

GUARD = 11
MORE = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: more}
spec: {dashboard: {name: More, layout: {sections: []}}}
"""
ELSEWHERE = "http://127.0.0.1:9"


def leads_elsewhere(jobs: Jobs) -> None:
    """Let the project file of the change lead to another service."""
    jobs.edit(jobs.service.base_url, ELSEWHERE, "reconciler.yaml")


def test_a_fork(jobs: Jobs) -> None:
    """A fork's change is planned without service, key and comment, and that is no failure."""
    jobs.edit("description: first", "description: second")
    jobs.key, jobs.token = "", READ_ONLY
    ran = jobs.change(repository=FORK)

    assert (ran.code, ran.outputs["result"]) == (0, "changes")
    assert "**No live comparison.**" in ran.summary
    assert jobs.forge.comments == {}
    assert jobs.service.switch.asked == 0
    assert ran.spoken == [
        "::notice title=reconciler::no comment: the token of this change may only read"
    ]


@pytest.mark.promise("P3")
def test_a_fork_against_the_base_branch(jobs: Jobs, golden: Golden) -> None:
    """A fork's change is planned against what the base branch declares, resource by resource."""
    slo = 'kind: SLO\nmetadata: {name: checkout, id: "3f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"}'
    jobs.edit("kind: SLO\nmetadata: {name: checkout}", slo)
    jobs.base = jobs.merge()
    jobs.edit("description: first", "description: second")
    (jobs.root / "more.yaml").write_text(MORE, encoding="utf-8")
    jobs.key, jobs.token = "", READ_ONLY
    ran = jobs.change(repository=FORK)

    counts = [ran.outputs[name] for name in ("create", "update", "assert", "keep", "blocked")]
    assert counts == ["1", "1", "0", "4", "0"]
    golden(ran.summary)
    assert jobs.service.switch.asked == 0
    assert git(jobs.root, "status", "--porcelain").split() == ["M", "all.yaml", "??", "more.yaml"]


def test_a_fork_that_changes_nothing(jobs: Jobs) -> None:
    """A fork's change of a comment is no change."""
    jobs.edit("description: first", "description: first # as it was")
    jobs.key, jobs.token = "", READ_ONLY

    assert jobs.change(repository=FORK).outputs["result"] == "no-changes"


@pytest.mark.parametrize("why", ["not fetched", "not valid"])
def test_a_fork_without_a_base(jobs: Jobs, why: str, golden: Golden) -> None:
    """Where the base branch is not known, or is not valid, the emulator is empty and it is said."""
    if why == "not fetched":
        jobs.base = "f" * 40
    else:
        jobs.edit("kind: SLO", "kind: Slo")
        jobs.base = jobs.merge()
        jobs.edit("kind: Slo", "kind: SLO")
    jobs.key, jobs.token = "", READ_ONLY
    ran = jobs.change(repository=FORK)

    assert ran.code == 0, ran.log
    assert (ran.code, ran.outputs["assert"], ran.outputs["keep"]) == (0, "1", "0")
    golden(ran.summary.partition("\n\n")[0])


def test_a_fork_with_secrets_in_its_manifests(jobs: Jobs) -> None:
    """A secret that a fork cannot have stands for itself."""
    jobs.edit("description: first", "description: ${secret:CHANNEL}")
    jobs.key, jobs.token = "", READ_ONLY

    assert jobs.change(repository=FORK).code == 0


def test_a_fork_that_is_wrong(jobs: Jobs) -> None:
    """A fork's wrong manifests are a failure, with the errors beside the lines."""
    jobs.edit("kind: SLO", "kind: Slo")
    jobs.key, jobs.token = "", READ_ONLY
    ran = jobs.change(repository=FORK)

    assert (ran.code, ran.outputs["failure-reason"]) == (4, "validation")
    assert any(line.startswith("::error file=all.yaml") for line in ran.spoken)


def test_a_bot_that_may_comment(jobs: Jobs) -> None:
    """What was planned without the service cannot be applied, though it stands in a comment."""
    jobs.key = ""
    jobs.more = {"GITHUB_ACTOR": "renovator[bot]"}
    jobs.change()

    assert (jobs.marker.state, jobs.marker.digest) == ("offline", "")
    assert "**No live comparison.**" in jobs.comment
    jobs.key, jobs.more = KEY, {}
    assert jobs.merged().outputs["failure-reason"] == "plan-not-found"


def test_no_key_by_mistake(jobs: Jobs) -> None:
    """A change of the repository's own without a key is a failure that names the variable."""
    jobs.key = ""
    ran = jobs.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (10, "auth")
    assert "RECONCILER_API_KEY" in ran.summary


@pytest.mark.promise("P1", "P3")
def test_a_change_that_leads_elsewhere(jobs: Jobs, golden: Golden) -> None:
    """A new `baseUrl` is not followed before it is merged, and the comment says so."""
    leads_elsewhere(jobs)
    ran = jobs.change()

    assert (ran.code, ran.outputs["result"]) == (0, "changes")
    assert jobs.service.switch.asked > 0
    golden(ran.summary.partition("\n\n")[0])
    for told in (jobs.comment, ran.summary):
        assert "Not used: `environments.production.baseUrl`." in told
        assert ELSEWHERE not in told


@pytest.mark.promise("P3")
def test_the_settings_are_the_base_branchs(jobs: Jobs) -> None:
    """Path, authorization, guards, journal and default of a change wait; its variables do not."""
    jobs.edit(
        "journal: .reconciler/production.jsonl\n    guards: {allow: [takes-over]}",
        "journal: x/y.jsonl\n    authorization: bearer\n    api: {basePath: /other}\n"
        "    guards: {maxChanges: 0}\n    variables: {name: from-the-change}",
        "reconciler.yaml",
    )
    jobs.edit("defaultEnvironment: production", "defaultEnvironment: local", "reconciler.yaml")
    jobs.edit("description: first", "description: ${var:name}")
    ran = jobs.change()

    assert (ran.code, ran.outputs["create"]) == (0, "3")
    assert jobs.service.switch.asked > 0
    assert "from-the-change" in Path(ran.outputs["plan-path"]).read_text(encoding="utf-8")
    production = "environments.production"
    named = [f"{production}.{name}" for name in ("api", "authorization", "guards", "journal")]
    for name in ("defaultEnvironment", *named):
        assert f"`{name}" in jobs.comment
    assert "variables.name" not in jobs.comment
    assert not (jobs.root / "x").exists()


def test_many_edits(jobs: Jobs) -> None:
    """Ten edits are named, with how many more there are."""
    more = "".join(f"\n  e{number}: {{baseUrl: 'https://x.test'}}" for number in range(12))
    jobs.edit("environments:", f"environments:{more}", "reconciler.yaml")
    jobs.change()

    assert re.search(
        r"Not used: (`environments\.e\d+\.baseUrl`, ){9}`[^`]+` and 2 more\.", jobs.comment
    )


@pytest.mark.promise("P1")
def test_an_environment_of_the_change(jobs: Jobs, golden: Golden) -> None:
    """An environment that only the change knows leads nowhere on the base branch."""
    jobs.edit(
        "environments:", f"environments:\n  mine: {{baseUrl: '{ELSEWHERE}'}}", "reconciler.yaml"
    )
    ran = jobs.change(environment="mine")

    assert ran.code == GUARD
    golden(ran.summary)


def test_an_emulator_of_the_change(jobs: Jobs) -> None:
    """A new environment on the embedded emulator can be planned, as nothing leaves the process."""
    jobs.edit("environments:", "environments:\n  mine: {emulator: {data: x.db}}", "reconciler.yaml")
    ran = jobs.change(environment="mine")

    assert (ran.code, ran.outputs["result"]) == (0, "changes")
    assert jobs.service.switch.asked == 0
    assert not (jobs.root / "x.db").exists()


@pytest.mark.promise("P4")
def test_a_project_file_of_the_change(jobs: Jobs, golden: Golden) -> None:
    """A project file at a new place is none of the base branch's."""
    (jobs.root / "sub").mkdir()
    project = (jobs.root / "reconciler.yaml").read_text(encoding="utf-8")
    (jobs.root / "sub" / "reconciler.yaml").write_text(project, encoding="utf-8")
    ran = jobs.change(project="sub/reconciler.yaml")

    assert ran.code == GUARD
    golden(ran.summary)


def test_a_first_project_file(jobs: Jobs, golden: Golden) -> None:
    """Where the base branch has none, the workflow says where the key goes, or nobody does."""
    git(jobs.root, "rm", "--quiet", "--cached", "reconciler.yaml")
    git(jobs.root, "commit", "--quiet", "--message", "Without a project file")
    jobs.base = jobs.head
    git(jobs.root, "add", "reconciler.yaml")
    jobs.merge()
    refused = jobs.change()
    named = jobs.change(base_url=jobs.service.base_url)

    assert (refused.code, named.code) == (GUARD, 0)
    golden(refused.summary)
    assert "`environments.production.baseUrl`" in jobs.comment


def test_a_project_file_that_is_gone(jobs: Jobs) -> None:
    """A change that removes the project file is planned with the base branch's all the same."""
    (jobs.root / "reconciler.yaml").unlink()
    ran = jobs.change()

    assert ran.code == 0
    assert jobs.service.switch.asked > 0
    assert "`environments.production.baseUrl`" in jobs.comment


def test_the_workflow_says_where(jobs: Jobs) -> None:
    """`base-url` is what counts, against the base branch too, and does not stand for it."""
    url = jobs.service.base_url
    base, jobs.base = jobs.base, "f" * 40
    for inputs in ({}, {"base_url": url}):
        ran = jobs.change(**inputs)
        assert ran.code == GUARD
        assert "fetch-depth: 0" in ran.summary
    jobs.base = base
    assert jobs.change(base_url=url + "/").code == 0
    ran = jobs.change(base_url=ELSEWHERE)

    assert ran.code == GUARD
    assert "`base-url`" in ran.summary


@pytest.mark.promise("P1", "P6")
@pytest.mark.parametrize("place", ["s3://theirs/j", "/srv/theirs.jsonl", "git:refs/theirs/j"])
def test_a_journal_of_the_change(jobs: Jobs, place: str) -> None:
    """A journal elsewhere waits for the merge: no bucket is read, no ref fetched, no file made."""
    jobs.edit(".reconciler/production.jsonl", place, "reconciler.yaml")
    ran = jobs.change()

    assert ran.code == 0
    assert "`environments.production.journal`" in jobs.comment


@pytest.mark.promise("P1", "P6")
def test_a_journal_that_the_change_brings(jobs: Jobs, golden: Golden) -> None:
    """A journal that is committed with the change is not read: it could hide what is planned."""
    journal = jobs.root / ".reconciler" / "production.jsonl"
    git(jobs.root, "add", "--force", str(journal))
    jobs.merge()
    ran = jobs.change()

    assert ran.code == GUARD
    golden(ran.summary)


def test_the_default_branch_is_believed(jobs: Jobs) -> None:
    """What was merged says where the key goes."""
    assert jobs.merged("plan").outputs["result"] == "changes"


def test_another_branch_is_not(jobs: Jobs) -> None:
    """A branch that nobody reviewed is compared with the default branch."""
    jobs.more = {"GITHUB_REF": "refs/heads/try"}
    assert jobs.job("plan", "push", push()).code == GUARD
    git(jobs.root, "update-ref", "refs/remotes/origin/main", jobs.base)

    assert jobs.job("plan", "push", push()).code == 0
    leads_elsewhere(jobs)
    ran = jobs.job("plan", "workflow_dispatch", push())
    assert ran.code == 0
    assert "`environments.production.baseUrl`" in ran.summary


def test_a_strangers_change_with_secrets(jobs: Jobs) -> None:
    """With the change checked out, pull_request_target is refused unless that is meant."""
    git(jobs.root, "commit", "--quiet", "--allow-empty", "--message", "A stranger's")
    jobs.more = {"GITHUB_SHA": jobs.base}
    payload = pull_request(FORK, base=jobs.base)
    refused = jobs.job("plan", "pull_request_target", payload)
    allowed = jobs.job("plan", "pull_request_target", payload, allow_untrusted_manifests="true")

    assert (refused.code, allowed.code) == (GUARD, 0)
    assert "allow-untrusted-manifests" in refused.summary
    assert jobs.job("validate", "pull_request_target", payload).code == 0
    leads_elsewhere(jobs)
    again = jobs.job("plan", "pull_request_target", payload, allow_untrusted_manifests="true")
    assert again.code == 0
    assert "`environments.production.baseUrl`" in again.summary


def test_the_base_branch_with_secrets(jobs: Jobs) -> None:
    """What pull_request_target checks out by itself is the base branch, and that is fine."""
    jobs.more = {"GITHUB_SHA": jobs.base}

    assert jobs.job("plan", "pull_request_target", pull_request(FORK, base=jobs.base)).code == 0


def test_a_second_workflow_for_forks(jobs: Jobs) -> None:
    """A run that follows on a fork's change plans it live, and comments where the forge says."""
    jobs.more = {"GITHUB_SHA": jobs.base}
    jobs.forge.pulls[HEAD] = [{"number": NUMBER, "state": "open", "head": {"sha": HEAD}}]
    ran = jobs.job("plan", "workflow_run", workflow_run())

    assert ran.code == 0
    assert (jobs.marker.state, jobs.marker.head) == ("planned", HEAD)


def test_manifests_cannot_speak_to_the_runner(jobs: Jobs) -> None:
    """No text of a manifest reaches the runner as a command, or the comment as markdown."""
    text = "x ::add-mask::x ##[add-mask]x ```` <b> @a --> \\n::set-output name=a::y\\n::error::z"
    jobs.edit("name: Checkout\n    description: first", f'name: "{text}"')
    planned = jobs.change()
    jobs.edit("kind: SavedView", f'kind: "{text}"')
    failed = jobs.change()

    assert planned.outputs["result"] == "changes"
    assert planned.spoken == []
    assert [line.split(" ")[0] for line in failed.spoken] == ["::error"]
    assert failed.spoken[0].startswith("::error file=all.yaml,line=")
    fence = re.search(r"^(`{4,})text$", failed.summary, re.MULTILINE)
    assert fence is not None
    assert failed.summary.count(fence[1]) == 2


def test_the_runners_variables_are_no_secrets(jobs: Jobs) -> None:
    """A manifest cannot name the runner's own variables, tokens among them."""
    jobs.edit("description: first", "description: ${secret:INPUT_TOKEN}")
    ran = jobs.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (4, "validation")
    assert "INPUT_TOKEN" in jobs.comment


def test_the_token_is_nowhere(jobs: Jobs) -> None:
    """Token and key are masked first, and stand nowhere else."""
    ran = jobs.change()
    masks = [line for line in ran.log.splitlines() if line.startswith("::add-mask::")]
    rest = "\n".join(ran.log.splitlines()[len(masks) :])

    assert ran.log.splitlines()[: len(masks)] == masks
    assert masks == [f"::add-mask::{KEY}", f"::add-mask::{jobs.token}"]
    for secret in (KEY, jobs.token):
        assert secret not in "\n".join((rest, ran.summary, str(ran.outputs), jobs.comment))


def test_drift_of_a_change_is_not_remembered(jobs: Jobs) -> None:
    """A change under review may be looked at, and writes nothing into the journal by it."""
    jobs.edit("description: first", "description: second")
    jobs.merged(require_plan="none", new_journal="true")
    jobs.edit("description: second", "description: third")
    journal = jobs.root / ".reconciler" / "journal.jsonl"
    before = journal.read_bytes() if journal.exists() else b""

    looked = jobs.change("drift")
    remembered = jobs.change("drift", remember="true")

    assert (looked.code, remembered.code) == (0, GUARD)
    assert (journal.read_bytes() if journal.exists() else b"") == before
