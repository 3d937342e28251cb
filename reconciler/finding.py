"""What can be wrong with a manifest: one finding, and the stable codes. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.document import Path


class Severity(Enum):
    """An error stops the run, a warning never does."""

    ERROR = "error"
    WARNING = "warning"


CODES: dict[str, str] = {
    "M101": "the file is not well-formed YAML or JSON",
    "M102": "a key stands twice in one mapping",
    "M103": "merge keys (<<) are not supported",
    "M104": "tags are not supported",
    "M105": "a number is not finite",
    "M106": "an integer is beyond what JSON carries exactly",
    "M107": "a key is not text",
    "M108": "aliases form a cycle, or there are too many",
    "M109": "the document is nested too deeply",
    "M110": "the file, a line or a scalar is too large",
    "M111": "the file is not UTF-8, or holds control or bidirectional characters",
    "M112": "the file cannot be read",
    "M113": "the file holds no manifest",
    "M114": "a number has a leading zero",
    "M115": "the workspace is too large, or has too many mistakes",
    "M201": "the document is not a manifest",
    "M202": "apiVersion is missing or unknown",
    "M203": "kind is missing or unknown",
    "M204": "metadata is missing or malformed",
    "M205": "a name has the wrong form",
    "M206": "an id is missing or has the wrong form",
    "M207": "an environment is not in the project file",
    "M208": "an unknown field beside spec or in metadata",
    "M209": "an id is used in environments where it may be that of another",
    "M301": "a value has the wrong type",
    "M302": "a required field is missing",
    "M303": "a field is unknown, and close to a known one",
    "M304": "a field is not in the API document",
    "M305": "a field is set by the service",
    "M306": "an enumeration value is close to a listed one",
    "M307": "a value is beyond what services are known to accept",
    "M308": "fields exclude each other",
    "M309": "a value breaks a bound of the API document",
    "M310": "a field disagrees with another",
    "M311": "a boolean is written in a form that is text",
    "M312": "ids inside one list are equal",
    "M313": "a literal looks like a key",
    "M314": "a number is likely in another unit",
    "M401": "two manifests have one name",
    "M402": "two manifests have one identity",
    "M403": "there is more than one log policy set",
    "M404": "a spec file cannot be used",
    "M405": "references form a cycle",
    "M501": "an expression names an unknown variable",
    "M502": "an expression names a secret that is not set",
    "M503": "an expression names an unknown resource",
    "M504": "an expression is malformed, or nearly one",
    "M505": "an expression names a secret that may not be sent",
    "P101": "the project file is malformed",
    "P102": "the base URL is not safe",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of a text by what stands there, and how often the same stands before it.

    `nth` is -1 where that was not counted.
    """

    written: str
    nth: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One complaint about one place of one document.

    `path` leads from the document's root; `at_key` points at the key itself
    rather than its value, `spot` at a part of its text. `suggestion` is what to
    write instead, or begins with `remove`, `leave` or `write` where that is not
    all there is to do.
    """

    code: str
    path: Path
    message: str
    severity: Severity = Severity.ERROR
    suggestion: str = ""
    at_key: bool = field(default=False)
    spot: Spot | None = field(default=None)


def warning(
    code: str, path: Path, message: str, suggestion: str = "", *, at_key: bool = False
) -> Finding:
    """Make a finding that does not stop the run."""
    return Finding(code, path, message, Severity.WARNING, suggestion, at_key)


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
