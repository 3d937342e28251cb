"""What a plan and a look for drift come to, in words: actions, evidence, counts. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from reconciler.document import ABSENT, Json, Missing
from reconciler.model import (
    Action,
    Change,
    Drift,
    DriftReport,
    Evidence,
    Plan,
    Remembered,
    Seen,
    Selected,
)
from reconciler.report.words import plural

VERBS = {
    Action.CREATE: "create",
    Action.UPDATE: "update",
    Action.ASSERT: "assert",
    Action.BLOCKED: "blocked",
}

AS_DECLARED = "as declared"
AS_LAST_WRITTEN = "as last written (cannot be read)"
SHOWN_COMMIT = 12
WORST_FIRST = (Action.BLOCKED, Action.UPDATE, Action.ASSERT, Action.CREATE, Action.KEEP)
"""In which order a report shows changes: what may hurt comes first."""


EVIDENCE_MEANINGS = {
    "live": "the service was asked just now",
    "journal": "the API cannot show it, so it is compared with the last write",
    "base": "nothing live was asked: compared with what the revision declares",
    "unread": "its live side was not looked at: its reason says why it cannot be done",
    "unseen": "the API cannot show it, and the journal has no write of it",
}


def live_document(change: Change) -> Json | Missing:
    """Give what a change was compared with, as it may be shown, where anything was."""
    match change.observation:
        case Seen(document=document) | Remembered(document=document):
            return document if change.before is None else change.before
        case _:
            return ABSENT


def evidence(change: Change) -> str:
    """Say what a change rests on."""
    if change.action is Action.BLOCKED and change.evidence is Evidence.NONE:
        return "unread"
    match change.evidence:
        case Evidence.LIVE:
            return "live"
        case Evidence.JOURNAL:
            return "journal"
        case Evidence.NONE:
            return "unseen"
        case Evidence.BASE:
            return "base"


def heading(plan: Plan) -> str:
    """Say what a plan is for, and where it leads."""
    if plan.against is None:
        return f"Plan for {plan.environment} ({plan.target})"
    commit = plan.against.commit[:SHOWN_COMMIT]
    return f"Plan against {commit} (nothing live was asked) for {plan.environment}"


def kept_counts(changes: Iterable[Change]) -> list[tuple[int, str]]:
    """Return how many resources are kept, parted into what was read and what cannot be read."""
    unseen = [change.is_kept_unseen for change in changes if change.action is Action.KEEP]
    remembered = sum(unseen)
    counts = ((len(unseen) - remembered, AS_DECLARED), (remembered, AS_LAST_WRITTEN))
    return [(count, words) for count, words in counts if count]


def kept_words(changes: Iterable[Change]) -> str:
    """Return how many resources are kept as `91 as declared, 94 as last written …`, "" for none."""
    return ", ".join(f"{count:,} {words}" for count, words in kept_counts(changes))


def summary(plan: Plan) -> str:
    """Give the counts of a plan in one line, without those that are zero."""
    words = []
    for action in (Action.CREATE, Action.UPDATE, Action.ASSERT, Action.BLOCKED):
        count = plan.count(action)
        if count:
            plain = action is Action.BLOCKED
            words.append(f"{count:,} {'' if plain else 'to '}{VERBS[action]}")
    if kept := kept_words(plan.changes):
        words.append(kept)
    destroyed = sum(len(change.destroys) for change in plan.changes)
    if destroyed:
        words.append(f"{destroyed:,} destroyed for good")
    if words or plan.changed_since:
        return ", ".join(words) or "nothing changed"
    return "nothing is selected" if plan.selected is not None else "nothing is declared"


def selection_words(selected: Selected) -> str:
    """Say what a run was limited to, and how much it left out; foreign text, not yet safe."""
    given = (("--select", selected.select), ("--exclude", selected.exclude))
    flags = " ".join(f"{flag} {text}" for flag, some in given for text in some)
    return f"limited by {flags}: {plural(selected.left_out, 'resource')} left out"


def lost_json(change: Change) -> str:
    """Give whole what a write destroys, so that it can be restored by hand."""
    return json.dumps(list(change.lost), ensure_ascii=True)


def calm_words(drifts: Iterable[Drift]) -> str:
    """Return how many resources did not drift, parted by what is known of them."""
    counts = Counter(drift.state for drift in drifts)
    words = [f"{counts['same']:,} as applied"]
    if counts["unread"]:
        words.append(f"{counts['unread']:,} that could not be read")
    if counts["unseen"]:
        words.append(f"{counts['unseen']:,} that the API cannot show")
    if counts["unapplied"]:
        words.append(f"{counts['unapplied']:,} never applied")
    return ", ".join(words)


def drift_summary(look: DriftReport) -> str:
    """Give the counts of a comparison with live in one line, the worst first."""
    counts = Counter(drift.state for drift in look.found)
    drifted = counts["drifted"] + counts["gone"]
    words = [
        f"{plural(drifted, 'resource')} drifted" if drifted else "no drift",
        *([f"{look.new:,} new since the last look"] if look.new else []),
        calm_words(look.found),
    ]
    if look.ignored:
        words.append(f"{plural(look.ignored, 'difference')} ignored")
    return ", ".join(words)
