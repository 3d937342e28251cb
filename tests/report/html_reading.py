"""The elements of a page, read back."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

from reconciler.report.html.page import VOID


class Reader(HTMLParser):
    """Notes the elements of a page, and whether each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that begins."""
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note an element that ends: the one that began last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text below the element it stands in."""
        self.words.setdefault(self.open[-1] if self.open else "", []).append(data)
