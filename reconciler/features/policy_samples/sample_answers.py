"""The service's results for samples of logs: endpoint 18, in bounded batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconciler.document import Json, stored_name
from reconciler.errors import UnreadableReply
from reconciler.features.policy_samples.policy_impact import Met, PolicySample
from reconciler.kinds.answers import text
from reconciler.kinds.log_policy_set.remote import bulk_test

if TYPE_CHECKING:
    # Only its type is needed here: importing it loads the whole HTTP client.
    from reconciler.api.client import Api

BATCH = 100  # docs/assumptions.md: chosen, no limit of a request is documented
_UNSAID = "PRIORITY_TYPE_UNSPECIFIED"
_FIELDS = ("applicationNameValues", "subsystemNameValues", "severityValues")


async def answers_to(api: Api, samples: Sequence[PolicySample]) -> list[Met]:
    """Return the policy and the priority that the service gives each sample now.

    Raises what `Api.ask` raises, and UnreadableReply if an answer does not have one result for each
    sample.
    """
    answers: list[Met] = []
    for start in range(0, len(samples), BATCH):
        rows = [_row(sample) for sample in samples[start : start + BATCH]]
        results = await bulk_test(api, rows)
        _check_order(rows, results)
        answers.extend(map(_met, results))
    return answers


def met_of(name: str, priority: str) -> Met:
    """Return a policy and its priority for comparisons, however a service spells them."""
    return Met(stored_name(name), "" if priority == _UNSAID else priority)


def _row(sample: PolicySample) -> dict[str, Json]:
    values = (sample.application, sample.subsystem, sample.severity)
    return dict(zip(_FIELDS, values, strict=True))


def _check_order(rows: Sequence[dict[str, Json]], results: Sequence[dict[str, Json]]) -> None:
    """Raise UnreadableReply for answers about other logs than were requested, if that is visible.

    A service may write case and severities in another way, and may leave out any field.
    """
    for row, result in zip(rows, results, strict=True):
        echo = result.get("metaFieldsValues")
        if not isinstance(echo, dict):
            continue
        for name in _FIELDS:
            sent, returned = (_plain(text(document, name)) for document in (row, echo))
            if returned not in ("", sent):
                raise UnreadableReply(
                    "the service answered about other logs, or in another order, than it was asked"
                )


def _plain(value: str) -> str:
    return value.casefold().removeprefix("severity_")


def _met(result: dict[str, Json]) -> Met:
    matched, policy = result.get("matched"), result.get("policy")
    # A service may leave out what is false.
    if matched is False or (matched is None and policy is None):
        return Met()
    if matched is not True or not isinstance(policy, dict) or not text(policy, "name"):
        raise UnreadableReply("the service does not say which policy a sample meets")
    return met_of(text(policy, "name"), text(policy, "priority"))
