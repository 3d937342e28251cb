"""The inputs of a job, its log, and jobs outside of the forge."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.jobs import PROJECT
from harness.workspaces import examples_at, examples_here

from reconciler import __version__
from reconciler.ci.result import WORDS
from reconciler.ci.runner import INPUTS, Log, Runner, read_inputs
from reconciler.errors import ExitCode, InvalidInput, ReconcilerError, UsageError
from reconciler.report.markdown import LARGEST_OUTPUTS, SUMMARY_BYTES

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (
            {"command": "aply"},
            "`command` is one of plan, apply, validate, drift, watch, rollback, and not `aply`",
        ),
        ({"command": "aply"}, "did you mean `apply`?"),
        ({"allow-destroy": "True"}, "`allow-destroy` is true or false, and not `True`"),
        ({"fail-on-changes": "no"}, "did you mean `false`?"),
        ({"break-glass": "true"}, "`break-glass` takes the reason why"),
        ({"break-glass": "False"}, "did you mean `false`?"),
        ({"summary": "0"}, "did you mean `false`?"),
        ({"annotations": "yes"}, "did you mean `true`?"),
        ({"comment": "change"}, "did you mean `changes`?"),
        ({"comment-failure": "fail"}, "`comment-failure` is warn or error, and not `fail`"),
        ({"require-plan": "comments"}, "did you mean `comment`?"),
        ({"version": "0.0.1"}, f"this is {__version__}"),
        ({"environment": "a/b"}, "`a/b` is no name of an environment"),
    ],
    ids=str,
)
def test_wrong_inputs(inputs: dict[str, str], said: str) -> None:
    """An input that cannot be meant is refused by its name, with what it may say."""
    given = {f"INPUT_{name.replace('-', '_').upper()}": text for name, text in inputs.items()}

    with pytest.raises(UsageError, match=re.escape(said)):
        read_inputs(given, None)


def test_defaults() -> None:
    """Every input has the first of its values where nothing is said, or an empty one."""
    empty = {f"INPUT_{name.replace('-', '_').upper()}": "" for name in INPUTS}
    inputs = read_inputs({}, None)

    assert inputs == read_inputs(empty, None)
    assert (inputs.command, inputs.path, inputs.comment) == ("plan", ".", "changes")
    assert (inputs.require_plan, inputs.summary, inputs.flags) == ("comment", True, {})


def test_blanks_around_a_choice() -> None:
    """Blanks around one of the values that an input may have count for nothing."""
    inputs = read_inputs({"INPUT_SUMMARY": " true ", "INPUT_COMMENT": "new "}, "plan")

    assert (inputs.summary, inputs.comment) == (True, "new")


@pytest.mark.parametrize("text", ["", " ", "false"])
def test_no_glass_is_broken(text: str) -> None:
    """A switch that is off gives no reason to break the glass."""
    assert read_inputs({"INPUT_BREAK_GLASS": text}, "apply").flags == {}


def test_plan_files() -> None:
    """Each environment and folder has a plan file and an artifact of its own."""
    places = [("", "."), ("production", "."), ("production", "infra"), ("production", "infra/eu")]
    found = [
        read_inputs({"INPUT_ENVIRONMENT": name, "INPUT_PATH": path, "RUNNER_TEMP": "/tmp/x"}, None)  # noqa: S108 - only a name
        for name, path in places
    ]

    assert [str(inputs.plan_file) for inputs in found[:2]] == [
        "/tmp/x/plan-default.json",  # noqa: S108 - only a name
        "/tmp/x/plan-production.json",  # noqa: S108 - only a name
    ]
    assert len({inputs.artifact for inputs in found}) == len(places)


def kinds_of(error: type[ReconcilerError]) -> Iterator[type[ReconcilerError]]:
    """Yield a class of errors, and all classes below it."""
    yield error
    for below in error.__subclasses__():
        yield from kinds_of(below)


@pytest.mark.promise("S50")
def test_every_reason_has_words() -> None:
    """Each exit code of a failure has a reason, and each reason of a code or an error has words."""
    import_module("reconciler.ci.command")  # Its errors are known once it is loaded.
    own = {error.failure_reason for error in kinds_of(ReconcilerError)} - {""}

    assert {code for code in ExitCode if not code.reason} == {0, 2}
    assert {code.reason for code in ExitCode} - {""} | own == set(WORDS)


def test_the_log_is_foreign() -> None:
    """No line that a command prints can speak to the runner, however it is cut."""
    stream = io.StringIO()
    log = Log(stream)
    for text in ("::error::x\n", "a\r::error::b", "c\n  ::warning::d\n##[error]x\x1b[31m\n", "end"):
        log.write(text)
    log.end()

    lines = stream.getvalue().splitlines()
    assert all(line.startswith("| ") for line in lines)
    assert lines[-1] == "| end"
    assert not any("##[" in line or "\x1b" in line or "\r" in line for line in lines)


def test_outputs_cannot_be_broken_out_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that holds its own delimiter is refused, and nothing is written."""
    runner = Runner(stream=io.StringIO(), is_forge=True, output=tmp_path / "output")
    monkeypatch.setattr("secrets.token_hex", lambda _: "delimiter")
    with pytest.raises(InvalidInput, match="digest"):
        runner.write_outputs({"result": "x", "digest": "a\ndelimiter\nresult=b"})
    with pytest.raises(InvalidInput, match="larger"):
        runner.write_outputs({"result": "x" * LARGEST_OUTPUTS})

    assert not (tmp_path / "output").exists()


def test_a_summary_that_is_too_long(tmp_path: Path) -> None:
    """A summary above the limit is cut at a line, as the runner would drop all of it."""
    runner = Runner(stream=io.StringIO(), is_forge=True, summary=tmp_path / "summary")
    runner.write_summary("line of drift ✓\n" * 100_000)

    written = (tmp_path / "summary").read_bytes()
    assert 0.99 * SUMMARY_BYTES < len(written) <= SUMMARY_BYTES
    assert written.endswith("✓\n".encode())


def test_annotations_are_counted() -> None:
    """Beyond ten of a level, the runner would drop them: the rest goes to the log."""
    stream = io.StringIO()
    runner = Runner(stream=stream, is_forge=True)
    for number in range(12):
        runner.say("warning", f"number {number}")

    lines = stream.getvalue().splitlines()
    assert sum(line.startswith("::warning") for line in lines) == 10
    assert lines[-1] == "| warning: number 11"


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = examples_at(tmp_path / "shop").root
    monkeypatch.chdir(folder)
    for name in ("GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITHUB_EVENT_NAME", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    return folder


def test_outside_of_the_forge(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any other CI the same commands work, in plain words, and say what they leave out."""
    said = []
    monkeypatch.setenv("INPUT_REQUIRE_PLAN", "file")
    for command in ("validate", "plan", "apply", "plan", "drift"):
        ran = typed("ci", command)
        assert ran.code == 0, examples
        said.append(ran.out)

    assert not any(line.startswith("::") for text in said for line in text.splitlines())
    assert "| notice: no comment: this is no job of the forge\n" in said[1]
    assert f"{examples_here()} written" in said[2]
    assert "| No drift," in said[4]


def test_a_key_outside_of_the_forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no base branch is known, the workflow itself has to say where the key may go."""
    url = "http://127.0.0.1:9"
    (tmp_path / "reconciler.yaml").write_text(PROJECT.format(url=url), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_EVENT_NAME", raising=False)
    monkeypatch.setenv("RECONCILER_API_KEY", "canary-3f81")

    unnamed = typed("ci", "plan")
    monkeypatch.setenv("RECONCILER_BASE_URL", "https://other.example.com")
    other = typed("ci", "plan")

    assert (unnamed.code, other.code) == (11, 11)
    assert "set RECONCILER_BASE_URL" in unnamed.out
    assert "canary" not in unnamed.out + other.out


@pytest.mark.promise("P6")
@pytest.mark.parametrize("setting", ["data", "journal"])
def test_paths_outside_of_the_forge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, golden: Golden
) -> None:
    """Where nothing tells what was reviewed, a job keeps its files inside the project."""
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    places = {"data": "x.db", "journal": "x.jsonl", setting: f"{outside}/x"}
    (project / "reconciler.yaml").write_text(
        f"environments: {{local: {{emulator: {{data: '{places['data']}'}}, "
        f"journal: '{places['journal']}'}}}}\n",
        encoding="utf-8",
    )
    (project / "all.yaml").write_text(
        "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {name: a}\n"
        "spec: {dashboard: {name: A, layout: {sections: []}}}\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(project)
    monkeypatch.delenv("GITHUB_EVENT_NAME", raising=False)

    ran = typed("ci", "plan")

    assert ran.code == 11
    golden(ran.out)
    assert not outside.exists()


def test_an_internal_error(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of ours is told as that, and never as a traceback."""

    def fail(*_: Any) -> None:
        raise RuntimeError("::error::broken")

    monkeypatch.setattr("reconciler.operations.plan_and_drift.plan_now", fail)

    ran = typed("ci", "plan")

    assert ran.code == 1, examples
    lines = ran.out.splitlines()
    assert sum("RuntimeError" in line for line in lines) == 1
    assert any("| internal error: RuntimeError" in line for line in lines)
    assert not any(line.startswith("::") for line in lines)


def test_a_signal(examples: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """A run that is stopped says so, and gives its outputs."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("reconciler.operations.plan_and_drift.plan_now", stop)
    monkeypatch.setenv("GITHUB_OUTPUT", str(examples.parent / "output"))

    ran = typed("ci", "plan")

    assert ran.code == 130
    golden(ran.out)
    assert "\n130\n" in (examples.parent / "output").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
@pytest.mark.parametrize("file", ["/dev/full", "none/there"])
def test_a_file_that_cannot_be_written(
    examples: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    """A run that went well but could not be told ends with 74, as nothing was wrong with it."""
    monkeypatch.setenv(name, str(examples / file))

    ran = typed("ci", "validate")

    assert (ran.code, ran.out.count("cannot be written")) == (74, 1)


def test_what_failed_comes_first(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run came to is told before who could read of it."""
    (examples / "wrong.yaml").write_text("kind: Slo\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_OUTPUT", "/dev/full")

    ran = typed("ci", "validate")

    assert (ran.code, "/dev/full cannot be written" in ran.out) == (4, True)
