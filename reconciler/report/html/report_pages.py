"""Pages of a plan and of a drift report, with a card for each resource. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from reconciler.model import Action, Change, Drift, DriftReport, Plan, Ref, Source
from reconciler.model.guards import GuardSentence
from reconciler.model.plan import DriftState
from reconciler.model.quoting import and_more
from reconciler.report import counts
from reconciler.report.changes import field_changes
from reconciler.report.drawings import drawing_of
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    breakable,
    element,
    items,
    joined,
    of_class,
    page,
    page_head,
    spans,
    table,
)
from reconciler.report.html.pictures import picture_of
from reconciler.report.reasons import describe_remedy, drift_note, look_notes, notes_of
from reconciler.report.sections import Notice, names_of, notices, shown_sections
from reconciler.report.words import alike, place, plural

MOST_NAMED = 50


def watchers_card(plan: Plan, change: Change) -> Markup:
    """Return the watchers of a resource for the card of its change; nothing without any."""
    watchers = plan.watchers.get(change.ref)
    if watchers is None:
        return NOTHING
    names = names_of(watchers)
    shown = [element("code", name) for name in names[:MOST_NAMED]]
    more = filter(None, [and_more(len(names) - MOST_NAMED)])
    head = element("p", f"Watched by {plural(len(names), 'alert')}:")
    return of_class("div", "watched", head, items((*shown, *more)))


TEAM = "team"
"""The label by which people filter manifests for their team."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The content of a resource's card. `said` is visible before the card is opened.

    `facets` are what it can be filtered by.
    """

    identity: str
    ref: Ref
    source: Source | None
    sign: str
    word: str
    facets: Sequence[tuple[str, str]]
    chips: Sequence[Markup]
    said: Sequence[str]
    body: Sequence[Markup]


def card(shown: Card, *, is_open: bool) -> Markup:
    """Return the card: a line that opens, and its body below."""
    said = (text if isinstance(text, Markup) else element("code", text) for text in shown.said)
    summary = element(
        "summary",
        of_class("span", f"sign {shown.word}", shown.sign),
        of_class("span", "word", shown.word),
        element("h3", shown.ref.name),
        of_class("span", "chips", *shown.chips),
        of_class("span", "source", str(shown.source or "")),
        of_class("span", "said", joined(said, " ")) if shown.said else NOTHING,
    )
    return element(
        "details",
        summary,
        of_class("div", "body", *shown.body),
        class_=f"change {shown.word}",
        id=shown.identity,
        open=is_open,
        **{f"data-{name}": value for name, value in shown.facets},
    )


def chip(words: str, meaning: str = "", classes: str = "") -> Markup:
    """Return a short fact next to a name, and its meaning; `classes` colour it."""
    return element("span", words, class_=f"chip {classes}".strip(), title=meaning or False)


def notes(texts: Iterable[str]) -> Markup:
    """Return notes as a list."""
    shown = [spans(text) for text in texts]
    return items(shown, "notes") if shown else NOTHING


def counted(count: int, words: str, *, title: str | bool = False, sign: Markup = NOTHING) -> Markup:
    """Return an item of a list of counts."""
    number = of_class("span", "number", f"{count:,}")
    return element("li", sign, " " if sign else "", number, f" {words}", title=title)


OPEN_UP_TO = 10


def changes(shown: Sequence[Card], noun: str, meanings: Mapping[str, str] | None = None) -> Markup:
    """Return the filter bar, and the cards grouped by their first facet; few cards are open."""
    groups = []
    for name, run in groupby(shown, key=lambda shown_card: shown_card.facets[0][1]):
        cards = [card(shown_card, is_open=len(shown) <= OPEN_UP_TO) for shown_card in run]
        meaning = f": {meanings.get(name, '')}" if meanings else ""
        count = of_class("span", "quiet", plural(len(cards), noun) + meaning)
        groups.append(of_class("section", "group", element("h2", name, " ", count), *cards))
    return joined((filter_bar(shown), element("div", *groups, id="changes", tabindex="-1")))


def unchanged(summary: str, lists: Iterable[tuple[str, Iterable[str]]]) -> Markup:
    """Return lists of names, each with its title, folded below a summary."""
    parts = [
        part for title, names in lists for part in (element("h3", title), items(names, "names"))
    ]
    return of_class("details", "unchanged", element("summary", summary), *parts)


MOST_LEAVES = 200
MOST_LINES = 2_000
FEWEST_ALIKE = 0.3
_WORDS = {"add": "added", "remove": "removed", "change": "changed", "move": "moved"}
_CARDS_SIGNS = {"add": "+", "remove": "−", "change": "~", "move": "↕"}  # noqa: RUF001 - a minus as wide as a plus


def fields_table(found: Sequence[field_changes.FieldChange], sides: tuple[str, str]) -> Markup:
    """Return a table of all differences, with a heading row for each part of the resource."""
    groups = (_group(subject, changes) for subject, changes in field_changes.by_subject(found))
    return table("fields", ("field", *sides), *groups) if found else NOTHING


def new_table(found: Sequence[field_changes.FieldChange]) -> Markup:
    """Return a table of the fields that are sent, where the replaced values are unknown."""
    if not found:
        return NOTHING
    rows = []
    for change in found:
        whole = _leaves(change.leaves) if change.leaves else element("code", change.after)
        rows.append(element("tr", _name(change, ""), element("td", whole)))
    return table("fields", ("field", "value"), element("tbody", *rows))


def _group(subject: str, changes: Sequence[field_changes.FieldChange]) -> Markup:
    heading = NOTHING
    if subject:
        heading = element("tr", element("th", subject, colspan="3", scope="rowgroup"))
    rows = (
        element("tr", _name(change, _WORDS[change.operation]), *_sides(change))
        for change in changes
    )
    return element("tbody", heading, *rows)


def _name(change: field_changes.FieldChange, word: str) -> Markup:
    """Return the name of a field; with `word`, also the sign and word of its change."""
    sign = of_class("span", f"sign op-{change.operation}", _CARDS_SIGNS[change.operation])
    parts = (
        sign if word else NOTHING,
        of_class("span", "key", breakable(change.field)) if change.field else NOTHING,
        of_class("span", "quiet", word) if word else NOTHING,
    )
    named = joined((part for part in parts if part), " ")
    return element("th", named, scope="row", title=place(change.path))


def _sides(change: field_changes.FieldChange) -> Iterator[Markup]:
    match change.operation:
        case "move":
            yield element("td", change.position, colspan="2", class_="quiet")
        case "add" | "remove" if change.leaves:
            side = "after" if change.operation == "add" else "before"
            position = of_class("div", "quiet", change.position) if change.position else NOTHING
            whole = joined((position, _leaves(change.leaves)))
            yield element("td", whole, colspan="2", class_=side)
        case "add":
            yield _ABSENT
            yield of_class("td", "after", element("code", change.after))
        case "remove":
            yield of_class("td", "before", element("code", change.before))
            yield _ABSENT
        case "change" if change.lines:
            yield element("td", _lines(change.lines), colspan="2", class_="lines")
        case "change":
            before, after = marked(change.before, change.after)
            yield of_class("td", "before", element("code", before))
            yield of_class("td", "after", element("code", after))


_ABSENT = of_class("td", "quiet", "absent")


def _leaves(leaves: Sequence[field_changes.LeafValue]) -> Markup:
    rows = []
    for subject, group in field_changes.by_subject(leaves[:MOST_LEAVES]):
        if subject:
            rows.append(of_class("li", "part", subject))
        for leaf in group:
            label = of_class("span", "key", breakable(leaf.field)) if leaf.field else NOTHING
            rows.append(element("li", label, " ", element("code", leaf.text)))
    if more := and_more(len(leaves) - MOST_LEAVES):
        rows.append(of_class("li", "quiet", more))
    return of_class("ul", "leaves", *rows)


def _lines(lines: Sequence[field_changes.DiffLine]) -> Markup:
    rows = list(_line_rows(lines[:MOST_LINES]))
    if more := and_more(len(lines) - MOST_LINES, "line"):
        rows.append(_through(more))
    return of_class("table", "linediff", element("tbody", *rows))


def _line_rows(lines: Sequence[field_changes.DiffLine]) -> Iterator[Markup]:
    """Yield rows of two cells: removed lines next to added lines."""
    for is_changed, run in groupby(lines, key=lambda line: line.sign in "-+"):
        found = list(run)
        if is_changed:
            sides = ([text for sign, text in found if sign == side] for side in "-+")
            for pair in zip_longest(*sides, fillvalue=""):
                old, new = marked(*pair)
                yield element("tr", _line("del", "before", old), _line("ins", "after", new))
            continue
        for sign, text in found:
            cell = of_class("td", "same", element("code", text))
            yield _through(text) if sign == "…" else element("tr", cell, cell)


def _line(name: str, side: str, text: Markup) -> Markup:
    if not text:
        return element("td")
    return of_class("td", side, element(name, element("code", text)))


def _through(text: str) -> Markup:
    return element("tr", element("td", text, colspan="2", class_="quiet gap"))


def marked(before: str, after: str) -> tuple[Markup, Markup]:
    """Return both texts with their difference marked, if enough of them is the same."""
    head = alike(before, after)
    tail = alike(before[head:][::-1], after[head:][::-1])
    if head + tail < FEWEST_ALIKE * max(len(before), len(after), 1):
        return joined([before]), joined([after])
    return _middle(before, head, tail), _middle(after, head, tail)


def _middle(text: str, head: int, tail: int) -> Markup:
    end = len(text) - tail
    inside = element("mark", text[head:end]) if head < end else NOTHING
    return joined([text[:head], inside, text[end:]])


NAMELESS = "none"


def filter_bar(cards: Sequence[Card]) -> Markup:
    """Return a search field, and a button for each value of each facet that has several."""
    if len(cards) <= 1:
        return NOTHING
    actions = of_class(
        "div",
        "actions",
        element("output", f"{len(cards):,} of {len(cards):,} shown", id="status", role="status"),
        element("button", "Open all", type="button", data_open="true"),
        element("button", "Close all", type="button", data_open="false"),
        element("button", "Clear filters", type="button", id="reset", disabled=True),
    )
    found = [*_fieldsets(cards)]
    summary, is_open = element("summary", "Filters"), len(cards) > OPEN_UP_TO
    facets = element("details", summary, *found, class_="facets", open=is_open)
    return element(
        "div",
        _SEARCH,
        actions,
        facets if found else NOTHING,
        class_="filters",
        role="search",
        aria_label="Filter the changes",
        hidden=True,
        data_needs_script=True,
    )


_SEARCH = of_class(
    "div",
    "search",
    element("label", "Search", for_="search"),
    element(
        "input",
        id="search",
        type="search",
        placeholder="name, file, query …  ( / )",
        autocomplete="off",
        spellcheck="false",
    ),
)


def _fieldsets(cards: Sequence[Card]) -> Iterator[Markup]:
    """Yield the buttons of each facet with several values."""
    names = dict.fromkeys(name for card in cards for name, _ in card.facets)
    for name in names:
        values = Counter(dict(card.facets).get(name, "") for card in cards)
        buttons = (
            element(
                "button",
                value or NAMELESS,
                " ",
                of_class("span", "count", f"{count:,}"),
                type="button",
                aria_pressed="false",
                data_facet=name,
                data_value=value,
            )
            for value, count in sorted(values.items())
        )
        if len(values) > 1:
            yield element("fieldset", element("legend", name), *buttons)


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
        for change in sorted(run, key=counts.harm_first)
    ]
    title = f"Plan for {plan.environment}" if plan.against is None else counts.heading(plan)
    return page(
        f"{title}: {counts.summary(plan)}",
        "To the changes",
        page_head(title, plan.target, made, _plan_counts(plan)),
        _attention(plan, identities),
        *(formats.html(section) for section, formats in shown_sections(plan)),
        changes(shown, "change"),
        _unchanged(plan),
        foot=_foot(plan, found),
    )


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
        counted(count, words, sign=of_class("span", f"sign {word}", sign))
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
    sizes: Counter[str] = Counter()
    for notice in found:
        sizes[notice.title] += notice.size
    headline = " · ".join(f"{title}: {size:,}" for title, size in sizes.items())
    heading = element("h2", "What needs your eyes", id="attention")
    summary = element("summary", heading, of_class("span", "quiet", headline))
    # The script folds it on a phone, where it would fill the first screen.
    body = element("details", summary, of_class("ul", "notices", *shown), open=True)
    return element("section", body, class_="attention", aria_labelledby="attention")


def _notice(notice: Notice, identities: Mapping[Ref, str]) -> Markup:
    named = _named(notice.refs, identities)
    parts: list[str] = [element("strong", notice.title), " "]
    if notice.code:
        parts += ["(", element("code", notice.code), "): "]
    between = ": " if notice.refs and not notice.said else ""
    parts += [named, between, spans(notice.said) or notice.words]
    if notice.names:
        parts += ["loses ", joined((element("code", name) for name in notice.names), ", ")]
    if notice.members:
        parts.append(items(_members(notice.members, identities), "members"))
    if notice.ways:
        parts.append(items(map(spans, notice.ways), "ways"))
    return element("li", *parts)


def _members(members: Sequence[GuardSentence], identities: Mapping[Ref, str]) -> Iterator[Markup]:
    for member in members[:MOST_NOTICES]:
        parts = [_named(member.refs, identities), spans(member.said)]
        if member.remedies:
            parts.append(items(map(spans, member.remedies), "ways"))
        yield joined(parts)
    if more := and_more(len(members) - MOST_NOTICES):
        yield Markup(more)


def _named(refs: Sequence[Ref], identities: Mapping[Ref, str]) -> Markup:
    found = (
        element("a", str(ref), href=f"#{identities[ref]}")
        if ref in identities
        else element("code", str(ref))
        for ref in refs[:MOST_REFS]
    )
    links = joined(found, ", ")
    return joined(filter(None, (links, and_more(len(refs) - MOST_REFS))), " ")


def _plan_card(plan: Plan, change: Change, identity: str) -> Card:
    team = change.labels.get(TEAM, "")
    facets = [
        ("kind", change.ref.kind),
        ("action", change.action.word),
        ("evidence", counts.evidence(change)),
        (TEAM, team),
    ]
    found = field_changes.field_changes(change)
    body = (
        notes(notes_of(change)),
        _destroyed(change),
        joined(formats.change_html(section, change) for section, formats in shown_sections(plan)),
        watchers_card(plan, change),
        picture_of(drawing_of(change)),
        fields_table(found, PLAN_SIDES) if change.action is Action.UPDATE else new_table(found),
    )
    return Card(
        identity=identity,
        ref=change.ref,
        source=change.source,
        sign=change.action.value,
        word=change.action.word,
        facets=facets,
        chips=list(_chips(change, team)),
        said=field_changes.essentials_of(change),
        body=body,
    )


def _chips(change: Change, team: str) -> Iterator[Markup]:
    if change.destroys:
        yield chip(f"destroys {len(change.destroys):,}", "the loss is permanent", "danger")
    if change.action is Action.UPDATE:
        yield chip(plural(len(change.differences), "field"))
    word = counts.evidence(change)
    yield chip(word, counts.EVIDENCE_MEANINGS[word], f"evidence {word}")
    if team:
        yield chip(team, "the label team")


def _destroyed(change: Change) -> Markup:
    if not change.destroys:
        return NOTHING
    names = (
        f"{name} (made by hand)" if name in change.foreign else name for name in change.destroys
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
    return unchanged(counts.describe_kept(kept), lists)


def _foot(plan: Plan, found: Sequence[Change]) -> Markup:
    meanings = (f"{word}: {meaning}" for word, meaning in counts.legend(found).items())
    digest = of_class("p", "digest", "Digest ", element("code", plan.digest))
    return element("footer", items(meanings, "legend"), digest)


DRIFT_SIDES = "applied", "live"
SIGNS = "Of each field, - is what was applied and + is live."
_REPORT_PAGES_SIGNS = {"drifted": "~", "gone": "−", "unread": "x"}  # noqa: RUF001 - a minus as wide as a plus
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
    findings = (drift for drift in look.found if drift.is_finding)
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
            notes(look_notes(look)),
            of_class("p", "quiet", SIGNS) if shown else NOTHING,
        ),
        changes(shown, "resource"),
        _rest(look.found),
        foot=element("footer", of_class("p", "legend", "applied: what the journal says was sent")),
    )


def _drift_counts(look: DriftReport) -> Markup:
    states = Counter(drift.state for drift in look.found)
    found = (
        *((states[state], state, _MEANINGS[state]) for state in _STATES),
        (look.ignored, "ignored", "differences that the project file expects"),
        (look.new, "new", f"not there when drift was last remembered, {look.since}"),
    )
    shown = (counted(count, word, title=title) for count, word, title in found if count)
    return of_class("ul", "counts", *shown)


def _drift_card(drift: Drift, identity: str) -> Card:
    word = drift.state
    chips = [chip(plural(len(drift.differences), "field"))] if drift.differences else []
    return Card(
        identity=identity,
        ref=drift.ref,
        source=drift.source,
        sign=_REPORT_PAGES_SIGNS[word],
        word=word,
        facets=[("kind", drift.ref.kind), ("state", word)],
        chips=chips,
        said=(),
        body=(
            notes(filter(None, (drift_note(drift),))),
            fields_table(field_changes.drift_changes(drift), DRIFT_SIDES),
            notes(map(describe_remedy, drift.remedies)),
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
    return unchanged(counts.describe_no_drift(calm), lists)
