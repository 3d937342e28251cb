"""Sections that features add to reports of a plan, and notices that need eyes. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar, cast

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler import model
from reconciler.model.guards import (
    APPROVAL,
    GuardBlock,
    GuardLevel,
    GuardSentence,
    flag_of,
    guard_blocks,
)
from reconciler.model.quoting import quoted
from reconciler.report.counts import describe_selection
from reconciler.report.markdown import LONGEST_NAME, code, listed_items, sentence
from reconciler.report.reasons import after_rollback, describe_remark, in_backticks, reported_notes
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import as_sentence, first_few, plural
from reconciler.runtime.advice import on_journal


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning. `words` are ours; `refs`, `said` and `names` are foreign text, not yet safe.

    `said` follows the name in `refs`, if there is one. `title` names the problem in a word or
    two, `ways` are its remedies. Reports group notices by `title`. Of a guard, `code` is its code,
    `words` is the subject of the code, `members` are its sentences with their resources, and
    `count` is their number in words. `is_reviewed` means that a review consents to it.
    """

    title: str
    words: str = ""
    refs: tuple[model.Ref, ...] = ()
    said: str = ""
    names: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    code: str = ""
    count: str = ""
    members: tuple[GuardSentence, ...] = ()
    is_reviewed: bool = False

    @property
    def size(self) -> int:
        """The number of its objections, 1 if it is no guard."""
        return sum(len(member.refs) or 1 for member in self.members) or 1


Section = TypeVar("Section", bound=model.PlanSection)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFormats(Generic[Section]):
    """The formats of one class of sections; a format that is left out shows nothing.

    `members` and `change_members` return members of the JSON of a plan and of a change. `lines` and
    `change_lines` are for a terminal. In a comment, `changes_markdown` and `markdown` come next to
    the table, `owners_markdown` is a list of the owners of changes, and `end_markdown` comes last,
    within a number of bytes. `html` and `change_html` are markup. `notices` are what a reviewer
    must not miss. `stale` says what may have changed since the review if only the digest differs.
    """

    members: Callable[[Section], Mapping[str, Any]] = lambda *_: {}
    change_members: Callable[[Section, model.Change], Mapping[str, Any]] = lambda *_: {}
    lines: Callable[[Section, Style], Iterable[str]] = lambda *_: ()
    change_lines: Callable[[Section, model.Change, Style], Iterable[str]] = lambda *_: ()
    markdown: Callable[[Section], Iterable[str]] = lambda *_: ()
    changes_markdown: Callable[[Section, Sequence[model.Change]], Iterable[str]] = lambda *_: ()
    owners_markdown: Callable[[Section, Sequence[model.Change]], Iterable[str]] = lambda *_: ()
    end_markdown: Callable[[Section, int], str] = lambda *_: ""
    html: Callable[[Section], str] = lambda *_: ""
    change_html: Callable[[Section, model.Change], str] = lambda *_: ""
    notices: Callable[[Section], Iterable[Notice]] = lambda *_: ()
    stale: str = ""


def shown_sections(plan: model.Plan) -> Iterator[tuple[model.PlanSection, SectionFormats[Any]]]:
    """Yield each section of a plan with its formats."""
    for section in plan.sections:
        yield section, _formats_of(section.formats)


@cache
def _formats_of(name: str) -> SectionFormats[Any]:
    module, _, attribute = name.partition(":")
    return cast("SectionFormats[Any]", getattr(import_module(module), attribute))


LISTED_DESTROYS = 5
ConsentState: TypeAlias = GuardLevel | Literal["approval", "given"]
CONSENT_WORDS: Mapping[ConsentState, str] = {
    "explicit": "whoever applies must consent by name, as a review is not enough",
    "approval": "approvers must sign this plan, as a review is not enough",
    "review": "a reviewer must consent",
    "given": "consented to",
}


def notices(plan: model.Plan) -> Iterator[Notice]:
    """Yield notices on guards, destroys, lost answers, blocked or unverified writes, orphans."""
    yield from (Notice("partial", said=words) for words in describe_partial(plan))
    for remark in plan.remarks:
        ways = (
            tuple(after_rollback(remark, in_backticks))
            if isinstance(remark, model.RollsBack)
            else ()
        )
        yield Notice("note", said=describe_remark(remark, in_backticks), ways=ways)
    yield from map(_of_block, guard_blocks(open_guards(plan)))
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
    alone = blocked_alone(plan)
    yield from map(_of_blocked, filter(None, (alone,)))
    for title, words, about in _alike(plan, alone):
        if about:
            yield Notice(title, words, tuple(change.ref for change in about))


def open_guards(plan: model.Plan) -> Iterator[model.GuardViolation]:
    """Yield the guards of a plan, without those that `consents` is about."""
    yield from (guard for guard in plan.guarded if not (guard.is_met and guard.given))


def consents(plan: model.Plan) -> Iterator[str]:
    """Yield who gave consent, a sentence for each guard that knows it; names are in backticks."""
    yield from (guard.given for guard in plan.guarded if guard.is_met and guard.given)


LONGEST_CONSENT = 1_000


def consents_markdown(plan: model.Plan) -> str:
    """Return who gave consent, a paragraph each, "" where no guard knows it."""
    return "\n\n".join(
        f"✅ {sentence(as_sentence(given), LONGEST_CONSENT)}" for given in consents(plan)
    )


def _of_block(block: GuardBlock) -> Notice:
    code = block.first.code
    consent = consent_of(block.first)
    return Notice(
        CONSENT_WORDS[consent],
        guard_subject(code),
        ways=block.remedies,
        code=code,
        count=block.count,
        members=block.members,
        is_reviewed=consent == "review",
    )


def guard_subject(code: str) -> str:
    """Return the subject of a guard in a few words."""
    from reconciler.report.explanations.pages import title_of  # noqa: PLC0415 - rare

    return title_of(code) or "a rule of the team objects"


def guard_heading(block: GuardBlock) -> str:
    """Return the number of a guard's resources, its subject and its code on one line."""
    code = block.first.code
    return f"{block.count}: {guard_subject(code)} [{code}]"


def consent_of(guard: model.GuardViolation) -> ConsentState:
    """Return who may still consent to a guard."""
    if guard.is_met:
        return "given"
    return "approval" if flag_of(guard.code) == APPROVAL else guard.level


def describe_partial(plan: model.Plan) -> Iterator[str]:
    """Yield why a plan did not examine all resources, foreign text; nothing for a whole plan."""
    if plan.changed_since:
        rest = f"{plural(plan.not_examined, 'resource')} not"
        yield f"only what changed since {quoted(plan.changed_since)} was examined; {rest}"
    if plan.selected is not None:
        yield describe_selection(plan.selected)


def _reported_by_guard(change: model.Change, plan: model.Plan) -> bool:
    """Return whether the guard against a destroy names everything that is lost."""
    return len(change.destroys) <= LISTED_DESTROYS and any(
        guard.ref == change.ref and set(change.destroys) <= set(guard.destroys)
        for guard in plan.guarded
    )


LONGEST_REASONS = 250


def blocked_alone(plan: model.Plan) -> model.Change | None:
    """Return the one blocked change; its notice has its reasons.

    None for none or several, and where the reasons are too long for a notice.
    """
    blocked = [change for change in plan.changes if change.action is model.Action.BLOCKED]
    if len(blocked) != 1 or len(_reasons_of(blocked[0])) > LONGEST_REASONS:
        return None
    return blocked[0]


def _of_blocked(change: model.Change) -> Notice:
    why = _reasons_of(change)
    return Notice("blocked", refs=(change.ref,), said=f" cannot be done{why and ': '}{why}")


def _reasons_of(change: model.Change) -> str:
    return "; ".join(reported_notes(change, in_backticks))


def _alike(
    plan: model.Plan, alone: model.Change | None
) -> Iterator[tuple[str, str, Sequence[model.Change]]]:
    """Yield titles and words of notices, each with the changes that it is about."""
    turns = [change for change in plan.changes if change.turns_protection]
    begins = [change for change in turns if change.protect]
    yield "protection", "begins with this apply", begins
    yield "protection", "ends with this apply", [change for change in turns if not change.protect]
    renamed = [
        change
        for change in plan.changes
        if any(isinstance(reason, model.RenamedFrom) for reason in change.reasons)
    ]
    yield "renamed", "the same object had another name at its last apply", renamed
    for action, title, words in (
        (model.Action.BLOCKED, "blocked", "cannot be done"),
        (model.Action.ASSERT, "unverified", "written without having seen what is there"),
    ):
        about = [change for change in plan.changes if change.action is action]
        count = f"{plural(len(about), 'resource')} " if len(about) > 1 else ""
        yield title, count + words, [] if about == [alone] else about
    yield "no longer declared", "stays where it is, as the API has no delete", plan.orphans


def emptiness(plan: model.Plan) -> str:
    """Return the reason why a plan is empty, and what was left out."""
    if not plan.changed_since:
        if plan.selected is not None and plan.selected.left_out:
            return "Nothing is selected."
        return "No manifest applies to this environment."
    rest = plural(plan.not_examined, "other resource")
    return f"Nothing that is declared changed. Without `--changed-since`, {rest} would be examined."


MOST_WATCHERS = 10


@with_config(ConfigDict(extra="forbid"))
class ToldWatchersDocument(TypedDict):
    """The alerts that watch a written resource: as the plan predicted, and as the service reported.

    An alert without a known manifest is an id.
    """

    predicted: list[str]
    told: list[str]
    unforeseen: Annotated[list[str], Field(description="Shown by the service, and not predicted.")]
    notTold: Annotated[list[str], Field(description="Predicted, and not shown by the service.")]


def names_of(watchers: model.Watchers) -> tuple[str, ...]:
    """Return the alerts by name, then the ids of unknown alerts."""
    return (*map(str, watchers.refs), *watchers.others)


def describe_alert(id_: str, alerts: Mapping[str, model.Ref]) -> str:
    """Return the name of an alert with its id in brackets, the id where the name is not known."""
    ref = alerts.get(id_.lower())
    return f"{ref} ({id_})" if ref is not None else id_


def reported_watchers(outcome: model.Outcome, plan: model.Plan) -> ToldWatchersDocument | None:
    """Return the watchers that the service reported after a write, and those of the plan.

    None where the service reported nothing, or where both are empty.
    """
    if not isinstance(outcome, model.Written) or outcome.told.alerts is None:
        return None
    told = names_of(model.watchers_named(outcome.told.alerts, plan.alerts))
    predicted = names_of(plan.watchers.get(outcome.ref, model.Watchers()))
    if not told and not predicted:
        return None
    return {
        "predicted": [*predicted],
        "told": [*told],
        "unforeseen": [name for name in told if name not in predicted],
        "notTold": [name for name in predicted if name not in told],
    }


def _all_reported(
    outcomes: Sequence[model.Outcome], plan: model.Plan, shown: Callable[[str, int], str]
) -> Iterator[tuple[model.Ref, str]]:
    """Yield who watches each written resource, and how that differs from the prediction."""
    for outcome in outcomes:
        if watchers := reported_watchers(outcome, plan):
            named = _listed(watchers["told"], shown) or "no alert"
            unforeseen = _listed(watchers["unforeseen"], shown)
            missing = _listed(watchers["notTold"], shown)
            surprises = (
                f"not foreseen: {unforeseen}" if unforeseen else "",
                f"foreseen, and not named by the service: {missing}" if missing else "",
            )
            words = "; ".join(filter(None, surprises))
            yield outcome.ref, f"watched by {named}" + (f"; {words}" if words else ", as foreseen")


def reported_watchers_text(outcomes: Sequence[model.Outcome], plan: model.Plan) -> Iterator[str]:
    """Yield a sentence for each write, where the service reported its watchers."""
    return (f"{ref} is {words}" for ref, words in _all_reported(outcomes, plan, safe))


def reported_watchers_markdown(
    outcomes: Sequence[model.Outcome], plan: model.Plan
) -> Iterator[str]:
    """Yield a list for the comment of an apply."""
    watched = _all_reported(outcomes, plan, code)
    items = [f"{code(str(ref), LONGEST_NAME)}: {words}" for ref, words in watched]
    return listed_items("Alerts that watch what was written", items)


def _listed(names: Sequence[str], shown: Callable[[str, int], str] = safe) -> str:
    return first_few(names, MOST_WATCHERS, lambda name: shown(name, LONGEST_NAME))


def watchers_lines(plan: model.Plan, change: model.Change, style: Style) -> Iterator[str]:
    """Yield who watches a resource that a plan changes, below it."""
    watchers = plan.watchers.get(change.ref)
    if watchers is not None:
        names = names_of(watchers)
        words = f"watched by {plural(len(names), 'alert')}: {_listed(names)}"
        yield from wrapped(words, style, Colour.CYAN)


def watchers_markdown(plan: model.Plan) -> Iterator[str]:
    """Yield a list for a comment, the resources with most watchers first."""
    watched = [(ref, names_of(watchers)) for ref, watchers in plan.watchers.items()]
    items = [
        f"{code(str(ref), LONGEST_NAME)}: {_listed(names, code)}"
        for ref, names in sorted(watched, key=lambda pair: (-len(pair[1]), pair[0]))
    ]
    yield from listed_items("Alerts that watch what changes", items)
