"""The frame of a page: its security policy (it may load nothing), occasion, style and script.

Pure, except that it reads its two own files once: `page.css` and `page.js`.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from reconciler.report.safe import columns, cut, for_html, hidden

VOID: Final = frozenset(("meta", "input", "br", "col", "wbr"))

LINES: Final = frozenset(("details", "figure", "header", "main", "section", "summary", "tbody"))
"""Elements that end a line, for readers of the page's source."""


class Markup(str):
    """Text that is already HTML. Only `element` turns foreign text into it."""

    __slots__ = ()


NOTHING: Final = Markup()


def element(name: str, /, *children: str, **attributes: str | bool) -> Markup:
    """Return an element.

    In names of attributes, a final `_` is removed, and any other `_` becomes a hyphen. An attribute
    that is False is left out; True is an attribute without value.
    """
    opened = "".join(
        _attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items()
    )
    if name in VOID:
        return Markup(f"<{name}{opened}>")
    ending = "\n" if name in LINES else ""
    return Markup(f"<{name}{opened}>{joined(children)}</{name}>{ending}")


def of_class(name: str, classes: str, *children: str) -> Markup:
    """Return an element with a class, the most common case."""
    return element(name, *children, class_=classes)


def items(texts: Iterable[str], classes: str = "") -> Markup:
    """Return a list of texts."""
    return element("ul", *(element("li", text) for text in texts), class_=classes or False)


def joined(children: Iterable[str], between: str = "") -> Markup:
    """Return children joined."""
    return Markup(
        between.join(child if isinstance(child, Markup) else for_html(child) for child in children)
    )


def table(classes: str, headings: Iterable[str], *bodies: Markup) -> Markup:
    """Return a table under its headings, which scrolls where it is too wide."""
    cells = (element("th", name, scope="col") for name in headings)
    head = element("thead", element("tr", *cells))
    return of_class("div", "scroll", of_class("table", classes, head, *bodies))


def spans(text: str) -> Markup:
    """Return a text with the words between backticks as code."""
    parts = text.split("`")
    return joined(
        element("code", part) if index % 2 and index + 1 < len(parts) else part
        for index, part in enumerate(parts)
    )


def breakable(text: str) -> Markup:
    """Return a dotted name that may be broken into lines after each dot."""
    return joined(text.split("."), Markup(".") + element("wbr"))


def _attribute(key: str, value: str | bool) -> str:
    if isinstance(value, Markup):
        return f' {key}="{value}"'
    if isinstance(value, str):
        return f' {key}="{for_html(value)}"'
    return f" {key}" if value else ""


# Width as a share of the font size, of the widest usual font, so that no text overflows.
_LETTER = 0.58
_LETTER_OF_CODE = 0.63
SIZES = {"t": 12.5, "s": 11.5, "c": 11.5}
"""Classes of text in a picture and their sizes: title, small, code."""


def number(value: float) -> Markup:
    """Return a coordinate with at most one decimal digit."""
    return Markup(f"{value:.1f}".removesuffix(".0"))


def shape(name: str, classes: str, **places: float) -> Markup:
    """Return a shape by its coordinates."""
    numbers = {key: number(value) for key, value in places.items()}
    return element(name, class_=Markup(classes), **numbers)


def path(classes: str, *steps: str | float, ends: str = "") -> Markup:
    """Return a line by the letters and numbers of its steps; `ends` names what it joins."""
    words = (step if isinstance(step, str) else number(step) for step in steps)
    drawn = Markup(" ".join(words))
    return element(
        "path", class_=Markup(classes), d=drawn, data_ends=Markup(ends) if ends else False
    )


def box(classes: str, left: float, top: float, width: float, height: float) -> Markup:
    """Return a box with round corners."""
    return shape("rect", classes, x=left, y=top, width=width, height=height, rx=5)


def words(text: str, classes: str, left: float, top: float, room: float | None = None) -> Markup:
    """Return a text at its baseline, cut to `room` if that is set.

    The first of the classes decides the size.
    """
    shown = text if room is None else fitting(text, room, classes.split(maxsplit=1)[0])
    return element("text", shown, class_=Markup(classes), x=number(left), y=number(top))


def fitting(text: str, room: float, size: str) -> str:
    """Return a text, cut to the letters that surely fit."""
    most, text = letters_in(room, size), hidden(text)
    return cut(text, most) if most > 1 or columns(text) <= most else ""


def letters_in(room: float, size: str) -> int:
    """Return the number of letters that surely fit."""
    return int(room / (SIZES[size] * (_LETTER_OF_CODE if size == "c" else _LETTER)))


def group(title: str, *children: Markup) -> Markup:
    """Return shapes with a title that is shown on hover."""
    return element("g", element("title", title), *children)


def picture(
    label: str, width: float, height: float, *children: Markup, classes: str = ""
) -> Markup:
    """Return a picture with a label of one sentence for screen readers."""
    return element(
        "svg",
        *children,
        class_=Markup(classes) if classes else False,
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=number(width),
        height=number(height),
        role="img",
        aria_label=label,
    )


def figure(caption: str, *parts: Markup, wide: bool = False) -> Markup:
    """Return pictures under one caption."""
    kept = joined(part for part in parts if part)
    classes = "picture wide" if wide else "picture"
    return of_class("figure", classes, element("figcaption", caption), kept)


STRIP = 440.0
STRIP_HEIGHT = 56.0
NARROW_GAP, LEAST_BAR = 0.2, 3.0


def strip(
    label: str,
    values: Sequence[float],
    ends: Sequence[str],
    *,
    width: float = STRIP,
    limit: float = 0,
) -> Markup:
    """Return a bar for each value, marked where it is above the limit, with texts below the bars.

    A positive limit is a line. The texts are no part of the picture, so they stay readable.
    """
    top = max(*values, limit, 1e-9) * (1.1 if limit else 1)
    step = width / len(values)
    heights = [max(LEAST_BAR, STRIP_HEIGHT * value / top) if value else 1 for value in values]
    bars = [
        shape(
            "rect",
            "fired" if value > limit else "silent",
            x=place * step + step * NARROW_GAP / 2,
            y=STRIP_HEIGHT - height,
            width=step * (1 - NARROW_GAP),
            height=height,
        )
        for place, (value, height) in enumerate(zip(values, heights, strict=True))
    ]
    if limit:
        height = STRIP_HEIGHT * (1 - limit / top)
        bars.append(shape("line", "axis", x1=0, x2=width, y1=height, y2=height))
    drawn = picture(label, width, STRIP_HEIGHT, *bars, classes="strip")
    texts = of_class("p", "ends", *(element("span", end) for end in ends))
    return of_class("div", "track", drawn, texts)


COMMIT_DIGITS = 12
DIRTY = "-dirty"


@dataclass(frozen=True, slots=True)
class ReportOccasion:
    """The occasion of a report.

    `at` has a time zone. `commit` ends in `-dirty` where manifests have uncommitted edits. `actor`
    and the CI system's `run` are foreign text. "" means unknown.
    """

    at: datetime
    commit: str = ""
    actor: str = ""
    run: str = ""


def page_head(title: str, target: str, made: ReportOccasion | None, *parts: Markup) -> Markup:
    """Return the head of a page: its subject and, where there is an occasion, when it was made."""
    occasion = of_class("p", "made", joined(_parts(made))) if made is not None else NOTHING
    named = element("h1", title), of_class("p", "target", target)
    return element("header", *named, occasion, *parts)


def _parts(made: ReportOccasion) -> Iterator[str]:
    at = made.at.astimezone(UTC).replace(microsecond=0)
    timestamp = at.isoformat().replace("+00:00", "Z")
    yield "made "
    yield element("time", f"{at:%Y-%m-%d %H:%M} UTC", datetime=timestamp)
    if made.commit:
        yield " from commit "
        commit = made.commit.removesuffix(DIRTY)
        yield element("code", commit[:COMMIT_DIGITS], title=commit)
        yield " with edits that are not committed" if commit != made.commit else ""
    if made.actor:
        yield " by "
        yield element("strong", made.actor)
    if made.run:
        yield " in run "
        yield element("code", made.run)


LANGUAGE = "en"
_BEGINS = "<!doctype html>\n"


def begins_page(head: bytes) -> bool:
    """Return whether a file is a page, by its first bytes."""
    return head.startswith(_BEGINS.encode())


def page(title: str, skip: str, head: Markup, *main: str, foot: Markup, to: str = "changes") -> str:
    """Return a whole page, ending in a line break. `skip` is the link that skips its head.

    Its policy forbids every request, and every style or script except its own, which the page
    contains.
    """
    policy = (
        f"default-src 'none'; style-src '{_hash(style())}'; script-src '{_hash(script())}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head_element = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Markup(style())),
    )
    # The link is visible once it has the focus.
    link = element("a", skip, class_="skip", href=f"#{to}")
    end = element("script", Markup(script()))
    body = element("body", link, head, element("main", *main), foot, end)
    return f"{_BEGINS}{element('html', head_element, body, lang=LANGUAGE)}\n"


def style() -> str:
    """Return the style sheet: light, dark and print. No meaning depends on colour alone."""
    return _own("page.css")


def script() -> str:
    """Return the script: search and filters of a page, which works without it too."""
    return _own("page.js")


@cache
def _own(name: str) -> str:
    text = files("reconciler.report.html").joinpath(name).read_text(encoding="utf-8")
    return f"\n{text}"


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
