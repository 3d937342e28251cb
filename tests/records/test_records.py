"""Reading what the service answers: nothing unknown breaks it."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.errors import UnreadableReply
from reconciler.records.listings import (
    AlertEvent,
    Case,
    DailyUnits,
    ExtendedIncidentEvent,
    Incident,
    LogPolicy,
)
from reconciler.records.record import Record, Span, moment, read_record, stamp

PAIR: dict[str, Json] = {"key": "k", "value": "v"}
EVENT: dict[str, Json] = {
    "id": "e",
    "incidentEventType": "INCIDENT_EVENT_TYPE_CLOSE",
    "originatorType": "ORIGINATOR_TYPE_UNSPECIFIED",
    "administrativeEvent": {"userId": "u"},
    "close": {},
}
# Every field that the API document shows.
WHOLE: list[tuple[type[Record], dict[str, Json]]] = [
    (
        AlertEvent,
        {
            "companyId": 1001,
            "cxEventKey": "k",
            "cxEventLabels": {"application": "checkout"},
            "cxEventPayload": {"any": ["thing", None]},
            "cxEventPayloadType": "p",
            "cxEventTimestamp": "1772452800",
            "cxEventType": "t",
            "cxEventDedupKey": "d",
            "cxEventMetadata": {},
        },
    ),
    (
        Case,
        {
            "id": "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11",
            "readableId": "CASE-1",
            "title": "t",
            "description": "d",
            "category": "CASE_CATEGORY_SECURITY",
            "priority": "CASE_PRIORITY_P1",
            "priorityDetails": {"override": "CASE_PRIORITY_P1", "system": "CASE_PRIORITY_P2"},
            "state": "CASE_STATE_ACTIVE",
            "status": "CASE_STATUS_UNSPECIFIED",
            "createTime": "2026-03-02T12:00:00Z",
            "updateTime": "2026-03-02T12:00:00Z",
            "acknowledgeTime": "2026-03-02T12:00:00Z",
            "assignee": {"userId": "u"},
            "groupings": [PAIR],
            "labels": [PAIR],
            "resolutionDetails": {
                "resolveTime": "2026-03-02T12:00:00Z",
                "resolvedBy": "CASE_RESOLVER_UNSPECIFIED",
            },
            "alertIndicators": [
                {
                    "alertId": "a",
                    "alertVersionId": "v",
                    "groupingType": "GROUPING_TYPE_UNSPECIFIED",
                    "groupings": [PAIR],
                    "priority": "ALERT_PRIORITY_UNSPECIFIED",
                    "state": "ALERT_INDICATOR_STATE_UNSPECIFIED",
                    "triggerTime": "2026-03-02T12:00:00Z",
                    "resolveTime": "2026-03-02T12:00:00Z",
                }
            ],
        },
    ),
    (
        Incident,
        {
            "id": "i",
            "name": "n",
            "description": "d",
            "createdAt": "2026-03-02T12:00:00Z",
            "closedAt": "2026-03-02T12:00:00Z",
            "duration": "60s",
            "severity": "INCIDENT_SEVERITY_ERROR",
            "state": "INCIDENT_STATE_RESOLVED",
            "status": "INCIDENT_STATUS_RESOLVED",
            "isMuted": False,
            "lastStateUpdateKey": "k",
            "lastStateUpdateTime": "2026-03-02T12:00:00Z",
            "contextualLabels": {"application": "checkout"},
            "displayLabels": {},
            "metaLabels": [PAIR],
            "assignments": [{"assignedBy": {"userId": "u"}, "assignedTo": {"userId": "u"}}],
            "events": [EVENT],
        },
    ),
    (
        ExtendedIncidentEvent,
        {
            "cxEventKey": "k",
            "cxEventTimestamp": "2026-03-02T12:00:00Z",
            "incidentEvent": EVENT,
            "incidentEventExtendedMetadata": {
                "alertGroupByFields": ["host"],
                "alertId": "a",
                "alertLabels": [PAIR],
                "alertName": "n",
                "alertType": "INCIDENT_EVENT_ALERT_TYPE_STANDARD_OR_UNSPECIFIED",
                "incidentPermutation": {},
                "incidentSeverity": "INCIDENT_SEVERITY_ERROR",
                "incidentState": "INCIDENT_STATE_TRIGGERED",
                "incidentStatus": "INCIDENT_STATUS_TRIGGERED",
                "isMuted": True,
            },
        },
    ),
    (
        LogPolicy,
        {
            "id": "p",
            "companyId": 1001,
            "name": "n",
            "description": "d",
            "order": 1,
            "priority": "PRIORITY_TYPE_HIGH",
            "enabled": True,
            "deleted": False,
            "applicationRule": {"name": "a", "ruleTypeId": "RULE_TYPE_ID_IS"},
            "subsystemRule": {"name": "s", "ruleTypeId": "RULE_TYPE_ID_IS"},
            "archiveRetention": {"id": "r"},
            "createdAt": "2026-03-02T12:00:00Z",
            "updatedAt": "2026-03-02T12:00:00Z",
        },
    ),
    (
        DailyUnits,
        {
            "statsDate": "2026-03-02T00:00:00Z",
            **{
                f"{name}Units": {"value": 1.5}
                for name in (
                    *("blockedMetrics", "blocked", "cpuProfiles", "evaluation", "highLogs"),
                    *("highMetrics", "highTracing", "lowLogs", "lowSessionRecording"),
                    *("lowTracing", "mediumLogs", "mediumTracing", "total"),
                )
            },
        },
    ),
]
IDS = [record.__name__ for record, _ in WHOLE]

records = st.sampled_from(WHOLE)
unnamed_values = st.one_of(
    st.text(), st.integers(0, 99), st.just("INCIDENT_SEVERITY_FROM_THE_FUTURE"), st.none()
)
junk: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


def places_in(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Give the path of every value inside a document."""
    inner: dict[str | int, Any] = dict(enumerate(value)) if isinstance(value, list) else {}
    inner = value if isinstance(value, dict) else inner
    return [
        place
        for key, value in inner.items()
        for place in [(*path, key), *places_in(value, (*path, key))]
    ]


def put(document: Any, path: tuple[str | int, ...], value: Any) -> None:
    """Set one value inside a document."""
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def complaint(sent: dict[str, Json], record: type[Record]) -> str:
    """Give the error of reading a record, "" for none."""
    try:
        read_record(sent, record)
    except UnreadableReply as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("record", "whole"), WHOLE, ids=IDS)
def test_documented_fields(record: type[Record], whole: dict[str, Json]) -> None:
    """Each model has exactly the fields of the API document."""
    assert {info.alias for info in record.model_fields.values()} == set(whole)


@pytest.mark.parametrize(("record", "whole"), WHOLE, ids=IDS)
def test_absent_fields(record: type[Record], whole: dict[str, Json]) -> None:
    """A record can be read without the fields that no answer must have."""
    required = {info.alias for info in record.model_fields.values() if info.is_required()}

    read_record({name: whole[name] for name in whole if name in required}, record)


@given(records, st.data())
def test_unknown_values(case: tuple[type[Record], dict[str, Json]], data: st.DataObject) -> None:
    """Unknown fields anywhere, null anywhere and values nobody knows never break reading."""
    record, whole = case
    sent: dict[str, Json] = copy.deepcopy(whole)
    for path in data.draw(st.lists(st.sampled_from(places_in(whole)), max_size=5)):
        value = data.draw(unnamed_values)
        here: Any = whole
        for step in path:
            here = here[step]
        # A text may be any other; of everything else only null is the same thing.
        if not isinstance(here, str):
            value = None
        try:
            put(sent, path, value)
        except (TypeError, IndexError, KeyError):
            continue  # something around it is null by now
    sent.update(data.draw(st.dictionaries(st.text().filter(lambda name: name not in whole), junk)))
    before = json.dumps(sent)

    assert json.dumps(read_record(sent, record).document) == before


@given(records, st.data())
def test_wrong_types(case: tuple[type[Record], dict[str, Json]], data: st.DataObject) -> None:
    """Whatever stands in a field, the record is read, or the error names the record."""
    record, whole = case
    sent: dict[str, Json] = copy.deepcopy(whole)
    for path in data.draw(st.lists(st.sampled_from(places_in(whole)), min_size=1, max_size=3)):
        try:
            put(sent, path, data.draw(junk))
        except (TypeError, IndexError, KeyError):
            continue

    assert complaint(sent, record).partition(":")[0] in (
        "",
        f"a {record.__name__} of the answer cannot be read",
    )


def test_spelling_of_the_wire() -> None:
    """Only the names of the wire are read: `created_at` is an unknown field."""
    incident = Incident.model_validate({"id": "i", "created_at": "x"})

    assert (incident.created_at, incident.document) == ("", {"id": "i", "created_at": "x"})


@pytest.mark.parametrize(
    ("sent", "units"),
    [({"value": 1.5}, 1.5), ({"value": None}, 0), ({}, 0), (None, 0), (2, 2), ({"value": -1}, -1)],
)
def test_units(sent: Json, units: float) -> None:
    """Units stand in `{value}`; an absent value is 0, and a correction may be negative."""
    assert read_record({"totalUnits": sent}, DailyUnits).total_units == units


EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@given(st.datetimes(timezones=st.just(UTC)))
def test_stamps(at: datetime) -> None:
    """A time written as the API writes it is read again, to the millisecond."""
    again = moment(stamp(at))

    assert again is not None
    assert timedelta() <= at - again < timedelta(milliseconds=1)
    assert stamp(at).endswith("Z")
    assert len(stamp(at)) == len("2026-03-02T12:00:00.000Z")


@given(
    st.one_of(
        st.text(),
        st.from_regex(r"[0-9]{1,25}(\.[0-9]+)?", fullmatch=True),
        st.builds(
            "{}{}".format,
            st.datetimes().map(datetime.isoformat),
            st.sampled_from(["+14:00", "-12:00", "Z", ""]),
        ),
    )
)
def test_any_text_as_time(text: str) -> None:
    """Any text is a time in UTC or none, and one that is none lies in every range."""
    at = moment(text)

    if at is None:
        assert Span(LATEST, EARLIEST).holds(text)
    else:
        assert at.tzinfo is UTC
        assert Span(at, LATEST).holds(text) == (at < LATEST)
        assert not Span(EARLIEST, at).holds(text)


@pytest.mark.parametrize(
    "text",
    ["1772452800", "1772452800.0", "2026-03-02T12:00:00Z", "2026-03-02T13:00:00.000000000+01:00"],
)
def test_forms_of_time(text: str) -> None:
    """Epoch seconds and ISO 8601 with any zone are the same time."""
    assert moment(text) == datetime(2026, 3, 2, 12, tzinfo=UTC)
