"""The lines of a journal and their JSON form.

Each line carries `sum`, a digest of the line and of the sum before it, so that
an edit or a lost line in the middle shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from reconciler.document import ABSENT, Json, Missing, Path
from reconciler.errors import JournalError
from reconciler.resource import Ref, RemoteId

FORMAT = 1
SUM_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: what the journal is of."""

    environment: str
    target: str
    created: str


@dataclass(frozen=True, slots=True)
class Started:
    """About to be sent. `declared` is what the next merge starts from, secrets sealed.

    `seen` is the digest of the observation that the write rests on.
    """

    run: str
    at: str
    ref: Ref
    operation: Literal["create", "replace"]
    declared: dict[str, Json]
    request_id: str
    remote_id: RemoteId | None
    seen: str


@dataclass(frozen=True, slots=True)
class Identified:
    """The service has told the id, and the write is not finished yet."""

    run: str
    at: str
    ref: Ref
    remote_id: RemoteId


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A field that the service stored otherwise than it was sent (R15)."""

    path: Path
    sent: Json | Missing
    got: Json | Missing


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """The service acknowledged the write."""

    run: str
    at: str
    ref: Ref
    remote_id: RemoteId | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a read after the write showed: the fields that are not as they were sent."""

    run: str
    at: str
    ref: Ref
    rewritten: tuple[Rewritten, ...]


@dataclass(frozen=True, slots=True)
class RefusedEntry:
    """The service said no, so nothing changed."""

    run: str
    at: str
    ref: Ref
    message: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A person said what became of a create; `remote_id` is None where it never happened."""

    at: str
    ref: Ref
    remote_id: RemoteId | None


@dataclass(frozen=True, slots=True)
class Override:
    """A person applied more than a guard allows, and why."""

    at: str
    reason: str


AboutResource: TypeAlias = Started | Identified | WrittenEntry | Stored | RefusedEntry | Settled
Entry: TypeAlias = AboutResource | Override

_NAMES: dict[type[Entry], str] = {
    Started: "started",
    Identified: "identified",
    WrittenEntry: "written",
    Stored: "stored",
    RefusedEntry: "refused",
    Settled: "settled",
    Override: "override",
}


def header_document(header: Header) -> dict[str, Json]:
    """Give a header's JSON form."""
    return {
        "journal": FORMAT,
        "environment": header.environment,
        "target": header.target,
        "created": header.created,
    }


def entry_document(entry: Entry) -> dict[str, Json]:
    """Give an entry's JSON form, the fields of `docs/journal.md`."""
    document: dict[str, Json] = {"entry": _NAMES[type(entry)], "at": entry.at}
    if isinstance(entry, Override):
        return {**document, "reason": entry.reason}
    document["ref"] = str(entry.ref)
    if not isinstance(entry, Settled):
        document["run"] = entry.run
    return {**document, **_particulars(entry)}


def _particulars(entry: AboutResource) -> dict[str, Json]:
    match entry:
        case Started():
            return {
                "operation": entry.operation,
                "remoteId": entry.remote_id,
                "requestId": entry.request_id,
                "seen": entry.seen,
                "declared": entry.declared,
            }
        case WrittenEntry(remote_id=remote_id, message=message):
            return {"remoteId": remote_id, **({"message": message} if message else {})}
        case Stored(rewritten=rewritten):
            return {"rewritten": [_rewritten_document(one) for one in rewritten]}
        case RefusedEntry(message=message):
            return {"message": message}
        case Identified(remote_id=remote_id) | Settled(remote_id=remote_id):
            return {"remoteId": remote_id}


def _rewritten_document(rewritten: Rewritten) -> dict[str, Json]:
    document: dict[str, Json] = {"path": list(rewritten.path)}
    if rewritten.sent is not ABSENT:
        document["sent"] = rewritten.sent
    if rewritten.got is not ABSENT:
        document["got"] = rewritten.got
    return document


def line_of(document: dict[str, Json], previous_sum: str) -> tuple[str, str]:
    """Give a document's line and its sum, which the next line builds on."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if not _is_encodable(text):
        text = json.dumps(document, separators=(",", ":"))
    total = hashlib.sha256(f"{previous_sum}\n{text}".encode()).hexdigest()[:SUM_DIGITS]
    return f'{text[:-1]},"sum":"{total}"}}\n', total


def _is_encodable(text: str) -> bool:
    """Tell whether a text holds no half characters, which only an escape can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_line(line: str, previous_sum: str, number: int) -> tuple[dict[str, Json], str]:
    """Read a line and check its sum. Raises JournalError naming the line."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise JournalError(f"line {number} of the journal is not JSON")
    said = document.pop("sum", None)
    _, total = line_of(document, previous_sum)
    if said != total:
        raise JournalError(
            f"line {number} of the journal was changed, or a line before it is missing"
        )
    return document, total


def parse_header(document: dict[str, Json]) -> Header:
    """Read the first line. Raises JournalError where it is none."""
    if document.get("journal") != FORMAT:
        raise JournalError("the first line is not the header of a journal of this version")
    return Header(*(str(document.get(name, "")) for name in ("environment", "target", "created")))


def parse_entry(document: dict[str, Json], number: int) -> Entry:
    """Read any other line. Raises JournalError naming the line."""
    try:
        return _parsed(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JournalError(f"line {number} of the journal cannot be understood") from error


def _parsed(document: dict[str, Json]) -> Entry:
    at = _text(document["at"])
    if document["entry"] == "override":
        return Override(at, _text(document["reason"]))
    ref = Ref.parse(_text(document["ref"]))
    if ref is None:
        raise ValueError("ref")
    if document["entry"] == "settled":
        return Settled(at, ref, _remote_id(document["remoteId"]))
    return _PARSERS[_text(document["entry"])](document, ref, at, _text(document["run"]))


def _started(document: dict[str, Json], ref: Ref, at: str, run: str) -> Started:
    declared = document["declared"]
    if not isinstance(declared, dict):
        raise TypeError("declared")
    return Started(
        run,
        at,
        ref,
        "create" if document["operation"] == "create" else "replace",
        declared,
        _text(document["requestId"]),
        _remote_id(document["remoteId"]),
        _text(document["seen"]),
    )


def _identified(document: dict[str, Json], ref: Ref, at: str, run: str) -> Identified:
    return Identified(run, at, ref, _known_id(document["remoteId"]))


def _written(document: dict[str, Json], ref: Ref, at: str, run: str) -> WrittenEntry:
    message = str(document.get("message", ""))
    return WrittenEntry(run, at, ref, _remote_id(document["remoteId"]), message)


def _stored(document: dict[str, Json], ref: Ref, at: str, run: str) -> Stored:
    rewritten = document["rewritten"]
    pairs = map(_rewritten, rewritten if isinstance(rewritten, list) else [])
    return Stored(run, at, ref, tuple(pairs))


def _refused(document: dict[str, Json], ref: Ref, at: str, run: str) -> RefusedEntry:
    return RefusedEntry(run, at, ref, _text(document["message"]))


_PARSERS: dict[str, Callable[[dict[str, Json], Ref, str, str], Entry]] = {
    "started": _started,
    "identified": _identified,
    "written": _written,
    "stored": _stored,
    "refused": _refused,
}


def _rewritten(document: Json) -> Rewritten:
    if not isinstance(document, dict) or not isinstance(document["path"], list):
        raise TypeError("rewritten")
    path = tuple(step for step in document["path"] if isinstance(step, str | int))
    return Rewritten(path, document.get("sent", ABSENT), document.get("got", ABSENT))


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _known_id(value: Json) -> RemoteId:
    known = _remote_id(value)
    if known is None:
        raise ValueError("remoteId")
    return known


def _remote_id(value: Json) -> RemoteId | None:
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return value
    raise TypeError("remoteId")
