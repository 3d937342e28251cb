"""Literals that look like keys. Pure.

Conservative: a wrong warning teaches people to overlook the right one. A text
that holds an expression is never suspected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.document import Json, Path
from reconciler.expressions import OPEN, Word, form_of
from reconciler.finding import Finding, warning

SHORTEST_KEY = 20
INSTEAD = form_of(Word.SECRET)

_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"  # a signed token in three parts
    r"|\bA[KS]IA[0-9A-Z]{16}\b"
    r"|://[^\s/:@{}$]+:[^\s/:@{}$]+@"  # a password in an address
)
_RANDOM = re.compile(
    r"(?<![A-Za-z0-9])(?:[Bb]earer |[A-Za-z]{2,8}[_-](?:[A-Za-z]{2,8}[_-])?)([A-Za-z0-9]{24,})"
)
_DIGITS, _CAPITALS = 3, 2


def key_finding(path: Path) -> Finding:
    """Say that the text at `path` looks like a key, without showing it."""
    return warning("M313", path, "this text looks like a key and would stand in git", INSTEAD)


def key_findings(document: Json, path: Path) -> Iterator[Finding]:
    """Yield a warning for each text in a document that looks like a key."""
    if _holds_key(document):
        yield from _placed(document, path)


def looks_like_key(text: str) -> bool:
    """Tell a text that has the form of a private key, token or password."""
    if len(text) < SHORTEST_KEY or OPEN in text:
        return False
    return _KEY.search(text) is not None or any(map(_mixed, _RANDOM.findall(text)))


def _mixed(text: str) -> bool:
    digits, capitals = sum(map(str.isdigit, text)), sum(map(str.isupper, text))
    return digits >= _DIGITS and _CAPITALS <= capitals < len(text) - digits


def _holds_key(document: Json) -> bool:
    """Look through a whole document without keeping track of places, which is what costs."""
    rest = [document]
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            if len(value) >= SHORTEST_KEY and looks_like_key(value):
                return True
        elif isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
    return False


def _placed(document: Json, path: Path) -> Iterator[Finding]:
    if isinstance(document, str):
        if looks_like_key(document):
            yield key_finding(path)
    elif isinstance(document, dict):
        for key, value in document.items():
            yield from _placed(value, (*path, key))
    elif isinstance(document, list):
        for index, item in enumerate(document):
            yield from _placed(item, (*path, index))
