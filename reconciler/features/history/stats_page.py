"""Statistics of applied changes, as a page with a bar for each week. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from reconciler.features.history.change_stats import UNKNOWN, Counts, Stats, duration, stats_lines
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    element,
    figure,
    group,
    joined,
    of_class,
    page,
    page_head,
    picture,
    shape,
    words,
)
from reconciler.report.html.report_pages import counted, notes
from reconciler.report.words import plural

WIDTH: Final = 440
HEIGHT: Final = 130.0
FOOT: Final = 20.0
HEAD: Final = 16.0
MOST_WEEKS: Final = 53
WIDEST_BAR: Final = 40.0
LABELS: Final = 6
_COLUMNS = ("changes", "reverted", "hot-fixed", "noisier", "median repair", "p90 repair")


def stats_html(
    stats: Stats, environment: str, target: str, made: ReportOccasion | None = None
) -> str:
    """Return the page, ending in a line break."""
    title = f"What became of changes: {environment}"
    named = {name or UNKNOWN: team for name, team in stats.teams.items()}
    return page(
        title,
        "To the weeks",
        page_head(title, target, made, _counts(stats), notes(stats_lines(stats))),
        element("div", _bars(stats.weeks), id="weeks", tabindex="-1"),
        _table("By team", "team", named),
        _table("By week", "week of", stats.weeks),
        foot=element(
            "footer",
            of_class(
                "p",
                "legend",
                "reverted: what was declared before was declared again within a day; hot-fixed: "
                "something else was; noisier: `watch --remember` found that alerts fire more",
            ),
        ),
        to="weeks",
    )


def _counts(stats: Stats) -> Markup:
    whole = stats.whole
    shown = (
        (stats.applies, "applied"),
        (stats.rollbacks, "rolled back"),
        (whole.changes, "changes"),
        (whole.reverted, "reverted"),
        (whole.hot_fixed, "hot-fixed"),
        (whole.noisier, "noisier"),
    )
    return of_class("ul", "counts", *(counted(count, word) for count, word in shown))


def _bars(weeks: Mapping[str, Counts]) -> Markup:
    """Return a bar for each week, with the troubled part at its foot in a pattern of its own."""
    drawn = dict(list(weeks.items())[-MOST_WEEKS:])
    most = max((counts.changes for counts in drawn.values()), default=0)
    if not most:
        return NOTHING
    step = WIDTH / len(drawn)
    every = -(-len(drawn) // LABELS)
    shapes: list[Markup] = [words(f"{most:,}", "s quiet", 0, HEAD - 5)]
    for number, (week, counts) in enumerate(drawn.items()):
        shapes.append(_bar(week, counts, number * step, step, HEIGHT / most))
        if number % every == 0:
            shapes.append(words(week[5:], "s quiet", number * step, HEAD + HEIGHT + FOOT - 5))
    floor = HEAD + HEIGHT
    shapes.append(shape("line", "floor", x1=0, y1=floor, x2=WIDTH, y2=floor))
    label = f"Changes by week, up to {most:,}, and those that did not stay"
    drawing = picture(label, WIDTH, HEAD + HEIGHT + FOOT, *shapes)
    more = len(weeks) - len(drawn)
    left_out = of_class("p", "quiet", f"{plural(more, 'earlier week')} not drawn") if more else ""
    side = of_class("div", "side", drawing, left_out or NOTHING)
    return figure("Changes by week", side, _legend())


def _bar(week: str, counts: Counts, left: float, step: float, scale: float) -> Markup:
    width = min(step * 0.8, WIDEST_BAR)
    height, bad = counts.changes * scale, counts.troubled * scale
    floor = HEAD + HEIGHT
    title = f"week of {week}: {plural(counts.changes, 'change')}, {counts.troubled:,} did not stay"
    parts = [shape("rect", "bar", x=left, y=floor - height, width=width, height=height)]
    if bad:
        parts.append(shape("rect", "bar bad", x=left, y=floor - bad, width=width, height=bad))
    return group(title, *parts)


def _legend() -> Markup:
    return of_class(
        "p",
        "legend",
        of_class("span", "key-week", "changes that stayed"),
        " ",
        of_class("span", "key-bad", "reverted, hot-fixed or noisier within a day (framed)"),
    )


def _table(title: str, first: str, rows: Mapping[str, Counts]) -> Markup:
    if not rows:
        return NOTHING
    heads = (element("th", name, scope="col") for name in (first, *_COLUMNS))
    body = (element("tr", *_cells(name, row)) for name, row in rows.items())
    table = element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", joined(body)),
        class_="figures",
    )
    return element("section", element("h2", title), of_class("div", "scroll", table))


def _cells(name: str, counts: Counts) -> Iterator[Markup]:
    yield element("th", name, scope="row")
    for count in (counts.changes, counts.reverted, counts.hot_fixed, counts.noisier):
        yield element("td", f"{count:,}")
    for seconds in (counts.median, counts.p90):
        yield element("td", duration(seconds))
