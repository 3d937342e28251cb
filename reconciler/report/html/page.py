"""The frame of a page: what it may load (nothing), its style and its script. Pure."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from reconciler.report.html.element import Markup, element, joined
from reconciler.report.html.script import SCRIPT
from reconciler.report.html.style import STYLE

LANGUAGE = "en"


def page(title: str, *body: str) -> str:
    """Give a whole page, ending in a line break.

    Its policy forbids every request and every style or script but its own,
    which stand in it word for word.
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
        element("style", None, Markup(STYLE)),
    )
    content = element("body", None, joined(body), element("script", None, Markup(SCRIPT)))
    return f"<!doctype html>\n{element('html', {'lang': LANGUAGE}, head, content)}\n"


def skip_link(target: str, words: str) -> Markup:
    """Give the link that leads past the head, shown once it has the focus."""
    return element("a", {"class": "skip", "href": f"#{target}"}, words)


def _policy() -> str:
    return (
        f"default-src 'none'; style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
