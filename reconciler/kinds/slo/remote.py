"""SLOs over the wire: endpoints 11 to 14. An SLO can be read by its id only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from reconciler.api.rules import Request
from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.errors import OutcomeUnknown, ServiceRefused
from reconciler.journal.history import Memory
from reconciler.kinds.answers import member, members, text, texts, without
from reconciler.kinds.kind import Answer, Identified, Sending, refusal, side_by_side
from reconciler.resource import (
    Absent,
    Action,
    InDoubt,
    Manifest,
    Observation,
    Outcome,
    Refused,
    RemoteId,
    Seen,
    Unknown,
    Written,
)

if TYPE_CHECKING:
    # Only its type is needed here, and it brings the whole HTTP client.
    from reconciler.api.door import Api


SLOS = "/v1/slo/slos"
VALIDATE = "/v1/slo/slos/validate"
READ_ONLY = frozenset(("id", "creator", "createTime", "updateTime", "revision", "type"))


async def observe(api: Api, manifest: Manifest, memory: Memory) -> Observation:
    """Read the SLO by its declared id, or by the one that its create returned.

    While a create is in doubt, an id from before it says nothing about its outcome.
    """
    remote_id = manifest.remote_id
    if remote_id is None and memory.unsettled_create is None:
        remote_id = memory.remote_id
    if remote_id is None:
        return Unknown(None, "an SLO cannot be found by its name")
    reply = await api.read(f"{SLOS}/{quote(str(remote_id), safe='')}")
    if reply is ABSENT:
        return Absent(f"the service has no SLO {remote_id}")
    return _seen(remote_id, reply)


def _seen(remote_id: RemoteId, reply: Json | Missing) -> Seen:
    stored = member(reply, "slo")
    updated, revision = text(stored, "updateTime"), _revision(stored)
    numbered = f" (revision {revision})" if revision else ""
    return Seen(
        remote_id,
        without(stored, READ_ONLY),
        version=f"{revision}/{updated}",
        attribution=f"at {updated}{numbered}" if updated else "",
        revision=revision,
    )


def _revision(stored: Json | Missing) -> str:
    """Give the number that every edit of an SLO counts up, "" where it is not told."""
    number = value_at(stored, ("revision", "revision"))
    return str(number) if isinstance(number, int) and not isinstance(number, bool) else ""


def cannot_create(manifest: Manifest) -> str:
    """Say why an SLO with a declared id that is not there is not created."""
    if manifest.remote_id is None:
        return ""
    return (
        f"the service has no SLO {manifest.remote_id} and gives out ids itself: "
        "correct metadata.id, or remove it to create the SLO"
    )


def _undocumented(api: Api, sending: Sending) -> str:
    """Say why an SLI is not for the endpoint, where only what is documented may be sent.

    Source: api-facts.md, part 5; setting `documentedSliOnly`.
    """
    if not api.assumptions.documented_sli_only:
        return ""
    create = sending.change.action is Action.CREATE
    wrong = "windowBasedMetricSli" if create else "requestBasedMetricSli"
    if sending.document.get(wrong) is None:
        return ""
    deed = "creating" if create else "replacing"
    return f"{deed} an SLO is not documented for `{wrong}` (setting `documentedSliOnly`)"


async def preflight(api: Api, sending: Sending) -> Sequence[str]:
    """Ask endpoint 14 what a write would break; it only reads."""
    objection = _undocumented(api, sending)
    if objection:
        return [objection]
    body = _with_id(sending)
    if api.assumptions.documented_sli_only and body.get("windowBasedMetricSli") is None:
        # Validation is documented for window-based SLIs, before an SLO is replaced.
        return ()
    try:
        reply = await api.ask(VALIDATE, body)
    except ServiceRefused as refused:
        return [str(refused)]
    return [
        f"alert {text(item, 'name') or text(item, 'id')}: {text(item, 'errorMessage')}"
        for item in members(reply, "alertsValidationResult")
        if text(item, "errorMessage")
    ]


def _with_id(sending: Sending) -> dict[str, Json]:
    remote_id = sending.change.remote_id
    if sending.change.action is Action.CREATE or remote_id is None:
        return sending.document
    return {"id": remote_id, **sending.document}


async def write(api: Api, sendings: Sequence[Sending], _: Identified) -> list[Answer]:
    """Create (one at a time) or replace; a create whose answer is lost is in doubt."""
    return await side_by_side(sendings, lambda sending: _write(api, sending))


async def _write(api: Api, sending: Sending) -> Outcome:
    objection = _undocumented(api, sending)
    if objection:
        # A plan with references asks nothing before they are known.
        return Refused(sending.ref, objection)
    try:
        if sending.change.action is Action.CREATE:
            return await _create(api, sending)
        reply = await api.send("PUT", SLOS, _with_id(sending), request=Request.REPLACE)
    except ServiceRefused as refused:
        return refusal(sending, refused)
    alerts = texts(reply, "effectedSloAlertIds")
    told = f"affects {len(alerts)} alerts: {', '.join(alerts)}" if alerts else ""
    revision = _revision(value_at(reply, ("slo",)))
    return Written(sending.ref, sending.change.remote_id, told, revision=revision)


async def _create(api: Api, sending: Sending) -> Outcome:
    try:
        reply = await api.send("POST", SLOS, sending.document, request=Request.BLIND)
    except OutcomeUnknown as lost:
        return InDoubt(sending.ref, str(lost))
    stored = reply.get("slo") if isinstance(reply, dict) else None
    remote_id = text(stored, "id") if isinstance(stored, dict) else ""
    if not remote_id:
        return InDoubt(sending.ref, "the service's answer to the create holds no id")
    return Written(sending.ref, remote_id, revision=_revision(stored))
