"""Texts without quotes that YAML reads as something else, and how to write them.

Pure. The parser stops far from the place of the missing quotes, and its message does not name it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from yaml import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    YAMLError,
)
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.syntax.expressions import OPEN

LONGEST: Final = 200
LONGEST_LINE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Unquoted:
    """The start of a text that has to be quoted, the message about it, and its quoted form."""

    offset: int
    message: str
    text: str


_LATER: Final = "mapping values are not allowed in this context"
_NOT_CLOSED: Final = ("did not find expected ',' or '}'", "did not find expected ',' or ']'")
_EXPRESSION: Final = re.compile(re.escape(OPEN) + r"[^{}\n]*\}")
_VALUE: Final = re.compile(
    r"(?P<head>[ \t]*(?:- +)*(?P<key>[A-Za-z_][\w.-]*): +)(?P<value>[^\n]*?)"
    r"[ \t]*(?:(?<=[ \t])#[^\n]*)?\r?$"
)


def unquoted(text: str, offset: int, problem: str) -> Unquoted | None:
    """Return the text that needs quotes where the parser stopped, or None if it is another error.

    Such texts are: an expression between braces or brackets, a text that begins with a special
    character of YAML, a text that continues after its quotes, and a text with `: ` in it.
    """
    if problem in _NOT_CLOSED:
        found = _EXPRESSION.match(text, offset - 1) if offset else None
        if found is None:
            return None
        message = f"between braces or brackets, `{found.group()}` must be quoted"
        return Unquoted(offset - 1, message, json.dumps(found.group(), ensure_ascii=False))
    there = _value_at(text, offset)
    if there is None:
        return None
    first, value = there
    message = _why_quoted(problem, value[0], offset - first)
    return Unquoted(first, message, quoted(value.strip(_CURLY))) if message else None


def _why_quoted(problem: str, begins: str, behind: int) -> str:
    """Return why a value must be quoted; the parser stopped `behind` characters after its start."""
    is_late = behind > 0
    if problem == _LATER and is_late:
        return "a text with `: ` in it must be quoted"
    if problem == "did not find expected key" and is_late and begins in "\"'":
        return "this text goes on behind its quotes: quote all of it"
    is_begun = {
        "did not find expected key": is_late and begins in "{[*&",
        "did not find expected node content": behind == 0 and begins in "]},",
        "found character that cannot start any token": behind == 0,
        "did not find expected alphabetic or numeric character": begins in "*&",
    }
    return _begun(begins) if is_begun.get(problem) else ""


_CURLY: Final = "\u201c\u201d\u201e\u2018\u2019"
"""Quotes of a word processor, which YAML reads as letters."""


def _begun(character: str) -> str:
    name = "a backtick" if character == "`" else f"`{character}`"
    return f"a text that begins with {name} must be quoted"


def _value_at(text: str, offset: int) -> tuple[int, str] | None:
    """Return the start and the text of the value on the line of a place."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    # A line of a megabyte may have a thousand tags, and is searched for each.
    line = _VALUE.fullmatch(text[start:end]) if end - start <= LONGEST_LINE else None
    if line is None or not line["value"] or len(line["value"]) > LONGEST:
        return None
    return start + len(line["head"]), line["value"]


def braced(text: str, offset: int) -> Unquoted | None:
    """Return the text of another tool's template if the place is its second brace."""
    found = _value_at(text, offset)
    if found is None or not found[1].startswith("{{") or offset != found[0] + 1:
        return None
    message = "a text that begins with `{{` must be quoted, and is sent as it is"
    return Unquoted(
        found[0], f"{message} (what is filled in here is written `${{var:NAME}}`)", quoted(found[1])
    )


_TAG: Final = re.compile(r"!!|!<|![A-Za-z][\w/-]*(?:\s|$)")
"""Tags of other tools: `!secret NAME`, `!Ref NAME`."""


def marked(text: str, offset: int) -> str:
    """Return in quotes a value that was read as an alias or a tag for its first `*` or `!`.

    Returns "" if it must be an alias or a tag.
    """
    found = _value_at(text, offset)
    if found is None or found[0] != offset or _TAG.match(found[1]):
        return ""
    return quoted(found[1])


@dataclass(frozen=True, slots=True)
class Misplaced:
    """The place of an error that the parser reports later, the message, and the correct text."""

    offset: int
    message: str
    text: str = ""


_OPENINGS: Final = {FlowMappingStartToken: "{}", FlowSequenceStartToken: "[]"}


def never_closed(text: str, offset: int) -> Misplaced | None:
    """Return the last open bracket at the end of a text, if the parser stopped at that end."""
    if text[offset:].strip():
        return None
    scanner, opened = CParser(text), list[tuple[int, str]]()
    try:
        while (token := scanner.get_token()) is not None:
            if brackets := _OPENINGS.get(type(token)):
                opened.append((token.start_mark.index, brackets))
            elif opened and isinstance(token, FlowMappingEndToken | FlowSequenceEndToken):
                opened.pop()
    except YAMLError:
        return None
    if not opened:
        return None
    place, brackets = opened[-1]
    return Misplaced(place, f"this `{brackets[0]}` is never closed: add its `{brackets[1]}`")


_ENTRY: Final = re.compile(r"(?P<indent>[ \t\u00a0]*)(?P<dashes>(?:- +)*)(?P<rest>\S.*)")
_TIGHT: Final = re.compile(r"(?P<key>[A-Za-z_][\w.-]*):(?P<value>[^\s:/].*)")
_PAIR: Final = re.compile(r"[A-Za-z_][\w.-]*: +\S.*")


def misplaced(text: str, offset: int, problem: str) -> Misplaced | None:
    """Return the wrong line where a key is not expected, or None if it is not known.

    The error is a missing blank after the `:` of the line above, no-break spaces, or too much
    indentation.
    """
    if problem != _LATER:
        return None
    start = text.rfind("\n", 0, offset) + 1
    here = _ENTRY.match(text[start:offset])
    above = text.rfind("\n", 0, max(0, start - 1)) + 1
    before = _ENTRY.match(text[above : max(above, start - 1)].rstrip())
    if here is None or before is None or here["dashes"]:
        return None
    if "\u00a0" in (indent := before["indent"]):
        message = "this line is indented by no-break spaces (U+00A0): indent it by common ones"
        return Misplaced(above + indent.index("\u00a0"), message)
    if tight := _TIGHT.fullmatch(before["rest"]):
        message = f"a blank is missing after `{tight['key']}:`"
        at = above + before.start("rest")
        return Misplaced(at, message, f"{tight['key']}: {tight['value']}")
    deep, wanted = len(here["indent"]), len(before["indent"]) + len(before["dashes"])
    if deep > wanted and _PAIR.fullmatch(before["rest"]):
        message = (
            f"this line is indented by {deep}, and the one above, which has a value, by {wanted}: "
            f"indent it by {wanted}, or quote the text of both"
        )
        return Misplaced(start + deep, message)
    return None


def quoted(text: str) -> str:
    """Return a text of one line in the quotes that need fewer escapes."""
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'
