"""Markdown that no foreign text can close, and the limits of the forge. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from urllib.parse import quote

from reconciler.model import Source
from reconciler.model.quoting import and_more
from reconciler.report.safe import safe
from reconciler.report.words import Item, first_lines

COMMENT_BYTES = 60_000

SUMMARY_BYTES = 900 << 10

ANNOTATIONS_OF_A_LEVEL = 10
"""Annotations that the runner keeps of one step; of a job it keeps 50."""

SHOWN_ANNOTATIONS = 9
"""Annotations of each level that are shown. The tenth annotation has the number of the others."""

LARGEST_OUTPUTS = 1 << 20
"""The limit of all outputs of one job together, in bytes."""

SHOWN_SARIF_RESULTS = 5_000
"""Code scanning accepts 25,000 results of a run and keeps this many."""


OPEN_ITEMS = 5
MOST_ITEMS = 20
MOST_LISTED_BYTES = 6_000
"""Limits of one list; what is above the first is folded."""

_BACKTICKS = re.compile(r"`+")
SHORTEST_FENCE = 3


def code(text: str, longest: int | None = None) -> str:
    """Return foreign text as a code span; `table_row` makes it valid in a table."""
    shown = safe(text, longest)
    ticks = "`" * (_longest_run(shown) + 1)
    # A space separates a backtick at the edge, and keeps an empty span from being two fences.
    edge = " " if "`" in shown or not shown else ""
    return f"{ticks}{edge}{shown}{edge}{ticks}"


def table_row(*cells: str) -> str:
    """Return a row of a table. A `|` in a cell, which is Markdown, does not end the cell."""
    inner = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| {inner} |"


def markdown_table(
    headings: Sequence[str],
    items: Sequence[Item],
    row: Callable[[Item], Sequence[str]],
    most: int,
    *,
    rest: str = "and {} more",
    room: float = inf,
) -> Iterator[str]:
    """Yield a table with a row of Markdown cells for each item, and an empty line; else nothing.

    A heading that ends in `:` is of figures. `rest` counts the items above `most` and those that do
    not fit into `room` bytes.
    """
    if items:
        yield f"| {' | '.join(heading.removesuffix(':') for heading in headings)} |"
        yield f"|{''.join('--:|' if heading.endswith(':') else '---|' for heading in headings)}"
        last = f"| | {rest} |{' |' * (len(headings) - 2)}"
        yield from first_lines(items, lambda item: table_row(*row(item)), most, last, room)
        yield ""


_PLAIN = re.compile(r"(?:(?!www\.|//)[A-Za-z0-9 ,.;:()'\"?→…/-]|%(?=[ ,.;)]|\Z))*")
"""Text that means nothing in Markdown or to a forge: no link, mention, element or emphasis."""

_ITEM = re.compile(r"\s*(?:-|\d+[.)])(?:\s|\Z)")
"""The beginning of an item of a list."""


def sentence(text: str, longest: int) -> str:
    """Return a sentence with the words between backticks as code.

    Foreign text in it must be between backticks. All of it becomes one code span where text outside
    of backticks could mean anything in Markdown. A sentence above `longest` characters is cut.
    """
    shown = safe(text)
    if len(shown) > longest:
        shown = shown[: longest - 1].rstrip("`")
        shown += "…`" if shown.count("`") % 2 else "…"
    parts = shown.split("`")
    means_something = _ITEM.match(shown) or not all(_PLAIN.fullmatch(part) for part in parts[::2])
    if len(parts) % 2 == 0 or means_something:
        return code(text, longest)
    return "".join(code(part) if at % 2 else part for at, part in enumerate(parts))


def fenced(language: str, lines: Sequence[str]) -> str:
    """Return safe lines as a fenced block, with a fence longer than any run of backticks inside."""
    body = "\n".join(lines)
    fence = "`" * max(SHORTEST_FENCE, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def place_of(source: Source | None, files: str) -> str:
    """Return the place of a manifest as markup: a link below the address `files`, else code."""
    if source is None:
        return ""
    place = element("code", str(source))
    address = f"{files}{quote(source.file, errors='replace')}#L{source.line}"
    return f'<a href="{address}">{place}</a>' if files else place


def element(name: str, text: str) -> str:
    """Return foreign text inside an HTML element, with every special character escaped."""
    inside = "".join(
        character if character.isalnum() or character in " -_./" else f"&#{ord(character)};"
        for character in safe(text)
    )
    return f"<{name}>{inside}</{name}>"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


WHOLE = "the whole plan"
WHOLE_DRIFT = "what `drift -v` prints"
WHOLE_ADOPTION = "the diff of the manifests"
NOTICE_BYTES = 200
LONGEST_NAME = 80
"""The limit of a foreign name in a sentence or a table; the beginning of a name identifies it."""


OPEN_BELOW_LINES = 10


@dataclass(frozen=True, slots=True)
class Fold:
    """A diff. `name` is foreign text, `title` ours; lines are safe. `picture` is put above it.

    `place` is markup. A short one is open, unless `is_open` says it of any length.
    """

    name: str
    title: str
    lines: Sequence[str]
    picture: Sequence[str] = ()
    is_open: bool | None = None
    place: str = ""

    def markdown(self) -> str:
        """Return the folded element with closed fences, ending in a line break."""
        is_short = len(self.lines) + len(self.picture) < OPEN_BELOW_LINES
        is_open = is_short if self.is_open is None else self.is_open
        opened = "<details open>" if is_open else "<details>"
        words = " ".join(filter(None, (element("code", self.name), self.title, self.place)))
        parts = [f"\n{opened}<summary>{words}</summary>\n"]
        if self.picture:
            parts.append(fenced("text", self.picture))
        if self.lines:
            parts.append(fenced("diff", self.lines))
        return "\n".join((*parts, "</details>", ""))


def with_folds(head: str, folds: Sequence[Fold], budget: int, whole: str, foot: str = "") -> str:
    """Return head, folds and foot within `budget` bytes, and the number of folds left out.

    The largest are left out first, and none is ever cut. `whole` is our text, and says where to
    find all of them.
    """
    texts = [fold.markdown() for fold in folds]
    room = budget - len((head + foot).encode()) - NOTICE_BYTES - len(whole.encode())
    kept = _fitting(texts, room)
    shown = "".join(text for index, text in enumerate(texts) if index in kept)
    left_out = len(texts) - len(kept)
    notice = f"\n{left_out:,} of {len(texts):,} diffs left out: see {whole}.\n" if left_out else ""
    return f"{head}{shown}{notice}{foot}"


def _fitting(texts: Sequence[str], room: int) -> set[int]:
    kept: set[int] = set()
    for size, index in sorted((len(text.encode()), index) for index, text in enumerate(texts)):
        if size > room:
            break
        room -= size
        kept.add(index)
    return kept


def listed_items(title: str, items: Sequence[str]) -> Iterator[str]:
    """Yield a title, the items (already Markdown) that fit, and the number that does not fit.

    Nothing where there is no item.
    """
    if not items:
        return
    yield f"**{title}**"
    yield ""
    lines = [*first_lines(items, "- {}".format, MOST_ITEMS, "- and {} more", MOST_LISTED_BYTES)]
    shown, folded = lines[:OPEN_ITEMS], lines[OPEN_ITEMS:]
    yield from shown
    yield ""
    if folded:
        yield f"<details><summary>{and_more(len(items) - len(shown))}</summary>"
        yield from ("", *folded, "", "</details>", "")
