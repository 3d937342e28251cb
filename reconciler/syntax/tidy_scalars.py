"""Texts of YAML in several lines, with another indentation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.syntax.tidy_sheet import BLANKS

_HEADER = re.compile(r"([|>])([-+0-9]*)([ \t]*)(#[^\n]*)?[^\n]*")


@dataclass(frozen=True, slots=True)
class BlockText:
    """A block scalar: its header with a comment, and its indented lines.

    `length` is its length in the source, without the empty lines after it unless it `keeps` them.
    """

    header: str
    lines: Sequence[str]
    length: int
    keeps: bool


def laid_block(source: str, column: int, indent: int) -> BlockText:
    """Return a block scalar of a block at a column, with another indentation."""
    found = _HEADER.match(source)
    assert found is not None  # noqa: S101 - the parser found one
    mark, signs, blanks, comment = found.groups()
    body = source[found.end() + 1 :]
    lines = body.split("\n")
    ends = body.endswith("\n") or not body
    if ends:
        lines.pop()
    digit = next((sign for sign in signs if sign.isdigit()), "")
    keeps = "+" in signs
    margin = max(column, 0) + int(digit) if digit else _margin(lines)
    content = [line[margin:] for line in lines]
    written = len(content)
    while written and not content[written - 1]:
        written -= 1
    length = found.end() + sum(len(line) + 1 for line in lines[:written])
    if keeps and ends:
        length = len(source) - 1 if body else found.end()
    else:
        content = content[:written]
    if not ends and content:
        # The text ends without a line break, which the file adds.
        signs, keeps = f"{digit}-", False
    sign = ("2" if digit else "") + signs.replace(digit, "")
    tail = ("  " if "\t" in blanks else blanks) + comment.rstrip(BLANKS) if comment else ""
    pad = " " * indent
    return BlockText(
        f"{mark}{sign}{tail}",
        [pad + line if line else "" for line in content],
        length,
        keeps and written < len(content),
    )


def _margin(lines: Sequence[str]) -> int:
    for line in lines:
        bare = line.lstrip(" ")
        if bare:
            return len(line) - len(bare)
    return max(map(len, lines), default=0)


def folded_lines(written: str, style: str) -> list[str]:
    """Return the lines of a plain or quoted text without the blanks around them."""
    lines = written.split("\n")
    last = len(lines) - 1
    return [
        _bare(line, is_first=nth == 0, is_last=nth == last, escapes=style == '"')
        for nth, line in enumerate(lines)
    ]


def _bare(line: str, *, is_first: bool, is_last: bool, escapes: bool) -> str:
    bare = line if is_first else line.lstrip(" \t")
    ended = bare if is_last else bare.rstrip(" \t")
    if escapes and len(ended) < len(bare):
        slashes = len(ended) - len(ended.rstrip("\\"))
        if slashes % 2:
            # The character after the backslash is part of the text.
            ended += bare[len(ended)]
    return ended
