"""Saved views over the wire: endpoints 20 and 21. The API document has no read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler import model
from reconciler.api.retry import Request
from reconciler.document import Json
from reconciler.errors import OutcomeUnknown, UnreadableReply
from reconciler.kinds.assumed_reads import ReadRecord, created_id, read_record, remembered, without
from reconciler.kinds.kind import INT32, OnIdentified, Remote, Sending, each
from reconciler.kinds.saved_view import NAME, SavedViewSpec

if TYPE_CHECKING:
    # Only its type is needed here: importing it loads the whole HTTP client.
    from reconciler.api.client import Api
    from reconciler.journal.history import Memory


SAVED_VIEWS = "/data-exploration/saved-views/v1"
READ_ONLY = frozenset(("id",))
NOT_ON_CREATE = frozenset(("isCompactMode",))


async def observe(api: Api, manifest: model.Manifest, memory: Memory) -> model.Observation:
    """Read the view if the project file declares how; else return the last acknowledged write."""
    if NAME not in api.assumptions.reads.of_kinds:
        known = manifest.remote_id if manifest.remote_id is not None else memory.remote_id
        return remembered(known, memory, "saved views")
    remote_id = created_id(manifest, memory)
    if remote_id is None:
        return model.Unknown(None, "a saved view cannot be found by its name")
    found = await read_record(api, NAME, SavedViewSpec, INT32, remote_id)
    if isinstance(found, ReadRecord):
        return model.Seen(remote_id, found.spec)
    return model.Absent(f"the service has no saved view {remote_id}")


async def write(api: Api, sending: Sending, identified: OnIdentified) -> model.Outcome:
    """Create or replace a view; a create with a lost answer is in doubt."""
    remote_id = sending.change.remote_id
    if remote_id is not None:
        return await _replace(api, sending, remote_id)
    body: Json = without(sending.document, NOT_ON_CREATE)
    try:
        reply = await api.send("POST", SAVED_VIEWS, body, request=Request.BLIND)
    except OutcomeUnknown as lost:
        return model.InDoubt(sending.ref, str(lost))
    remote_id = INT32.parse(reply.get("id")) if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or remote_id is None:
        return model.InDoubt(sending.ref, "the service's answer to the create holds no id")
    if NOT_ON_CREATE.isdisjoint(sending.document):
        return model.Written(sending.ref, remote_id, stored=without(reply, READ_ONLY))
    identified(sending.ref, remote_id)
    return await _replace(api, sending, remote_id)


async def _replace(api: Api, sending: Sending, remote_id: model.RemoteId) -> model.Outcome:
    body: Json = sending.document
    path = f"{SAVED_VIEWS}/{remote_id}"
    reply = await api.send("PUT", path, body, request=Request.REPLACE)
    if not isinstance(reply, dict) or INT32.parse(reply.get("id")) is None:
        # If views cannot be read, only this answer shows the result of the write.
        raise UnreadableReply(f"the answer to PUT {path} holds no saved view with an id")
    INT32.check(remote_id, reply.get("id"))
    return model.Written(sending.ref, remote_id, stored=without(reply, READ_ONLY))


REMOTE = Remote(observe, each(write))
