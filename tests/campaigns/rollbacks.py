"""`rollback`: random histories, and the last run of each undone.

What was declared before is kept here, apart from the program: after `rollback last` live is
that, or the plan had said what would not be, with a reason that is true. A second rollback
brings back what the first one undid.

`kill-rollback`: kill -9 at the points of a rollback, and recovery by the same rollback.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from invariants import FORBIDDEN, Live, Step, covers, forms_of, objects, outcomes
from stage import OVER, Stage, Tally, at_point
from worlds import HOLE, SECRET, TOKEN, Declared, drawing, share, world

from reconciler.runtime.failpoints import Point

ROLLBACK = ("--yes", "--allow-destroy", *OVER, "--format", "json")
SECRETS = (SECRET, "canary-second-91be", "canary-third-07ac")
DEEDS = ("apply", "apply", "apply", "compact", "rotate", "others", "rename")
OF_THE_SERVICE = frozenset(
    (
        *("createTime", "updateTime", "revision", "createdAt", "updatedAt"),
        *("createdTime", "updatedTime", "alertVersionId"),
    )
)
"""What alerts have of it changes with each bulk replace, whatever that says of them."""

USAGE = 64
SURE = frozenset(("written", "unchanged"))


@dataclass(frozen=True)
class Was:
    """What a resource was declared as when it was last written, and with which secret."""

    spec: Any
    secret: str


State = dict[str, Was]


@dataclass
class Life:
    """One history as it is known from outside.

    `state` is what was last written of each resource; `before` is that before the last run
    that wrote, `live` what was live then, and `wrote` what this run wrote. `ids` tell apart what
    has one title: a view under another name, and a new one that took its old name.
    """

    chance: random.Random
    secret: str = SECRET
    declared: dict[str, Declared] = field(default_factory=dict)
    state: State = field(default_factory=dict)
    before: State = field(default_factory=dict)
    wrote: frozenset[str] = frozenset()
    live: Live = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def meet(self, live: Live) -> None:
        """Note the ids of what is there by now, by the names that it has in the manifests."""
        for ref, known, _ in objects(live):
            if ref not in self.ids and known not in self.ids.values() and ref in self.state:
                self.ids[ref] = known

    def note(self, step: Step, live: Live) -> None:
        """Take in what an apply wrote, and what was live before it."""
        said = outcomes(step.out)
        wrote = frozenset(ref for ref, outcome in said.items() if outcome in SURE)
        if not wrote:
            return
        self.before, self.wrote, self.live = dict(self.state), wrote, live
        for ref in wrote:
            self.state[ref] = Was(self.declared[ref].spec, self.secret)
        self.meet(step.live)


def roll_back(stage: Stage, count: int, seed: int) -> Tally:
    """Live `count` histories, a few in each world, and undo the last run of each."""
    tally = Tally()
    number = seed * 1_000
    while tally.counts["cases"] < count:
        stage.prepare(number)
        for turn in range(min(share(count), count - tally.counts["cases"])):
            _roll_back_once(stage, drawing(number * 1_000 + turn), tally)
        stage.more.clear()
        stage.clear()
        number += 1
    return tally


def _roll_back_once(stage: Stage, chance: random.Random, tally: Tally) -> None:
    stage.again()
    life = _begun(stage, chance)
    for deed in ("apply", *chance.choices(DEEDS, k=chance.randint(2, 4)), "apply"):
        tally.counts[f"deeds: {deed}"] += 1
        _do(stage, life, deed)
    tally.counts["cases"] += 1
    case = f"world {stage.world.number}"
    if not life.wrote:
        tally.counts["nothing written"] += 1
        return
    judge = chance.choices((_judged, _judged_live, _judged_compacted), (6, 3, 1))[0]
    for said in judge(stage, life, tally):
        tally.fail("rollback", f"{case}: {said}")
    stage.more.clear()
    stage.world.write(stage.folder, 1)


def _begun(stage: Stage, chance: random.Random) -> Life:
    """Begin with what is applied in this world already, if anything is."""
    stage.more[TOKEN] = SECRET
    life = Life(chance)
    if stage.book:
        first = stage.world.versions[0]
        life.state = {one.ref: Was(one.spec, SECRET) for one in first}
        life.before, life.wrote = {}, frozenset(life.state)
        life.declared = {one.ref: one for one in first}
        life.meet(stage.emulator.look().live)
    return life


def _do(stage: Stage, life: Life, deed: str) -> None:
    chance = life.chance
    match deed:
        case "apply":
            _edit(stage, life)
            before = stage.emulator.look().live
            life.note(stage.apply(), before)
        case "compact":
            stage.run("journal", "compact")
        case "rotate":
            life.secret = chance.choice(SECRETS)
            stage.more[TOKEN] = life.secret
        case "others":
            _others(stage, life)
        case "rename":
            _rename(stage, life)
        case _:
            raise ValueError(deed)


def _edit(stage: Stage, life: Life) -> None:
    """Declare each resource of the world anew, by chance: as before, otherwise, or not at all."""
    chance = life.chance
    # Each world's resources in words of their own: what is drawn anew is another content.
    drawn = world(stage.world.number)
    for version in drawn.versions:
        for one in version:
            if chance.random() < 0.4:
                life.declared[one.ref] = _said_otherwise(one, chance.choice("abcdefgh"))
    for one in drawn.versions[1]:
        life.declared.setdefault(one.ref, one)
    # What is referred to has to be declared.
    declared = tuple(life.declared.values())
    stage.world = replace(stage.world, versions=(stage.world.versions[0], declared))
    stage.world.write(stage.folder, 1)


def _said_otherwise(one: Declared, word: str) -> Declared:
    """Give a resource with another description of its own, where its kind has one."""
    text = json.dumps(one.spec)
    for said in ("about two", "about one", " two", " one"):
        text = text.replace(said, f"{said}{word}")
    return replace(one, spec=json.loads(text))


def _others(stage: Stage, life: Life) -> None:
    """Let somebody else touch a dashboard."""
    held = stage.emulator.look().live["Dashboard"]
    ours = [known for ref, known, _ in objects({"Dashboard": held}) if ref in life.state]
    if not ours:
        return
    known = life.chance.choice(ours)
    board = {**held[known]["dashboard"], "id": known, "description": "by hand"}
    body = {"requestId": f"theirs {life.chance.random()}", "dashboard": board}
    edit = [1, [["PUT", "/v1/dashboards/dashboards", body]]]
    stage.emulator.order(edits=[edit], look=False)
    stage.run("plan")


def _rename(stage: Stage, life: Life) -> None:
    """Give a view another name in manifests and journal."""
    views = [ref for ref in life.state if ref.startswith("SavedView/") and ref in life.declared]
    if not views:
        return
    old = life.chance.choice(views)
    new = f"{old}-{life.chance.choice('xyz')}"
    if new in life.state or stage.run("journal", "rename", old, new).code:
        return
    one = life.declared.pop(old)
    life.declared[new] = replace(one, ref=new)
    for known in (life.state, life.before):
        if old in known:
            known[new] = known.pop(old)
    if old in life.ids:
        life.ids[new] = life.ids.pop(old)
    life.wrote = frozenset(new if ref == old else ref for ref in life.wrote)


def _judged(stage: Stage, life: Life, tally: Tally) -> Iterator[str]:
    """Undo the last run, and undo that; yield what is not as it has to be."""
    before = stage.emulator.look().live
    shown = stage.run("rollback", "last", "--dry-run", "--format", "json")
    if shown.code:
        yield f"the plan ended with {shown.code}: {shown.err[-300:]}"
        return
    plan = {change["ref"]: change for change in json.loads(shown.out)["changes"]}
    yield from _planned(life, plan, tally)
    undone = stage.run("rollback", "last", *ROLLBACK)
    blocked = {ref for ref, value in plan.items() if value["action"] == "blocked"}
    if undone.code != (3 if blocked else 0):
        yield f"ended with {undone.code}, {len(blocked)} blocked: {undone.err[-300:]}"
        return
    yield from not_as_declared(
        undone.live, life.before, life, life.wrote - blocked, "after the rollback"
    )
    yield from _untouched(before, undone.live, life, life.wrote - blocked)
    yield from _silent(undone, life)
    if "written" in outcomes(undone.out).values():
        tally.counts["undone"] += 1
        again = stage.run("rollback", "last", *ROLLBACK)
        if again.code:
            yield f"the second one ended with {again.code}: {again.err[-300:]}"
            return
        wrote = frozenset(ref for ref, outcome in outcomes(undone.out).items() if outcome in SURE)
        yield from not_as_declared(again.live, life.state, life, wrote, "after the second rollback")
        tally.counts["redone"] += 1


def _judged_live(stage: Stage, life: Life, tally: Tally) -> Iterator[str]:
    """Undo the last run to what was live; yield what is not as it was, and was not said."""
    words = ("rollback", "last", "--live")
    shown = stage.run(*words, "--dry-run", "--format", "json")
    if shown.code:
        yield f"the plan ended with {shown.code}: {shown.err[-300:]}"
        return
    plan = {change["ref"]: change["reasons"][0] for change in json.loads(shown.out)["changes"]}
    undone = stage.run(*words, *ROLLBACK)
    if undone.code not in (0, 3):
        yield f"ended with {undone.code}: {undone.err[-300:]}"
        return
    states = {ref: reason.get("state", reason["code"]) for ref, reason in plan.items()}
    tally.counts["live again"] += list(states.values()).count("live")
    yield from _live_again(life.live, undone.live, states)
    readable = {ref for ref in life.wrote if ref.startswith(("Dashboard/", "SLO/"))}
    there = {ref for ref, _, _ in objects(life.live)}
    for ref in readable & there & plan.keys():
        if states[ref] not in ("live", "secrets-lost"):
            yield f"{ref} was there and has no backup: {plan[ref]}"
    yield from _silent(undone, life)


def _live_again(before: Live, after: Live, states: Mapping[str, str]) -> Iterator[str]:
    """Yield what is not as it was live, though the plan said that it would be."""
    now = {(ref, remote_id): record for ref, remote_id, record in objects(after)}
    for ref, remote_id, record in objects(before):
        if states.get(ref) == "live":
            wanted, held = _own(record), _own(now.get((ref, remote_id)))
            if held != wanted and not (covers(held, wanted) and covers(wanted, held)):
                yield f"{ref} is not as it was live: {held} is not {wanted}"
    was, names = ([*live["LogPolicySet"]] for live in (before, after))
    if states.get("LogPolicySet/all") == "live" and was != names:
        yield f"the policies are {names}, and were {was}"


def _own(value: Any) -> Any:
    """Give what people wrote of a record."""
    if isinstance(value, dict):
        own = value.get("dashboard", value)
        return {key: _own(inner) for key, inner in own.items() if key not in OF_THE_SERVICE}
    return [*map(_own, value)] if isinstance(value, list) else value


def _judged_compacted(stage: Stage, life: Life, tally: Tally) -> Iterator[str]:
    """Compact and look: what is not known any more is told, and nothing is made up."""
    stage.run("journal", "compact")
    before = stage.emulator.look().live
    shown = stage.run("rollback", "last", "--dry-run", "--format", "json")
    undone = stage.run("rollback", "last", *ROLLBACK)
    if undone.live != before:
        yield "a rollback of a compacted run changed something"
    if shown.code == USAGE:
        tally.counts["compacted, known no more"] += 1
        if "compacted" not in shown.err:
            yield f"nothing says that it was compacted: {shown.err}"
        return
    reasons = [change["reasons"][0] for change in json.loads(shown.out)["changes"]]
    tally.counts["compacted, with backups"] += 1
    if any((reason["code"], reason["compacted"]) != ("nothing-before", True) for reason in reasons):
        yield f"what was dropped is known: {reasons}"
    if undone.code != 3 or not life.wrote:
        yield f"ended with {undone.code}"


def _planned(life: Life, plan: Mapping[str, Any], tally: Tally) -> Iterator[str]:
    """Everything that the run wrote is in the plan, and what is blocked is so with good reason."""
    missing = life.wrote - plan.keys()
    if missing:
        yield f"not in the plan: {sorted(missing)}"
    for ref, value in plan.items():
        was = life.before.get(ref)
        code = value["reasons"][0]["code"]
        tally.counts[f"said: {code}"] += 1
        lost = was is not None and HOLE in json.dumps(was.spec) and was.secret != life.secret
        expected = {
            "made-by-run": was is None,
            "nothing-before": was is None,
            "secrets-lost": lost,
            "put-back": was is not None and not lost,
        }
        if not expected.get(code):
            yield f"{ref} is {value['action']} ({code}), and that is not so"


def not_as_declared(
    live: Live, state: State, life: Life, refs: frozenset[str], when: str
) -> Iterator[str]:
    """Yield what is not live as it was declared."""
    by_id = {known: record for _, known, record in objects(live)}
    by_name = {ref: record for ref, _, record in objects(live)}
    ids = {ref: known for ref, known, _ in objects(live)}
    for ref in sorted(refs):
        was = state.get(ref)
        if was is None:
            continue
        if ref.startswith("LogPolicySet/"):
            wanted: Any = [_stored(item["policy"]) for item in was.spec["policies"]]
            held: Any = list(live["LogPolicySet"].values())
        else:
            wanted = _filled(was, ids)
            # What was made anew has another id, and what only was renamed has its own.
            held = by_id.get(life.ids.get(ref, ""), by_name.get(ref))
        if not covers(held, wanted):
            yield f"{when} {ref} is not as it was declared: {held} is not {wanted}"


def _stored(policy: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in policy.items() if name != "disabled"}
    return {**kept, "enabled": not policy.get("disabled", False)}


def _filled(was: Was, ids: Mapping[str, str]) -> Any:
    text = json.dumps(was.spec).replace(HOLE, was.secret)
    for ref, known in ids.items():
        text = text.replace("${ref:" + ref + "}", known)
    return json.loads(text)


def _untouched(before: Live, after: Live, life: Life, refs: frozenset[str]) -> Iterator[str]:
    """Yield what changed and was not to be put back."""
    meant = {known for ref, known in life.ids.items() if ref in refs}
    named = refs - life.ids.keys()
    held = {known: record for _, known, record in objects(after)}
    for ref, known, record in objects(before):
        if known not in meant and ref not in named and held.get(known) != record:
            yield f"{ref} ({known}) was changed by the rollback"


def _silent(step: Step, life: Life) -> Iterator[str]:
    """Yield where a secret stands in what was printed or journaled."""
    texts = (step.out, step.err, step.journal.decode("utf-8", "replace"))
    forms = (*FORBIDDEN, *(form for secret in SECRETS for form in forms_of(secret)))
    if any(form in text for form in forms for text in texts):
        yield f"a secret was told, {life.secret}"


def kill_rollbacks(stage: Stage, count: int, seed: int) -> Tally:
    """Kill `count` rollbacks, each at another point, and finish them by the same command."""
    tally = Tally()
    chance = drawing(seed)
    # Of four worlds, two have a version that was applied before.
    number = seed * 1_000 + 2
    while tally.counts["cases"] < count:
        stage.prepare(number)
        words = _last_run_undone(stage)
        if words:
            failpoints = range(1, _points_of(stage, words) + 1)
            few = min(share(count), count - tally.counts["cases"], len(failpoints))
            for point in sorted(chance.sample(failpoints, few)):
                _kill_once(stage, words, point, tally)
        stage.version = 1
        stage.clear()
        number += 1 if number % 2 == 0 else 3
    return tally


def _last_run_undone(stage: Stage) -> tuple[str, ...]:
    """Apply the second version, and give the line that undoes this for all that was there."""
    applied = stage.apply()
    assert applied.code == 0, applied
    wrote = outcomes(applied.out)
    ours = [one.ref for one in stage.world.versions[0] if wrote.get(one.ref) in SURE]
    entries = [json.loads(line) for line in applied.journal.decode().splitlines()[1:]]
    run = [entry["run"] for entry in entries if entry["entry"] == "run"][-1]
    stage.book = stage.kept()
    stage.emulator.order(keep=str(stage.world.number), look=False)
    stage.version = 0
    shown = stage.run("rollback", run, *ours, "--dry-run", "--format", "json")
    stage.plans = (json.loads(shown.out),) if ours and shown.code == 0 else ()
    return ("rollback", run, *ours, *ROLLBACK) if ours else ()


def _points_of(stage: Stage, words: tuple[str, ...]) -> int:
    stage.before = stage.again()
    counted = stage.root / "count"

    def count() -> None:
        from reconciler.runtime import failpoints  # noqa: PLC0415 - in the child

        descriptor = os.open(counted, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

        def write(_: Point) -> None:
            os.write(descriptor, b".")

        failpoints.watch(write)

    done = stage.run(*words, meddle=count)
    assert done.code == 0, done
    passed = len(counted.read_bytes())
    counted.unlink()
    return passed


def _kill_once(stage: Stage, words: tuple[str, ...], point: int, tally: Tally) -> None:
    stage.before = stage.again()
    killed = stage.run(*words, meddle=at_point(point, lambda: os.kill(os.getpid(), signal.SIGKILL)))
    tally.counts["killed"] += killed.code == -signal.SIGKILL
    stage.run(*words)
    stage.run(*words, idle=True)
    tally.judge(f"world {stage.world.number}, point {point}", stage.evidence())
