"""Which alerts a new definition of their SLO would break.

The API document gives only the shape of the answer. These two rules are ours,
chosen because a service could hardly do without them.
"""

from collections.abc import Iterable, Iterator

from reconciler.emulator.models.slo import AlertValidation, SloDefinition
from reconciler.emulator.models.wire import JsonObject

_NO_BUDGET = 100  # percent: nothing may fail, so there is no budget to watch


def alerts_broken_by(
    after: SloDefinition, before: JsonObject, alerts: Iterable[JsonObject]
) -> Iterator[AlertValidation]:
    """Report each stored alert that could not live with the new definition.

    `before` is the stored SLO, as rendered.
    """
    lost = set(before["grouping"]["labels"]) - set(after.grouping.labels)
    for alert in alerts:
        properties = alert["alertDefProperties"]
        complaint = _lost_label(properties, lost) or _lost_budget(properties, after)
        if complaint:
            yield AlertValidation(
                id=alert["id"],
                name=properties["name"],
                alert_version_id=alert["alertVersionId"],
                error_message=complaint,
            )


def _lost_label(properties: JsonObject, lost: set[str]) -> str | None:
    missed = [label for label in properties["groupByKeys"] if label in lost]
    if not missed:
        return None
    return f"the alert groups by {', '.join(missed)}, which the SLO would no longer group by"


def _lost_budget(properties: JsonObject, after: SloDefinition) -> str | None:
    watches_budget = "errorBudget" in properties["sloThreshold"]
    if not watches_budget or after.target_threshold_percentage < _NO_BUDGET:
        return None
    return "the alert watches the error budget, and a target of 100 leaves none"
