"""What axe-core finds in a page: contrast, names, order of headings, reach of the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Literal

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
# What of a page depends on the colour scheme.
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
SCHEMES: dict[Literal["light", "dark"], dict[str, Any]] = {"light": {}, "dark": COLOURS}
WIDTHS = {390: 844, 1280: 800}


def findings(page: Page, address: str) -> Iterator[str]:
    """Yield each finding of one page, on a phone and a desk, light and dark."""
    page.emulate_media(color_scheme="light")
    page.goto(address)
    page.add_style_tag(content="* {transition: none !important}")
    page.evaluate(AXE)
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme, options in SCHEMES.items():
            page.emulate_media(color_scheme=scheme)
            ran = page.evaluate(
                "options => axe.run(document, {resultTypes: ['violations'], ...options})", options
            )
            for found in ran["violations"]:
                for node in found["nodes"]:
                    said = " ".join(node["failureSummary"].split())
                    yield f"{width} {scheme} {found['id']} at {node['target']}: {said}"
