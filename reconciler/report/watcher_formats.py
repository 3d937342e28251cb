"""The alerts that watch a plan's resources: predicted before a write, reported after it. Pure."""

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
    Watchers,
    Written,
    watchers_named,
)
from reconciler.report.markdown import LONGEST_NAME, code, listed_items
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import first_few, plural

MOST_NAMED = 10


@with_config(ConfigDict(extra="forbid"))
class ToldWatchersDocument(TypedDict):
    """The alerts that watch a written resource: as the plan predicted, and as the service reported.

    An alert without a known manifest is an id.
    """

    predicted: list[str]
    told: list[str]
    unforeseen: Annotated[list[str], Field(description="Shown by the service, and not predicted.")]
    notTold: Annotated[list[str], Field(description="Predicted, and not shown by the service.")]


@dataclass(frozen=True, slots=True)
class ReportedWatchers:
    """The same by names and ids, in the order in which they are shown."""

    ref: Ref
    predicted: tuple[str, ...]
    told: tuple[str, ...]

    @property
    def unforeseen(self) -> tuple[str, ...]:
        """Alerts that the service reported and the plan did not predict."""
        return tuple(text for text in self.told if text not in self.predicted)

    @property
    def not_reported(self) -> tuple[str, ...]:
        """Alerts that the plan predicted and the service did not report."""
        return tuple(text for text in self.predicted if text not in self.told)


def names_of(watchers: Watchers) -> tuple[str, ...]:
    """Return the alerts by name, then the ids of unknown alerts."""
    return (*map(str, watchers.refs), *watchers.others)


def describe_alert(id_: str, alerts: Mapping[str, Ref]) -> str:
    """Return the name of an alert with its id in brackets, the id where the name is not known."""
    ref = alerts.get(id_.lower())
    return f"{ref} ({id_})" if ref is not None else id_


def reported_watchers(outcome: Outcome, plan: Plan) -> ReportedWatchers | None:
    """Return the watchers that the service reported after a write, and those of the plan.

    None where the service reported nothing, or where both are empty.
    """
    if not isinstance(outcome, Written) or outcome.told.alerts is None:
        return None
    reported = names_of(watchers_named(outcome.told.alerts, plan.alerts))
    predicted = names_of(plan.watchers.get(outcome.ref, Watchers()))
    return ReportedWatchers(outcome.ref, predicted, reported) if reported or predicted else None


def reported_watchers_document(watchers: ReportedWatchers) -> ToldWatchersDocument:
    """Return the JSON form."""
    return {
        "predicted": list(watchers.predicted),
        "told": list(watchers.told),
        "unforeseen": list(watchers.unforeseen),
        "notTold": list(watchers.not_reported),
    }


def _describe_reported(watchers: ReportedWatchers, shown: Callable[[str, int], str]) -> str:
    """Return who watches a written resource, and how that differs from the prediction."""
    told, unforeseen, not_reported = (
        _listed(names, shown)
        for names in (watchers.told, watchers.unforeseen, watchers.not_reported)
    )
    by = f"watched by {told or 'no alert'}"
    surprises = []
    if unforeseen:
        surprises.append(f"not foreseen: {unforeseen}")
    if not_reported:
        surprises.append(f"foreseen, and not named by the service: {not_reported}")
    return f"{by}; {'; '.join(surprises)}" if surprises else f"{by}, as foreseen"


def _all_reported(outcomes: Sequence[Outcome], plan: Plan) -> Iterator[ReportedWatchers]:
    return filter(None, (reported_watchers(outcome, plan) for outcome in outcomes))


def reported_watchers_text(outcomes: Sequence[Outcome], plan: Plan) -> Iterator[str]:
    """Yield a sentence for each write, where the service reported its watchers."""
    for watchers in _all_reported(outcomes, plan):
        yield f"{watchers.ref} is {_describe_reported(watchers, safe)}"


def reported_watchers_markdown(outcomes: Sequence[Outcome], plan: Plan) -> Iterator[str]:
    """Yield a list for the comment of an apply."""
    items = [
        f"{code(str(watchers.ref), LONGEST_NAME)}: {_describe_reported(watchers, code)}"
        for watchers in _all_reported(outcomes, plan)
    ]
    yield from listed_items("Alerts that watch what was written", items)


def _listed(names: Sequence[str], shown: Callable[[str, int], str] = safe) -> str:
    return first_few(names, MOST_NAMED, lambda name: shown(name, LONGEST_NAME))


def watchers_lines(plan: Plan, change: Change, style: Style) -> Iterator[str]:
    """Yield who watches a resource that a plan changes, below it."""
    watchers = plan.watchers.get(change.ref)
    if watchers is not None:
        names = names_of(watchers)
        words = f"watched by {plural(len(names), 'alert')}: {_listed(names)}"
        yield from wrapped(words, style, Colour.CYAN)


def watchers_markdown(plan: Plan) -> Iterator[str]:
    """Yield a list for a comment, the resources with most watchers first."""
    watched = [(ref, names_of(watchers)) for ref, watchers in plan.watchers.items()]
    items = [
        f"{code(str(ref), LONGEST_NAME)}: {_listed(names, code)}"
        for ref, names in sorted(watched, key=lambda pair: (-len(pair[1]), pair[0]))
    ]
    yield from listed_items("Alerts that watch what changes", items)
