"""What the service tells of samples of logs: endpoint 18, in bounded batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconciler.document import Json, stored_name
from reconciler.errors import UnreadableReply
from reconciler.kinds.answers import text
from reconciler.kinds.log_policy_set.remote import bulk_test
from reconciler.model.policy_impact import Met, PolicySample

if TYPE_CHECKING:
    # Only its type is needed here, and it brings the whole HTTP client.
    from reconciler.api.client import Api

BATCH = 100  # docs/assumptions.md: chosen, no limit of a request is documented
_UNSAID = "PRIORITY_TYPE_UNSPECIFIED"
_FIELDS = ("applicationNameValues", "subsystemNameValues", "severityValues")


async def told_of(api: Api, samples: Sequence[PolicySample]) -> list[Met]:
    """Ask which policy each sample meets now, and with which priority.

    Raises what `Api.ask` raises, and UnreadableReply where an answer is not one a sample.
    """
    told: list[Met] = []
    for start in range(0, len(samples), BATCH):
        rows = [_row(sample) for sample in samples[start : start + BATCH]]
        results = await bulk_test(api, rows)
        _check_order(rows, results)
        told.extend(map(_met, results))
    return told


def met_of(name: str, priority: str) -> Met:
    """Give a policy and its priority as they are compared, however a service spells them."""
    return Met(stored_name(name), "" if priority == _UNSAID else priority)


def _row(sample: PolicySample) -> dict[str, Json]:
    values = (sample.application, sample.subsystem, sample.severity)
    return dict(zip(_FIELDS, values, strict=True))


def _check_order(rows: Sequence[dict[str, Json]], results: Sequence[dict[str, Json]]) -> None:
    """Refuse answers about other logs than were asked about in their places, as far as they tell.

    A service may write capitals and severities in another way, and leave out what it likes.
    """
    for row, result in zip(rows, results, strict=True):
        echo = result.get("metaFieldsValues")
        if not isinstance(echo, dict):
            continue
        for name in _FIELDS:
            asked, said = (_plain(text(document, name)) for document in (row, echo))
            if said not in ("", asked):
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
