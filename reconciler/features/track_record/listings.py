"""Records of a span of time, each listing read once and within a bound of requests.

Source: docs/evidence.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from reconciler.errors import ReconcilerError
from reconciler.records.alert_events import AlertEvent, EventFilter, in_batches, list_alert_events
from reconciler.records.case_records import Case, CaseFilter, list_cases
from reconciler.records.incident_records import (
    UNRESOLVED,
    ExtendedIncidentEvent,
    Incident,
    IncidentEventFilter,
    IncidentFilter,
    list_incident_events,
    list_incidents,
)
from reconciler.records.record import Allowance, Record, Span, moment

if TYPE_CHECKING:
    # Only the type is needed here, and it would load the whole HTTP client.
    from reconciler.api.client import Api

MOST_REQUESTS = 20
"""Pages of all listings of one run together; each has a hundred records."""

MOST_OPEN, MOST_INCIDENTS, MOST_INCIDENT_EVENTS, MOST_CASES = 2, 3, 3, 3
_LISTED = TypeVar("_LISTED", bound=Record)


@dataclass(frozen=True, slots=True)
class ListResult(Generic[_LISTED]):
    """The result of a listing; `unread` is why it failed, `whole` that nothing was cut off."""

    records: tuple[_LISTED, ...] = ()
    whole: bool = True
    unread: str = ""

    @property
    def is_complete(self) -> bool:
        """Return whether all records were returned."""
        return self.whole and not self.unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The alert events of some versions; of all alerts where it has no versions."""

    versions: frozenset[str]
    listed: ListResult[AlertEvent]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvents:
    """The records of a span."""

    span: Span
    open_incidents: ListResult[Incident]
    incidents: ListResult[Incident]
    incident_events: ListResult[ExtendedIncidentEvent]
    cases: ListResult[Case]
    batches: tuple[Batch, ...] = ()

    @property
    def events(self) -> Iterator[AlertEvent]:
        """Every alert event once."""
        seen: set[str] = set()
        for batch in self.batches:
            for event in batch.listed.records:
                if event.cx_event_key not in seen or not event.cx_event_key:
                    seen.add(event.cx_event_key)
                    yield event

    @property
    def unread(self) -> Iterator[tuple[str, str]]:
        """The listings that could not be read, and why, each once."""
        listings: Mapping[str, Sequence[ListResult[Any]]] = {
            "incidents": (self.open_incidents, self.incidents),
            "incident events": (self.incident_events,),
            "cases": (self.cases,),
            "alert events": [batch.listed for batch in self.batches],
        }
        for name, results in listings.items():
            why = next((result.unread for result in results if result.unread), "")
            if why:
                yield name, why


@dataclass(slots=True)
class Asker:
    """The reader of the listings: each once, while requests are left."""

    api: Api
    span: Span
    left: int = MOST_REQUESTS

    async def cases(self) -> ListResult[Case]:
        """Read the cases that began in the span."""
        return await self._listed(MOST_CASES, self._cases)

    async def happened(
        self, cases: ListResult[Case], versions: Iterable[str], *, are_all: bool
    ) -> SpanEvents:
        """Read all other listings.

        Events are read by version where `are_all` says that all versions are known.
        """
        api, span = self.api, self.span
        unresolved = IncidentFilter(statuses=UNRESOLVED, open_only=True)
        begun, noted = IncidentFilter(created=span), IncidentEventFilter(span=span)
        return SpanEvents(
            span=span,
            open_incidents=await self._listed(
                MOST_OPEN, lambda pages: list_incidents(api, unresolved, pages)
            ),
            incidents=await self._listed(
                MOST_INCIDENTS, lambda pages: list_incidents(api, begun, pages)
            ),
            incident_events=await self._listed(
                MOST_INCIDENT_EVENTS, lambda pages: list_incident_events(api, noted, pages)
            ),
            cases=cases,
            batches=tuple(
                [batch async for batch in self._batches(sorted(versions), are_all=are_all)]
            ),
        )

    async def _batches(self, versions: Sequence[str], *, are_all: bool) -> AsyncIterator[Batch]:
        """Yield the events of all alerts where they are needed, then by version what was cut."""
        parts = in_batches(versions)
        if not are_all:
            kept = min(2 * len(parts), self.left // 2)
            every = await self._events(self.left - kept, ())
            yield Batch(versions=frozenset(), listed=every)
            if every.is_complete or every.unread:
                return
        for number, part in enumerate(parts):
            fair = max(1, self.left // (len(parts) - number))
            yield Batch(versions=frozenset(part), listed=await self._events(fair, part))

    async def _events(self, most: int, versions: Sequence[str]) -> ListResult[AlertEvent]:
        wanted = EventFilter(alert_version_ids=tuple(versions), span=self.span)
        return await self._listed(most, lambda pages: list_alert_events(self.api, wanted, pages))

    async def _cases(self, pages: Allowance) -> AsyncIterator[Case]:
        """Yield cases until those before the span begin.

        The API document says that the newest come first.
        """
        async for case in list_cases(self.api, CaseFilter(), pages):
            began = moment(case.create_time)
            if began is not None and began < self.span.since:
                return
            if self.span.holds(case.create_time):
                yield case

    async def _listed(
        self, most: int, listing: Callable[[Allowance], AsyncIterator[_LISTED]]
    ) -> ListResult[_LISTED]:
        """Read at most so many pages; a refused listing is empty, and stops nothing."""
        given = min(most, self.left)
        pages = Allowance(given)
        records: list[_LISTED] = []
        try:
            async for record in listing(pages):
                records.append(record)  # noqa: PERF401 - what came before a failure counts
        except ReconcilerError as error:
            return ListResult(tuple(records), whole=False, unread=str(error))
        finally:
            self.left -= given - (pages.left or 0)
        return ListResult(tuple(records), whole=not pages.cut)
