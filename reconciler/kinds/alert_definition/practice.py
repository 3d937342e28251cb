"""Checks of practice of alert definitions. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reconciler.document import Json, Path
from reconciler.kinds.alert_definition.thresholds import ALWAYS, NEVER, crossings, short_windows
from reconciler.kinds.alert_definition.type_parts import TYPE_OF
from reconciler.kinds.practice import Found, Practice, is_blank, number_of, text_of
from reconciler.kinds.shape import EACH, places
from reconciler.sealed import Template
from reconciler.source.diagnostic import Advice

MOST_URGENT = "ALERT_DEF_PRIORITY_P1"
GROUPS = (("notificationGroup",), ("notificationGroupExcess", EACH))


def undescribed(spec: dict[str, Json]) -> Iterator[Found]:
    """Yield an alert that says nothing of itself."""
    if is_blank(spec.get("description")) and not _has_runbook_label(spec):
        said = "this alert has no description: whoever it wakes must guess what it means"
        way_out = Advice("say in `description` what is wrong, and where the runbook is")
        yield Found(("description",) if "description" in spec else ("name",), said, way_out)


def without_runbook(spec: dict[str, Json]) -> Iterator[Found]:
    """Yield a description that leads nowhere."""
    description = spec.get("description")
    leads = isinstance(description, Template) or "://" in str(description or "")
    if not leads and not is_blank(description) and not _has_runbook_label(spec):
        said = "the description has no link, so that nothing leads to a runbook"
        way_out = Advice("add the address of what to do to the description")
        yield Found(("description",), said, way_out)


def _has_runbook_label(spec: dict[str, Json]) -> bool:
    labels = spec.get("entityLabels")
    return isinstance(labels, dict) and any(
        "runbook" in key.casefold() and not is_blank(value) for key, value in labels.items()
    )


def is_awake(spec: dict[str, Json]) -> bool:
    """Tell an alert that is on and tells people by itself."""
    on = spec.get("enabled") is not False and spec.get("deleted") is not True
    return on and spec.get("phantomMode") is not True


def _unheard(spec: dict[str, Json]) -> Iterator[Found]:
    urgent: list[Path] = [("priority",)] if spec.get("priority") == MOST_URGENT else []
    for steps in (("rules", EACH), ("errorBudget", "rules", EACH)):
        for part in TYPE_OF.keys() & spec.keys():
            for path, value in places(spec, part, *steps, "override", "priority"):
                urgent += [path] if value == MOST_URGENT else []
    groups = [value for steps in GROUPS for _, value in places(spec, *steps)]
    if urgent and is_awake(spec) and not any(map(reaches_somebody, groups)):
        said = "this alert is a P1, and its notification group tells nobody"
        if not groups:
            said = "this alert is a P1, and has no notification group: nobody is told"
        way_out = Advice("add `notificationGroup: {router: {}}`, or whom to tell; else lower it")
        yield Found(urgent[0], said, way_out)


def reaches_somebody(group: Json) -> bool:
    """Tell a group that has a router, a destination or a webhook, as far as is known of them."""
    if not isinstance(group, dict):
        return group is not None
    if isinstance(group.get("router"), dict) or group.get("destinations"):
        return True
    emails = [
        value
        for _, value in places(group, "webhooks", EACH, "integration", "recipients", "emails", EACH)
    ]
    ids = [value for _, value in places(group, "webhooks", EACH, "integration", "integrationId")]
    known = {"integrationId", "recipients"}
    others = [
        value
        for _, value in places(group, "webhooks", EACH, "integration")
        if isinstance(value, dict) and value.keys() - known
    ]
    return any(not is_blank(value) for value in (*emails, *ids)) or bool(others)


def _grouped_otherwise(spec: dict[str, Json]) -> Iterator[Found]:
    own = spec.get("groupByKeys")
    keys = own if isinstance(own, list) else []
    at_once = any(spec.get(part) is not None for part in ("logsImmediate", "tracingImmediate"))
    if at_once or any(isinstance(key, Template) for key in keys):
        return
    for steps in GROUPS:
        for path, key in places(spec, *steps, "groupByKeys", EACH):
            text = text_of(key)
            if text is not None and text not in keys:
                said = f"the alert is not grouped by `{text}`, so that its notification cannot be"
                way_out = Advice(f"add `{text}` to `groupByKeys` of the alert, or remove it here")
                yield Found(path, said, way_out)


def _told_too_often(spec: dict[str, Json]) -> Iterator[Found]:
    settings = spec.get("incidentsSettings")
    again = number_of(settings.get("minutes")) if isinstance(settings, dict) else None
    if again is None:
        return
    for steps in GROUPS:
        for path, minutes in places(spec, *steps, "webhooks", EACH, "minutes"):
            number = number_of(minutes)
            if number is not None and number < again:
                said = (
                    f"the webhook is told every {number:g} minutes of an incident that is told "
                    f"every {again:g}"
                )
                yield Found(path, said, f"{again:g}")


def off_for_good(spec: dict[str, Json]) -> Iterator[Found]:
    """Yield each flag by which an alert is off."""
    for flag, asleep, said in (
        ("enabled", False, "this alert is disabled"),
        ("phantomMode", True, "this alert is a phantom, and tells nobody by itself"),
    ):
        if spec.get(flag) is asleep:
            way_out = Advice("say until when: `exempt: {L209: {reason: …, until: 2026-12-31}}`")
            yield Found((flag,), f"{said}, and no day says until when", way_out)


def _alert(*lines: str, priority: str = "P3") -> str:
    head = f"""\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {{name: checkout-errors, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}}
spec:
  name: Checkout errors
  priority: ALERT_DEF_PRIORITY_{priority}
"""
    return head + "".join(f"  {line}\n" for line in (*lines, *_TYPE))


_DESCRIBED = "description: 'Payments fail: https://runbooks.example.com/checkout'"
_TYPE = ("type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED", "logsImmediate: {}")
_COUNTED = ("LOGS_IMMEDIATE_OR_UNSPECIFIED", "LOGS_THRESHOLD")
_LOGS = "LOGS_THRESHOLD_CONDITION_TYPE"
_FIVE = "timeWindow: {logsTimeWindowSpecificValue: LOGS_TIME_WINDOW_VALUE_MINUTES_5_OR_UNSPECIFIED}"


def _counted(condition: str, threshold: int, *, delay: int = 60_000, groups: str = "") -> str:
    """Give an alert on a count of lines, told by region where it is grouped by anything."""
    told = (f"groupByKeys: [{groups}]", "notificationGroup: {groupByKeys: [region], router: {}}")
    whole = _alert(_DESCRIBED, *(told if groups else ())).replace(*_COUNTED)
    part = (
        f"logsThreshold:\n    evaluationDelayMs: {delay}\n    rules:\n      - condition:\n"
        f"          conditionType: {_LOGS}_{condition}\n          threshold: {threshold}\n"
        f"          {_FIVE}"
    )
    return whole.replace("logsImmediate: {}", part)


_WEBHOOK = "webhooks: [{integration: {integrationId: 7}, minutes: %d}]"

PRACTICES = (
    Practice(
        code="L201",
        why="Whoever is woken knows the system less well than the author did on that day. A label "
        "of `entityLabels` whose name has `runbook` in it will do too.",
        find=undescribed,
        wrong=_alert(),
        right=_alert(_DESCRIBED),
    ),
    Practice(
        code="L202",
        asked=True,
        why="A description says what is wrong, a runbook what to do. Off unless `checks:` says so, "
        "as many teams keep runbooks where a link in the alert is not needed.",
        find=without_runbook,
        wrong=_alert("description: Payments fail."),
        right=_alert(_DESCRIBED),
    ),
    Practice(
        code="L203",
        why="The most urgent priority says that somebody must come at once, and nobody is called. "
        "Alerts that are disabled, or phantoms for flows, are not meant.",
        find=_unheard,
        wrong=_alert(_DESCRIBED, priority="P1"),
        right=_alert(_DESCRIBED, "notificationGroup: {router: {}}", priority="P1"),
    ),
    Practice(
        code="L204",
        why="A notification is sent once for each group of the alert; by a label that the alert is "
        "not grouped by there is nothing to part. Alerts on single lines or spans are not meant.",
        find=_grouped_otherwise,
        wrong=_counted("MORE_THAN_OR_UNSPECIFIED", 10, groups="service"),
        right=_counted("MORE_THAN_OR_UNSPECIFIED", 10, groups="service, region"),
    ),
    Practice(
        code="L205",
        why="`incidentsSettings.minutes` is how long an incident is quiet before it is told again; "
        "a webhook with fewer minutes has nothing to tell in between.",
        find=_told_too_often,
        wrong=_alert(
            _DESCRIBED,
            "incidentsSettings: {minutes: 60}",
            f"notificationGroup: {{{_WEBHOOK % 10}}}",
        ),
        right=_alert(
            _DESCRIBED,
            "incidentsSettings: {minutes: 60}",
            f"notificationGroup: {{{_WEBHOOK % 60}}}",
        ),
    ),
    Practice(
        code="L206",
        why="An alert that cannot fire looks like safety. Only what is certain is told: counts are "
        "never negative, and shares are at most 100 %.",
        find=partial(crossings, outcome=NEVER),
        wrong=_counted("LESS_THAN", 0),
        right=_counted("LESS_THAN", 1),
    ),
    Practice(
        code="L207",
        why="An alert that always fires is switched off in people's heads.",
        find=partial(crossings, outcome=ALWAYS),
        wrong=_counted("MORE_THAN_OR_UNSPECIFIED", -1),
        right=_counted("MORE_THAN_OR_UNSPECIFIED", 0),
    ),
    Practice(
        code="L208",
        why="`evaluationDelayMs` is how long the alert waits for late data. Where that is longer "
        "than the window, the whole window is over before anyone is told.",
        find=short_windows,
        wrong=_counted("MORE_THAN_OR_UNSPECIFIED", 10, delay=600_000),
        right=_counted("MORE_THAN_OR_UNSPECIFIED", 10, delay=60_000),
    ),
    Practice(
        code="L209",
        asked=True,
        why="What is switched off for a day stays off for a year. Off unless `checks:` says so, as "
        "no manifest tells since when; an exemption with `until` is the day that it comes back.",
        find=off_for_good,
        wrong=_alert(_DESCRIBED, "enabled: false"),
        right=_alert(_DESCRIBED, "enabled: true"),
    ),
)
