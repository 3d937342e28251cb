"""A plan as one page, in the order of the comment. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import assert_never

from reconciler.model import Action, Change, Plan, Ref
from reconciler.report.attention import notices
from reconciler.report.changes.field_changes import essentials_of, field_changes
from reconciler.report.counts import (
    AS_LAST_WRITTEN,
    EVIDENCE_MEANINGS,
    VERBS,
    WORST_FIRST,
    describe_kept,
    evidence,
    heading,
    kept_counts,
    summary,
)
from reconciler.report.html.cards import (
    TEAM,
    Card,
    Chip,
    card,
    fields_table,
    filter_bar,
    group,
    new_table,
    notes,
    watchers_card,
)
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    element,
    joined,
    of_class,
    page,
    page_head,
    skip_link,
    spans,
)
from reconciler.report.html.pictures import grid_figure, order_figure, scale_figure
from reconciler.report.pictures.grid import DashboardSides
from reconciler.report.pictures.picture_sides import AimSides, Drawing, RankingSides, drawing_of
from reconciler.report.reasons import notes_of
from reconciler.report.sections import Notice, shown_sections
from reconciler.report.words import plural


def picture_of(drawing: Drawing | None) -> Markup:
    """Return the figure of a drawing; nothing where there is none."""
    match drawing:
        case None:
            return NOTHING
        case DashboardSides():
            return grid_figure(drawing)
        case RankingSides():
            return order_figure(drawing)
        case AimSides():
            return scale_figure(drawing)
        case _:
            assert_never(drawing)


SIDES = "before", "after"
MOST_REFS = 20
MOST_NOTICES = 50
OPEN_UP_TO = 5


def plan_html(plan: Plan, made: ReportOccasion | None = None) -> str:
    """Return the page, ending in a line break. It contains every change, whole."""
    changes = [change for change in plan.changes if change.action.is_to_do]
    shown = [_card(plan, change, f"change-{number}") for number, change in enumerate(changes, 1)]
    identities = {shown_card.ref: shown_card.identity for shown_card in shown}
    title = f"Plan for {plan.environment}" if plan.against is None else heading(plan)
    return page(
        f"{title}: {summary(plan)}",
        skip_link("changes", "To the changes"),
        page_head(
            title,
            plan.target,
            made,
            _counts(plan),
        ),
        element(
            "main",
            None,
            _attention(plan, identities),
            *(formats.html(section) for section, formats in shown_sections(plan)),
            filter_bar(shown),
            element("div", {"id": "changes", "tabindex": "-1"}, *_groups(changes, shown)),
            _unchanged(plan),
        ),
        _foot(plan, changes),
    )


def _counts(plan: Plan) -> Markup:
    items = []
    todo = [action for action in WORST_FIRST if plan.count(action) and action.is_to_do]
    counts: list[tuple[Action, int, str]] = [
        *((action, plan.count(action), VERBS[action]) for action in todo),
        *((Action.KEEP, count, words) for count, words in kept_counts(plan.changes)),
    ]
    for action, count, words in counts:
        sign = of_class("span", f"sign {action.word}", action.value)
        number = of_class("span", "number", f"{count:,}")
        items.append(element("li", None, sign, " ", number, " ", words))
    if destroyed := sum(len(change.destroys) for change in plan.changes):
        sign = of_class("span", "sign blocked", "−")  # noqa: RUF001 - a minus as wide as a plus
        number = of_class("span", "number", f"{destroyed:,}")
        items.append(element("li", None, sign, " ", number, " destroyed permanently"))
    return of_class("ul", "counts", *items) if items else of_class("p", "counts", summary(plan))


def _attention(plan: Plan, identities: Mapping[Ref, str]) -> Markup:
    found = list(notices(plan))
    if not found:
        return NOTHING
    items = [_notice(notice, identities) for notice in found[:MOST_NOTICES]]
    if len(found) > MOST_NOTICES:
        items.append(of_class("li", "quiet", f"and {len(found) - MOST_NOTICES:,} more"))
    heading = element("h2", {"id": "attention"}, "What needs your eyes")
    body = of_class("ul", "notices", *items)
    return element("section", {"class": "attention", "aria-labelledby": "attention"}, heading, body)


def _notice(notice: Notice, identities: Mapping[Ref, str]) -> Markup:
    refs = [_link(ref, identities) for ref in notice.refs[:MOST_REFS]]
    more = len(notice.refs) - len(refs)
    named = joined((*refs, f"and {more:,} more") if more > 0 else refs, ", ")
    parts: list[str] = [element("strong", None, notice.title), " "]
    if notice.code:
        parts += ["(", element("code", None, notice.code), ") "]
    if notice.said:
        parts += [named, spans(notice.said)]
    else:
        parts += [named, ": ", notice.words]
    if notice.names:
        parts += ["loses ", joined((element("code", None, name) for name in notice.names), ", ")]
    if notice.ways:
        remedies = (element("li", None, spans(remedy)) for remedy in notice.ways)
        parts.append(of_class("ul", "ways", *remedies))
    return element("li", None, *parts)


def _link(ref: Ref, identities: Mapping[Ref, str]) -> Markup:
    if ref not in identities:
        return element("code", None, str(ref))
    return element("a", {"href": f"#{identities[ref]}"}, str(ref))


def _groups(changes: Sequence[Change], shown: Sequence[Card]) -> Iterator[Markup]:
    pairs = list(zip(changes, shown, strict=True))
    for kind, run in groupby(pairs, key=lambda pair: pair[0].ref.kind):
        ordered = sorted(
            run,
            key=lambda pair: (WORST_FIRST.index(pair[0].action), not pair[0].destroys, pair[0].ref),
        )
        cards = [card(shown_card, is_open=len(shown) <= OPEN_UP_TO) for _, shown_card in ordered]
        yield group(kind, plural(len(cards), "change"), cards)


def _card(plan: Plan, change: Change, identity: str) -> Card:
    team = change.labels.get(TEAM, "")
    facets = [("kind", change.ref.kind), ("action", change.action.word)]
    facets += [("evidence", evidence(change)), (TEAM, team)]
    found = field_changes(change)
    body = (
        notes(notes_of(change)),
        _destroyed(change),
        joined(formats.change_html(section, change) for section, formats in shown_sections(plan)),
        watchers_card(plan, change),
        picture_of(drawing_of(change)),
        fields_table(found, SIDES) if change.action is Action.UPDATE else new_table(found),
    )
    return Card(
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


def _chips(change: Change, team: str) -> Iterator[Chip]:
    if change.destroys:
        yield Chip(f"destroys {len(change.destroys):,}", "the loss is permanent", "danger")
    if change.action is Action.UPDATE:
        yield Chip(plural(len(change.differences), "field"))
    word = evidence(change)
    yield Chip(word, EVIDENCE_MEANINGS[word], f"evidence {word}")
    if team:
        yield Chip(team, "the label team")


def _destroyed(change: Change) -> Markup:
    if not change.destroys:
        return NOTHING
    names = (
        element(
            "li", None, name, " (not written by this journal)" if name in change.foreign else ""
        )
        for name in change.destroys
    )
    return of_class(
        "div", "danger", element("p", None, "Destroys permanently:"), element("ul", None, *names)
    )


def _unchanged(plan: Plan) -> Markup:
    found = (change for change in plan.changes if change.action is Action.KEEP)
    kept = sorted(found, key=lambda change: change.is_kept_unseen)
    if not kept:
        return NOTHING
    lists = []
    for (unseen, kind), changes in groupby(
        kept, key=lambda change: (change.is_kept_unseen, change.ref.kind)
    ):
        title = f"{kind}, {AS_LAST_WRITTEN}" if unseen else kind
        names = (element("li", None, change.ref.name) for change in changes)
        lists += [element("h3", None, title), of_class("ul", "names", *names)]
    return of_class("details", "unchanged", element("summary", None, describe_kept(kept)), *lists)


def _foot(plan: Plan, changes: Sequence[Change]) -> Markup:
    words = dict.fromkeys(evidence(change) for change in changes)
    meanings = [element("li", None, f"{word}: {EVIDENCE_MEANINGS[word]}") for word in words]
    if any(change.action is Action.ASSERT for change in changes):
        meaning = "assert: a write without having seen; it replaces whatever is there"
        meanings.append(element("li", None, meaning))
    digest = of_class("p", "digest", "Digest ", element("code", None, plan.digest))
    return element("footer", None, of_class("ul", "legend", *meanings), digest)
