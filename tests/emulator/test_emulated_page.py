"""The page at `/`."""

import shutil
import struct
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from harness.emulated import Emulated
from harness.routes import ALERTS, DASHBOARDS, POLICIES, VIEWS

from reconciler.emulator.overview_page import policy, tag

HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202etxt"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
SERVER = """
from reconciler.emulator import create_app
from reconciler.emulator.serving import serve
serve(create_app(seed="demo"), announce=lambda line: print(line, flush=True))
"""


class Outline(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count an element."""
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        if data.strip():
            self.texts.append(data.strip())


@pytest.fixture(scope="module")
def demo() -> Outline:
    emulator = Emulated(seed="demo")
    emulator.get(POLICIES)
    emulator.get("/v1/slo/slos/nobody")
    return Outline(emulator.get("/").text)


def test_empty_page() -> None:
    """An emulator that holds nothing says so, section by section."""
    outline = Outline(Emulated().get("/").text)

    assert {"No usage.", "No dashboards.", "No incidents.", "Nothing was asked yet."} <= set(
        outline.texts
    )


def test_all_sections(demo: Outline) -> None:
    """The page shows all that the emulator holds."""
    titles = ["Alerts", "Incidents", "Dashboards", "SLOs", "Cases", "Saved views", "Last requests"]

    assert set(titles) <= set(demo.texts)
    assert {"Checkout is slow", "Orders succeed", "Payments are kept", "Failed orders"} <= set(
        demo.texts
    )
    assert demo.tags["section"] == demo.tags["h2"] >= len(titles)
    assert demo.tags["rect"] == 56


def test_dashboards_are_grids(demo: Outline) -> None:
    """Widgets are tiles as wide and high as they are declared."""
    assert ("class", "tile w8 h9") in demo.attributes
    assert ("class", "tile w4 h9") in demo.attributes
    assert "Error budget" in demo.texts


def test_policies_in_order(demo: Outline) -> None:
    """Policies stand in the order in which they take effect."""
    names = ["Payments are kept", "Health checks are blocked", "Errors are watched"]

    places = [demo.texts.index(name) for name in names]

    assert places == sorted(places)


def test_last_requests(demo: Outline) -> None:
    """The last requests stand there, the newest first, without the API root."""
    newest, older = (demo.texts.index(path) for path in ("/v1/slo/slos/nobody", POLICIES))

    assert newest < older
    assert demo.texts[newest + 1] == "404"


def test_nothing_from_elsewhere(demo: Outline) -> None:
    """The page runs nothing and loads nothing."""
    assert demo.tags["style"] == 1
    assert not set(demo.tags) & {"script", "img", "link", "iframe", "form", "object", "base"}
    names = {name for name, _ in demo.attributes}
    assert not {name for name in names if name.startswith("on")} | names & {"style", "src", "href"}


def test_headers() -> None:
    """The browser is told to allow the one style sheet and nothing else."""
    headers = Emulated().get("/").headers

    assert headers["content-security-policy"] == policy()
    assert policy().startswith("default-src 'none'; ")
    assert "unsafe" not in policy()
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


def test_page_leaves_no_trace() -> None:
    """Looking at the page is no request to the API."""
    emulator = Emulated(api_key="canary")

    assert emulator.send("GET", "/", headers={}).status == 200
    assert not emulator.app.state.requests


def test_foreign_text_is_escaped() -> None:
    """Whatever a name holds is shown as text, wherever it stands."""
    emulator = Emulated(alert_ids=["2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"])
    widget = {"id": {"value": "w"}, "title": HOSTILE, "definition": {"markdown": {}}}
    row = {"id": {"value": "r"}, "appearance": {"height": 2**31 - 1}, "widgets": [widget]}
    layout = {"sections": [{"id": {"value": "s"}, "rows": [row]}]}
    dashboard = {"name": HOSTILE, "layout": layout}
    properties = {"name": HOSTILE, "enabled": True}
    item = {"id": "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11", "alertDefProperties": properties}
    made = (
        emulator.post(DASHBOARDS, {"requestId": "1", "dashboard": dashboard}),
        emulator.put(ALERTS, {"alertDefsToReplace": [item]}),
        emulator.post(
            VIEWS, {"name": HOSTILE, "timeSelection": {}, "searchQuery": {"query": HOSTILE}}
        ),
        emulator.get("/<script>alert(2)</script>"),
    )

    text = emulator.get("/").text
    outline = Outline(text)

    assert [answer.status for answer in made] == [200, 200, 200, 404]
    assert not outline.tags["script"]
    assert "<script" not in text
    assert not set(text) & {"\x1b", "\u202e"}
    assert len([text for text in outline.texts if text.startswith("<script>alert(1)")]) == 5


def test_attributes_are_escaped() -> None:
    """A quote in an attribute does not end it."""
    assert tag("p", "<", title='"><b>') == '<p title="&quot;&gt;&lt;b&gt;">&lt;</p>'


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_screenshot(tmp_path: Path) -> None:
    """A real browser draws the page, with its style and without a complaint."""
    picture = tmp_path / "page.png"
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().rpartition(" ")[2].strip()
        seen = subprocess.run(
            [
                str(BROWSER),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--enable-logging=stderr",
                f"--user-data-dir={tmp_path / 'profile'}",
                "--window-size=1280,2400",
                f"--screenshot={picture}",
                url,
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        server.terminate()

    raw = picture.read_bytes()
    assert struct.unpack(">II", raw[16:24]) == (1280, 2400)
    assert len(raw) > 100_000, "the page is nearly empty"
    assert "Content Security Policy" not in seen.stderr
