"""Alert definitions over the wire: endpoint 1, a bulk replace; and risky changes of alerts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconciler import model
from reconciler.api.retry import Request
from reconciler.document import Json, Missing
from reconciler.errors import ReconcilerError, ServiceRefused
from reconciler.kinds import kind
from reconciler.kinds.alert_definition import (
    NAME,
    ONLY_REPLACES,
    AlertDefinitionSpec,
    no_alert,
)
from reconciler.kinds.assumed_reads import (
    ReadRecord,
    any_members,
    read_record,
    remembered,
    text,
    texts,
)

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.journal.history import Memory

BULK_REPLACE = "/alerts/alerts-general/v3/bulk"


async def observe(api: Api, manifest: model.Manifest, memory: Memory) -> model.Observation:
    """Read the alert if the project file declares how; else return the last acknowledged write."""
    if manifest.remote_id is not None and NAME in api.assumptions.reads.of_kinds:
        return await _read(api, manifest.remote_id)
    return remembered(manifest.remote_id, memory, "alert definitions")


async def _read(api: Api, remote_id: model.RemoteId) -> model.Observation:
    found = await read_record(api, NAME, AlertDefinitionSpec, kind.REQUIRED_UUID, remote_id)
    if not isinstance(found, ReadRecord):
        return model.Absent(no_alert(remote_id))
    updated = text(found.record, "updatedTime")
    # A version alone does not prove a write: a service may keep it over a write.
    version = f"{text(found.record, 'alertVersionId')}/{updated}" if updated else ""
    edit, server_info = model.LastEdit(at=updated), _reported(found.record)
    return model.Seen(remote_id, found.spec, version, edit=edit, told=server_info)


async def write(
    api: Api, sendings: Sequence[kind.Sending], _: kind.OnIdentified
) -> list[kind.WriteResult]:
    """Replace definitions in bulk; repeating it is safe. Return one answer for each.

    If a whole request is refused, each definition in it is refused. After an error that stops the
    run nothing more is sent.
    """
    limit = api.assumptions.bulk_limit
    answers: list[kind.WriteResult] = []
    for start in range(0, len(sendings), limit):
        part = sendings[start : start + limit]
        if any(isinstance(answer, ReconcilerError) for answer in answers):
            answers.extend(model.Skipped(sending.ref, "the run had stopped") for sending in part)
            continue
        try:
            answers.extend(await _replace(api, part))
        except ReconcilerError as error:
            answers.extend([error] * len(part))
    return answers


async def _replace(api: Api, sendings: Sequence[kind.Sending]) -> list[model.Outcome]:
    body: Json = {
        "alertDefsToReplace": [
            {"id": sending.change.remote_id, "alertDefProperties": sending.document}
            for sending in sendings
        ]
    }
    try:
        reply = await api.send("PUT", BULK_REPLACE, body, request=Request.REPLACE)
    except ServiceRefused as refused:
        return [kind.refusal(sending, refused) for sending in sendings]
    stored = any_members(reply, "alertDefs")
    records = {text(document, "id").lower(): document for document in stored}
    accounts = _accounts(reply)
    return [_outcome(sending, accounts, records) for sending in sendings]


def _accounts(reply: Json | Missing) -> dict[str, list[str]]:
    """Return by id, in lower case, the lists that name it, once for each time it is named."""
    failed = any_members(reply, "failedToReplaceAlertDefs")
    lists = {
        "replaced": [text(stored, "id") for stored in any_members(reply, "alertDefs")],
        "failed": [text(failure, "id") for failure in failed],
        "not found": texts(reply, "notFoundIds"),
        "skipped": texts(reply, "skippedIds"),
    }
    accounts: dict[str, list[str]] = defaultdict(list)
    for name, ids in lists.items():
        for remote_id in ids:
            accounts[remote_id.lower()].append(name)
    return accounts


def _reported(record: dict[str, Json]) -> model.ServerInfo:
    return model.ServerInfo(
        version=text(record, "alertVersionId"), updated=text(record, "updatedTime")
    )


def _outcome(
    sending: kind.Sending, accounts: dict[str, list[str]], records: dict[str, dict[str, Json]]
) -> model.Outcome:
    ref, remote_id = sending.ref, sending.change.remote_id
    match accounts.get(str(remote_id).lower(), []):
        case ["replaced"]:
            record = records[str(remote_id).lower()]
            properties = record.get("alertDefProperties")
            stored = properties if isinstance(properties, dict) else None
            return model.Written(ref, remote_id, stored=stored, told=_reported(record))
        case ["skipped"]:
            return model.Unchanged(ref, remote_id, "the service saw no change")
        case ["failed"]:
            return model.Refused(ref, f"the service could not replace alert {remote_id}")
        case ["not found"]:
            return model.Refused(
                ref,
                f"{no_alert(remote_id)}; {ONLY_REPLACES}",
                remedies=kind.to_be_made_by_hand(sending.manifest),
            )
        case []:
            message = f"the service's answer does not mention alert {remote_id}"
            return model.Unconfirmed(ref, message)
        case several:
            named = " and ".join(several)
            message = f"the service says of alert {remote_id}: {named}, all at once"
            return model.Unconfirmed(ref, message)


REMOTE = kind.Remote(observe, write)
