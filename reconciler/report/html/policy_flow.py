"""What becomes of samples of logs, as a flow from the policies of today to those of tomorrow. Pure.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reconciler.model.policy_impact import Met, PolicyImpact, SampleAnswer
from reconciler.report.html.element import (
    NOTHING,
    Markup,
    element,
    joined,
    number,
    of_class,
    shape,
    spans,
)
from reconciler.report.signals.policy_impact_formats import (
    TITLE,
    agreement_words,
    counted,
    expectation,
    met_words,
    priority_word,
    remarks,
    severity_word,
    told_rows,
    turning,
)
from reconciler.report.words import plural

MOST_FLOWS = 60
MOST_ROWS = 200
ROOM, THICKEST, THINNEST = 100, 18, 2
"""Of the picture of one flow: its width, and how thick its line may be."""


def policy_impact_section(impact: PolicyImpact | None) -> Markup:
    """Give the section of a page; nothing where no samples were looked at."""
    if impact is None:
        return NOTHING
    heading = element("h2", {"id": "samples"}, f"{TITLE}: {counted(impact)}")
    doubt = "quiet" if impact.agreement == 1 else "doubt"
    said = of_class("p", doubt, _sentence(agreement_words(impact)))
    notes = [element("li", None, spans(remark)) for remark in remarks(impact)]
    return element(
        "section",
        {"class": "sampled", "aria-labelledby": "samples"},
        heading,
        said,
        _flows(impact),
        _rows(impact),
        of_class("ul", "notes", *notes) if notes else NOTHING,
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _flows(impact: PolicyImpact) -> Markup:
    """Draw one line for all samples that go the same way, thick as they are many."""
    ways = Counter((answer.before, answer.after) for answer in impact.answers)
    failing = Counter((failure.before, failure.after) for failure in impact.failures)
    # What changes comes first: the rest is only there to compare with.
    ordered = sorted(ways, key=lambda way: (way[0] == way[1], -ways[way], str(way)))
    most = max(ways.values(), default=1)
    items = [
        _flow(way, _many(ways[way], failing[way]), ways[way] / most, fails=failing[way] > 0)
        for way in ordered[:MOST_FLOWS]
    ]
    if len(ordered) > MOST_FLOWS:
        items.append(of_class("li", "quiet", f"and {len(ordered) - MOST_FLOWS:,} more ways"))
    head = of_class(
        "li",
        "flow head",
        *(element("span", None, one) for one in (_before(impact), "", _after(impact))),
    )
    return of_class("ol", "flows", head, *items) if items else NOTHING


def _before(impact: PolicyImpact) -> str:
    return turning(impact)[0].capitalize()


def _after(impact: PolicyImpact) -> str:
    return turning(impact)[1].capitalize()


def _many(count: int, failing: int) -> str:
    return plural(count, "sample") + (f", {failing:,} not as expected" if failing else "")


def _flow(way: tuple[Met | None, Met | None], told: str, share: float, *, fails: bool) -> Markup:
    before, after = way
    turns = None not in (before, after) and before != after
    classes = "flow" + (" turns" if turns else "") + (" fails" if fails else "")
    return of_class("li", classes, _policy(before), _line(share, told), _policy(after))


def _policy(met: Met | None) -> Markup:
    priority = priority_word(met) if met is not None else ""
    name = met_words(Met(met.policy)) if met is not None else met_words(None)
    said = of_class("span", "says", priority) if priority else NOTHING
    classes = "policy" if met is not None and met.policy else "policy none"
    return of_class("span", classes, of_class("span", "name", name), said)


def _line(share: float, told: str) -> Markup:
    thick = THINNEST + (THICKEST - THINNEST) * share
    middle = THICKEST / 2
    bar = shape("rect", "band", x=0, y=middle - thick / 2, width=ROOM, height=thick)
    attributes = {
        "viewBox": f"0 0 {number(ROOM)} {number(THICKEST)}",
        "preserveAspectRatio": "none",
        "aria-hidden": "true",
    }
    return of_class("span", "way", element("svg", attributes, bar), of_class("span", "many", told))


def _rows(impact: PolicyImpact) -> Markup:
    rows = told_rows(impact)
    if not rows:
        return NOTHING
    heads = ("Log", _before(impact), _after(impact))
    head = element(
        "thead", None, element("tr", None, *(element("th", None, head) for head in heads))
    )
    body = element("tbody", None, *map(_row, rows[:MOST_ROWS]))
    parts = [of_class("table", "fields", head, body)]
    if len(rows) > MOST_ROWS:
        parts.append(of_class("p", "quiet", f"and {len(rows) - MOST_ROWS:,} more"))
    return joined(parts)


def _row(one: SampleAnswer) -> Markup:
    before, after = (element("code", None, met_words(met)) for met in (one.before, one.after))
    return element(
        "tr",
        None,
        element("th", None, joined(_log(one))),
        of_class("td", "before" if one.turns else "kept", before),
        of_class("td", "after" if one.turns else "kept", after),
    )


def _log(one: SampleAnswer) -> Iterator[Markup]:
    sample = one.sample
    yield element("code", None, f"{sample.application} / {sample.subsystem}")
    yield joined((" ", severity_word(sample)))
    if expected := expectation(one):
        yield of_class("span", "chip danger" if one.fails else "chip", f"expects {expected}")
