"""action.yml, by running what it runs with the files and variables of a runner."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from run_action import (
    SUMMARY_BYTES,
    Inputs,
    Ran,
    RefusedError,
    command_environ,
    masked,
    read_inputs,
    shortened,
    summary,
)
from runner import DEFAULTS, ROOT, Job, Step

from reconciler import __version__

REFUSED, GUARD = 64, 11
COUNTS = ("create", "update", "assert", "keep", "blocked")
KEY = "canary%key-3f2a"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    ignored = shutil.ignore_patterns(".reconciler")
    shutil.copytree(ROOT / "examples", tmp_path / "shop", ignore=ignored)
    (tmp_path / "temporary").mkdir()
    return Job(tmp_path / "shop", tmp_path / "temporary")


def edit(job: Job, name: str, before: str, after: str) -> None:
    """Change one manifest of the workspace."""
    file = job.workspace / name
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def counts(step: Step) -> dict[str, int]:
    """Give the counts among a step's outputs."""
    return {name: int(step.outputs[name]) for name in COUNTS}


def test_validate(job: Job) -> None:
    """A valid workspace passes, says so in the summary, and has no counts."""
    step = job.step("validate")

    assert step.code == 0
    assert step.outputs == {"result": "no-changes", "exit-code": "0"}
    assert "21 resources in 16 files: 0 errors" in step.summary
    assert step.spoken == []


def test_plan(job: Job) -> None:
    """A plan is the summary in markdown, a file, and counts; changes are no failure."""
    step = job.step("plan")

    assert step.code == 0
    assert step.outputs["result"] == "changes"
    assert step.outputs["exit-code"] == "2"
    assert counts(step) == {"create": 10, "update": 1, "assert": 10, "keep": 0, "blocked": 0}
    assert step.summary.startswith("### Plan for `local`: 10 to create")
    plan = json.loads(Path(step.outputs["plan-path"]).read_text(encoding="utf-8"))
    assert step.outputs["digest"] == plan["digest"]
    assert step.outputs["artifact-name"] == "plan-default"
    assert step.spoken == []


def test_apply_of_the_plan(job: Job) -> None:
    """Apply writes what the plan file holds; then nothing is left to do, and nothing drifted."""
    job.step("plan")
    applied = job.step("apply")
    again = job.step("plan")
    drift = job.step("drift")

    assert (applied.code, applied.outputs["result"]) == (0, "applied")
    assert "21 written" in applied.summary
    assert (again.outputs["result"], counts(again)["keep"]) == ("no-changes", 21)
    assert (drift.code, drift.outputs["result"]) == (0, "no-changes")
    assert job.step("apply").outputs["result"] == "no-changes"


def test_apply_of_a_stale_plan(job: Job) -> None:
    """Manifests that changed since the plan are not applied."""
    job.step("plan")
    edit(job, "shop/dashboard.yaml", "relativeTimeFrame: ", "relativeTimeFrame: 7200s #")
    step = job.step("apply")

    assert (step.code, step.outputs["result"]) == (6, "stale")
    assert "Dashboard/overview" in step.summary
    assert len(step.spoken) == 1
    assert step.spoken[0].startswith("::error title=reconciler::apply: stale")
    assert job.step("plan").outputs["create"] == "10"


def test_apply_without_a_plan(job: Job) -> None:
    """Without the file that a plan wrote, nothing is applied."""
    step = job.step("apply")

    assert (step.code, step.outputs) == (4, {"result": "failed", "exit-code": "4"})
    assert job.step("plan").outputs["create"] == "10"


def test_a_plan_that_fails_leaves_no_file(job: Job) -> None:
    """An earlier plan cannot be applied once a later one failed."""
    job.step("plan")
    edit(job, "shop/dashboard.yaml", "kind: Dashboard", "kind: Dashbord")
    step = job.step("plan")

    assert (step.code, step.outputs) == (4, {"result": "failed", "exit-code": "4"})
    assert "shop/dashboard.yaml:" in step.summary
    assert job.step("apply").outputs["exit-code"] == "4"


def test_changes_can_fail(job: Job) -> None:
    """With `fail-on-changes`, changes fail the step, and the plan is still there."""
    step = job.step("plan", fail_on_changes="true", plan_file="../plan-shop.json")

    assert (step.code, step.outputs["result"]) == (2, "changes")
    assert Path(step.outputs["plan-path"]).is_file()


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"command": "aply"}, "`command` is one of plan, apply, validate, drift"),
        ({"allow_destroy": "True"}, "`allow-destroy` is true or false, and not `True`"),
        ({"fail_on_changes": "no"}, "did you mean `false`?"),
        ({"version": "0.0.1"}, f"this action brings {__version__}"),
        ({"environment": "a/b"}, "`plan-file` is needed"),
    ],
)
def test_wrong_inputs(inputs: dict[str, str], said: str) -> None:
    """An input that cannot be meant is refused by its name."""
    given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}

    with pytest.raises(RefusedError, match=re.escape(said)) as refused:
        read_inputs({**DEFAULTS, "RUNNER_TEMP": "temporary", **given})
    assert refused.value.code == REFUSED


def test_a_refused_input_is_told(job: Job) -> None:
    """A refusal is an annotation and outputs, and no command runs."""
    step = job.step("plan", allow_destroy="yes")

    assert (step.code, step.outputs) == (REFUSED, {"result": "failed", "exit-code": str(REFUSED)})
    assert step.log.startswith("::error title=reconciler::`allow-destroy` is true or false")
    assert step.summary == ""


def test_a_key_goes_only_where_the_workflow_says(job: Job) -> None:
    """A key without `base-url` is masked, then refused, whatever the project file says."""
    step = job.step("plan", api_key=KEY, environment="production")

    assert (step.code, step.outputs["result"]) == (GUARD, "blocked")
    first, *rest = step.log.splitlines()
    assert first == "::add-mask::canary%25key-3f2a"
    assert "canary" not in "\n".join(rest)


def test_another_service_than_the_workflow_says(job: Job) -> None:
    """A project file that leads elsewhere than `base-url` is refused with both named."""
    step = job.step(
        "plan",
        environment="production",
        api_key=KEY,
        base_url="https://other.example.com",
        plan_file="plan.json",
    )

    assert step.code == REFUSED
    assert "https://other.example.com" in step.summary
    assert "canary" not in step.summary


def test_a_key_is_never_told() -> None:
    """`validate` runs without the key, and no command sees the runner's own variables."""
    environ = {
        "RECONCILER_API_KEY": KEY,
        "INPUT_BASE_URL": "https://api.example.com",
        "ACTIONS_RUNTIME_TOKEN": "canary",
        "GITHUB_TOKEN": "canary",
        "INPUT_API_KEY": "",
        "PATH": "/bin",
    }

    assert command_environ(environ, "validate") == {"PATH": "/bin"}
    assert command_environ(environ, "plan") == {
        "PATH": "/bin",
        "RECONCILER_API_KEY": KEY,
        "RECONCILER_BASE_URL": "https://api.example.com",
    }


def test_masks_speak_for_themselves() -> None:
    """Every line of a key is masked, and none of them can be another workflow command."""
    lines = list(masked({"INPUT_API_KEY": "one\r\n::error::two\n\n", "RECONCILER_API_KEY": "%0A"}))

    assert lines == ["::add-mask::one", "::add-mask::::error::two", "::add-mask::%250A"]


def test_strangers_never_meet_the_key(job: Job) -> None:
    """On pull_request_target nothing but `validate` runs."""
    environ = {"GITHUB_EVENT_NAME": "pull_request_target"}
    for command in ("plan", "apply", "drift"):
        with pytest.raises(RefusedError, match="pull_request_target") as refused:
            command_environ(environ, command)
        assert refused.value.code == GUARD

    assert Job(job.workspace, job.temporary, environ).step("validate").code == 0


def test_manifests_cannot_speak_to_the_runner(job: Job) -> None:
    """No text of a manifest reaches the runner as a command, an output or markdown."""
    text = (
        "x ::add-mask::x ##[add-mask]x ```` <b> @alice\\n::set-output name=result::y\\n::error::z"
    )
    edit(job, "checkout/view.yaml", "spec:\n  name: ", f'spec:\n  name: "{text}" #')
    edit(job, "search/view.yaml", "kind: SavedView", f'kind: "{text}"')
    failed = job.step("plan")
    edit(job, "search/view.yaml", f'kind: "{text}"', "kind: SavedView")
    planned = job.step("plan")

    assert failed.code == 4
    assert len(failed.spoken) == 1
    assert failed.spoken[0].startswith("::error title=reconciler::plan: failed")
    assert planned.spoken == []
    assert planned.outputs["result"] == "changes"
    fence = re.search(r"^(`{3,})text$", failed.summary, re.MULTILINE)
    assert fence is not None
    assert failed.summary.count(fence[1]) == 2


def test_the_working_folder_is_not_imported(job: Job) -> None:
    """Python files of a change are data: a module of theirs is never run."""
    for name in ("json.py", "click.py", "sitecustomize.py"):
        (job.workspace / name).write_text("raise SystemExit(99)\n")
    (job.workspace / "reconciler").mkdir()
    (job.workspace / "reconciler" / "__init__.py").write_text("raise SystemExit(99)\n")

    assert job.step("validate").code == 0


def test_the_path_is_no_flag(job: Job) -> None:
    """A path that looks like a flag is a path."""
    assert "--help" in job.step("validate", path="--help").summary


def test_long_text_fits_the_summary() -> None:
    """A summary above the runner's limit is cut at a line, inside its fence."""
    inputs = Inputs(
        "drift", ".", "", "", Path("plan.json"), allow_destroy=False, fail_on_changes=False
    )
    said = "line of drift ✓\n" * 100_000

    text = summary(inputs, Ran(2, said, ""))
    assert len(text.encode()) < SUMMARY_BYTES + 200
    assert text.endswith("(the rest stands in the log)\n```\n")
    assert shortened("short") == "short"
