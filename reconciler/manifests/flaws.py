"""Noting what is wrong with a text while it is read, up to a limit."""

from __future__ import annotations

from typing import Any

from yaml import MarkedYAMLError

from reconciler.document import Json
from reconciler.finding import Severity
from reconciler.manifests.characters import described
from reconciler.manifests.parsed import Flaw, Reading
from reconciler.manifests.syntax import departure_from_json, spoken_problem

MOST_FLAWS = 1_000


class Stop(Exception):
    """The rest of the file cannot be read; the flaw is noted."""


class Flaws:
    """The flaws of one reading; offsets are in `text`, which is what the parser reads."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.text = text
        self.lines = reading.lines
        self.noted = reading.flaws

    def note(self, code: str, offset: int, message: str, suggestion: str = "") -> None:
        """Note an error at an offset. Raises Stop where there are too many."""
        place = self.lines.place(offset)
        self.noted.append(Flaw(code, *place, message, suggestion))
        if len(self.noted) >= MOST_FLAWS:
            said = f"more than {MOST_FLAWS:,} mistakes: the rest of the file is not read"
            self.noted.append(Flaw("M115", *place, said))
            raise Stop

    def stop(self, code: str, event: Any, message: str) -> Stop:
        """Note an error after which nothing more of the file can be read."""
        self.note(code, event.start_mark.index, message)
        return Stop()

    def note_character(self, offset: int, character: str) -> None:
        """Note a character that may not stand here by its number, never as itself."""
        self.note("M111", offset, f"{described(character)} is not allowed here")

    def note_syntax(self, error: MarkedYAMLError) -> None:
        """Note what the parser found."""
        mark = error.problem_mark or error.context_mark
        offset = mark.index if mark else 0
        here = self.text[offset : offset + 2]
        self.note("M101", offset, spoken_problem(error.problem or "", error.context or "", here))

    def note_tag(self, event: Any) -> None:
        """Note a tag; types come from the field, never from the file."""
        said = f"the tag `{event.tag}` is not supported: remove it, fields have types of their own"
        self.note("M104", event.start_mark.index, said)

    def note_leading_zero(self, text: str, value: Json, offset: int) -> None:
        """Warn of a number that looks octal, unless a warning more would hide an error."""
        if len(self.noted) < MOST_FLAWS // 2:
            said = f"`{text}` is the number {value} in YAML 1.2: drop the zero, or quote it"
            place = self.lines.place(offset)
            self.noted.append(Flaw("M114", *place, said, "", Severity.WARNING))

    def note_departure_from_json(self) -> None:
        """Note where a file departs from JSON, of which YAML takes more."""
        departure = departure_from_json(self.lines.text)
        if departure is not None:
            place = self.lines.place_in_text(departure.offset)
            self.noted.append(Flaw(departure.code, *place, departure.message))
