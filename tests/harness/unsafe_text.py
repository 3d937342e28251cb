"""What must never reach a terminal, judged apart from the product: by Unicode's own categories."""

from __future__ import annotations

import re
from unicodedata import category

# Format characters that are seen: Arabic and other signs that stand before a number.
SEEN = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
# What a CI runner takes for a command: at the start of a line, or anywhere in it.
COMMAND = re.compile(r"(?m)^\s*::[A-Za-z]|##\[|##[A-Za-z]+\[")


def unsafe_in(text: str) -> set[str]:
    """Give the characters of a text that control, reorder or hide, and the commands in it."""
    odd = {one for one in text if not one.isprintable() and one != "\n"}
    unsafe = {text for text in odd if category(text) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    return {text for text in unsafe if not SEEN.match(text)} | set(COMMAND.findall(text))
