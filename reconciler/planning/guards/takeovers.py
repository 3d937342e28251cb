"""Takeovers: writes to objects that are unreadable and not in the journal, and their names.

The API has no read of alert definitions nor of saved views. An id that was copied from another
manifest is the id of another object, which the write would replace. Events have the id and the name
of their alert, so they show that (docs/guards.md).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from reconciler.document import value_at
from reconciler.errors import ReconcilerError
from reconciler.kinds import BY_NAME
from reconciler.model import Change, GuardViolation, NeverWritten, Plan, Ref
from reconciler.model.quoting import listed, quoted
from reconciler.planning.guards.plan_limits import MOST_NAMED, unknown_writer
from reconciler.planning.guards.remedies import (
    allowing,
    bringing_journal_back,
    overriding,
    reviewing,
)
from reconciler.project import Guards
from reconciler.project.settings import TAKES_OVER
from reconciler.redaction.templates import holds_seal

if TYPE_CHECKING:
    # Only the type is needed here, and it would load the whole HTTP client.
    from reconciler.api.client import Api

MOST_PAGES: Final = 10
"""Pages of each of the two listings, however many alerts would be taken over."""

LONGEST_UNREAD: Final = 200


@dataclass(slots=True)
class AlertNames:
    """The names of alerts by their ids in lower case, as incidents and events have them.

    `unread` is why a listing could not be read, "" where each could.
    """

    of: dict[str, dict[str, None]] = field(default_factory=dict)
    unread: str = ""

    def add(self, remote_id: str, name: str) -> None:
        """Add a name; an alert may have several, in the order of the listings."""
        if remote_id and name:
            self.of.setdefault(remote_id.lower(), {})[name] = None


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
    names = await _listed_names(api, {str(change.remote_id).lower() for change in taken})
    named = {change.ref: _named(change, names) for change in taken}
    changes = tuple(named.get(change.ref, change) for change in plan.changes)
    return replace(plan, changes=changes), names.unread


def _named(change: Change, names: AlertNames) -> Change:
    kind = BY_NAME[change.ref.kind]
    title = value_at(change.declared, kind.title)
    found = tuple(names.of.get(str(change.remote_id).lower(), ())) if kind.fires else ()
    if not isinstance(title, str) or holds_seal(title):
        return change
    reasons = (
        NeverWritten(found, title) if isinstance(reason, NeverWritten) else reason
        for reason in change.reasons
    )
    return replace(change, reasons=tuple(reasons))


async def _listed_names(api: Api, ids: Iterable[str]) -> AlertNames:
    """Read each listing once, within its bound; where one fails, the other may have the names."""
    names, wanted = AlertNames(), set(ids)
    listings: Sequence[Callable[[Api], AsyncIterator[tuple[str, str]]]] = (_incidents, _events)
    for listing in listings:
        try:
            async for remote_id, name in listing(api):
                if remote_id.lower() in wanted:
                    names.add(remote_id, name)
        except ReconcilerError as error:
            names.unread = names.unread or str(error)
    return names


async def _incidents(api: Api) -> AsyncIterator[tuple[str, str]]:
    from reconciler.records.incident_records import (  # noqa: PLC0415 - heavy
        IncidentEventFilter,
        list_incident_events,
    )
    from reconciler.records.record import Allowance  # noqa: PLC0415 - heavy

    async for event in list_incident_events(api, IncidentEventFilter(), Allowance(MOST_PAGES)):
        known = event.incident_event_extended_metadata
        if known is not None:
            yield known.alert_id, known.alert_name


async def _events(api: Api) -> AsyncIterator[tuple[str, str]]:
    from reconciler.records.alert_events import (  # noqa: PLC0415 - heavy
        EventFilter,
        list_alert_events,
    )
    from reconciler.records.record import Allowance  # noqa: PLC0415 - heavy

    async for event in list_alert_events(api, EventFilter(), Allowance(MOST_PAGES)):
        for remote_id in event.alert_ids:
            yield remote_id, event.alert_name


def taken_over(plan: Plan, guards: Guards, unnamed: str) -> Iterator[GuardViolation]:
    """Yield one objection for all objects that a plan would take over unseen."""
    taken = [change for change in plan.changes if never_written(change) is not None]
    if not taken or TAKES_OVER in guards.allow:
        return
    remedies = (
        reviewing(),
        "where the id is that of another: correct `metadata.id`",
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
    named_ids = "that id" if len(changes) == 1 else "those ids"
    message = (
        f"{_counted(changes)} would be written unseen, and this journal neither wrote nor imported "
        f"what has {named_ids}: {listed([*map(str, ahead)], MOST_NAMED)}{earlier}"
    )
    if others:
        named = [_other_name(ref, why) for ref, why in others.items()]
        message += f"; incidents and events have another name for {listed(named, MOST_NAMED)}"
    known = sum(why is not None and bool(why.names) for why in reasons.values())
    if known > len(others):
        message += f"; they have the declared name for {known - len(others)}"
    if unread:
        message += f"; their names could not be read: {quoted(unread, LONGEST_UNREAD)}"
    elif not known:
        message += "; incidents and events have no name for any"
    return message


def _other_name(ref: Ref, why: NeverWritten) -> str:
    names = " and ".join(map(quoted, why.names))
    return f"{quoted(str(ref))}: {names}, declared as {quoted(why.declared)}"


def _counted(changes: Sequence[Change]) -> str:
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.ref.kind] = counts.get(change.ref.kind, 0) + 1
    return " and ".join(f"{count} {kind}" for kind, count in counts.items())
