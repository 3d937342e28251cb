"""The page of a plan in a real browser: what a reader clicks, types, prints and sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from browsers import open_browser, page_of, watched
from harness.sites import manifest_of
from playwright.sync_api import Browser, Page
from sample_plans import plan_of, plan_of_three, plan_of_three_hundred, updated

from reconciler.model import Change, Drift, DriftReport, Plan, Ref, Source
from reconciler.report.html import drift_html, plan_html

pytestmark = pytest.mark.slow

FOCUSED = "() => document.activeElement.id || document.activeElement.closest('details')?.id || ''"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    yield context.new_page()
    context.close()


def shown(page: Page) -> list[str]:
    """Give the names of the resources in sight."""
    # What is far below the window is not laid out, and only that would be its inner text.
    return page.locator(".change:not([hidden]) h3").all_text_contents()


def teams() -> Plan:
    """Give nine changes of three teams, one of them nameless."""
    return plan_of(labelled(f"view-{number}", "ab"[number % 2]) for number in range(9))


def labelled(name: str, team: str) -> Change:
    """Give a change under a team's label; the last has none."""
    change = updated("SavedView", name, {"name": "A"}, {"name": f"query of {name}"})
    labels = {} if name == "view-8" else {"team": team}
    return replace(change, manifest=replace(manifest_of(change), labels=labels))


def test_a_page_loads_nothing_and_complains_of_nothing(page: Page, tmp_path: Path) -> None:
    """Opening a page asks for that file alone, and its console stays empty."""
    seen = watched(page)
    address = page_of(tmp_path, plan_html(plan_of_three_hundred()))

    page.goto(address)
    page.get_by_role("button", name="Open all").click()

    assert seen.requests == [address]
    assert seen.said == []


def test_foreign_script_never_runs(page: Page, tmp_path: Path) -> None:
    """What a manifest holds is shown as it is written, and does nothing."""
    seen = watched(page)
    attack = (
        "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>"
    )
    plan = plan_of([updated("SavedView", attack, {"name": "A"}, {"name": attack})])

    page.goto(page_of(tmp_path, plan_html(replace(plan, environment=attack))))

    assert seen.said == []
    assert page.locator("h1").inner_text() == f"Plan for {attack}"
    assert shown(page) == [attack]


def test_a_click_filters(page: Page, tmp_path: Path) -> None:
    """A pressed button keeps what it names, a second of its kind adds to it, and both say so."""
    page.goto(page_of(tmp_path, plan_html(teams())))
    first = page.get_by_role("button", name="a 4")

    page.get_by_text("Filters", exact=True).click()
    first.click()
    assert shown(page) == [f"view-{number}" for number in (0, 2, 4, 6)]
    assert first.get_attribute("aria-pressed") == "true"
    assert page.get_by_role("status").inner_text() == "4 of 9 shown"

    page.get_by_role("button", name="none 1").click()
    assert shown(page) == [f"view-{number}" for number in (0, 2, 4, 6, 8)]

    page.get_by_role("button", name="Clear filters").click()
    assert len(shown(page)) == 9


def test_filters_of_two_kinds_narrow_each_other(page: Page, tmp_path: Path) -> None:
    """What is shown fits every facet, and a kind without any left is gone with its heading."""
    page.goto(page_of(tmp_path, plan_html(plan_of_three_hundred())))

    page.get_by_role("button", name="Dashboard 35").click()
    page.get_by_role("button", name="create 30").click()

    assert len(shown(page)) == 30
    assert page.locator(".group:not([hidden]) h2").all_inner_texts() == ["Dashboard 35 changes"]


def test_a_search_looks_into_the_diffs(page: Page, tmp_path: Path) -> None:
    """Typing keeps what holds the text, in its name, its file or its fields."""
    page.goto(page_of(tmp_path, plan_html(teams())))

    page.get_by_label("Search").fill("QUERY OF view-3")
    assert shown(page) == ["view-3"]

    page.keyboard.press("Escape")
    assert len(shown(page)) == 9


def test_a_keyboard_is_enough(page: Page, tmp_path: Path) -> None:
    """Tab leads past the head to a change, Enter opens it, and a slash leads to the search."""
    page.goto(page_of(tmp_path, plan_html(teams())))

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED).startswith("change-"):
            break
    opened = page.evaluate(FOCUSED)
    for is_open in (False, True):
        page.keyboard.press("Enter")
        assert (page.locator(f"#{opened}").get_attribute("open") is not None) is is_open

    page.keyboard.press("/")
    assert page.evaluate(FOCUSED) == "search"


def test_a_warning_leads_to_its_change(page: Page, tmp_path: Path) -> None:
    """The link of a warning opens the change that it is about, filtered away or not."""
    page.goto(page_of(tmp_path, plan_html(plan_of_three_hundred())))
    page.get_by_role("button", name="Dashboard 35").click()

    page.locator(".attention").get_by_role("link", name="LogPolicySet/log-policies").click()

    card = page.locator(".change[open]")
    assert card.locator("h3").inner_text() == "log-policies"
    assert card.is_visible()
    assert card.locator("svg").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """A page follows the reader's choice of light or dark, pictures too."""
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    page = context.new_page()
    page.goto(page_of(tmp_path, plan_html(plan_of_three())))

    ground = page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    text = page.locator("svg text").first.evaluate("(one) => getComputedStyle(one).fill")
    context.close()

    bright = [sum(map(int, colour[4:-1].split(","))) > 3 * 128 for colour in (ground, text)]
    assert bright == [scheme == "light", scheme == "dark"]


def test_paper_shows_all(page: Page, tmp_path: Path) -> None:
    """Printing opens every change and hides what only a screen can do, and puts all back."""
    page.goto(page_of(tmp_path, plan_html(teams())))
    page.get_by_role("button", name="Close all").click()
    assert page.locator(".change[open]").count() == 0

    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".fields:visible").count() == 9
    assert not page.locator(".filters").is_visible()

    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.locator(".change[open]").count() == 0


def test_without_script(browser: Browser, tmp_path: Path) -> None:
    """Where no script may run, there is no filter, and every change still opens and prints."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_of(tmp_path, plan_html(teams())))

    assert not page.locator(".filters").is_visible()
    for is_open in (False, True):
        page.locator("#change-1 summary").click()
        assert page.locator("#change-1 .fields").is_visible() is is_open
    page.emulate_media(media="print")
    assert page.locator(".fields:visible").count() == 9
    context.close()


def test_a_narrow_screen_needs_no_sideways_scrolling(browser: Browser, tmp_path: Path) -> None:
    """On a telephone the page is as wide as the screen, whatever stands in it."""
    context = browser.new_context(viewport={"width": 375, "height": 700})
    page = context.new_page()
    page.goto(page_of(tmp_path, plan_html(plan_of_three())))

    wide = page.evaluate("() => document.documentElement.scrollWidth")
    context.close()

    assert wide <= 375


def test_readers_who_cannot_see_it(page: Page, tmp_path: Path) -> None:
    """Everything that can be pressed or drawn has a name, and headings leave out no level."""
    page.goto(page_of(tmp_path, plan_html(plan_of_three())))

    for role in ("button", "link", "img", "searchbox"):
        for one in page.get_by_role(role).all():
            named = one.get_attribute("aria-label") or one.inner_text()
            assert named.strip() or role == "searchbox"
    assert page.get_by_role("searchbox", name="Search").count() == 1
    for landmark in ("banner", "main", "contentinfo", "search"):
        assert page.get_by_role(landmark).count() == 1
    levels = [
        int(tag[1])
        for tag in page.locator("h1,h2,h3,h4").evaluate_all(
            "(all) => all.filter((one) => one.checkVisibility()).map((one) => one.tagName)"
        )
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_pictures_keep_their_words_inside(page: Page, tmp_path: Path) -> None:
    """No word of a picture runs over the edge of its picture."""
    page.goto(page_of(tmp_path, plan_html(plan_of_three())))

    over = page.evaluate(
        """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
            const edge = svg.viewBox.baseVal.width + 1;
            return [...svg.querySelectorAll("text")].filter((one) => {
                const box = one.getBBox();
                return box.x + box.width > edge || box.x < -1;
            }).map((one) => one.textContent);
        })"""
    )

    assert over == []


def test_drift_in_a_browser(page: Page, tmp_path: Path) -> None:
    """The page of what drifted opens quietly, and says which side is which."""
    seen = watched(page)
    found = updated("SavedView", "view", {"name": "A"}, {"name": "B"}).differences
    drift = Drift(
        ref=Ref("SavedView", "view"),
        source=Source("view.yaml", 1),
        state="drifted",
        differences=found,
    )

    page.goto(page_of(tmp_path, drift_html(DriftReport([drift]), "local", "emulator")))

    assert seen.said == []
    assert page.locator("thead th").all_inner_texts() == ["field", "applied", "live"]
