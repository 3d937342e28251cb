"""Guards over a plan: what it may not do without consent, by amount and by kind of change.

A remedy of a guard is a flag on a command line, or a merge or a manual run in CI. Only this module
decides which of the two a remedy names, so that all reports of a plan agree.

A plan that silences an alert is compared with open incidents. An incident has the name of its
alert, and its events have the alert's id. Either is enough, as the API document gives the incident
itself no alert.

The API has no read of alert definitions nor of saved views. An id that was copied from another
manifest is the id of another object, which the write would replace. Events have the id and the name
of their alert, so they show that. Source: docs/guards.md, docs/ci.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from reconciler.document import value_at
from reconciler.errors import CutListing, ReconcilerError
from reconciler.kinds import BY_NAME, is_unfindable_create
from reconciler.kinds.kind import ConsentRule, Kind, RiskyChange
from reconciler.model import (
    Action,
    AnotherObject,
    Change,
    CreateLost,
    GuardViolation,
    LooksLike,
    NeverSeen,
    NeverWritten,
    NoJournal,
    OldJournal,
    OverwritesEdit,
    OverwrittenSince,
    Plan,
    Ref,
    Remembered,
    RenamedFrom,
    Seen,
    TakesOver,
    UnconfirmedJournal,
    WriteLost,
)
from reconciler.model.guards import ARGUMENTS, NAMES, NEW_JOURNAL, ResourceRemedy
from reconciler.model.quoting import listed, quoted
from reconciler.project import Guards, Limits
from reconciler.project.settings import OVERWRITES_EDIT, TAKES_OVER
from reconciler.redaction.templates import holds_seal
from reconciler.runtime.advice import bring_back, is_added, is_in_job, on_journal, on_service

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.records.listings import Incident


MissingJournal: TypeAlias = NoJournal | OldJournal | UnconfirmedJournal

_FILE = "reconciler.yaml"
_MERGE = "merge: the review of a plan that lists it consents"
_TERMINAL = "or answer `yes` on a terminal"


def reviewing() -> str:
    """Return the remedy for a plan that the digest covers: a review."""
    if is_in_job():
        return _MERGE
    return f"review the plan, and apply just that: `--expect DIGEST` or `--plan FILE`, {_TERMINAL}"


def reviewing_file() -> str:
    """Return the remedy for facts that the digest does not cover: a review of the plan file."""
    if is_in_job():
        return _MERGE
    return (
        f"review the plan, and apply just that: `--plan FILE`, {_TERMINAL}; "
        "`--expect DIGEST` is not enough, as the digest does not cover incidents"
    )


def splitting(ref: Ref) -> str:
    """Return how to apply all but one change."""
    return ResourceRemedy(
        f"split the change: leave `{ref}` as it is, and apply the rest",
        f"split the change: leave {NAMES} as they are, and apply the rest",
    )


def adopting(ref: Ref, what: str) -> str:
    """Return how to declare what is live instead of overwriting it."""
    return ResourceRemedy(
        *(
            f"declare {what}, and plan again: `{on_service('adopt', f'{named} --theirs')}`"
            for named in (ref, ARGUMENTS)
        )
    )


def renaming(ref: Ref, was: Ref, environment: str) -> tuple[str, str]:
    """Return what to do about a create that looks like a rename: rename, or forget.

    The commands take one resource, so for several they name none.
    """
    ways = (
        ("if it is the same under a new name", "rename", f"{was} {ref}", "OLD NEW"),
        ("if it is another, and the old one is no concern any more", "forget", str(was), "OLD"),
    )
    rename, forget = (
        ResourceRemedy(
            *(f"{words}: `{on_journal(command, named, environment=environment)}`" for named in both)
        )
        for words, command, *both in ways
    )
    return rename, forget


def allowing(code: str, environment: str) -> str:
    """Return how to consent to a guard permanently."""
    return f"in an earlier merge, set `guards: {{allow: [{code}]}}` of `{environment}` in {_FILE}"


def overriding(code: str) -> str:
    """Return how to override one guard once. A reason without a code would lift others too."""
    return f"{consenting('override-guard', f'{code}=REASON')}, which the journal keeps"


def bringing_journal_back() -> str:
    """Return what to do where the journal was lost."""
    return f"if the journal was lost or is kept elsewhere (`journal:` says where), {bring_back()}"


def consenting(name: str, value: str = "") -> str:
    """Return how to give a consent for one apply: a flag, or the input of the same name."""
    if is_in_job():
        return (
            "after the merge, run the apply workflow by hand (`workflow_dispatch` of `apply.yml`) "
            f"with the input `{name}: {value or 'REASON'}`"
        )
    return f"apply with `--{name}{f' {value}' if value else ''}`"


MOST_INCIDENT_PAGES: Final = 200
MOST_EVENT_PAGES: Final = 10
"""The newest events come first, and an open incident is seldom old."""


@dataclass(frozen=True, slots=True)
class OpenIncidents:
    """The ids of open incidents by the alert that a plan silences.

    `unread` is why the listing could not be read, "" where it could. `cut` is what was left unread
    because the listing is too long: an alert without an open incident may have one there.
    `silenced` has the alerts with their names.
    """

    silenced: Mapping[Ref, frozenset[str]] = field(default_factory=dict)
    found: Mapping[Ref, frozenset[str]] = field(default_factory=dict)
    unread: str = ""
    cut: str = ""

    def of(self, ref: Ref) -> frozenset[str]:
        """Return the open incidents of one alert."""
        return self.found.get(ref, frozenset())


async def incidents_of_silenced(api: Api, plan: Plan) -> OpenIncidents:
    """Return the open incidents, if the plan silences any alert."""
    silenced = {
        change.ref: weakening.incidents
        for change in plan.declared
        for weakening in BY_NAME[change.ref.kind].weakens(change)
        if weakening.consent is ConsentRule.WITH_OPEN_INCIDENTS
    }
    if not silenced:
        return OpenIncidents()
    ids = {
        str(change.remote_id).lower(): change.ref
        for change in plan.changes
        if change.ref in silenced
    }
    try:
        return await _found(api, silenced, ids)
    except CutListing as error:
        return OpenIncidents(silenced, cut=str(error))
    except ReconcilerError as error:
        return OpenIncidents(silenced, unread=str(error))


async def _found(
    api: Api, silenced: Mapping[Ref, frozenset[str]], ids: Mapping[str, Ref]
) -> OpenIncidents:
    from reconciler.records.listings import every_incident  # noqa: PLC0415 - heavy
    from reconciler.records.record import PAGE_SIZE  # noqa: PLC0415 - heavy

    listed, is_whole = await every_incident(api, MOST_INCIDENT_PAGES)
    cut = "" if is_whole else f"there are more than {MOST_INCIDENT_PAGES * PAGE_SIZE:,} incidents"
    open_incidents = [incident for incident in listed if incident.is_open]
    by_events: Mapping[str, Ref | None] = {}
    if open_incidents:
        by_events, is_whole = await _named_by_events(api, open_incidents, ids)
        if not is_whole and any(incident.id not in by_events for incident in open_incidents):
            newest = f"the newest {MOST_EVENT_PAGES * PAGE_SIZE:,}"
            cut = cut or f"of an open incident no event is among {newest}"
    found = {
        ref: frozenset(
            incident.id
            for incident in open_incidents
            if incident.name in names or by_events.get(incident.id) == ref
        )
        for ref, names in silenced.items()
    }
    return OpenIncidents(silenced, found, cut=cut)


async def _named_by_events(
    api: Api, open_ones: list[Incident], ids: Mapping[str, Ref]
) -> tuple[dict[str, Ref | None], bool]:
    """Map open incidents to the alert that one of their events names, None for another alert.

    The second value is whether all events were read.
    """
    from reconciler.records.listings import every_incident_event  # noqa: PLC0415 - heavy

    incident_of = {
        event.id: incident.id for incident in open_ones for event in incident.events if event.id
    }
    alerts: dict[str, Ref | None] = {}
    events, is_whole = await every_incident_event(api, MOST_EVENT_PAGES)
    for event in events:
        inner, known = event.incident_event, event.incident_event_extended_metadata
        if inner is not None and known is not None and known.alert_id and inner.id in incident_of:
            own = incident_of[inner.id]
            alerts[own] = ids.get(known.alert_id.lower()) or alerts.get(own)
    return alerts, is_whole


TOO_MANY = "too-many-changes"
ALERT_SILENCED = "alert-silenced"
_OfOthers: TypeAlias = OverwritesEdit | OverwrittenSince | TakesOver
_NOT_ADOPTED = (AnotherObject, CreateLost, NeverSeen, RenamedFrom, WriteLost)


@dataclass(slots=True)
class _Figures:
    """The number of known resources of a kind, and of changes by a word, as `updated`.

    `perhaps` counts declared resources outside the part of the plan that the service may have.
    `seen` is whether the service returned any resource of the kind.
    """

    known: int = 0
    perhaps: int = 0
    seen: bool = False
    changed: Counter[str] = field(default_factory=Counter)

    def add(self, kind: Kind, change: Change) -> None:
        if kind.destroyable:
            self._add_members(kind, change)
            return
        # The word for the first weakening of the resource, "" where nothing is weakened.
        word = next(filter(None, (risk.counted for risk in kind.weakens(change))), "")
        self.seen |= isinstance(change.observation, Seen)
        if isinstance(change.observation, Seen | Remembered):
            self.known += 1
            if change.action is Action.UPDATE:
                self.changed[word or "updated"] += 1
        elif change.action is Action.ASSERT and word:
            # An unseen resource is counted only if the change weakens it: then both as known and as
            # changed. Otherwise a lost journal would be a way around the limit, or lift it for
            # other changes.
            self.known += 1
            self.changed[word] += 1

    def _add_members(self, kind: Kind, change: Change) -> None:
        """Count the members of a list, where one write covers many."""
        observed = change.observation
        live = value_at(observed.document, kind.destroyable) if isinstance(observed, Seen) else None
        depth = len(kind.destroyable)
        touched = {
            difference.path[: depth + 1]
            for difference in change.differences
            if len(difference.path) > depth and difference.operation != "add"
        }
        self.known += len(live) if isinstance(live, list) else 0
        # Two destroyed members with the same name are one path, but two losses.
        self.changed["destroyed"] += len(change.destroys)
        self.changed["updated"] += max(0, len(touched) - len(change.destroys))


def exceeded_limits(plan: Plan, guards: Guards) -> Iterator[GuardViolation]:
    """Yield one objection for each kind that would change too much.

    Creates do not count. A resource that is neither seen nor remembered counts only if the change
    weakens it.
    """
    of_kinds: dict[str, list[Change]] = {}
    for change in plan.declared:
        of_kinds.setdefault(change.ref.kind, []).append(change)
    # A kind without changes is not loaded.
    for name in (kind_name for kind_name in BY_NAME if kind_name in of_kinds):
        kind = BY_NAME[name]
        # A list counts its members; the members of a list outside the part are unknown.
        known = 0 if kind.destroyable else _beside(plan.beside, kind)
        figures = _Figures(known, _beside(plan.perhaps_beside, kind))
        for change in of_kinds[name]:
            figures.add(kind, change)
        limits = guards.of(kind.name)
        if figures.changed.total() > _allowed(figures, limits):
            yield _objection(kind, figures, limits, plan.environment)


def _beside(refs: Sequence[Ref], kind: Kind) -> int:
    return sum(ref.kind == kind.name for ref in refs)


def _allowed(figures: _Figures, limits: Limits) -> int:
    """Return how many may change at once; all known resources where no limit applies."""
    known = figures.known
    # Selecting a part of the manifests must not get below the minimum.
    known_or_declared = known + (figures.perhaps if figures.seen else 0)
    is_limited = known_or_declared >= limits.minimum
    share = known * limits.max_change_percent // 100 if is_limited else known
    return share if limits.max_changes is None else min(share, limits.max_changes)


def _objection(kind: Kind, figures: _Figures, limits: Limits, environment: str) -> GuardViolation:
    changed, known = figures.changed.total(), figures.known
    allowed = _allowed(figures, limits)
    share = f" ({changed * 100 / known:.4g} %)" if known else ""
    noun = "members" if kind.destroyable else "resources"
    ways = ", ".join(f"{count} {word}" for word, count in figures.changed.most_common() if count)
    by_share = limits.max_changes is None or allowed < limits.max_changes
    limit = f"{limits.max_change_percent} %, so {allowed}" if by_share else f"{allowed}"
    setting = "maxChangePercent" if by_share else "maxChanges"
    message = (
        f"{changed} of {known} known {kind.name} {noun} would change{share}: {ways}; "
        f"the guard allows {limit} in one apply"
    )
    where = f"`guards: {{{setting}: N}}` of `{environment}` in reconciler.yaml"
    remedies = (
        reviewing(),
        f"split the change, so that at most {allowed} change at once",
        f"in an earlier merge, set {where}",
        overriding(TOO_MANY),
    )
    return GuardViolation(said=message, remedies=remedies, code=TOO_MANY)


DESTROYS = "destroys"
DESTROYS_ALL = "destroys-all"
PROTECTED = "protected"
LOOKS_LIKE_RENAME = "looks-like-rename"

MOST_NAMED = 5


def needed_consents(
    plan: Plan, guards: Guards, incidents: OpenIncidents | None = None
) -> Iterator[GuardViolation]:
    """Yield the objections to what needs consent, change by change.

    Without `incidents` no alert is known to have open incidents.
    """
    yield from without_memory(plan)
    for change in plan.changes:
        if not (change.action.writes or change.accepts_edit):
            continue
        if change.protected:
            yield _protected(change)
        if change.destroys:
            yield _destroying(change)
        yield from _of_others(change, guards, plan)
        seen: set[str] = set()
        for weakening in BY_NAME[change.ref.kind].weakens(change):
            message = _said(change, weakening, incidents)
            if message and weakening.code not in (*guards.allow, *seen):
                seen.add(weakening.code)
                yield _weakened(change, weakening.code, message, plan.environment)


def without_memory(plan: Plan) -> Iterator[GuardViolation]:
    """Yield one objection where a lost or old journal may cause duplicates that cannot be found."""
    missing = _lost_memory(plan)
    blind = [quoted(str(change.ref)) for change in plan.changes if is_unfindable_create(change)]
    if missing is None or not blind:
        return
    is_old = isinstance(missing, OldJournal)
    verb = "is" if len(blind) == 1 else "are"
    message = (
        f"`{plan.environment}` has {_has_instead(missing)}, so it is unknown whether "
        f"{listed(blind, MOST_NAMED)} {verb} there already: a second one could not be found, "
        "nor deleted"
    )
    remedies = (
        bring_back("the newer one") if is_old else bringing_journal_back(),
        f"write the id of what exists into its `metadata`: `ids: {{{plan.environment}: ID}}`",
        f"{_where_none_is_there(missing, plan)}{consenting('new-journal')}",
    )
    yield GuardViolation(said=message, remedies=remedies, code=NEW_JOURNAL)


def _has_instead(missing: MissingJournal) -> str:
    match missing:
        case NoJournal():
            return "no journal"
        case OldJournal():
            return "an old copy of its journal"
        case UnconfirmedJournal(command=command):
            return f"a journal that `{command}` began"
        case _:
            assert_never(missing)


def _where_none_is_there(missing: MissingJournal, plan: Plan) -> str:
    """Return the condition before the last remedy, with an alternative command if there is one."""
    match missing:
        case OldJournal():
            return "if nothing was applied since: "
        case NoJournal(was_there=True) | UnconfirmedJournal():
            return "if none of them is there: "
        case NoJournal():
            init = on_journal("init", environment=plan.environment)
            return f"if nothing was applied before: `{init}`, or "
        case _:
            assert_never(missing)


def _lost_memory(plan: Plan) -> MissingJournal | None:
    lost = (remark for remark in plan.remarks if isinstance(remark, MissingJournal))
    return next(lost, None)


def unknown_writer(plan: Plan) -> str:
    """Return the words for a possible write of a lost or newer journal, "" where none is lost."""
    match _lost_memory(plan):
        case None:
            return ""
        case NoJournal() | UnconfirmedJournal():
            return "; it is unknown whether an earlier journal did"
        case OldJournal():
            return "; it is unknown whether a newer copy of the journal did"


def _of_others(change: Change, guards: Guards, plan: Plan) -> Iterator[GuardViolation]:
    """Yield objections about possible renames, and about the edits of others."""
    environment = plan.environment
    for reason in change.reasons:
        match reason:
            case LooksLike(refs=refs):
                yield _like_a_rename(change, refs, environment)
            case OverwritesEdit(paths=paths) if OVERWRITES_EDIT not in guards.allow:
                fields = "1 field" if len(paths) == 1 else f"{len(paths)} fields"
                message = f"{fields} that someone changed since our last write would be undone"
                yield _seen_live(change, OVERWRITES_EDIT, message, reason, environment)
            case OverwrittenSince(paths=paths) if OVERWRITES_EDIT not in guards.allow:
                names = ", ".join(sorted({quoted(str(path[-1])) for path in paths}))
                message = (
                    f"someone overwrote it since our last write, and {names}, which cannot be "
                    "seen, would be sent over whatever is there by now"
                )
                yield _seen_live(change, OVERWRITES_EDIT, message, reason, environment)
            case TakesOver(differs=differs) if TAKES_OVER not in guards.allow:
                message = (
                    "it is there, differs, and this journal never wrote it"
                    if differs
                    else "it is there, this journal never wrote it, and what it has cannot be seen"
                )
                found = _seen_live(change, TAKES_OVER, message, reason, environment)
                # A review still consents once there is a journal.
                yield replace(found, said=f"{found.said}{unknown_writer(plan)}")
            case _:
                pass


def _like_a_rename(change: Change, refs: Sequence[Ref], environment: str) -> GuardViolation:
    names = ", ".join(quoted(str(ref)) for ref in refs)
    message = (
        f" would be created, and is much like what was {names} at its last apply, and would be "
        "next to it"
    )
    remedies = *renaming(change.ref, refs[0], environment), overriding(LOOKS_LIKE_RENAME)
    return GuardViolation(ref=change.ref, said=message, remedies=remedies, code=LOOKS_LIKE_RENAME)


def _seen_live(
    change: Change, code: str, message: str, reason: _OfOthers, environment: str
) -> GuardViolation:
    who = f" (live was last changed {reason.edit.marked(quoted)})" if reason.edit.told else ""
    adopt = _adopting(change, reason)
    # The author and time of an edit may change while the live document stays the same.
    return GuardViolation(
        ref=change.ref,
        said=f": {message}{who}",
        remedies=(reviewing(), *adopt, allowing(code, environment), overriding(code)),
        code=code,
        figures=f": {message.replace('`', '')}",
    )


def _adopting(change: Change, reason: _OfOthers | None = None) -> Iterator[str]:
    """Yield how to declare what is live, unless `adopt` cannot see it or would refuse.

    Without `--ours` or `--theirs`, `adopt` refuses a field that git and live both changed. For a
    resource that was never written, that is every field.
    """
    unseen = isinstance(reason, OverwrittenSince) or (
        isinstance(reason, TakesOver) and not reason.differs
    )
    in_doubt = any(isinstance(reason, _NOT_ADOPTED) for reason in change.reasons)
    secret = any(holds_seal(difference.after) for difference in change.differences)
    if not is_added("adopt") or unseen or in_doubt or secret:
        return
    what = "what is live" if reason is not None else "those that this journal did not write"
    if change.source is not None and change.source.item is not None:
        yield "write what is live into the item of its `forEach` by hand, and plan again"
    else:
        yield adopting(change.ref, what)


def _said(change: Change, weakening: RiskyChange, incidents: OpenIncidents | None) -> str:
    """Return the risk that needs consent; "" where none does."""
    match weakening.consent:
        case ConsentRule.NEVER:
            return ""
        case ConsentRule.ALWAYS:
            return weakening.said
        case ConsentRule.WITH_OPEN_INCIDENTS:
            open_incidents = incidents.of(change.ref) if incidents is not None else ()
            count = len(open_incidents)
            if count:
                noun = "an open incident" if count == 1 else f"{count} open incidents"
                return f"{weakening.said} while it has {noun}"
            cut = incidents.cut if incidents is not None else ""
            unknown = f"it is unknown whether it has open incidents: {cut}"
            return f"{weakening.said} while {unknown}" if cut else ""


def _weakened(change: Change, code: str, message: str, environment: str) -> GuardViolation:
    remedies = (
        reviewing_file() if code == ALERT_SILENCED else reviewing(),
        splitting(change.ref),
        allowing(code, environment),
        overriding(code),
    )
    return GuardViolation(ref=change.ref, said=f": {message}", remedies=remedies, code=code)


def _protected(change: Change) -> GuardViolation:
    count = len(change.differences or change.since_applied)
    fields = "1 field" if count == 1 else f"{count} fields"
    edit = f"the edit of {fields} that someone made live would be accepted"
    what = edit if change.accepts_edit else f"{fields} of it would change"
    message = f" is protected since its last apply, and {what}"
    remedies = (
        splitting(change.ref),
        "take `metadata.protect` away in an earlier merge, apply that, and change it then",
        overriding(PROTECTED),
    )
    return GuardViolation(ref=change.ref, said=message, remedies=remedies, code=PROTECTED)


def _destroying(change: Change) -> GuardViolation:
    names = ", ".join(map(quoted, change.destroys))
    foreign = f" ({len(change.foreign)} made by hand)" if change.foreign else ""
    empty = value_at(change.body, BY_NAME[change.ref.kind].destroyable) == []
    none_left = "; the list that it declares is empty, so none would be left" if empty else ""
    message = f" destroys {len(change.destroys)}{foreign}: {names}{none_left}"
    remedies = (
        "keep them: declare them in the list",
        *(_adopting(change) if change.foreign else ()),
        splitting(change.ref),
        f"{consenting('allow-destroy')}, which prints whole what is lost",
    )
    return GuardViolation(
        ref=change.ref,
        said=message,
        remedies=remedies,
        code=DESTROYS_ALL if empty else DESTROYS,
        destroys=change.destroys,
    )


LONGEST_UNREAD: Final = 200

MOST_NAME_PAGES: Final = 10
"""Pages of each of the two listings, however many alerts would be taken over."""


AlertNames: TypeAlias = dict[str, dict[str, None]]
"""The names of alerts by their ids in lower case, each in the order of the listings."""


def never_written(change: Change) -> NeverWritten | None:
    """Return the reason of a change that would take over an object unseen; None for others."""
    found = (reason for reason in change.reasons if isinstance(reason, NeverWritten))
    return next(found, None) if change.action.writes else None


async def with_names(api: Api, plan: Plan) -> tuple[Plan, str]:
    """Return the plan with the names that incidents and events have for what it takes over.

    They are listed only where an alert would be taken over. The second value is why they could not
    be listed, "" where they could.
    """
    taken = [change for change in plan.changes if never_written(change) is not None]
    if not any(BY_NAME[change.ref.kind].fires for change in taken):
        return plan, ""
    ids = {str(change.remote_id).lower() for change in taken}
    names, unread = await _listed_names(api, ids)
    named = {change.ref: _named(change, names) for change in taken}
    changes = tuple(named.get(change.ref, change) for change in plan.changes)
    return replace(plan, changes=changes), unread


def _named(change: Change, names: AlertNames) -> Change:
    kind = BY_NAME[change.ref.kind]
    title = value_at(change.declared, kind.title)
    found = tuple(names.get(str(change.remote_id).lower(), ())) if kind.fires else ()
    if not isinstance(title, str) or holds_seal(title):
        return change
    reasons = (
        NeverWritten(found, title) if isinstance(reason, NeverWritten) else reason
        for reason in change.reasons
    )
    return replace(change, reasons=tuple(reasons))


async def _listed_names(api: Api, ids: Container[str]) -> tuple[AlertNames, str]:
    """Read each listing once, within its bound; where one fails, the other may have the names.

    The second value is why a listing could not be read, "" where each could.
    """
    names: AlertNames = {}
    unread = ""
    for listing in (_incidents, _events):
        try:
            async for remote_id, name in listing(api):
                if name and remote_id.lower() in ids:
                    names.setdefault(remote_id.lower(), {})[name] = None
        except ReconcilerError as error:
            unread = unread or str(error)
    return names, unread


async def _incidents(api: Api) -> AsyncIterator[tuple[str, str]]:
    from reconciler.records.listings import (  # noqa: PLC0415 - heavy
        IncidentEventFilter,
        list_incident_events,
    )
    from reconciler.records.record import Allowance  # noqa: PLC0415 - heavy

    async for event in list_incident_events(api, IncidentEventFilter(), Allowance(MOST_NAME_PAGES)):
        known = event.incident_event_extended_metadata
        if known is not None:
            yield known.alert_id, known.alert_name


async def _events(api: Api) -> AsyncIterator[tuple[str, str]]:
    from reconciler.records.listings import (  # noqa: PLC0415 - heavy
        EventFilter,
        list_alert_events,
    )
    from reconciler.records.record import Allowance  # noqa: PLC0415 - heavy

    async for event in list_alert_events(api, EventFilter(), Allowance(MOST_NAME_PAGES)):
        for remote_id in event.alert_ids:
            yield remote_id, event.alert_name


def taken_over(plan: Plan, guards: Guards, unnamed: str) -> Iterator[GuardViolation]:
    """Yield one objection for all objects that a plan would take over unseen."""
    taken = [change for change in plan.changes if never_written(change) is not None]
    if not taken or TAKES_OVER in guards.allow:
        return
    remedies = (
        reviewing(),
        "where the id is that of another: correct it in `metadata`",
        bringing_journal_back(),
        allowing(TAKES_OVER, plan.environment),
        overriding(TAKES_OVER),
    )
    yield GuardViolation(
        said=_describe(taken, unnamed, unknown_writer(plan)),
        remedies=remedies,
        code=TAKES_OVER,
        # Names are left out: they appear and vanish with incidents.
        figures=" ".join(f"{change.ref}={change.remote_id}" for change in taken),
    )


def _describe(changes: Sequence[Change], unread: str, earlier: str) -> str:
    """Return the message about what an apply would take over unseen, with the names in events."""
    reasons = {change.ref: never_written(change) for change in changes}
    others = {ref: why for ref, why in reasons.items() if why is not None and why.is_another}
    ahead = [*others, *(change.ref for change in changes if change.ref not in others)]
    counts = Counter(change.ref.kind for change in changes)
    counted = " and ".join(f"{count} {kind}" for kind, count in counts.items())
    ids = "that id" if len(changes) == 1 else "those ids"
    message = (
        f"{counted} would be written unseen, and this journal neither wrote nor imported "
        f"what has {ids}: {listed([*map(str, ahead)], MOST_NAMED)}{earlier}"
    )
    if others:
        named = [
            f"{quoted(str(ref))}: {' and '.join(map(quoted, why.names))}, declared as "
            f"{quoted(why.declared)}"
            for ref, why in others.items()
        ]
        message += f"; incidents and events have another name for {listed(named, MOST_NAMED)}"
    known = sum(why is not None and bool(why.names) for why in reasons.values())
    if known > len(others):
        message += f"; they have the declared name for {known - len(others)}"
    if unread:
        message += f"; their names could not be read: {quoted(unread, LONGEST_UNREAD)}"
    elif not known:
        message += "; incidents and events have no name for any"
    return message
