"""Pages on a telephone and on a screen, by light and by dark: what can be read there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from browsers import open_browser, page_of
from playwright.sync_api import Browser, Page
from sample_plans import (
    LONG_QUERY,
    NEW_SLO,
    plan_of,
    plan_of_new,
    plan_of_three,
    policies,
    policy,
    updated,
)

from reconciler.document import Json, differences
from reconciler.model import Drift, DriftReport, Ref, Source
from reconciler.planning.guards import objections
from reconciler.project import Guards
from reconciler.report.html import drift_html, plan_html

pytestmark = [pytest.mark.promise("P51"), pytest.mark.slow]

SMALLEST = 11
PHONE, SCREEN = 360, 1280
# Of every word in a picture that is in sight: how high its letters are on the screen.
SIZES = """() => [...document.querySelectorAll(".picture")].flatMap((picture) => {
    const walker = document.createTreeWalker(picture, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const one = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || one.closest("title") || !one.checkVisibility())
            continue;
        const scale = one.getScreenCTM ? one.getScreenCTM().a : 1;
        found.push([one.textContent, parseFloat(getComputedStyle(one).fontSize) * scale]);
    }
    return found;
})"""
# Of every value of a side: how far below the value's start its first letter stands.
VALUES = "td.before > code, td.after > code, td > del, td > ins"
DROPS = (
    f"""() => [...document.querySelectorAll("{VALUES}")]"""
    """.filter(
    (one) => one.checkVisibility() && one.textContent).map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const first = [...range.getClientRects()].find((box) => box.width > 0);
        return [one.textContent, first.top - one.getBoundingClientRect().top];
    })"""
)
CUT = """(one) => one.scrollWidth > one.clientWidth + 1
    || one.getBoundingClientRect().right > document.documentElement.clientWidth"""
OPENED = """() => { for (const one of document.querySelectorAll("details.change")) {
    one.open = true;
    one.style.contentVisibility = "visible";
} }"""
NAMES = ["A policy whose name is as long as names of policies become", "Audit", "Noise", "Rest"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as started:
        yield started


@contextmanager
def opened(browser: Browser, folder: Path, text: str, width: int, scheme: str) -> Iterator[Page]:
    """Give a page with every card open."""
    dark = scheme == "dark"
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    page.goto(page_of(folder, text))
    page.evaluate(OPENED)
    yield page
    context.close()


def pictures() -> str:
    """Give a page with every kind of picture: changed, and of something new."""
    slower = {**NEW_SLO, "targetThresholdPercentage": 99}
    changed = updated("SLO", "slower", NEW_SLO, slower)
    return plan_html(plan_of([*plan_of_three().changes, *plan_of_new().changes, changed]))


def reordered() -> str:
    """Give a page with a policy moved, one removed and two that stay."""
    first, audit, noise, rest = (policy(name, "LOW") for name in NAMES)
    before, after = policies(audit, noise, first, rest), policies(first, audit, rest)
    return plan_html(plan_of([updated("LogPolicySet", "log-policies", before, after)]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, SCREEN])
def test_pictures_can_be_read(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    """No word of a picture is smaller than 11 px, and no picture makes the page wider."""
    with opened(browser, tmp_path, pictures(), width, scheme) as page:
        sizes = page.evaluate(SIZES)
        wide = page.evaluate("() => document.documentElement.scrollWidth")

    assert len(sizes) > 40
    assert [size for size in sizes if size[1] < SMALLEST] == []
    assert wide <= width


def test_policies_reflow(browser: Browser, tmp_path: Path) -> None:
    """On a telephone the order is one list under the other, each name whole, each move said."""
    with opened(browser, tmp_path, reordered(), PHONE, "light") as page:
        sides = page.locator(".order .side")
        before, after = (sides.nth(index) for index in (0, 1))
        boxes = [side.bounding_box() for side in (before, after)]
        said = after.locator("li").all_inner_texts()
        cut = [
            name.inner_text()
            for name in page.locator(".order .name").all()
            if name.is_visible() and name.evaluate(CUT)
        ]

        assert boxes[0] is not None
        assert boxes[1] is not None
        assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
        assert before.get_by_text("Noise").is_visible()
        assert not before.get_by_text("Audit").is_visible()

    assert [" ".join(text.split()[:2]) for text in said] == ["1 A", "2 Audit", "3 Rest"]
    assert "from 3" in said[0]
    assert cut == []


def test_policies_side_by_side(browser: Browser, tmp_path: Path) -> None:
    """On a screen both lists stand side by side, and each line meets the policies it joins."""
    with opened(browser, tmp_path, reordered(), SCREEN, "light") as page:
        sides = page.locator(".order .side")
        boxes = [sides.nth(index).bounding_box() for index in (0, 1)]
        ends = page.evaluate(
            """() => [...document.querySelectorAll(".links .link[data-ends]")].map((link) => {
                const box = link.ownerSVGElement.getBoundingClientRect();
                const scale = link.getScreenCTM().d;
                const middle = (side, place) => {
                    const items = document.querySelectorAll(`.order .${side} li`);
                    const one = items[place - 1].getBoundingClientRect();
                    return (one.top + one.bottom) / 2 - box.top;
                };
                const [from, to] = link.dataset.ends.split(" ");
                const length = link.getTotalLength();
                return [link.getPointAtLength(0).y * scale - middle("before", from),
                        link.getPointAtLength(length).y * scale - middle("after", to)];
            })"""
        )

    assert boxes[0] is not None
    assert boxes[1] is not None
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 1
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    assert len(ends) == 3
    assert [end for end in ends if max(map(abs, end)) > 2] == []


@pytest.mark.parametrize("width", [PHONE, SCREEN])
def test_signs_stand_beside_their_text(browser: Browser, tmp_path: Path, width: int) -> None:
    """A `+` or `-` stands in the line of its text, also where that is one long word."""
    word: dict[str, Json] = {
        "name": "A",
        "searchQuery": {"query": "x" * 50 + " " + LONG_QUERY.replace(" ", "")},
    }
    found = updated("SavedView", "view", word, {**word, "name": "B" * 70}).differences
    found += updated("SLO", "slo", NEW_SLO, {**NEW_SLO, "labels": {"a": "y" * 60}}).differences
    query: dict[str, Json] = {"name": "A", "searchQuery": {"query": "z" * 60}}
    found += updated("SavedView", "view", word, query).differences
    drifts = [
        Drift(
            ref=Ref("SavedView", "view"),
            source=Source("view.yaml", 1),
            state="drifted",
            differences=found,
        )
    ]

    for text in (
        drift_html(DriftReport(drifts), "production", "emulator"),
        plan_html(plan_of_three()),
    ):
        with opened(browser, tmp_path, text, width, "light") as page:
            drops = page.evaluate(DROPS)
        assert drops
        assert [drop for drop in drops if drop[1] > 6] == []


HEIGHT = 844


@contextmanager
def first_screen(browser: Browser, folder: Path, text: str, width: int) -> Iterator[Page]:
    """Open a page as a reader first sees it."""
    context = browser.new_context(viewport={"width": width, "height": HEIGHT})
    page = context.new_page()
    page.goto(page_of(folder, text))
    yield page
    context.close()


def consenting(count: int) -> str:
    """Return a page of so many changes, each of which needs consent."""
    changes = [
        updated("SLO", f"slo-{number}", NEW_SLO, {**NEW_SLO, "targetThresholdPercentage": 90})
        for number in range(count)
    ]
    made = plan_of(changes)
    return plan_html(replace(made, guarded=objections(made, Guards())))


@pytest.mark.promise("S22")
@pytest.mark.parametrize("width", [390, 768, SCREEN])
def test_consent_is_folded_on_a_phone(browser: Browser, tmp_path: Path, width: int) -> None:
    """On a phone consent is its headline, and the first change is on the first screen."""
    with first_screen(browser, tmp_path, consenting(5), width) as page:
        attention = page.locator(".attention")
        is_open = attention.locator(".notices").is_visible()
        headline = attention.locator("summary").inner_text()
        change = page.locator(".change").first.bounding_box()

    assert is_open is (width != 390)
    assert "a reviewer must consent: 5" in headline
    assert change is not None
    assert width != 390 or change["y"] < HEIGHT


@pytest.mark.promise("S22")
@pytest.mark.parametrize(("count", "is_open"), [(10, True), (11, False)])
def test_cards_of_few_changes_are_open(
    browser: Browser, tmp_path: Path, count: int, *, is_open: bool
) -> None:
    """Up to ten changes are open, and their filters take less room than the first of them."""
    with first_screen(browser, tmp_path, consenting(count), SCREEN) as page:
        opened = page.locator(".change[open]").count()
        bar, change = (page.locator(name).first.bounding_box() for name in (".filters", ".change"))

    assert opened == (count if is_open else 0)
    assert bar is not None
    assert change is not None
    assert not is_open or bar["height"] * 3 < change["height"]


@pytest.mark.promise("S22")
@pytest.mark.parametrize("width", [768, SCREEN])
def test_columns_of_drift_stay_apart(browser: Browser, tmp_path: Path, width: int) -> None:
    """Long names and long values of one column end before the next column begins."""
    applied: dict[str, Json] = {"name": "a" * 60, "description": "b" * 200}
    live: dict[str, Json] = {"name": "c" * 60, "description": "d" * 200}
    found = Drift(
        ref=Ref("SLO", "one"),
        source=Source("a.yaml", 1),
        state="drifted",
        differences=tuple(differences(applied, live)),
        live=live,
        applied=applied,
    )
    same = (
        Drift(ref=Ref("SLO", f"{number}-{'x' * 50}"), source=Source("a.yaml", 1), state="same")
        for number in range(9)
    )
    text = drift_html(DriftReport((found, *same)), "production", "https://api.example.com")
    with first_screen(browser, tmp_path, text, width) as page:
        page.locator(".unchanged summary").click()
        rows = page.evaluate(GAPS)
        names = page.evaluate(NAME_GAPS)

    assert rows
    assert min(rows) >= 8
    assert names
    assert min(names) >= 24


# The room between the two sides of a field, and between the columns of names: a bullet needs 18 px.
GAPS = """() => [...document.querySelectorAll("td.before + td.after")].map((after) => {
    const inside = (cell) => cell.querySelector("code").getBoundingClientRect();
    return inside(after).left - inside(after.previousElementSibling).right;
})"""
NAME_GAPS = """() => {
    const boxes = [...document.querySelectorAll(".names li")].map((li) => {
        const range = document.createRange();
        range.selectNodeContents(li);
        return range.getBoundingClientRect();
    });
    return boxes.flatMap((a) => boxes.filter((b) => b.left >= a.right && b.left > a.left)
        .map((b) => b.left - a.right));
}"""
