"""Texts that YAML takes for something else as they stand in no quotes, and how to write them.

Pure. The parser stops far from where the quotes belong: what it says names neither.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from reconciler.expressions import OPEN

LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Unquoted:
    """Where a text begins that has to be quoted, what is said of it, and how it is written."""

    offset: int
    message: str
    text: str


_NOT_CLOSED: Final = ("did not find expected ',' or '}'", "did not find expected ',' or ']'")
_EXPRESSION: Final = re.compile(re.escape(OPEN) + r"[^{}\n]*\}")
_VALUE: Final = re.compile(
    r"(?P<head>[ \t]*(?:- +)*(?P<key>[A-Za-z_][\w.-]*): +)(?P<value>[^\n]*?)"
    r"[ \t]*(?:(?<=[ \t])#[^\n]*)?\r?$"
)


def unquoted(text: str, offset: int, problem: str) -> Unquoted | None:
    """Give the text that is to be quoted where the parser stopped; None where it is another.

    An expression between braces or brackets; a text that begins with a brace, and one with
    `: ` in it.
    """
    start = text.rfind("\n", 0, offset) + 1
    if problem in _NOT_CLOSED:
        found = _EXPRESSION.match(text, offset - 1) if offset else None
        if found is None:
            return None
        said = f"between braces or brackets, `{found.group()}` must be quoted"
        return Unquoted(offset - 1, said, json.dumps(found.group(), ensure_ascii=False))
    end = text.find("\n", offset)
    line = _VALUE.fullmatch(text[start : len(text) if end < 0 else end])
    if line is None or not line["value"] or len(line["value"]) > LONGEST:
        return None
    first = start + len(line["head"])
    if problem == "did not find expected key" and line["value"][0] in "{[" and offset > first:
        said = f"a text that begins with `{line['value'][0]}` must be quoted"
    elif problem == "mapping values are not allowed in this context" and offset > first:
        said = "a text with `: ` in it must be quoted"
    else:
        return None
    return Unquoted(first, said, quoted(line["value"]))


def quoted(text: str) -> str:
    """Write a text of one line in the quotes in which less of it has to be escaped."""
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'
