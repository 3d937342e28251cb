"""Entries as the JSON documents of a journal's lines, read and written by their declaration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from reconciler.errors import JournalError
from reconciler.journal import line_fields as of
from reconciler.journal.entries import DOCUMENTS, FORMAT, Compacted, Entry, Header
from reconciler.journal.line_fields import JournalLine, LazyJson, held, in_lines, pack
from reconciler.model import Ref, ServerInfo


@cache
def _reader() -> Callable[[of.LineDocument], Entry]:
    """Return the reader of entries, made on first use, as that takes ten milliseconds."""
    adapter = TypeAdapter[Entry](Annotated[Entry, Field(discriminator="entry")])
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
    """Return the fields of a line; pydantic could also write what no line may hold (a secret)."""
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


def header_document(header: Header) -> of.LineDocument:
    """Return a header as JSON."""
    return {"journal": FORMAT, **_document(header)}


def parse_header(document: of.LineDocument) -> Header:
    """Read the first line. Raises JournalError where it is no header."""
    if document.get("journal") != FORMAT:
        raise JournalError("the first line is not the header of a journal of this version")
    named = _fields(Header)
    return Header(**{name: str(document.get(key, "")) for name, key, _ in named})


def entry_document(entry: Entry) -> of.LineDocument:
    """Return an entry as JSON."""
    return {"entry": entry.entry, **_document(entry)}


@dataclass(frozen=True, slots=True)
class LineSpan:
    """The span of a line in the text of a journal, without its line end."""

    text: bytes
    start: int
    end: int


def parse_entry(document: of.LineDocument, number: int, span: LineSpan | None = None) -> Entry:
    """Read any other line.

    With the `span` of the line, its documents stay text until they are used. Raises JournalError,
    naming the line.
    """
    try:
        entry = _reader()(document)
    except JournalError as error:
        raise JournalError(f"line {number} of the journal cannot be understood: {error}") from error
    except ValueError as error:
        raise JournalError(f"line {number} of the journal cannot be understood") from error
    if span is not None:
        _pack(entry, span)
    return entry


def _pack(entry: Entry, span: LineSpan) -> None:
    """Keep the document of an entry as text until it is used."""
    owner: object = entry.last if isinstance(entry, Compacted) else entry
    name = DOCUMENTS.get(type(owner), "")
    if name and held(owner, name) is not None:
        place = (name,) if owner is entry else ("last", name)
        pack(owner, name, LazyJson(span.text, span.start, span.end, place))
