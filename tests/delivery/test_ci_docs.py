"""docs/action.md lists what action.yml takes and returns, and pages show steps that there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest
import yaml
from write_ci_docs import TARGET, page, tables

from reconciler.ci.result import OUTPUTS
from reconciler.ci.runner import INPUTS


def test_the_page_is_fresh() -> None:
    """docs/action.md is what scripts/write_ci_docs.py writes from action.yml."""
    assert TARGET.read_text(encoding="utf-8") == page()


def test_every_input_and_output_is_there() -> None:
    """Every input and output of the command line has a row."""
    inputs, outputs = tables()["inputs"], tables()["outputs"]

    assert [name for name in INPUTS if f"| `{name}` |" not in inputs] == []
    assert [name for name in OUTPUTS if f"| `{name}` |" not in outputs] == []


def steps_in(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the steps that run the action, wherever they stand."""
    if isinstance(document, dict):
        if str(document.get("uses", "")).startswith("OWNER/reconciler@"):
            yield document
        for value in document.values():
            yield from steps_in(value)
    elif isinstance(document, list):
        for item in document:
            yield from steps_in(item)


@pytest.mark.parametrize("name", ["adopt.md", "approvals.md", "ci.md", "forks.md", "nightly.md"])
def test_every_step_is_one(name: str) -> None:
    """Each step that a page shows names inputs there are, with values that they take."""
    text = (TARGET.parent / name).read_text(encoding="utf-8")
    blocks = [yaml.safe_load(dedent(value)) for value in re.findall(r"(?s)```yaml\n(.*?)```", text)]
    given = [step["with"] for block in blocks for step in steps_in(block)]

    assert given
    for element in given:
        assert element.keys() <= INPUTS.keys()
        for key, value in element.items():
            said = str(value).lower() if isinstance(value, bool) else value
            assert len(INPUTS[key]) == 1 or said in INPUTS[key], (key, value)


def test_drift_that_proposes() -> None:
    """The nightly variant asks for both, may push, and its checkout has the credentials for it."""
    text = (TARGET.parent / "nightly.md").read_text(encoding="utf-8")
    part = text.partition("## A night that proposes")[2]
    job = yaml.safe_load(part.partition("```yaml\n")[2].partition("```")[0])["jobs"]["drift"]
    checkout, step, _ = job["steps"]

    assert (step["with"]["remember"], step["with"]["adopt"]) == (True, "pull-request")
    assert job["permissions"] == {"contents": "write", "pull-requests": "write"}
    assert checkout["with"]["persist-credentials"] is True
