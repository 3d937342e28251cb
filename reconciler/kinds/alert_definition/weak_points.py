"""Weak points of an alert definition: it explains nothing, notifies no one, or is off."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json
from reconciler.kinds.shape import EACH, places
from reconciler.kinds.spec_finding import SpecFinding, is_blank
from reconciler.redaction.templates import Template
from reconciler.syntax.diagnostic import Advice

GROUPS = (("notificationGroup",), ("notificationGroupExcess", EACH))


def undescribed(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    """Yield a finding if the alert has neither a description nor a runbook label."""
    if is_blank(spec.get("description")) and not _has_runbook_label(spec):
        message = "this alert has no description: whoever it wakes must guess what it means"
        remedy = Advice("say in `description` what is wrong, and where the runbook is")
        yield SpecFinding(("description",) if "description" in spec else ("name",), message, remedy)


def without_runbook(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    """Yield a finding if the description has no link and there is no runbook label."""
    description = spec.get("description")
    leads = isinstance(description, Template) or "://" in str(description or "")
    if not leads and not is_blank(description) and not _has_runbook_label(spec):
        message = "the description has no link, so that nothing leads to a runbook"
        remedy = Advice("add the address of what to do to the description")
        yield SpecFinding(("description",), message, remedy)


def _has_runbook_label(spec: dict[str, Json]) -> bool:
    labels = spec.get("entityLabels")
    return isinstance(labels, dict) and any(
        "runbook" in key.casefold() and not is_blank(value) for key, value in labels.items()
    )


def is_awake(spec: dict[str, Json]) -> bool:
    """Return whether the alert is on and notifies people itself."""
    on = spec.get("enabled") is not False and spec.get("deleted") is not True
    return on and spec.get("phantomMode") is not True


def reaches_somebody(group: Json) -> bool:
    """Return whether a group has a router, a destination or a webhook with a recipient.

    A webhook with unknown fields counts as one.
    """
    if not isinstance(group, dict):
        return group is not None
    if isinstance(group.get("router"), dict) or group.get("destinations"):
        return True
    for _, integration in places(group, "webhooks", EACH, "integration"):
        if isinstance(integration, dict):
            emails = [value for _, value in places(integration, "recipients", "emails", EACH)]
            has_other = bool(integration.keys() - {"integrationId", "recipients"})
            if has_other or not all(map(is_blank, (integration.get("integrationId"), *emails))):
                return True
    return False


def off_for_good(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    """Yield a finding for each flag by which an alert is off."""
    for flag, asleep, message in (
        ("enabled", False, "this alert is disabled"),
        ("phantomMode", True, "this alert is a phantom, and tells nobody by itself"),
    ):
        if spec.get(flag) is asleep:
            remedy = Advice("say until when: `exempt: {L209: {reason: …, until: 2026-12-31}}`")
            yield SpecFinding((flag,), f"{message}, and no day says until when", remedy)
