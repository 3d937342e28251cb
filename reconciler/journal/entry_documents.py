"""Entries as JSON, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from reconciler.addresses import is_part
from reconciler.document import ABSENT, Json
from reconciler.errors import JournalError
from reconciler.journal.entries import (
    AboutPlace,
    AboutRun,
    AboutWrites,
    Arrived,
    Entry,
    Forgotten,
    Header,
    Identified,
    Imported,
    Kept,
    Moved,
    Override,
    RefusedEntry,
    Renamed,
    Rewritten,
    RunEntry,
    Settled,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.resource import Ref, RemoteId

FORMAT = 1
_SHOWN = 80

Document: TypeAlias = dict[str, Json]

NAMES: dict[type[Entry], str] = {
    RunEntry: "run",
    Started: "started",
    Identified: "identified",
    WrittenEntry: "written",
    Stored: "stored",
    Imported: "imported",
    RefusedEntry: "refused",
    Settled: "settled",
    Kept: "kept",
    Renamed: "renamed",
    Forgotten: "forgotten",
    Override: "override",
    Moved: "moved",
    Arrived: "arrived",
}


def header_document(header: Header) -> Document:
    """Give a header's JSON form."""
    return {
        "journal": FORMAT,
        "environment": header.environment,
        "target": header.target,
        "created": header.created,
        **({"continues": header.continues} if header.continues else {}),
        **({"sealedFor": header.sealed_for} if header.sealed_for else {}),
    }


def entry_document(entry: Entry) -> Document:
    """Give an entry's JSON form, the fields of `docs/journal.md`."""
    document: Document = {"entry": NAMES[type(entry)], "at": entry.at}
    match entry:
        case Override() | RunEntry():
            return {**document, **_about_run(entry)}
        case Moved() | Arrived():
            return {**document, "run": entry.run, **_about_place(entry)}
        case Renamed(ref=ref, was=was, run=run):
            return {**document, "ref": str(ref), "was": str(was), **({"run": run} if run else {})}
        case Forgotten(ref=ref):
            return {**document, "ref": str(ref)}
        case Settled() | Kept():
            return {**document, "ref": str(entry.ref), **_particulars(entry)}
        case _:
            return {**document, "ref": str(entry.ref), "run": entry.run, **_particulars(entry)}


def _about_place(entry: AboutPlace) -> Document:
    return {"to": entry.to} if isinstance(entry, Moved) else {"from": entry.origin}


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


def _particulars(entry: AboutWrites) -> Document:
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
            return {
                "remoteId": remote_id,
                **({"message": message} if message else {}),
                **({"adopted": True} if entry.adopted else {}),
                **({"revision": entry.revision} if entry.revision else {}),
                **({"insteadOf": entry.instead_of} if entry.instead_of is not None else {}),
            }
        case Stored(rewritten=rewritten):
            return {"rewritten": [_rewritten_document(one) for one in rewritten]}
        case Imported():
            return {
                "remoteId": entry.remote_id,
                "declared": entry.declared,
                "origin": entry.origin,
                **({"revision": entry.revision} if entry.revision else {}),
                **({"adopted": True} if entry.adopted else {}),
            }
        case RefusedEntry(message=message):
            return {"message": message}
        case Identified() | Settled():
            return _id_document(entry)
        case Kept():
            return _kept_document(entry)


def _id_document(entry: Identified | Settled) -> Document:
    instead_of = entry.instead_of if isinstance(entry, Identified) else None
    instead: Document = {} if instead_of is None else {"insteadOf": instead_of}
    return {"remoteId": entry.remote_id, **instead}


def _kept_document(entry: Kept) -> Document:
    document: Document = {
        "remoteId": entry.remote_id,
        "exists": entry.exists,
        "attempts": entry.attempts,
        "protect": entry.protected,
        **({"insteadOf": entry.instead_of} if entry.instead_of is not None else {}),
    }
    if entry.declared is not None:
        document["last"] = {
            "remoteId": entry.written_as,
            "at": entry.written_at,
            "declared": entry.declared,
            "rewritten": [_rewritten_document(one) for one in entry.rewritten],
            **({"revision": entry.revision} if entry.revision else {}),
            **({"origin": entry.origin} if entry.origin else {}),
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
    names = ("environment", "target", "created", "continues", "sealedFor")
    return Header(*(str(document.get(name, "")) for name in names))


def parse_entry(document: Document, number: int) -> Entry:
    """Read any other line. Raises JournalError naming the line."""
    try:
        return _PARSERS[_text(document["entry"])](document)
    except JournalError as error:
        raise JournalError(f"line {number} of the journal cannot be understood: {error}") from error
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
    known = _known_id(document["remoteId"])
    return Identified(*_run_at_ref(document), known, _remote_id(document.get("insteadOf")))


def _written(document: Document) -> WrittenEntry:
    message = str(document.get("message", ""))
    # Until `adopted` was a field of its own, it was told by these words alone.
    adopted = document.get("adopted") is True or message == _ADOPTED_BEFORE
    return WrittenEntry(
        *_run_at_ref(document),
        _remote_id(document["remoteId"]),
        "" if adopted else message,
        adopted,
        str(document.get("revision", "")),
        _remote_id(document.get("insteadOf")),
    )


_ADOPTED_BEFORE = "live was already as declared"


def _stored(document: Document) -> Stored:
    return Stored(*_run_at_ref(document), _pairs(document["rewritten"]))


def _imported(document: Document) -> Imported:
    return Imported(
        *_run_at_ref(document),
        _remote_id(document["remoteId"]),
        _object(document["declared"]),
        "live" if document["origin"] == "live" else "export",
        str(document.get("revision", "")),
        document.get("adopted") is True,
    )


def _refused(document: Document) -> RefusedEntry:
    return RefusedEntry(*_run_at_ref(document), _text(document["message"]))


def _settled(document: Document) -> Settled:
    return Settled(_text(document["at"]), _ref(document), _remote_id(document["remoteId"]))


def _renamed(document: Document) -> Renamed:
    was = _ref_in(document, "was")
    return Renamed(_text(document["at"]), _ref(document), was, _text(document.get("run", "")))


def _forgotten(document: Document) -> Forgotten:
    return Forgotten(_text(document["at"]), _ref(document))


def _moved(document: Document) -> Moved:
    return Moved(_text(document["at"]), _text(document["run"]), _text(document["to"]))


def _arrived(document: Document) -> Arrived:
    return Arrived(_text(document["at"]), _text(document["run"]), _text(document["from"]))


def _kept(document: Document) -> Kept:
    kept = Kept(
        _text(document["at"]),
        _ref(document),
        _remote_id(document["remoteId"]),
        document["exists"] is True,
        _count(document["attempts"]),
        document["protect"] is True,
        instead_of=_remote_id(document.get("insteadOf")),
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
        revision=str(last.get("revision", "")),
        origin=str(last.get("origin", "")),
    )


_PARSERS: dict[str, Callable[[Document], Entry]] = {
    "run": _run,
    "started": _started,
    "identified": _identified,
    "written": _written,
    "stored": _stored,
    "imported": _imported,
    "refused": _refused,
    "settled": _settled,
    "kept": _kept,
    "renamed": _renamed,
    "forgotten": _forgotten,
    "override": _override,
    "moved": _moved,
    "arrived": _arrived,
}


def _run_at_ref(document: Document) -> tuple[str, str, Ref]:
    return _text(document["run"]), _text(document["at"]), _ref(document)


def _ref(document: Document) -> Ref:
    return _ref_in(document, "ref")


def _ref_in(document: Document, name: str) -> Ref:
    ref = Ref.parse(_text(document[name]))
    if ref is None:
        raise ValueError(name)
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
    if isinstance(value, str) and not is_part(value):
        raise JournalError(f"{value[:_SHOWN]!r} cannot be an id")
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return value
    raise TypeError("remoteId")
