"""Diffs folded under their titles, as many as fit. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.report.markup import element, fenced

WHOLE = "the whole plan"
NOTICE_BYTES = 200


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
