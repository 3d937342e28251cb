"""Random texts in every style of YAML and JSON, laid out anew, and held against what they said."""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections.abc import Callable
from random import Random

from styled_texts import root_of, style_of

from reconciler.document import identical
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import written
from reconciler.workspace.layout import tidied

CASES = int(os.environ.get("TIDIED_TEXTS", "400"))
TRICKS = (
    *(" # said", "\t# a\ttab", "\n", "\n\n\n", "\n# at the margin\n", "\n      # far right\n"),
    *("\n---\n", "\n...\n---\n", " ", "    ", "- ", "? ", "&n9 ", "*n0", "[a,b]", "{a: 1,b: }"),
    *("{a, b: [x: y]}", "[\n1,\n 2 # c\n]", "|+\n   kept\n\n", "|2-\n   one\n", ">\n  a\n  b\n\n"),
    *('"two\n   lines \\  \n x"', "'it''s\n\n  long'", "${var:team}", "1.10", "on", "12:30:00"),
    *("\nspec:\n", "\nkind: SLO\n", "\napiVersion: reconciler/v1\n", "\nmetadata: {name: x}\n"),
    *("\n? |\n  key\n: value\n", "\n- - - deep\n", '"\\ud83d\\ude00"', "é ü", "%YAML 1.2\n---\n"),
    *("!x ", ",", ":", "#", "'", "\r\n"),
    # What Python takes for a blank, or nobody sees, and YAML keeps.
    *("\ufeff", "\u00a0", "\u3000", "\u2003", "\u200b", "\u00ad", " \u00a0# no", "\u3000\n"),
)
UNSEEN = ("\ufeff", "\u00a0", "\u3000", "\u2003", "\u200b", "\u00ad")
MANIFEST = (
    "apiVersion: reconciler/v1\n",
    "kind: SLO # which\n",
    "# who\nmetadata:\n    name: x\n    labels: {team: a,env: '${var:environment}'}\n",
    "\n# what\nspec:\n  query: >-\n     a\n     b\n  limits: [1.10, 1e3,on]\n",
    "forEach:\n- a: 1\n# last\n- a: 2\n",
)


def drawn_text(chance: Random) -> tuple[str, bool]:
    """Give a text without errors, and whether it is JSON."""
    while True:
        text, is_json = _made(chance)
        if not read_text(text, is_json=is_json).has_errors:
            return text, is_json


def _made(chance: Random) -> tuple[str, bool]:
    style = style_of(chance)
    if style.is_json:
        return _ruffled(style.text([root_of(style)]), chance), True
    roots = [root_of(style) for _ in range(chance.choice((1, 1, 2, 3)))]
    text = style.text(roots)
    if chance.random() < 0.3:
        parts = chance.sample(MANIFEST, chance.randint(3, 5))
        text = chance.choice((text + "---\n", "# head\n", "")) + "".join(parts)
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        text = _tricked(text, chance)
    if chance.random() < 0.1:
        text = text.rstrip("\n")
    return text, False


def _tricked(text: str, chance: Random) -> str:
    """Put a trick where the text can be read with it, if there is such a place."""
    for _ in range(6):
        lines = text.split("\n")
        nth = chance.randrange(len(lines))
        places = (0, len(lines[nth]), chance.randint(0, len(lines[nth])))
        before = sum(map(len, lines[:nth])) + nth + chance.choice(places)
        made = text[:before] + chance.choice(TRICKS) + text[before:]
        if not read_text(made).has_errors:
            return made
    return text


def _ruffled(text: str, chance: Random) -> str:
    spelled = {"99.5": "9.95e1", "1000": "1e3", "7": "7.0", "-3": "-3.00"}
    if chance.random() < 0.4:
        for old, new in spelled.items():
            text = text.replace(f" {old}", f" {new}")
    if chance.random() < 0.3:
        text = json.dumps({"apiVersion": "reconciler/v1", "kind": "SLO"})[:-1] + "," + text[1:]
    return text.replace(": ", chance.choice((": ", ":", " :  ")))


def comments_of(text: str) -> list[str]:
    """Give the comments of a text, without the blanks at their ends.

    All that is neither in a value nor in a comment already, and begins with `#`, is one.
    """
    where = written(text)
    found, place = [], 0
    while (start := text.find("#", place)) >= 0:
        nth = bisect_right(where.scalars, (start, len(text))) - 1
        if nth >= 0 and where.scalars[nth][1] > start:
            place = start + 1
        else:
            place = where.line_end(start)
            found.append(text[start:place].rstrip(" \t\r\n"))
    return found


def _ends_in_blanks(line: str) -> bool:
    """Tell a line that ends in blanks; one that is escaped is a part of its text."""
    return line.endswith((" ", "\t")) and not line.rstrip().endswith("\\")


def wrong_with(text: str, *, is_json: bool) -> str:
    """Say what the layout of a text does wrong, "" for nothing."""
    before = read_text(text, is_json=is_json)
    made = tidied(before, is_json=is_json)
    if made is None:
        # The parser passes over a mark that a line begins with: nobody can tell what is meant.
        return "" if "\n\ufeff" in f"\n{text}" else f"refused:\n{text}"
    after = read_text(made, is_json=is_json)
    for said, holds in _laws(before, after, is_json=is_json).items():
        if not holds():
            return f"{said}:\n{text}\n=== became\n{made}"
    return ""


def _laws(before: Reading, after: Reading, *, is_json: bool) -> dict[str, Callable[[], bool]]:
    old, new = before.lines.text, after.lines.text
    values = [document.value for document in before.documents]
    others = [document.value for document in after.documents]
    return {
        "it cannot be read": lambda: not after.has_errors,
        "says something else": lambda: (
            len(values) == len(others) and all(map(identical, values, others))
        ),
        "lost a comment": lambda: sorted(comments_of(old)) == sorted(comments_of(new)),
        "moved a comment": lambda: "apiVersion" in old or comments_of(old) == comments_of(new),
        "is not the last layout": lambda: tidied(after, is_json=is_json) == new,
        "lost what nobody sees": lambda: all(old.count(text) == new.count(text) for text in UNSEEN),
        "lost an anchor": lambda: old.count("&n") == new.count("&n"),
        "blanks at an end of a line": lambda: (
            "|" in old or ">" in old or not any(_ends_in_blanks(line) for line in new.splitlines())
        ),
    }


def layout_of(text: str, *, is_json: bool = False) -> str | None:
    """Give the layout of a text, None where it has none."""
    return tidied(read_text(text, is_json=is_json), is_json=is_json)
