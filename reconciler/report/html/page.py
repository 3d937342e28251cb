"""The frame of a page: its security policy (it may load nothing), occasion, style and script.

Pure, except that it reads its two own files once: `page.css` and `page.js`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files

from reconciler.report.html.element import NOTHING, Markup, element, joined, of_class

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
    named = element("h1", None, title), of_class("p", "target", target)
    return element("header", None, *named, occasion, *parts)


def _parts(made: ReportOccasion) -> Iterator[str]:
    at = made.at.astimezone(UTC).replace(microsecond=0)
    timestamp = at.isoformat().replace("+00:00", "Z")
    yield "made "
    yield element("time", {"datetime": timestamp}, f"{at:%Y-%m-%d %H:%M} UTC")
    if made.commit:
        yield " from commit "
        commit = made.commit.removesuffix(DIRTY)
        yield element("code", {"title": commit}, commit[:COMMIT_DIGITS])
        yield " with edits that are not committed" if commit != made.commit else ""
    if made.actor:
        yield " by "
        yield element("strong", None, made.actor)
    if made.run:
        yield " in run "
        yield element("code", None, made.run)


LANGUAGE = "en"
_BEGINS = "<!doctype html>\n"


def begins_page(head: bytes) -> bool:
    """Return whether a file is a page, by its first bytes."""
    return head.startswith(_BEGINS.encode())


def page(title: str, *body: str) -> str:
    """Return a whole page, ending in a line break.

    Its policy forbids every request, and every style or script except its own, which the page
    contains.
    """
    head = element(
        "head",
        None,
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": _policy()}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("meta", {"name": "referrer", "content": "no-referrer"}),
        element("title", None, title),
        element("style", None, Markup(style())),
    )
    content = element("body", None, joined(body), element("script", None, Markup(script())))
    return f"{_BEGINS}{element('html', {'lang': LANGUAGE}, head, content)}\n"


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


def skip_link(target: str, words: str) -> Markup:
    """Return the link that skips the head; it is visible once it has the focus."""
    return element("a", {"class": "skip", "href": f"#{target}"}, words)


def _policy() -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style())}'; script-src '{_hash(script())}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
