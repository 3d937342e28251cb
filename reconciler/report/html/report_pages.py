"""A plan and the drift of resources, each as one page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from reconciler.model import Action, Change, Drift, DriftReport, Plan, Ref
from reconciler.model.guards import GuardSentence
from reconciler.model.plan import DriftState
from reconciler.model.quoting import and_more
from reconciler.report import counts
from reconciler.report.changes.field_changes import drift_changes, essentials_of, field_changes
from reconciler.report.html import cards
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    element,
    items,
    joined,
    of_class,
    page,
    page_head,
    spans,
)
from reconciler.report.html.pictures import picture_of
from reconciler.report.pictures.drawing import drawing_of
from reconciler.report.reasons import describe_remedy, drift_note, look_notes, notes_of
from reconciler.report.sections import Notice, notices, shown_sections
from reconciler.report.words import plural

PLAN_SIDES = "before", "after"
MOST_REFS = 20
MOST_NOTICES = 50


def plan_html(plan: Plan, made: ReportOccasion | None = None) -> str:
    """Return the page, in the order of the comment. It contains every change, whole."""
    found = [change for change in plan.changes if change.action.is_to_do]
    identities = {change.ref: f"change-{number}" for number, change in enumerate(found, 1)}
    shown = [
        _plan_card(plan, change, identities[change.ref])
        for _, run in groupby(found, key=lambda change: change.ref.kind)
        for change in sorted(run, key=_urgency)
    ]
    title = f"Plan for {plan.environment}" if plan.against is None else counts.heading(plan)
    return page(
        f"{title}: {counts.summary(plan)}",
        "To the changes",
        page_head(title, plan.target, made, _plan_counts(plan)),
        _attention(plan, identities),
        *(formats.html(section) for section, formats in shown_sections(plan)),
        cards.changes(shown, "change"),
        _unchanged(plan),
        foot=_foot(plan, found),
    )


def _urgency(change: Change) -> tuple[int, bool, Ref]:
    return counts.WORST_FIRST.index(change.action), not change.destroys, change.ref


def _plan_counts(plan: Plan) -> Markup:
    found = [
        (action.word, action.value, plan.count(action), counts.VERBS[action])
        for action in counts.WORST_FIRST
        if plan.count(action) and action.is_to_do
    ]
    keep = Action.KEEP.word, Action.KEEP.value
    found += [(*keep, count, words) for count, words in counts.kept_counts(plan.changes)]
    if destroyed := sum(len(change.destroys) for change in plan.changes):
        found.append(("blocked", "−", destroyed, "destroyed permanently"))  # noqa: RUF001 - a minus as wide as a plus
    shown = [
        cards.counted(count, words, sign=of_class("span", f"sign {word}", sign))
        for word, sign, count, words in found
    ]
    if not shown:
        return of_class("p", "counts", counts.summary(plan))
    return of_class("ul", "counts", *shown)


def _attention(plan: Plan, identities: Mapping[Ref, str]) -> Markup:
    found = list(notices(plan))
    if not found:
        return NOTHING
    shown = [_notice(notice, identities) for notice in found[:MOST_NOTICES]]
    if len(found) > MOST_NOTICES:
        shown.append(of_class("li", "quiet", and_more(len(found) - MOST_NOTICES)))
    headline = _headline(found)
    heading = element("h2", "What needs your eyes", id="attention")
    summary = element("summary", heading, of_class("span", "quiet", headline))
    # The script folds it on a phone, where it would fill the first screen.
    body = element("details", summary, of_class("ul", "notices", *shown), open=True)
    return element("section", body, class_="attention", aria_labelledby="attention")


def _headline(found: Iterable[Notice]) -> str:
    numbers: Counter[str] = Counter()
    for notice in found:
        numbers[notice.title] += notice.size
    return " · ".join(f"{title}: {count:,}" for title, count in numbers.items())


def _notice(notice: Notice, identities: Mapping[Ref, str]) -> Markup:
    named = _named(notice.refs, identities)
    parts: list[str] = [element("strong", notice.title), " "]
    if notice.code:
        parts += ["(", element("code", notice.code), "): "]
    if notice.said:
        parts += [named, spans(notice.said)]
    elif notice.refs:
        parts += [named, ": ", notice.words]
    else:
        parts.append(notice.words)
    if notice.names:
        parts += ["loses ", joined((element("code", name) for name in notice.names), ", ")]
    if notice.members:
        parts.append(items(_members(notice.members, identities), "members"))
    if notice.ways:
        parts.append(items(map(spans, notice.ways), "ways"))
    return element("li", *parts)


def _members(members: Sequence[GuardSentence], identities: Mapping[Ref, str]) -> Iterator[Markup]:
    for refs, said in members[:MOST_NOTICES]:
        yield joined((_named(refs, identities), spans(said)))
    if more := and_more(len(members) - MOST_NOTICES):
        yield Markup(more)


def _named(refs: Sequence[Ref], identities: Mapping[Ref, str]) -> Markup:
    links = joined((_link(ref, identities) for ref in refs[:MOST_REFS]), ", ")
    return joined(filter(None, (links, and_more(len(refs) - MOST_REFS))), " ")


def _link(ref: Ref, identities: Mapping[Ref, str]) -> Markup:
    if ref not in identities:
        return element("code", str(ref))
    return element("a", str(ref), href=f"#{identities[ref]}")


def _plan_card(plan: Plan, change: Change, identity: str) -> cards.Card:
    team = change.labels.get(cards.TEAM, "")
    facets = [("kind", change.ref.kind), ("action", change.action.word)]
    facets += [("evidence", counts.evidence(change)), (cards.TEAM, team)]
    found = field_changes(change)
    body = (
        cards.notes(notes_of(change)),
        _destroyed(change),
        joined(formats.change_html(section, change) for section, formats in shown_sections(plan)),
        cards.watchers_card(plan, change),
        picture_of(drawing_of(change)),
        cards.fields_table(found, PLAN_SIDES)
        if change.action is Action.UPDATE
        else cards.new_table(found),
    )
    return cards.Card(
        identity=identity,
        ref=change.ref,
        source=change.source,
        sign=change.action.value,
        word=change.action.word,
        facets=facets,
        chips=list(_chips(change, team)),
        said=essentials_of(change),
        body=body,
    )


def _chips(change: Change, team: str) -> Iterator[cards.Chip]:
    if change.destroys:
        yield cards.Chip(f"destroys {len(change.destroys):,}", "the loss is permanent", "danger")
    if change.action is Action.UPDATE:
        yield cards.Chip(plural(len(change.differences), "field"))
    word = counts.evidence(change)
    yield cards.Chip(word, counts.EVIDENCE_MEANINGS[word], f"evidence {word}")
    if team:
        yield cards.Chip(team, "the label team")


def _destroyed(change: Change) -> Markup:
    if not change.destroys:
        return NOTHING
    names = (
        f"{name} (not written by this journal)" if name in change.foreign else name
        for name in change.destroys
    )
    return of_class("div", "danger", element("p", "Destroys permanently:"), items(names))


def _unchanged(plan: Plan) -> Markup:
    found = (change for change in plan.changes if change.action is Action.KEEP)
    kept = sorted(found, key=lambda change: change.is_kept_unseen)
    if not kept:
        return NOTHING
    groups = groupby(kept, key=lambda change: (change.ref.kind, change.is_kept_unseen))
    lists = (
        (
            f"{kind}, {counts.AS_LAST_WRITTEN}" if unseen else kind,
            (change.ref.name for change in run),
        )
        for (kind, unseen), run in groups
    )
    return cards.unchanged(counts.describe_kept(kept), lists)


def _foot(plan: Plan, found: Sequence[Change]) -> Markup:
    words = dict.fromkeys(counts.evidence(change) for change in found)
    meanings = [f"{word}: {counts.EVIDENCE_MEANINGS[word]}" for word in words]
    if any(change.action is Action.ASSERT for change in found):
        meanings.append("assert: a write without having seen; it replaces whatever is there")
    digest = of_class("p", "digest", "Digest ", element("code", plan.digest))
    return element("footer", items(meanings, "legend"), digest)


DRIFT_SIDES = "applied", "live"
SIGNS = "Of each field, - is what was applied and + is live."
_SIGNS = {"drifted": "~", "gone": "−", "unread": "x"}  # noqa: RUF001 - a minus as wide as a plus
_STATES: tuple[DriftState, ...] = ("unread", "gone", "drifted", "unapplied", "unseen", "same")
_MEANINGS = {
    "unread": "it was asked for, and the answer was of no use",
    "drifted": "live differs from what was applied",
    "gone": "the service no longer has it",
    "unapplied": "the journal has no write of it",
    "unseen": "the API cannot show it",
    "same": "as applied",
}


def drift_html(
    look: DriftReport, environment: str, target: str, made: ReportOccasion | None = None
) -> str:
    """Return the page, ending in a line break. It contains all drift, whole."""
    drifts = look.found
    findings = (drift for drift in drifts if drift.is_finding)
    found = sorted(findings, key=lambda drift: drift.ref)
    shown = [_drift_card(drift, f"drift-{number}") for number, drift in enumerate(found, 1)]
    title = f"Drift of {environment}"
    return page(
        f"{title}: {counts.drift_summary(look)}",
        "To what drifted",
        page_head(
            title,
            target,
            made,
            _drift_counts(look),
            cards.notes(look_notes(look)),
            of_class("p", "quiet", SIGNS) if shown else NOTHING,
        ),
        cards.changes(shown, "resource"),
        _rest(drifts),
        foot=element("footer", of_class("p", "legend", "applied: what the journal says was sent")),
    )


def _drift_counts(look: DriftReport) -> Markup:
    states = Counter(drift.state for drift in look.found)
    found = (
        *((states[state], state, _MEANINGS[state]) for state in _STATES),
        (look.ignored, "ignored", "differences that the project file expects"),
        (look.new, "new", f"not there when drift was last remembered, {look.since}"),
    )
    shown = (cards.counted(count, word, title=title) for count, word, title in found if count)
    return of_class("ul", "counts", *shown)


def _drift_card(drift: Drift, identity: str) -> cards.Card:
    word = drift.state
    chips = [cards.Chip(plural(len(drift.differences), "field"))] if drift.differences else []
    return cards.Card(
        identity=identity,
        ref=drift.ref,
        source=drift.source,
        sign=_SIGNS[word],
        word=word,
        facets=[("kind", drift.ref.kind), ("state", word)],
        chips=chips,
        said=(),
        body=(
            cards.notes(filter(None, (drift_note(drift),))),
            cards.fields_table(drift_changes(drift), DRIFT_SIDES),
            cards.notes(map(describe_remedy, drift.remedies)),
        ),
    )


def _rest(drifts: Sequence[Drift]) -> Markup:
    rest = (drift for drift in drifts if not drift.is_finding)
    calm = sorted(rest, key=lambda drift: drift.state)
    if not calm:
        return NOTHING
    lists = (
        (_MEANINGS[state], (str(drift.ref) for drift in run))
        for state, run in groupby(calm, key=lambda drift: drift.state)
    )
    return cards.unchanged(counts.describe_no_drift(calm), lists)
