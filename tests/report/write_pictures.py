"""Write the pictures of docs/images/ again: screenshots of the example's page, in a browser."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from browsers import open_browser, page_of
from example_change import ROOT, example_reports
from playwright.sync_api import FloatRect, Page

IMAGES = ROOT / "docs" / "images"
PICTURES = (
    ("report.png", "light", None),
    ("report-dashboard.png", "light", ("Dashboard", "overview")),
    ("report-policies-dark.png", "dark", ("LogPolicySet", "log-policies")),
    ("report-slo.png", "light", ("SLO", "checkout-success")),
)
LARGEST = 150_000
TOP: FloatRect = {"x": 0, "y": 0, "width": 1000, "height": 760}
HIGHEST_CARD = 560


def write(address: str) -> None:
    """Take each picture, none of them large."""
    with open_browser() as browser:
        for name, scheme, ref in PICTURES:
            context = browser.new_context(
                viewport={"width": 1000, "height": 1200},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page = context.new_page()
            page.goto(address)
            page.get_by_role("button", name="Close all").click()
            page.mouse.move(0, 0)
            data = page.screenshot(clip=TOP if ref is None else card_in_sight(page, *ref))
            assert len(data) <= LARGEST, (name, len(data))
            (IMAGES / name).write_bytes(data)
            context.close()


def card_in_sight(page: Page, kind: str, name: str) -> FloatRect:
    """Open one change alone, bring it into sight, and give where it stands."""
    page.evaluate("() => document.querySelector('.filters').remove()")
    card = page.locator(f".change[data-kind={kind}]", has_text=name)
    card.evaluate("(one) => { one.open = true; one.scrollIntoView({ block: 'center' }); }")
    card.evaluate("(one) => scrollBy(0, one.getBoundingClientRect().top - 20)")
    box = card.bounding_box()
    assert box is not None
    return {
        "x": box["x"] - 10,
        "y": box["y"] - 10,
        "width": box["width"] + 20,
        "height": min(box["height"] + 20, HIGHEST_CARD),
    }


IMAGES.mkdir(exist_ok=True)
with TemporaryDirectory() as folder:
    write(page_of(Path(folder), example_reports(Path(folder) / "example")["html"]))
