"""A headless browser that talks to nobody, one for a whole run of the tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@dataclass
class Seen:
    """What a page did beside being shown."""

    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start the browser of the system; skip where there is none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("needs Debian package chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


def watched(page: Page) -> Seen:
    """Note each request of a page and each word on its console."""
    seen = Seen()
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("console", lambda message: seen.said.append(message.text))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("dialog", lambda dialog: seen.said.append(dialog.message))
    return seen


def page_of(folder: Path, text: str) -> str:
    """Write a page to a file; give its address."""
    file = folder / "report.html"
    file.write_text(text, encoding="utf-8")
    return file.as_uri()
