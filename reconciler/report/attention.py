"""Notices that a reviewer of a plan must not miss, the worst first, for every format. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from reconciler.model import Action, Change, GuardViolation, Plan, RenamedFrom
from reconciler.model.guard_levels import REVIEW_LEVEL, GuardLevel
from reconciler.model.quoting import quoted
from reconciler.report.counts import describe_selection
from reconciler.report.reasons import describe_remark
from reconciler.report.sections import Notice, shown_sections
from reconciler.report.words import plural
from reconciler.runtime.advice import on_journal

MOST_NAMED = 5
ConsentState: TypeAlias = GuardLevel | Literal["given"]
_CONSENT_WORDS: Mapping[ConsentState, str] = {
    "explicit": "needs consent of its own",
    "review": "needs consent of a review",
    "given": "consented to",
}


def notices(plan: Plan) -> Iterator[Notice]:
    """Yield notices on guards, destroys, lost answers, blocked or unverified writes, orphans."""
    yield from (Notice("partial", said=words) for words in describe_partial(plan))
    yield from (Notice("note", said=describe_remark(remark)) for remark in plan.remarks)
    for guard in by_consent(plan.guarded):
        refs = (guard.ref,) if guard.ref else ()
        ways = () if guard.is_met else guard.remedies
        title = _CONSENT_WORDS[consent_of(guard)]
        yield Notice(title, "", refs, guard.said, ways=ways, code=guard.code)
    for change in plan.changes:
        if change.destroys and not _reported_by_guard(change, plan):
            yield Notice("destroys permanently", "", (change.ref,), names=change.destroys)
    for create in plan.unsettled:
        words = "the answer to its create was lost, and nothing can be applied before it is settled"
        settle = on_journal("settle", str(create.ref), environment=plan.environment)
        ways = (f"{settle} --id ID", f"{settle} --never-happened")
        commands = tuple(quoted(way, len(way)) for way in ways)
        yield Notice("in doubt", words, (create.ref,), ways=commands)
    for section, formats in shown_sections(plan):
        yield from formats.notices(section)
    for title, words, about in _alike(plan):
        if about:
            yield Notice(title, words, tuple(change.ref for change in about))


def by_consent(guarded: Sequence[GuardViolation]) -> list[GuardViolation]:
    """Return guards in the order of who may consent; guards that no review lifts come first."""
    return sorted(guarded, key=lambda guard: guard.level == REVIEW_LEVEL)


def consent_of(guard: GuardViolation) -> ConsentState:
    """Return who may still consent to a guard."""
    return "given" if guard.is_met else guard.level


def describe_partial(plan: Plan) -> Iterator[str]:
    """Yield why a plan did not examine all resources, foreign text; nothing for a whole plan."""
    if plan.changed_since:
        rest = f"{plural(plan.not_examined, 'resource')} not"
        yield f"only what changed since {plan.changed_since} was examined; {rest}"
    if plan.selected is not None:
        yield describe_selection(plan.selected)


def _reported_by_guard(change: Change, plan: Plan) -> bool:
    """Return whether the guard against a destroy names everything that is lost."""
    return len(change.destroys) <= MOST_NAMED and any(
        guard.ref == change.ref and set(change.destroys) <= set(guard.destroys)
        for guard in plan.guarded
    )


def _alike(plan: Plan) -> Iterator[tuple[str, str, Sequence[Change]]]:
    """Yield titles and words of notices, each with the changes that it is about."""
    turns = [change for change in plan.changes if change.turns_protection]
    begins = [change for change in turns if change.protect]
    yield "protection", "begins with this apply", begins
    yield "protection", "ends with this apply", [change for change in turns if not change.protect]
    renamed = [
        change
        for change in plan.changes
        if any(isinstance(reason, RenamedFrom) for reason in change.reasons)
    ]
    yield "renamed", "the same object had another name at its last apply", renamed
    for action, title, words in (
        (Action.BLOCKED, "blocked", "cannot be done"),
        (Action.ASSERT, "unverified", "written without having seen what is there"),
    ):
        about = [change for change in plan.changes if change.action is action]
        count = f"{plural(len(about), 'resource')} " if len(about) > 1 else ""
        yield title, count + words, about
    yield "no longer declared", "stays where it is, as the API has no delete", plan.orphans


def emptiness(plan: Plan) -> str:
    """Return the reason why a plan is empty, and what was left out."""
    if not plan.changed_since:
        if plan.selected is not None and plan.selected.left_out:
            return "Nothing is selected."
        return "No manifest applies to this environment."
    rest = plural(plan.not_examined, "other resource")
    return f"Nothing that is declared changed. Without `--changed-since`, {rest} would be examined."
