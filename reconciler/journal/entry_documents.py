"""Entries as JSON, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from reconciler.document import ABSENT, Json
from reconciler.errors import JournalError
from reconciler.journal.entries import (
    AboutResource,
    AboutRun,
    Entry,
    Header,
    Identified,
    Kept,
    Override,
    RefusedEntry,
    Rewritten,
    RunEntry,
    Settled,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.resource import Ref, RemoteId

FORMAT = 1

Document: TypeAlias = dict[str, Json]

NAMES: dict[type[Entry], str] = {
    RunEntry: "run",
    Started: "started",
    Identified: "identified",
    WrittenEntry: "written",
    Stored: "stored",
    RefusedEntry: "refused",
    Settled: "settled",
    Kept: "kept",
    Override: "override",
}


def header_document(header: Header) -> Document:
    """Give a header's JSON form."""
    return {
        "journal": FORMAT,
        "environment": header.environment,
        "target": header.target,
        "created": header.created,
        **({"continues": header.continues} if header.continues else {}),
    }


def entry_document(entry: Entry) -> Document:
    """Give an entry's JSON form, the fields of `docs/journal.md`."""
    document: Document = {"entry": NAMES[type(entry)], "at": entry.at}
    if isinstance(entry, Override | RunEntry):
        return {**document, **_about_run(entry)}
    document["ref"] = str(entry.ref)
    if not isinstance(entry, Settled | Kept):
        document["run"] = entry.run
    return {**document, **_particulars(entry)}


def _about_run(entry: AboutRun) -> Document:
    if isinstance(entry, Override):
        return {"reason": entry.reason}
    outcomes: Json = dict(entry.outcomes)
    return {
        "run": entry.run,
        "actor": entry.actor,
        "commit": entry.commit,
        "digest": entry.digest,
        "command": entry.command,
        **({"outcomes": outcomes} if outcomes else {}),
    }


def _particulars(entry: AboutResource) -> Document:
    match entry:
        case Started():
            return {
                "operation": entry.operation,
                "remoteId": entry.remote_id,
                "requestId": entry.request_id,
                "seen": entry.seen,
                "declared": entry.declared,
                **({"protect": True} if entry.protect else {}),
            }
        case WrittenEntry(remote_id=remote_id, message=message):
            return {"remoteId": remote_id, **({"message": message} if message else {})}
        case Stored(rewritten=rewritten):
            return {"rewritten": [_rewritten_document(one) for one in rewritten]}
        case RefusedEntry(message=message):
            return {"message": message}
        case Identified(remote_id=remote_id) | Settled(remote_id=remote_id):
            return {"remoteId": remote_id}
        case Kept():
            return _kept_document(entry)


def _kept_document(entry: Kept) -> Document:
    document: Document = {
        "remoteId": entry.remote_id,
        "exists": entry.exists,
        "attempts": entry.attempts,
        "protect": entry.protected,
    }
    if entry.declared is not None:
        document["last"] = {
            "remoteId": entry.written_as,
            "at": entry.written_at,
            "declared": entry.declared,
            "rewritten": [_rewritten_document(one) for one in entry.rewritten],
        }
    return document


def _rewritten_document(rewritten: Rewritten) -> Document:
    document: Document = {"path": list(rewritten.path)}
    if rewritten.sent is not ABSENT:
        document["sent"] = rewritten.sent
    if rewritten.got is not ABSENT:
        document["got"] = rewritten.got
    return document


def parse_header(document: Document) -> Header:
    """Read the first line. Raises JournalError where it is none."""
    if document.get("journal") != FORMAT:
        raise JournalError("the first line is not the header of a journal of this version")
    names = ("environment", "target", "created", "continues")
    return Header(*(str(document.get(name, "")) for name in names))


def parse_entry(document: Document, number: int) -> Entry:
    """Read any other line. Raises JournalError naming the line."""
    try:
        return _PARSERS[_text(document["entry"])](document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JournalError(f"line {number} of the journal cannot be understood") from error


def _run(document: Document) -> RunEntry:
    outcomes = _object(document.get("outcomes", {}))
    return RunEntry(
        _text(document["run"]),
        _text(document["at"]),
        _text(document["actor"]),
        _text(document["commit"]),
        _text(document["digest"]),
        _text(document["command"]),
        {name: _count(number) for name, number in outcomes.items()},
    )


def _override(document: Document) -> Override:
    return Override(_text(document["at"]), _text(document["reason"]))


def _started(document: Document) -> Started:
    return Started(
        *_run_at_ref(document),
        "create" if document["operation"] == "create" else "replace",
        _object(document["declared"]),
        _text(document["requestId"]),
        _remote_id(document["remoteId"]),
        _text(document["seen"]),
        document.get("protect") is True,
    )


def _identified(document: Document) -> Identified:
    return Identified(*_run_at_ref(document), _known_id(document["remoteId"]))


def _written(document: Document) -> WrittenEntry:
    message = str(document.get("message", ""))
    return WrittenEntry(*_run_at_ref(document), _remote_id(document["remoteId"]), message)


def _stored(document: Document) -> Stored:
    return Stored(*_run_at_ref(document), _pairs(document["rewritten"]))


def _refused(document: Document) -> RefusedEntry:
    return RefusedEntry(*_run_at_ref(document), _text(document["message"]))


def _settled(document: Document) -> Settled:
    return Settled(_text(document["at"]), _ref(document), _remote_id(document["remoteId"]))


def _kept(document: Document) -> Kept:
    kept = Kept(
        _text(document["at"]),
        _ref(document),
        _remote_id(document["remoteId"]),
        document["exists"] is True,
        _count(document["attempts"]),
        document["protect"] is True,
    )
    if "last" not in document:
        return kept
    last = _object(document["last"])
    return replace(
        kept,
        declared=_object(last["declared"]),
        written_as=_remote_id(last["remoteId"]),
        written_at=_text(last["at"]),
        rewritten=_pairs(last["rewritten"]),
    )


_PARSERS: dict[str, Callable[[Document], Entry]] = {
    "run": _run,
    "started": _started,
    "identified": _identified,
    "written": _written,
    "stored": _stored,
    "refused": _refused,
    "settled": _settled,
    "kept": _kept,
    "override": _override,
}


def _run_at_ref(document: Document) -> tuple[str, str, Ref]:
    return _text(document["run"]), _text(document["at"]), _ref(document)


def _ref(document: Document) -> Ref:
    ref = Ref.parse(_text(document["ref"]))
    if ref is None:
        raise ValueError("ref")
    return ref


def _pairs(document: Json) -> tuple[Rewritten, ...]:
    return tuple(map(_rewritten, document if isinstance(document, list) else []))


def _rewritten(document: Json) -> Rewritten:
    if not isinstance(document, dict) or not isinstance(document["path"], list):
        raise TypeError("rewritten")
    path = tuple(step for step in document["path"] if isinstance(step, str | int))
    return Rewritten(path, document.get("sent", ABSENT), document.get("got", ABSENT))


def _object(value: Json) -> Document:
    if not isinstance(value, dict):
        raise TypeError("object")
    return value


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _count(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("count")
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
