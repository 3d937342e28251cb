"""The laws I1 to I8 of docs/reliability.md, judged from evidence alone.

Evidence is what stands outside the program: the emulator's request log and what it
holds, the bytes of the journal, exit codes, and all that was printed. Nothing here
asks the product what it thinks.
"""

from __future__ import annotations

import base64
import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from journal_text import Book, Known, read
from watched_emulator import API_ROOT, EDITED
from worlds import HOLE, KEY, SECRET, Declared

from reconciler.emulator.database import Asked

READING = ("/validate", "/bulkTestLog")
REFUSED_RUNS = frozenset((4, 5, 11, 64))
FAILED = frozenset(("refused", "skipped", "inDoubt"))
NAMED = ("SLO", "Dashboard", "SavedView", "AlertDefinition")
STOPPED = -signal.SIGSTOP
"""The code of a command that stands still, and goes on in the next step but one."""

Live = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Step:
    """One command, and what there was after it. `log` is what was asked during it.

    With `idle`, nothing is left to do, so nothing may be written.
    """

    code: int
    out: str
    err: str
    log: tuple[Asked, ...]
    journal: bytes
    live: Live
    idle: bool = False

    @property
    def writes(self) -> list[Asked]:
        """What may have changed something, refused or not."""
        return [asked for asked in self.log if is_write(asked)]


@dataclass(frozen=True)
class Evidence:
    """All of one case: what was there before, and each command in turn.

    `declared` is what the last command was given. `plans` are plans that were
    shown before the first write; `leaks` where the service saw the key.
    """

    declared: tuple[Declared, ...]
    before: Live
    journal: bytes
    steps: tuple[Step, ...]
    plans: tuple[dict[str, Any], ...] = ()
    leaks: tuple[str, ...] = ()


def violations(evidence: Evidence) -> list[str]:
    """Give every law that the evidence breaks, by its number; none is a pass."""
    return [said for law in LAWS for said in law(evidence)]


def is_write(asked: Asked) -> bool:
    """Tell whether a request may change something, and was ours."""
    return asked.method in ("POST", "PUT") and not asked.path.endswith(READING)


def made(asked: Asked) -> bool:
    """Tell whether a request created something."""
    return asked.method == "POST" and 200 <= asked.status < 300


def name_of(kind: str, record: dict[str, Any]) -> str:
    """Give the resource's name: the first word of what people call it."""
    if kind == "Dashboard":
        record = record["dashboard"]
    if kind == "AlertDefinition":
        record = record.get("alertDefProperties", record)
    return str(record.get("name", "")).partition(" ")[0]


def refs_of(asked: Asked) -> list[str]:
    """Name the resources that a write is about."""
    path, body = asked.path.removeprefix(API_ROOT), asked.body
    if not isinstance(body, dict):
        return []
    if "alertDefsToReplace" in body:
        return [
            f"AlertDefinition/{name_of('AlertDefinition', value)}"
            for value in body["alertDefsToReplace"]
        ]
    if path.startswith("/dataplans"):
        return ["LogPolicySet/all"]
    kinds = {"/v1/slo": "SLO", "/v1/dash": "Dashboard", "/data-ex": "SavedView"}
    kind = next(kind for start, kind in kinds.items() if path.startswith(start))
    return [f"{kind}/{name_of(kind, body)}"]


def objects(live: Live) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield ref, id and record of all that has a name of its own."""
    for kind in NAMED:
        for remote_id, record in live.get(kind, {}).items():
            yield f"{kind}/{name_of(kind, record)}", remote_id, record


def nothing_forgotten(evidence: Evidence) -> Iterator[str]:
    """I1: what we created is in the journal with its id, or open there; so is every write."""
    before = {remote_id for _, remote_id, _ in objects(evidence.before)}
    known_before = read(evidence.journal).known()
    created: set[str] = set()
    stood: set[str] = set()
    for number, step in enumerate(evidence.steps):
        known = read(step.journal).known()
        created |= {ref for write in step.writes if made(write) for ref in refs_of(write)}
        for ref, remote_id, _ in objects(step.live):
            mine = known.get(ref, Known())
            if ref in created and not (remote_id in before | mine.ids or mine.open_creates):
                yield f"I1: step {number}: {ref} is {remote_id}, and the journal does not know it"
        for ref in {ref for write in step.writes for ref in refs_of(write)}:
            earlier = known_before.get(ref, Known())
            if known.get(ref, Known()).started <= earlier.started and ref not in stood:
                yield f"I1: step {number}: {ref} was sent and never started in the journal"
        known_before = known
        if step.code == STOPPED:
            # What a run sends once it goes on may have been started before it stood still.
            stood |= {ref for ref, one in known.items() if one.open_writes}


def nothing_doubled(evidence: Evidence) -> Iterator[str]:
    """I2: no name is there twice, and no create that cannot be repeated worked twice."""
    ours = {one.ref for one in evidence.declared}
    last = evidence.steps[-1].live
    held = Counter(ref for ref, _, _ in objects(last) if ref in ours)
    yield from (f"I2: {ref} is there {count} times" for ref, count in held.items() if count > 1)
    created = Counter(
        ref
        for step in evidence.steps
        for write in step.writes
        if made(write) and write.path.endswith(("/slos", "/saved-views/v1"))
        for ref in refs_of(write)
    )
    yield from (
        f"I2: {ref} was created {count} times" for ref, count in created.items() if count > 1
    )


def live_as_declared(evidence: Evidence) -> Iterator[str]:
    """I3: exit 0 of an apply means that live holds what is declared."""
    last = evidence.steps[-1]
    if last.code != 0:
        return
    ids = {ref: remote_id for ref, remote_id, _ in objects(last.live)}
    records = {ref: record for ref, _, record in objects(last.live)}
    for one in evidence.declared:
        if one.ref == "LogPolicySet/all":
            wanted: Any = [_stored_policy(item["policy"]) for item in one.spec["policies"]]
            held: Any = list(last.live["LogPolicySet"].values())
        else:
            wanted, held = _filled(one.spec, ids), records.get(one.ref)
        if not covers(held, wanted):
            yield f"I3: exit 0, and {one.ref} is not as declared"


def _stored_policy(policy: dict[str, Any]) -> dict[str, Any]:
    stored = {name: value for name, value in policy.items() if name != "disabled"}
    return {**stored, "enabled": not policy.get("disabled", False)}


def _filled(value: Any, ids: dict[str, str]) -> Any:
    """Fill in the secret and the ids, as the service has them."""
    text = json.dumps(value).replace(HOLE, SECRET)
    for ref, remote_id in ids.items():
        text = text.replace("${ref:" + ref + "}", remote_id)
    return json.loads(text)


def covers(held: Any, wanted: Any) -> bool:
    """Tell whether all that is wanted is there; a zero value may be left out."""
    if isinstance(wanted, dict):
        inner = held.get("alertDefProperties", held) if isinstance(held, dict) else {}
        return all(
            covers(inner[name], value) if name in inner else not value
            for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        same = isinstance(held, list) and len(held) == len(wanted)
        return same and all(map(covers, held, wanted))
    return bool(held == wanted)


def nothing_foreign(evidence: Evidence) -> Iterator[str]:
    """I4: what is not ours stays as it is, but for what a plan named."""
    ours = {one.ref for one in evidence.declared}
    our_ids = {one.remote_id for one in evidence.declared}
    last = evidence.steps[-1]
    after = {remote_id: record for _, remote_id, record in objects(last.live)}
    edited = any(asked.method == EDITED for step in evidence.steps for asked in step.log)
    for ref, remote_id, record in objects(evidence.before):
        if ref in ours or remote_id in our_ids or edited:
            continue
        if after.get(remote_id) != record:
            yield f"I4: {ref} ({remote_id}) was not ours, and was changed"
    destroyed = json.dumps(
        [change["destroys"] for plan in evidence.plans for change in plan["changes"]]
    )
    for name in evidence.before["LogPolicySet"].keys() - last.live["LogPolicySet"].keys():
        if name not in destroyed and not edited:
            yield f"I4: the policy {name} was destroyed, and no plan said so"


def journal_readable(evidence: Evidence) -> Iterator[str]:
    """I5: every journal can be read, and only ever grows."""
    before: Book = read(evidence.journal)
    for number, step in enumerate(evidence.steps):
        book = read(step.journal)
        if book.fault:
            yield f"I5: step {number}: {book.fault}"
        if book.entries[: len(before.entries)] != before.entries:
            yield f"I5: step {number}: an earlier entry is gone"
        before = book


def nothing_left(evidence: Evidence) -> Iterator[str]:
    """I6: an apply after a successful one writes nothing."""
    for number, step in enumerate(evidence.steps):
        if step.idle and (step.writes or step.code != 0):
            asked = [f"{write.method} {write.path}" for write in step.writes]
            said = f"exit {step.code}, {asked} {step.err[-300:]}"
            yield f"I6: step {number} had nothing to do: {said}"


def refusals_hold(evidence: Evidence) -> Iterator[str]:
    """I7: a refused run writes nothing, and nothing that waits for a failed item is written."""
    waits = {one.ref: one.waits_for for one in evidence.declared}
    unsettled = _unsettled(evidence.journal)
    for number, step in enumerate(evidence.steps):
        if STOPPED in (step.code, *(step.code for step in evidence.steps[:number])):
            # What is open belongs to a run that still goes on.
            unsettled = False
        if step.writes and (step.code in REFUSED_RUNS or unsettled):
            yield f"I7: step {number} was refused ({step.code}), and wrote"
        failed = {ref for ref, outcome in outcomes(step.out).items() if outcome in FAILED}
        for ref in {ref for write in step.writes for ref in refs_of(write)}:
            if waits.get(ref, frozenset()) & failed:
                yield f"I7: step {number}: {ref} was written, and waits for what failed"
        unsettled = _unsettled(step.journal)


def _unsettled(journal: bytes) -> bool:
    """Tell whether a create is open that only a person can close."""
    known = read(journal).known().items()
    return any(one.open_creates for ref, one in known if ref.startswith(("SLO/", "SavedView/")))


def outcomes(out: str) -> dict[str, str]:
    """Read `apply --format json`; empty for any other output."""
    try:
        document = json.loads(out)
    except ValueError:
        return {}
    listed = document.get("outcomes", []) if isinstance(document, dict) else []
    return {value["ref"]: value["outcome"] for value in listed}


def key_kept(evidence: Evidence) -> Iterator[str]:
    """I8: the key is in its header and nowhere else; a secret only in what was sent."""
    yield from (f"I8: the key was in the {where}" for where in evidence.leaks)
    for number, step in enumerate(evidence.steps):
        texts = {
            "stdout": step.out,
            "stderr": step.err,
            "journal": step.journal.decode("utf-8", "replace"),
        }
        for where, text in texts.items():
            if any(form in text for form in FORBIDDEN):
                yield f"I8: step {number}: a secret was in the {where}"


def forms_of(secret: str) -> list[str]:
    """Give the forms in which a secret may leak."""
    return [secret, quote(secret, safe=""), base64.b64encode(secret.encode()).decode()]


FORBIDDEN = (*forms_of(KEY), *forms_of(SECRET))
LAWS: Sequence[Callable[[Evidence], Iterator[str]]] = (
    nothing_forgotten,
    nothing_doubled,
    live_as_declared,
    nothing_foreign,
    journal_readable,
    nothing_left,
    refusals_hold,
    key_kept,
)
