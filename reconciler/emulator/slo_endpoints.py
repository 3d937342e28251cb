"""Service-level objectives: endpoints 11 to 14, and their models.

Where the API document is silent: either SLI is accepted on POST, PUT and validate; an `id` in a
POST is ignored. Any SLO may be validated, stored or not. A PUT never looks at the alerts; that is
what validate is for.

The shapes inside both SLIs and of `labels` come from docs/assumptions.md; the API document names
them only. For the answer of validate, the document gives only the shape. Its two rules are ours,
chosen because a service could hardly do without them.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar, Literal
from uuid import uuid4

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from reconciler.emulator import wire
from reconciler.emulator.alert_definition_endpoints import watching
from reconciler.emulator.endpoint import Call, NoBody, Records, Resource

SloTimeFrame = Literal[
    "SLO_TIME_FRAME_UNSPECIFIED",
    "SLO_TIME_FRAME_7_DAYS",
    "SLO_TIME_FRAME_14_DAYS",
    "SLO_TIME_FRAME_21_DAYS",
    "SLO_TIME_FRAME_28_DAYS",
]
ComparisonOperator = Annotated[
    str,
    wire.OpenEnum(
        "COMPARISON_OPERATOR_",
        "UNSPECIFIED",
        "GREATER_THAN",
        "GREATER_THAN_OR_EQUALS",
        "LESS_THAN",
        "LESS_THAN_OR_EQUALS",
    ),
]


class MetricQuery(wire.WireObject):
    """A query over metrics."""

    query: Annotated[str, Field(min_length=1)]


class RequestBasedMetricSli(wire.WireObject):
    """Good events over all events."""

    good_events: MetricQuery
    total_events: MetricQuery


class WindowBasedMetricSli(wire.WireObject):
    """The share of windows in which a query keeps to a threshold."""

    query: MetricQuery
    window: Annotated[
        str, wire.OpenEnum("WINDOW_SLO_WINDOW_", "UNSPECIFIED", "1_MINUTE", "5_MINUTES")
    ] = "WINDOW_SLO_WINDOW_UNSPECIFIED"
    comparison_operator: ComparisonOperator = "COMPARISON_OPERATOR_UNSPECIFIED"
    threshold: float = 0.0
    missing_data_strategy: Annotated[
        str, wire.OpenEnum("MISSING_DATA_STRATEGY_", "UNSPECIFIED", "UNCOUNTED", "GOOD", "BAD")
    ] = "MISSING_DATA_STRATEGY_UNSPECIFIED"


class Grouping(wire.WireObject):
    """Labels that split one SLO into many."""

    labels: list[str] = Field(default_factory=list)


class Revision(wire.WireObject):
    """Which version of an SLO this is, counted from 1."""

    revision: wire.Int32 = 0
    update_time: wire.Timestamp | None = None


class SloDefinition(wire.WireObject):
    """Request of endpoints 11, 12 and 14; the read-only fields are ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["requestBasedMetricSli"]},
                {"required": ["windowBasedMetricSli"]},
            ]
        }
    )

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"name", "targetThresholdPercentage"})
    metadata: ClassVar[frozenset[str]] = frozenset(
        {"creator", "createTime", "updateTime", "revision"}
    )
    read_only: ClassVar[frozenset[str]] = metadata | {"type"}

    id: wire.Uuid | None = None
    name: Annotated[str, Field(min_length=1)]
    description: str = ""
    target_threshold_percentage: Annotated[float, Field(ge=0, le=100)]
    slo_time_frame: SloTimeFrame = "SLO_TIME_FRAME_UNSPECIFIED"
    labels: wire.Labels = Field(default_factory=dict)
    grouping: Grouping = Grouping()
    request_based_metric_sli: RequestBasedMetricSli | None = None
    window_based_metric_sli: WindowBasedMetricSli | None = None
    creator: str | None = None
    type: str | None = None
    create_time: wire.Timestamp | None = None
    update_time: wire.Timestamp | None = None
    revision: Revision | None = None

    _one_sli = wire.choice("request_based_metric_sli", "window_based_metric_sli", is_required=True)


class SloReply(wire.WireObject):
    """Reply of endpoints 11 and 13."""

    slo: SloDefinition


class SloReplaceReply(wire.WireObject):
    """Reply of endpoint 12, with the alerts that watch the SLO."""

    slo: SloDefinition
    effected_slo_alert_ids: list[str] = Field(default_factory=list)


class AlertValidation(wire.WireObject):
    """Why an alert would break."""

    id: str
    name: str
    alert_version_id: str
    error_message: str


class SloValidateReply(wire.WireObject):
    """Reply of endpoint 14; alerts without a problem are left out."""

    alerts_validation_result: list[AlertValidation] = Field(default_factory=list)


_NO_BUDGET = 100  # percent: nothing may fail, so there is no budget to watch


def _alerts_broken_by(
    after: SloDefinition, before: wire.JsonObject, alerts: Iterable[wire.JsonObject]
) -> Iterator[AlertValidation]:
    """Yield each stored alert that could not work with the new definition.

    `before` is the stored SLO, as rendered.
    """
    lost = set(before["grouping"]["labels"]) - set(after.grouping.labels)
    for alert in alerts:
        properties = alert["alertDefProperties"]
        if missed := [label for label in properties["groupByKeys"] if label in lost]:
            labels = ", ".join(missed)
            complaint = f"the alert groups by {labels}, which the SLO would no longer group by"
        elif (
            "errorBudget" in properties["sloThreshold"]
            and after.target_threshold_percentage >= _NO_BUDGET
        ):
            complaint = "the alert watches the error budget, and a target of 100 leaves none"
        else:
            continue
        yield AlertValidation(
            id=alert["id"],
            name=properties["name"],
            alert_version_id=alert["alertVersionId"],
            error_message=complaint,
        )


SLOS = Resource("slos (id TEXT PRIMARY KEY, record TEXT NOT NULL)")
SLO_RECORDS = Records("slo", "slos", "name")
_PATH = "/v1/slo/slos"


@SLOS.answers(11, "POST", _PATH, SloDefinition, SloReply, creates=True)
def _create(call: Call, request: SloDefinition) -> SloReply:
    _check_sli(call, request, "request_based_metric_sli")
    takes_id = call.profile.client_slo_ids
    if request.id is not None and not takes_id and call.profile.read_only_fields == "refused":
        raise wire.InvalidRequestError("id: set by the service only")
    slo_id = request.id if request.id is not None and takes_id else str(uuid4())
    if call.store.find("slos", slo_id) is not None:
        raise wire.TakenError(f"slo {slo_id}")
    return SloReply(slo=_keep(call, request, slo_id, None))


@SLOS.answers(12, "PUT", _PATH, SloDefinition, SloReplaceReply, flags=("silence_data_validations",))
def _replace(call: Call, request: SloDefinition) -> SloReplaceReply:
    _check_sli(call, request, "window_based_metric_sli")
    if request.id is None:
        raise wire.InvalidRequestError("id: required")
    before = call.store.find("slos", request.id)
    if before is None and call.profile.put_unknown == "missing":
        raise wire.MissingObjectError("slo", request.id)
    slo = _keep(call, request, request.id, before)
    affected = [alert["id"] for alert in watching(call.store, request.id)] if before else []
    return SloReplaceReply(slo=slo, effected_slo_alert_ids=affected)


@SLOS.answers(13, "GET", _PATH + "/{id}", NoBody, SloReply)
def _read(call: Call, _: NoBody) -> wire.JsonObject:
    slo_id = call.path["id"]
    record = call.store.find("slos", slo_id.lower())
    if record is None:
        raise wire.MissingObjectError("slo", slo_id)
    return {"slo": record}


def _check_sli(call: Call, request: SloDefinition, documented: str) -> None:
    if call.profile.slis == "documented" and getattr(request, documented) is None:
        raise wire.InvalidRequestError(f"{to_camel(documented)}: required")


@SLOS.answers(14, "POST", _PATH + "/validate", SloDefinition, SloValidateReply, only_reads=True)
def _validate(call: Call, request: SloDefinition) -> SloValidateReply:
    _check_sli(call, request, "window_based_metric_sli")
    if request.id is None:
        if call.profile.validation != "any":
            raise wire.InvalidRequestError("id: required")
        return SloValidateReply()
    stored = call.store.find("slos", request.id)
    if stored is None and call.profile.validation != "any":
        raise wire.MissingObjectError("slo", request.id)
    if call.profile.validation == "documented" and request.window_based_metric_sli is None:
        raise wire.InvalidRequestError("windowBasedMetricSli: required")
    before = wire.whole(SloDefinition, stored) if stored else {"grouping": {"labels": []}}
    broken = _alerts_broken_by(request, before, watching(call.store, request.id))
    return SloValidateReply(alerts_validation_result=list(broken))


def _keep(
    call: Call, sent: SloDefinition, slo_id: str, before: wire.JsonObject | None
) -> SloDefinition:
    """Store an SLO under its id; without a record `before`, it is new."""
    SLO_RECORDS.refuse_taken_name(call, sent.name, slo_id)
    named = "SLO_TYPE_REQUEST" if sent.request_based_metric_sli else "SLO_TYPE_WINDOW"
    revision = before["revision"]["revision"] + 1 if before else 1
    kept = sent.model_copy(
        update={
            "id": slo_id,
            "creator": before["creator"] if before else call.author.name,
            "create_time": before["createTime"] if before else call.now,
            "type": named if call.profile.slo_types == "told" else None,
            "update_time": call.now,
            "revision": Revision(revision=revision, update_time=call.now),
        }
    )
    if (
        call.profile.slo_time_frames == "defaulted"
        and "slo_time_frame" not in sent.model_fields_set
    ):
        kept.slo_time_frame = "SLO_TIME_FRAME_28_DAYS"
    call.store.keep("slos", slo_id, wire.as_text(kept))
    return kept
