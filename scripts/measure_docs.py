"""Count the words of docs/ by page: those written by hand, and those that a program writes.

python scripts/measure_docs.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
README: Final = ROOT / "README.md"
EXAMPLES: Final = ROOT / "scripts" / "command_examples.md"
MOST: Final = 30_000
"""Words by hand of all pages, the README included."""

MOST_OF_A_PAGE: Final = 2_500
MOST_OF_THE_README: Final = 900

_WRITTEN: Final = re.compile(r"Written by `(?:scripts/\w+\.py|make \w+|[^`]*python [^`]+)`")
_TABLE: Final = re.compile(
    r"<!-- ([\w-]+): written by .*? -->\n.*?<!-- end of \1 -->"
    r"|<!-- (\w+) -->\n.*?<!-- /\2 -->",
    re.DOTALL,
)
_BLOCK: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_WORD: Final = re.compile(r"\S*\w\S*")
_MARK_WITHIN: Final = 800


class Page(NamedTuple):
    """A page with its words, by hand and by a program."""

    name: str
    by_hand: int
    written: int


def pages() -> list[Page]:
    """Return the pages of docs/ and the README, those with most words by hand first."""
    files = [README, EXAMPLES, *DOCS.glob("**/*.md")]
    return sorted(map(_measured, files), key=lambda page: (-page.by_hand, page.name))


def _measured(file: Path) -> Page:
    text, name = file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()
    words = len(_WORD.findall(text))
    if file == EXAMPLES:
        # Its blocks are on docs/commands.md, and run there.
        return Page(name, len(_WORD.findall(_BLOCK.sub(" ", text))), 0)
    is_kept = file.parent.name == "evidence"
    by_hand = 0 if is_kept or is_written(text) else len(_WORD.findall(_TABLE.sub(" ", text)))
    return Page(name, by_hand, words - by_hand)


def is_written(text: str) -> bool:
    """Return whether a page says in its first lines which program writes it."""
    return bool(_WRITTEN.search(text[:_MARK_WITHIN]))


def main() -> None:
    """Print a line a page, and the sum."""
    measured = pages()
    for page in measured:
        print(f"{page.by_hand:7,} by hand {page.written:7,} written  {page.name}")
    by_hand = sum(page.by_hand for page in measured)
    written = sum(page.written for page in measured)
    print(f"{by_hand:7,} by hand {written:7,} written  in all; at most {MOST:,} by hand")


if __name__ == "__main__":
    main()
