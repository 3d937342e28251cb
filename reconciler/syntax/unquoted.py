"""Texts that YAML takes for something else as they stand in no quotes, and how to write them.

Pure. The parser stops far from where the quotes belong: what it says names neither.
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

from reconciler.expressions import OPEN

LONGEST: Final = 200
LONGEST_LINE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Unquoted:
    """Where a text begins that has to be quoted, what is said of it, and how it is written."""

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
    """Give the text that is to be quoted where the parser stopped; None where it is another.

    An expression between braces or brackets; a text that begins with a character that means
    something to YAML; one that goes on behind its quotes, and one with `: ` in it.
    """
    if problem in _NOT_CLOSED:
        found = _EXPRESSION.match(text, offset - 1) if offset else None
        if found is None:
            return None
        said = f"between braces or brackets, `{found.group()}` must be quoted"
        return Unquoted(offset - 1, said, json.dumps(found.group(), ensure_ascii=False))
    there = _value_at(text, offset)
    if there is None:
        return None
    first, value = there
    said = _why_quoted(problem, value[0], offset - first)
    return Unquoted(first, said, quoted(value.strip(_CURLY))) if said else None


def _why_quoted(problem: str, begins: str, behind: int) -> str:
    """Say why a value must be quoted that a parser stopped at, `behind` its first character."""
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
"""Quotes of a word processor, which YAML takes for letters."""


def _begun(character: str) -> str:
    name = "a backtick" if character == "`" else f"`{character}`"
    return f"a text that begins with {name} must be quoted"


def _value_at(text: str, offset: int) -> tuple[int, str] | None:
    """Give where the value begins that stands on the line of a place, and all of it."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    # A line of a megabyte may have a thousand tags, and is looked at for each.
    line = _VALUE.fullmatch(text[start:end]) if end - start <= LONGEST_LINE else None
    if line is None or not line["value"] or len(line["value"]) > LONGEST:
        return None
    return start + len(line["head"]), line["value"]


def braced(text: str, offset: int) -> Unquoted | None:
    """Give the text of a template of another tool, of which a place is the second brace."""
    found = _value_at(text, offset)
    if found is None or not found[1].startswith("{{") or offset != found[0] + 1:
        return None
    said = "a text that begins with `{{` must be quoted, and is sent as it stands"
    return Unquoted(
        found[0], f"{said} (what is filled in here is written `${{var:NAME}}`)", quoted(found[1])
    )


_TAG: Final = re.compile(r"!!|!<|![A-Za-z][\w/-]*(?:\s|$)")
"""Tags as other tools have them: `!secret NAME`, `!Ref NAME`."""


def marked(text: str, offset: int) -> str:
    """Give a value in quotes that begins with `*` or `!` and was taken for an alias or a tag.

    "" where it can be nothing else.
    """
    found = _value_at(text, offset)
    if found is None or found[0] != offset or _TAG.match(found[1]):
        return ""
    return quoted(found[1])


@dataclass(frozen=True, slots=True)
class Misplaced:
    """Where a line is wrong that shows on the next one, or further on in it; what to write."""

    offset: int
    message: str
    text: str = ""


_OPENINGS: Final = {FlowMappingStartToken: "{}", FlowSequenceStartToken: "[]"}


def never_closed(text: str, offset: int) -> Misplaced | None:
    """Give the last bracket that is open where a text ends, if a parser stopped at that end."""
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
    """Give the line that is to blame where a key is not expected; None where that is unknown.

    One above without the blank after its `:`, blanks that are none, or too many of them.
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
        said = "this line is indented by no-break spaces (U+00A0): indent it by common ones"
        return Misplaced(above + indent.index("\u00a0"), said)
    if tight := _TIGHT.fullmatch(before["rest"]):
        said = f"a blank is missing after `{tight['key']}:`"
        at = above + before.start("rest")
        return Misplaced(at, said, f"{tight['key']}: {tight['value']}")
    deep, wanted = len(here["indent"]), len(before["indent"]) + len(before["dashes"])
    if deep > wanted and _PAIR.fullmatch(before["rest"]):
        said = (
            f"this line is indented by {deep}, and the one above, which has a value, by {wanted}: "
            f"indent it by {wanted}, or quote the text of both"
        )
        return Misplaced(start + deep, said)
    return None


def quoted(text: str) -> str:
    """Write a text of one line in the quotes in which less of it has to be escaped."""
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'
