"""The effect of a plan on samples of logs: a flow from today's policies to tomorrow's. Pure.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reconciler.features.policy_samples.policy_impact import Met, PolicyImpact, SampleAnswer
from reconciler.features.policy_samples.policy_impact_formats import (
    TITLE,
    counted,
    describe_agreement,
    describe_met,
    expectation,
    priority_word,
    remarks,
    reported_rows,
    severity_word,
    turning,
)
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    element,
    joined,
    number,
    of_class,
    shape,
    spans,
)
from reconciler.report.words import as_sentence, plural

MOST_FLOWS = 60
MOST_ROWS = 200
ROOM, THICKEST, THINNEST = 100, 18, 2
"""Of the picture of a flow: its width, and the largest and smallest thickness of its line."""


def policy_impact_section(impact: PolicyImpact) -> Markup:
    """Return the section of a page; nothing of a list that stays with all samples as expected."""
    if impact.is_quiet:
        return NOTHING
    heading = element("h2", f"{TITLE}: {counted(impact)}", id="samples")
    doubt = "quiet" if impact.agreement == 1 else "doubt"
    agreement = of_class("p", doubt, as_sentence(describe_agreement(impact)))
    notes = [element("li", spans(remark)) for remark in remarks(impact)]
    return element(
        "section",
        heading,
        agreement,
        _flows(impact),
        _rows(impact),
        of_class("ul", "notes", *notes) if notes else NOTHING,
        class_="sampled",
        aria_labelledby="samples",
    )


def _flows(impact: PolicyImpact) -> Markup:
    """Return a line for each pair of policies; the more samples take it, the thicker it is."""
    flows = Counter((answer.before, answer.after) for answer in impact.answers)
    failing = Counter((failure.before, failure.after) for failure in impact.failures)
    # Changed flows come first: the rest is only for comparison.
    ordered = sorted(flows, key=lambda flow: (flow[0] == flow[1], -flows[flow], str(flow)))
    most = max(flows.values(), default=1)
    items = [
        _flow(flow, _many(flows[flow], failing[flow]), flows[flow] / most, fails=failing[flow] > 0)
        for flow in ordered[:MOST_FLOWS]
    ]
    if len(ordered) > MOST_FLOWS:
        items.append(of_class("li", "quiet", f"and {len(ordered) - MOST_FLOWS:,} more ways"))
    head = of_class(
        "li",
        "flow head",
        *(element("span", title) for title in (_before(impact), "", _after(impact))),
    )
    return of_class("ol", "flows", head, *items) if items else NOTHING


def _before(impact: PolicyImpact) -> str:
    return turning(impact)[0].capitalize()


def _after(impact: PolicyImpact) -> str:
    return turning(impact)[1].capitalize()


def _many(count: int, failing: int) -> str:
    return plural(count, "sample") + (f", {failing:,} not as expected" if failing else "")


def _flow(flow: tuple[Met | None, Met | None], count: str, share: float, *, fails: bool) -> Markup:
    before, after = flow
    turns = None not in (before, after) and before != after
    classes = "flow" + (" turns" if turns else "") + (" fails" if fails else "")
    return of_class("li", classes, _policy(before), _line(share, count), _policy(after))


def _policy(met: Met | None) -> Markup:
    priority = priority_word(met) if met is not None else ""
    name = describe_met(Met(met.policy)) if met is not None else describe_met(None)
    priority_span = of_class("span", "says", priority) if priority else NOTHING
    classes = "policy" if met is not None and met.policy else "policy none"
    return of_class("span", classes, of_class("span", "name", name), priority_span)


def _line(share: float, count: str) -> Markup:
    thick = THINNEST + (THICKEST - THINNEST) * share
    middle = THICKEST / 2
    bar = shape("rect", "band", x=0, y=middle - thick / 2, width=ROOM, height=thick)
    picture = element(
        "svg",
        bar,
        viewBox=f"0 0 {number(ROOM)} {number(THICKEST)}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return of_class("span", "way", picture, of_class("span", "many", count))


def _rows(impact: PolicyImpact) -> Markup:
    rows = reported_rows(impact)
    if not rows:
        return NOTHING
    heads = ("Log", _before(impact), _after(impact))
    head = element("thead", element("tr", *(element("th", head) for head in heads)))
    body = element("tbody", *map(_row, rows[:MOST_ROWS]))
    parts = [of_class("table", "fields", head, body)]
    if len(rows) > MOST_ROWS:
        parts.append(of_class("p", "quiet", f"and {len(rows) - MOST_ROWS:,} more"))
    return joined(parts)


def _row(answer: SampleAnswer) -> Markup:
    before, after = (element("code", describe_met(met)) for met in (answer.before, answer.after))
    return element(
        "tr",
        element("th", joined(_log(answer))),
        of_class("td", "before" if answer.turns else "kept", before),
        of_class("td", "after" if answer.turns else "kept", after),
    )


def _log(answer: SampleAnswer) -> Iterator[Markup]:
    sample = answer.sample
    yield element("code", f"{sample.application} / {sample.subsystem}")
    yield joined((" ", severity_word(sample)))
    if expected := expectation(answer):
        yield of_class("span", "chip danger" if answer.fails else "chip", f"expects {expected}")
