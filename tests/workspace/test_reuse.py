"""Overrides, items, structured variables and files: what they make, and where mistakes are told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from harness.golden import Golden
from harness.workspaces import Workspace, project_at

from reconciler.workspace import expression_scope, reuse

EACH = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: "${each:service}"}
forEach: ${file:services.yaml}
spec:
  name: ${each:service}
  targetThresholdPercentage: ${each:target}
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
"""
BOTH = """\
manifests: [.]
defaultEnvironment: local
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
    variables: {limits: {high: 99, names: [a, b]}, a.b: dotted, a: {b: inner, c: other}}
  production:
    baseUrl: https://api.example.com
    variables: {limits: {high: 99.9, names: []}, a.b: dotted, a: {b: inner, c: other}}
"""
SLO = EACH.replace("forEach: ${file:services.yaml}\n", "").replace("${each:service}", "checkout")
OVERRIDDEN = SLO.replace("${each:target}", "99") + (
    "overrides:\n"
    "  production:\n"
    "    targetThresholdPercentage: 99.9\n"
    "    description: in production\n"
)
EXAMPLE = Path(__file__).parents[2] / "examples" / "services"


def services(count: int, *, wrong: int = 0) -> str:
    """Give a file of services; the target of one is wrong."""
    return "".join(
        f"- service: s{nth}\n  target: {'high' if nth == wrong else 99}\n"
        for nth in range(1, count + 1)
    )


def specs(made: Workspace, *options: str) -> dict[str, dict[str, Any]]:
    """Give what would be declared, by the names of the resources."""
    changes = made.plan(*options)["changes"]
    return {
        change["name"]: {
            ".".join(map(str, field["path"])): field["after"] for field in change["fields"]
        }
        for change in changes
    }


def test_a_mistake_in_one_item_of_many(tmp_path: Path, golden: Golden) -> None:
    """A mistake in item 217 is told at its line in the file of the items, by number and name."""
    made = project_at(tmp_path, slo=EACH, services=services(300, wrong=217))

    ran = made.run("validate")

    assert ran.code == 4
    assert "services.yaml:434:11" in ran.out
    golden(ran.out)
    assert ran.out.count("error[") == 1


def test_a_mistake_in_the_template_is_told_once(tmp_path: Path) -> None:
    """What is wrong for every item is wrong in the template, and is told there, of no item."""
    text = EACH.replace("sloTimeFrame", "sloTimeFrmae")
    made = project_at(tmp_path, slo=text, services=services(300))

    ran = made.run("validate")

    assert ran.out.count("error[") == 1
    assert "slo.yaml:8:3" in ran.out
    assert "in item" not in ran.out


def test_what_some_items_share_is_told_once(tmp_path: Path, golden: Golden) -> None:
    """What is wrong at one place for some items is told once, with how many there are."""
    made = project_at(
        tmp_path,
        slo=EACH.replace("name: ${each:service}\n", "name: x\n  description: by ${each:by}\n"),
        services="".join(f"- {{service: s{n}, target: 9, by: {b}}}\n" for n, b in enumerate("a[]["))
        .replace("by: [", "by: [x]")
        .replace("by: ]", "by: [y]"),
    )

    ran = made.run("validate")

    assert ran.out.count("error[M513]") == 1
    golden(ran.out)


def test_what_names_a_value_of_its_item_is_told_once_too(tmp_path: Path, golden: Golden) -> None:
    """A query that is wrong in the template is one complaint, though each item has its words."""
    made = project_at(
        tmp_path,
        slo=EACH.replace("query: good", "query: '${each:service} ${each:service}'"),
        services=services(20),
    )

    ran = made.run("validate")

    assert ran.out.count("[L901]") == 1
    golden(ran.out)


def test_a_malformed_expression_is_no_broken_query_too(tmp_path: Path) -> None:
    """What is wrong with an expression is not told again of the query that it stands in."""
    made = project_at(
        tmp_path, slo=SLO.replace("${each:target}", "99").replace("good}", '"${each:x"}')
    )

    ran = made.run("validate")

    assert "[M504]" in ran.out
    assert "[L901]" not in ran.out


def test_the_plan_tells_the_item(tmp_path: Path, golden: Golden) -> None:
    """A plan names file, line and item of what a template made, in all forms."""
    made = project_at(tmp_path, slo=EACH, services=services(2))

    text, markdown = made.run("plan").out, made.run("plan", "--format", "markdown").out
    sources = [change["source"] for change in made.plan()["changes"]]

    golden(text)
    assert "s2" in markdown
    assert sources == [
        {"file": "slo.yaml", "line": 1, "item": "item 1 (service: s1)"},
        {"file": "slo.yaml", "line": 1, "item": "item 2 (service: s2)"},
    ]


def test_overrides_are_of_one_environment(tmp_path: Path) -> None:
    """What overrides say holds in their environment, and `spec` in all others."""
    made = project_at(tmp_path, BOTH, slo=OVERRIDDEN.replace("production:", "local:"))

    assert specs(made)["checkout"]["targetThresholdPercentage"] == 99.9
    other = project_at(tmp_path / "other", BOTH, slo=OVERRIDDEN)
    assert specs(other)["checkout"]["targetThresholdPercentage"] == 99
    assert "description" not in specs(other)["checkout"]


def test_complaints_of_overrides_stand_where_the_value_does(tmp_path: Path) -> None:
    """A wrong value is told at the override that has it, or in `spec`, in each environment."""
    text = OVERRIDDEN.replace("99.9", "high").replace("sloTimeFrame: SLO", "sloTimeFrame: [SLO]")
    text = text.replace("[SLO]_TIME_FRAME_28_DAYS", "[SLO]")
    made = project_at(tmp_path, BOTH, slo=text)

    ran = made.run("validate")

    assert {match[1] for match in re.finditer(r"--> slo.yaml:(\d+:\d+)", ran.out)} == {
        "7:17",
        "11:32",
    }


def test_an_overridden_part_needs_none_of_its_variables(tmp_path: Path) -> None:
    """What is overridden is not complained of: neither its variables nor what it refers to."""
    text = SLO.replace("${each:target}", "${var:lost}") + (
        "  description: ${ref:SLO/lost}\n"
        "overrides:\n"
        "  local: {targetThresholdPercentage: 9, description: null}\n"
    )
    made = project_at(tmp_path, slo=text)

    assert made.run("validate").code == 0, made.run("validate").out


def test_structured_variables(tmp_path: Path) -> None:
    """A list or a mapping is given whole, a dot leads into it, and a dotted name comes first."""
    text = SLO.replace("${each:target}", "${var:limits.high}").replace(
        "  name: checkout", "  name: ${var:a.b} ${var:a.c}\n  zebra: ${var:limits}"
    )
    made = project_at(tmp_path, BOTH, slo=text)

    found = specs(made)["checkout"]

    assert (found["targetThresholdPercentage"], found["name"]) == (99, "dotted other")
    assert found["zebra"] == {"high": 99, "names": ["a", "b"]}


def test_included_files_are_data(tmp_path: Path) -> None:
    """An included file is no stray manifest, and its expressions are those of the manifest."""
    made = project_at(
        tmp_path,
        slo=EACH.replace(
            "{goodEvents: {query: good}, totalEvents: {query: all}}", "${file:parts/sli.yaml}"
        ),
        services=services(2),
    )
    made.write("parts/sli.yaml", "goodEvents: ${file:good.json}\ntotalEvents: {query: all}\n")
    made.write("parts/good.json", '{"query": "good{service=\\"${each:service}\\"}"}')

    assert made.run("validate").code == 0, made.run("validate").out
    query = specs(made)["s2"]["requestBasedMetricSli"]
    assert query["goodEvents"] == {"query": 'good{service="s2"}'}


@pytest.mark.parametrize("named", ["../out.yaml", "/etc/out.yaml", "link.yaml", ".git/config.yaml"])
def test_no_file_is_included_from_elsewhere(named: str, tmp_path: Path) -> None:
    """A file outside of the project, or of git, is not read, however its path is written."""
    made = project_at(
        tmp_path / "in",
        slo=SLO.replace("99", "9")
        .replace("name: checkout\n", f"name: checkout\n  description: ${{file:{named}}}\n")
        .replace("${each:target}", "9"),
    )
    (tmp_path / "out.yaml").write_text("hidden words", encoding="utf-8")
    (tmp_path / "in" / "link.yaml").symlink_to(tmp_path / "out.yaml")
    made.write(".git/config.yaml", "hidden words")

    ran = made.run("validate", str(tmp_path / "in" / "slo.yaml"))

    assert "[M512]" in ran.out
    assert "hidden words" not in ran.out + made.run("plan").out


def test_ten_files_make_no_million(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that include each other ten times over, and items, end at the size of a workspace."""
    monkeypatch.setattr(expression_scope, "LARGEST_MADE", 200_000)
    made = project_at(
        tmp_path,
        slo=SLO.replace("name: checkout\n", "zebra: ${file:f0.yaml}\n  name: x\n").replace(
            "${each:target}", "9"
        ),
    )
    for nth in range(7):
        inner = f"${{file:f{nth + 1}.yaml}}" if nth < 6 else "x"
        made.write(f"f{nth}.yaml", "".join(f"- {inner}\n" for _ in range(10)))

    ran = made.run("validate")

    assert ran.code == 4
    assert "[M115]" in ran.out


def test_items_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More items than are made into manifests are refused as a whole."""
    monkeypatch.setattr(reuse, "MOST_ITEMS", 5)
    made = project_at(tmp_path, slo=EACH, services=services(6))

    ran = made.run("validate")

    assert "[M115]" in ran.out
    assert "has 6 items" in ran.out


def test_items_of_one_file_may_be_for_several(tmp_path: Path) -> None:
    """A part of items that one of several templates names is used; one that none names is told."""
    text = services(2).replace("  target", "  note: n\n  idle: i\n  target")
    second = EACH.replace('"${each:service}"', '"${each:service}-b"').replace(
        "name: ${each:service}\n", "name: ${each:note}\n"
    )
    made = project_at(tmp_path, slo=EACH, other=second, services=text)

    ran = made.run("validate")

    assert re.findall(r"nothing names `(\w+)`", ran.out) == ["idle"]


@pytest.mark.slow
def test_hundreds_of_services_from_two_files(tmp_path: Path) -> None:
    """300 services and 5 alerts of each, from two files, are planned, applied, and then kept."""
    alerts, told = (
        (EXAMPLE / name).read_text(encoding="utf-8")
        for name in ("alerts.yaml", "notification.yaml")
    )
    alerts = alerts.replace("  production:", "  local:")
    made = project_at(
        tmp_path, alerts=alerts, notification=told.replace("${var:chatIntegrationId}", "1")
    )
    made.write(
        "services.yaml",
        json.dumps(
            [
                {
                    "service": f"s{nth}",
                    "team": "payments",
                    "maxLatency": 500,
                    "ids": {
                        name: f"00000000-0000-4000-8000-{nth:06d}{number:06d}"
                        for number, name in enumerate(
                            ("errors", "latency", "traffic", "restarts", "disk")
                        )
                    },
                }
                for nth in range(300)
            ]
        ),
    )

    applied, planned = made.apply(), made.plan()

    assert applied.code == 0, applied.err[-2000:]
    assert planned["summary"]["keep"] == 1500
    assert len(planned["changes"]) == 1500


def test_many_files_many_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that include each other many times over end at a number, and that is told once."""
    monkeypatch.setattr(expression_scope, "MOST_INCLUDED", 60)
    files = {f"i{n}": f'- "${{file:i{n + 1}.yaml}}"\n' * 9 for n in range(5)}
    board = SLO.replace("${each:target}", "99") + "  extra: ${file:i0.yaml}\n"
    workspace = project_at(tmp_path, BOTH, slo=board, i5='["x"]\n', **files)

    found = workspace.run("validate", "-e", "local", "--format", "json").json["complaints"]

    said = [value for value in found if value["code"] == "M512"]
    assert len(said) == 1
    assert "more than 60 times" in said[0]["message"]
