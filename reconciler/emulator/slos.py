"""Service-level objectives: endpoints 11 to 14.

Where the API document is silent: either SLI is taken on POST, PUT and
validate; an `id` in a POST is ignored.
Any SLO may be validated, there or not. A PUT never looks at the alerts; that is
what validate is for.
"""

import json
from uuid import uuid4

from pydantic.alias_generators import to_camel

from reconciler.emulator.alert_definitions import watching
from reconciler.emulator.endpoint import Call, Endpoint, NoBody, Resource
from reconciler.emulator.errors import ConflictError, InvalidRequestError, MissingObjectError
from reconciler.emulator.models.slo import (
    Revision,
    SloDefinition,
    SloReplaceReply,
    SloReply,
    SloValidateReply,
)
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.names import refuse_taken_name
from reconciler.emulator.reading import whole
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.slo_validation import alerts_broken_by
from reconciler.emulator.store import Store

_TABLE = "slos (id TEXT PRIMARY KEY, record TEXT NOT NULL)"
_PATH = "/v1/slo/slos"


def _create(call: Call, request: SloDefinition) -> SloReply:
    _check_sli(call, request, "request_based_metric_sli")
    sent = _sent_id(call, request)
    if sent is not None and _stored(call.store, sent) is not None:
        raise ConflictError(f"Already Exists: slo {sent}")
    return SloReply(slo=_add(call, request, sent or str(uuid4())))


def _sent_id(call: Call, request: SloDefinition) -> str | None:
    """Give the id of a POST where the profile takes one."""
    if call.profile.client_slo_ids or request.id is None:
        return request.id
    if call.profile.read_only_fields == "refused":
        raise InvalidRequestError("id: set by the service only")
    return None


def _add(call: Call, request: SloDefinition, slo_id: str) -> SloDefinition:
    own = {"id": slo_id, "creator": call.author.name, "create_time": call.now}
    return _keep(call, request.model_copy(update=own), revision=1)


def _replace(call: Call, request: SloDefinition) -> SloReplaceReply:
    call.flag("silence_data_validations")
    _check_sli(call, request, "window_based_metric_sli")
    if request.id is None:
        raise InvalidRequestError("id: required")
    before = _stored(call.store, request.id)
    if before is None and call.profile.put_unknown == "created":
        return SloReplaceReply(slo=_add(call, request, request.id))
    if before is None:
        raise MissingObjectError("slo", request.id)
    own = {"creator": before["creator"], "create_time": before["createTime"]}
    revision = before["revision"]["revision"] + 1
    slo = _keep(call, request.model_copy(update=own), revision=revision)
    affected = [alert["id"] for alert in watching(call.store, request.id)]
    return SloReplaceReply(slo=slo, effected_slo_alert_ids=affected)


def _read(call: Call, _: NoBody) -> Rendered:
    slo_id = call.path["id"]
    record = _stored(call.store, slo_id.lower())
    if record is None:
        raise MissingObjectError("slo", slo_id)
    return as_text({"slo": record})


def _check_sli(call: Call, request: SloDefinition, documented: str) -> None:
    if call.profile.slis == "documented" and getattr(request, documented) is None:
        raise InvalidRequestError(f"{to_camel(documented)}: required")


def _validate(call: Call, request: SloDefinition) -> SloValidateReply:
    _check_sli(call, request, "window_based_metric_sli")
    stored = _stored(call.store, request.id) if request.id else None
    if call.profile.validation != "any":
        _check_can_be_validated(call, request, stored)
    if request.id is None:
        return SloValidateReply()
    before = whole(SloDefinition, stored) if stored else {"grouping": {"labels": []}}
    broken = alerts_broken_by(request, before, watching(call.store, request.id))
    return SloValidateReply(alerts_validation_result=list(broken))


def _check_can_be_validated(call: Call, request: SloDefinition, stored: JsonObject | None) -> None:
    """Refuse what is not there and, where only that is documented, what is not window-based."""
    if request.id is None:
        raise InvalidRequestError("id: required")
    if stored is None:
        raise MissingObjectError("slo", request.id)
    if call.profile.validation == "documented" and request.window_based_metric_sli is None:
        raise InvalidRequestError("windowBasedMetricSli: required")


def _keep(call: Call, slo: SloDefinition, *, revision: int) -> SloDefinition:
    query = "SELECT 1 FROM slos WHERE json_extract(record, '$.name') = ? AND id <> ?"
    refuse_taken_name(call, "slo", slo.name, query, slo.id)
    request_based = slo.request_based_metric_sli is not None
    named = "SLO_TYPE_REQUEST" if request_based else "SLO_TYPE_WINDOW"
    kept = slo.model_copy(
        update={
            "type": named if call.profile.slo_types == "told" else None,
            "update_time": call.now,
            "revision": Revision(revision=revision, update_time=call.now),
        }
    )
    if call.profile.slo_time_frames == "defaulted" and "slo_time_frame" not in slo.model_fields_set:
        kept.slo_time_frame = "SLO_TIME_FRAME_28_DAYS"
    call.store.write("INSERT OR REPLACE INTO slos VALUES (?, ?)", kept.id, as_text(kept))
    return kept


def _stored(store: Store, slo_id: str) -> JsonObject | None:
    row = store.row("SELECT record FROM slos WHERE id = ?", slo_id)
    return json.loads(row[0]) if row else None


SLOS = Resource(
    tables=(_TABLE,),
    endpoints=(
        Endpoint(11, "POST", _PATH, SloDefinition, SloReply, _create, creates=True),
        Endpoint(
            12,
            "PUT",
            _PATH,
            SloDefinition,
            SloReplaceReply,
            _replace,
            flags=("silence_data_validations",),
        ),
        Endpoint(13, "GET", _PATH + "/{id}", NoBody, SloReply, _read),
        Endpoint(
            14,
            "POST",
            _PATH + "/validate",
            SloDefinition,
            SloValidateReply,
            _validate,
            only_reads=True,
        ),
    ),
)
