"""The site of docs/: whole, searchable, and asking no other host for anything."""

from __future__ import annotations

import fcntl
import functools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe import findings
from docs_hooks import FENCED, LINK
from runner import ROOT

from reconciler.report.explanations.pages import codes

sys.path.append(str(Path(__file__).parent.parent / "report"))

from browsers import open_browser, watched

BIN = Path(sys.executable).parent
LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("object", "data"),
    ("embed", "src"),
}
# What a link of the head is for that loads nothing until somebody asks.
PASSIVE = {"canonical", "next", "prev", "alternate"}


def built(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / "mkdocs", "build", "--config-file", config, "--site-dir", site],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once for all processes of a run."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, unfinished = shared / "site", shared / "site.unfinished"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = built(ROOT / "mkdocs.yml", unfinished)
            assert made.returncode == 0, made.stdout + made.stderr
            unfinished.rename(folder)
    return folder


class Read(HTMLParser):
    """What a page loads, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag loads, or leads to."""
        given = {name: value or "" for name, value in attrs}
        self.loads += [value for name, value in given.items() if (tag, name) in LOADED]
        if tag == "link" and not PASSIVE & set(given.get("rel", "").split()):
            self.loads.append(given.get("href", ""))
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@functools.cache
def pages_in(site: Path) -> dict[Path, Read]:
    return {page: Read(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """No page and no style sheet loads anything that is not a file of the site."""
    pages = pages_in(site)
    loads = [(page, load) for page, read in pages.items() for load in read.loads]
    styles = [
        (style, load.strip("'\""))
        for style in site.rglob("*.css")
        for groups in re.findall(
            r"url\(([^)]*)\)|@import\s+[\"']([^\"']*)", style.read_text("utf-8")
        )
        for load in filter(None, groups)
    ]
    found = [(at, value) for at, value in (*loads, *styles) if not value.startswith("data:")]

    assert len(pages) > 25
    assert len(found) > len(pages)
    assert [(at.name, value) for at, value in found if urlsplit(value).netloc or ":" in value] == []
    assert [
        (at.name, value)
        for at, value in found
        if at.name != "404.html" and not (at.parent / unquote(urlsplit(value).path)).is_file()
    ] == []


def test_links_lead_to_files(site: Path) -> None:
    """Every link of a page to the site itself leads to a file of it."""
    lost = [
        (page.name, link)
        for page, read in pages_in(site).items()
        for link in read.links
        if page.name != "404.html"
        and not urlsplit(link).scheme
        and not (page.parent / (unquote(urlsplit(link).path) or page.name)).exists()
    ]

    assert lost == []


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that a forge gives the headings of a Markdown file."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ +(.+?) *#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    again = {f"{slug}-{n}" for slug, most in found.items() for n in range(1, most + 1)}
    return {*found, *again, *re.findall(r'<a (?:id|name)="([^"]+)"', text)}


def test_links_of_the_repository() -> None:
    """Every relative link of a Markdown file leads to a file, and to a heading of it."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],  # noqa: S607 - git of the PATH
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    # The examples of commands are parts of a page of docs/.
    pages = [
        ROOT / name
        for name in listed
        if (ROOT / name).is_file() and not name.startswith("scripts/")
    ]
    lost = [
        (page.relative_to(ROOT).as_posix(), target, anchor)
        for page in pages
        for _, _, target, anchor in LINK.findall(FENCED.sub("", page.read_text("utf-8")))
        if ":" not in target
        for file in [page.parent / target if target else page]
        if not file.exists() or (anchor and anchor[1:] not in anchors_of(file))
    ]

    assert len(pages) > 50
    assert lost == []


def test_each_page_is_reached(site: Path) -> None:
    """From the first page, links lead to every page, the generated ones of fields and codes too."""
    pages = pages_in(site)
    met, left = set[Path](), [site / "index.html"]
    while left:
        page = left.pop()
        if page in met:
            continue
        met.add(page)
        links = (unquote(urlsplit(link).path) for link in pages[page].links if ":" not in link)
        found = (Path(os.path.normpath(page.parent / link)) for link in links if link)
        left += [path for path in found if path in pages]
    kept = {
        path.relative_to(ROOT / "docs").with_suffix(".html") for path in ROOT.glob("docs/**/*.md")
    }

    assert met == set(pages) - {site / "404.html"}
    assert kept <= {path.relative_to(site) for path in met}


def test_each_code_is_in_the_index(site: Path) -> None:
    """The index of codes leads to the page of each code once, and each page is there."""
    text = (site / "diagnostics" / "index.md").read_text(encoding="utf-8")
    pages = {page.stem for page in (site / "diagnostics").glob("*.html")}

    assert sorted(re.findall(r"^\| \[(\S+)\]", text, re.MULTILINE)) == sorted(codes())
    assert pages == {"index", *codes()}


def test_each_page_as_plain_markdown(site: Path) -> None:
    """Each page is there as Markdown, listed in the index for programs, under one of four parts."""
    index = (site / "llms.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[.+?\]\((.+?)\): .+$", index, re.MULTILINE)
    pages = {page.relative_to(site).with_suffix(".md") for page in pages_in(site)}

    assert set(map(Path, listed)) == pages - {Path("404.md")}
    assert all((site / value).read_text(encoding="utf-8").startswith("# ") for value in listed)
    parts = re.findall(r"^## (.+)$", index, re.MULTILINE)
    assert parts == ["Start", "How-to", "Reference", "Background"]
    for value in listed:
        text = (site / value).read_text(encoding="utf-8")
        assert "](../../" not in text


def test_a_page_that_is_not_in_the_navigation(tmp_path: Path) -> None:
    """A page of docs/ without a place in the navigation stops the build, and is named."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    without = text.replace("      - fmt.md\n", "")
    for name in ("docs_dir: docs", "hooks: [scripts/docs_hooks.py]"):
        key, _, place = name.partition(": ")
        bare = place.strip("[]")
        full = str(ROOT / bare)
        without = without.replace(name, f"{key}: {f'[{full}]' if '[' in place else full}")
    config = tmp_path / "mkdocs.yml"
    config.write_text(without, encoding="utf-8")
    made = built(config, tmp_path / "site")

    assert made.returncode != 0
    assert "fmt.md" in made.stdout + made.stderr


def test_each_fence_is_a_picture(site: Path) -> None:
    """Each `mermaid` fence of a page is drawn in the site, and none is left to a script."""
    fence = re.compile(r"^ *```mermaid$", re.MULTILINE)
    fences = {
        page.relative_to(site): len(fence.findall(page.read_text("utf-8")))
        for page in site.rglob("*.md")
    }
    drawn = {
        page.relative_to(site).with_suffix(".md"): text.count('<figure class="picture"')
        for page in pages_in(site)
        if (text := page.read_text(encoding="utf-8"))
    }

    assert {page: drawn[page] for page in fences} == fences
    assert not any('class="mermaid"' in page.read_text("utf-8") for page in pages_in(site))


def test_cells_of_wide_tables_are_named(site: Path) -> None:
    """Each cell of a table with three columns or more names its column."""
    table = re.compile(r"<table.*?</table>", re.DOTALL)
    text = (page.read_text(encoding="utf-8") for page in pages_in(site))
    tables = [found for page in text for found in table.findall(page)]
    named = 0
    for found in tables:
        head, _, body = found.partition("</thead>")
        columns = len(re.findall(r"<t[hd]\b", head))
        cells = len(re.findall(r"<td\b", body))
        names = re.findall(r'<td role="cell" data-of="([^"]*)"', found)
        assert len(names) == (cells if columns > 2 else 0)
        assert names == names[:columns] * (cells // columns)
        named += bool(names)

    assert named > 10


class Quiet(SimpleHTTPRequestHandler):
    """A plain server of files."""

    def log_message(self, *said: object) -> None:
        """Say nothing."""


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Serve the site as any plain server does."""
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def of_each_kind(site: Path, choose: Callable[..., str] = max) -> list[str]:
    """Return the longest page of each part of the site, and the pages that are made another way.

    With `min` it is the shortest one: the checker takes long on a long page.
    """
    if os.environ.get("ALL_PAGES"):
        return sorted(page.relative_to(site).as_posix() for page in pages_in(site))
    parts = (site / "llms.txt").read_text(encoding="utf-8").split("\n## ")[1:]
    found = {"index.html", "404.html", "diagnostics/index.html", "diagnostics/M211.html"}
    for part in parts:
        listed = {name.replace(".md", ".html") for name in re.findall(r"\]\((.+?)\): ", part)}
        listed -= {"changelog.html", *(f"diagnostics/{code}.html" for code in codes())}
        found.add(choose(listed, key=lambda name: (site / name).stat().st_size))
    return sorted(found)


@pytest.mark.slow
def test_pages_for_all(site: Path, address: str) -> None:
    """A page of each kind has no finding of axe-core, on a phone and a desk, light and dark."""
    with open_browser() as browser:
        page = browser.new_page()
        found = {name: [*findings(page, address + name)] for name in of_each_kind(site, min)}

    assert len(found) > 5
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.slow
def test_pages_on_a_phone(site: Path, address: str) -> None:
    """On a phone, the first sentence of a page is on its first half, and no page is wider."""
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        wide, low = {}, {}
        for name in of_each_kind(site):
            page.goto(address + name)
            wide[name] = page.evaluate("document.documentElement.scrollWidth")
            if name != "404.html":
                low[name] = page.locator("article p").first.bounding_box()

    assert set(wide.values()) == {390}, wide
    assert {name: box for name, box in low.items() if box is None or box["y"] > 422} == {}


def test_in_a_browser(address: str) -> None:
    """Search finds a page and a code, and no request leaves for another host."""
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        seen = watched(page)
        page.goto(f"{address}index.html")
        page.keyboard.press("/")
        page.keyboard.type("undo a run")
        page.wait_for_selector(".md-search-result__item a")
        results = page.locator(".md-search-result__item").count()
        page.keyboard.press("Control+A")
        page.keyboard.type("M211")
        page.wait_for_selector('.md-search-result__item a[href*="diagnostics/M211"]')

    assert results > 0
    assert [request for request in seen.requests if not request.startswith(address)] == []
    assert seen.said == []
