"""Mistakes of the text that the parser reports later, or as something else."""

from __future__ import annotations

import pytest
from harness.workspaces import SLO, Workspace

pytestmark = pytest.mark.promise("S35")

HEAD, BODY = SLO.split("  requestBasedMetricSli", 1)[0], "  requestBasedMetricSli:\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (
            f'{HEAD}{BODY}    goodEvents: {{query: "good}}\n    totalEvents: {{query: "all"}}\n',
            9,
            "the quote that opens here is never closed",
        ),
        (
            SLO.replace("Checkout\n", '"Checkout\n  description: "Who buys"\n'),
            5,
            "the quote that opens here is never closed",
        ),
        (
            f"{HEAD}{BODY}    goodEvents:\n      query: good\n   totalEvents:\n      query: all\n",
            11,
            "this line is indented by 3, the lines above by 4 and by 2",
        ),
        (
            f"{HEAD}{BODY}  goodEvents: {{query: good}}\n    totalEvents: {{query: all}}\n",
            9,
            "this line is indented like `requestBasedMetricSli:` above it",
        ),
        (
            SLO.replace("  name: C", "<<<<<<< HEAD\n  name: A\n=======\n  name: C"),
            5,
            "`<<<<<<<` marks a conflict",
        ),
    ],
)
def test_the_line_of_a_mistake(workspace: Workspace, text: str, line: int, says: str) -> None:
    """A mistake of the text is one complaint, at the line of the mistake, in its own words."""
    workspace.write("slo.yaml", text)

    (found,) = workspace.run("validate", "--format", "json").json["complaints"]

    assert (found["code"], found["line"]) == ("M101", line)
    assert found["message"].startswith(says)


def test_a_child_beside_its_parent(workspace: Workspace) -> None:
    """A field that stands beside the part that it is of is told to be indented."""
    text = f"{HEAD}{BODY}    goodEvents: {{query: good}}\n  totalEvents: {{query: all}}\n"
    workspace.write("slo.yaml", text)

    found = workspace.run("validate", "--format", "json").json["complaints"]

    [stray] = [complaint for complaint in found if complaint["code"] == "M304"]
    assert stray["suggestion"] == "indent it below `requestBasedMetricSli`"


@pytest.mark.parametrize("value", ["${var:frame}", '"${var:frame}"'])
def test_a_variable_that_is_not_there(workspace: Workspace, value: str) -> None:
    """An expression without a value is one complaint, whatever its field wants."""
    workspace.write(
        "slo.yaml", SLO.replace("99.9", value).replace("28_DAYS", "28_DAYS\n  labels: ${var:team}")
    )

    found = workspace.run("validate", "--format", "json").json["complaints"]

    assert [complaint["code"] for complaint in found] == ["M501", "M501"]
