"""Plans as a reviewer meets them: three changes, three hundred, and none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from reconciler.document import Json, differences, digest, merge
from reconciler.features.against.base_drift import BaseDrift, FieldBesideDocument, StrayedDocument
from reconciler.features.track_record.track_records import TrackRecordDocument, TrackRecords
from reconciler.journal.history import Memory
from reconciler.kinds import BY_NAME
from reconciler.model import (
    Absent,
    Action,
    Against,
    CannotBeAsked,
    Change,
    Evidence,
    Manifest,
    Objected,
    Plan,
    Recalled,
    Ref,
    Remembered,
    Seen,
    SignalsUnread,
    Source,
    Unknown,
    UnsettledCreate,
    Watchers,
)
from reconciler.planning.consequences import orphan

CANNOT_READ = "the API has no way to read an alert definition"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ALERT_ID = "1523f532-0522-492f-a12a-70fd064f6a51"


def manifest(kind: str, name: str, spec: dict[str, Json], line: int = 1) -> Manifest:
    """Give a manifest that stands in a file of its kind."""
    return Manifest(Ref(kind, name), spec, Source(f"{kind.lower()}/{name}.yaml", line))


def updated(kind: str, name: str, before: dict[str, Json], after: dict[str, Json]) -> Change:
    """Give the update of something live."""
    shape = BY_NAME[kind].shape
    body = merge(before, after, before, shape)
    assert isinstance(body, dict)
    return Change(
        ref=Ref(kind, name),
        manifest=manifest(kind, name, after),
        action=Action.UPDATE,
        evidence=Evidence.LIVE,
        observation=Seen("id-of-" + name, before),
        declared=after,
        body=body,
        differences=tuple(differences(before, body, shape)),
    )


def rewritten(name: str, before: dict[str, Json], after: dict[str, Json]) -> Change:
    """Give the update of an alert, which rests on the journal."""
    change = updated("AlertDefinition", name, before, after)
    remembered = Remembered(ALERT_ID, before)
    return replace(change, evidence=Evidence.JOURNAL, observation=remembered)


def created(kind: str, name: str, spec: dict[str, Json]) -> Change:
    """Give the create of something that a look-up did not find."""
    found = tuple(differences({}, spec, BY_NAME[kind].shape))
    absent = Absent(f"the service has no {kind} {name}")
    return Change(
        ref=Ref(kind, name),
        manifest=manifest(kind, name, spec),
        action=Action.CREATE,
        evidence=Evidence.LIVE,
        observation=absent,
        declared=spec,
        body=spec,
        differences=found,
    )


def asserted(name: str, spec: dict[str, Json]) -> Change:
    """Give the first write of an alert."""
    change = created("AlertDefinition", name, spec)
    unknown = Unknown(ALERT_ID, CANNOT_READ)
    return replace(
        change,
        action=Action.ASSERT,
        evidence=Evidence.NONE,
        observation=unknown,
        reasons=(CannotBeAsked(CANNOT_READ),),
    )


def kept(kind: str, name: str) -> Change:
    """Return something that is kept: as declared, or as last written where no read shows it."""
    ids: dict[str, str | int] = {"AlertDefinition": ALERT_ID, "SavedView": 7}
    unseen = ids.get(kind)
    return Change(
        ref=Ref(kind, name),
        manifest=manifest(kind, name, {}),
        action=Action.KEEP,
        evidence=Evidence.LIVE if unseen is None else Evidence.JOURNAL,
        observation=Seen(name, {}) if unseen is None else Remembered(unseen, {}),
        declared={},
        body={},
    )


def blocked(kind: str, name: str, why: str) -> Change:
    """Give something that cannot be done."""
    unknown = Unknown(None, "an SLO cannot be found by its name")
    return Change(
        ref=Ref(kind, name),
        manifest=manifest(kind, name, {}),
        action=Action.BLOCKED,
        evidence=Evidence.NONE,
        observation=unknown,
        declared={},
        body={},
        reasons=(Objected(why),),
    )


def plan_of(
    changes: Iterable[Change],
    *,
    orphans: tuple[Change, ...] = (),
    unsettled: tuple[UnsettledCreate, ...] = (),
) -> Plan:
    """Give a plan of changes, in the order of the kinds."""
    order = list(BY_NAME)
    ordered = sorted(changes, key=lambda one: (order.index(one.ref.kind), one.ref.name))
    return Plan(
        environment="production",
        target="https://api.example.com",
        digest=digest([str(change.ref) for change in ordered]),
        changes=(*ordered, *orphans),
        unsettled=unsettled,
    )


def alert(
    name: str, *, priority: str = "P3", minutes: int = 30, team: str = "shop"
) -> dict[str, Json]:
    """Give the spec of an alert."""
    return {
        "name": name,
        "priority": f"ALERT_DEF_PRIORITY_{priority}",
        "entityLabels": {"team": team},
        "incidentsSettings": {"minutes": minutes},
    }


def widget(title: str, query: str) -> dict[str, Json]:
    """Give a widget of a dashboard."""
    return {
        "id": {"value": f"id-of-{title}"},
        "title": title,
        "definition": {
            "lineChart": {"queryDefinitions": [{"query": query, "unit": "UNIT_SECONDS"}]}
        },
    }


def dashboard(name: str, *widgets: dict[str, Json]) -> dict[str, Json]:
    """Give the spec of a dashboard of one section and one row."""
    row: Json = {"id": {"value": "row"}, "widgets": [*widgets]}
    section: Json = {
        "id": {"value": "section"},
        "options": {"custom": {"name": "Orders"}},
        "rows": [row],
    }
    return {"dashboard": {"name": name, "layout": {"sections": [section]}}}


def policy(name: str, priority: str) -> Json:
    """Give one log policy."""
    return {
        "logRules": {"severities": ["SEVERITY_DEBUG", "SEVERITY_INFO"]},
        "policy": {
            "name": name,
            "description": f"About {name}.",
            "priority": f"PRIORITY_TYPE_{priority}",
        },
    }


def policies(*items: Json) -> dict[str, Json]:
    """Give the spec of a policy set."""
    return {"policies": [*items]}


def policy_change() -> Change:
    """Give an overwrite that adds, moves, edits and destroys."""
    audit, noise, errors = (
        policy("Audit", "HIGH"),
        policy("Noise", "BLOCK"),
        policy("Errors", "HIGH"),
    )
    before = policies(audit, noise, errors, policy("Search", "LOW"))
    after = policies(errors, policy("Health checks", "BLOCK"), audit, policy("Noise", "LOW"))
    change = updated("LogPolicySet", "log-policies", before, after)
    return replace(
        change,
        destroys=("Search",),
        foreign=("Search",),
        lost=(policy("Search", "LOW"),),
        reasons=(Recalled((("policies", "x", "logRules", "severities"),)),),
    )


LONG_QUERY = (
    "sum(rate(http_requests_total{service='checkout', code!~'5..'}[5m])) by (region) / 100 > 0.5"
)


def plan_of_three() -> Plan:
    """Give three changes of three kinds, and some that are as declared."""
    latency, errors = widget("Latency", LONG_QUERY), widget("Errors", "errors")
    slower = widget("Latency", LONG_QUERY.replace("[5m]", "[1h]"))
    return plan_of(
        [
            rewritten(
                "checkout-errors",
                alert("Checkout errors"),
                alert("Checkout errors", priority="P1", minutes=45),
            ),
            updated(
                "Dashboard",
                "checkout",
                dashboard("Checkout", latency, errors),
                dashboard("Checkout", errors, slower),
            ),
            policy_change(),
            *(kept("SLO", name) for name in ("checkout-success", "search-latency")),
            kept("AlertDefinition", "search-lag"),
        ]
    )


def plan_with_signals() -> Plan:
    """Give an alert that is made quieter, and an SLO whose alerts are known."""
    noisy = rewritten("search-lag", alert("Search lag"), alert("Search lag", priority="P4"))
    unseen = asserted("checkout-errors", alert("Checkout errors"))
    slo: dict[str, Json] = {"name": "Checkout", "targetThresholdPercentage": 99.9}
    lower = updated("SLO", "checkout", slo, {**slo, "targetThresholdPercentage": 99.5})
    watching = Watchers(
        refs=(Ref("AlertDefinition", "checkout-errors"), Ref("AlertDefinition", "checkout-fast")),
        others=("7d1f0a52-6a0c-4f0e-9a55-0d5a3f6f1a01",),
    )
    fired = TrackRecordDocument(
        days=14,
        events=41,
        incidents=3,
        openIncidents=1,
        cases=1,
        complete=True,
        unclearEvents=0,
        byName=0,
        casesByPriority={"P1": 1},
        lastAcknowledged="2026-02-25T01:00:00.000Z",
        daily=[0, 2, 9, 0, 0, 1, 12, 3, 0, 0, 5, 0, 8, 1],
    )
    refused = TrackRecordDocument(
        days=14,
        events=None,
        incidents=0,
        openIncidents=0,
        cases=0,
        complete=False,
        unclearEvents=0,
        byName=0,
        casesByPriority={},
        lastAcknowledged=None,
        daily=[],
    )
    return replace(
        plan_of([noisy, unseen, lower]),
        sections=(TrackRecords({noisy.ref: fired, unseen.ref: refused}),),
        watchers={lower.ref: watching},
        remarks=(SignalsUnread(("alert events",), ("403 the key may not list them",)),),
    )


def plan_of_against() -> Plan:
    """Give the same three changes, planned against a revision."""
    plan = plan_of_three()
    changes = tuple(replace(change, evidence=Evidence.BASE) for change in plan.changes)
    return replace(plan, changes=changes, against=Against("main", COMMIT))


def plan_of_drifted() -> Plan:
    """Give the same three changes, beside what live and the base branch differ in."""
    fields: list[FieldBesideDocument] = [
        {"path": ["targetThresholdPercentage"], "base": 99.9, "live": 98.5},
        {"path": ["labels", "team"], "base": "a | `b` @all <b>"},
    ]
    strayed: tuple[StrayedDocument, ...] = (
        {"ref": "SLO/search-latency", "base": "keep", "live": "update", "fields": fields},
        {"ref": "Dashboard/gone", "base": "keep", "live": "create", "fields": []},
        {"ref": "SLO/early", "base": "create", "live": "update", "fields": []},
    )
    beside = BaseDrift(against=COMMIT, strayed=strayed)
    return plan_of_three().with_section(beside)


def plan_of_none() -> Plan:
    """Give a plan with nothing to do."""
    return plan_of([kept("SLO", "checkout-success"), kept("Dashboard", "checkout")])


def plan_of_three_hundred() -> Plan:
    """Give what a change of a whole team's labels, a new region and a mistake look like."""
    return plan_of(
        _three_hundred(),
        orphans=(orphan(Ref("SavedView", "old-errors"), Memory(remote_id=17)),),
        unsettled=(
            UnsettledCreate(Ref("SavedView", "errors"), "2025-01-31T09:00:00Z", "request-1"),
        ),
    )


def _three_hundred() -> Iterator[Change]:
    for index in range(180):
        name = f"service-{index:03}-errors"
        yield rewritten(name, alert("Errors"), alert("Errors", team="platform"))
    for index in range(20):
        name = f"service-{index:03}-latency"
        yield rewritten(
            name, alert("Latency", minutes=index), alert(f"Latency of {index}", minutes=index + 1)
        )
    for index in range(50):
        yield asserted(f"region-{index:02}-lag", alert("Lag"))
    for index in range(30):
        yield created("Dashboard", f"region-{index:02}", dashboard("Region", widget("Lag", "lag")))
    for index in range(5):
        before = dashboard("Service", *(widget(f"W{number}", "old") for number in range(9)))
        after = dashboard("Service", *(widget(f"W{number}", f"new {index}") for number in range(9)))
        yield updated("Dashboard", f"service-{index:02}", before, after)
    for index in range(14):
        yield blocked("SLO", f"objective-{index:02}", "alert Budget: its group by is not allowed")
    yield policy_change()
    for index in range(700):
        yield kept("AlertDefinition", f"kept-{index:03}")


NEW_SLO: dict[str, Json] = {
    "name": "Checkout",
    "description": "Nobody needs this line to judge a target.",
    "targetThresholdPercentage": 99.5,
    "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
    "requestBasedMetricSli": {"goodEvents": {"query": "good"}, "totalEvents": {"query": "all"}},
}
NEW_ALERT: dict[str, Json] = {
    "name": "Errors",
    "description": "Nobody needs this line to judge an alert.",
    "enabled": False,
    "phantomMode": False,
    "deleted": True,
    "priority": "ALERT_DEF_PRIORITY_P4",
    "type": "ALERT_DEF_TYPE_METRIC_THRESHOLD",
    "metricThreshold": {
        "metricFilter": {"promql": "up == 0"},
        "rules": [{"condition": {"threshold": 0}}, {"condition": {"threshold": 5}}],
    },
    "notificationGroup": {"webhooks": [{"integration": {"integrationId": 7}}]},
}
NEW_VIEW: dict[str, Json] = {
    "name": "Errors",
    "viewType": "VIEW_TYPE_LOGS",
    "timeSelection": {"quickSelection": {"seconds": 900}},
    "searchQuery": {"query": "level:error"},
}


def new_resources() -> list[Change]:
    """Give something new of each kind."""
    widgets = [widget(f"W{number}", "up") for number in range(5)]
    return [
        created("SLO", "checkout", NEW_SLO),
        asserted("errors", NEW_ALERT),
        created("Dashboard", "checkout", dashboard("Checkout", *widgets)),
        created("LogPolicySet", "policies", policies(policy("Noise", "BLOCK"))),
        created("SavedView", "errors", NEW_VIEW),
    ]


def plan_of_new() -> Plan:
    """Give a plan that makes something of each kind."""
    return plan_of(new_resources())
