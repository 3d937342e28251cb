"""The judge of `rollback` tells things by their ids, as two can have one title."""

from __future__ import annotations

from rollbacks import Life, Was, not_as_declared
from worlds import SECRET, drawing

EARLIER, LATER = {"name": "view0 twoa"}, {"name": "view0 two"}
RENAMED, NEW = "SavedView/view0-y", "SavedView/view0"
VIEWS = {"3": {**EARLIER, "id": 3}, "4": {**LATER, "id": 4}}


def _life() -> Life:
    """Give a life in which a view was renamed, and another one took its old name."""
    life = Life(drawing(0))
    life.state = {NEW: Was(EARLIER, SECRET)}
    life.meet({"SavedView": {"3": VIEWS["3"]}})
    life.ids[RENAMED] = life.ids.pop(NEW)
    life.state = {RENAMED: Was(EARLIER, SECRET), NEW: Was(LATER, SECRET)}
    life.meet({"SavedView": VIEWS})
    return life


def test_a_renamed_view_and_the_new_one_under_its_old_name_are_judged_apart() -> None:
    """Each is held against what was declared of it, whichever the service tells last."""
    life = _life()
    refs = frozenset((RENAMED, NEW))
    for order in (("3", "4"), ("4", "3")):
        live = {"SavedView": {known: VIEWS[known] for known in order}}
        assert [*not_as_declared(live, life.state, life, refs, "now")] == []


def test_views_that_took_each_others_content_are_told() -> None:
    """A content that stands under the id of another one is no content put back."""
    life = _life()
    live = {"SavedView": {"3": {**LATER, "id": 3}, "4": {**EARLIER, "id": 4}}}
    refs = frozenset((RENAMED, NEW))
    assert len([*not_as_declared(live, life.state, life, refs, "now")]) == 2
