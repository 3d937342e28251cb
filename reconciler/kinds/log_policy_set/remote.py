"""Log policies over the wire: endpoints 15, 16, 17 and 18.

The whole ordered list is one resource, because the one write replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconciler.api.rules import Request
from reconciler.document import ABSENT, Json, Missing, by_identity, covers, same, value_at
from reconciler.errors import (
    OutcomeUnknown,
    ReconcilerError,
    ServiceRefused,
    Unavailable,
    UnreadableReply,
    Unsettled,
)
from reconciler.finding import nearest
from reconciler.journal.history import Memory
from reconciler.kinds.answers import members, text, without
from reconciler.kinds.kind import Identified, Sending, refusal
from reconciler.kinds.log_policy_set.model import LogPolicySetSpec
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
LOGS_ONLY = "SOURCE_TYPE_LOGS"

SEVERITIES = ("logRules", "severities")
READ_ONLY = frozenset(("id", "companyId", "order", "deleted", "createdAt", "updatedAt", "enabled"))


async def observe(api: Api, _: Manifest, memory: Memory) -> Observation:
    """Read the list in the order of `order`; severities are recalled from the journal."""
    reply = await _read(api)
    # Of a first write without an answer nobody knows whether it happened.
    return seen(reply, memory.candidates if memory.last is not None else ())


async def _read(api: Api) -> Json | Missing:
    return await api.read(POLICIES, api.assumptions.parameter("sourceType", LOGS_ONLY))


def seen(reply: Json | Missing, recalled: Sequence[dict[str, Json]]) -> Seen:
    """Turn stored records into the form in which policies are written.

    `recalled` are the documents that may have been written last; severities in
    which they agree are put back.
    """
    stored = [one for one in members(reply, "policies") if one.get("deleted") is not True]
    stored.sort(key=_order)
    by_name = [_by_name(document) for document in recalled]
    policies: list[Json] = []
    paths = []
    for record in stored:
        name = text(record, "name")
        item: dict[str, Json] = {"policy": as_input(record)}
        severities = _agreed([value_at(one.get(name, ABSENT), SEVERITIES) for one in by_name])
        if severities is not ABSENT:
            item["logRules"] = {"severities": severities}
            paths.append(("policies", name, *SEVERITIES))
        policies.append(item)
    version = "\n".join(f"{text(one, 'id')} {text(one, 'updatedAt')}" for one in stored)
    updated = max((text(one, "updatedAt") for one in stored), default="")
    return Seen(
        None,
        {"policies": policies},
        version,
        tuple(paths),
        attribution=f"at {updated}" if updated else "",
        revision=_revision(stored),
    )


def _revision(stored: Sequence[dict[str, Json]]) -> str:
    """Give the ids of the list, which every overwrite makes anew; "" where one is not told."""
    ids = sorted(text(one, "id") for one in stored)
    return " ".join(ids) if all(ids) else ""


def _by_name(document: dict[str, Json]) -> dict[str, Json]:
    policies = document.get("policies")
    shape = shape_of(LogPolicySetSpec).at("policies")
    return by_identity(policies if isinstance(policies, list) else [], shape) or {}


def _agreed(values: Sequence[Json | Missing]) -> Json | Missing:
    """Give the value if all are one; order does not count."""
    first, *others = values or [ABSENT]
    shape = shape_of(LogPolicySetSpec).at("policies").item.at("logRules").at("severities")
    return first if all(same(first, other, shape) for other in others) else ABSENT


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

    A lost answer is looked up: the list is still the old one (sent once more),
    as sent (written), or another (refused as stale).
    Raises what `Api.send` raises, but for refusals.
    """
    return [await _write(api, sending) for sending in sendings]


async def _write(api: Api, sending: Sending, *, again: bool = True) -> Outcome:
    try:
        reply = await api.send("POST", OVERWRITE, sending.document, request=Request.FINDABLE)
    except ServiceRefused as refused:
        return refusal(sending, refused)
    except OutcomeUnknown as lost:
        now = await _looked_up(api, sending, lost)
        # Severities are not returned, so only new ids tell a written list from the old one.
        if now.version == _version_before(sending):
            if not again:
                raise
            return await _write(api, sending, again=False)
        if covers(now.document, sending.document, shape_of(LogPolicySetSpec)):
            return Written(sending.ref, None, "the answer was lost; the list shows it was written")
        said = "the answer was lost, and the list is neither the old nor the new one"
        return Refused(sending.ref, said, exit_code=6, sure=False)
    return Written(sending.ref, None, revision=_told_revision(sending, reply))


def _told_revision(sending: Sending, reply: Json) -> str:
    """Give the revision that the answer tells; "" unless it holds every policy that was sent."""
    responses = reply.get("createResponses") if isinstance(reply, dict) else None
    created = [
        policy
        for response in (responses if isinstance(responses, list) else [])
        if isinstance(policy := value_at(response, ("policy",)), dict)
    ]
    sent = sending.document.get("policies")
    whole = isinstance(sent, list) and len(created) == len(sent)
    return _revision(created) if whole else ""


def _version_before(sending: Sending) -> str | None:
    observed = sending.change.observation
    return observed.version if isinstance(observed, Seen) else None


async def _looked_up(api: Api, sending: Sending, lost: OutcomeUnknown) -> Seen:
    try:
        return seen(await _read(api), [sending.document])
    except ReconcilerError as error:
        raise OutcomeUnknown(f"{lost}; and so was the look-up: {error}") from error


INPUT_FIELDS = (
    "name",
    "priority",
    "description",
    "disabled",
    "applicationRule",
    "subsystemRule",
    "archiveRetention",
    "placement",
)
"""What a policy to create may hold. Source: `Log data policy` in the API document."""


def flaw_of_input(policy: dict[str, Json]) -> str:
    """Say what is wrong with a policy to create, "" for nothing that can be told offline."""
    if not text(policy, "name"):
        return "it has no `name`"
    for field in policy:
        if field == "enabled":
            return "`enabled` is how a policy is stored; write `disabled` instead"
        if field in READ_ONLY:
            return f"`{field}` is set by the service only"
        near = "" if field in INPUT_FIELDS else nearest(field, INPUT_FIELDS)
        if near:
            return f"unknown field `{field}`; did you mean `{near}`?"
    return ""


async def bulk_create(api: Api, requests: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Add policies atomically (16); gives the stored records.

    A lost answer is looked up in the list. Raises Unsettled where that does not
    tell, Unavailable where it tells that nothing was added, and what `Api.send` raises.
    """
    before = {text(one, "id") for one in members(await _read(api), "policies")}
    body: Json = {"policyRequests": list(requests)}
    try:
        reply = await api.send("POST", BULK_CREATE, body, request=Request.FINDABLE)
    except OutcomeUnknown as lost:
        return await _added_since(api, before, [text(one, "name") for one in requests], lost)
    return [
        policy
        for response in members(reply, "createResponses")
        if isinstance(policy := response.get("policy"), dict)
    ]


async def _added_since(
    api: Api, before: set[str], names: Sequence[str], lost: OutcomeUnknown
) -> list[dict[str, Json]]:
    look = "look with `reconciler policies list` before adding them again"
    try:
        listed = members(await _read(api), "policies")
    except ReconcilerError as error:
        raise Unsettled(f"{lost}; and so was the look-up ({error}): {look}") from error
    added = {text(one, "name"): one for one in listed if text(one, "id") not in before}
    there = [name for name in names if name in added]
    if not there:
        raise Unavailable(f"{lost}; none of the policies is there, so nothing was added") from lost
    if there != list(names):
        missing = ", ".join(name for name in names if name not in added)
        said = f"{', '.join(there)} is there, {missing} is not"
        raise Unsettled(f"{lost}; of the policies, {said}: {look}") from lost
    return [added[name] for name in names]


async def bulk_test(api: Api, rows: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Ask which policy each row of log metadata meets (18).

    A row is {applicationNameValues, subsystemNameValues, severityValues}, a
    result {matched, metaFieldsValues, policy}. Raises UnreadableReply unless
    each row has its result.
    """
    reply = await api.ask(BULK_TEST, {"metaFieldsValuesList": list(rows)})
    results = members(reply, "testPoliciesBulkResult")
    if len(results) != len(rows):
        raise UnreadableReply(f"the service answered {len(results)} of {len(rows)} rows")
    return results
