"""What a workspace costs as it grows: reading it, and planning it where nothing is to do.

`GROWTH=100,1000,10000,100000` are the sizes; the largest takes half an hour and 5 GB of memory.
`PICTURE=docs/images/growth.svg` draws what was measured: both axes by powers of ten, so that what
grows as the workspace does is a straight line at the angle of the grid.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from math import log10
from pathlib import Path

from benchmarks.measuring import cpu_of, peak_of_process
from benchmarks.planning import get_all
from benchmarks.worlds import world_of
from reconciler.api.wire import make_transport

SIZES = "100,1000"
FLOOR = "the GETs alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One of the pictures: lines by their names, a value for each size."""

    title: str
    unit: str
    lines: Mapping[str, Sequence[float]]


def run() -> None:
    """Print the figures, and draw them where that is asked for."""
    sizes = [int(part) for part in os.environ.get("GROWTH", SIZES).split(",")]
    seconds: dict[str, list[float]] = {}
    memory: dict[str, list[float]] = {}
    print("growth: processor seconds, and the most memory")
    for size in sizes:
        for name, (took, held) in _measured(size).items():
            seconds.setdefault(name, []).append(took)
            if held:
                memory.setdefault(name, []).append(held)
            said = f"{held:8,.0f} MB" if held else ""
            print(f"  {size:9,}  {name:18} {took:9.2f} s  {took / size * 1e3:6.2f} ms each  {said}")
    panels = [
        Panel(title="Processor seconds", unit="s", lines=seconds),
        Panel(title="Most memory", unit="MB", lines=memory),
    ]
    if "PICTURE" in os.environ:
        Path(os.environ["PICTURE"]).write_text(picture(sizes, panels), encoding="utf-8")


def _measured(size: int) -> dict[str, tuple[float, float]]:
    """Measure each command once on a world of this size; seconds, and MB where it is a process."""
    with tempfile.TemporaryDirectory() as name, world_of(size, Path(name) / "world") as world:
        environ = {**world.environ, "RECONCILER_CACHE": f"{name}/cache"}
        ask = partial(get_all, world.urls, make_transport(world.base_url))
        return {
            FLOOR: (cpu_of(ask), 0.0),
            "validate, cold": peak_of_process(world.command("validate", "--no-cache"), environ),
            "plan, cold": peak_of_process(world.command("plan", "--exit-code"), environ),
            "plan, warm": peak_of_process(world.command("plan", "--exit-code"), environ),
        }


WIDTH, HEIGHT, MARGIN, TOP = 460, 330, 62, 44
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600 }
.grid { stroke: #d0d7de } .line { fill: none; stroke-width: 2.5 } .background { fill: #fff }
.l0 { stroke: #6e7781; stroke-dasharray: 5 4 } .l1 { stroke: #8250df } .l2 { stroke: #bc4c00 }
.l3 { stroke: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .grid { stroke: #30363d } .background { fill: #0d1117 }
  .l0 { stroke: #8b949e } .l1 { stroke: #bc8cff } .l2 { stroke: #f0883e } .l3 { stroke: #58a6ff }
}"""


def picture(sizes: Sequence[int], panels: Sequence[Panel]) -> str:
    """Give the panels side by side, with the names of the lines below."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    drawn = [
        f'<g transform="translate({nth * WIDTH} 0)">{_panel(sizes, panel, names)}</g>'
        for nth, panel in enumerate(panels)
    ]
    legend = [
        f'<path class="line l{nth}" d="M{MARGIN + nth * 190} {HEIGHT + 22}h28"/>'
        f'<text x="{MARGIN + 36 + nth * 190}" y="{HEIGHT + 27}">{escape(name)}</text>'
        for nth, name in enumerate(names)
    ]
    told = "; ".join(
        f"{name}: {', '.join(f'{value:,.1f}' for value in values)} {panel.unit}"
        for panel in panels
        for name, values in panel.lines.items()
    )
    across = ", ".join(f"{size:,}" for size in sizes)
    width, height = len(panels) * WIDTH, HEIGHT + 44
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">\n'
        f"<title>Growth from {sizes[0]:,} to {sizes[-1]:,} resources</title>\n"
        f"<desc>{escape(f'{across} resources. {told}')}</desc>\n<style>{STYLE}</style>\n"
        f'<rect class="background" width="{width}" height="{height}"/>\n'
        f"{chr(10).join([*drawn, *legend])}\n</svg>\n"
    )


def _panel(sizes: Sequence[int], panel: Panel, names: Sequence[str]) -> str:
    values = [value for line in panel.lines.values() for value in line]
    low, high = _powers(min(values)), _powers(max(values), up=True)
    first, last = _powers(sizes[0]), _powers(sizes[-1], up=True)

    def x(size: float) -> float:
        return MARGIN + (log10(size) - first) / (last - first) * (WIDTH - MARGIN - 30)

    def y(value: float) -> float:
        return HEIGHT - 30 - (log10(value) - low) / (high - low) * (HEIGHT - 30 - TOP)

    parts = [f'<text class="title" x="{MARGIN}" y="24">{panel.title}, {panel.unit}</text>']
    for power in range(first, last + 1):
        at = x(10**power)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP}V{HEIGHT - 30}"/>')
        parts.append(
            f'<text x="{at:.1f}" y="{HEIGHT - 10}" text-anchor="middle">{10**power:,}</text>'
        )
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<path class="grid" d="M{MARGIN} {at:.1f}H{WIDTH - 30}"/>')
        parts.append(
            f'<text x="{MARGIN - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>'
        )
    for name, line in panel.lines.items():
        points = " ".join(
            f"{x(size):.1f},{y(value):.1f}" for size, value in zip(sizes, line, strict=True)
        )
        parts.append(f'<polyline class="line l{names.index(name)}" points="{points}"/>')
    return "".join(parts)


def _powers(value: float, *, up: bool = False) -> int:
    """Give the power of ten at or below a value, or above it."""
    power = log10(value)
    below = int(power // 1)
    return below + 1 if up and power > below else below
