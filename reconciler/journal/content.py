"""The lines of a journal as stores keep them: entries as JSON, sums, header, moves, and rescue."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, TypeAdapter

from reconciler.document import Json
from reconciler.errors import InvalidInput, JournalError
from reconciler.journal import entries as journaled
from reconciler.journal import line_fields as of
from reconciler.journal.line_fields import JournalLine, LazyJson, held, in_lines
from reconciler.journal.store import Ending, Store
from reconciler.model import Ref, ServerInfo
from reconciler.runtime.advice import LOST_JOURNAL, on_journal


@cache
def _reader() -> Callable[[of.LineDocument], journaled.Entry]:
    """Return the reader of entries, made on first use, as that takes ten milliseconds."""
    adapter = TypeAdapter[journaled.Entry](Annotated[journaled.Entry, Field(discriminator="entry")])
    return adapter.validator.validate_python


@cache
def _fields(kind: type[JournalLine | ServerInfo]) -> list[tuple[str, str, object]]:
    """Return each field's name, its name in lines, and the default that is left out."""
    return [
        (field.name, in_lines(field.name), {} if field.default_factory is dict else field.default)
        for field in fields(kind)
        if field.name != "entry"
    ]


def _document(line: JournalLine | ServerInfo) -> of.LineDocument:
    """Return the fields of a line.

    Pydantic would also write a secret, which no line may contain.
    """
    known = _fields(type(line))  # type: ignore[arg-type]  # mypy knows no class as hashable here
    values = ((key, getattr(line, name), left_out) for name, key, left_out in known)
    return {key: _json(value) for key, value, left_out in values if value != left_out}


def _json(value: Any) -> Any:
    match value:
        case Ref():
            return str(value)
        case tuple():
            return [_json(element) for element in value]
        case JournalLine() | ServerInfo():
            return _document(value)
        case _:
            return value


def header_document(header: journaled.Header) -> of.LineDocument:
    """Return a header as JSON."""
    return {"journal": journaled.FORMAT, **_document(header)}


def parse_header(document: of.LineDocument) -> journaled.Header:
    """Read the first line. Raises JournalError where it is no header."""
    if document.get("journal") != journaled.FORMAT:
        raise JournalError("the first line is not the header of a journal of this version")
    named = _fields(journaled.Header)
    return journaled.Header(**{name: str(document.get(key, "")) for name, key, _ in named})


def entry_document(entry: journaled.Entry) -> of.LineDocument:
    """Return an entry as JSON."""
    return {"entry": entry.entry, **_document(entry)}


def parse_entry(
    document: of.LineDocument, number: int, line: bytes | None = None
) -> journaled.Entry:
    """Read a line that is not the header.

    With the text of the `line`, its documents stay text until they are used. Raises JournalError,
    naming the line.
    """
    try:
        entry = _reader()(document)
    except JournalError as error:
        raise JournalError(f"line {number} of the journal cannot be understood: {error}") from error
    except ValueError as error:
        raise JournalError(f"line {number} of the journal cannot be understood") from error
    if line is not None:
        _pack(entry, line)
    return entry


def _pack(entry: journaled.Entry, line: bytes) -> None:
    """Keep the document of an entry as text until it is used."""
    owner: object = entry.last if isinstance(entry, journaled.Compacted) else entry
    name = journaled.DOCUMENTS.get(type(owner), "")
    if name and held(owner, name) is not None:
        place = (name,) if owner is entry else ("last", name)
        owner.__dict__[name] = LazyJson(line, place)


SUM_DIGITS = 16
BEGINNING = b'{"journal":'
"""The beginning of a journal's header, its first line."""


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ESCAPED = json.JSONEncoder(separators=(",", ":"))


def line_of(document: dict[str, Json], previous_sum: str) -> tuple[str, str]:
    """Return a document's line and its sum, which the next line builds on."""
    text = _COMPACT.encode(document)
    try:
        summed = f"{previous_sum}\n{text}".encode()
    except UnicodeEncodeError:
        # Lone surrogates, which only an escape can carry.
        text = _ESCAPED.encode(document)
        summed = f"{previous_sum}\n{text}".encode()
    total = hashlib.sha256(summed).hexdigest()[:SUM_DIGITS]
    return f'{text[:-1]},"sum":"{total}"}}\n', total


def parse_line(line: str, previous_sum: str, number: int) -> tuple[dict[str, Json], str]:
    """Read a line and check its sum.

    Raises JournalError, naming the line.
    """
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise _damaged(f"line {number} of the journal is not JSON")
    written_sum = document.pop("sum", None)
    end = f',"sum":"{written_sum}"}}'
    if isinstance(written_sum, str) and line.endswith(end):
        # The text as written: it need not be encoded again to be summed.
        summed = f"{previous_sum}\n{line[: -len(end)]}}}".encode()
        if hashlib.sha256(summed).hexdigest()[:SUM_DIGITS] == written_sum:
            return document, written_sum
    _, total = line_of(document, previous_sum)
    if written_sum != total:
        raise _damaged(f"line {number} of the journal was changed, or a line before it is missing")
    return document, total


def _damaged(cause: str) -> JournalError:
    remedy = f"nothing is written on top of it: bring it back from a whole copy; {LOST_JOURNAL}"
    return JournalError(f"{cause}\n{remedy}")


@dataclass(slots=True)
class Content:
    """The lines of one journal: the first is the header, and each has a sum.

    `torn` means that the last line was cut, and does not count.
    """

    header: journaled.Header | None = None
    entries: list[journaled.Entry] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)
    torn: bool = False

    @property
    def end(self) -> str:
        """The sum of the last line; "" where there is none."""
        return self.sums[-1] if self.sums else ""

    def had(self, end: str) -> bool:
        """Return whether this journal ends with a sum, or once ended with it."""
        continues = self.header.continues if self.header is not None else ""
        return end != "" and (end == continues or end in self.sums)

    def goes_on_from(self, ending: Ending) -> bool:
        """Return whether this journal still has all that a journal with this end had."""
        if not ending.end or self.had(ending.end):
            return True
        if self.header is None or ending.header in ("", self.sums[0]):
            return False
        # Rewritten lines have other sums; the entries of runs are never left out.
        runs = (entry.run for entry in self.entries if isinstance(entry, journaled.RunEntry))
        return not ending.run or ending.run in runs


def read_content(text: bytes, place: str) -> Content:
    """Read lines. Raises JournalError, naming `place`, where they cannot be trusted."""
    *lines, rest = text.split(b"\n")
    content = Content(torn=rest != b"")
    if not lines and rest[: len(BEGINNING)] != BEGINNING[: len(rest)]:
        # The text is not the beginning of a header either, so it is no journal that was cut.
        raise JournalError(f"{place} is not a journal")
    try:
        for number, line in enumerate(lines, 1):
            document, total = parse_line(line.decode(), content.end, number)
            content.sums.append(total)
            if number == 1:
                content.header = parse_header(document)
            else:
                content.entries.append(parse_entry(document, number, line))
    except UnicodeDecodeError as error:
        raise JournalError(f"{place} is not UTF-8") from error
    except JournalError as error:
        raise JournalError(f"{place}: {error}") from error
    return content


_Unsent: TypeAlias = (
    journaled.Started
    | journaled.Backup
    | journaled.AboutRuns
    | journaled.Looked
    | journaled.Moved
    | journaled.MovedIn
)


def rescued(entries: Sequence[journaled.Entry]) -> str:
    """Save what happened and could not be journaled; return where, as the end of a message.

    An entry that was never sent, or that only records what a person did, is not saved: the result
    is "" then. Secrets are sealed as always, and the file is private. Source: docs/journal.md.
    """
    if all(isinstance(entry, _Unsent) for entry in entries):
        return ""
    documents = map(entry_document, entries)
    text = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    saved = _saved(text)
    return f"; its entries were saved in {saved}" if saved else f"; its entries are:\n{text}"


def _saved(text: str) -> str:
    """Write a private file in the temporary folder; return its name, "" where that fails."""
    name = ""
    try:
        descriptor, name = tempfile.mkstemp(prefix="reconciler-journal-", suffix=".jsonl")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(descriptor)
    except OSError:
        if name:
            with suppress(OSError):
                Path(name).unlink()
        return ""
    return name


StoreOpener: TypeAlias = Callable[[str], Store]
"""Returns the store at a place, which is written as in the project file."""


def check_place(content: Content, place: str, environment: str, look: StoreOpener | None) -> None:
    """Raise InvalidInput where a journal was moved away, or is a copy of an unfinished move."""
    match content.entries[-1:]:
        case [journaled.Moved(at=at, to=to)]:
            raise InvalidInput(
                f"{place} was moved to {to} ({at}), and is not used any more: write "
                f"`journal: {to}` for the environment `{environment}` in the project file"
            )
        case [journaled.MovedIn(origin=origin) as arrived] if not has_left(
            content_at(origin, look), arrived
        ):
            raise InvalidInput(
                f"{place} is a copy of the journal at {origin}, and its move is not finished: "
                f"with `journal: {origin}` in the project file, run `{on_journal('move')}` "
                f"again. If that journal is permanently gone, `{on_journal('move', '--to')}` the "
                "place of this copy makes it count"
            )
        case _:
            pass


def content_at(origin: str, look: StoreOpener | None) -> Content:
    """Read the journal at another place; an empty journal where no `look` is given."""
    if look is None:
        return Content()
    return read_content(look(origin).read(), origin)


def has_left(content: Content, arrived: journaled.MovedIn) -> bool:
    """Return whether a journal ended with the move that made a copy."""
    match content.entries[-1:]:
        case [journaled.Moved(run=run)]:
            return run == arrived.run
        case _:
            return False
