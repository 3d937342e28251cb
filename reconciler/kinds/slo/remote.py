"""SLOs over the wire: endpoints 11 to 14. An SLO can be read by its id only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from reconciler import model
from reconciler.api.retry import Request
from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.errors import OutcomeUnknown, ServiceRefused, UnreadableReply
from reconciler.kinds import kind
from reconciler.kinds.assumed_reads import any_members, created_id, member, text, texts
from reconciler.kinds.shape import without_read_only
from reconciler.kinds.slo import SloSpec
from reconciler.runtime.connection import is_part

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.journal.history import Memory

SLOS = "/v1/slo/slos"
VALIDATE = "/v1/slo/slos/validate"

REQUIRED = ("name", "targetThresholdPercentage")


async def observe(api: Api, manifest: model.Manifest, memory: Memory) -> model.Observation:
    """Read the SLO by its declared id, or by the id that its create returned."""
    remote_id = created_id(manifest, memory)
    if remote_id is None:
        return model.Unknown(None, "an SLO cannot be found by its name")
    reply = await api.read(f"{SLOS}/{quote(str(remote_id), safe='')}")
    if reply is ABSENT:
        return model.Absent(f"the service has no SLO {remote_id}")
    return _seen(remote_id, reply)


def _seen(remote_id: model.RemoteId, reply: Json | Missing) -> model.Seen:
    stored = member(reply, "slo")
    kind.UUID.check(remote_id, value_at(stored, ("id",)))
    if missing := [name for name in REQUIRED if stored.get(name) is None]:
        raise UnreadableReply(f"the answer holds an SLO without `{missing[0]}`")
    own = without_read_only(stored, SloSpec)
    updated, revision = text(stored, "updateTime"), _revision(stored)
    return model.Seen(
        remote_id,
        own,
        version=f"{revision}/{updated}" if revision or updated else "",
        edit=model.LastEdit(at=updated, revision=revision if updated else ""),
        revision=revision,
        told=model.ServerInfo(version=revision, updated=updated),
    )


def _reported(stored: Json | Missing, alerts: Sequence[str] | None = None) -> model.ServerInfo:
    return model.ServerInfo(
        version=_revision(stored),
        updated=text(stored, "updateTime"),
        alerts=None if alerts is None else tuple(alerts),
    )


def _revision(stored: Json | Missing) -> str:
    """Return the number that increases with every edit of an SLO, "" if it is not reported."""
    number = value_at(stored, ("revision", "revision"))
    return str(number) if isinstance(number, int) and not isinstance(number, bool) else ""


def _undocumented(api: Api, sending: kind.Sending) -> str:
    """Return why an SLI cannot be sent to the endpoint if only documented SLIs may be sent.

    Source: docs/assumptions.md, setting `documentedSliOnly`.
    """
    if not api.assumptions.documented_sli_only:
        return ""
    create = sending.change.action is model.Action.CREATE
    wrong = "windowBasedMetricSli" if create else "requestBasedMetricSli"
    if sending.document.get(wrong) is None:
        return ""
    deed = "creating" if create else "replacing"
    return f"{deed} an SLO is not documented for `{wrong}` (setting `documentedSliOnly`)"


async def preflight(api: Api, sending: kind.Sending) -> kind.Foreseen:
    """Ask endpoint 14 what a write would break, and which alerts it names; it only reads."""
    objection = _undocumented(api, sending)
    if objection:
        return kind.Foreseen((objection,))
    if not _is_validated(api, sending):
        return kind.Foreseen()
    try:
        reply = await api.ask(VALIDATE, _with_id(sending))
    except ServiceRefused as refused:
        return kind.Foreseen((str(refused),))
    results = any_members(reply, "alertsValidationResult")
    objections = (
        f"alert {text(result, 'name') or text(result, 'id')}: {text(result, 'errorMessage')}"
        for result in results
        if text(result, "errorMessage")
    )
    named = (text(result, "id") for result in results)
    return kind.Foreseen(tuple(objections), tuple(filter(None, named)))


def _is_validated(api: Api, sending: kind.Sending) -> bool:
    """Return whether the service can be asked about a write.

    The API document describes validation for an existing SLO, before a replace, and only with a
    window-based SLI. Settings `validateSlos`, `documentedSliOnly`.
    """
    assumed = api.assumptions
    if assumed.documented_sli_only and sending.document.get("windowBasedMetricSli") is None:
        return False
    if sending.change.action is model.Action.CREATE:
        return assumed.validate_slos == "all"
    return assumed.validate_slos != "none"


def _with_id(sending: kind.Sending) -> dict[str, Json]:
    remote_id = sending.change.remote_id
    if sending.change.action is model.Action.CREATE or remote_id is None:
        return sending.document
    return {"id": remote_id, **sending.document}


async def write(api: Api, sending: kind.Sending, _: kind.OnIdentified) -> model.Outcome:
    """Create or replace an SLO; a create with a lost answer is in doubt."""
    objection = _undocumented(api, sending)
    if objection:
        # A plan with references does not ask before the references are known.
        return model.Refused(sending.ref, objection)
    if sending.change.action is model.Action.CREATE:
        return await _create(api, sending)
    reply = await api.send("PUT", SLOS, _with_id(sending), request=Request.REPLACE)
    alerts = texts(reply, "effectedSloAlertIds")
    count = "1 alert" if len(alerts) == 1 else f"{len(alerts)} alerts"
    message = f"affects {count}" if alerts else ""
    stored = value_at(reply, ("slo",))
    has_alerts = isinstance(value_at(reply, ("effectedSloAlertIds",)), list)
    revision, server_info = _revision(stored), _reported(stored, alerts if has_alerts else None)
    return model.Written(
        sending.ref, sending.change.remote_id, message, revision=revision, told=server_info
    )


async def _create(api: Api, sending: kind.Sending) -> model.Outcome:
    try:
        reply = await api.send("POST", SLOS, sending.document, request=Request.BLIND)
    except OutcomeUnknown as lost:
        return model.InDoubt(sending.ref, str(lost))
    stored = value_at(reply, ("slo",))
    remote_id = text(stored, "id")
    if not is_part(remote_id):
        problem = f"holds no id that can be one: {remote_id[:80]!r}" if remote_id else "holds no id"
        return model.InDoubt(sending.ref, f"the service's answer to the create {problem}")
    return model.Written(sending.ref, remote_id, revision=_revision(stored), told=_reported(stored))


REMOTE = kind.Remote(observe, kind.each(write), preflight)
