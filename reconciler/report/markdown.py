"""Markdown that nothing foreign can close, and what the forge takes of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.report.safe import safe

LARGEST_COMMENT_CHARACTERS = 65_536
"""The forge refuses a longer comment with 422."""

COMMENT_BYTES = 60_000

LARGEST_SUMMARY = 1 << 20
"""Of one step; above it the runner drops all of it."""

SUMMARY_BYTES = 900 << 10

ANNOTATIONS_OF_A_LEVEL = 10
"""What the runner keeps of one step; of a job it keeps 50."""

SHOWN_ANNOTATIONS = 9
"""Of each level; the tenth says how many more there are."""

LARGEST_OUTPUTS = 1 << 20
"""Of all outputs of one job."""

SHOWN_SARIF_RESULTS = 5_000
"""Code scanning takes 25,000 of a run and keeps these."""


_BACKTICKS = re.compile(r"`+")
SHORTEST_FENCE = 3


def code(text: str, longest: int | None = None) -> str:
    """Give foreign text as a code span that holds in a table cell too."""
    shown = safe(text, longest).replace("|", "\\|")
    ticks = "`" * (_longest_run(shown) + 1)
    # A space keeps a backtick at the edge apart, and an empty span from being two fences.
    edge = " " if "`" in shown or not shown else ""
    return f"{ticks}{edge}{shown}{edge}{ticks}"


_PLAIN = re.compile(r"(?:(?!www\.|//)[A-Za-z0-9 ,.;:()'…/-]|%(?=[ ,.;)]|\Z))*")
"""Text that means nothing in Markdown, nor to a forge: no link, mention, element or emphasis."""


def sentence(text: str, longest: int, subject: str = "") -> str:
    """Give a sentence whose words between backticks are code; `subject` is foreign, and is one.

    Where what stands outside of them could mean anything, or it is too long, or nothing in it is
    set apart, all of it is code: whatever is foreign may stand in it.
    """
    shown = safe(text)
    parts = shown.split("`")
    is_plain = all(_PLAIN.fullmatch(part) for part in parts[::2])
    if len(shown) > longest or len(parts) % 2 == 0 or len(parts) == 1 or not is_plain:
        return code(subject + text, longest)
    told = "".join(code(part) if at % 2 else part for at, part in enumerate(parts))
    return f"{code(subject)}{told}" if subject else told


def fenced(language: str, lines: Sequence[str]) -> str:
    """Give safe lines as a fenced block, the fence longer than any run of backticks inside."""
    body = "\n".join(lines)
    fence = "`" * max(SHORTEST_FENCE, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def element(name: str, text: str) -> str:
    """Give foreign text inside an HTML element, all that could mean anything escaped."""
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
"""Of a foreign name in a sentence or a table: what identifies it stands at its beginning."""


@dataclass(frozen=True, slots=True)
class Fold:
    """One diff: `name` is foreign text, `title` ours; lines are safe. `picture` stands above it."""

    name: str
    title: str
    lines: Sequence[str]
    picture: Sequence[str] = ()
    is_open: bool = False

    def markdown(self) -> str:
        """Give the folded element, its fences closed, ending in a line break."""
        opened = "<details open>" if self.is_open else "<details>"
        parts = [f"\n{opened}<summary>{element('code', self.name)} {self.title}</summary>\n"]
        if self.picture:
            parts.append(fenced("text", self.picture))
        if self.lines:
            parts.append(fenced("diff", self.lines))
        return "\n".join((*parts, "</details>", ""))


def folds_markdown(folds: Sequence[Fold], room: int, whole: str) -> str:
    """Give those that fit into `room` bytes, in order, and how many are left out.

    The largest are left out first, and none is ever cut. `whole` is ours, and
    says where all of them stand.
    """
    texts = [fold.markdown() for fold in folds]
    kept = _fitting(texts, room - NOTICE_BYTES - len(whole.encode()))
    shown = "".join(text for index, text in enumerate(texts) if index in kept)
    left_out = len(texts) - len(kept)
    if not left_out:
        return shown
    return f"{shown}\n{left_out:,} of {len(texts):,} diffs left out: see {whole}.\n"


def _fitting(texts: Sequence[str], room: int) -> set[int]:
    kept: set[int] = set()
    for size, index in sorted((len(text.encode()), index) for index, text in enumerate(texts)):
        if size > room:
            break
        room -= size
        kept.add(index)
    return kept
