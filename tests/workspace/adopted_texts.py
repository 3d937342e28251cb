"""Random edits of random texts, held against what a careful person would have made of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

from styled_texts import Editing, changed_lines, edit_between, relinked, root_of, style_of, value_of

from reconciler.document import identical
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import written
from reconciler.workspace.manifest_edits import Script, text_after

CASES = int(os.environ.get("ADOPTED_TEXTS", "250"))


@dataclass(frozen=True)
class Case:
    """One edit of one text: the lines that it changed, the least possible, and what is wrong."""

    changed: int
    least: int
    wrong: str = ""


def case(chance: Random) -> Case | None:
    """Make one text and one edit; None where nothing was edited."""
    style = style_of(chance)
    count = 1 if style.is_json else chance.choice([1, 1, 2])
    roots = [root_of(style) for _ in range(count)]
    text = style.text(roots)
    reading = read_text(text, is_json=style.is_json)
    assert not reading.has_errors, text
    edited = [relinked(root) for root in roots]
    for _ in range(chance.randint(1, chance.choice([4, 4, 4, 12]))):
        Editing(style, chance.choice(edited)).edit()
    pairs = zip(roots, edited, strict=True)
    found = {nth: edit_between(old, new) for nth, (old, new) in enumerate(pairs)}
    changes = {nth: edit for nth, edit in found.items() if edit is not None}
    if not changes:
        return None
    made = text_after(Script(Path("a"), "a", reading, style.is_json), changes)
    if made is None:
        return Case(0, 0, f"refused:\n{text}\n{changes}")
    after = read_text(made[0], is_json=style.is_json)
    values = [document.value for document in after.documents]
    wrong = ""
    if not all(map(identical, values, map(value_of, edited))):
        wrong = f"says something else:\n{text}\n{made[0]}"
    if sorted(written(made[0]).comments()) != sorted(written(text).comments()):
        wrong = f"lost a comment:\n{text}\n{made[0]}"
    least = changed_lines(text, style.text(edited))
    return Case(changed_lines(text, made[0]), least, wrong)
