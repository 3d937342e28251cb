"""The judge of `living` compares what a service answers, and excuses what it does alone."""

from __future__ import annotations

from typing import Any

import pytest
from living_judge import answered, is_due, is_filled_in, lost

from reconciler.emulator import Profile


def _slo(**content: Any) -> Any:
    return {"SLO": {"1": {"id": "1", "name": "n", "targetThresholdPercentage": 1.0, **content}}}


def _board(**widget: Any) -> Any:
    layout = {"sections": [{"rows": [{"widgets": [widget]}]}]}
    return {"Dashboard": {"1": {"dashboard": {"id": "1", "layout": layout}}}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (99.9, 99.9000015),
        (1.2345678901234568e17, 1.23456791e17),
        (5e-324, 0.0),
        (0, None),
        (1, True),
        ("", None),
        ([1], ["1"]),
        ([1, 2], [2, 1]),
        ({}, None),
    ],
)
def test_another_value_is_a_loss(before: Any, after: Any) -> None:
    """A value that is another one after, be it a rounded one, none or of another type, is lost."""
    assert {place[:3] for place in lost(_slo(new=before), _slo(new=after))} == {("SLO", "1", "new")}


@pytest.mark.parametrize(("before", "after"), [(1, 1.0), (-0.0, 0), (0.0, -0.0)])
def test_one_number_in_two_forms_is_no_loss(before: Any, after: Any) -> None:
    """Numbers are compared by value."""
    assert [*lost(_slo(new=before), _slo(new=after))] == []


def test_only_sets_of_the_document_have_no_order() -> None:
    """Labels to group by are a set, and hold what they held."""
    before = _slo(grouping={"labels": ["a", "b"]})

    assert [*lost(before, _slo(grouping={"labels": ["b", "a"]}))] == []
    assert [*lost(before, _slo(grouping={"labels": ["b", "b"]}))] == [
        ("SLO", "1", "grouping", "labels")
    ]


def test_what_is_never_answered_cannot_be_lost() -> None:
    """A documented zero is nothing where a service leaves it out, and something elsewhere."""
    before, after = _slo(description=""), _slo()
    dropping = Profile(zero_values="dropped")

    assert [*lost(answered(before, dropping), answered(after, dropping))] == []
    assert [*lost(answered(before, Profile()), answered(after, Profile()))]


def test_a_zero_is_filled_in_where_nothing_was() -> None:
    """A zero in the place of nothing is excused; nothing in the place of a zero is not."""
    place = ("SLO", "1", "new")

    assert is_filled_in(place, _slo(), _slo(new=0))
    assert is_filled_in(place, _slo(new=None), _slo(new=False))
    assert not is_filled_in(place, _slo(new=0), _slo())
    assert not is_filled_in(place, _slo(), _slo(new={}))


def test_a_time_of_a_widget_moves_with_the_widget_alone() -> None:
    """Another time is excused only where anything else in the widget differs."""
    before = _board(title="a", updatedAt="1")
    (place,) = lost(before, _board(title="a", updatedAt="2"))

    assert not is_due(place, before, _board(title="a", updatedAt="2"))
    assert is_due(place, before, _board(title="b", updatedAt="2"))
