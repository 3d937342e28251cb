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
    changes,
    counted,
    fields_table,
    new_table,
    notes,
    unchanged,
    watchers_card,
)
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
    found = [change for change in plan.changes if change.action.is_to_do]
    identities = {change.ref: f"change-{number}" for number, change in enumerate(found, 1)}
    shown = [
        _card(plan, change, identities[change.ref])
        for _, run in groupby(found, key=lambda change: change.ref.kind)
        for change in sorted(run, key=_urgency)
    ]
    title = f"Plan for {plan.environment}" if plan.against is None else heading(plan)
    return page(
        f"{title}: {summary(plan)}",
        "To the changes",
        page_head(title, plan.target, made, _counts(plan)),
        _attention(plan, identities),
        *(formats.html(section) for section, formats in shown_sections(plan)),
        changes(shown, "change", OPEN_UP_TO),
        _unchanged(plan),
        foot=_foot(plan, found),
    )


def _urgency(change: Change) -> tuple[int, bool, Ref]:
    return WORST_FIRST.index(change.action), not change.destroys, change.ref


def _counts(plan: Plan) -> Markup:
    todo = [action for action in WORST_FIRST if plan.count(action) and action.is_to_do]
    found: list[tuple[str, str, int, str]] = [
        *((action.word, action.value, plan.count(action), VERBS[action]) for action in todo),
        *(
            (Action.KEEP.word, Action.KEEP.value, count, words)
            for count, words in kept_counts(plan.changes)
        ),
    ]
    if destroyed := sum(len(change.destroys) for change in plan.changes):
        found.append(("blocked", "−", destroyed, "destroyed permanently"))  # noqa: RUF001 - a minus as wide as a plus
    shown = [
        counted(count, words, sign=of_class("span", f"sign {word}", sign))
        for word, sign, count, words in found
    ]
    return of_class("ul", "counts", *shown) if shown else of_class("p", "counts", summary(plan))


def _attention(plan: Plan, identities: Mapping[Ref, str]) -> Markup:
    found = list(notices(plan))
    if not found:
        return NOTHING
    shown = [_notice(notice, identities) for notice in found[:MOST_NOTICES]]
    if len(found) > MOST_NOTICES:
        shown.append(of_class("li", "quiet", f"and {len(found) - MOST_NOTICES:,} more"))
    heading = element("h2", "What needs your eyes", id="attention")
    body = of_class("ul", "notices", *shown)
    return element("section", heading, body, class_="attention", aria_labelledby="attention")


def _notice(notice: Notice, identities: Mapping[Ref, str]) -> Markup:
    refs = [_link(ref, identities) for ref in notice.refs[:MOST_REFS]]
    more = len(notice.refs) - len(refs)
    named = joined((*refs, f"and {more:,} more") if more > 0 else refs, ", ")
    parts: list[str] = [element("strong", notice.title), " "]
    if notice.code:
        parts += ["(", element("code", notice.code), ") "]
    if notice.said:
        parts += [named, spans(notice.said)]
    else:
        parts += [named, ": ", notice.words]
    if notice.names:
        parts += ["loses ", joined((element("code", name) for name in notice.names), ", ")]
    if notice.ways:
        parts.append(items(map(spans, notice.ways), "ways"))
    return element("li", *parts)


def _link(ref: Ref, identities: Mapping[Ref, str]) -> Markup:
    if ref not in identities:
        return element("code", str(ref))
    return element("a", str(ref), href=f"#{identities[ref]}")


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
        f"{name} (not written by this journal)" if name in change.foreign else name
        for name in change.destroys
    )
    return of_class("div", "danger", element("p", "Destroys permanently:"), items(names))


def _unchanged(plan: Plan) -> Markup:
    found = (change for change in plan.changes if change.action is Action.KEEP)
    kept = sorted(found, key=lambda change: change.is_kept_unseen)
    if not kept:
        return NOTHING
    lists = (
        (f"{kind}, {AS_LAST_WRITTEN}" if unseen else kind, (change.ref.name for change in run))
        for (unseen, kind), run in groupby(
            kept, key=lambda change: (change.is_kept_unseen, change.ref.kind)
        )
    )
    return unchanged(describe_kept(kept), lists)


def _foot(plan: Plan, found: Sequence[Change]) -> Markup:
    words = dict.fromkeys(evidence(change) for change in found)
    meanings = [f"{word}: {EVIDENCE_MEANINGS[word]}" for word in words]
    if any(change.action is Action.ASSERT for change in found):
        meanings.append("assert: a write without having seen; it replaces whatever is there")
    digest = of_class("p", "digest", "Digest ", element("code", plan.digest))
    return element("footer", items(meanings, "legend"), digest)
