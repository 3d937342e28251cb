"""What has to hold in every world, judged from the command line and from what a person sees."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from forks import Ended
from harness.profiles import reads_of
from invariants import FORBIDDEN
from world_service import ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS, Live, Request
from worlds import SECRET

TEXTS = frozenset(("name", "displayName", "title", "label", "description"))
SETS = frozenset(("groupByKeys", "severities", "dayOfWeek", "labels"))
OWNED = frozenset(
    ("id", "creator", "createTime", "updateTime", "revision", "type", "createdAt", "updatedAt")
)
WRITING = frozenset(("create", "update", "assert"))


def unseen(profile: Mapping[str, Any]) -> frozenset[str]:
    """Give the kinds of which a client cannot read a record of such a service."""
    told = reads_of(profile)
    return frozenset(kind for kind in ("AlertDefinition", "SavedView") if kind not in told)


@dataclass(frozen=True)
class Wanted:
    """A resource as it is declared, holes and all."""

    ref: str
    spec: dict[str, Any]

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.ref.partition("/")[0]


@dataclass
class Round:
    """One turn: what was planned, what was done, and what there was before and after.

    `blind` are things that somebody changed where a client cannot see it, and
    `hopeless` those that cannot be written any more.
    """

    declared: tuple[Wanted, ...]
    profile: Mapping[str, Any]
    before: Live
    plan: dict[str, Any] = field(default_factory=dict)
    asked_by_plan: list[Request] = field(default_factory=list)
    applied: Ended | None = None
    asked_by_apply: list[Request] = field(default_factory=list)
    after: Live = field(default_factory=dict)
    again: dict[str, Any] = field(default_factory=dict)
    asked_again: list[Request] = field(default_factory=list)
    blind: frozenset[str] = frozenset()
    hopeless: frozenset[str] = frozenset()

    @property
    def changes(self) -> dict[str, dict[str, Any]]:
        """The changes of the plan, by ref."""
        return {change["ref"]: change for change in self.plan["changes"]}

    def record(self, live: Live, ref: str, remote_id: Any) -> Any:
        """Give what is live of a resource, None where there is none."""
        kind = ref.partition("/")[0]
        return live[kind].get("all" if kind == "LogPolicySet" else str(remote_id))

    def ids(self, plan: dict[str, Any]) -> dict[str, str]:
        """Give the id of each resource that has one, by ref."""
        return {
            change["ref"]: str(change["remoteId"])
            for change in plan["changes"]
            if change["remoteId"] is not None
        }


def broken(turn: Round) -> Iterator[tuple[str, str]]:
    """Yield every law that a turn breaks, by its name, with what was seen."""
    for law in LAWS:
        for said in law(turn):
            yield law.__name__, said


def plans_write_nothing(turn: Round) -> Iterator[str]:
    """See that a plan sends nothing that may change anything."""
    for one in (*turn.asked_by_plan, *turn.asked_again):
        if one.writes:
            yield f"a plan wrote: {one.method} {one.path}"


def live_edits_are_seen(turn: Round) -> Iterator[str]:
    """See that what a plan keeps, having looked, is live as it is declared."""
    ids = turn.ids(turn.plan)
    for one in turn.declared:
        change = turn.changes.get(one.ref)
        if change is None:
            yield f"{one.ref} is declared, and not in the plan"
        elif change["action"] == "keep" and change["evidence"] == "live":
            held = turn.record(turn.before, one.ref, change["remoteId"])
            wanted = filled(one, ids, turn.profile)
            if turn.profile.get("policySeverities") != "returned":
                wanted, held = without_severities(wanted), without_severities(held)
            if place := difference(held, wanted):
                yield f"{one.ref} is kept, and live differs at {place}"


def writes_are_said(turn: Round) -> Iterator[str]:
    """See that every write has its line in the plan, and every line its write."""
    written = Counter(
        ref for one in turn.asked_by_apply if one.writes for ref in refs_of(one, turn)
    )
    for ref, count in written.items():
        action = turn.changes.get(ref, {}).get("action")
        if action not in WRITING:
            yield f"{ref} was written, and the plan said {action}"
        most = 2 if ref.startswith("SavedView/") and action == "create" else 1
        if count > most:
            yield f"{ref} was written {count} times"
    if turn.applied is None or turn.applied.code != 0:
        return
    for ref, change in turn.changes.items():
        if change["action"] in WRITING and not written[ref]:
            yield f"{ref} was to be written ({change['action']}), and was not"


def refs_of(one: Request, turn: Round) -> Iterator[str]:
    """Name what a write is about, by the ids and names that the plan has."""
    by_id = {
        (ref.partition("/")[0], remote_id): ref for ref, remote_id in turn.ids(turn.again).items()
    }
    by_id |= {
        (ref.partition("/")[0], remote_id): ref for ref, remote_id in turn.ids(turn.plan).items()
    }
    body = one.body if isinstance(one.body, dict) else {}
    match one.method, one.path:
        case "PUT", path if path == ALERTS:
            for item in body["alertDefsToReplace"]:
                yield by_id.get(("AlertDefinition", item["id"]), f"an alert {item['id']}")
        case "POST", path if path == OVERWRITE:
            yield next((ref for ref in turn.changes if ref.startswith("LogPolicySet/")), "policies")
        case "PUT", path if path == SLOS:
            yield by_id.get(("SLO", str(body.get("id"))), f"an SLO {body.get('id')}")
        case "PUT", path if path == DASHBOARDS:
            remote_id = body["dashboard"].get("id")
            yield by_id.get(("Dashboard", str(remote_id)), f"a dashboard {remote_id}")
        case "PUT", path if path.startswith(VIEWS):
            remote_id = path.rpartition("/")[2]
            yield by_id.get(("SavedView", remote_id), f"a view {remote_id}")
        case "POST", path:
            kind = {SLOS: "SLO", DASHBOARDS: "Dashboard", VIEWS: "SavedView"}.get(path, path)
            yield _created(kind, body, turn)
        case _:
            yield f"{one.method} {one.path}"


def _created(kind: str, body: dict[str, Any], turn: Round) -> str:
    """Find the create of a plan that sent this, by the name and all else that it declares."""
    sent = body.get("dashboard", body)
    ids = turn.ids(turn.again)
    for one in turn.declared:
        is_create = turn.changes.get(one.ref, {}).get("action") == "create"
        if one.kind == kind and is_create:
            wanted = filled(one, ids, {})
            wanted = wanted.get("dashboard", wanted)
            if sent.get("name") == wanted["name"]:
                return one.ref
    return f"a {kind} called {sent.get('name')!r}"


def declared_is_live(turn: Round) -> Iterator[str]:
    """See that after exit 0 everything is live as it is declared."""
    if turn.applied is None or turn.applied.code != 0:
        return
    ids = turn.ids(turn.again)
    for one in turn.declared:
        if one.ref in turn.blind | turn.hopeless:
            continue
        held = turn.record(turn.after, one.ref, ids.get(one.ref))
        if held is None:
            yield f"{one.ref} is not there after exit 0"
        elif place := difference(held, filled(one, ids, turn.profile)):
            yield f"{one.ref} differs live at {place} after exit 0"


def others_are_left_alone(turn: Round) -> Iterator[str]:
    """See that what is not declared stays: objects of others, and fields of ours."""
    named = {str(change["remoteId"]) for change in turn.plan["changes"]}
    for kind in ("SLO", "Dashboard", "SavedView", "AlertDefinition"):
        for remote_id, record in turn.before[kind].items():
            if remote_id not in named and turn.after[kind].get(remote_id) != record:
                yield f"the {kind} {remote_id} was not declared, and was changed"
    for ref, change in turn.changes.items():
        if change["action"] == "update" and ref not in turn.blind:
            yield from _unsaid_fields(turn, ref, change)
    held = Counter(value["name"] for value in turn.before["LogPolicySet"]["all"])
    left = Counter(value["name"] for value in turn.after["LogPolicySet"]["all"])
    said = Counter(name for change in turn.changes.values() for name in change["destroys"])
    for name in held - left:
        if not said[name]:
            yield f"the policy {name!r} was destroyed, and the plan did not say so"


def _unsaid_fields(turn: Round, ref: str, change: dict[str, Any]) -> Iterator[str]:
    before = turn.record(turn.before, ref, change["remoteId"])
    after = turn.record(turn.after, ref, change["remoteId"])
    if before is None or after is None or isinstance(before, list):
        return
    said = {_top(field["path"]) for field in change["fields"]}
    old, new = _fields(before), _fields(after)
    for name in sorted(old.keys() | new.keys()):
        pair = {name: _timeless(old.get(name))}, {name: _timeless(new.get(name))}
        if name not in said and (difference(*pair) or difference(*reversed(pair))):
            yield f"{ref}: {name} was changed, and the plan did not say so"


def _top(path: list[Any]) -> str:
    return str(path[1] if path[0] == "dashboard" and len(path) > 1 else path[0])


def _fields(record: dict[str, Any]) -> dict[str, Any]:
    """Give the fields that a write may set."""
    inner = record.get("alertDefProperties") or record.get("dashboard") or record
    locked = {"isLocked": record["isLocked"]} if "isLocked" in record else {}
    return {name: value for name, value in {**inner, **locked}.items() if name not in OWNED}


def _timeless(value: Any) -> Any:
    """Leave out the times that a service keeps of widgets."""
    if isinstance(value, dict):
        return {
            name: _timeless(inner) for name, inner in value.items() if name not in OWNED - {"id"}
        }
    return [_timeless(element) for element in value] if isinstance(value, list) else value


def nothing_is_doubled(turn: Round) -> Iterator[str]:
    """See that nothing is made again, or made without a line in the plan."""
    creates = Counter(
        ref.partition("/")[0]
        for ref, change in turn.changes.items()
        if change["action"] == "create"
    )
    for kind in ("SLO", "Dashboard", "SavedView"):
        new = turn.after[kind].keys() - turn.before[kind].keys()
        if len(new) > creates[kind]:
            yield f"{len(new)} of {kind} are new, and {creates[kind]} were to be made"
    ids = Counter((ref.partition("/")[0], id_) for ref, id_ in turn.ids(turn.again).items())
    for (kind, remote_id), count in ids.items():
        if count > 1 and kind != "LogPolicySet":
            yield f"{count} manifests are the {kind} {remote_id}"


def settles(turn: Round) -> Iterator[str]:
    """See that after exit 0 the next plan keeps everything and asks for nothing."""
    if turn.applied is None or turn.applied.code != 0:
        return
    for change in turn.again["changes"]:
        if change["action"] != "keep" and change["ref"] not in turn.hopeless:
            said = json.dumps(change["fields"], ensure_ascii=False)[:300]
            yield f"{change['ref']} is not settled: {change['action']} {said} {change['notes']}"
    if turn.again["guards"] or turn.again["unsettled"]:
        yield f"something is left: {turn.again['guards']} {turn.again['unsettled']}"


def difference(held: Any, wanted: Any, path: str = "") -> str:
    """Give the first place where what is held is not as wanted, "" where there is none.

    A zero value may be left out, or be null. Numbers are compared by value, sets without order.
    """
    if isinstance(wanted, dict) and isinstance(held, dict):
        for name, inner in wanted.items():
            place = f"{path}.{name}"
            if name not in held:
                if not is_zero(inner):
                    return f"{place} (absent, wanted {inner!r})"
            elif found := difference(*in_order(name, held[name], inner), place):
                return found
        return ""
    if isinstance(wanted, list) and isinstance(held, list) and len(wanted) == len(held):
        pairs = enumerate(zip(held, wanted, strict=True))
        places = (difference(*pair, f"{path}[{index}]") for index, pair in pairs)
        return next(filter(None, places), "")
    if (wanted is None or held is None) and is_zero(wanted) and is_zero(held):
        return ""
    numbers = isinstance(wanted, int | float) and isinstance(held, int | float)
    same_type = isinstance(wanted, bool) == isinstance(held, bool)
    same = held == wanted and (same_type if numbers else type(held) is type(wanted))
    return "" if same else f"{path} ({held!r}, wanted {wanted!r})"


def in_order(name: str, held: Any, wanted: Any) -> tuple[Any, Any]:
    """Sort both sides of what is a set."""
    if name in SETS and isinstance(held, list) and isinstance(wanted, list):
        return sorted(held), sorted(wanted)
    return held, wanted


def is_zero(value: Any) -> bool:
    """Whether a service may leave a documented field out."""
    if isinstance(value, str):
        return not value or value.endswith("UNSPECIFIED")
    return not isinstance(value, dict) and not value


def filled(one: Wanted, ids: Mapping[str, str], profile: Mapping[str, Any]) -> Any:
    """Give what is declared as such a service stores it: holes filled, texts in its form."""
    spec = stored(_without_holes(one.spec, ids), profile)
    if one.kind == "AlertDefinition":
        return {"alertDefProperties": spec}
    if one.kind == "LogPolicySet":
        return [_policy(item) for item in spec["policies"]]
    return spec


def _without_holes(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _without_holes(inner, ids) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_holes(inner, ids) for inner in value]
    if not isinstance(value, str):
        return value
    for ref, remote_id in ids.items():
        value = value.replace("${ref:" + ref + "}", remote_id)
    return value.replace("${secret:TOKEN}", SECRET).replace("$${", "${")


def stored(value: Any, profile: Mapping[str, Any]) -> Any:
    """Give a document as a service of this profile keeps it."""
    if isinstance(value, list):
        return [stored(inner, profile) for inner in value]
    if not isinstance(value, dict):
        return value
    kept = {
        name: inner
        for name, inner in value.items()
        if name != "somethingNew" or profile.get("unknownFields") != "dropped"
    }
    return {
        name: _text(inner, profile)
        if name in TEXTS and isinstance(inner, str)
        else stored(inner, profile)
        for name, inner in kept.items()
    }


def _text(text: str, profile: Mapping[str, Any]) -> str:
    text = text.strip() if profile.get("texts") == "trimmed" else text
    return unicodedata.normalize("NFC", text) if profile.get("unicode") == "nfc" else text


def _policy(item: dict[str, Any]) -> dict[str, Any]:
    policy = {name: value for name, value in item["policy"].items() if name != "disabled"}
    if "disabled" in item["policy"]:
        policy["enabled"] = not item["policy"]["disabled"]
    return {**policy, "logRules": item["logRules"]}


def without_severities(value: Any) -> Any:
    """Leave out of a list of policies what most services do not return."""
    if not isinstance(value, list):
        return value
    return [
        {name: inner for name, inner in element.items() if name != "logRules"} for element in value
    ]


def secrets_are_kept(ended: Ended) -> Iterator[str]:
    """Neither key nor secret is printed, and nothing ends in a bug."""
    if any(form in ended.out + ended.err for form in FORBIDDEN):
        yield f"{' '.join(ended.arguments[:2])} printed a secret"
    if ended.code == 1 or "Traceback" in ended.err:
        yield f"{' '.join(ended.arguments)} ended in a bug: {ended.err[-600:]}"


LAWS = (
    plans_write_nothing,
    live_edits_are_seen,
    writes_are_said,
    declared_is_live,
    others_are_left_alone,
    nothing_is_doubled,
    settles,
)
