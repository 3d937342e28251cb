"""Statistics of applied changes, as a page with a bar for each week. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from reconciler.features.history.change_stats import UNKNOWN, Counts, Stats, duration, stats_lines
from reconciler.report.html import page as html
from reconciler.report.html.cards import notes
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
    stats: Stats, environment: str, target: str, made: html.ReportOccasion | None = None
) -> str:
    """Return the page, ending in a line break."""
    title = f"What became of changes: {environment}"
    named = {name or UNKNOWN: team for name, team in stats.teams.items()}
    return html.page(
        title,
        html.skip_link("weeks", "To the weeks"),
        html.page_head(
            title,
            target,
            made,
            _counts(stats),
            notes(tuple(stats_lines(stats))),
        ),
        html.element(
            "main",
            None,
            html.element("div", {"id": "weeks", "tabindex": "-1"}, _bars(stats.weeks)),
            _table("By team", "team", named),
            _table("By week", "week of", stats.weeks),
        ),
        html.element(
            "footer",
            None,
            html.of_class(
                "p",
                "legend",
                "reverted: what was declared before was declared again within a day; hot-fixed: "
                "something else was; noisier: `watch --remember` found that alerts fire more",
            ),
        ),
    )


def _counts(stats: Stats) -> html.Markup:
    whole = stats.whole
    shown = (
        (stats.applies, "applied"),
        (stats.rollbacks, "rolled back"),
        (whole.changes, "changes"),
        (whole.reverted, "reverted"),
        (whole.hot_fixed, "hot-fixed"),
        (whole.noisier, "noisier"),
    )
    items = (
        html.element("li", None, html.of_class("span", "number", f"{count:,}"), f" {word}")
        for count, word in shown
    )
    return html.of_class("ul", "counts", *items)


def _bars(weeks: Mapping[str, Counts]) -> html.Markup:
    """Return a bar for each week, with the troubled part at its foot in a pattern of its own."""
    drawn = dict(list(weeks.items())[-MOST_WEEKS:])
    most = max((counts.changes for counts in drawn.values()), default=0)
    if not most:
        return html.NOTHING
    step = WIDTH / len(drawn)
    every = -(-len(drawn) // LABELS)
    shapes: list[html.Markup] = [html.words(f"{most:,}", "s quiet", 0, HEAD - 5)]
    for number, (week, counts) in enumerate(drawn.items()):
        shapes.append(_bar(week, counts, number * step, step, HEIGHT / most))
        if number % every == 0:
            shapes.append(html.words(week[5:], "s quiet", number * step, HEAD + HEIGHT + FOOT - 5))
    floor = HEAD + HEIGHT
    shapes.append(html.shape("line", "floor", x1=0, y1=floor, x2=WIDTH, y2=floor))
    label = f"Changes by week, up to {most:,}, and those that did not stay"
    drawing = html.picture(label, WIDTH, HEAD + HEIGHT + FOOT, *shapes)
    more = len(weeks) - len(drawn)
    left_out = (
        html.of_class("p", "quiet", f"{plural(more, 'earlier week')} not drawn") if more else ""
    )
    side = html.of_class("div", "side", drawing, left_out or html.NOTHING)
    return html.figure("Changes by week", side, _legend())


def _bar(week: str, counts: Counts, left: float, step: float, scale: float) -> html.Markup:
    width = min(step * 0.8, WIDEST_BAR)
    height, bad = counts.changes * scale, counts.troubled * scale
    floor = HEAD + HEIGHT
    title = f"week of {week}: {plural(counts.changes, 'change')}, {counts.troubled:,} did not stay"
    parts = [html.shape("rect", "bar", x=left, y=floor - height, width=width, height=height)]
    if bad:
        parts.append(html.shape("rect", "bar bad", x=left, y=floor - bad, width=width, height=bad))
    return html.group(title, *parts)


def _legend() -> html.Markup:
    return html.of_class(
        "p",
        "legend",
        html.of_class("span", "key-week", "changes that stayed"),
        " ",
        html.of_class("span", "key-bad", "reverted, hot-fixed or noisier within a day (framed)"),
    )


def _table(title: str, first: str, rows: Mapping[str, Counts]) -> html.Markup:
    if not rows:
        return html.NOTHING
    heads = (html.element("th", {"scope": "col"}, name) for name in (first, *_COLUMNS))
    body = (html.element("tr", None, *_cells(name, row)) for name, row in rows.items())
    table = html.element(
        "table",
        {"class": "figures"},
        html.element("thead", None, html.element("tr", None, *heads)),
        html.element("tbody", None, html.joined(body)),
    )
    return html.element(
        "section", None, html.element("h2", None, title), html.of_class("div", "scroll", table)
    )


def _cells(name: str, counts: Counts) -> Iterator[html.Markup]:
    yield html.element("th", {"scope": "row"}, name)
    for count in (counts.changes, counts.reverted, counts.hot_fixed, counts.noisier):
        yield html.element("td", None, f"{count:,}")
    for seconds in (counts.median, counts.p90):
        yield html.element("td", None, duration(seconds))
