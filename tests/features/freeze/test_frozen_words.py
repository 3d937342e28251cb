"""What a freeze says, whole: until when, of which incidents, and why nobody can tell."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezes import EVENTS, INCIDENTS, OPEN, dated, frozen, window
from harness.sites import Meddler, Site, answer_with

from reconciler.document import Json
from reconciler.model import FreezeUnknown

GOLDEN = Path(__file__).parent / "golden" / "frozen.txt"
HELD = [window("0 12 * * *", "2h", "Europe/Berlin", " sale ")]
LATER = [window("0 1 * * *", "5m")]
MATCHING = {"scope": "matching"}


@dataclass(frozen=True, slots=True)
class Case:
    """A freeze, and what the service answers."""

    freeze: dict[str, Any]
    incidents: tuple[Meddler, ...] = ()
    events: tuple[Meddler, ...] = ()


def listed(*found: Json) -> tuple[Meddler, ...]:
    """Answer with these incidents."""
    return (answer_with(200, {"incidents": list(found), "pagination": {}}),)


def opened(number: int) -> tuple[Meddler, ...]:
    """Answer with so many open incidents."""
    found: list[Json] = [
        {"id": f"i{one}", "name": f"Incident {one}"} for one in range(1, number + 1)
    ]
    return listed(*found)


def events(*found: Json, token: str = "") -> Meddler:
    """Answer with these events."""
    pagination: Json = {"nextPageToken": token} if token else {}
    return answer_with(200, {"items": list(found), "pagination": pagination})


OVER: dict[str, Json] = {"state": "INCIDENT_STATE_RESOLVED", "status": "INCIDENT_STATUS_RESOLVED"}
FORBIDDEN = (answer_with(403, {"message": "no"}),)
NO_PAGES_END = tuple(
    answer_with(
        200, {"incidents": [{**OVER, "id": f"i{n}"}], "pagination": {"nextPageToken": f"{n}"}}
    )
    for n in range(201)
)
NO_EVENTS_END = tuple(events(token=f"{n}") for n in range(21))
CASES = {
    "a window elsewhere": Case({"windows": HELD}),
    "a window by UTC": Case({"windows": [window("30 12 * * *", "1m")]}),
    "two windows for two reasons": Case(
        {"windows": [*HELD, window("30 13 * * *", "3h", "Europe/Berlin", "deep freeze")]}
    ),
    "two windows for one reason": Case(
        {"windows": [*HELD, window("0 12 * * *", "3h", "UTC", "sale")]}
    ),
    "no end": Case({"windows": [window("* * * * *", "1h", reason="for good")]}),
    "an incident": Case({"incidents": {}}, listed(OPEN)),
    "an incident of a moment": Case(
        {"incidents": {}}, listed({**OPEN, "createdAt": "2026-11-22T09:15:59.123Z"})
    ),
    "an incident that only has an id": Case({"incidents": {}}, listed({"id": "i`1  x"})),
    "an incident that has only a moment": Case(
        {"incidents": {}}, listed({"id": "i1", "createdAt": "2026-11-22T09:15:59Z"})
    ),
    "a name of 80": Case({"incidents": {}}, listed({"id": "i1", "name": "x" * 80})),
    "a name of 81": Case({"incidents": {}}, listed({"id": "i1", "name": "x" * 79 + "yz"})),
    "a severity without end": Case(
        {"incidents": {}}, listed({"id": "i1", "name": "A", "severity": "ABCDEFGHIJKLMNOPQRSTUVW"})
    ),
    "five incidents": Case({"incidents": {}}, opened(5)),
    "seven incidents": Case({"incidents": {}}, opened(7)),
    "a window and an incident": Case({"windows": HELD, "incidents": {}}, listed(OPEN)),
    "a window, and incidents that nobody may read": Case(
        {"windows": HELD, "incidents": {}}, FORBIDDEN
    ),
    "incidents that nobody may read": Case({"incidents": {}}, FORBIDDEN),
    "incidents without end": Case({"incidents": {}}, NO_PAGES_END),
    "an alert that nobody tells": Case(
        {"incidents": MATCHING}, listed({**OPEN, "id": "i" * 81}), (events(),)
    ),
    "events without end": Case({"incidents": MATCHING}, listed(OPEN), NO_EVENTS_END),
    "a clock that is behind": Case({"windows": LATER, "incidents": {}}, (dated(6),)),
    "a clock that is far ahead": Case({"windows": LATER, "incidents": {}}, (dated(-60_005),)),
    "a clock, and incidents that nobody may read": Case(
        {"windows": LATER, "incidents": {}}, (dated(6, *FORBIDDEN),)
    ),
}


def said(root: Path, case: Case, on_unknown: str) -> list[str]:
    """Give all that a plan says of a freeze."""
    site = Site(root)
    site.meddle("POST", INCIDENTS, *case.incidents)
    site.meddle("GET", EVENTS, *case.events)
    made = frozen(site, {**case.freeze, "onUnknown": on_unknown})
    lines = []
    for violation in made.guarded:
        until = f" until {violation.until}" if violation.until else ""
        lines += [f"{violation.code} ({violation.ref}){until}: {violation.message}"]
        lines += [f"  - {way}" for way in violation.remedies]
    return lines + [
        f"! {remark.said}" for remark in made.remarks if isinstance(remark, FreezeUnknown)
    ]


def test_words_of_each_freeze(tmp_path: Path) -> None:
    """All that a freeze says, or that is not known of it, is the golden text to the letter.

    `WRITE_GOLDEN=1` writes it anew.
    """
    lines = []
    for number, (name, case) in enumerate(CASES.items()):
        root = tmp_path / str(number)
        refused, allowed = (said(root / one, case, one) for one in ("refuse", "allow"))
        lines += [f"# {name}", *refused]
        lines += ["where the unknown is allowed:", *allowed] if allowed != refused else []
    told = "\n".join(lines) + "\n"

    if os.environ.get("WRITE_GOLDEN"):
        GOLDEN.write_text(told, encoding="utf-8")
    assert told == GOLDEN.read_text(encoding="utf-8")
