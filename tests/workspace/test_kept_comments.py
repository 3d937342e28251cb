"""Every comment of a file survives every edit, as a scanner that makes no edits counts them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from styled_texts import root_of, style_of

from reconciler.errors import InvalidInput
from reconciler.syntax.syntax_tree import comments_lost, written
from reconciler.workspace.write_files import replace_text

pytestmark = pytest.mark.promise("S26")


def test_both_scanners() -> None:
    """Without its comments a text has lost just those that the reader of edits finds in it."""
    for seed in range(60):
        style = style_of(Random(seed))  # noqa: S311 - repeatable
        if style.is_json:
            continue
        text = style.text([root_of(style)])
        found = written(text)
        bare = list(text)
        for start, end in found.comment_spans():
            bare[start:end] = " " * (end - start)

        lost = Counter(comments_lost(text, "".join(bare)))

        assert lost == Counter(comment.strip() for comment in found.comments()), text


def test_a_comment_that_would_be_lost(tmp_path: Path) -> None:
    """A text that lacks one of two equal comments is not written."""
    before = "a: {b: 1}  # why\nc: 2  # why\n"
    file = tmp_path / "a.yaml"
    file.write_text(before, "utf-8")

    with pytest.raises(InvalidInput, match="would lose the comment"):
        replace_text(file, "a.yaml", [tmp_path], before=before, after="a: {b: 1}\nc: 3  # why\n")
    replace_text(file, "a.yaml", [tmp_path], before=before, after=before.replace("2", "3"))

    assert file.read_text("utf-8") == before.replace("2", "3")


@pytest.mark.parametrize("mark", ["|", ">-", "|+2"])
def test_a_comment_behind_the_mark_of_a_block_text(mark: str) -> None:
    """A comment behind the mark of a block text is counted like any other."""
    before = f"a: {mark}  # why\n  x\nb: 1\n"

    assert comments_lost(before, before.replace("1", "2")) == []
    assert comments_lost(before, before.replace("  # why", "")) == ["# why"]
