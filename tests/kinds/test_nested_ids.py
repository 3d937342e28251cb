"""Whatever becomes of an item without an id, it keeps the id it was given."""

from __future__ import annotations

import copy

import pytest
from boards import board, content_of, declared_sections, ids_of, live, put, rows_of, widgets_of
from harness.sites import Site, assert_settled, paths

from reconciler.document import Json
from reconciler.model import Manifest

pytestmark = pytest.mark.promise("P14")

WEB_ID = "0aa7a0d8-1111-4222-8333-444455556666"

EDITS = {
    "retitled": ("a b c", "a b:Sales c"),
    "two retitled": ("a b c", "a:x b:y c"),
    "all retitled": ("a b / c", "a:x b:x / c:x"),
    "title emptied": ("a b c", "a b: c"),
    "title taken by another": ("a b", "a:b b:a"),
    "titles alike": ("a:t b:t c:t", "b:t c:t a:t"),
    "swapped": ("a b", "b a"),
    "turned round": ("a b c d", "d c b a"),
    "turned round and retitled": ("a b c d", "d:w c:x b:y a:z"),
    "one in front": ("a b c", "n a b c"),
    "one in front, and all retitled": ("a b c", "n a:x b:y c:z"),
    "deleted from the middle": ("a b c d", "a c d"),
    "deleted, and the next retitled": ("a b c d", "a c:b d"),
    "replaced by one of its title": ("a b:t c", "a c n:t"),
    "moved to the next row": ("a b / c", "a / c b"),
    "moved and retitled": ("a b / c", "a / c b:x"),
    "moved to a new section": ("a b / c | d", "b | a / c | d"),
    "moved to a new row, and retitled": ("a b / c", "a / b:x / c"),
    "rows swapped": ("a b / c d", "c d / a b"),
    "rows swapped, and retitled": ("a b / c d", "c:x d / a b:y"),
    "rows joined": ("a b / c d", "a b c d"),
    "a row divided": ("a b c d", "a b / c d"),
    "sections swapped": ("a / b | c / d", "c / d | a / b"),
    "a section in front": ("a b | c", "n | a b | c"),
    "a section deleted": ("a | b | c", "a | c"),
    "a section deleted, and the next retitled": ("a | b | c", "a | c:x"),
    "all at once": ("a b c / d | e f", "n | f e:x | d:y a / c:z"),
    "copies": ("a a a", "a a a"),
    "one copy in front": ("a a b", "n a a b"),
    "a copy between others deleted": ("a b a c", "b a c"),
    "a copy retitled": ("a a a", "a a:x a"),
    "copies moved": ("a a / b", "b / a a"),
    "a copy made": ("a b", "a b a"),
    "copies in every row": ("a b / a c / a d", "a d / a b / a c"),
    "a row of copies retitled": ("a a a a / b", "a:1 a:2 a:3 a:4 / b"),
}


@pytest.mark.parametrize(("before", "after"), EDITS.values(), ids=EDITS)
def test_edited(site: Site, before: str, after: str) -> None:
    """However widgets are retitled, moved, added or deleted, each that stays keeps its id.

    And so what somebody set of it in the web interface.
    """
    site.apply(board(before))
    stored = live(site)
    for widget in widgets_of(stored):
        widget["setByHand"] = widget["id"]["value"]
    put(site, stored)
    were = ids_of(stored)

    site.apply(board(after))

    kept = {widget["id"]["value"] for widget in widgets_of(stored)}
    for widget in widgets_of(live(site)):
        own_id = widget["id"]["value"]
        assert widget.get("setByHand") == (own_id if own_id in kept else None)
    now = ids_of(live(site))
    everyone = [id_ for ids in now.values() for id_ in ids]
    assert len(set(everyone)) == len(everyone)
    for content, ids in now.items():
        stayed = min(len(ids), len(were.get(content, [])))
        assert len(set(ids) & set(were.get(content, []))) == stayed, content
    assert_settled(site, board(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a b a c", "b a c"),
        ("a:1 a:2 a:3", "a:1 a:x a:3"),
        ("a a a", "a a:x a"),
        ("a a a a", "a a a:x a"),
        ("a a a / b", "a a:x a / b:x"),
    ],
)
def test_copies_stay_in_order(site: Site, before: str, after: str) -> None:
    """Of widgets with one content, those that stay beside what they stood beside are the same."""
    site.apply(board(before))
    were = [widget["id"]["value"] for widget in widgets_of(live(site))]

    site.apply(board(after))

    now = [widget["id"]["value"] for widget in widgets_of(live(site))]
    assert now == were[-len(now) :]


def test_one_field(site: Site) -> None:
    """A retitle is one field of the plan, and what was set in the web interface stays."""
    site.apply(board("a b c"))
    stored = live(site)
    for widget in widgets_of(stored):
        widget["definition"]["lineChart"]["setByHand"] = content_of(widget)
    put(site, stored)
    ids = ids_of(stored)

    change = site.change(board("a b:Sales c"))
    site.apply(board("a b:Sales c"))

    (difference,) = change.differences
    assert difference.path[-3:] == ("widgets", ids["b"][0], "title")
    assert (difference.before, difference.after) == ("b", "Sales")
    after = live(site)
    assert ids_of(after) == ids
    assert [widget["definition"]["lineChart"]["setByHand"] for widget in widgets_of(after)] == list(
        "abc"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("filters", [{"displayName": "Team"}, {"displayName": "Service"}]),
        ("variablesV2", [{"name": "team"}, {"name": "service"}]),
    ],
)
def test_one_field_of_a_flat_list(site: Site, first: str, second: list[dict[str, Json]]) -> None:
    """A renamed filter or variable is one field, whichever of them it is and wherever it stands."""
    sources: list[Json] = [{"metrics": {"label": one}} for one in "xy"]
    before: list[Json] = [
        {**document, "source": source} for document, source in zip(second, sources, strict=True)
    ]
    (label,) = second[0]
    renamed: list[Json] = [
        {**second[1], "source": sources[1]},
        {label: "new", "source": sources[0]},
    ]
    site.apply(board("a", **{first: before}))

    change = site.change(board("a", **{first: renamed}))

    operations = {
        (difference.operation, difference.path[-1] == label) for difference in change.differences
    }
    assert operations == {("move", False), ("change", True)}


@pytest.mark.parametrize(
    ("before", "after", "comes_from"),
    [
        ("a b / c", "a / c b:x", 0),
        ("a b / c | d", "a / c | d b:x", 0),
        ("a / c b | d", "b:x / a / c | d", 1),
        ("a / c b", "a | b:x / c", 1),
    ],
)
def test_a_move_is_a_move(site: Site, before: str, after: str, comes_from: int) -> None:
    """A widget that is moved to another row and retitled is one move and one field."""
    site.apply(board(before))
    stored = live(site)
    own_id = ids_of(stored)["b"][0]

    told = [
        difference
        for difference in site.change(board(after)).differences
        if own_id in difference.path
    ]

    assert [(difference.operation, difference.path[-1]) for difference in told] == [
        ("move", own_id),
        ("change", "title"),
    ]
    assert isinstance(told[0].before, list)
    assert told[0].before[5] == rows_of(stored)[comes_from]["id"]["value"]


def test_section_renamed(site: Site) -> None:
    """A section whose name and every title below it change keeps all its ids."""

    def named(name: str, drawn: str) -> Manifest:
        declared = copy.deepcopy(board(drawn))
        for number, part in enumerate(declared_sections(declared)):
            part["options"] = {"custom": {"name": f"{name} {number}"}}
        return declared

    site.apply(named("old", "a b / c | d"))
    before = live(site)

    change = site.change(named("new", "a:1 b:2 / c:3 | d:4"))

    assert {path[-1] for path in paths(change)} == {"name", "title"}
    assert len(change.differences) == 2 + len(widgets_of(before))


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        ("a b / c d", "a:x b:y / c d", [0, 1]),
        ("a b / c d", "c d / a b", [1, 0]),
        ("a b / c d", "c:x d:y / a:z b", [1, 0]),
        ("a b / c d", "n / a b / c d", [None, 0, 1]),
        ("a b / c d / e", "a b / e", [0, 2]),
        ("a b / c d / e", "a b d / c / e", [0, 1, 2]),
        ("a | b / c", "b / c | a", [1, 2, 0]),
        ("a b / c", "n m / c", [0, 1]),
    ],
)
def test_rows(site: Site, before: str, after: str, rows: list[int | None]) -> None:
    """A row is known by the widgets in it, whatever their titles, and else by its place."""
    site.apply(board(before))
    were = [row["id"]["value"] for row in rows_of(live(site))]

    site.apply(board(after))

    now = [row["id"]["value"] for row in rows_of(live(site))]
    expected = [None if number is None else were[number] for number in rows]
    assert [value if value in were else None for value in now] == expected
    assert len(set(now)) == len(now)


def test_never_by_title_alone(site: Site) -> None:
    """Another widget elsewhere is not the deleted one of its title, but one of its own."""
    site.apply(board("a b:Errors / c | d"))
    before = ids_of(live(site))
    other = copy.deepcopy(board("a / c | d n:Errors"))
    added = declared_sections(other)[1]["rows"][0]["widgets"][1]
    added["definition"] = {"markdown": {"markdownText": "Errors are told by phone."}}
    added["appearance"] = {"width": 12}

    site.apply(other)

    ids = [widget["id"]["value"] for widget in widgets_of(live(site))]
    assert before["b"][0] not in ids
    assert_settled(site, other)


def test_id_added(site: Site) -> None:
    """An id that the manifest takes over from live changes nothing."""
    site.apply(board("a b c"))
    known = ids_of(live(site))["b"][0]

    assert site.change(board(f"a b={known} c")).action.word == "keep"
    assert site.change(board(f"c b:x={known} a")).action.word == "update"
    assert_settled(site, board(f"a b={known} c"))


def test_another_id_added(site: Site) -> None:
    """An item that is given another id leaves its old one free, and no other item takes it."""
    site.apply(board("a b c"))
    before = ids_of(live(site))
    declared = board(f"a b={WEB_ID} n c")

    site.apply(declared)

    after = ids_of(live(site))
    assert after["b"] == [WEB_ID]
    assert after["n"] != before["b"]
    assert (after["a"], after["c"]) == (before["a"], before["c"])
    assert_settled(site, declared)


def test_id_of_another_added(site: Site) -> None:
    """An item that is given the id of its neighbour has it, and the neighbour gets a new one."""
    site.apply(board("a b c"))
    before = ids_of(live(site))
    declared = board(f"a={before['b'][0]} b c")

    site.apply(declared)

    after = ids_of(live(site))
    assert after["a"] == before["b"]
    assert len({after["a"][0], after["b"][0], after["c"][0]}) == 3
    assert_settled(site, declared)


def test_id_taken_away(site: Site) -> None:
    """An item whose id the manifest no longer gives keeps it."""
    site.apply(board(f"a b={WEB_ID} c"))

    assert site.change(board("a b c")).action.word == "keep"
    site.apply(board("c b:x a"))
    assert ids_of(live(site))["b"] == [WEB_ID]
