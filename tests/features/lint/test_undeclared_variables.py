"""L406: queries of widgets name only variables that their dashboard declares."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.features.lint.lint import practices_of

pytestmark = pytest.mark.promise("S4")


def board(*queries: str, variables: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the spec of a dashboard with a line chart of PromQL queries."""
    definitions = [{"query": {"metrics": {"promqlQuery": {"value": text}}}} for text in queries]
    chart = {"definition": {"lineChart": {"queryDefinitions": definitions}}}
    declared = [{"name": name} for name in variables]
    sections = [{"rows": [{"widgets": [chart]}]}]
    return {"dashboard": {"layout": {"sections": sections}, "variablesV2": declared}}


def messages(spec: dict[str, Any]) -> list[str]:
    """Return what L406 says of a spec."""
    (practice,) = [practice for practice in practices_of("Dashboard") if practice.code == "L406"]
    assert practice.find is not None
    return [finding.message for finding in practice.find(spec)]


@pytest.mark.parametrize("text", ["$cluster", "${cluster}", "${cluster:regex}"])
def test_each_spelling(text: str) -> None:
    """A variable is found in each spelling, and is right where it is declared."""
    query = f'up{{cluster=~"{text}"}}'

    assert messages(board(query)) == [
        "`$cluster` is no variable of this dashboard, and this query names it"
    ]
    assert messages(board(query, variables=("cluster",))) == []


def test_many_queries_are_one_complaint() -> None:
    """A variable that many queries name is reported once, with their number."""
    (message,) = messages(board("a + $x", "b + $x + $x", "c"))

    assert message.endswith("(and in 1 more)")


@pytest.mark.parametrize("text", ['up{a=~"foo$"}', 'label_replace(up, "a", "$1", "b", "(.*)")'])
def test_what_is_no_variable(text: str) -> None:
    """The end of a pattern and a group of it are no variables."""
    assert messages(board(text)) == []
