"""Log policies over the wire: endpoints 15, 16, 17 and 18.

The whole ordered list is one resource, because the one write replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconciler.document import ABSENT, Json, Missing, by_identity, covers, value_at
from reconciler.errors import OutcomeUnknown, ServiceRefused
from reconciler.journal.history import Memory
from reconciler.kinds.kind import Identified, Sending
from reconciler.kinds.log_policy_set.model import LogPolicySetSpec
from reconciler.kinds.reading import members, text, without
from reconciler.kinds.shape import shape_of
from reconciler.resource import Manifest, Observation, Outcome, Refused, Seen, Written

if TYPE_CHECKING:
    # Only its type is needed here, and it brings the whole HTTP client.
    from reconciler.api.door import Api


POLICIES = "/dataplans/policies/v1"
OVERWRITE = f"{POLICIES}/atomicOverwriteLogPolicies"
BULK_CREATE = f"{POLICIES}/bulkCreate"
BULK_TEST = f"{POLICIES}/bulkTestLog"

# Without it span policies come too and would look destroyed (api-facts.md, part 1).
LOGS_ONLY = (("source_type", "SOURCE_TYPE_LOGS"),)

READ_ONLY = frozenset(("id", "companyId", "order", "deleted", "createdAt", "updatedAt", "enabled"))


async def observe(api: Api, _: Manifest, memory: Memory) -> Observation:
    """Read the list in the order of `order`; severities are recalled from the journal."""
    reply = await api.read(POLICIES, LOGS_ONLY)
    return seen(reply, memory.base or {})


def seen(reply: Json | Missing, recalled: dict[str, Json]) -> Seen:
    """Turn stored records into the form in which policies are written."""
    stored = [one for one in members(reply, "policies") if one.get("deleted") is not True]
    stored.sort(key=_order)
    shape = shape_of(LogPolicySetSpec).at("policies")
    known = value_at(recalled, ("policies",))
    by_name = by_identity(known if isinstance(known, list) else [], shape) or {}
    policies: list[Json] = []
    paths = []
    for record in stored:
        name = text(record, "name")
        item: dict[str, Json] = {"policy": as_input(record)}
        severities = value_at(by_name.get(name, ABSENT), ("logRules", "severities"))
        if severities is not ABSENT:
            item["logRules"] = {"severities": severities}
            paths.append(("policies", name, "logRules", "severities"))
        policies.append(item)
    version = "\n".join(f"{text(one, 'id')} {text(one, 'updatedAt')}" for one in stored)
    return Seen(None, {"policies": policies}, version, tuple(paths))


def _order(record: dict[str, Json]) -> float:
    order = record.get("order")
    return order if isinstance(order, int | float) else 0


def as_input(record: dict[str, Json]) -> dict[str, Json]:
    """Give a stored record as the input that would make it: `disabled`, not `enabled`."""
    policy = without(record, READ_ONLY)
    if isinstance(record.get("enabled"), bool):
        policy["disabled"] = not record["enabled"]
    return policy


async def write(api: Api, sendings: Sequence[Sending], _: Identified) -> list[Outcome]:
    """Overwrite the whole list in one atomic request.

    A lost answer is looked up: the list is as sent (written), still the old one
    (sent once more), or another (refused as stale).
    Raises what `Api.send` and `Api.read` raise, but for refusals.
    """
    return [await _write(api, sending) for sending in sendings]


async def _write(api: Api, sending: Sending, *, again: bool = True) -> Outcome:
    try:
        await api.send("POST", OVERWRITE, sending.document, repeatable=False)
    except ServiceRefused as refused:
        return Refused(sending.ref, str(refused))
    except OutcomeUnknown:
        now = seen(await api.read(POLICIES, LOGS_ONLY), sending.document)
        if covers(now.document, sending.document, shape_of(LogPolicySetSpec)):
            return Written(sending.ref, None, "the answer was lost; the list shows it was written")
        observed = sending.change.observation
        unmoved = isinstance(observed, Seen) and now.version == observed.version
        if not unmoved:
            said = "the answer was lost, and the list is neither the old nor the new one"
            return Refused(sending.ref, said, exit_code=6)
        if not again:
            raise
        return await _write(api, sending, again=False)
    return Written(sending.ref, None)


async def bulk_create(api: Api, requests: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Add policies atomically (16); gives the stored records.

    Raises OutcomeUnknown where the answer is lost, and what `Api.send` raises.
    """
    body: Json = {"policyRequests": list(requests)}
    reply = await api.send("POST", BULK_CREATE, body, repeatable=False)
    return [
        policy
        for response in members(reply, "createResponses")
        if isinstance(policy := response.get("policy"), dict)
    ]


async def bulk_test(api: Api, rows: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Ask which policy each row of log metadata meets (18).

    A row is {applicationNameValues, subsystemNameValues, severityValues}, a
    result {matched, metaFieldsValues, policy}.
    """
    reply = await api.ask(BULK_TEST, {"metaFieldsValuesList": list(rows)})
    return members(reply, "testPoliciesBulkResult")
