"""Ratios that no change may make a third worse: what `tests/test_ratios.py` holds in every run.

Processor time against a floor in the same round, so that the machine and its load are in neither.
A limit is what was measured on a loaded machine, and a quarter of that on top: lower it with what
becomes cheaper.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from yaml import StreamEndEvent
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from benchmarks.manifests import alert, as_stored, dashboard, dashboard_spec
from benchmarks.measuring import cpu_of, cpu_of_process, figures
from benchmarks.worlds import COMMAND
from reconciler.document import differences, merge
from reconciler.kinds import BY_NAME
from reconciler.syntax.read_text import read_text

LIMITS = {"merging": 17.0, "reading": 2.3, "validating": 55.0}


def merging() -> float:
    """Merge and compare 100 unchanged widgets, against `==` of two equal documents."""
    shape = BY_NAME["Dashboard"].shape
    declared = dashboard_spec(100)
    live = as_stored(declared)
    twin, base = (json.loads(json.dumps(declared)) for _ in range(2))

    def ours() -> None:
        for _ in range(20):
            list(differences(live, merge(base, declared, live, shape), shape))

    def floor() -> None:
        # Ten times as often, as a clock of the processor ticks coarsely.
        for _ in range(200):
            assert declared == twin  # noqa: S101 - what is measured is right

    return 10 * _ratio(ours, floor)


def reading() -> float:
    """Read dashboards as documents, against the events of the parser."""
    texts = [dashboard(at, 12) for at in range(12)]
    return _ratio(lambda: [read_text(text) for text in texts], lambda: list(map(_events, texts)))


def validating() -> float:
    """`validate` of one file, against an interpreter with nothing to do: whole processes."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "alert.yaml"
        file.write_text(alert(1), encoding="utf-8")
        command = [COMMAND, "validate", "--quiet", "--no-cache", str(file)]
        took = figures(
            5,
            partial(cpu_of_process, [sys.executable, "-c", "pass"]),
            {"ours": partial(cpu_of_process, command)},
            floors=5,
        )
    return took["ours"].ratio


def _ratio(ours: Callable[[], object], floor: Callable[[], object]) -> float:
    ours()
    took = figures(9, lambda: cpu_of(floor), {"ours": lambda: cpu_of(ours)})
    return took["ours"].ratio


def _events(text: str) -> None:
    get_event = CParser(text).get_event
    while get_event().__class__ is not StreamEndEvent:
        pass


MEASURES = {"merging": merging, "reading": reading, "validating": validating}


def main() -> None:
    """Print each ratio beside its limit; ends with 1 where one is above it."""
    found = {name: measure() for name, measure in MEASURES.items()}
    for name, ratio in found.items():
        print(f"{name:12} {ratio:6.2f} x the floor, limit {LIMITS[name]:g}")
    sys.exit(any(ratio > LIMITS[name] for name, ratio in found.items()))


if __name__ == "__main__":
    main()
