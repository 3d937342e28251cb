"""Merge and differences of a dashboard of 100 widgets against its live form.

Most of a plan is unchanged, so the unchanged case decides how long a plan of a
thousand resources takes. The floor is Python's own comparison of two equal
documents, which knows nothing of defaults, order, zeros or identities.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

from benchmarks.manifests import as_stored, dashboard_spec
from benchmarks.measuring import cpu_of, medians, verdict
from reconciler.document import Difference, Json, differences, merge, value_at
from reconciler.kinds import BY_NAME

WIDGETS = 100
ROUNDS = 15
TIMES = 20
TARGET_UNCHANGED = 0.5
TARGET_CHANGED = 5.0


def run() -> None:
    """Print the figures."""
    shape = BY_NAME["Dashboard"].shape
    declared = dashboard_spec(WIDGETS)
    live = as_stored(declared)
    twin: Json = json.loads(json.dumps(declared))
    base: Json = json.loads(json.dumps(declared))
    edited = copy.deepcopy(declared)
    query = ("dashboard", "layout", "sections", 0, "rows", 20, "widgets", 2, "definition")
    chart = value_at(edited, (*query, "lineChart", "queryDefinitions", 0))
    assert isinstance(chart, dict)  # noqa: S101 - so it was made
    chart["unit"] = "UNIT_MILLISECONDS"

    def compared(document: Json) -> list[Difference]:
        return list(differences(live, merge(base, document, live, shape), shape))

    assert compared(declared) == []  # noqa: S101 - what is measured is right
    assert len(compared(edited)) == 1  # noqa: S101 - what is measured is right
    took = medians(
        ROUNDS,
        {
            "floor": lambda: _each(lambda: declared == twin),
            "unchanged": lambda: _each(lambda: compared(declared)),
            "changed": lambda: _each(lambda: compared(edited)),
        },
    )
    ms = {name: seconds * 1e3 for name, seconds in took.items()}
    size = len(json.dumps(live)) / 1e3
    print(f"merge and differences of {WIDGETS} widgets, {size:.0f} kB, live with defaults")
    print(f"  floor: == of two equal documents   {ms['floor']:6.3f} ms")
    for name, target in (("unchanged", TARGET_UNCHANGED), ("changed", TARGET_CHANGED)):
        said = verdict(ms[name], target)
        print(
            f"  {name:32}   {ms[name]:6.3f} ms   {ms[name] / ms['floor']:.1f} x the floor "
            f"(target {target:g} ms: {said})"
        )


def _each(work: Callable[[], object]) -> float:
    """CPU seconds of one call, from several in a row."""

    def several() -> None:
        for _ in range(TIMES):
            work()

    return cpu_of(several) / TIMES
