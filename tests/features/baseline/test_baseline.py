"""`baseline:`: old complaints are ignored, new ones are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import typed
from harness.workspaces import ALERT, PROJECT, VIEW, Workspace, project_at

UNDESCRIBED = ALERT.replace("  description: Whoever is on call looks at the checkout.\n", "")
TWO = f"{PROJECT}  live: {{baseUrl: 'http://127.0.0.1:9'}}\n"
OTHER = UNDESCRIBED.replace("name: errors, id: 2f6a1c1e", "name: slow, id: 3f6a1c1e")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Return a project with a baseline, and an alert with one warning."""
    monkeypatch.chdir(tmp_path)
    return project_at(tmp_path, f"{PROJECT}baseline: baseline.jsonl\n", alert=UNDESCRIBED)


def codes() -> list[str]:
    """Return the codes that `validate` reports."""
    return [found["code"] for found in typed("validate", "--format", "json").json["complaints"]]


def test_what_is_old_is_ignored_and_what_is_new_is_shown(project: Workspace) -> None:
    """After an update no old complaint is reported, and the first new one is."""
    before = codes()
    updated = typed("validate", "--update-baseline")
    after = codes()
    project.write("other.yaml", OTHER)

    assert before
    assert (updated.code, after) == (0, [])
    assert f"baseline.jsonl: {len(before)} complaint" in updated.err
    assert codes() == before


def test_a_second_mistake_of_a_resource_is_shown(project: Workspace) -> None:
    """An entry covers as many complaints as were counted, and no more."""
    typed("validate", "--update-baseline")
    lines = (project.root / "baseline.jsonl").read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]

    assert {entry["count"] for entry in entries} == {1}
    assert [*entries[0]] == ["code", "resource", "field", "count"]
    project.write("alert.yaml", f"{UNDESCRIBED}  colour: red\n")
    assert "M304" in codes()


def test_an_update_forgets_what_is_repaired(project: Workspace) -> None:
    """An entry without a complaint leaves the file."""
    typed("validate", "--update-baseline")
    project.write("alert.yaml", ALERT)
    updated = typed("validate", "--update-baseline")

    assert updated.code == 0
    assert (project.root / "baseline.jsonl").read_text("utf-8") == ""


def test_errors_are_never_hidden(project: Workspace) -> None:
    """An error is reported after an update too, unless `checks:` made it one."""
    project.write("alert.yaml", UNDESCRIBED.replace("logsImmediate: {}", "logsImmediate: none"))
    assert typed("validate", "--update-baseline").code == 4
    assert codes()
    project.write("alert.yaml", UNDESCRIBED)
    (code,) = codes()
    project.settle(f"{PROJECT}baseline: baseline.jsonl\nchecks: {{{code}: error}}\n")
    assert typed("validate").code == 4
    assert typed("validate", "--update-baseline").code == 0
    assert typed("validate").code == 0


def test_every_command_ignores_what_is_accepted(project: Workspace) -> None:
    """A plan reports no accepted complaint either."""
    project.write("alert.yaml", f"{UNDESCRIBED}---\n{VIEW}")
    typed("validate", "--update-baseline")
    planned = typed("plan")

    assert planned.code == 0
    assert "warning" not in planned.err


def test_a_line_that_is_no_entry(project: Workspace) -> None:
    """A malformed line is an error at its place, and the file hides nothing."""
    typed("validate", "--update-baseline")
    file = project.root / "baseline.jsonl"
    file.write_text(f"{file.read_text('utf-8')}<<<<<<< HEAD\n", encoding="utf-8")
    found = typed("validate", "--format", "json").json["complaints"]

    assert [(one["code"], one["file"]) for one in found][-1] == ("M119", "baseline.jsonl")
    assert len(found) > 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["alert.yaml"], "all manifests"),
        (["-e", "live"], "all manifests"),
        (["--select", "kind=SLO"], "all manifests"),
        (["--fix"], "--fix"),
    ],
    ids=str,
)
def test_an_update_is_about_all(project: Workspace, arguments: list[str], said: str) -> None:
    """A part would take the entries of the rest away, so it is refused."""
    project.settle(f"{TWO}baseline: baseline.jsonl\n")
    ran = typed("validate", "--update-baseline", *arguments)

    assert ran.code == 64
    assert said in ran.err
    assert not (project.root / "baseline.jsonl").exists()


def test_an_update_of_the_one_environment(project: Workspace) -> None:
    """Where a project has one environment, `-e` names all of it."""
    assert typed("validate", "--update-baseline", "-e", "local").code == 0
    assert (project.root / "baseline.jsonl").exists()


def test_an_update_without_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `baseline:` the remedy is the line to write."""
    project_at(tmp_path, alert=UNDESCRIBED)
    monkeypatch.chdir(tmp_path)
    ran = typed("validate", "--update-baseline")

    assert ran.code == 64
    assert "`baseline: baseline.jsonl`" in ran.err


def test_a_baseline_in_a_new_folder(project: Workspace) -> None:
    """An update makes the folders of the file; a file in the place of a folder stays."""
    project.settle(f"{PROJECT}baseline: checks/old/baseline.jsonl\n")
    assert codes()
    assert typed("validate", "--update-baseline").code == 0
    assert not codes()

    project.settle(f"{PROJECT}baseline: alert.yaml/baseline.jsonl\n")
    ran = typed("validate", "--update-baseline")

    assert ran.code == 4
    assert f"{project.root / 'alert.yaml'} is no folder" in ran.err


@pytest.mark.parametrize("target", ["../outside.jsonl", "alert.yaml"])
def test_a_baseline_behind_a_link(project: Workspace, target: str) -> None:
    """What a link leads to is never overwritten."""
    file = project.root / target
    if not file.exists():
        file.write_text("KEEP ME", encoding="utf-8")
    before = file.read_bytes()
    (project.root / "baseline.jsonl").symlink_to(file)

    assert typed("validate", "--update-baseline").code == 64
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["../elsewhere.jsonl", ".git/config.jsonl"])
def test_a_baseline_elsewhere(project: Workspace, name: str) -> None:
    """A baseline is in the project's folder, and never in what git keeps."""
    project.settle(f"{PROJECT}baseline: {name}\n")

    assert typed("validate", "--update-baseline").code == 64
    assert not (project.root / name).exists()


@pytest.mark.parametrize(
    "content", ['{"format": 2, "journal": "x"}\n', "[" * 100_000, "<<<<<<< HEAD\n"], ids=len
)
def test_what_is_no_baseline_stays(project: Workspace, content: str) -> None:
    """A file with anything else, as a journal, is left as it is."""
    file = project.write("baseline.jsonl", content)

    assert typed("validate", "--update-baseline").code == 4
    assert file.read_text("utf-8") == content


def test_an_update_beside_an_error(project: Workspace) -> None:
    """While a manifest cannot be read its accepted complaints stay in the file."""
    typed("validate", "--update-baseline")
    before = (project.root / "baseline.jsonl").read_text("utf-8")
    project.write("alert.yaml", "kind: [\n")

    assert typed("validate", "--update-baseline").code == 4
    assert (project.root / "baseline.jsonl").read_text("utf-8") == before


def test_a_name_with_a_line_separator(project: Workspace) -> None:
    """What an update writes can be read, whatever characters are in names."""
    project.write("a\u2028b.yaml", f"{OTHER}  colour: red\n")
    typed("validate", "--update-baseline")

    assert codes() == []


def test_many_warnings_lead_to_a_baseline(project: Workspace) -> None:
    """From twenty warnings on, and only without a baseline, one line says how to accept them."""
    said: dict[tuple[int, bool], bool] = {}
    for count in (19, 20):
        for number in range(count):
            text = UNDESCRIBED.replace(
                "name: errors, id: 2f6a1c1e", f"name: n{number:02}, id: 2f6a1c{number:02}"
            )
            project.write("alert.yaml" if not number else f"alert{number}.yaml", text)
        project.write("baseline.jsonl", "")
        for has_one in (False, True):
            project.settle(f"{PROJECT}baseline: baseline.jsonl\n" if has_one else PROJECT)
            said[count, has_one] = "--update-baseline" in typed("validate").err

    assert said == {(19, False): False, (20, False): True, (19, True): False, (20, True): False}


def test_lines_that_are_not_needed_are_counted(project: Workspace) -> None:
    """A line without a complaint is counted until an update, and only where all is checked."""
    typed("validate", "--update-baseline")
    before = typed("validate").err
    project.write("alert.yaml", ALERT)
    after, part = typed("validate").err, typed("validate", "--select", "kind=AlertDefinition").err
    typed("validate", "--update-baseline")

    assert ["of baseline.jsonl" in said for said in (before, after, part)] == [False, True, False]
    assert "of baseline.jsonl" not in typed("validate").err


@pytest.mark.usefixtures("project")
def test_a_baseline_that_is_gone_is_named() -> None:
    """A setting whose file is not there is reported, until an update writes the file."""
    gone = typed("validate")
    typed("validate", "--update-baseline")

    assert gone.err.count("baseline.jsonl") == 1
    assert "baseline.jsonl" not in typed("validate").err
