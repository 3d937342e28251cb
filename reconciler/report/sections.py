"""Sections that features add to reports of a plan, and notices that need eyes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

from reconciler.model import (
    Action,
    Change,
    GuardViolation,
    Plan,
    PlanSection,
    Ref,
    RenamedFrom,
    RollsBack,
)
from reconciler.model.guards import GuardBlock, GuardLevel, GuardSentence, guard_blocks
from reconciler.model.quoting import quoted
from reconciler.report.counts import describe_selection
from reconciler.report.reasons import after_rollback, describe_remark, in_backticks
from reconciler.report.table import Style
from reconciler.report.words import plural
from reconciler.runtime.advice import on_journal


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning. `words` are ours; `refs`, `said` and `names` are foreign text, not yet safe.

    `said` follows the name in `refs`, if there is one. `title` names the problem in a word or
    two, `ways` are its remedies. Reports group notices by `title`. Of a guard, `code` is its code,
    `words` is the subject of the code, and `members` are its sentences with their resources.
    """

    title: str
    words: str = ""
    refs: tuple[Ref, ...] = ()
    said: str = ""
    names: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    code: str = ""
    members: tuple[GuardSentence, ...] = ()

    @property
    def size(self) -> int:
        """The number of its objections, 1 if it is no guard."""
        return sum(len(refs) or 1 for refs, _ in self.members) or 1


Section = TypeVar("Section", bound=PlanSection)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFormats(Generic[Section]):
    """The formats of one class of sections; what is left out shows nothing.

    `members` and `change_members` are of the JSON of a plan and of a change. `lines` and
    `change_lines` are for a terminal. In a comment, `changes_markdown` and `markdown` come next to
    the table, `owners_markdown` is a list of the owners of changes, and `end_markdown` comes last,
    within a number of bytes. `html` and `change_html` are markup. `notices` are what a reviewer
    must not miss. `stale` says what may have changed since the review if only the digest differs.
    """

    members: Callable[[Section], Mapping[str, Any]] = lambda *_: {}
    change_members: Callable[[Section, Change], Mapping[str, Any]] = lambda *_: {}
    lines: Callable[[Section, Style], Iterable[str]] = lambda *_: ()
    change_lines: Callable[[Section, Change, Style], Iterable[str]] = lambda *_: ()
    markdown: Callable[[Section], Iterable[str]] = lambda *_: ()
    changes_markdown: Callable[[Section, Sequence[Change]], Iterable[str]] = lambda *_: ()
    owners_markdown: Callable[[Section, Sequence[Change]], Iterable[str]] = lambda *_: ()
    end_markdown: Callable[[Section, int], str] = lambda *_: ""
    html: Callable[[Section], str] = lambda *_: ""
    change_html: Callable[[Section, Change], str] = lambda *_: ""
    notices: Callable[[Section], Iterable[Notice]] = lambda *_: ()
    stale: str = ""


def shown_sections(plan: Plan) -> Iterator[tuple[PlanSection, SectionFormats[Any]]]:
    """Yield each section of a plan with its formats."""
    for section in plan.sections:
        yield section, _formats_of(section.formats)


@cache
def _formats_of(name: str) -> SectionFormats[Any]:
    module, _, attribute = name.partition(":")
    return cast("SectionFormats[Any]", getattr(import_module(module), attribute))


MOST_NAMED = 5
ConsentState: TypeAlias = GuardLevel | Literal["given"]
CONSENT_WORDS: Mapping[ConsentState, str] = {
    "explicit": "needs consent of its own, which no review of this plan gives",
    "review": "needs consent, which a review of this plan gives",
    "given": "consented to",
}


def notices(plan: Plan) -> Iterator[Notice]:
    """Yield notices on guards, destroys, lost answers, blocked or unverified writes, orphans."""
    yield from (Notice("partial", said=words) for words in describe_partial(plan))
    for remark in plan.remarks:
        ways = tuple(after_rollback(remark, in_backticks)) if isinstance(remark, RollsBack) else ()
        yield Notice("note", said=describe_remark(remark, in_backticks), ways=ways)
    yield from map(_of_block, guard_blocks(plan.guarded))
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


def _of_block(block: GuardBlock) -> Notice:
    code = block.first.code
    title, words = CONSENT_WORDS[consent_of(block.first)], guard_subject(code)
    return Notice(title, words, ways=block.remedies, code=code, members=block.members)


def guard_subject(code: str) -> str:
    """Return the subject of a guard in a few words."""
    from reconciler.report.explanations.pages import title_of  # noqa: PLC0415 - rare

    return title_of(code) or "a rule of the team objects"


def guard_heading(block: GuardBlock) -> str:
    """Return the number of a guard's resources, its subject and its code on one line."""
    code = block.first.code
    return f"{block.count}: {guard_subject(code)} [{code}]"


def consent_of(guard: GuardViolation) -> ConsentState:
    """Return who may still consent to a guard."""
    return "given" if guard.is_met else guard.level


def describe_partial(plan: Plan) -> Iterator[str]:
    """Yield why a plan did not examine all resources, foreign text; nothing for a whole plan."""
    if plan.changed_since:
        rest = f"{plural(plan.not_examined, 'resource')} not"
        yield f"only what changed since {quoted(plan.changed_since)} was examined; {rest}"
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
