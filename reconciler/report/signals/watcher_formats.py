"""Which alerts watch what a plan changes, before a write and by its answer. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.model import (
    Change,
    Outcome,
    Plan,
    Ref,
    Signals,
    Watchers,
    Written,
    watchers_named,
)
from reconciler.report.markdown import (
    LONGEST_NAME,
    code,
)
from reconciler.report.safe import safe
from reconciler.report.signals.listed_items import listed_items
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import plural

MOST_NAMED = 10


@with_config(ConfigDict(extra="forbid"))
class ToldWatchersDocument(TypedDict):
    """The alerts that watch what was written: as the plan had it, and as the service told.

    An alert that no manifest is known of is an id.
    """

    predicted: list[str]
    told: list[str]
    unforeseen: Annotated[list[str], Field(description="Told, and not predicted.")]
    notTold: Annotated[list[str], Field(description="Predicted, and not told.")]


@dataclass(frozen=True, slots=True)
class ToldWatchers:
    """The same by names and ids, in the order in which they are said."""

    ref: Ref
    predicted: tuple[str, ...]
    told: tuple[str, ...]

    @property
    def unforeseen(self) -> tuple[str, ...]:
        """Those that the service told and nobody predicted."""
        return tuple(text for text in self.told if text not in self.predicted)

    @property
    def not_told(self) -> tuple[str, ...]:
        """Those that were predicted and that the service did not tell."""
        return tuple(text for text in self.predicted if text not in self.told)


def names_of(watchers: Watchers) -> tuple[str, ...]:
    """Give the alerts by name, then the ids of those that are not known."""
    return (*map(str, watchers.refs), *watchers.others)


def told_watchers(outcome: Outcome, signals: Signals) -> ToldWatchers | None:
    """Hold what the service told after a write against the plan; None where it told nothing."""
    if not isinstance(outcome, Written) or outcome.told.alerts is None:
        return None
    told = names_of(watchers_named(outcome.told.alerts, signals.alerts))
    predicted = names_of(signals.watchers.get(outcome.ref, Watchers()))
    return ToldWatchers(outcome.ref, predicted, told) if told or predicted else None


def told_document(told: ToldWatchers) -> ToldWatchersDocument:
    """Give its JSON form."""
    return {
        "predicted": list(told.predicted),
        "told": list(told.told),
        "unforeseen": list(told.unforeseen),
        "notTold": list(told.not_told),
    }


def _told_words(told: ToldWatchers, listed: Callable[[Sequence[str]], str]) -> str:
    """Say who watches what was written, and what of that nobody foresaw."""
    by = f"watched by {listed(told.told)}" if told.told else "watched by no alert"
    beside = []
    if told.unforeseen:
        beside.append(f"not foreseen: {listed(told.unforeseen)}")
    if told.not_told:
        beside.append(f"foreseen, and not named by the service: {listed(told.not_told)}")
    return f"{by}; {'; '.join(beside)}" if beside else f"{by}, as foreseen"


def told_text(outcomes: Sequence[Outcome], signals: Signals) -> Iterator[str]:
    """Yield one sentence for each write whose watchers the service told."""
    for outcome in outcomes:
        told = told_watchers(outcome, signals)
        if told is not None:
            yield f"{told.ref} is {_told_words(told, _listed)}"


def told_markdown(outcomes: Sequence[Outcome], signals: Signals) -> Iterator[str]:
    """Yield a list for the comment of an apply."""
    found = [told for outcome in outcomes if (told := told_watchers(outcome, signals)) is not None]
    items = [f"{code(str(one.ref), LONGEST_NAME)}: {_told_words(one, _in_code)}" for one in found]
    yield from listed_items("Alerts that watch what was written", items)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(safe(name, LONGEST_NAME) for name in names[:MOST_NAMED]) + more


def _in_code(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(code(name, LONGEST_NAME) for name in names[:MOST_NAMED]) + more


def watchers_lines(plan: Plan, change: Change, style: Style) -> Iterator[str]:
    """Yield who watches what a plan changes, below it."""
    watchers = plan.signals.watchers.get(change.ref)
    if watchers is not None:
        names = names_of(watchers)
        said = f"watched by {plural(len(names), 'alert')}: {_listed(names)}"
        yield from wrapped(said, style, Colour.CYAN)


def watchers_markdown(plan: Plan) -> Iterator[str]:
    """Yield a list for a comment, those with most watchers first."""
    watched: Mapping[Ref, Watchers] = plan.signals.watchers
    found = sorted(watched.items(), key=lambda pair: (-len(names_of(pair[1])), pair[0]))
    items = [
        f"{code(str(ref), LONGEST_NAME)}: {_in_code(names_of(watchers))}" for ref, watchers in found
    ]
    yield from listed_items("Alerts that watch what changes", items)
