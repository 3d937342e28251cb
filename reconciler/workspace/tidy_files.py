"""What the files of a project are in their one layout."""

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
    """Give a text without errors in its one layout; None where that would say something else."""
    text = reading.lines.text
    if text.startswith(MARK):
        # A second byte-order mark, which the parser passes over without counting it.
        return None
    tidy = tidy_json if is_json else tidy_yaml
    for order in (ORDER, Order()):
        made = tidy(text, order)
        if made.count(MARK) != text.count(MARK):
            # At the start of a line the parser passes over one, which may be meant.
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
