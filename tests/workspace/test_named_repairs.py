"""What complaints name as a repair, `validate --fix` does; what they only suppose, it counts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from harness.workspaces import ALERT, SLO, Workspace

from reconciler.kinds import BY_NAME
from reconciler.operations.check_project import check
from reconciler.operations.open_project import Options
from reconciler.syntax.diagnostic import Advice
from reconciler.workspace.fixes import CERTAIN, LIKELY
from reconciler.workspace.workspace import Workspace as CheckedWorkspace

pytestmark = pytest.mark.promise("S34")

WRONG = Path(__file__).parents[1] / "mistakes" / "wrong"
MISTAKES = sorted(
    folder.name for folder in WRONG.iterdir() if not folder.name.startswith("project")
)
MOST_DROPPED = 4
"""Lines of a pasted record that a repair takes away."""
PROJECT = """\
manifests: [.]
defaultEnvironment: local
environments:
  local:
    emulator: {data: .reconciler/local.db}
    variables: {team: payments, threshold: 5}
  production:
    baseUrl: https://api.example.com
    variables: {team: payments, threshold: 5}
"""
BROKEN = """\
# ours
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}   # the shop
spec:
  name: 'Checkout'
  descripton:   "Who buys, buys"   # short
  targetThresholdPercentage: "99,5"   # often
  sloTimeFrame: "28d"
  labels: {team: 1, 'tier': "a"}
  requestBasedMetricSli:
    goodEvents: {query: {job="shop"}}
    totalEvent: {query: all}   # both
---
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: shop}
spec:
  dashboard:
    name: Shop: all
    relativeTimeFrame: 1h
    layout: {sections: []}
"""
REPAIRED = """\
# ours
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}   # the shop
spec:
  name: 'Checkout'
  description:   "Who buys, buys"   # short
  targetThresholdPercentage: 99.5   # often
  sloTimeFrame: "SLO_TIME_FRAME_28_DAYS"
  labels: {team: "1", 'tier': "a"}
  requestBasedMetricSli:
    goodEvents: {query: '{job="shop"}'}
    totalEvents: {query: all}   # both
---
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: shop}
spec:
  dashboard:
    name: "Shop: all"
    relativeTimeFrame: 3600s
    layout: {sections: []}
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_all_that_is_named(workspace: Workspace, line_end: str) -> None:
    """Each named repair is made, in one run, and every other byte stays."""
    file = workspace.root / "shop.yaml"
    file.write_bytes(BROKEN.replace("\n", line_end).encode())

    ran = workspace.run("validate", "--fix")

    assert file.read_bytes().decode() == REPAIRED.replace("\n", line_end)
    assert (ran.code, ran.out) == (0, "")
    assert re.findall(r"\d+", ran.err.splitlines()[0]) == ["8", "1"]


@pytest.mark.parametrize("target", ["0.999", "9990"])
def test_likely_repairs(workspace: Workspace, target: str) -> None:
    """A guess is counted and not made, and `--unsafe-fixes` makes it."""
    text = SLO.replace("99.9", target)
    file = workspace.write("slo.yaml", text)

    counted = workspace.run("validate", "--fix")

    assert file.read_text(encoding="utf-8") == text
    assert "--unsafe-fixes`: 1 likely repair\n" in counted.err

    made = workspace.run("validate", "--fix", "--unsafe-fixes")

    assert file.read_text(encoding="utf-8") == SLO
    assert (counted.code, made.code, made.out) == (0 if target < "1" else 4, 0, "")


def test_an_error_that_is_left(workspace: Workspace) -> None:
    """The exit code is 4 where an error is left, and what could be repaired is repaired."""
    text = SLO.replace("sloTimeFrame: SLO_TIME_FRAME_28_DAYS", "sloTimeFrame: 7d")
    file = workspace.write("slo.yaml", text.replace("99.9", "nearly"))

    ran = workspace.run("validate", "--fix")

    assert ran.code == 4
    assert "sloTimeFrame: SLO_TIME_FRAME_7_DAYS" in file.read_text(encoding="utf-8")
    assert ran.out.count("error[") == 1


@pytest.mark.parametrize(
    "text",
    [
        SLO.replace("  name: Checkout", "  nmae: Checkout\n  name: Shop"),
        SLO.replace("  sloTimeFrame: SLO_TIME_FRAME_28_DAYS", "  sloTimeFrame: &frame 28d"),
        SLO.replace("  sloTimeFrame: SLO_TIME_FRAME_28_DAYS", "  sloTimeFrame: ${var:frame}"),
    ],
)
def test_what_is_no_place_of_a_repair(workspace: Workspace, text: str) -> None:
    """A taken name, a value that others repeat, and what an expression gives stay as they are."""
    workspace.settle(PROJECT.replace("team: payments", "frame: 28d"))
    file = workspace.write("slo.yaml", text)

    ran = workspace.run("validate", "--fix")

    assert (ran.code, file.read_text(encoding="utf-8")) == (4, text)


RIVALS = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout, labels: {version: 1.10}}
spec:
  name: Checkout
  descripton: Who buys
  desciption: Who sells
  targetThresholdPercentage: "99,5"
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvent: {query: all}}
"""


def test_fields_with_one_right_name(workspace: Workspace) -> None:
    """Of fields with one right name none is renamed, their advice has all, the rest is repaired."""
    file = workspace.write("slo.yaml", RIVALS)

    ran = workspace.run("validate", "--fix", "--format", "json")

    after = RIVALS.replace('"99,5"', "99.5").replace("1.10", '"1.10"')
    assert file.read_text(encoding="utf-8") == after.replace("Event:", "Events:")
    assert [
        [name in complaint["suggestion"] for name in ("descripton", "desciption", "description")]
        for complaint in ran.json["complaints"]
    ] == [[True] * 3] * 2
    assert "likely" not in ran.err


@pytest.mark.parametrize("number", ["1.10", "0123", "1e3", "-0.50"])
def test_digits_are_kept(workspace: Workspace, number: str) -> None:
    """A number that becomes a text keeps its digits, in the advice and in the repair."""
    text = SLO.replace("metadata: {", f"metadata: {{labels: {{version: {number}}}, ")
    file = workspace.write("slo.yaml", text)

    ran = workspace.run("validate", "--format", "json")
    workspace.run("validate", "--fix")

    errors = (found for found in ran.json["complaints"] if found["severity"] == "error")
    advice = [complaint["suggestion"] for complaint in errors]
    assert advice == [f'"{number}"']
    assert file.read_text(encoding="utf-8") == text.replace(number, advice[0])


@pytest.mark.parametrize("is_narrow", [True, False])
def test_repairs_are_counted_beforehand(workspace: Workspace, *, is_narrow: bool) -> None:
    """`validate` says how many repairs `--fix` makes, and how many more `--unsafe-fixes`."""
    workspace.write("shop.yaml", BROKEN)
    workspace.write("slo.yaml", SLO.replace("99.9", "0.999").replace("checkout", "buying"))
    if not is_narrow:
        text = "{kind: SLO, metadata: {name: odd}, apiversion: reconciler/v1, spec: {}}"
        workspace.write("odd.yaml", text)

    counted = workspace.run("validate").err.splitlines()[-1]
    certain = workspace.run("validate", "--fix").err.splitlines()[0]
    likely = workspace.run("validate", "--unsafe-fixes").err.splitlines()[0]

    made = [re.findall(r"(\d+) fields?", line)[0] for line in (certain, likely)]
    assert re.findall(r"(\d+) (?:fields?|more)", counted) == made
    assert "--fix" not in workspace.run("validate").err


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_of_newcomers(mistake: str, workspace: Workspace) -> None:
    """No repair that a complaint names is left, no comment is lost, and the rest stays."""
    workspace.settle(PROJECT)
    shutil.copytree(WRONG / mistake, workspace.root, dirs_exist_ok=True)
    (workspace.root / "told.txt").unlink()
    files = [path for path in workspace.root.rglob("*.yaml") if path.is_file()]
    for path in files:
        path.write_bytes(path.read_bytes() + b"# the end\n")
    before = {path: path.read_text(encoding="utf-8") for path in files}

    workspace.run("validate", "--fix")
    fixed = _named(workspace)
    workspace.run("validate", "--unsafe-fixes")

    assert not fixed & CERTAIN
    assert not _named(workspace) & LIKELY
    for path, text in before.items():
        after = path.read_text(encoding="utf-8")
        assert after.endswith("# the end\n")
        assert after.count("\n") >= text.count("\n") - MOST_DROPPED


def _checked(workspace: Workspace) -> CheckedWorkspace:
    options = Options(
        paths=(),
        project=workspace.root / "reconciler.yaml",
        environment=None,
        verbose=False,
        quiet=False,
    )
    return check(options, in_all=True).workspace


def _named(workspace: Workspace) -> set[str]:
    """Return the codes of the complaints that name a text to write."""
    return {
        complaint.code
        for complaint in _checked(workspace).complaints
        if complaint.suggestion and not isinstance(complaint.suggestion, Advice)
    }


QUERIED = f"""\
{SLO.partition("  requestBased")[0]}  requestBasedMetricSli:
    totalEvents: {{query: all}}
    goodEvents:
      query: """
QUERIES = {
    'rate(a{b="c"[5m]})': 'rate(a{b="c"}[5m])',
    'rate(a{b="c" [5m]})': 'rate(a{b="c"}[5m])',
    'rate(a{b=~"2..", [5m]})': 'rate(a{b=~"2.."}[5m])',
    "rate(a{[5m]})": "rate(a[5m])",
    "rate(a{b=~5..}[5m])": 'rate(a{b=~"5.."}[5m])',
    "rate(a[5 m])": "rate(a[5m])",
    "rate(a[5min])": "rate(a[5m])",
    "a{b=\u201cc\u201d}": 'a{b="c"}',
    "sum(rate(a[5m]": "sum(rate(a[5m]))",
    "raet(a[5m]) && b": "rate(a[5m]) and b",
}


@pytest.mark.parametrize("style", ["{}", "'{}'", '"{}"', "|\n        {}"])
@pytest.mark.parametrize("query", QUERIES)
def test_queries(workspace: Workspace, query: str, style: str) -> None:
    """A query with one certain repair gets it from `--unsafe-fixes`, in each style of text."""
    escaped = query.replace('"', r"\"") if style == '"{}"' else query
    before = f"{QUERIED}{style.format(escaped)}\n"
    file = workspace.write("slo.yaml", before)

    workspace.run("validate", "--fix")
    assert file.read_text(encoding="utf-8") == before
    workspace.run("validate", "--unsafe-fixes")

    checked = _checked(workspace)
    (manifest,) = checked.manifests
    (query_after,) = (
        found.text for found in BY_NAME["SLO"].queries(manifest.spec) if found.text != "all"
    )
    assert query_after.strip().replace("'", '"') == QUERIES[query]
    assert checked.complaints == ()


@pytest.mark.parametrize("query", ["rate(a[5 m], , b)", "rate({[5m]})", 'a{b="c" or [5m]}'])
def test_no_query_is_guessed(workspace: Workspace, query: str) -> None:
    """A query that is wrong after its repairs too stays as it is."""
    text = f"{QUERIED}{query}\n"
    file = workspace.write("slo.yaml", text)

    workspace.run("validate", "--unsafe-fixes")

    assert file.read_text(encoding="utf-8") == text


def test_a_key_twice(workspace: Workspace) -> None:
    """The second of two keys with one value is removed as a likely repair; other keys stay."""
    same, other = "  name: Checkout\n", "  description: a\n  description: b\n"
    text = SLO.replace(same, same + other)
    file = workspace.write("slo.yaml", text.replace(same, same * 2))

    workspace.run("validate", "--fix")
    assert file.read_text(encoding="utf-8") != text
    workspace.run("validate", "--unsafe-fixes")

    assert file.read_text(encoding="utf-8") == text


TABBED = "apiVersion: reconciler/v1\nspec:\n\tname: Checkout\n\tlabels:\n\t\tteam: shop # ours\n"


@pytest.mark.parametrize(
    ("text", "is_certain"),
    [
        (TABBED, True),
        (TABBED.replace("\t\t", "  "), False),
        (f"{TABBED}\tdescription: |\n\t\ta\n\t\t\tb\n", False),
    ],
)
def test_tabs(workspace: Workspace, text: str, *, is_certain: bool) -> None:
    """Tabs become indents where nothing else indents, and no text of several lines may hold any."""
    file = workspace.write("slo.yaml", text)

    workspace.run("validate", "--fix")

    after = text.replace("\t", "  ") if is_certain else text
    assert file.read_text(encoding="utf-8") == after


def test_a_time_for_a_window(workspace: Workspace) -> None:
    """A time in place of a window is answered with the window of that length, if there is one."""
    for time, is_listed in (("10m", True), ("11m", False)):
        rule = f"{{condition: {{timeWindow: {time}}}}}"
        workspace.write("alert.yaml", f"{ALERT}  logsThreshold: {{rules: [{rule}]}}\n")

        found = workspace.run("validate", "--format", "json").json["complaints"]

        (advice,) = (one["suggestion"] for one in found if "timeWindow" in one["message"])
        assert ("LOGS_TIME_WINDOW_VALUE_MINUTES_10" in advice) is is_listed
