"""Counts and evidence of a plan or a drift report, in words. Pure."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from reconciler import model
from reconciler.document import ABSENT, Json, Missing
from reconciler.model.quoting import plain
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.advice import on_all_manifests, on_manifests

VERBS = {
    model.Action.CREATE: "create",
    model.Action.UPDATE: "update",
    model.Action.ASSERT: "assert",
    model.Action.BLOCKED: "blocked",
}

AS_DECLARED = "as declared"
AS_LAST_WRITTEN = "as last written (cannot be read)"
SHOWN_COMMIT = 12
WORST_FIRST = (
    model.Action.BLOCKED,
    model.Action.UPDATE,
    model.Action.ASSERT,
    model.Action.CREATE,
    model.Action.KEEP,
)
"""The order of changes in a report: harmful changes first."""


def harm_first(change: model.Change) -> tuple[int, bool, model.Ref]:
    """Return the key that sorts harmful changes first."""
    return WORST_FIRST.index(change.action), not change.destroys, change.ref


EVIDENCE_MEANINGS = {
    "live": "the service was asked just now",
    "journal": "the API cannot show it, so it is compared with the last write",
    "base": "nothing live was asked: compared with what the revision declares",
    "unread": "its live side was not looked at: its reason says why it cannot be done",
    "unseen": "the API cannot show it, and the journal has no write of it",
}


def legend(changes: Iterable[model.Change]) -> dict[str, str]:
    """Return what the words of a report of these changes mean, by word."""
    shown = list(changes)
    words = {evidence(change) for change in shown}
    found = {word: meaning for word, meaning in EVIDENCE_MEANINGS.items() if word in words}
    if any(change.action is model.Action.ASSERT for change in shown):
        found["assert"] = "a write without having seen; it replaces whatever is there"
    return found


def live_document(change: model.Change) -> Json | Missing:
    """Return the live document that a change was compared with, safe to show; ABSENT for none."""
    match change.observation:
        case model.Seen(document=document) | model.Remembered(document=document):
            return document if change.before is None else change.before
        case _:
            return ABSENT


def evidence(change: model.Change) -> str:
    """Return the evidence of a change in one word."""
    if change.evidence is not model.Evidence.NONE:
        return str(change.evidence.value)
    return "unread" if change.action is model.Action.BLOCKED else "unseen"


def heading(plan: model.Plan) -> str:
    """Return the heading of a plan: its environment, and its target or base revision."""
    if plan.against is None:
        return f"Plan for {plan.environment} ({plan.target})"
    commit = plan.against.commit[:SHOWN_COMMIT]
    return f"Plan against {commit} (nothing live was asked) for {plan.environment}"


def kept_counts(changes: Iterable[model.Change]) -> list[tuple[int, str]]:
    """Return the counts of kept resources: resources that were read, and unreadable resources."""
    unseen = [change.is_kept_unseen for change in changes if change.action is model.Action.KEEP]
    remembered = sum(unseen)
    counts = ((len(unseen) - remembered, AS_DECLARED), (remembered, AS_LAST_WRITTEN))
    return [(count, words) for count, words in counts if count]


def describe_kept(changes: Iterable[model.Change]) -> str:
    """Return the kept resources as `91 as declared, 94 as last written …`, "" for none."""
    return ", ".join(f"{count:,} {words}" for count, words in kept_counts(changes))


def summary(plan: model.Plan) -> str:
    """Return the counts of a plan in one line, without zeros."""
    words = [
        f"{count:,} {'' if action is model.Action.BLOCKED else 'to '}{verb}"
        for action, verb in VERBS.items()
        if (count := plan.count(action))
    ]
    if kept := describe_kept(plan.changes):
        words.append(kept)
    if destroyed := sum(len(change.destroys) for change in plan.changes):
        words.append(f"{destroyed:,} destroyed permanently")
    if words or plan.changed_since:
        return ", ".join(words) or "nothing changed"
    return "nothing is selected" if plan.selected is not None else "nothing is declared"


def describe_selection(selected: model.Selected) -> str:
    """Return the selection of a run, and how much it left out; the caller escapes the text."""
    options = (("--select", selected.select), ("--exclude", selected.exclude))
    flags = " ".join(f"{flag} {plain(text)}" for flag, texts in options for text in texts)
    return f"limited by `{flags}`: {plural(selected.left_out, 'resource')} left out"


def lost_json(change: model.Change) -> str:
    """Return everything that a write destroys as JSON, so that it can be restored by hand."""
    return json.dumps(list(change.lost), ensure_ascii=True)


def describe_no_drift(drifts: Iterable[model.Drift]) -> str:
    """Return the counts of resources without drift, by what is known of them."""
    counts: Counter[str] = Counter(drift.state for drift in drifts)
    rest = (
        ("unread", "that could not be read"),
        ("unseen", "that the API cannot show"),
        ("unapplied", "never applied"),
    )
    words = [f"{counts[state]:,} {said}" for state, said in rest if counts[state]]
    return ", ".join((f"{counts['same']:,} as applied", *words))


def drift_summary(look: model.DriftReport) -> str:
    """Return the counts of a drift report in one line, the worst first."""
    counts = Counter(drift.state for drift in look.found)
    drifted = counts["drifted"] + counts["gone"]
    none = "no drift" if look.has_journal else "nothing to compare with"
    words = [
        f"{plural(drifted, 'resource')} drifted" if drifted else none,
        *([f"{look.new:,} new since the last look"] if look.new else []),
        describe_no_drift(look.found),
    ]
    if look.ignored:
        words.append(f"{plural(look.ignored, 'difference')} ignored")
    return ", ".join(words)


FIRST_MANIFEST = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard:
    name: Checkout
    layout: {sections: []}
"""
"""The smallest manifest that can be planned without reading anything else."""

_ELSEWHERE = (
    "  - if they are elsewhere: give their PATH, as in `reconciler validate PATH`, or name it in "
    "reconciler.yaml, as in `manifests: [PATH]`"
)
_INDENT = "      "


def no_manifests(where: Sequence[str], *, is_finding: bool = False) -> str:
    """Return what to do where nothing is declared; with `is_finding`, only that it is so."""
    nothing = f"there are no manifests in {', '.join(map(safe, where))}"
    if is_finding:
        return nothing
    lines = [
        nothing,
        _ELSEWHERE,
        "  - to begin, save this as checkout.yaml; `reconciler schema` names all kinds:",
        *(_INDENT + line for line in FIRST_MANIFEST.splitlines()),
    ]
    return "\n".join(lines)


def misplaced_plan(path: str) -> str:
    """Return what to do with a plan that was passed as a manifest."""
    command = on_manifests("apply", f"--plan {safe(shlex.quote(path))}")
    return f"{safe(path)} is a plan: `{command}` applies it"


def none_for(environment: str, elsewhere: int, environments: Sequence[str]) -> str:
    """Return what to do where every resource is limited to other environments.

    The `environment` "" means any.
    """
    others = ", ".join(safe(text) for text in environments if text != environment)
    choose = f"choose another with -e ({others}), or " if environment and others else ""
    here = f"the environment {safe(environment)}" if environment else "any environment"
    return (
        f"{plural(elsewhere, 'resource')} declared, and none is for {here}: "
        f"{choose}change `metadata.environments`"
    )


def none_selected(left_out: int) -> str:
    """Return that a selection matches no declared resource."""
    return f"nothing is selected: {plural(left_out, 'resource')} left out by --select and --exclude"


def describe_unheeded(count: int) -> str:
    """Return the number of errors in resources that are not selected; "" for none."""
    if not count:
        return ""
    what = plural(count, "error")
    return f"{what} in what is not selected: `{on_all_manifests('validate')}` shows more"


def not_applied(digest: str, command: str = "") -> str:
    """Return that the user declined, and the command that applies the same plan later.

    Without `command`, it is an `apply`.
    """
    command = (
        f"{command} --expect {digest}" if command else on_manifests("apply", f"--expect {digest}")
    )
    return f"nothing was applied; to apply exactly this plan: `{command}`"
