"""Alert definitions over the wire: endpoint 1, a bulk replace, and nothing else.

There is no read and no create: what is known of one is what was last written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconciler.api.rules import Request
from reconciler.document import Json, Missing
from reconciler.errors import ReconcilerError, ServiceRefused
from reconciler.journal.history import Memory
from reconciler.kinds.answers import any_members, text, texts
from reconciler.kinds.gone import to_be_made_by_hand
from reconciler.kinds.kind import Answer, Identified, Sending, refusal
from reconciler.resource import (
    Manifest,
    Observation,
    Outcome,
    Refused,
    Remembered,
    Skipped,
    Unchanged,
    Unconfirmed,
    Unknown,
    Written,
)

if TYPE_CHECKING:
    # Only its type is needed here, and it brings the whole HTTP client.
    from reconciler.api.door import Api


BULK_REPLACE = "/alerts/alerts-general/v3/bulk"


async def observe(_: Api, manifest: Manifest, memory: Memory) -> Observation:
    """Remember the last acknowledged write; the API cannot be asked."""
    last = memory.acknowledged
    if last is not None and manifest.remote_id is not None and last.remote_id == manifest.remote_id:
        return Remembered(manifest.remote_id, last.declared, last.at)
    return Unknown(manifest.remote_id, "the API has no read of alert definitions")


async def write(api: Api, sendings: Sequence[Sending], _: Identified) -> list[Answer]:
    """Replace definitions in bulk; repeating it is safe. One answer for each.

    A refusal of a whole request is one of every definition in it. After what
    stops the run nothing more is sent.
    """
    limit = api.assumptions.bulk_limit
    answers: list[Answer] = []
    for start in range(0, len(sendings), limit):
        part = sendings[start : start + limit]
        if any(isinstance(one, ReconcilerError) for one in answers):
            answers.extend(Skipped(sending.ref, "the run had stopped") for sending in part)
            continue
        try:
            answers.extend(await _replace(api, part))
        except ReconcilerError as error:
            answers.extend([error] * len(part))
    return answers


async def _replace(api: Api, sendings: Sequence[Sending]) -> list[Outcome]:
    body: Json = {
        "alertDefsToReplace": [
            {"id": sending.change.remote_id, "alertDefProperties": sending.document}
            for sending in sendings
        ]
    }
    try:
        reply = await api.send("PUT", BULK_REPLACE, body, request=Request.REPLACE)
    except ServiceRefused as refused:
        return [refusal(sending, refused) for sending in sendings]
    accounts, stored = _accounts(reply), _stored(reply)
    return [_outcome(sending, accounts, stored) for sending in sendings]


_LISTS = ("replaced", "failed", "not found", "skipped")


def _accounts(reply: Json | Missing) -> dict[str, list[str]]:
    """Map each id of the answer, in lower case, to the lists it stands in, once for each time."""
    failed = any_members(reply, "failedToReplaceAlertDefs")
    lists = (
        [text(stored, "id") for stored in any_members(reply, "alertDefs")],
        [text(entry, "id") for entry in failed],
        texts(reply, "notFoundIds"),
        texts(reply, "skippedIds"),
    )
    accounts: dict[str, list[str]] = {}
    for name, ids in zip(_LISTS, lists, strict=True):
        for remote_id in ids:
            accounts.setdefault(remote_id.lower(), []).append(name)
    return accounts


def _stored(reply: Json | Missing) -> dict[str, dict[str, Json]]:
    """Map each id that was replaced, in lower case, to the properties it has now."""
    return {
        text(one, "id").lower(): properties
        for one in any_members(reply, "alertDefs")
        if isinstance(properties := one.get("alertDefProperties"), dict)
    }


def _outcome(
    sending: Sending, accounts: dict[str, list[str]], stored: dict[str, dict[str, Json]]
) -> Outcome:
    ref, remote_id = sending.ref, sending.change.remote_id
    match accounts.get(str(remote_id).lower(), []):
        case ["replaced"]:
            return Written(ref, remote_id, stored=stored.get(str(remote_id).lower()))
        case ["skipped"]:
            return Unchanged(ref, remote_id, "the service saw no change")
        case ["failed"]:
            return Refused(ref, f"the service could not replace alert {remote_id}")
        case ["not found"]:
            return Refused(
                ref,
                f"the service has no alert {remote_id}; bulk replace cannot create it: "
                "check metadata.id",
                ways_out=to_be_made_by_hand(sending.change.manifest),
            )
        case []:
            said = f"the service's answer does not mention alert {remote_id}"
            return Unconfirmed(ref, said)
        case several:
            named = " and ".join(several)
            said = f"the service says of alert {remote_id}: {named}, all at once"
            return Unconfirmed(ref, said)
