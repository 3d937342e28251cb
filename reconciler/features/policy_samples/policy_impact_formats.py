"""The effect of a new list of policies on samples of logs: JSON, terminal, Markdown, HTML. Pure.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Final

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    PolicySample,
    SampleAnswer,
)
from reconciler.model.quoting import quoted, quoted_pair
from reconciler.report.html import page as html
from reconciler.report.markdown import code, markdown_table, sentence
from reconciler.report.safe import columns
from reconciler.report.sections import SectionFormats
from reconciler.report.table import Colour, Heading, Style, table, wrapped
from reconciler.report.words import as_sentence, first_few, plural

TITLE = "Samples of logs"
NOBODY = "(no policy)"
MOST_ROWS = 40
MOST_NAMED = 8
MOST_DIFFERING = 3
LONGEST_NAME = 48
LONGEST_WHY = 300
TABLE_BYTES = 6_000


class SampleDocument(TypedDict):
    """A log of the samples file."""

    application: str
    subsystem: str
    severity: str


class MetDocument(TypedDict):
    """The policy that takes a log, and the priority that it sets; null where none takes it."""

    policy: str | None
    priority: str | None


class SampleChangeDocument(TypedDict):
    """A sample that changes policy or priority."""

    sample: SampleDocument
    before: MetDocument
    after: MetDocument


class SampleFailureDocument(TypedDict):
    """A sample that will not have the policy that it expects; null is no policy at all."""

    sample: SampleDocument
    expected: str | None
    told: str | None


class DisagreementDocument(TypedDict):
    """A sample for which service and evaluator disagree about the live list."""

    sample: SampleDocument
    told: MetDocument
    evaluated: Annotated[
        MetDocument | None,
        Field(description="null where unknown severities leave it open."),
    ]


@with_config(ConfigDict(extra="ignore"))
class PolicyImpactDocument(TypedDict):
    """The effect of the plan on the samples of `policySamples`: docs/policy-impact.md."""

    samples: Annotated[int, Field(ge=0)]
    agreement: Annotated[
        float | None,
        Field(
            ge=0,
            le=1,
            description="The share of them for which the evaluator and the service agree on the "
            "live list; null where the service could not be asked.",
        ),
    ]
    changes: list[SampleChangeDocument]
    shadowed: Annotated[list[str], Field(description="Policies that no log can reach.")]
    failures: list[SampleFailureDocument]
    disagreements: list[DisagreementDocument]
    recalled: Annotated[
        list[str], Field(description="The policies with severities from the journal.")
    ]
    unknown: Annotated[
        list[str], Field(description="Live policies with severities that are unknown.")
    ]
    unasked: Annotated[str, Field(description="Why the service could not be asked.")]
    onMismatch: Annotated[str, Field(description="report, or rollback.")]


def policy_impact_document(impact: PolicyImpact) -> PolicyImpactDocument:
    """Return the JSON form."""
    return {
        "samples": len(impact.answers),
        "agreement": impact.agreement,
        "changes": [
            {
                "sample": _sample(change.sample),
                "before": _met(change.before or Met()),
                "after": _met(change.after or Met()),
            }
            for change in impact.changes
        ],
        "shadowed": [*impact.shadowed],
        "failures": [
            {
                "sample": _sample(failure.sample),
                "expected": failure.sample.policy or None,
                "told": (failure.after or Met()).policy or None,
            }
            for failure in impact.failures
        ],
        "disagreements": [
            {
                "sample": _sample(answer.sample),
                "told": _met(answer.before or Met()),
                "evaluated": None if answer.after is None else _met(answer.after),
            }
            for answer in impact.disagreeing
        ],
        "recalled": [*impact.recalled],
        "unknown": [*impact.unknown],
        "unasked": impact.unasked,
        "onMismatch": impact.on_mismatch,
    }


def _sample(sample: PolicySample) -> SampleDocument:
    return {
        "application": sample.application,
        "subsystem": sample.subsystem,
        "severity": sample.severity_word,
    }


def _met(met: Met) -> MetDocument:
    return {"policy": met.policy or None, "priority": met.priority_word or None}


def describe_met(met: Met | None) -> str:
    """Return the policy that takes a log, and its priority; the caller escapes the text."""
    if met is None:
        return "(not known)"
    if not met.policy:
        return NOBODY
    priority = met.priority_word
    return f"{met.policy} ({priority})" if priority else met.policy


def reported_rows(impact: PolicyImpact) -> list[SampleAnswer]:
    """Return the samples that are shown: failing samples first, then changing samples."""
    return [*[*impact.failures], *(change for change in impact.changes if not change.fails)]


def expectation(answer: SampleAnswer) -> str:
    """Return which policy a sample expects, "" for a sample without expectation."""
    return (answer.sample.policy or NOBODY) if answer.sample.expects else ""


def describe_agreement(impact: PolicyImpact) -> str:
    """Return how far the evaluator agrees with the service."""
    service, compared = impact.asked, "the live list"
    if impact.of_base:
        compared = "the list of the revision"
    if impact.agreement is None:
        so = "nothing is known of today, nor of the evaluator"
        return f"the {service} could not be asked, so {so}"
    count = len(impact.answers)
    if not impact.disagreeing:
        return f"of {compared}, evaluator and {service} agree on all {count:,}"
    # With a thousand samples, a single difference must not be rounded to full agreement.
    agreeing = count - len(impact.disagreeing)
    so = "what is said of tomorrow is as doubtful"
    if not impact.writes:
        there = "is there" if impact.of_base else "is live"
        so = f"what {there} does otherwise than it says, or is read otherwise here"
    return f"of {compared}, evaluator and {service} agree on {agreeing:,} of {count:,} only: {so}"


def counted(impact: PolicyImpact) -> str:
    """Return the counts of the samples in one line."""
    changing, failing = len(impact.changes), len(impact.failures)
    counts = f"{plural(len(impact.answers), 'sample')}, {changing:,} changing"
    return f"{counts}, {failing:,} not as expected" if failing else counts


def remarks(impact: PolicyImpact) -> Iterator[str]:
    """Yield further remarks as sentences; the caller escapes them."""
    if impact.unasked:
        yield f"not asked: {quoted(impact.unasked, LONGEST_WHY)}"
    if impact.disagreeing:
        differing = (
            _differing(answer, impact.asked) for answer in impact.disagreeing[:MOST_DIFFERING]
        )
        yield f"they differ on {'; '.join(differing)}"
    if impact.unknown:
        names = _names(impact.unknown)
        yield f"the severities of {names} are unknown: the {impact.asked} does not return them"
    if impact.recalled:
        yield f"severities as the journal remembers them: {_names(impact.recalled)}"
    if impact.shadowed:
        takes = "those before take all of their logs"
        yield f"no log can reach {_names(impact.shadowed)}: {takes}"
    # A plan against a revision is never applied.
    if impact.writes and not impact.unasked and not impact.of_base:
        yield _foretold(impact)


def _foretold(impact: PolicyImpact) -> str:
    begin = "after the overwrite the samples are asked again; "
    if impact.on_mismatch == "report":
        return f"{begin}a mismatch is reported (exit 3)"
    if impact.unknown:
        return f"{begin}the list that is live could not be put back, as severities are unknown"
    return f"{begin}a mismatch puts the list back that is live now (exit 3)"


def _differing(answer: SampleAnswer, who: str) -> str:
    sample = answer.sample
    log = quoted_pair(sample.application, sample.subsystem)
    answered, evaluated = (
        quoted(describe_met(met), LONGEST_NAME) if met and met.policy else describe_met(met)
        for met in (answer.before, answer.after)
    )
    severity = quoted(sample.severity_word, LONGEST_NAME)
    return f"{log} {severity}: the {who} says {answered}, the evaluator {evaluated}"


def _names(names: Sequence[str]) -> str:
    return first_few(names, MOST_NAMED, quoted)


_ABOUT = ("application", "subsystem", "severity")


def _headings(impact: PolicyImpact) -> tuple[str, ...]:
    return (*_ABOUT, *impact.sides, "expected")


def _cells(answer: SampleAnswer) -> list[str]:
    sample = answer.sample
    return [
        sample.application,
        sample.subsystem,
        sample.severity_word,
        describe_met(answer.before),
        describe_met(answer.after),
        expectation(answer),
    ]


def policy_impact_lines(impact: PolicyImpact, style: Style) -> Iterator[str]:
    """Yield the lines for a terminal; the last line is empty.

    An unchanged list has no lines without `-v`, unless a sample is not as expected.
    """
    if impact.is_quiet and not style.verbose:
        return
    yield style.paint(f"{TITLE}: {counted(impact)}", Colour.BOLD)
    doubt = Colour.CYAN if impact.agreement == 1 else Colour.RED
    yield from wrapped(describe_agreement(impact), style, doubt, margin="  ", hang="  ")
    rows = reported_rows(impact)
    shown = rows if style.verbose else rows[:MOST_ROWS]
    if shown:
        yield from _reported(impact, shown, style)
    if len(rows) > len(shown):
        yield style.paint(f"  and {len(rows) - len(shown):,} more (-v lists them)", Colour.DIM)
    for remark in remarks(impact):
        yield from wrapped(remark, style, Colour.CYAN, margin="  ", hang="  ")
    yield ""


def _reported(impact: PolicyImpact, shown: Sequence[SampleAnswer], style: Style) -> Iterator[str]:
    """Yield a table of samples, or sentences where a terminal is too narrow for its columns."""
    headings = [*map(Heading, _headings(impact))]
    narrow = replace(style, width=style.width - len(_MARGIN))
    lines = table(headings, [_cells(answer) for answer in shown], narrow).splitlines()
    if not style.terminal or all(columns(line) <= narrow.width for line in lines):
        yield from (f"{_MARGIN}{line}" for line in lines)
        return
    for answer in shown:
        log = f"{answer.sample.application}/{answer.sample.subsystem} {answer.sample.severity_word}"
        turn = f"{describe_met(answer.before)} → {describe_met(answer.after)}"
        wanted = f", expected {expectation(answer)}" if expectation(answer) else ""
        yield from wrapped(f"{log}: {turn}{wanted}", style, margin=_MARGIN, hang=_MARGIN)


_MARGIN = "  "


def policy_impact_markdown(impact: PolicyImpact) -> Iterator[str]:
    """Yield the lines for a comment, few and bounded; the last line is empty."""
    if impact.is_quiet:
        return
    yield f"**{TITLE}**: {counted(impact)}; {describe_agreement(impact)}."
    yield ""
    yield from markdown_table(
        _headings(impact), reported_rows(impact), _row, MOST_ROWS, room=TABLE_BYTES
    )
    texts = [*remarks(impact)]
    yield from (f"- {sentence(text, LONGEST_WHY)}" for text in texts)
    if texts:
        yield ""


def _row(answer: SampleAnswer) -> list[str]:
    return [code(cell, LONGEST_NAME) if cell else "" for cell in _cells(answer)]


MOST_FLOWS = 60
MOST_DRAWN_ROWS = 200
ROOM, THICKEST, THINNEST = 100, 18, 2
"""The width of the picture of a flow, and the largest and smallest thickness of its line."""


def policy_impact_section(impact: PolicyImpact) -> html.Markup:
    """Return the section of a page; none if the list is unchanged and all samples as expected."""
    if impact.is_quiet:
        return html.NOTHING
    heading = html.element("h2", f"{TITLE}: {counted(impact)}", id="samples")
    doubt = "quiet" if impact.agreement == 1 else "doubt"
    agreement = describe_agreement(impact)
    notes = [html.element("li", html.spans(remark)) for remark in remarks(impact)]
    return html.element(
        "section",
        heading,
        html.of_class("p", doubt, as_sentence(agreement)),
        _flows(impact),
        _rows(impact),
        html.of_class("ul", "notes", *notes) if notes else html.NOTHING,
        class_="sampled",
        aria_labelledby="samples",
    )


def _flows(impact: PolicyImpact) -> html.Markup:
    """Return a line for each pair of policies; the more samples take it, the thicker it is."""
    flows = Counter((answer.before, answer.after) for answer in impact.answers)
    failing = Counter((failure.before, failure.after) for failure in impact.failures)
    # Changed flows come first: the rest is only for comparison.
    ordered = sorted(flows, key=lambda flow: (flow[0] == flow[1], -flows[flow], str(flow)))
    most = max(flows.values(), default=1)
    items = [_flow(flow, flows[flow], failing[flow], most) for flow in ordered[:MOST_FLOWS]]
    if len(ordered) > MOST_FLOWS:
        items.append(html.of_class("li", "quiet", f"and {len(ordered) - MOST_FLOWS:,} more ways"))
    before, after = map(str.capitalize, impact.sides)
    head = html.of_class(
        "li", "flow head", *(html.element("span", title) for title in (before, "", after))
    )
    return html.of_class("ol", "flows", head, *items) if items else html.NOTHING


def _flow(flow: tuple[Met | None, Met | None], count: int, failing: int, most: int) -> html.Markup:
    before, after = flow
    turns = None not in flow and before != after
    classes = "flow" + (" turns" if turns else "") + (" fails" if failing else "")
    many = plural(count, "sample") + (f", {failing:,} not as expected" if failing else "")
    return html.of_class("li", classes, _policy(before), _line(count / most, many), _policy(after))


def _policy(met: Met | None) -> html.Markup:
    name = describe_met(Met(met.policy) if met is not None else None)
    priority = met.priority_word if met is not None else ""
    priority_span = html.of_class("span", "says", priority) if priority else html.NOTHING
    classes = "policy" if met is not None and met.policy else "policy none"
    return html.of_class("span", classes, html.of_class("span", "name", name), priority_span)


def _line(share: float, count: str) -> html.Markup:
    thick = THINNEST + (THICKEST - THINNEST) * share
    middle = THICKEST / 2
    picture = html.element(
        "svg",
        html.shape("rect", "band", x=0, y=middle - thick / 2, width=ROOM, height=thick),
        viewBox=f"0 0 {html.number(ROOM)} {html.number(THICKEST)}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return html.of_class("span", "way", picture, html.of_class("span", "many", count))


def _rows(impact: PolicyImpact) -> html.Markup:
    rows = reported_rows(impact)
    if not rows:
        return html.NOTHING
    heads = ("Log", *map(str.capitalize, impact.sides))
    body = html.element("tbody", *map(_drawn_row, rows[:MOST_DRAWN_ROWS]))
    parts = [html.table("fields", heads, body)]
    if len(rows) > MOST_DRAWN_ROWS:
        parts.append(html.of_class("p", "quiet", f"and {len(rows) - MOST_DRAWN_ROWS:,} more"))
    return html.joined(parts)


def _drawn_row(answer: SampleAnswer) -> html.Markup:
    before, after = (
        html.element("code", describe_met(met)) for met in (answer.before, answer.after)
    )
    return html.element(
        "tr",
        html.element("th", html.joined(_log(answer))),
        html.of_class("td", "before" if answer.turns else "kept", before),
        html.of_class("td", "after" if answer.turns else "kept", after),
    )


def _log(answer: SampleAnswer) -> Iterator[html.Markup]:
    sample = answer.sample
    yield html.element("code", f"{sample.application} / {sample.subsystem}")
    yield html.joined((" ", sample.severity_word))
    if expected := expectation(answer):
        yield html.of_class(
            "span", "chip danger" if answer.fails else "chip", f"expects {expected}"
        )


FORMATS: Final[SectionFormats[PolicyImpact]] = SectionFormats(
    members=lambda impact: {"policyImpact": policy_impact_document(impact)},
    lines=policy_impact_lines,
    markdown=policy_impact_markdown,
    html=policy_impact_section,
    stale="the samples of logs did",
)
