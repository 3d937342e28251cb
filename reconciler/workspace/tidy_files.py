"""Files of a project in the standard layout."""

from __future__ import annotations

from reconciler.document import identical
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import read_text
from reconciler.syntax.tidy_fields import Order
from reconciler.syntax.tidy_json import tidy_json
from reconciler.syntax.tidy_yaml import tidy_yaml

ORDER = Order(("apiVersion", "kind", "forEach", "metadata", "spec"), needed=("apiVersion", "kind"))
"""The fields that a manifest begins with."""

MARK = "\ufeff"


def tidied(reading: Reading, *, is_json: bool) -> str | None:
    """Return a text without errors in the standard layout, or None if its meaning would change."""
    text = reading.lines.text
    if text.startswith(MARK):
        # The parser skips a second byte-order mark without counting it.
        return None
    tidy = tidy_json if is_json else tidy_yaml
    for order in (ORDER, Order()):
        made = tidy(text, order)
        if made.count(MARK) != text.count(MARK):
            # The parser skips a mark at the start of a line, where it may be intended.
            continue
        if made == text or _says_the_same(made, reading, is_json=is_json):
            return made
    return None


def _says_the_same(text: str, before: Reading, *, is_json: bool) -> bool:
    after = read_text(text, is_json=is_json)
    return (
        not after.has_errors
        and len(after.documents) == len(before.documents)
        and all(
            identical(document.value, other.value)
            for document, other in zip(after.documents, before.documents, strict=True)
        )
    )
