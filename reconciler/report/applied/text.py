"""The report of an apply for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from reconciler.document import Difference
from reconciler.model import (
    InDoubt,
    Outcome,
    Overtaken,
    Plan,
    Ref,
    Skipped,
    Written,
)
from reconciler.report.applied.document import WORDS, OutcomeWord, counts_of, word
from reconciler.report.counts import describe_kept, describe_selection
from reconciler.report.reasons import message_of, remedies_of
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style, fitted, wrapped
from reconciler.report.watcher_formats import (
    reported_watchers_text,
)
from reconciler.report.words import place, plural, value
from reconciler.runtime.advice import on_journal

_COLOURS: dict[OutcomeWord, Colour] = {
    "written": Colour.GREEN,
    "unchanged": Colour.DIM,
    "refused": Colour.RED,
    "unconfirmed": Colour.MAGENTA,
    "skipped": Colour.YELLOW,
    "inDoubt": Colour.MAGENTA,
}
NOTHING: Mapping[Ref, str] = MappingProxyType({})
MOST_REWRITTEN = 5
MOST_NAMED = 10
MOST_REASONS = 5


def outcome_line(outcome: Outcome, style: Style) -> str:
    """Return the line of an outcome, streamed during the run, and a line for each remedy."""
    name = word(outcome)
    message = message_of(outcome)
    note = f": {safe(message)}" if message else ""
    known = ""
    if isinstance(outcome, Written) and outcome.remote_id is not None:
        known = style.paint(f" ({safe(str(outcome.remote_id))})", Colour.DIM)
    spoken = "in doubt" if name == "inDoubt" else name
    line = f"  {style.paint(spoken.ljust(9), _COLOURS[name])} {safe(str(outcome.ref))}{known}{note}"
    return "\n".join((line, *(f"      - {safe(remedy)}" for remedy in remedies_of(outcome))))


def applied_text(
    outcomes: Sequence[Outcome],
    rewritten: Mapping[Ref, tuple[Difference, ...]],
    style: Style,
    overtaken: Mapping[Ref, Overtaken] | None = None,
    plan: Plan | None = None,
    *,
    unproved: Mapping[Ref, str] = NOTHING,
) -> str:
    """Return the closing report of an apply, ending in a line break; commands are never broken."""
    lines: list[str] = []
    for ref, said in unproved.items():
        lines.append(fitted(style.paint(safe(f"{ref}: {said}."), Colour.RED), style))
    for ref, found in rewritten.items():
        lines.extend(_rewritten_lines(ref, found, style))
    for ref, by in (overtaken or {}).items():
        lines.extend(_overtaken_lines(ref, by, style))
    counts = counts_of(outcomes)
    spoken = {"inDoubt": "in doubt"}
    words = [f"{counts[name]} {spoken.get(name, name)}" for name in WORDS if counts[name]]
    counted = ", ".join(words).capitalize() or _nothing_done(plan)
    lines.append(style.paint(counted, Colour.BOLD) + ".")
    lines.extend(fitted(line, style) for line in _not_done_lines(outcomes))
    lines.extend(_planned_lines(plan, outcomes, style) if plan is not None else ())
    for outcome in outcomes:
        if isinstance(outcome, InDoubt):
            lines.append(f"Look for {safe(str(outcome.ref))}, then run:")
            settle = safe(on_journal("settle", str(outcome.ref)))
            lines.append(f"  {settle} --id ID    or    --never-happened")
    return "\n".join(lines) + "\n"


def _nothing_done(plan: Plan | None) -> str:
    kept = describe_kept(plan.changes) if plan is not None else ""
    return f"Nothing to do: {kept}" if kept else "Nothing to do"


def renamed_text(renamed: Mapping[Ref, Ref], style: Style) -> str:
    """Return which resources the journal knows by another name from now on, "" for none."""
    lines = [f"{ref} is what {was} was, and called so from now on." for ref, was in renamed.items()]
    if len(lines) > MOST_NAMED:
        lines[MOST_NAMED:] = [f"{plural(len(lines) - MOST_NAMED, 'other resource')} renamed alike."]
    return "".join(f"{fitted(safe(line), style)}\n" for line in lines)


def _planned_lines(plan: Plan, outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """Yield who watches the written resources, and what the selection left out."""
    for line in reported_watchers_text(outcomes, plan):
        yield from wrapped(line, style, Colour.CYAN, margin="", hang="  ")
    if plan.selected is not None:
        words = safe(describe_selection(plan.selected))
        yield fitted(f"{words[0].upper()}{words[1:]}.", style)


def _not_done_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for outcome in outcomes:
        if isinstance(outcome, Skipped):
            by_reason.setdefault(outcome.message, []).append(safe(str(outcome.ref)))
    for reason, names in list(by_reason.items())[:MOST_REASONS]:
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        yield f"Not done ({safe(reason)}): {', '.join(names[:MOST_NAMED])}{more}"
    if len(by_reason) > MOST_REASONS:
        rest = sum(len(names) for names in list(by_reason.values())[MOST_REASONS:])
        yield f"Not done for other reasons: {plural(rest, 'resource')}"


def _rewritten_lines(ref: Ref, found: Sequence[Difference], style: Style) -> Iterator[str]:
    head = f"The service stored {plural(len(found), 'field')} of {ref} otherwise than sent:"
    yield fitted(style.paint(safe(head), Colour.CYAN), style)
    yield from _field_lines(found, "stored", style)


def _overtaken_lines(ref: Ref, by: Overtaken, style: Style) -> Iterator[str]:
    who = f" ({by.edit})" if by.edit.told else ""
    count = plural(len(by.differences), "field")
    head = f"Another writer changed {count} of {ref} right after it was written{who}:"
    yield fitted(style.paint(safe(head), Colour.RED), style)
    yield from _field_lines(by.differences, "live", style)


def _field_lines(found: Sequence[Difference], now: str, style: Style) -> Iterator[str]:
    room = max(20, style.width // 3)
    for difference in found[:MOST_REWRITTEN]:
        before, after = value(difference.before, room), value(difference.after, room)
        yield fitted(f"  {place(difference.path)}: sent {before}, {now} {after}", style)
    if len(found) > MOST_REWRITTEN:
        yield f"  and {len(found) - MOST_REWRITTEN} more"
