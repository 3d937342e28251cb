"""The checker of I1 to I8 can fail: doctored evidence breaks each law, and only that one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from invariants import STOPPED, Evidence, Step, violations
from worlds import KEY, SECRET, Declared

from reconciler.emulator.database import Asked

ROOT = "/mgmt/openapi/latest"
SLO = {"name": "slo0 two", "description": "", "targetThresholdPercentage": 99.5}
VIEW = {"name": "view0 two", "timeSelection": {}}
BOARD = {"name": "board0 two", "layout": {"sections": []}}
FOREIGN = {"dashboard": {"name": "foreign"}}
EMPTY: dict[str, dict[str, Any]] = {
    "SLO": {},
    "Dashboard": {"theirs": FOREIGN},
    "SavedView": {},
    "AlertDefinition": {},
    "LogPolicySet": {"foreign": {"name": "foreign"}},
}
LIVE: dict[str, dict[str, Any]] = {
    **EMPTY,
    "SLO": {"s1": {**SLO, "id": "s1"}},
    "Dashboard": {"theirs": FOREIGN, "d1": {"dashboard": {**BOARD, "id": "d1"}}},
    "SavedView": {"7": {**VIEW, "id": 7}},
}
BEGUN: dict[str, dict[str, Any]] = {**EMPTY, "SLO": LIVE["SLO"]}
DECLARED = (
    Declared("SLO/slo0", SLO),
    Declared("Dashboard/board0", {"dashboard": BOARD}, None, frozenset(["SLO/slo0"])),
    Declared("SavedView/view0", VIEW),
)


def chained(*documents: dict[str, Any]) -> bytes:
    """Give a journal of these lines, header first."""
    total, lines = "", ""
    for document in ({"journal": 1}, *documents):
        text = json.dumps(document, separators=(",", ":"))
        total = hashlib.sha256(f"{total}\n{text}".encode()).hexdigest()[:16]
        lines += f'{text[:-1]},"sum":"{total}"}}\n'
    return lines.encode()


def started(ref: str) -> dict[str, Any]:
    return {"entry": "started", "ref": ref, "operation": "create", "remoteId": None}


def written(ref: str, remote_id: str | int) -> dict[str, Any]:
    return {"entry": "written", "ref": ref, "remoteId": remote_id}


ENTRIES = (
    started("SLO/slo0"),
    written("SLO/slo0", "s1"),
    started("SavedView/view0"),
    written("SavedView/view0", 7),
    started("Dashboard/board0"),
    written("Dashboard/board0", "d1"),
)
LOG = (
    Asked("POST", ROOT + "/v1/slo/slos/validate", 200, SLO),
    Asked("POST", ROOT + "/v1/slo/slos", 200, SLO),
    Asked("POST", ROOT + "/data-exploration/saved-views/v1", 200, VIEW),
    Asked("POST", ROOT + "/v1/dashboards/dashboards", 200, {"dashboard": BOARD}),
)
FIRST = Step(0, "", "", LOG, chained(*ENTRIES), LIVE)
SECOND = Step(0, "", "", (), chained(*ENTRIES), LIVE, idle=True)
GOOD = Evidence(DECLARED, EMPTY, b"", (FIRST, SECOND))


def last(**changes: Any) -> Evidence:
    """Give the good evidence with another last step."""
    return replace(GOOD, steps=(FIRST, replace(SECOND, **changes)))


def live(**kinds: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give what is live, but for some kinds."""
    return {**LIVE, **kinds}


def told(**outcomes: str) -> str:
    """Give the output of an apply."""
    listed = [
        {"ref": ref.replace("_", "/"), "outcome": outcome} for ref, outcome in outcomes.items()
    ]
    return json.dumps({"outcomes": listed})


def first(**changes: Any) -> Evidence:
    """Give the good evidence with another first step, and nothing after it."""
    return replace(GOOD, steps=(replace(FIRST, **changes),))


DOCTORED = {
    "I1 an object whose id is nowhere": first(
        journal=chained(*ENTRIES[:-2], started("Dashboard/x"))
    ),
    "I1 a write that was never started": first(journal=chained(*ENTRIES[:4])),
    "I1 a write that a stopped run had not started": replace(
        GOOD,
        steps=(
            replace(FIRST, code=STOPPED, log=LOG[:2], live=BEGUN, journal=chained(*ENTRIES[:3])),
            replace(FIRST, log=LOG[2:], journal=chained(*ENTRIES[:3])),
        ),
    ),
    "I2 two of one name": last(
        live=live(SavedView={**LIVE["SavedView"], "8": VIEW}),
        journal=chained(*ENTRIES, written("SavedView/view0", 8)),
    ),
    "I2 a create that worked twice": first(log=(*LOG, LOG[1])),
    "I3 another value": last(live=live(SLO={"s1": {**SLO, "targetThresholdPercentage": 90}})),
    "I3 nothing there": last(live=live(SLO={})),
    "I4 a foreign dashboard changed": last(
        live=live(Dashboard={**LIVE["Dashboard"], "theirs": {"dashboard": {"name": "mine"}}})
    ),
    "I4 a foreign policy gone": last(live=live(LogPolicySet={})),
    "I5 an edited line": last(journal=FIRST.journal.replace(b'"s1"', b'"s2"')),
    "I5 a lost line": last(
        journal=b"\n".join(FIRST.journal.split(b"\n")[:2] + FIRST.journal.split(b"\n")[3:])
    ),
    "I5 an earlier entry gone": last(journal=chained(*ENTRIES[:4])),
    "I6 a write where nothing is left": last(
        log=(Asked("PUT", ROOT + "/v1/slo/slos", 200, SLO),),
        journal=chained(*ENTRIES, started("SLO/slo0"), written("SLO/slo0", "s1")),
    ),
    "I6 no way to an end": last(code=7),
    "I7 a write of a locked run": first(code=5),
    "I7 a write after something unsettled": replace(
        GOOD, journal=chained(started("SavedView/other"))
    ),
    "I7 a write that waits for what failed": first(code=3, out=told(SLO_slo0="refused")),
    "I8 the key in another header": replace(GOOD, leaks=("header x-key",)),
    "I8 the key in words": last(err=f"used {KEY}"),
    "I8 a secret in the journal": last(
        journal=chained(*ENTRIES, {"entry": "refused", "ref": "SLO/a", "message": SECRET})
    ),
}


def test_good() -> None:
    """Sound evidence breaks no law."""
    assert violations(GOOD) == []


def test_goes_on() -> None:
    """A run that stood still may send later what it had started before."""
    stood = replace(FIRST, code=STOPPED, log=LOG[:2], live=BEGUN, journal=chained(*ENTRIES[:3]))
    other = replace(stood, code=7, log=(), journal=chained(*ENTRIES[:4]))
    goes_on = replace(FIRST, log=LOG[2:3], live={**LIVE, "Dashboard": EMPTY["Dashboard"]}, code=8)

    assert violations(replace(GOOD, steps=(stood, other, goes_on))) == []


@pytest.mark.parametrize("name", DOCTORED)
def test_doctored(name: str) -> None:
    """Each doctored piece of evidence breaks the law it is doctored for."""
    broken = {said[:2] for said in violations(DOCTORED[name])}

    assert name[:2] in broken
    assert broken <= {name[:2], *ALONG.get(name, ())}


ALONG = {
    "I1 an object whose id is nowhere": ("I5",),
    "I5 an earlier entry gone": ("I1",),
    "I5 an edited line": ("I1",),
    "I5 a lost line": ("I1",),
    "I7 a write after something unsettled": ("I5",),
}
"""Laws that cannot help being broken along with one."""
