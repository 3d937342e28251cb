"""Ids of items are kept whatever a service does to labels, and whatever became of the journal."""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from boards import board, declared_sections, ids_of, live, put, rows_of, widgets_of
from harness.routes import DASHBOARDS
from harness.sites import Site, assert_settled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.model import Manifest, OverwritesEdit
from reconciler.planning.find_drift import find_drift

pytestmark = pytest.mark.promise("P14")

FEW = settings().max_examples // 2

Rewrite = Callable[[str], str]
REWRITES: dict[str, Rewrite] = {
    "as sent": str,
    "trimmed": str.strip,
    "composed": lambda label: unicodedata.normalize("NFC", label),
    "small letters": str.casefold,
    "cut": lambda label: label[:1],
    "turned round": lambda label: label[::-1],
    "all the same": lambda _: "x",
    "dropped": lambda _: "",
}
PLACES = (("filters", "displayName"), ("variablesV2", "name"))


class Relabelling(Site):
    """A service that stores each label as something that it makes of it."""

    def __init__(self, root: Path, rewrite: Rewrite) -> None:
        super().__init__(root)

        async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
            body = json.loads(request.content)
            relabel(body["dashboard"], rewrite)
            headers = {k: v for k, v in request.headers.items() if k != "content-length"}
            again = httpx.Request(request.method, request.url, headers=headers, json=body)
            return await inner.handle_async_request(again)

        self.meddle("POST", DASHBOARDS, *[meddle] * 9)
        self.meddle("PUT", DASHBOARDS, *[meddle] * 99)

    def lose_journal(self) -> None:
        """Forget all that was ever written."""
        Path(self.journal.place).unlink(missing_ok=True)


def relabel(dashboard: Any, rewrite: Rewrite) -> None:
    """Rewrite what people call the items of a dashboard."""
    for widget in widgets_of(dashboard):
        widget["title"] = rewrite(widget["title"])
    for part in dashboard["layout"]["sections"]:
        if custom := part.get("options", {}).get("custom"):
            custom["name"] = rewrite(custom["name"])
    for key, label in PLACES:
        for value in dashboard.get(key, ()):
            value[label] = rewrite(value[label])


LABELLED = board(
    "a:\N{LATIN SMALL LETTER E}\N{COMBINING ACUTE ACCENT} b:B / c:Sales | d:B",
    filters=[{"displayName": " Team ", "source": {"metrics": {"label": "team"}}}],
    variablesV2=[{"name": " region ", "source": {"static": {"values": []}}}],
)
for _number, _part in enumerate(declared_sections(LABELLED)):
    _part["options"] = {"custom": {"name": f" Part {_number} "}}
    _part["rows"][0]["widgets"][0]["title"] += "  "


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
def test_settles(tmp_path: Path, rewrite: Rewrite) -> None:
    """One apply settles a dashboard without ids, whatever the service makes of its labels."""
    site = Relabelling(tmp_path, rewrite)

    site.apply(LABELLED)
    stored = live(site)

    assert_settled(site, LABELLED)
    assert live(site) == stored


@pytest.mark.parametrize("profile", [Profile(texts="trimmed"), Profile(unicode="nfc")])
def test_settles_on_the_emulator(tmp_path: Path, profile: Profile) -> None:
    """A service that trims or composes all texts settles in one apply, variables by name too."""
    site = Site(tmp_path, create_app(profile=profile))
    body: Any = LABELLED.spec["dashboard"]
    variables: Json = [{"name": name, "displayName": name} for name in (" old ", "e\u0301")]
    declared = board("a", **{**body, "variables": variables})

    site.apply(declared)

    assert_settled(site, declared)


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
def test_drift_and_plan_agree(tmp_path: Path, rewrite: Rewrite) -> None:
    """A title edited in the web interface is one line of `drift`, and the same one of the plan."""
    site = Relabelling(tmp_path, rewrite)
    site.apply(LABELLED)
    stored = live(site)
    widgets_of(stored)[1]["title"] = "By hand"
    put(site, stored)

    history = site.journal.history
    (drifted,) = site.ask(lambda api: find_drift(api, (LABELLED,), history, "salt")).found

    (told,), (planned,) = drifted.differences, site.change(LABELLED).differences
    assert told.path == planned.path
    assert (told.before, told.after) == (planned.after, planned.before) == ("B", "By hand")


def test_moved_by_hand(site: Site) -> None:
    """A widget that somebody moved to another row is one move, for `drift` and for the plan."""
    declared = board("a b / c")
    site.apply(declared)
    stored = live(site)
    first, second = (row["widgets"] for row in rows_of(stored))
    second.insert(0, {**first.pop(0), "setByHand": 1})
    put(site, stored)

    history = site.journal.history
    (drifted,) = site.ask(lambda api: find_drift(api, (declared,), history, "salt")).found
    (told,), (planned,) = drifted.differences, site.change(declared).differences
    site.apply(declared)

    assert (told.operation, planned.operation) == ("move", "move")
    assert (told.path, told.path_before) == (planned.path_before, planned.path)
    assert [widget.get("setByHand") for widget in widgets_of(live(site))] == [1, None, None]


def test_move_over_an_edit(site: Site) -> None:
    """Moving a widget says that it undoes the title which somebody gave it where it stood."""
    site.apply(board("a b / c"))
    stored = live(site)
    widgets_of(stored)[1]["title"] = "By hand"
    put(site, stored)

    (undone,) = (
        reason.paths
        for reason in site.change(board("a / c b")).reasons
        if isinstance(reason, OverwritesEdit)
    )

    (row, *_) = rows_of(stored)
    assert [path[5:] for path in undone] == [
        (row["id"]["value"], "widgets", ids_of(stored)["b"][0], "title")
    ]


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
def test_journal_lost(tmp_path: Path, rewrite: Rewrite) -> None:
    """Without a journal a dashboard keeps the ids of its widgets, and settles in one apply."""
    site = Relabelling(tmp_path, rewrite)
    site.apply(LABELLED)
    before = ids_of(live(site))
    site.lose_journal()

    site.apply(LABELLED)

    assert ids_of(live(site)) == before
    assert_settled(site, LABELLED)


def test_adopted(tmp_path: Path) -> None:
    """A dashboard that was made by hand keeps its ids, though its manifest calls all otherwise."""
    site = Site(tmp_path)
    site.outside("POST", DASHBOARDS, {"dashboard": made_by_hand("a b / c | d"), "requestId": "x"})
    before = ids_of(live(site))

    change = site.change(board("c:z / b:y a:x | d:w"))
    site.apply(board("c:z / b:y a:x | d:w"))

    assert ids_of(live(site)) == before
    assert {difference.operation for difference in change.differences} == {"change", "move"}


def made_by_hand(drawn: str) -> Any:
    """Give a dashboard with ids, as the web interface makes one."""
    body: Any = board(drawn).spec["dashboard"]
    body["slugName"] = "checkout"
    parts = body["layout"]["sections"]
    rows = [row for part in parts for row in part["rows"]]
    for number, element in enumerate([*parts, *rows, *widgets_of(body)]):
        element["id"] = {"value": f"by-hand-{number}"}
        element["setByHand"] = number
    return body


def test_taken_over(site: Site) -> None:
    """A widget of the web interface that is copied into the manifest keeps its id."""
    site.apply(board("a b"))
    stored = live(site)
    added = made_by_hand("n")["layout"]["sections"][0]["rows"][0]["widgets"]
    stored["layout"]["sections"][0]["rows"][0]["widgets"].extend(added)
    put(site, stored)

    assert site.change(board("a b n")).action.word == "keep"


def test_stranger_in_a_place(site: Site) -> None:
    """A new widget is not taken for one that someone else put where it is to stand."""
    site.apply(board("a b"))
    stored = live(site)
    added = made_by_hand("s")["layout"]["sections"][0]["rows"][0]["widgets"]
    stored["layout"]["sections"][0]["rows"][0]["widgets"].extend(added)
    put(site, stored)

    change = site.change(board("a b n"))

    assert [difference.operation for difference in change.differences] == ["add", "remove"]


def test_other_ids_live(site: Site) -> None:
    """Where live has other ids by now, as after a restore, those are taken over."""
    site.apply(board("a b a / c | d a"))
    stored = live(site)
    fresh = made_by_hand("a b a / c | d a")
    fresh["id"] = stored["id"]
    put(site, fresh)

    assert site.change(board("a b a / c | d a")).action.word == "keep"
    (difference,) = site.change(board("a b a / c:x | d a")).differences
    assert difference.path[-1] == "title"


def test_write_in_doubt(site: Site) -> None:
    """After a write whose answer was lost, ids are those of that write, if it happened or not."""
    site.apply(board("a b"))
    before = ids_of(live(site))

    async def lost(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        del request, inner
        raise httpx.ReadError("broken")

    site.meddle("PUT", DASHBOARDS, *[lost] * 9)
    site.apply(board("a n b:x"))
    planned = site.change(board("n b:y a")).declared["dashboard"]

    again = site.change(board("a n b:x")).declared["dashboard"]
    assert ids_of(planned)["n"] == ids_of(again)["n"]
    assert (ids_of(planned)["a"], ids_of(planned)["b"]) == (before["a"], before["b"])


letters = st.sampled_from("abcdefghij")
titles = st.sampled_from(["", "t", "T", " t ", "u", "\u00e9", "e\u0301"])
layouts = st.lists(
    st.lists(st.lists(st.tuples(letters, titles), max_size=4), min_size=1, max_size=3),
    min_size=1,
    max_size=3,
)


def drawn_once(layout: list[list[list[tuple[str, str]]]]) -> Manifest:
    """Give a dashboard of a layout, each content at its first place only."""
    seen: set[str] = set()
    declared = board("|".join("/".join("x" for _ in part) for part in layout))
    for part, rows in zip(declared_sections(declared), layout, strict=True):
        for row, widgets in zip(part["rows"], rows, strict=True):
            fresh = [(letter, title) for letter, title in widgets if letter not in seen]
            (template,) = row["widgets"]
            row["widgets"] = [
                {
                    **template,
                    "title": title,
                    "definition": {"lineChart": {"query": f"sum({letter})"}},
                }
                for letter, title in dict(fresh).items()
            ]
            seen.update(letter for letter, _ in fresh)
    return declared


@pytest.mark.slow
@settings(max_examples=FEW, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(layouts, min_size=2, max_size=3), st.sampled_from(sorted(REWRITES)), st.booleans())
def test_kept_whatever_happens(
    versions: list[list[list[list[tuple[str, str]]]]], rewrite: str, forgets: bool
) -> None:
    """Each apply settles, no two ids are one, and what is still declared has the id it had."""
    with tempfile.TemporaryDirectory() as folder:
        site = Relabelling(Path(folder), REWRITES[rewrite])
        before: dict[str, list[str]] = {}
        for declared in map(drawn_once, versions):
            applied = site.apply(declared)
            assert applied.exit_codes == set(), applied.outcomes
            assert_settled(site, declared)
            after = ids_of(live(site))
            ids = [text for found in after.values() for text in found]
            assert len(set(ids)) == len(ids)
            for letter in before.keys() & after.keys():
                assert after[letter] == before[letter]
            before = after
            if forgets:
                site.lose_journal()
                assert site.apply(declared).exit_codes == set()
                assert_settled(site, declared)
                assert ids_of(live(site)) == before
