from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from harness.doors import command
from harness.golden import Golden
from harness.workspaces import Workspace, project_at

from reconciler.report.complaints.document import MOST_SHOWN

PROJECT = "environments: {local: {emulator: {data: x.db}, variables: {team: payments}}}\n"
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: %s}
spec:
  name: %s
  timeSelection: {quickSelection: {seconds: 900}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    return project_at(tmp_path, PROJECT)


def good(name: str = "errors") -> str:
    return VIEW % (name, "Errors")


def doubtful(name: str = "errors") -> str:
    return good(name) + "  zebra: 1\n"


def wrong(name: str = "errors") -> str:
    return good(name) + "  nmae: x\n"


def test_a_good_workspace(project: Workspace, golden: Golden) -> None:
    """A good workspace is exit 0, one line on stderr and nothing on stdout."""
    project.write("view.yaml", good())

    ran = project.run("validate")

    assert (ran.code, ran.out) == (0, "")
    golden(ran.err)


def test_an_empty_workspace(project: Workspace) -> None:
    """A folder without manifests is valid, and said to hold none."""
    ran = project.run("validate")

    assert ran.code == 0
    first, *advice = ran.err.splitlines()
    assert first == "0 resources in 0 files: 0 errors, 0 warnings"
    assert advice[0].startswith("there are no manifests in ")


def test_warnings_do_not_fail(project: Workspace) -> None:
    """A warning is printed and exit 0."""
    project.write("view.yaml", doubtful())

    ran = project.run("validate")

    assert ran.code == 0
    assert ran.out.startswith("warning[M304]: `zebra`")
    assert "0 errors, 1 warning\n" in ran.err


def test_one_error_fails(project: Workspace, golden: Golden) -> None:
    """One error among many good manifests and warnings is exit 4."""
    project.write("a.yaml", "---\n".join(good(f"view-{number}") for number in range(20)))
    project.write("b.yaml", doubtful("b"))
    project.write("c.yaml", wrong("c"))

    ran = project.run("validate")

    assert ran.code == 4
    golden(ran.err)


def test_all_files_in_one_run(project: Workspace) -> None:
    """Every complaint of every file comes in one run, by file, line and column."""
    project.write("b.yaml", "a: [\n")
    project.write("a.yaml", wrong("a").replace("name: Errors", "name: 7") + "---\n- x\n")
    project.write("c/d.yaml", good("Bad"))

    ran = project.run("validate", "--format", "json")

    told = [
        (complaint["file"], complaint["line"], complaint["code"])
        for complaint in ran.json["complaints"]
    ]
    assert told == [
        ("a.yaml", 5, "M301"),
        ("a.yaml", 7, "M303"),
        ("a.yaml", 9, "M201"),
        ("b.yaml", 1, "M101"),
        ("c/d.yaml", 3, "M205"),
    ]


def test_the_json_form(project: Workspace) -> None:
    """The JSON form holds every complaint with all that a tool needs to place it."""
    project.write("view.yaml", good().replace("  name:", "  nmae:"))

    ran = project.run("validate", "--format", "json")

    assert ran.code == 4
    assert ran.json == {
        "valid": False,
        "resources": 1,
        "files": 1,
        "complaints": [
            {
                "code": "M303",
                "severity": "error",
                "file": "view.yaml",
                "line": 5,
                "column": 3,
                "message": "unknown field `nmae`",
                "suggestion": "name",
                "ref": "SavedView/errors",
                "path": ["spec", "nmae"],
                "environments": [],
            }
        ],
        "ignored": 0,
    }


def test_twenty_are_shown(project: Workspace) -> None:
    """Of many complaints twenty are shown and the rest is counted by code; -v shows all."""
    for number in range(25):
        project.write(f"{number:02}.yaml", wrong(f"view-{number}"))

    some, all_of_them = project.run("validate"), project.run("validate", "-v")

    assert some.out.count("error[") == MOST_SHOWN
    assert "and 5 more (-v " in some.out
    assert "19.yaml" in some.out
    assert some.out.count("20.yaml") == 1
    assert "21.yaml" not in some.out
    assert all_of_them.out.count("error[") == 25
    assert "more" not in all_of_them.out
    assert some.err == all_of_them.err == "25 resources in 25 files: 25 errors, 0 warnings\n"


def test_json_is_never_cut(project: Workspace) -> None:
    """The JSON form holds all complaints, with -q and without -v."""
    for number in range(25):
        project.write(f"{number:02}.yaml", doubtful(f"view-{number}"))

    ran = project.run("validate", "-q", "--format", "json")

    assert len(ran.json["complaints"]) == 25
    assert ran.err == ""


def test_quiet(project: Workspace) -> None:
    """With -q only errors are printed, and nothing at all where there are none."""
    project.write("a.yaml", doubtful("a"))

    clean = project.run("validate", "-q")
    project.write("b.yaml", wrong("b"))
    failed = project.run("validate", "-q")

    assert (clean.code, clean.out, clean.err) == (0, "", "")
    assert (failed.code, failed.err) == (4, "")
    assert failed.out.startswith("error[M303]")
    assert "warning" not in failed.out


def test_words_go_to_stderr_and_complaints_to_stdout(project: Workspace) -> None:
    """Complaints are what validate was asked for: stdout; the count is a word: stderr."""
    project.write("view.yaml", wrong())

    ran = project.run("validate")

    assert "M303" in ran.out
    assert "M303" not in ran.err
    assert "1 error" not in ran.out


def test_plan_prints_the_same_complaints(project: Workspace) -> None:
    """What stops validate stops plan with the same words, on stderr, before anything is asked."""
    project.write("view.yaml", wrong())

    checked, planned = project.run("validate"), project.run("plan")

    assert planned.code == 4
    assert planned.out == ""
    assert planned.err.startswith(checked.out)


def test_no_secret_and_no_target_are_needed(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Validate is offline: it asks for no secret, no key and no service."""
    monkeypatch.delenv("RECONCILER_API_KEY", raising=False)
    monkeypatch.setenv("RECONCILER_BASE_URL", "http://not.loopback.example")
    project.write("view.yaml", VIEW % ("errors", "${secret:NOT_SET} of ${var:team}"))

    assert project.run("validate").code == 0


def test_without_a_project_file(tmp_path: Path, golden: Golden) -> None:
    """A folder without a project file is checked, and environments may be called anything."""
    (tmp_path / ".git").mkdir()
    made = Workspace(tmp_path / "views")
    limited = "{name: errors, environments: [default, anywhere]}"
    made.write("view.yaml", good().replace("{name: errors}", limited))

    ran = made.run("validate")

    golden(ran.err)


def test_without_paths(project: Workspace, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """Without PATH the project's own setting says what is checked, from any folder in it."""
    project.write("reconciler.yaml", "manifests: [views]\n")
    project.write("views/view.yaml", wrong())
    project.write("other/view.yaml", "- x\n")
    monkeypatch.chdir(project.root / "other")

    ran = Workspace(Path("-v")).run("validate")

    assert "--> views/view.yaml:7:3" in ran.out
    golden(ran.err)


def test_a_manifests_setting_that_is_not_there(
    project: Workspace, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A folder that the project file names and that is not there is an error."""
    project.write("reconciler.yaml", "manifests: [views]\n")
    monkeypatch.chdir(project.root)

    ran = Workspace(Path("-v")).run("validate")

    assert ran.code == 4
    golden(ran.out)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--format", "markdown"], "'markdown' is not one of 'text', 'json'"),
        (["--environment", "lost"], "there is no environment `lost` (known: local)"),
        (["--project", "lost.yaml"], "there is no project file lost.yaml"),
        (["--nope"], "No such option"),
        (["-\x1b[31mred"], "No such option '-\\x1b'"),
    ],
)
def test_usage_errors(project: Workspace, arguments: list[str], says: str) -> None:
    """A command line that cannot be carried out is exit 64, and says why."""
    ran = project.run("validate", *arguments)

    assert ran.code == 64
    assert says.casefold() in ran.err.casefold()
    assert "\x1b" not in ran.err


HOSTILE = [
    "::stop-commands::token",
    "##[stop-commands]token",
    "-->",
    "@team",
    "#1",
    "```",
    "<script>alert(1)</script>",
    "[link=https://x]y[/link]",
    "\x1b[2J",
    "\x9b31m",
    "a\rb",
    "\u202etxt",
    "n" * 65536,
    "%s %(x)s {0}",
]


@pytest.mark.parametrize("name", HOSTILE, ids=[str(n) for n in range(len(HOSTILE))])
@pytest.mark.parametrize("form", ["text", "json"])
def test_hostile_names(project: Workspace, name: str, form: str) -> None:
    """Names of any kind reach the terminal as harmless text that begins no line."""
    quoted = json.dumps(name)
    project.write("a.yaml", good().replace("{name: errors}", f"{{\n  name: {quoted}\n  }}"))
    project.write("b.yaml", f"? {quoted}\n: 1\nkind: SLO\n")
    project.write("c.yaml", good("c") + f"  ? {quoted}\n  : {quoted}\n  viewType: {quoted}\n")

    ran = project.run("validate", "--format", form)

    assert ran.code == 4
    printed = ran.out + ran.err
    assert not any(character in printed for character in "\x1b\x9b\r\u202e")
    assert "##[" not in printed
    assert not any(line.lstrip().startswith("::") for line in printed.split("\n"))
    assert all(len(line) < 4096 for line in printed.split("\n"))


@pytest.mark.parametrize(
    "name", ["::stop-commands::x.yaml", "a\nb.yaml", "\x1b[31m.yaml", "@x.yaml"]
)
def test_hostile_file_names(project: Workspace, name: str) -> None:
    """File names of any kind are shown on one line, without what a terminal obeys."""
    project.write(name, "- x\n")

    ran = project.run("validate")

    assert ran.out.split("\n")[1].startswith(" --> ")
    assert "\x1b" not in ran.out
    assert not any(line.startswith("::") for line in ran.out.split("\n"))


def test_a_line_break_in_a_usage_error(project: Workspace) -> None:
    """A name with line breaks in it cannot begin a line with a command of a CI runner."""
    ran = project.run("validate", "-e", "x\n::error::y\n  ::stop-commands::z")

    assert ran.code == 64
    assert not any(line.lstrip().startswith("::") for line in ran.err.split("\n"))


def test_colour(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Colour is for terminals only, or where it is forced, and NO_COLOR ends it."""
    project.write("view.yaml", wrong())

    plain = project.run("validate").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = project.run("validate").out
    monkeypatch.setenv("NO_COLOR", "1")
    ended = project.run("validate").out

    assert "\x1b" not in plain
    assert "\x1b[31;1merror[M303]\x1b[0m" in forced
    assert ended == plain


def in_a_process(folder: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run validate on a folder as a user does."""
    return subprocess.run(
        command("validate"),
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_a_process(project: Workspace) -> None:
    """The command exits as it says, with complaints on stdout."""
    project.write("view.yaml", wrong())

    done = in_a_process(project.root)

    assert done.returncode == 4
    assert done.stdout.startswith(b"error[M303]: unknown field `nmae`\n --> view.yaml:7:3\n")


def test_a_terminal_without_unicode(project: Workspace) -> None:
    """Where a terminal takes ASCII only, other characters are shown by number, not as a crash."""
    project.write("view.yaml", good() + "  'schlüssel漢': 1\n  nmae: 1\n")

    done = in_a_process(project.root, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")

    assert done.returncode == 4
    assert b"`schl\\xfcssel\\u6f22`" in done.stdout
    assert b"Traceback" not in done.stderr


def test_quiet_failure_by_warnings(project: Workspace) -> None:
    """A quiet check that fails by its warnings alone prints one line, their number."""
    project.write("a.yaml", doubtful("a"))

    failed = project.run("validate", "-q", "--fail-on", "warning")
    passed = project.run("validate", "-q")

    assert (failed.code, failed.out) == (4, "")
    assert len(failed.err.splitlines()) == 1
    assert "1 warning" in failed.err
    assert (passed.code, passed.out, passed.err) == (0, "", "")


def test_alike_warnings_of_a_file(project: Workspace) -> None:
    """Warnings of one code in one file are printed whole once, and each has its place."""
    project.write("a.yaml", "---\n".join(map(doubtful, "abc")))
    project.write("b.yaml", doubtful("d"))

    short, whole = project.run("validate").out, project.run("validate", "-v").out

    assert (short.count("warning[M304]"), whole.count("warning[M304]")) == (2, 4)
    places = re.findall(r"[ab]\.yaml:[0-9]+:[0-9]+", short)
    assert len({*places}) == len(places) == 4
