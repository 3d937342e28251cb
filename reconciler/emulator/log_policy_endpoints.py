"""Log data policies: endpoints 15 to 18, and their models. Bounds: docs/assumptions.md.

The list may come in another order than that in which the policies take effect: a client has to sort
by the field `order`. Identity is the name, as an overwrite gives every policy a new id.

Names in a rule, and values of a log, may be several joined by commas: the policy applies to the
log when any of its values fits. The API document does not show how a severity is written in a
test, so `ERROR` and `SEVERITY_ERROR` are the same.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Annotated, ClassVar, Literal
from uuid import uuid4

from pydantic import AfterValidator, BeforeValidator, Field

from reconciler.emulator import wire
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Resource
from reconciler.emulator.paging import Flag, only

PolicyPriority = Annotated[
    str, wire.OpenEnum("PRIORITY_TYPE_", "UNSPECIFIED", "BLOCK", "LOW", "MEDIUM", "HIGH")
]
Severity = Annotated[
    str,
    wire.OpenEnum(
        "SEVERITY_", "UNSPECIFIED", "DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL"
    ),
]

POLICY_LIMIT = 200  # docs/assumptions.md: seen, not in the document


def _is_latin_1(text: str) -> bool:
    return all(ord(character) < 256 for character in text)  # noqa: PLR2004 - the size of Latin-1


_LATIN_1 = Field(json_schema_extra={"pattern": "^[\\u0000-\\u00ff]*$"})
PolicyDescription = Annotated[
    str,
    Field(max_length=255),
    AfterValidator(wire.rule(_is_latin_1, "latin_1", "has a character outside Latin-1")),
    _LATIN_1,
]


class PolicyRule(wire.WireObject):
    """A condition on the name of an application or subsystem; commas in `name` separate several."""

    name: str = ""
    rule_type_id: Annotated[
        str, wire.OpenEnum("RULE_TYPE_ID_", "UNSPECIFIED", "IS", "IS_NOT", "START_WITH", "INCLUDES")
    ] = "RULE_TYPE_ID_UNSPECIFIED"


class ArchiveRetention(wire.WireObject):
    """How long the archive keeps the logs."""

    id: str = ""


class Placement(wire.WireObject):
    """Where a new policy goes; anything but `first` is last."""

    first: wire.Empty | None = None


class LogRules(wire.WireObject):
    """The severities a policy is for; a profile says whether they are read back."""

    severities: Annotated[list[Severity], Field(max_length=6)]


class LogPolicy(wire.WireObject):
    """The record of a policy that the service returns; `logRules` only if the profile says so."""

    metadata: ClassVar[frozenset[str]] = frozenset({"companyId", "createdAt", "updatedAt"})

    id: str
    company_id: wire.Int32
    name: str
    description: str = ""
    order: wire.Int32
    priority: PolicyPriority = "PRIORITY_TYPE_UNSPECIFIED"
    enabled: bool
    deleted: bool = False
    application_rule: PolicyRule | None = None
    subsystem_rule: PolicyRule | None = None
    archive_retention: ArchiveRetention | None = None
    log_rules: LogRules | None = None
    created_at: wire.Timestamp
    updated_at: wire.Timestamp


class PolicyInput(wire.WireObject):
    """A policy to create; `disabled` is stored as its inverse, `enabled`."""

    read_only: ClassVar[frozenset[str]] = LogPolicy.metadata | {
        "id",
        "order",
        "enabled",
        "deleted",
        "logRules",
    }

    name: Annotated[str, Field(min_length=1, max_length=255)]
    description: PolicyDescription = ""
    priority: PolicyPriority = "PRIORITY_TYPE_UNSPECIFIED"
    disabled: bool = False
    application_rule: PolicyRule | None = None
    subsystem_rule: PolicyRule | None = None
    archive_retention: ArchiveRetention | None = None
    placement: Placement | None = None


class BulkCreateRequest(wire.WireObject):
    """Request of endpoint 16."""

    policy_requests: Annotated[list[PolicyInput], Field(max_length=POLICY_LIMIT)]


class OverwritePolicy(PolicyInput):
    """A policy of an overwrite, with fewer defaults; its place is its index in the list."""

    read_only: ClassVar[frozenset[str]] = PolicyInput.read_only | {"placement"}
    needed: ClassVar[frozenset[str]] = frozenset({"description", "priority"})


class OverwriteItem(wire.WireObject):
    """One place of the new list."""

    log_rules: LogRules
    policy: OverwritePolicy


class OverwriteRequest(wire.WireObject):
    """Request of endpoint 17; an empty list deletes all."""

    policies: Annotated[list[OverwriteItem], Field(max_length=POLICY_LIMIT)]


class PolicyQuery(wire.WireObject):
    """Query of endpoint 15; a source type of spans lists none. Names: docs/assumptions.md."""

    enabled_only: Annotated[Flag, Field(alias="enabled_only")] = False
    source_type: Annotated[
        Literal["SOURCE_TYPE_UNSPECIFIED", "SOURCE_TYPE_LOGS", "SOURCE_TYPE_SPANS"],
        BeforeValidator(only),
        Field(alias="source_type"),
    ] = "SOURCE_TYPE_UNSPECIFIED"


class PolicyListReply(wire.WireObject):
    """Reply of endpoint 15."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"policies"})

    policies: list[LogPolicy] = Field(default_factory=list)


class CreatedPolicy(wire.WireObject):
    """One entry of `createResponses`."""

    policy: LogPolicy


class CreateReply(wire.WireObject):
    """Reply of endpoints 16 and 17, in the order of the request."""

    create_responses: list[CreatedPolicy] = Field(default_factory=list)


class MetaFieldsValues(wire.WireObject):
    """The metadata of one log; commas in a text separate several values."""

    application_name_values: str = ""
    severity_values: str = ""
    subsystem_name_values: str = ""


class LogTestRequest(wire.WireObject):
    """Request of endpoint 18."""

    meta_fields_values_list: list[MetaFieldsValues]


class LogTestResult(wire.WireObject):
    """The first policy that matches a log, if any."""

    matched: bool
    meta_fields_values: MetaFieldsValues
    policy: LogPolicy | None = None


class LogTestReply(wire.WireObject):
    """Reply of endpoint 18, in the order of the request."""

    test_policies_bulk_result: list[LogTestResult] = Field(default_factory=list)


def takes(
    policy: LogPolicy, severities: Sequence[str], log: MetaFieldsValues, *, any_case: bool = False
) -> bool:
    """Return whether severities and both rules match the log; no severities match all logs.

    With `any_case`, upper and lower case of names are the same.
    """
    values = _several(log.severity_values)
    sent = {"SEVERITY_" + value.upper().removeprefix("SEVERITY_") for value in values}
    return (
        (not severities or not sent.isdisjoint(severities))
        and _follows(policy.application_rule, log.application_name_values, any_case=any_case)
        and _follows(policy.subsystem_rule, log.subsystem_name_values, any_case=any_case)
    )


def _follows(rule: PolicyRule | None, joined: str, *, any_case: bool) -> bool:
    if rule is None:
        return True
    names = _several(rule.name.casefold() if any_case else rule.name)
    values = _several(joined.casefold() if any_case else joined)
    match rule.rule_type_id:
        case "RULE_TYPE_ID_IS":
            return not set(names).isdisjoint(values)
        case "RULE_TYPE_ID_IS_NOT":
            return not set(names).issuperset(values)
        case "RULE_TYPE_ID_START_WITH":
            return any(value.startswith(tuple(names)) for value in values)
        case "RULE_TYPE_ID_INCLUDES":
            return any(name in value for value in values for name in names)
        case _:
            return True


def _several(joined: str) -> list[str]:
    return [part.strip() for part in joined.split(",")]


LOG_POLICIES = Resource(
    "log_policies (name TEXT PRIMARY KEY, place INTEGER NOT NULL,"
    " severities TEXT NOT NULL, record TEXT NOT NULL)",
)
_PATH = "/dataplans/policies/v1"
_COMPANY_ID = 1001
_NOT_KEPT = frozenset(("disabled", "placement", "logRules"))


def _shown(call: Call, policy: LogPolicy) -> LogPolicy:
    """Return a policy as it is answered, with its severities where the profile says so."""
    is_hidden = call.profile.policy_severities == "hidden"
    return policy.model_copy(update={"log_rules": None}) if is_hidden else policy


@LOG_POLICIES.answers(15, "GET", _PATH, PolicyQuery, PolicyListReply, in_query=True)
def _list(call: Call, asked: PolicyQuery) -> PolicyListReply:
    if asked.source_type == "SOURCE_TYPE_SPANS":
        return PolicyListReply()
    policies = [
        _shown(call, policy)
        for policy in _in_order(call.store)
        if policy.enabled or not asked.enabled_only
    ]
    if call.profile.policy_order == "reversed":
        policies.reverse()
    if call.profile.policy_order == "by_name":
        policies.sort(key=lambda policy: policy.name)
    return PolicyListReply(policies=policies)


@LOG_POLICIES.answers(
    16, "POST", _PATH + "/bulkCreate", BulkCreateRequest, CreateReply, creates=True
)
def _create(call: Call, request: BulkCreateRequest) -> CreateReply:
    inputs = request.policy_requests
    existing = _in_order(call.store)
    _check_names_differ(call, inputs, "policyRequests[{}].name")
    if call.profile.duplicate_policies == "refused":
        taken = {policy.name for policy in existing}
        for sent in inputs:
            if sent.name in taken:
                raise wire.TakenError(f"policy {sent.name}")
    if len(existing) + len(inputs) > POLICY_LIMIT:
        raise wire.InvalidRequestError(f"policyRequests: at most {POLICY_LIMIT} policies in all")
    created = [_policy(call, sent, []) for sent in inputs]
    first: list[LogPolicy] = []
    last: list[LogPolicy] = []
    for sent, policy in zip(inputs, created, strict=True):
        goes_first = sent.placement is not None and sent.placement.first is not None
        (first if goes_first else last).append(policy)
    _keep(call.store, [*first, *existing, *last])
    return _created(call, created)


@LOG_POLICIES.answers(
    17, "POST", _PATH + "/atomicOverwriteLogPolicies", OverwriteRequest, CreateReply, creates=True
)
def _overwrite(call: Call, request: OverwriteRequest) -> CreateReply:
    sent = [item.policy for item in request.policies]
    _check_names_differ(call, sent, "policies[{}].policy.name")
    new = [_policy(call, item.policy, item.log_rules.severities) for item in request.policies]
    _keep(call.store, new)
    return _created(call, new)


@LOG_POLICIES.answers(
    18, "POST", _PATH + "/bulkTestLog", LogTestRequest, LogTestReply, only_reads=True
)
def _test(call: Call, request: LogTestRequest) -> LogTestReply:
    enabled = [policy for policy in _in_order(call.store) if policy.enabled]
    any_case = call.profile.policy_names == "any_case"
    reply = LogTestReply()
    for log in request.meta_fields_values_list:
        met = (
            _shown(call, policy)
            for policy in enabled
            if takes(policy, _severities(policy), log, any_case=any_case)
        )
        policy = next(met, None)
        result = LogTestResult(matched=policy is not None, meta_fields_values=log, policy=policy)
        reply.test_policies_bulk_result.append(result)
    return reply


def _check_names_differ(call: Call, policies: Sequence[PolicyInput], place: str) -> None:
    names = [policy.name for policy in policies]
    for index, name in enumerate(names):
        if name in names[:index] and call.profile.duplicate_policies == "refused":
            raise wire.InvalidRequestError(f"{place.format(index)}: {name!r} is there twice")


def _policy(call: Call, sent: PolicyInput, severities: list[str]) -> LogPolicy:
    """Return the stored form: `enabled` is the inverse of `disabled`; `_keep` sets the order."""
    kept = {k: v for k, v in wire.as_json(sent).items() if k not in _NOT_KEPT}
    own = {
        "id": str(uuid4()),
        "companyId": _COMPANY_ID,
        "order": 0,
        "enabled": not sent.disabled,
        "createdAt": call.now,
        "updatedAt": call.now,
    }
    return wire.read(LogPolicy, {**kept, **own, "logRules": {"severities": severities}})


def _severities(policy: LogPolicy) -> list[str]:
    """Return the severities of a policy, which not every service shows; an empty list is all."""
    return policy.log_rules.severities if policy.log_rules else []


def _in_order(store: Store) -> list[LogPolicy]:
    rows = store.rows("SELECT record, severities FROM log_policies ORDER BY place")
    return [
        wire.read(
            LogPolicy, {**json.loads(record), "logRules": {"severities": json.loads(severities)}}
        )
        for record, severities in rows
    ]


def held_policies(store: Store) -> list[wire.JsonObject]:
    """Return all policies in the order in which they take effect, each with its severities."""
    return [wire.as_json(policy) for policy in _in_order(store)]


def _keep(store: Store, policies: list[LogPolicy]) -> None:
    """Store the policies as the whole list, numbered from 1."""
    store.write("DELETE FROM log_policies")
    keys: set[str] = set()
    for place, policy in enumerate(policies, start=1):
        policy.order = place
        name = policy.name
        # The key is the name, with a number if another policy has the same name.
        free = chain([name], (f"{name} #{number}" for number in count(2)))
        keys.add(key := next(key for key in free if key not in keys))
        severities = json.dumps(_severities(policy))
        store.keep("log_policies", key, place, severities, wire.as_text(policy))


def _created(call: Call, policies: Iterable[LogPolicy]) -> CreateReply:
    return CreateReply(
        create_responses=[CreatedPolicy(policy=_shown(call, policy)) for policy in policies]
    )
