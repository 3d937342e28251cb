"""What is counted of events: each firing once, in whatever order they come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reconciler.features.audit.audit_rule import LookedBack, Rest, logs_in
from reconciler.features.audit.command import counted
from reconciler.records.listings import AlertEvent
from reconciler.records.record import Span

UNTIL = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SPAN = Span(UNTIL - timedelta(days=14), UNTIL)
MINUTES = 14 * 24 * 60


def event(alert: str, turn: str, minute: int, key: str, **more: Any) -> AlertEvent:
    """Give an event, so many minutes after the span began."""
    at = SPAN.since + timedelta(minutes=minute)
    return AlertEvent.model_validate(
        {
            "cxEventKey": f"{turn}-{key}",
            "cxEventDedupKey": key,
            "cxEventType": f"alert_{turn}",
            "cxEventTimestamp": str(int(at.timestamp())),
            "cxEventMetadata": {"alertId": alert},
            **more,
        }
    )


FIRINGS = st.dictionaries(
    st.text("0123456789abcdef", min_size=4, max_size=4),
    st.tuples(
        st.sampled_from(["A", "b", "c"]),
        st.integers(0, MINUTES - 100),
        st.none() | st.integers(0, 90),
    ),
    max_size=20,
)


@given(FIRINGS, st.randoms(use_true_random=False))
def test_each_firing_counts_once(
    firings: dict[str, tuple[str, int, int | None]], random: Any
) -> None:
    """Whatever order events come in, and however often, each firing is one, and lasted so long."""
    events = []
    for key, (alert, minute, lasted) in firings.items():
        events.append(event(alert, "triggered", minute, key))
        if lasted is not None:
            events.append(event(alert.upper(), "resolved", minute + lasted, key))
    events += random.sample(events, len(events) // 2)
    random.shuffle(events)
    record = counted(LookedBack(events=events), SPAN, ())

    for alert in "abc":
        own = [firing for firing in firings.values() if firing[0].lower() == alert]
        happened = record.of.get(alert)
        assert (happened is None) is not bool(own)
        if happened is not None:
            assert len(happened.fired) == len(own)
            assert list(happened.fired) == sorted(happened.fired)
            minutes = sorted(row[2] for row in own if row[2] is not None)
            assert sorted(one // timedelta(minutes=1) for one in happened.lasted) == minutes


@given(st.lists(st.integers(0, MINUTES - 1), max_size=10), st.booleans())
def test_what_covers_a_span(minutes: list[int], has_older: bool) -> None:
    """A span is covered by an event of its first day, or by one from before it, and not else."""
    events = [event("a", "triggered", minute, str(minute)) for minute in minutes]
    record = counted(LookedBack(events=events, has_older=has_older), SPAN, ())
    is_covered = has_older or any(minute <= 24 * 60 for minute in minutes)

    assert (Rest.SPAN not in record.lacks) is is_covered
    assert (record.covered == record.days) is is_covered or min(minutes, default=0) < 2 * 24 * 60
    assert 0 <= record.covered <= record.days


def test_events_without_words() -> None:
    """Where no event says what it is, nothing that rests on events is judged."""
    mute = event("a", "changed", 5, "x")

    assert Rest.EVENTS in counted(LookedBack(events=[mute]), SPAN, ()).lacks
    assert (
        Rest.EVENTS in counted(LookedBack(events=[event("", "triggered", 5, "x")]), SPAN, ()).lacks
    )


def test_an_event_that_says_nothing_may_be_a_firing() -> None:
    """An event of an alert that does not say what it is keeps it from having never fired."""
    told = LookedBack(events=[event("a", "changed", 5, "x"), event("b", "triggered", 6, "y")])

    assert counted(told, SPAN, ()).of["a"].unclear == 1


def test_logs_of_labels() -> None:
    """Logs are those of the places that labels name, in each severity, each once."""
    labels = {"cxEventLabels": {"applicationName": "shop", "Subsystem": "cart"}}
    events = [event("a", "triggered", minute, str(minute), **labels) for minute in (1, 2)]
    rows = logs_in([*events, event("a", "triggered", 3, "z")])

    assert len(rows) == len(set(rows)) == 6
    assert {row[:2] for row in rows} == {("shop", "cart")}
