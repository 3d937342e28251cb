"""Words, records and charts laid out for a terminal, and records as CSV for a spreadsheet."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from io import StringIO

from reconciler.report.safe import columns, cut, safe

NARROWEST = 60
DEFAULT_WIDTH = 100


class Colour(Enum):
    """The colours in use, as their terminal codes."""

    GREEN = "32"
    YELLOW = "33"
    RED = "31"
    MAGENTA = "35"
    CYAN = "36"
    DIM = "2"
    BOLD = "1"


@dataclass(frozen=True, slots=True)
class Style:
    """The layout of text. Without colour, no escape sequence is ever written."""

    colour: bool = False
    width: int = DEFAULT_WIDTH
    verbose: bool = False
    terminal: bool = False

    def paint(self, text: str, *colours: Colour) -> str:
        """Return the text in colours, if colours are on."""
        if not self.colour or not colours:
            return text
        return f"\x1b[{';'.join(colour.value for colour in colours)}m{text}\x1b[0m"


_HANG = "  "
_PAINT = re.compile(r"\x1b\[[0-9;]*m")


def fitted(text: str, style: Style) -> str:
    """Return the text with its lines broken at the terminal's width, between words.

    Without a terminal no line is broken. Continuation lines are indented. A word that is wider than
    the terminal stays whole.
    """
    if not style.terminal:
        return text
    return "\n".join(part for line in text.split("\n") for part in _parts(line, style.width))


def _parts(line: str, width: int) -> Iterator[str]:
    if _columns(line) <= width:
        yield line
        return
    body = line.lstrip(" ")
    margin = line[: len(line) - len(body)]
    room = width - len(margin)
    for part in _in_lines(unbroken(body, room - len(_HANG)), room, _HANG):
        yield (margin + part).rstrip(" ")


def _in_lines(words: Iterable[str], room: int, hang: str) -> Iterator[str]:
    line = ""
    for word in words:
        if line and _columns(line) + 1 + _columns(word) > room:
            yield line
            line = hang + word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line


def unbroken(text: str, room: int) -> Iterator[str]:
    """Yield words. A backtick span that fits on a line is one word, because people copy it."""
    held: list[str] = []
    is_open = False
    for word in text.split(" "):
        held.append(word)
        is_open ^= word.count("`") % 2 == 1
        if not is_open:
            whole = " ".join(held)
            yield from (whole,) if _columns(whole) <= room else held
            held.clear()
    yield from held


INDENT = "      "


def wrapped(
    text: str, style: Style, *colours: Colour, margin: str = INDENT, hang: str = ""
) -> Iterator[str]:
    """Yield foreign words as lines; on a terminal long lines are broken between words.

    `hang` indents the continuation lines.
    """
    room = style.width - len(margin)
    words = unbroken(safe(text), room - len(hang)) if style.terminal else (safe(text),)
    for line in _in_lines(words, room, hang):
        yield margin + style.paint(line, *colours)


def item_lines(
    item: str, notes: Iterable[str], style: Style, *colours: Colour, source: object = ""
) -> Iterator[str]:
    """Yield an item, its sign first, with the place of its manifest, and its notes below it."""
    place = f"  {style.paint(safe(str(source)), Colour.DIM)}" if source else ""
    yield f"  {style.paint(safe(item), *colours)}{place}"
    for note in notes:
        yield from wrapped(note, style, Colour.CYAN)


def _columns(text: str) -> int:
    return columns(_PAINT.sub("", text))


GAP = "  "
NARROWEST_COLUMN = 8
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - spreadsheets read the wide ones too


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a column. A column that is `whole`, such as an id, is never cut."""

    words: str
    whole: bool = False
    right: bool = False


def table(headings: Sequence[Heading], rows: Sequence[Sequence[str]], style: Style) -> str:
    """Return a table, ending in a line break.

    On a terminal it is at most as wide as the terminal: the widest columns are cut first, but never
    `whole` columns. In a pipe nothing is cut.
    """
    cells = [[safe(cell) for cell in row] for row in rows]
    widths = _widths(headings, cells, style)
    head = _line([heading.words.upper() for heading in headings], headings, widths)
    lines = [style.paint(head, Colour.BOLD), *(_line(row, headings, widths) for row in cells)]
    return "\n".join(lines) + "\n"


def fits(headings: Sequence[Heading], rows: Sequence[Sequence[str]], style: Style) -> bool:
    """Return whether a table is shown without a cut."""
    cells = [[safe(cell) for cell in row] for row in rows]
    whole = sum(_whole_widths(headings, cells)) + len(GAP) * (len(headings) - 1)
    return not style.terminal or whole <= style.width


def _whole_widths(headings: Sequence[Heading], cells: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(columns(text) for text in (heading.words, *(row[index] for row in cells)))
        for index, heading in enumerate(headings)
    ]


def _widths(headings: Sequence[Heading], cells: Sequence[Sequence[str]], style: Style) -> list[int]:
    widths = _whole_widths(headings, cells)
    if not style.terminal:
        return widths
    room = style.width - len(GAP) * (len(headings) - 1)
    least = [
        width if heading.whole else max(NARROWEST_COLUMN, columns(heading.words))
        for heading, width in zip(headings, widths, strict=True)
    ]
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda index: widths[index] - least[index])
        if widths[widest] <= least[widest]:
            break
        widths[widest] -= 1
    return widths


def _line(cells: Sequence[str], headings: Sequence[Heading], widths: Sequence[int]) -> str:
    return GAP.join(
        padded(cell, width, right=heading.right)
        for cell, heading, width in zip(cells, headings, widths, strict=True)
    ).rstrip()


def padded(cell: str, width: int, *, right: bool = False) -> str:
    """Return a cell, cut or filled to exactly `width` columns."""
    shown = cut(cell, width)
    blank = " " * (width - columns(shown))
    return blank + shown if right else shown + blank


def csv_line(cells: Sequence[str]) -> str:
    """Return one CSV line. A cell that a spreadsheet would run as a formula becomes text."""
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerow(
        f"'{cell}" if cell.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(cell) else cell
        for cell in map(safe, cells)
    )
    return out.getvalue()


EIGHTHS = " ▏▎▍▌▋▊▉"


def usage_chart(days: Sequence[tuple[str, float]], style: Style) -> str:
    """Return a bar for each day, `(date, units)`, each ending in a line break."""
    most = max((units for _, units in days), default=0.0)
    widest = max((len(f"{units:,.1f}") for _, units in days), default=0)
    room = max(10, style.width - 10 - widest - 4)
    lines = []
    for date, units in days:
        eighths = max(0, round(units / most * room * 8)) if most else 0
        bar = "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
        lines.append(f"{safe(date)[:10]}  {units:>{widest},.1f}  {style.paint(bar, Colour.CYAN)}")
    return "".join(f"{line}\n" for line in lines)
