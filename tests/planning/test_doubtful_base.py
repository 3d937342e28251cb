"""What goes when nobody knows which of two declarations is live."""

from __future__ import annotations

import pytest

from reconciler.document import Json, value_at
from reconciler.journal.entries import LastWrite, Started
from reconciler.journal.history import Memory
from reconciler.model import Action, Manifest, Ref, Seen, Source
from reconciler.planning.decide import Knowledge, PlanTarget, decide

REF = Ref("Dashboard", "checkout")
AT = "2025-01-31T09:00:00Z"
WIDGET = ("dashboard", "layout", "sections", 0, "rows", 0, "widgets", 0)


def spec(**fields: Json) -> dict[str, Json]:
    """Give a dashboard of one widget with these fields."""
    widget: Json = {"id": {"value": "w"}, "title": "Latency", **fields}
    row: Json = {"id": {"value": "r"}, "widgets": [widget]}
    section: Json = {"id": {"value": "s"}, "rows": [row]}
    return {"dashboard": {"slugName": "checkout", "layout": {"sections": [section]}}}


def started(declared: dict[str, Json]) -> Started:
    """Give a replace whose answer was lost."""
    return Started(
        run="run",
        at=AT,
        ref=REF,
        operation="replace",
        declared=declared,
        request_id="request",
        remote_id="id",
        seen="sha256:0",
    )


@pytest.mark.parametrize("live", [spec(description="old"), spec()], ids=["as before", "written"])
def test_a_removal_in_doubt_happens(live: dict[str, Json]) -> None:
    """A field removed by a write in doubt is gone after the next, whether that happened or not."""
    memory = Memory(
        remote_id="id",
        last=LastWrite(remote_id="id", declared=spec(description="old"), at=AT, rewritten=()),
        pending=started(spec()),
    )
    manifest = Manifest(REF, spec(), Source("checkout.yaml", 1))

    change = decide(
        manifest, Knowledge(Seen("id", live), memory, {}, PlanTarget("local", "emulator"))
    )

    assert value_at(change.body, WIDGET) == value_at(spec(), WIDGET)
    assert (change.action is Action.KEEP) == (live == spec())
