"""`edit`: somebody edits, creates or deletes between every two requests of an apply.

A write whose last read came after the edit, while the plan's came before it, would be
an overwrite of what this program had seen: none may happen. An edit between the last
read and the write cannot be seen by any client of this service: that is the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from invariants import Live, Step, is_write, name_of, outcomes, refs_of, violations
from stage import Stage, Tally
from watched_emulator import API_ROOT, EDITED, Request
from worlds import World, drawing, share, their_policies

from reconciler.emulator.database import Asked

DASHBOARDS = "/v1/dashboards/dashboards"
SLOS = "/v1/slo/slos"
POLICIES = "/dataplans/policies/v1"
OVERWRITE = POLICIES + "/atomicOverwriteLogPolicies"
STALE = 6
WINDOW, READ_BACK = "window", "read back"


@dataclass(frozen=True)
class Edit:
    """What somebody else does to one resource of ours; `reads` are where it can be read."""

    ref: str
    request: Request
    reads: tuple[str, ...]


def edits_of(world: World, live: Live) -> list[Edit]:
    """Give one or two edits of everything of ours that can be read."""
    found = [
        Edit("LogPolicySet/all", ("POST", OVERWRITE, their_policies("intruder")), (POLICIES,)),
        Edit("LogPolicySet/all", ("POST", OVERWRITE, their_policies("p", "q", "r")), (POLICIES,)),
    ]
    for ref in [one.ref for one in world.versions[1]]:
        kind, _, name = ref.partition("/")
        held = live.get(kind, {})
        known = [one for one, record in held.items() if name_of(kind, record) == name]
        if kind == "Dashboard":
            found.extend(_dashboard_edits(name, known))
        elif kind == "SLO" and known and world.profile.get("slis") != "documented":
            body = {
                "id": known[0],
                "name": f"{name} edited",
                "targetThresholdPercentage": 75,
                "requestBasedMetricSli": {
                    "goodEvents": {"query": "g"},
                    "totalEvents": {"query": "a"},
                },
            }
            found.append(Edit(ref, ("PUT", SLOS, body), (f"{SLOS}/{known[0]}",)))
    return found


def _dashboard_edits(name: str, known: Sequence[str]) -> list[Edit]:
    ref, by_slug = f"Dashboard/{name}", f"/v1/dashboards/by-slug/{name}"
    board = {"name": f"{name} edited", "slugName": name, "layout": {"sections": []}}
    if not known:
        # Another name, so that nobody takes it for ours where both come to be.
        theirs = {**board, "name": f"their-{name}"}
        body = {"requestId": f"theirs {name}", "dashboard": theirs}
        return [Edit(ref, ("POST", DASHBOARDS, body), (by_slug,))]
    body = {"requestId": f"theirs {name}", "dashboard": {"id": known[0], **board}}
    reads = (f"{DASHBOARDS}/{known[0]}", by_slug)
    return [
        Edit(ref, ("PUT", DASHBOARDS, body), reads),
        Edit(ref, ("DELETE", known[0], None), reads),
    ]


def edit_between(stage: Stage, count: int, seed: int) -> Tally:
    """Let each edit come before each request, in world after world."""
    tally = Tally()
    chance = drawing(seed)
    number = seed * 1_000
    while tally.counts["cases"] < count:
        stage.prepare(number)
        requests = len(stage.apply().log)
        cases = [
            (edit, place)
            for edit in edits_of(stage.world, stage.before)
            for place in range(1, requests + 1)
        ]
        few = min(share(count), count - tally.counts["cases"], len(cases))
        for edit, place in chance.sample(cases, few):
            _edit_once(stage, tally, edit, place)
        stage.clear()
        number += 1
    return tally


def _edit_once(stage: Stage, tally: Tally, edit: Edit, place: int) -> None:
    stage.again()
    stage.emulator.order(edits=[[place, [edit.request]]], look=False)
    step = stage.apply()
    stage.emulator.order(edits=[], look=False)
    what = verdict(step, edit)
    tally.counts[what] += 1
    case = f"{edit.request[0]} of {edit.ref} before request {place}"
    if what == "overwritten":
        tally.fail("edit", f"world {stage.world.number}, {case}: overwritten, though it was read")
    stage.recover()
    if what == WINDOW:
        # No client can see this; it is counted.
        tally.counts["cases"] += 1
        return
    if what == READ_BACK and any(said.startswith("I3") for said in violations(stage.evidence())):
        # Where nothing tells who wrote last, it looks like the service's own doing.
        tally.counts["cases"] += 1
        tally.counts["taken for the service"] += 1
        return
    tally.judge(f"world {stage.world.number}, {case}", stage.evidence())


def verdict(step: Step, edit: Edit) -> str:
    """Say what became of an edit.

    `planned`: the plan showed it. `caught`: the write was left out, exit 6.
    `window`: it came between the last read and the write. `overwritten`: it was
    read, and overwritten all the same. `read back`: it came between the write and
    the read after it. `harmless`: nothing was written over it.
    """
    log = list(step.log)
    when = next((at for at, asked in enumerate(log) if asked.method == EDITED), None)
    if when is None:
        return "harmless"
    written = [at for at, asked in enumerate(log) if is_write(asked) and edit.ref in refs_of(asked)]
    later = [at for at in written if at > when]
    if not later:
        if written and any(_reads(asked, edit) for asked in log[when:]):
            return READ_BACK
        refused = outcomes(step.out).get(edit.ref) == "refused" and step.code == STALE
        return "caught" if refused else "harmless"
    reads = [at for at, asked in enumerate(log[: later[0]]) if _reads(asked, edit)]
    planned = reads[: max(1, len(reads) // 2)]
    if when < planned[-1]:
        return "planned"
    return WINDOW if when > reads[-1] else "overwritten"


def _reads(asked: Asked, edit: Edit) -> bool:
    return asked.method == "GET" and asked.path.removeprefix(API_ROOT) in edit.reads
