"""Known words that are a typing error away from a given word. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SHORTEST_TAIL = 6
SHORTEST_SLIP = 2
SHORTEST_SHORT = 3


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word nearest to `word`, or "" if none is near.

    Near means, in this order: another spelling of the same letters (`data_table`), a single typing
    error, letters out of order (`spce`), mostly the same text, or a long tail of the known word
    (`dynamicDuration`).
    """
    choices = {_letters(choice): choice for choice in known}
    letters = _letters(word)
    slipped = choices.get(letters, "") or one_slip_from(letters, choices)
    if slipped:
        return choices.get(slipped, slipped)
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


def shortened(word: str, known: Iterable[str]) -> str:
    """Return the one known name that people shorten to `word`, or else the nearest, or "".

    A short form leaves out letters after the first (`prod`, `stg`), or words before the last
    (`View` of SavedView); one letter may differ (`teem`). That is too loose for names of fields,
    because there are hundreds.
    """
    choices = {_letters(choice): choice for choice in known}
    letters = _letters(word)
    near = nearest(word, choices.values())
    if near or len(letters) < SHORTEST_SHORT:
        return near
    for is_short in (_is_head, _leaves_out, _is_tail, _is_beside):
        found = [choice for folded, choice in choices.items() if is_short(letters, folded)]
        if len(found) == 1:
            return found[0]
    return ""


def _is_head(short: str, name: str) -> bool:
    return name.startswith(short)


def _is_beside(word: str, name: str) -> bool:
    differ = [letter != other for letter, other in zip(word, name, strict=False)]
    return len(word) == len(name) > SHORTEST_SHORT and sum(differ) == 1


def _is_tail(short: str, name: str) -> bool:
    return len(short) > SHORTEST_SHORT and name.endswith(short)


def _leaves_out(short: str, name: str) -> bool:
    rest = iter(name)
    return name[:1] == short[:1] and all(letter in rest for letter in short)


def one_slip_from(word: str, known: Iterable[str]) -> str:
    """Return the one known word that becomes `word` by a single slip; "" for none or several.

    A slip is two neighbours swapped, a letter left out, or a letter too many. A wrong letter is not
    a slip: too many short words differ by one letter.
    """
    found = [choice for choice in known if _is_one_slip(word, choice)]
    return found[0] if len(found) == 1 else ""


def _is_one_slip(ours: str, theirs: str) -> bool:
    longer = len(ours) - len(theirs)
    if not -1 <= longer <= 1 or len(ours) < SHORTEST_SLIP:
        return False
    start = _length_of_shared_start(ours, theirs)
    rest, meant = ours[start:], theirs[start:]
    if longer:
        return rest[1:] == meant if longer > 0 else rest == meant[1:]
    return len(rest) > 1 and rest[0] == meant[1] and rest[1] == meant[0] and rest[2:] == meant[2:]


def is_slip(word: str, meant: str) -> bool:
    """Return whether two words have the same letters, or differ by one letter."""
    ours, theirs = _letters(word), _letters(meant)
    if sorted(ours) == sorted(theirs):
        return True
    if abs(len(ours) - len(theirs)) > 1:
        return False
    start = _length_of_shared_start(ours, theirs)
    ours, theirs = ours[start:], theirs[start:]
    return ours[1:] in (theirs, theirs[1:]) or ours == theirs[1:]


def _length_of_shared_start(ours: str, theirs: str) -> int:
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(ours), len(theirs)))


def _letters(word: str) -> str:
    return word.replace("_", "").replace("-", "").casefold()
