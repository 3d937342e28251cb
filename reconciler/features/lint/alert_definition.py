"""Lint rules for alert definitions. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reconciler.document import Json, Path
from reconciler.features.lint.lint_rule import LintFinding, LintRule, is_blank, number_of, text_of
from reconciler.kinds.alert_definition.thresholds import ALWAYS, NEVER, crossings, short_windows
from reconciler.kinds.alert_definition.type_parts import TYPE_OF
from reconciler.kinds.shape import EACH, places
from reconciler.redaction.templates import Template
from reconciler.syntax.diagnostic import Advice

MOST_URGENT = "ALERT_DEF_PRIORITY_P1"
GROUPS = (("notificationGroup",), ("notificationGroupExcess", EACH))


def undescribed(spec: dict[str, Json]) -> Iterator[LintFinding]:
    """Yield a finding if the alert has neither a description nor a runbook label."""
    if is_blank(spec.get("description")) and not _has_runbook_label(spec):
        message = "this alert has no description: whoever it wakes must guess what it means"
        remedy = Advice("say in `description` what is wrong, and where the runbook is")
        yield LintFinding(("description",) if "description" in spec else ("name",), message, remedy)


def without_runbook(spec: dict[str, Json]) -> Iterator[LintFinding]:
    """Yield a finding if the description has no link and there is no runbook label."""
    description = spec.get("description")
    leads = isinstance(description, Template) or "://" in str(description or "")
    if not leads and not is_blank(description) and not _has_runbook_label(spec):
        message = "the description has no link, so that nothing leads to a runbook"
        remedy = Advice("add the address of what to do to the description")
        yield LintFinding(("description",), message, remedy)


def _has_runbook_label(spec: dict[str, Json]) -> bool:
    labels = spec.get("entityLabels")
    return isinstance(labels, dict) and any(
        "runbook" in key.casefold() and not is_blank(value) for key, value in labels.items()
    )


def is_awake(spec: dict[str, Json]) -> bool:
    """Return whether the alert is on and notifies people itself."""
    on = spec.get("enabled") is not False and spec.get("deleted") is not True
    return on and spec.get("phantomMode") is not True


def _unheard(spec: dict[str, Json]) -> Iterator[LintFinding]:
    urgent: list[Path] = [("priority",)] if spec.get("priority") == MOST_URGENT else []
    for steps in (("rules", EACH), ("errorBudget", "rules", EACH)):
        for part in TYPE_OF.keys() & spec.keys():
            for path, value in places(spec, part, *steps, "override", "priority"):
                urgent += [path] if value == MOST_URGENT else []
    groups = [value for steps in GROUPS for _, value in places(spec, *steps)]
    if urgent and is_awake(spec) and not any(map(reaches_somebody, groups)):
        message = "this alert is a P1, and its notification group has no recipient"
        if not groups:
            message = "this alert is a P1, and has no notification group: no one is notified"
        remedy = Advice("add `notificationGroup: {router: {}}`, or a recipient; else lower it")
        yield LintFinding(urgent[0], message, remedy)


def reaches_somebody(group: Json) -> bool:
    """Return whether a group has a router, a destination or a webhook with a recipient.

    A webhook with unknown fields counts as one.
    """
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


def _grouped_otherwise(spec: dict[str, Json]) -> Iterator[LintFinding]:
    own = spec.get("groupByKeys")
    keys = own if isinstance(own, list) else []
    at_once = any(spec.get(part) is not None for part in ("logsImmediate", "tracingImmediate"))
    if at_once or any(isinstance(key, Template) for key in keys):
        return
    for steps in GROUPS:
        for path, key in places(spec, *steps, "groupByKeys", EACH):
            text = text_of(key)
            if text is not None and text not in keys:
                message = (
                    f"the alert is not grouped by `{text}`, so that its notification cannot be"
                )
                remedy = Advice(f"add `{text}` to `groupByKeys` of the alert, or remove it here")
                yield LintFinding(path, message, remedy)


def _reported_too_often(spec: dict[str, Json]) -> Iterator[LintFinding]:
    settings = spec.get("incidentsSettings")
    again = number_of(settings.get("minutes")) if isinstance(settings, dict) else None
    if again is None:
        return
    for steps in GROUPS:
        for path, minutes in places(spec, *steps, "webhooks", EACH, "minutes"):
            number = number_of(minutes)
            if number is not None and number < again:
                message = (
                    f"the webhook notifies every {number:g} minutes, and its incident "
                    f"every {again:g}"
                )
                yield LintFinding(path, message, f"{again:g}")


def off_for_good(spec: dict[str, Json]) -> Iterator[LintFinding]:
    """Yield a finding for each flag by which an alert is off."""
    for flag, asleep, message in (
        ("enabled", False, "this alert is disabled"),
        ("phantomMode", True, "this alert is a phantom, and sends no notification by itself"),
    ):
        if spec.get(flag) is asleep:
            remedy = Advice("say until when: `exempt: {L209: {reason: …, until: 2026-12-31}}`")
            yield LintFinding((flag,), f"{message}, and no day says until when", remedy)


PRACTICES = (
    LintRule(code="L201", find=undescribed),
    LintRule(code="L202", asked=True, find=without_runbook),
    LintRule(code="L203", find=_unheard),
    LintRule(code="L204", find=_grouped_otherwise),
    LintRule(code="L205", find=_reported_too_often),
    LintRule(code="L206", find=partial(crossings, outcome=NEVER)),
    LintRule(code="L207", find=partial(crossings, outcome=ALWAYS)),
    LintRule(code="L208", find=short_windows),
    LintRule(code="L209", asked=True, find=off_for_good),
)
