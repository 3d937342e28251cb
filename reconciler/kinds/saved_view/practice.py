"""Checks of practice of saved views. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json
from reconciler.kinds.practice import Found, Practice
from reconciler.kinds.shape import places
from reconciler.source.diagnostic import Advice


def _fixed_time(spec: dict[str, Json]) -> Iterator[Found]:
    for path, custom in places(spec, "timeSelection", "customSelection"):
        if isinstance(custom, dict) and custom:
            said = "this view shows one fixed time, which is past soon, and its data gone later"
            way_out = Advice("write `quickSelection: {seconds: 3600}`, or say why by an exemption")
            yield Found(path, said, way_out, at_key=True)


_VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: errors}
spec:
  name: Errors
  timeSelection: {quickSelection: {seconds: 3600}}
"""

PRACTICES = (
    Practice(
        code="L601",
        why="A view is opened again and again; one of a fixed time shows the same old logs, and "
        "nothing once their retention is over.",
        find=_fixed_time,
        wrong=_VIEW.replace(
            "quickSelection: {seconds: 3600}",
            "customSelection: {fromTime: 2025-10-04T06:00:00Z, toTime: 2025-10-05T06:00:00Z}",
        ),
        right=_VIEW,
    ),
)
