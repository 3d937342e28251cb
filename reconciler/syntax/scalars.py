"""The place in the file of each character of a scalar, in every way of writing it.

The rules of folding, escapes and indentation are those of YAML 1.1 as the parser applies them. The
result is compared with the parser's value, so a place is exact or not returned.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final

from yaml import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    ScalarToken,
    YAMLError,
)
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.syntax.characters import SURROGATE_PAIR, Misplaced, paired
from reconciler.syntax.diagnostic import Complaint, Finding, Lines, complaint_at
from reconciler.syntax.expressions import NUMBERED_ESCAPE, OPEN

LONGEST: Final = 200
LONGEST_LINE: Final = 1_000
LONGEST_NUMBER: Final = 20
OF_THOUSANDS: Final = 3


_NO_KEY: Final = "did not find expected key"
_LATER: Final = "mapping values are not allowed in this context"
_NOT_CLOSED: Final = ("did not find expected ',' or '}'", "did not find expected ',' or ']'")
_EXPRESSION: Final = re.compile(re.escape(OPEN) + r"[^{}\n]*\}")
_WHOLE_NUMBER: Final = re.compile(r"(?<=[ :])(?P<whole>-?[0-9]+),$")
_PAIRS: Final = {"(": ")", "[": "]", "{": "}"}
_FLOW_KEY: Final = re.compile(
    r"(?P<head>[^\n]*[{,] *[A-Za-z_][\w.-]*: +)[A-Za-z0-9_(][^\n\"'{}\[\]#]*"
)
_FLOW_END: Final = re.compile(r" *(?:\}|, *[A-Za-z_][\w.-]*: )")
_VALUE: Final = re.compile(
    r"(?P<head>[ \t]*(?:- +)*(?P<key>[A-Za-z_][\w.-]*): +)(?P<value>[^\n]*?)"
    r"[ \t]*(?:(?<=[ \t])#[^\n]*)?\r?$"
)


def unquoted(text: str, offset: int, problem: str) -> Misplaced | None:
    """Return the text that needs quotes where the parser stopped, or None if it is another error.

    Such texts are: an expression between braces or brackets, a text that begins with a special
    character of YAML, a text that continues after its quotes, and a text with `: ` in it.
    """
    if problem in _NOT_CLOSED:
        found = _EXPRESSION.match(text, offset - 1) if offset else None
        if found is None:
            return _bracketed(text, offset)
        message = f"between braces or brackets, `{found.group()}` must be quoted"
        return Misplaced(offset - 1, message, json.dumps(found.group(), ensure_ascii=False))
    there = _value_at(text, offset)
    if there is None:
        return None
    first, value = there
    message = _why_quoted(problem, value[0], offset - first)
    return Misplaced(first, message, quoted(value.strip(CURLY))) if message else None


def decimal_comma(text: str, offset: int, key: str) -> Misplaced | None:
    """Return the number between braces that a comma divides into a value and a key at a place.

    Before three digits the comma may divide thousands, so the number meant is not known.
    """
    before = text[max(0, offset - LONGEST_NUMBER) : offset]
    found = _WHOLE_NUMBER.search(before) if key.isascii() and key.isdigit() else None
    if found is None:
        return None
    message = f"`{found['whole']},{key}` is not a number: the decimal sign is a point"
    meant = "" if len(key) == OF_THOUSANDS else f"{found['whole']}.{key}"
    return Misplaced(offset - len(found.group()), message, meant)


def _bracketed(text: str, offset: int) -> Misplaced | None:
    """Return a value between braces that has a bracket inside; None if its end is not certain."""
    start = text.rfind("\n", 0, offset) + 1
    key = _FLOW_KEY.fullmatch(text, start, offset) if offset - start <= LONGEST_LINE else None
    if key is None or text[offset : offset + 1] not in ("[", "{"):
        return None
    first, end = key.end("head"), _end_of_flow(text, key.end("head"))
    value = text[first:end].rstrip()
    if not value or len(value) > LONGEST or _FLOW_END.match(text, end) is None:
        return None
    message = f"between braces, a text with `{text[offset]}` in it must be quoted"
    return Misplaced(first, message, quoted(value))


def _end_of_flow(text: str, first: int) -> int:
    """Return where a value between braces ends: before the first delimiter outside of brackets."""
    open_, quote = list[str](), ""
    for at in range(first, min(len(text), first + LONGEST_LINE)):
        character = text[at]
        if character == "\n" or (not open_ and not quote and character in ",}]"):
            return at
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _PAIRS:
            open_.append(_PAIRS[character])
        elif character in ")]}" and open_.pop() != character:
            return first
    return first


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
    name = "a backtick" if begins == "`" else f"`{begins}`"
    return f"a text that begins with {name} must be quoted" if is_begun.get(problem) else ""


CURLY: Final = "\u201c\u201d\u201e\u2018\u2019"
"""Quotes of a word processor, which YAML reads as letters."""


def _value_at(text: str, offset: int) -> tuple[int, str] | None:
    """Return the start and the text of the value on the line of a place."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    # A line of a megabyte may have a thousand tags, and is searched again for each tag.
    line = _VALUE.fullmatch(text[start:end]) if end - start <= LONGEST_LINE else None
    if line is None or not line["value"] or len(line["value"]) > LONGEST:
        return None
    return start + len(line["head"]), line["value"]


def braced(text: str, offset: int) -> Misplaced | None:
    """Return the text of another tool's template if the place is its second brace."""
    found = _value_at(text, offset)
    if found is None or not found[1].startswith("{{") or offset != found[0] + 1:
        return None
    message = "a text that begins with `{{` must be quoted, and is sent as it is"
    return Misplaced(
        found[0], f"{message} (what is filled in here is written `${{var:NAME}}`)", quoted(found[1])
    )


_TAG: Final = re.compile(r"!!|!<|![A-Za-z][\w/-]*(?:\s|$)")
"""Tags of other tools: `!secret NAME`, `!Ref NAME`."""


def marked(text: str, offset: int) -> str:
    """Return a value in quotes, if its first `*` or `!` was read as an alias or a tag by mistake.

    Returns "" if it must be an alias or a tag.
    """
    found = _value_at(text, offset)
    if found is None or found[0] != offset or _TAG.match(found[1]):
        return ""
    return quoted(found[1])


_OPENINGS: Final = {FlowMappingStartToken: "{}", FlowSequenceStartToken: "[]"}


def never_closed(text: str, offset: int) -> Misplaced | None:
    """Return the last open bracket at the end of a text, if the parser stopped at that end."""
    if text[offset:].strip():
        return None
    opened = list[tuple[int, str]]()
    try:
        for token in iter(CParser(text).get_token, None):
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


_MERGE_MARKER: Final = re.compile(r"^(?:<{7}|={7}|>{7})(?=\s|\Z)", re.MULTILINE)


def unfinished_merge(text: str) -> Misplaced | None:
    """Return the first marker that git writes into a file with a conflict."""
    marker = _MERGE_MARKER.search(text)
    if marker is None:
        return None
    message = f"`{marker.group()}` marks a conflict that git left here: keep one side, and remove"
    return Misplaced(marker.start(), f"{message} the lines `<<<<<<<`, `=======` and `>>>>>>>`")


_OPENS: Final = re.compile(r"(?:[:,-]\s|[\[{(])\s*\Z")
"""The end of a text with a quote after it that opens another text."""
_BEHIND_QUOTES: Final = " \t\r\n,]}:"


def left_open(text: str, offset: int) -> Misplaced | None:
    """Return the quote before a place that was closed by the opening quote of another text."""
    with suppress(YAMLError):
        for token in iter(CParser(text).get_token, None):
            if token.end_mark.index > offset:
                break
            if type(token) is not ScalarToken or token.style not in ("'", '"'):
                continue
            behind = text[token.end_mark.index : token.end_mark.index + 1]
            if behind and behind not in _BEHIND_QUOTES and _OPENS.search(token.value):
                message = "the quote that opens here is never closed: close it"
                return Misplaced(token.start_mark.index, message)
    return None


_ENTRY: Final = re.compile(r"(?P<indent>[ \t\u00a0]*)(?P<dashes>(?:- +)*)(?P<rest>\S.*)")
_TIGHT: Final = re.compile(r"(?P<key>[A-Za-z_][\w.-]*):(?P<value>[^\s:/].*)")
_PAIR: Final = re.compile(r"[A-Za-z_][\w.-]*: +\S.*")
_CHILD: Final = re.compile(
    r"(?P<indent> *)(?P<parent>[A-Za-z_][\w.-]*):[ \t]*(?:#[^\n]*)?\r?\n"
    r"(?P=indent)(?! |- |#)[^\n]*\n"
)
"""A key without a value, and a line below it with the same indentation."""


def _child_outdented(text: str, start: int, indent: int) -> Misplaced | None:
    """Return the line above if it is indented like its parent, and the next child is deeper."""
    above = text.rfind("\n", 0, max(0, start - 1)) + 1
    before = text.rfind("\n", 0, max(0, above - 1)) + 1
    child = _CHILD.fullmatch(text, before, start)
    if child is None or len(child["indent"]) >= indent:
        return None
    message = (
        f"this line is indented like `{child['parent']}:` above it, which has no value, and the "
        f"line below by {indent}: indent it by {indent}"
    )
    return Misplaced(above + len(child["indent"]), message)


def misplaced(text: str, offset: int, problem: str) -> Misplaced | None:
    """Return the wrong line where a key is not expected, or None if it is not known.

    The error is a missing blank after the `:` of the line above, no-break spaces, or too much or
    too little indentation.
    """
    start = text.rfind("\n", 0, offset) + 1
    if problem == _NO_KEY:
        return _child_outdented(text, start, offset - start) or _outdented(text, offset)
    return _unlike_above(text, start, offset) if problem == _LATER else None


def _unlike_above(text: str, start: int, offset: int) -> Misplaced | None:
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
    if child := _child_outdented(text, start, deep):
        return child
    if deep > wanted and _PAIR.fullmatch(before["rest"]):
        message = (
            f"this line is indented by {deep}, and the one above, which has a value, by {wanted}: "
            f"indent it by {wanted}, or quote the text of both"
        )
        return Misplaced(start + deep, message)
    return None


_INDENT: Final = re.compile(r"^( *)(?=[^ #\r\n])", re.MULTILINE)


def _outdented(text: str, offset: int) -> Misplaced | None:
    """Return a line that is indented less than its neighbours, and more than their parent."""
    start = text.rfind("\n", 0, offset) + 1
    indent = offset - start
    if text[start:offset].strip(" "):
        return None
    above = [len(found[1]) for found in _INDENT.finditer(text, 0, start)]
    inner, outer = 0, indent
    for width in reversed(above):
        if width <= indent:
            outer = width
            break
        inner = width if not inner else min(inner, width)
    if not inner or outer == indent:
        return None
    message = (
        f"this line is indented by {indent}, the lines above by {inner} and by {outer}: "
        f"indent it by {inner} or by {outer}"
    )
    return Misplaced(offset, message)


def quoted(text: str) -> str:
    """Return a text of one line in the quotes that need fewer escapes."""
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


_PROPERTIES = re.compile(r"(?:[&!]\S*\s+(?:#[^\n]*\s+)*)*")
_HEADER = re.compile(r"[|>][^\n]*\n?")
_BREAK = re.compile(r"\r?\n")
_PASSED = {"\n": (" ", "\t"), "\t": (" ",), " ": ("\t",)}
_GAP = (" ", "\t", "\r", "\n")
"""What may be before a character of a block text: its indentation, and breaks that are folded."""

_FOLD = r"\r?\n(?:[ \t]*+\r?\n)*+[ \t]*+"
_PIECES = {
    quote: re.compile(rf"(?P<fold>(?:[ \t]*+{joined}){_FOLD})|{others}", re.DOTALL)
    for quote, joined, others in (
        ("", "", r"[ \t]++|[^ \t\r\n]++"),
        ("'", "", r"''|[ \t]++|[^' \t\r\n]++"),
        (
            '"',
            r"|\\",
            rf"{SURROGATE_PAIR.pattern}|{NUMBERED_ESCAPE.pattern}|\\.|[ \t]++|[^\\ \t\r\n]++",
        ),
    )
}
"""The pieces of a plain or quoted text, by its quote: a fold, an escape, or characters."""
_ESCAPES = dict(
    zip(
        "'0abt\tnvfre \"/\\N_LP",
        "'\0\a\b\t\t\n\v\f\r\x1b \"/\\\x85\xa0\u2028\u2029",
        strict=True,
    )
)


def spell(text: str, start: int, end: int, value: str) -> array[int] | None:
    """Return the places of a scalar that is written between two places and has this value.

    There is one more place than characters. None if the places cannot be determined.
    """
    properties = _PROPERTIES.match(text, start, end)
    start = properties.end() if properties is not None else start
    mark = text[start : start + 1]
    if header := _HEADER.match(text, start, end):
        spelled = [*_block(text, header.end(), value)]
    elif mark in ("'", '"'):
        spelled = [*_flow(text, start + 1, end - 1, mark)]
    else:
        spelled = [*_flow(text, start, end, "")]
    is_exact = "".join(character for character, _ in spelled) == value
    return array("L", (place for _, place in spelled)) if is_exact else None


def _flow(text: str, start: int, end: int, quote: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of a plain or quoted text, and the place where each is written."""
    for piece in _PIECES[quote].finditer(text, start, end):
        place, written = piece.start(), piece.group()
        if piece["fold"]:
            # One break is a blank, of several the first is dropped.
            breaks = [place + found.start() for found in _BREAK.finditer(written)]
            if len(breaks) == 1 and written[0] != "\\":
                yield " ", breaks[0]
            yield from zip("\n" * len(breaks), breaks[1:], strict=False)
        elif quote == "'" and written == "''":
            yield "'", place
        elif quote == '"' and written[0] == "\\":
            yield _unescaped(piece), place
        else:
            yield from zip(written, range(place, piece.end()), strict=True)
    yield "", end


def _unescaped(piece: re.Match[str]) -> str:
    high, low, *numbers = piece.groups()[1:]
    if high:
        return paired(high, low)
    number = next(filter(None, numbers), None)
    return _ESCAPES.get(piece.group()[1], "") if number is None else chr(int(number, 16))


def _block(text: str, place: int, value: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of a block text: only blanks and breaks may be between them."""
    for character in value:
        passed = _PASSED.get(character, _GAP)
        while text[place : place + 1] in passed:
            place += 1
        here = text[place : place + 1]
        yield (character if here in ("\r", "\n") and character in " \n" else here), place
        place += 2 if text.startswith("\r\n", place) else 1
    yield "", place


def complaint_inside(file: str, lines: Lines, finding: Finding, start: int, end: int) -> Complaint:
    """Return the complaint for a finding about the text between two places of a file."""
    line, column = lines.place_in_text(start)
    last, after = lines.place_in_text(max(start, end - 1))
    complaint = complaint_at(file, lines, line, column, finding)
    excerpt = complaint.excerpt
    if excerpt is None or last != line:
        return complaint
    room = len(excerpt.lines[-1][1]) - excerpt.start
    width = max(1, min(after - column + 1, room))
    return replace(complaint, excerpt=replace(excerpt, width=width))
