"""Text of new manifests, in one fixed layout (`layout.py` follows the layout of a file).

Written without a library: thousands are written at once, long lines must stay as they are, and a
value that our reader refuses must be reported with its place before a file is begun.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Final

from reconciler.document import Json, Path
from reconciler.syntax.characters import BIDIRECTIONAL, EXACT_INTEGER, described, first_forbidden
from reconciler.syntax.files import LARGEST_FILE, LONGEST_LINE
from reconciler.syntax.read_text import DEEPEST, LONGEST_SCALAR, MOST_NODES

STEP: Final = "  "
WIDEST_FLOW: Final = 60
MOST_IN_FLOW: Final = 3
LONGEST_KEY: Final = 512
"""YAML allows keys of at most 1,024 characters without a `?`, and escapes count."""

_NOTHING: Mapping[Path, str] = MappingProxyType({})
_NAMED = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
"""Words that YAML or an older version of it does not read as text."""

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_LIKE_A_WORD = re.compile(rf"[^\W\d][\w./@+-]*(?: [\w./@+-]+)*|{_UUID}|[0-9]+[smhdw]")
_PLAIN = re.compile(r"[^\W\d_/($](?:.*\S)?|[_/($].*\S")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_ENDS_PLAIN = re.compile(r": | #|:\Z|\t")
_ONLY_BLANKS = re.compile(r"^[ \t]+$", re.MULTILINE)
_UNSEEN = re.compile("[\u2028\u2029\ufeff]")
_BEYOND_BMP = 0xFFFF
_CONTAINERS = frozenset((dict, list))
_JOINER = "\u200d"


class UnwritableError(Exception):
    """A value that no manifest can hold: its place and the reason."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(why)
        self.path = path
        self.why = why


def laid_out(document: Mapping[str, Json], comments: Mapping[Path, str] = _NOTHING) -> str:
    """Return the text of a manifest that passed `check_writable`, ending in a line break.

    A comment is above the line where the value at its path begins. Texts of several lines become
    block scalars, small objects of plain values stay on one line, and fields keep their order.
    Raises UnwritableError if the text is too large.
    """
    layout = _ManifestLines(comments)
    layout.entries(document, "", ())
    return checked_size("\n".join(layout.lines) + "\n")


def composed_json(document: Json) -> str:
    """Return a document as JSON text. Raises UnwritableError if it cannot be written."""
    check_writable(document)
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    text = _UNSEEN.sub(lambda found: _escaped(found[0]), text)
    for line in text.split("\n"):
        if BIDIRECTIONAL.search(line):
            raise UnwritableError((), "JSON cannot hold its bidirectional characters unseen")
    return checked_size(text)


def checked_size(text: str) -> str:
    """Return the text. Raises UnwritableError if it is too large for a file."""
    if len(text) > LARGEST_FILE // 4 and len(text.encode("utf-8")) > LARGEST_FILE:
        raise UnwritableError((), f"its file would be larger than {LARGEST_FILE >> 20} MB")
    if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
        raise UnwritableError((), "it has a line longer than 1 MB")
    return text


def check_writable(document: Json) -> None:
    """Raise UnwritableError for a value that no file of ours may hold, YAML or JSON."""
    stack: list[tuple[Json, Path]] = [(document, ())]
    nodes = 0
    while stack:
        value, path = stack.pop()
        nodes += 1
        match value:
            case str():
                _check_text(value, path)
            case dict():
                stack.extend((member, _checked(key, path)) for key, member in value.items())
            case list():
                stack.extend((element, (*path, index)) for index, element in enumerate(value))
            case _:
                _check_number(value, path)
        if nodes > MOST_NODES // 2 or len(path) >= DEEPEST:
            message = f"it holds more than {MOST_NODES // 2:,} values, or {DEEPEST} levels of them"
            raise UnwritableError(path, message)


def _check_number(number: float | None, path: Path) -> None:
    if number is not None and not math.isfinite(number):
        raise UnwritableError(path, "it holds a number that is not finite")
    if isinstance(number, int) and abs(number) > EXACT_INTEGER:
        raise UnwritableError(path, "it holds a number beyond ±2^53, which would lose digits")


def _check_text(text: str, path: Path) -> None:
    if not (text.isascii() and text.isprintable()):
        found = _forbidden_in(text)
        if found is not None:
            message = f"it holds {described(found[1])}, which no manifest can hold"
            raise UnwritableError(path, message)
        if BIDIRECTIONAL.search(text) and not _fits_block(text):
            message = "it holds bidirectional characters where they cannot be seen"
            raise UnwritableError(path, message)
    if len(text) > LONGEST_SCALAR:
        raise UnwritableError(path, f"it holds a text longer than {LONGEST_SCALAR >> 20} MB")


def _forbidden_in(text: str) -> tuple[int, str] | None:
    return first_forbidden(text.replace("\r", "").replace("\u2028", "").replace("\u2029", ""))


def _checked(key: str, path: Path) -> Path:
    """Return the place of a field. Raises UnwritableError if its name cannot be written."""
    if len(key) > LONGEST_KEY:
        raise UnwritableError(path, f"it has a field with a name longer than {LONGEST_KEY}")
    is_plain = key.isascii() and key.isprintable()
    if not is_plain and (_forbidden_in(key) is not None or BIDIRECTIONAL.search(key)):
        raise UnwritableError(path, "it has a field with a name that no manifest can hold")
    return (*path, key)


class _ManifestLines:
    """Lines of a document, with comments above some of them.

    Paths are tracked only for the comments: without any, each path is empty.
    """

    def __init__(self, comments: Mapping[Path, str]) -> None:
        self.lines: list[str] = []
        self._comments = comments
        self._commented = {path[:length] for path in comments for length in range(len(path))}

    def entries(
        self, fields: Mapping[str, Json], indent: str, path: Path, *, dash: str = ""
    ) -> None:
        """Add the fields of an object; the first follows the dash if there is one."""
        for key, value in fields.items():
            here = path
            if self._comments:
                here = (*path, key)
                self._comment(indent[: -len(dash)] if dash else indent, here)
            head = f"{indent[: -len(dash)]}{dash}" if dash else indent
            dash = ""
            self._named(f"{head}{_key(key)}:", value, indent, here)

    def _items(self, items: Sequence[Json], indent: str, path: Path, *, dash: str = "") -> None:
        """Add the items of a list; the first follows the dash of the enclosing list."""
        for index, item in enumerate(items):
            here, outer = path, indent[: -len(dash)] if dash else indent
            head, dashes = f"{outer}{dash}-", f"{dash}- "
            dash = ""
            if self._comments:
                here = (*path, index)
                self._comment(outer, here)
            if not isinstance(item, dict | list):
                self._named(head, item, indent, here)
            elif (flow := self._in_flow(item, here, indent)) is not None:
                self.lines.append(f"{head} {flow}")
            elif isinstance(item, dict):
                self.entries(item, indent + STEP, here, dash=dashes)
            else:
                self._items(item, indent + STEP, here, dash=dashes)

    def _named(self, head: str, value: Json, indent: str, path: Path) -> None:
        """Add a value after its key or dash, on the same line if it fits."""
        if isinstance(value, str):
            self.lines.extend(_text_lines(head, value, indent))
            return
        if not isinstance(value, dict | list):
            self.lines.append(f"{head} {json.dumps(value, allow_nan=False)}")
            return
        flow = self._in_flow(value, path, indent)
        if flow is not None:
            self.lines.append(f"{head} {flow}")
            return
        self.lines.append(head)
        if isinstance(value, dict):
            self.entries(value, indent + STEP, path)
        else:
            self._items(value, indent + STEP, path)

    def _comment(self, indent: str, path: Path) -> None:
        for line in self._comments.get(path, "").splitlines():
            self.lines.append(f"{indent}# {line}")

    def _in_flow(self, value: dict[str, Json] | list[Json], path: Path, indent: str) -> str | None:
        """Return a small plain value as text of one line, otherwise None."""
        if not value:
            return "[]" if isinstance(value, list) else "{}"
        is_top = not indent
        if is_top or len(value) > 2 * MOST_IN_FLOW or path in self._commented:
            return None
        return _flow(value)


def _flow(value: dict[str, Json] | list[Json]) -> str | None:
    for member in value if isinstance(value, list) else value.values():
        if member.__class__ in _CONTAINERS:
            return None
    if _may_grow(value):
        return None
    parts: list[str] = []
    for key, element in enumerate(value) if isinstance(value, list) else value.items():
        part = _flow_scalar(element)
        if part is None or (isinstance(key, str) and _key(key) != key):
            return None
        parts.append(part if isinstance(key, int) else f"{key}: {part}")
    shown = ", ".join(parts)
    if len(shown) > WIDEST_FLOW:
        return None
    return f"[{shown}]" if isinstance(value, list) else f"{{{shown}}}"


def _may_grow(value: dict[str, Json] | list[Json]) -> bool:
    """Return whether an object has many fields, or one text that is not an id."""
    if isinstance(value, list):
        return False
    if len(value) > 1:
        return len(value) > MOST_IN_FLOW
    key, text = next(iter(value.items()))
    return isinstance(text, str) and key != "value" and re.fullmatch(_UUID, text) is None


def _flow_scalar(value: Json) -> str | None:
    if not isinstance(value, str):
        return None if isinstance(value, dict | list) else json.dumps(value, allow_nan=False)
    is_plain = _LIKE_A_WORD.fullmatch(value) and value.isprintable()
    return value if is_plain and value.lower() not in _NAMED else None


@lru_cache(maxsize=4096)
def _key(key: str) -> str:
    is_plain = _PLAIN_KEY.fullmatch(key) is not None and key.lower() not in _NAMED
    return key if is_plain else _quoted(key)


def _text_lines(head: str, text: str, indent: str) -> list[str]:
    wants_block = "\n" in text or (not text.isascii() and BIDIRECTIONAL.search(text) is not None)
    if not (wants_block and _fits_block(text)):
        return [f"{head} {_line(text)}"]
    body = text.removesuffix("\n")
    kept = "-" if body == text else "+" if body.endswith("\n") else ""
    # Without the number, YAML reads blanks at the start of the text as its indentation.
    begins = "2" if text[0] in " \n\t" else ""
    return [
        f"{head} |{begins}{kept}",
        *(f"{indent}{STEP}{line}" if line else "" for line in body.split("\n")),
    ]


def _fits_block(text: str) -> bool:
    """Return whether a text stays the same when it is written line by line, without escapes."""
    if not text.strip(" \t\n") or _ONLY_BLANKS.search(text):
        return False
    return not any(character in text for character in "\r\u2028\u2029\ufeff")


def _line(text: str) -> str:
    """Return a text on one line, quoted only where necessary."""
    if _is_plain(text):
        return text
    if text and text.isprintable() and "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    return _quoted(text)


def _is_plain(text: str) -> bool:
    if not text.isprintable() or text.lower() in _NAMED:
        return False
    if _LIKE_A_WORD.fullmatch(text):
        return True
    return _PLAIN.fullmatch(text) is not None and _ENDS_PLAIN.search(text) is None


def _quoted(text: str) -> str:
    shown = encode_basestring(text)
    return shown if shown.isprintable() else "".join(map(_escaped, shown))


def _escaped(character: str) -> str:
    """Return a character, or its escape if it cannot be seen."""
    unseen = unicodedata.category(character) in ("Cf", "Zl", "Zp", "Cc")
    if not unseen or character == _JOINER:
        return character
    number = ord(character)
    return f"\\U{number:08X}" if number > _BEYOND_BMP else f"\\u{number:04x}"
