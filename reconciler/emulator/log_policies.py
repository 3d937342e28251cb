"""Log data policies: endpoints 15 to 18.

The list comes in another order than the policies take effect: the field
`order` says it, and a client has to sort. Identity is the name, as an
overwrite gives every policy a new id.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, count
from uuid import uuid4

from reconciler.emulator.endpoint import Call, Endpoint, Resource
from reconciler.emulator.errors import ConflictError, InvalidRequestError
from reconciler.emulator.models.log_policy import (
    POLICY_LIMIT,
    BulkCreateRequest,
    CreatedPolicy,
    CreateReply,
    LogPolicy,
    LogRules,
    LogTestReply,
    LogTestRequest,
    LogTestResult,
    OverwriteRequest,
    PolicyInput,
    PolicyListReply,
    PolicyQuery,
)
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.policy_matching import takes
from reconciler.emulator.reading import read
from reconciler.emulator.rendering import as_json, as_text
from reconciler.emulator.store import Store

_TABLE = """log_policies (
    name TEXT PRIMARY KEY, place INTEGER NOT NULL, severities TEXT NOT NULL, record TEXT NOT NULL
)"""
_PATH = "/dataplans/policies/v1"
_COMPANY_ID = 1001
_NOT_KEPT = frozenset(("disabled", "placement", "logRules"))


@dataclass(frozen=True)
class _Held:
    """A stored policy with its severities, which not every service shows; none means all."""

    policy: LogPolicy
    severities: tuple[str, ...]


def _list(call: Call, asked: PolicyQuery) -> PolicyListReply:
    if asked.source_type == "SOURCE_TYPE_SPANS":
        return PolicyListReply()
    policies = [
        _shown(call, held)
        for held in _in_order(call.store)
        if held.policy.enabled or not asked.enabled_only
    ]
    match call.profile.policy_order:
        case "reversed":
            policies.reverse()
        case "by_name":
            policies.sort(key=lambda policy: policy.name)
        case "effective":
            pass
    return PolicyListReply(policies=policies)


def _create(call: Call, request: BulkCreateRequest) -> CreateReply:
    inputs = request.policy_requests
    existing = _in_order(call.store)
    if call.profile.duplicate_policies == "refused":
        _check_names_differ([input_.name for input_ in inputs], "policyRequests[{}].name")
        taken = {held.policy.name for held in existing}
        for input_ in inputs:
            if input_.name in taken:
                raise ConflictError(f"Already Exists: policy {input_.name}")
    if len(existing) + len(inputs) > POLICY_LIMIT:
        raise InvalidRequestError(f"policyRequests: at most {POLICY_LIMIT} policies in all")
    created = [_Held(_policy(call, input_), ()) for input_ in inputs]
    first = [held for input_, held in zip(inputs, created, strict=True) if _goes_first(input_)]
    last = [held for input_, held in zip(inputs, created, strict=True) if not _goes_first(input_)]
    _keep(call.store, [*first, *existing, *last])
    return _created(call, created)


def _overwrite(call: Call, request: OverwriteRequest) -> CreateReply:
    if call.profile.duplicate_policies == "refused":
        names = [item.policy.name for item in request.policies]
        _check_names_differ(names, "policies[{}].policy.name")
    new = [
        _Held(_policy(call, item.policy), tuple(item.log_rules.severities))
        for item in request.policies
    ]
    _keep(call.store, new)
    return _created(call, new)


def _test(call: Call, request: LogTestRequest) -> LogTestReply:
    enabled = [held for held in _in_order(call.store) if held.policy.enabled]
    any_case = call.profile.policy_names == "any_case"
    reply = LogTestReply()
    for values in request.meta_fields_values_list:
        met = (
            held
            for held in enabled
            if takes(held.policy, held.severities, values, any_case=any_case)
        )
        first = next(met, None)
        policy = _shown(call, first) if first else None
        reply.test_policies_bulk_result.append(
            LogTestResult(matched=policy is not None, meta_fields_values=values, policy=policy)
        )
    return reply


def _goes_first(sent: PolicyInput) -> bool:
    return sent.placement is not None and sent.placement.first is not None


def _check_names_differ(names: list[str], place: str) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InvalidRequestError(f"{place.format(index)}: {name!r} is there twice")


def _policy(call: Call, sent: PolicyInput) -> LogPolicy:
    """Give the stored form: `enabled` is the inverse of `disabled`, the place comes later."""
    kept = {k: v for k, v in as_json(sent).items() if k not in _NOT_KEPT}
    own = {
        "id": str(uuid4()),
        "companyId": _COMPANY_ID,
        "order": 0,
        "enabled": not sent.disabled,
        "createdAt": call.now,
        "updatedAt": call.now,
    }
    return read(LogPolicy, {**kept, **own})


def _in_order(store: Store) -> list[_Held]:
    rows = store.rows("SELECT record, severities FROM log_policies ORDER BY place")
    return [
        _Held(read(LogPolicy, json.loads(record)), tuple(json.loads(severities)))
        for record, severities in rows
    ]


def held_policies(store: Store) -> list[JsonObject]:
    """Give all policies in the order in which they take effect, each with its severities."""
    return [
        {**as_json(held.policy), "logRules": {"severities": list(held.severities)}}
        for held in _in_order(store)
    ]


def _keep(store: Store, policies: list[_Held]) -> None:
    """Make this the whole list, and number it from 1."""
    store.write("DELETE FROM log_policies")
    keys: set[str] = set()
    for place, held in enumerate(policies, start=1):
        held.policy.order = place
        keys.add(key := _free_key(held.policy.name, keys))
        store.write(
            "INSERT INTO log_policies VALUES (?, ?, ?, ?)",
            key,
            place,
            json.dumps(held.severities),
            as_text(held.policy),
        )


def _free_key(name: str, keys: set[str]) -> str:
    """Give what a policy is kept under: its name, numbered where another has the same."""
    numbers = (f"{name} #{number}" for number in count(2))
    return next(key for key in chain([name], numbers) if key not in keys)


def _shown(call: Call, held: _Held) -> LogPolicy:
    """Give a policy as it is told, with its severities where the profile says so."""
    if call.profile.policy_severities == "hidden":
        return held.policy
    rules = LogRules(severities=list(held.severities))
    return held.policy.model_copy(update={"log_rules": rules})


def _created(call: Call, policies: Iterable[_Held]) -> CreateReply:
    shown = [CreatedPolicy(policy=_shown(call, held)) for held in policies]
    return CreateReply(create_responses=shown)


LOG_POLICIES = Resource(
    tables=(_TABLE,),
    endpoints=(
        Endpoint(15, "GET", _PATH, PolicyQuery, PolicyListReply, _list, in_query=True),
        Endpoint(
            16,
            "POST",
            _PATH + "/bulkCreate",
            BulkCreateRequest,
            CreateReply,
            _create,
            creates=True,
        ),
        Endpoint(
            17,
            "POST",
            _PATH + "/atomicOverwriteLogPolicies",
            OverwriteRequest,
            CreateReply,
            _overwrite,
            creates=True,
        ),
        Endpoint(
            18,
            "POST",
            _PATH + "/bulkTestLog",
            LogTestRequest,
            LogTestReply,
            _test,
            only_reads=True,
        ),
    ),
)
