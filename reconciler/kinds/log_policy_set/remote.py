"""Log policies over the wire: endpoints 15, 16, 17 and 18.

The whole ordered list is one resource, because the one write replaces it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reconciler import errors, model
from reconciler.api.retry import Request
from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Path,
    by_identity,
    covers,
    same,
    stored_name,
    value_at,
)
from reconciler.kinds.assumed_reads import all_members, text
from reconciler.kinds.kind import OnIdentified, Remote, Sending, each
from reconciler.kinds.log_policy_set import SEVERITIES, LogPolicySetSpec, Policy, PolicyItem
from reconciler.kinds.shape import facts_of, only_writable, shape_of
from reconciler.model.assumptions import POLICIES
from reconciler.runtime.advice import on_service
from reconciler.syntax.suggestions import nearest

if TYPE_CHECKING:
    # Only its type is needed here: importing it loads the whole HTTP client.
    from reconciler.api.client import Api
    from reconciler.journal.history import Memory


OVERWRITE = f"{POLICIES}/atomicOverwriteLogPolicies"
BULK_CREATE = f"{POLICIES}/bulkCreate"
BULK_TEST = f"{POLICIES}/bulkTestLog"

# Without it the answer includes span policies, which would look destroyed (docs/assumptions.md).
LOGS_ONLY = "SOURCE_TYPE_LOGS"


async def observe(api: Api, manifest: model.Manifest, memory: Memory) -> model.Observation:
    """Read the list in the order of `order`.

    Severities that are not in the answer are recalled from the journal.
    """
    reply = await _read(api)
    return seen(reply, (manifest.spec, *memory.candidates), Recall.of(memory))


@dataclass(frozen=True, slots=True)
class Recall:
    """Written documents that supply the severities that an answer leaves out, by name.

    With a write in doubt there are several documents. `ids` are the ids of the last acknowledged
    overwrite, none if they were not returned.
    """

    written: tuple[Mapping[str, Json], ...]
    ids: frozenset[str] = frozenset()
    doubtful: bool = False

    @classmethod
    def of(cls, memory: Memory) -> Recall:
        """Return the written documents of the journal.

        The result is `doubtful` if the service has acknowledged no write yet.
        """
        if memory.last is None:
            return cls(())
        written = tuple(map(_by_name, memory.candidates))
        ids = frozenset(memory.last.revision.split())
        return cls(written, ids, memory.acknowledged is None)

    def severities(self, record: dict[str, Json]) -> Json | Missing:
        """Return the severities of a policy, ABSENT if they are unknown.

        Every overwrite gives each policy another id, so one of our ids proves that ours is the
        last.
        """
        values = [value_at(_named(document, record), SEVERITIES) for document in self.written]
        if text(record, "id") in self.ids:
            return values[0]
        return ABSENT if self.overwritten(record) else _agreed(values)

    def overwritten(self, record: dict[str, Json]) -> bool:
        """Return whether another writer has replaced a policy of ours."""
        ours = self.written and _named(self.written[0], record) is not ABSENT
        known = self.ids and text(record, "id") not in self.ids
        return bool(ours and known and not self.doubtful)


async def _read(api: Api) -> Json | Missing:
    return await api.read(POLICIES, api.assumptions.parameter("sourceType", LOGS_ONLY))


def seen(reply: Json | Missing, ours: Sequence[dict[str, Json]], recall: Recall) -> model.Seen:
    """Convert stored records to the form in which policies are written.

    `ours` are the documents that we write, or wrote: their fields are kept, though they are not
    known to be writable. Severities that the answer leaves out are filled in from `recall`, if it
    has them. Raises UnreadableReply unless the list is complete.
    """
    stored = [
        document
        for document in all_members(reply, "policies")
        if document.get("deleted") is not True
    ]
    stored.sort(
        key=lambda record: order if isinstance(order := record.get("order"), int | float) else 0
    )
    declared = [*map(_by_name, ours)]
    policies: list[Json] = []
    recalled: list[Path] = []
    unseen: list[Path] = []
    overwritten: list[Path] = []
    for name, record in zip(_names(stored), stored, strict=True):
        path = ("policies", name, *SEVERITIES)
        own = (_named(document, record) for document in declared)
        item = as_input(record, [value for value in own if value is not ABSENT])
        policies.append(item)
        if value_at(item, SEVERITIES) not in (ABSENT, None):
            continue
        severities = recall.severities(record)
        if severities is ABSENT:
            unseen.append(path)
            overwritten.extend([path] if recall.overwritten(record) else [])
            continue
        rules = item.get("logRules")
        known = rules if isinstance(rules, dict) else {}
        item["logRules"] = {**known, "severities": severities}
        recalled.append(path)
    versions = (f"{text(document, 'id')} {text(document, 'updatedAt')}" for document in stored)
    version = "\n".join((f"{len(stored)} policies", *versions))
    server_info = _reported(stored)
    return model.Seen(
        None,
        {"policies": policies},
        version,
        tuple(recalled),
        edit=model.LastEdit(at=server_info.updated),
        revision=_revision(stored),
        unseen=tuple(unseen),
        overwritten=tuple(overwritten),
        told=server_info,
    )


def _reported(stored: Sequence[dict[str, Json]]) -> model.ServerInfo:
    """Return the id of each policy by its name, and the time of the latest edit."""
    return model.ServerInfo(
        updated=max((text(document, "updatedAt") for document in stored), default=""),
        ids={
            text(document, "name"): text(document, "id")
            for document in stored
            if text(document, "id")
        },
    )


def _revision(stored: Sequence[dict[str, Json]]) -> str:
    """Return the ids of the list, which change with every overwrite; "" if one is missing."""
    ids = " ".join(sorted(text(document, "id") for document in stored))
    return ids if len(ids.split()) == len(stored) else ""


def _by_name(document: dict[str, Json]) -> dict[str, Json]:
    policies = document.get("policies")
    shape = shape_of(LogPolicySetSpec).at("policies")
    return by_identity(policies if isinstance(policies, list) else [], shape) or {}


def _named(ours: Mapping[str, Json], record: dict[str, Json]) -> Json | Missing:
    """Return our policy for a record, also if the service changed the spelling of its name."""
    name = text(record, "name")
    return ours.get(name, ours.get(stored_name(name), ABSENT))


def _names(stored: Sequence[dict[str, Json]]) -> list[str]:
    """Return the names of the records for paths."""
    names = [text(document, "name") for document in stored]
    named = _by_name({"policies": [{"policy": {"name": name}} for name in names]})
    return [*named] if len(named) == len(names) else names


def _agreed(values: Sequence[Json | Missing]) -> Json | Missing:
    """Return the value if all values are equal; order does not count."""
    first, *others = values or [ABSENT]
    shape = shape_of(LogPolicySetSpec).at("policies").item.at("logRules").at("severities")
    return first if all(same(first, other, shape) for other in others) else ABSENT


def as_input(record: dict[str, Json], ours: Sequence[Json]) -> dict[str, Json]:
    """Return a stored record as the item of an overwrite that would create it.

    Its policy has `disabled`, not `enabled`, and only fields that may be written.
    """
    rules = {"logRules": record["logRules"]} if isinstance(record.get("logRules"), dict) else {}
    policy = {key: value for key, value in record.items() if key != "logRules"}
    enabled = record.get("enabled", False)
    if isinstance(enabled, bool):
        # A service may leave out a zero value: without `enabled`, the policy is disabled.
        policy["disabled"] = not enabled
    item = only_writable({**rules, "policy": policy}, PolicyItem, ours)
    assert isinstance(item, dict)  # noqa: S101 - an object stays an object
    return item


async def write(
    api: Api, sending: Sending, identified: OnIdentified, *, again: bool = True
) -> model.Outcome:
    """Overwrite the whole list in one atomic request.

    After a lost answer the list is read: it is still the old one (sent once more), as sent
    (written), or another (refused as stale).
    """
    try:
        reply = await api.send("POST", OVERWRITE, sending.document, request=Request.FINDABLE)
    except errors.OutcomeUnknown as lost:
        now = await _looked_up(api, sending, lost)
        # Severities may not be returned, so only new ids distinguish a written list from the old.
        before = sending.change.observation
        if isinstance(before, model.Seen) and now.version == before.version:
            if not again:
                raise
            return await write(api, sending, identified, again=False)
        if covers(now.document, sending.document, shape_of(LogPolicySetSpec)):
            found_message = "the answer was lost; the list shows it was written"
            return model.Written(
                sending.ref, None, found_message, revision=now.revision, told=now.told
            )
        message = "the answer was lost, and the list is neither the old nor the new one"
        return model.Unconfirmed(sending.ref, message, exit_code=errors.ExitCode.STALE)
    created, sent = _created(reply), sending.document.get("policies")
    is_whole = isinstance(sent, list) and len(created) == len(sent)
    revision = _revision(created) if is_whole else ""
    return model.Written(sending.ref, None, revision=revision, told=_reported(created))


async def _looked_up(api: Api, sending: Sending, lost: errors.OutcomeUnknown) -> model.Seen:
    try:
        sent = Recall((_by_name(sending.document),))
        return seen(await _read(api), [sending.document], sent)
    except errors.ReconcilerError as error:
        raise errors.OutcomeUnknown(f"{lost}; and so was the look-up: {error}") from error


REMOTE = Remote(observe, each(write))


def flaw_of_input(policy: dict[str, Json]) -> str:
    """Return what is wrong with a policy to create, as far as known offline; "" if nothing is."""
    if not text(policy, "name"):
        return "it has no `name`"
    fields = facts_of(Policy)
    writable = [name for name, facts in fields.items() if facts.read_only is None]
    # The API document has a placement for policies that are created.
    known = [*writable, "placement"]
    for field in policy:
        if field in known:
            continue
        if field == "enabled":
            return "`enabled` is how a policy is stored; write `disabled` instead"
        if field in fields:
            return f"`{field}` is set by the service only"
        near = nearest(field, known)
        if near:
            return f"unknown field `{field}`; did you mean `{near}`?"
    return ""


async def bulk_create(api: Api, requests: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Add policies atomically (16); return the stored records.

    After a lost answer the list is read. Raises Unsettled if that does not show the result,
    Unavailable if it shows that nothing was added, and what `Api.send` raises.
    """
    before = {text(document, "id") for document in all_members(await _read(api), "policies")}
    body: Json = {"policyRequests": list(requests)}
    names = [text(request, "name") for request in requests]
    try:
        reply = await api.send("POST", BULK_CREATE, body, request=Request.FINDABLE)
    except errors.OutcomeUnknown as lost:
        return await _added_since(api, before, names, lost)
    created = _created(reply)
    if len(created) != len(names):
        message = f"the service's answer shows {len(created)} of {len(names)} policies"
        return await _added_since(api, before, names, errors.OutcomeUnknown(message))
    return created


def _created(reply: Json) -> list[dict[str, Json]]:
    """Return the created records in an answer to 16 or 17, as far as it has them."""
    responses = value_at(reply, ("createResponses",))
    return [
        policy
        for response in (responses if isinstance(responses, list) else [])
        if isinstance(policy := value_at(response, ("policy",)), dict)
    ]


async def _added_since(
    api: Api, before: set[str], names: Sequence[str], lost: errors.OutcomeUnknown
) -> list[dict[str, Json]]:
    look = f"look with `{on_service('policies list')}` before adding them again"
    try:
        listed = all_members(await _read(api), "policies")
    except errors.ReconcilerError as error:
        raise errors.Unsettled(f"{lost}; and so was the look-up ({error}): {look}") from error
    added = {
        text(document, "name"): document
        for document in listed
        if text(document, "id") not in before
    }
    there = [name for name in names if name in added]
    if not there:
        raise errors.Unavailable(
            f"{lost}; none of the policies is there, so nothing was added"
        ) from lost
    if there != list(names):
        missing = ", ".join(name for name in names if name not in added)
        message = f"{', '.join(there)} is there, {missing} is not"
        raise errors.Unsettled(f"{lost}; of the policies, {message}: {look}") from lost
    return [added[name] for name in names]


async def bulk_test(api: Api, rows: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Ask which policy each row of log metadata matches (18).

    A row is {applicationNameValues, subsystemNameValues, severityValues}, a result {matched,
    metaFieldsValues, policy}. Raises UnreadableReply unless each row has its result.
    """
    reply = await api.ask(BULK_TEST, {"metaFieldsValuesList": list(rows)})
    results = all_members(reply, "testPoliciesBulkResult")
    if len(results) != len(rows):
        raise errors.UnreadableReply(f"the service answered {len(results)} of {len(rows)} rows")
    return results
