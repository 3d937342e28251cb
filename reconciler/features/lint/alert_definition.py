"""Lint rules for alert definitions. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reconciler.document import Json, Path
from reconciler.features.lint.alert_thresholds import ALWAYS, NEVER, crossings, short_windows
from reconciler.features.lint.lint_rule import LintRule
from reconciler.kinds.alert_definition.type_parts import TYPE_OF
from reconciler.kinds.alert_definition.weak_points import (
    GROUPS,
    is_awake,
    off_for_good,
    reaches_somebody,
    undescribed,
    without_runbook,
)
from reconciler.kinds.known_values import number_of, text_of
from reconciler.kinds.shape import EACH, places
from reconciler.kinds.spec_finding import SpecFinding
from reconciler.redaction.templates import Template
from reconciler.syntax.diagnostic import Advice

MOST_URGENT = "ALERT_DEF_PRIORITY_P1"


def _unheard(spec: dict[str, Json]) -> Iterator[SpecFinding]:
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
        yield SpecFinding(urgent[0], message, remedy)


def _grouped_otherwise(spec: dict[str, Json]) -> Iterator[SpecFinding]:
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
                yield SpecFinding(path, message, remedy)


def _reported_too_often(spec: dict[str, Json]) -> Iterator[SpecFinding]:
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
                yield SpecFinding(path, message, f"{again:g}")


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
