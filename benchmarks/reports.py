"""Reports of a thousand changes, and how fast the page opens: `python -m benchmarks.reports`.

The plan holds what is largest to draw: 200 dashboards of 20 widgets with a widget added and one
moved, 700 alerts, 99 SLOs and one set of 60 policies. The page is opened in headless Chromium,
in a fresh browser each time; the time is from the navigation to the end of two frames after
`load`, when the reader sees it and its filters work.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from reconciler.document import Json, differences, digest, merge
from reconciler.kinds import BY_NAME
from reconciler.model import Action, Change, Evidence, Manifest, Plan, Ref, Seen, Source
from reconciler.report.html import plan_html
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.table import Style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = 5
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
SHOWN = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
    () => done(performance.now()))))"""
FILTERED = """() => {
    const start = performance.now();
    document.querySelector("[data-facet=kind]").click();
    document.body.getBoundingClientRect();
    return performance.now() - start;
}"""


def updated(kind: str, name: str, before: dict[str, Json], after: dict[str, Json]) -> Change:
    """Give the update of something live."""
    shape = BY_NAME[kind].shape
    body = merge(before, after, before, shape)
    assert isinstance(body, dict)  # noqa: S101 - two objects merge into one
    return Change(
        ref=Ref(kind, name),
        manifest=Manifest(Ref(kind, name), after, Source(f"{kind.lower()}/{name}.yaml", 1)),
        action=Action.UPDATE,
        evidence=Evidence.LIVE,
        observation=Seen(name, before),
        declared=after,
        body=body,
        differences=tuple(differences(before, body, shape)),
    )


def widget(number: int, minutes: int = 5) -> Json:
    """Give one widget with a query of a usual length."""
    query = f'sum by (region) (rate(requests_total{{service="service-{number}"}}[{minutes}m]))'
    text: Json = {"promqlQuery": {"value": query}}
    chart: Json = {"queryDefinitions": [{"query": {"metrics": text}}]}
    return {
        "id": {"value": f"widget-{number}"},
        "title": f"Service {number}",
        "definition": {"lineChart": chart},
    }


def dashboard(widgets: list[Json]) -> dict[str, Json]:
    """Give a dashboard of rows of four widgets."""
    rows: list[Json] = [
        {"id": {"value": f"row-{at}"}, "widgets": widgets[at : at + 4]}
        for at in range(0, len(widgets), 4)
    ]
    section: Json = {"id": {"value": "section"}, "rows": rows}
    return {"dashboard": {"name": "Service", "layout": {"sections": [section]}}}


def policies(order: list[int]) -> dict[str, Json]:
    """Give a set of policies in an order."""
    return {
        "policies": [
            {"policy": {"name": f"Policy {number}", "priority": "PRIORITY_TYPE_LOW"}}
            for number in order
        ]
    }


def changes() -> Iterator[Change]:
    """Yield a thousand updates."""
    for number in range(200):
        old = [widget(index) for index in range(20)]
        new = [old[1], old[0], *old[2:], widget(20 + number, minutes=60)]
        yield updated("Dashboard", f"service-{number}", dashboard(old), dashboard(new))
    for number in range(700):
        before: dict[str, Json] = {"name": "Errors", "priority": "ALERT_DEF_PRIORITY_P2"}
        after: dict[str, Json] = {**before, "priority": "ALERT_DEF_PRIORITY_P3"}
        yield updated("AlertDefinition", f"alert-{number}", before, after)
    for number in range(99):
        target: dict[str, Json] = {"name": "Works", "targetThresholdPercentage": 99.9}
        lower: dict[str, Json] = {**target, "targetThresholdPercentage": 99.5}
        yield updated("SLO", f"slo-{number}", target, lower)
    numbers = list(range(60))
    yield updated(
        "LogPolicySet", "policies", policies(numbers), policies(numbers[30:] + numbers[:30])
    )


def measured(make: Callable[[], str]) -> tuple[str, float]:
    """Give a report and the median seconds that it takes."""
    times = []
    text = ""
    for _ in range(RUNS):
        start = time.perf_counter()
        text = make()
        times.append(time.perf_counter() - start)
    return text, median(times)


def opened(page_file: Path) -> tuple[float, float, float]:
    """Give medians in milliseconds: until a page is seen, of it on a processor, and of a filter."""
    shown, busy, filtered = [], [], []
    for _ in range(RUNS):
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=ARGUMENTS
            )
            page = browser.new_page()
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(page_file.as_uri(), wait_until="load")
            shown.append(float(page.evaluate(SHOWN)))
            metrics = session.send("Performance.getMetrics")["metrics"]
            busy += [
                1000 * metric["value"] for metric in metrics if metric["name"] == "TaskDuration"
            ]
            filtered.append(float(page.evaluate(FILTERED)))
            browser.close()
    return median(shown), median(busy), median(filtered)


def main() -> None:
    """Print bytes and times."""
    plan = replace(
        Plan(
            environment="production",
            target="https://api.example.com",
            digest=digest(0),
            changes=tuple(changes()),
        ),
        guarded=(),
    )
    makers: dict[str, Callable[[], str]] = {
        "text": lambda: plan_text(plan, Style()),
        "markdown": lambda: plan_markdown(plan),
        "html": lambda: plan_html(plan),
    }
    print(f"{len(plan.changes):,} changes, medians of {RUNS} runs")
    with TemporaryDirectory() as folder:
        for name, make in makers.items():
            text, seconds = measured(make)
            print(f"  {name:9} {len(text.encode()):>12,} bytes  {seconds:6.2f} s to write")
            (Path(folder) / f"plan.{name}").write_text(text, encoding="utf-8")
        shown, busy, filtered = opened(Path(folder) / "plan.html")
    print(
        f"  headless Chromium: seen after {shown:,.0f} ms, {busy:,.0f} ms of them on a processor;"
    )
    print(f"  a click on a filter takes {filtered:,.0f} ms")


if __name__ == "__main__":
    main()
