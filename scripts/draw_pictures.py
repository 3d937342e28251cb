"""Draw the `mermaid` fences of docs/ as SVG, which the site's style sheet colours.

They are drawn while the site is built, so a reader's browser runs no script for them. GitHub draws
the same fences by itself.
"""

from __future__ import annotations

import re
import subprocess
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from xml.etree import ElementTree as ET

from mkdocs.exceptions import PluginError
from pymdownx.superfences import SuperFencesException

# In a process of its own: the library writes to stderr when the interpreter ends.
DRAWER = (sys.executable, "-m", "mermaidx", "--quiet", "--input", "-")
MOST_WIDE = 500
"""Width in its own pixels that a picture may have: a phone shows its text at 11 pixels or more."""

# Text is measured wider than browsers show it, so it fits.
LAYOUT = """\
---
config:
  htmlLabels: false
  fontSize: 16
  flowchart: {htmlLabels: false, nodeSpacing: 16, rankSpacing: 32, wrappingWidth: 120, padding: 8}
  sequence:
    {width: 110, height: 40, actorMargin: 36, boxMargin: 6, messageMargin: 28, mirrorActors: false,
     wrap: true, diagramMarginX: 8, diagramMarginY: 8}
---
"""
CLICK = re.compile(r"^\s*click\s", re.MULTILINE)
TITLE = re.compile(r"^\s*accTitle:\s*(\S.*)$", re.MULTILINE)
# A flowchart that is too wide from left to right is drawn from top to bottom.
ACROSS = re.compile(r"^(\s*(?:flowchart|graph)) LR\b")
SVG = "{http://www.w3.org/2000/svg}"
REFERENCE = re.compile(r"url\(#([^)]+)\)")
# Looks are the style sheet's.
LOOKS = {"style", "fill", "stroke", "stroke-width", "role"}
SIZES = {"width", "height"}
SIZED = {f"{SVG}{name}" for name in ("rect", "image", "use", "symbol")}


# Any other error leaves the fence as it is.
class PictureError(SuperFencesException, PluginError):  # type: ignore[misc]  # has no types
    """A fence that cannot be drawn, with what to change."""


def draw(source: str, kept: Path) -> str:
    """Return the picture of a fence as one line of HTML, and keep it in the folder `kept`.

    Raise `PictureError` where mermaid does not know its text, where it has no `accTitle:`, or where
    it is too wide for a phone.
    """
    made_of = (source, LAYOUT, Path(__file__).read_text("utf-8"), version("mermaidx"))
    file = kept / f"{sha256(repr(made_of).encode()).hexdigest()}.html"
    if not file.is_file():
        text = _drawn(source)
        kept.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=kept, delete=False) as written:
            written.write(text)
        Path(written.name).replace(file)
    return file.read_text("utf-8")


def _drawn(source: str) -> str:
    title = TITLE.search(source)
    if title is None:
        raise PictureError(
            "a `mermaid` fence has no line `accTitle: …`, which a screen reader reads"
        )
    if CLICK.search(source):
        raise PictureError(f"the picture {title[1]!r} has a link: write it below the picture")
    picture, wide = _render(source, title[1])
    if wide > MOST_WIDE and ACROSS.match(source):
        picture, wide = _render(ACROSS.sub(r"\1 TD", source), title[1])
    if wide > MOST_WIDE:
        raise PictureError(
            f"the picture {title[1]!r} is {wide:.0f} pixels wide, and may be {MOST_WIDE}: "
            "shorten its labels, or leave out what is next to each other"
        )
    _strip(picture, f"picture-{sha256(source.encode()).hexdigest()[:8]}")
    picture.set("role", "img")
    picture.set("aria-label", title[1].strip())
    ET.register_namespace("", SVG[1:-1])
    text = " ".join(ET.tostring(picture, encoding="unicode").split())
    return f'<figure class="picture" style="max-width:{wide:.0f}px">{text}</figure>'


def _render(source: str, title: str) -> tuple[ET.Element, float]:
    ran = subprocess.run(DRAWER, input=LAYOUT + source, capture_output=True, check=False, text=True)
    if ran.returncode != 0:
        said = ran.stderr.rpartition("RuntimeError: ")[2].strip()
        raise PictureError(f"mermaid cannot draw the picture {title!r}: {said}")
    picture = ET.fromstring(ran.stdout)  # noqa: S314 - our own pages, drawn by a library
    return picture, float(picture.get("viewBox", "0 0 0 0").split()[2])


def _strip(picture: ET.Element, name: str) -> None:
    """Leave shapes, words and classes, with ids that no other picture of a page has."""
    values = [value for part in picture.iter() for value in part.attrib.values()]
    used = {found for value in values for found in REFERENCE.findall(value)}
    for parent in list(picture.iter()):
        for child in list(parent):
            unused = child.tag in {f"{SVG}defs", f"{SVG}marker"} and not used & {
                part.get("id") for part in child.iter()
            }
            if unused or child.tag in {f"{SVG}{tag}" for tag in ("style", "title", "desc")}:
                parent.remove(child)
    for part in picture.iter():
        for key, value in list(part.attrib.items()):
            if (
                (key in LOOKS or key[:5] in {"data-", "aria-"})
                or (key in SIZES and part.tag not in SIZED)
                or (key == "id" and value not in used)
            ):
                del part.attrib[key]
            elif key == "id" or "url(#" in value:
                part.set(key, value.replace("my-svg", name))
