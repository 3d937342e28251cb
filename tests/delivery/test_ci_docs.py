"""docs/ci.md says what action.yml takes and gives."""

from __future__ import annotations

from write_ci_docs import TARGET, tables, written

from reconciler.ci.result import OUTPUTS
from reconciler.ci.runner import INPUTS


def test_the_page_is_fresh() -> None:
    """The tables of the page are those that the script writes from action.yml."""
    page = TARGET.read_text(encoding="utf-8")

    assert written(page) == page
    assert all(table in page for table in tables().values())


def test_every_input_and_output_is_there() -> None:
    """Every input and output of the command line has a row."""
    inputs, outputs = tables()["inputs"], tables()["outputs"]

    assert [name for name in INPUTS if f"| `{name}` |" not in inputs] == []
    assert [name for name in OUTPUTS if f"| `{name}` |" not in outputs] == []
