"""Words that are a slip of the fingers away from a known one. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SHORTEST_TAIL = 6


def nearest(word: str, known: Iterable[str]) -> str:
    """Give the known word nearest to `word`, or "" where none is near.

    Near is a slip of the fingers, another spelling of the same letters
    (`data_table`), letters out of order (`spce`), or a long tail of the known
    word (`dynamicDuration`).
    """
    choices = {_letters(choice): choice for choice in known}
    letters = _letters(word)
    if letters in choices:
        return choices[letters]
    for folded, choice in choices.items():
        if folded[:1] == letters[:1] and sorted(folded) == sorted(letters):
            return choice
    close = get_close_matches(letters, choices, n=1, cutoff=0.8)
    if close:
        return choices[close[0]]
    if len(letters) >= SHORTEST_TAIL:
        tails = [choice for folded, choice in choices.items() if folded.endswith(letters)]
        if len(tails) == 1:
            return tails[0]
    return ""


def is_slip(word: str, meant: str) -> bool:
    """Tell a word that differs from another by its spelling or by one key: left out, or beside."""
    ours, theirs = _letters(word), _letters(meant)
    if sorted(ours) == sorted(theirs):
        return True
    if abs(len(ours) - len(theirs)) > 1:
        return False
    pairs = enumerate(zip(ours, theirs, strict=False))
    start = next((at for at, (a, b) in pairs if a != b), min(len(ours), len(theirs)))
    ours, theirs = ours[start:], theirs[start:]
    return ours[1:] in (theirs, theirs[1:]) or ours == theirs[1:]


def _letters(word: str) -> str:
    return word.replace("_", "").replace("-", "").casefold()
