"""What was likely meant by a value of the wrong type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.kinds.checks import ITEMS, NO_ITEMS, meant_text
from reconciler.kinds.field_traits import Unit, closed, duration_in, examples
from reconciler.kinds.judge_spec import judge
from reconciler.kinds.kind import Kind
from reconciler.kinds.log_policy_set import LOG_POLICY_SET
from reconciler.kinds.saved_view import SAVED_VIEW
from reconciler.kinds.slo import SLO
from reconciler.syntax.read_text import read_text


def repair_of(kind: Kind, spec: dict[str, Json]) -> list[str]:
    """Give what is advised on what is wrong with a spec."""
    return [finding.suggestion for finding in judge(kind, spec, spec, has_id=True).findings]


@given(st.from_regex(r"[a-z]{1,5}=~?\"[a-z.*]{1,5}\"", fullmatch=True))
def test_a_selector_is_given_back_in_quotes(selector: str) -> None:
    """A query that YAML takes for a mapping is suggested as the text that it was written as."""
    written = f"{{{selector}}}"
    (read,) = read_text(f"query: {written}\n").documents
    assert isinstance(read.value, dict)
    taken = read.value["query"]
    assert isinstance(taken, dict)

    (again,) = read_text(f"query: {meant_text(taken)}\n").documents

    assert again.value == {"query": written}


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ({"var:team": None}, "${var:team}"),
        ({"ref:SLO/a": None}, "${ref:SLO/a}"),
        ({"it's": None}, '"{it\'s}"'),
        ({"a": 1}, ""),
        ({}, ""),
    ],
)
def test_an_expression_without_its_dollar(value: dict[str, Json], meant: str) -> None:
    """What stands between bare braces is an expression, or a text to be quoted, or a mapping."""
    assert meant_text(value) == meant


@pytest.mark.parametrize(
    ("text", "unit", "count"),
    [
        ("15m", Unit.SECONDS, 900),
        ("1h", Unit.SECONDS, 3600),
        ("2 d", Unit.MINUTES, 2880),
        ("1w", Unit.SECONDS, 604_800),
        ("m", Unit.SECONDS, None),
        ("5 min", Unit.MILLISECONDS, 300_000),
        ("5min", Unit.MINUTES, 5),
        ("250ms", Unit.MILLISECONDS, 250),
        ("90 secs", Unit.MINUTES, None),
        ("2 hours", Unit.SECONDS, 7200),
        ("5 mi", Unit.SECONDS, None),
        ("5m", Unit.PERCENT, None),
    ],
)
def test_durations(text: str, unit: Unit, count: int | None) -> None:
    """A duration is a whole number in a unit of time; any other is not guessed."""
    assert duration_in(unit, text) == count


@pytest.mark.parametrize(
    ("text", "meant"),
    [("10m", "W_MINUTES_10"), ("1 hour", "W_HOURS_1"), ("60min", "W_HOURS_1"), ("20m", "")],
)
def test_a_listed_duration(text: str, meant: str) -> None:
    """A duration is the listed value of its length, wherever the value has its number."""
    assert examples("W_", "MINUTES_10", "HOURS_1_OR_UNSPECIFIED").near(text).startswith(meant)
    assert closed("W_", "10_MINUTES").near("600s") == "W_10_MINUTES"


@pytest.mark.parametrize(
    ("target", "meant"),
    [(9950, "99.5"), (999, "99.9"), (99_950, "99.95"), (101, ""), (5000, ""), (-9950, "")],
)
def test_a_target_without_its_point(target: float, meant: str) -> None:
    """A target over 100 is a share of 1,000 or more where that is a usual target."""
    spec: dict[str, Json] = {"name": "a", "targetThresholdPercentage": target}

    assert repair_of(SLO, spec) == [meant]


@pytest.mark.parametrize(
    ("selection", "meant"),
    [
        ("15m", "{seconds: 900}"),
        ({"seconds": "1h"}, "3600"),
        ([{"seconds": 900}], NO_ITEMS),
        ("recent", ""),
    ],
)
def test_a_time_of_a_view(selection: Json, meant: str) -> None:
    """A part that counts seconds is suggested with those of the duration that stands there."""
    spec: dict[str, Json] = {"name": "Errors", "timeSelection": {"quickSelection": selection}}

    assert repair_of(SAVED_VIEW, spec) == [meant]


def test_a_mapping_for_a_list() -> None:
    """Where a list belongs, a mapping is told how items begin."""
    assert ITEMS in repair_of(LOG_POLICY_SET, {"policies": {"policy": {"name": "a"}}})
