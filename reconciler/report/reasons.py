"""The words of reasons and outcomes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, assert_never

from reconciler.advice import on_journal
from reconciler.document import Path
from reconciler.foreign import quoted
from reconciler.kinds import BY_NAME
from reconciler.report.counts import selection_words
from reconciler.report.spoken import Lists, Place, facts_of_kind, places_in, spoken_place
from reconciler.resource import (
    Action,
    AnotherId,
    AnotherObject,
    CannotBeAsked,
    CannotBeCreated,
    Change,
    CouldNotBeRead,
    CreateLost,
    DependsOn,
    Drift,
    EditedBy,
    FailsChecks,
    GoneSince,
    Imported,
    IncidentsUnread,
    LastEdit,
    Look,
    LooksLike,
    LostUnseen,
    MadeAnew,
    MadeByRun,
    NeededUnseen,
    NeverSeen,
    NeverWritten,
    NothingBefore,
    NotInAnswer,
    NotSeenThen,
    NotSelected,
    Objected,
    Outcome,
    OverwritesEdit,
    OverwrittenSince,
    ProtectionTurns,
    PutBack,
    Reason,
    Recalled,
    Ref,
    Refused,
    RenamedFrom,
    RuleWarns,
    SameObject,
    SecretsLost,
    TakesOver,
    UndoesRollback,
    WayOut,
    WriteLost,
)

MOST_NAMED = 4
SHORT_RUN = 8
"""So many characters of a run's id are shown; as few as tell it apart will do to name it."""

Places: TypeAlias = Callable[[Path], Place]
"""How a path is said, by the documents that are at hand."""


def notes_of(change: Change) -> tuple[str, ...]:
    """Give what is to be said of a change, one sentence a reason."""
    where = places_in(change)
    return tuple(words_of(reason, change.ref, where) for reason in change.reasons)


def telling_notes(change: Change) -> tuple[str, ...]:
    """Leave out of what is new or kept what its evidence says already."""
    silent = change.action not in (Action.UPDATE, Action.BLOCKED)
    where = places_in(change)
    return tuple(
        words_of(reason, change.ref, where)
        for reason in change.reasons
        if not (silent and _is_said_by_evidence(reason))
    )


def _is_said_by_evidence(reason: Reason) -> bool:
    """Return whether the plan says a reason of what is not compared by its evidence already."""
    unremarkable = isinstance(reason, NeverWritten) and not reason.is_another
    return unremarkable or isinstance(reason, CannotBeAsked)


def drift_note(drift: Drift) -> str:
    """Say of a drift what its fields do not; "" for nothing."""
    facts = facts_of_kind(BY_NAME.get(drift.ref.kind))
    documents = drift.live, drift.applied
    lists = Lists()
    named = last_steps(
        drift.unseen, lambda path: spoken_place(path, *documents, facts=facts, lists=lists)
    )
    unseen = f"{named} cannot be seen" if drift.unseen else ""
    cause = _CAUSES.get(drift.cause or "gone", "") if drift.cause else ""
    return "; ".join(filter(None, (cause, unseen, drift.note, drift_age(drift))))


_CAUSES = {"edited": "edited by others", "rewritten": "rewritten by the service"}
"""What else there is, its state says."""


def drift_age(drift: Drift) -> str:
    """Say since when a finding is there, "" where no drift was ever remembered."""
    if drift.is_new is None:
        return ""
    return f"{'new' if drift.is_new else 'known'} since {drift.since}"


WAYS = {"put-back": "put back", "take-over": "take over"}


def way_out_words(way: WayOut) -> str:
    """Say what can be done about drift: ``put back: `reconciler apply a.yaml` ``."""
    before = f"{way.before} " if way.before else ""
    after = f", {way.after}" if way.after else ""
    return f"{WAYS[way.way]}: {before}`{way.command}`{after}"


def look_notes(look: Look) -> Iterator[str]:
    """Yield what is to be said of a look as a whole: of rules, and of what is new."""
    if look.selected is not None:
        yield selection_words(look.selected)
    for rule in look.aimless:
        yield f"driftIgnore `{rule}` is about nothing that is declared here"
    for rule in look.idle:
        yield f"driftIgnore `{rule}` silenced nothing this time"


def message_of(outcome: Outcome) -> str:
    """Give what is to be said of an outcome; "" for nothing."""
    if isinstance(outcome, Refused) and outcome.reasons:
        return words_of(outcome.reasons[0], outcome.ref)
    return outcome.message


def ways_out_of(outcome: Outcome) -> tuple[str, ...]:
    """Give what a person can do about an outcome; nothing where nothing is to be done or known."""
    return outcome.ways_out if isinstance(outcome, Refused) else ()


def words_of(  # noqa: C901, PLR0911, PLR0912 - one case a reason
    reason: Reason, ref: Ref, where: Places = spoken_place
) -> str:
    """Say one reason of a change."""
    match reason:
        case CannotBeAsked(said=said) | CannotBeCreated(said=said) | Objected(said=said):
            return said
        case CouldNotBeRead(said=said):
            return f"it could not be read: {said}"
        case DependsOn(refs=refs):
            return f"depends on {listed(refs)}, which is blocked"
        case NotSelected(refs=refs):
            return (
                f"refers to {listed(refs)}, which is not selected and has no id yet: "
                "it must exist or be selected"
            )
        case CreateLost():
            return _lost(reason, ref)
        case WriteLost(at=at):
            return f"the answer to an earlier write ({at}) was lost, or no read showed what it did"
        case GoneSince(at=at):
            return f"written {at} and gone since: it will be created again"
        case NeverSeen(at=at):
            return f"sent {at} and never seen since: it will be created again"
        case EditedBy(edit=edit):
            return f"live was last changed {edit}"
        case OverwritesEdit(paths=paths, edit=edit):
            undone = fields(paths, where)
            return f"undoes what someone changed since our last write{_by(edit)}: {undone}"
        case OverwrittenSince(paths=paths, edit=edit):
            return (
                f"overwritten by someone since our last write{_by(edit)}: "
                f"{last_steps(paths, where)} cannot be seen, and are sent again"
            )
        case TakesOver(edit=edit, differs=True):
            return f"it is there, differs, and this journal never wrote it{_last(edit)}"
        case TakesOver(edit=edit):
            return (
                "it is there, and this journal never wrote it; "
                f"whether it differs cannot be seen{_last(edit)}"
            )
        case NeverWritten():
            return _never_written(reason)
        case UndoesRollback(paths=paths, actor=actor, at=at):
            who = actor or "someone"
            return f"would bring back what {who} rolled back at {at}: {fields(paths, where)}"
        case Recalled(paths=paths):
            return f"{last_steps(paths, where)}: not in the answer, compared with the journal"
        case Imported(at=at):
            return f"compared with what was imported at {at}; it cannot be asked for"
        case NotInAnswer(paths=paths):
            return f"{last_steps(paths, where)}: not in the answer, and the journal has none"
        case NeededUnseen(paths=paths):
            return (
                "every write needs these, and the manifest leaves them out: declare "
                f"them in the manifest: {fields(paths, where)}"
            )
        case LostUnseen(names=names, fields=unseen):
            return (
                f"{', '.join(unseen)} of what is destroyed: not in the answer, and the journal "
                f"has none, so they cannot be restored: {', '.join(names)}"
            )
        case RenamedFrom(ref=was):
            return f"renamed: until its last apply it was {was}"
        case LooksLike(refs=refs):
            return f"much like what was {listed(refs)} at its last apply"
        case AnotherObject(remote_id=was):
            return f"until now this was about {was}"
        case AnotherId(declared=declared, found=found):
            return (
                f"the service has nothing with the declared id {declared}, and the journal or the "
                f"slug leads to {found}: declare that id, or correct or remove the declared one"
            )
        case SameObject():
            return _same(reason)
        case ProtectionTurns(begins=True):
            return "it is protected from this apply on"
        case ProtectionTurns():
            return "its protection ends with this apply; from the next one on it may be changed"
        case IncidentsUnread(said=said):
            return f"its incidents could not be listed ({said}): it may have open ones"
        case RuleWarns(rule=rule, said=said):
            return f"{said} [{rule}]"
        case NotSeenThen(paths=paths):
            return (
                f"{last_steps(paths, where)}: not in the answer then, and the journal had none, so "
                "what was live is not known whole: make it by hand"
            )
        case FailsChecks(said=said):
            more = f" and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
            return (
                f"what it was has errors, as `reconciler validate` finds them in a manifest: "
                f"{'; '.join(said[:MOST_NAMED])}{more}: declare it without them, and apply"
            )
        case PutBack() | MadeByRun() | NothingBefore() | SecretsLost() | MadeAnew():
            return _rolled_back(reason)
        case _:
            assert_never(reason)


def _never_written(reason: NeverWritten) -> str:
    said = "this journal neither wrote nor imported what has its id"
    if reason.is_another:
        names = " and ".join(map(quoted, reason.names))
        return (
            f"{said}: incidents and events call that {names}, and the manifest "
            f"{quoted(reason.declared)}: make sure that the id is the right one"
        )
    known = ", and incidents and events call that by the declared name" if reason.names else ""
    return f"{said}{known}"


def _rolled_back(reason: PutBack | MadeByRun | NothingBefore | SecretsLost | MadeAnew) -> str:
    match reason:
        case PutBack(state=state, at=at, later=later):
            was = "declared" if state == "declared" else "live, right before the run wrote it,"
            runs = ", ".join(one[:SHORT_RUN] for one in later)
            word = "run" if len(later) == 1 else "runs"
            more = f"; what was written since goes too ({word} {runs})" if later else ""
            return f"as it was {was} {at}{more}"
        case MadeByRun(remote_id=remote_id):
            known = "" if remote_id is None else f" as {remote_id}"
            return f"the run created it{known}, and the API has no delete: remove it by hand"
        case NothingBefore(compacted=compacted, live=live):
            said = (
                "the journal was compacted since, so what was declared before the run is not known"
                if compacted
                else "nothing was declared before the run, which took it over"
            )
            return f"{said}; --live puts back what was live then" if live else said
        case SecretsLost(names=()):
            return "it held a secret that no manifest declared, which is not kept"
        case SecretsLost(names=names):
            return (
                f"it held other values of {', '.join(names)}, which are not kept: set those in the "
                "environment, where they are known"
            )
        case MadeAnew(names=names):
            return f"gone, and made anew with other ids: {', '.join(names)}"


def _lost(reason: CreateLost, ref: Ref) -> str:
    lost = f"the answer to its create ({reason.at}) was lost"
    settle = f"`{on_journal('settle', f'{ref} --id ID')}`"
    match reason.became:
        case "happened":
            return f"{lost}; it did happen"
        case "never-happened":
            return f"{lost}; it did not happen"
        case "another":
            return (
                f"{lost}, and what is live now is not what was sent: look at it, then run {settle}"
            )
        case "unknown":
            return (
                f"{lost}, and the API cannot be asked: look for it, then run {settle} "
                "or `--never-happened`"
            )


def _same(reason: SameObject) -> str:
    thing = "list" if reason.remote_id is None else f"object {reason.remote_id}"
    return f"about the same {thing} as {listed(reason.refs)}: declare it once"


def _by(edit: LastEdit) -> str:
    return f", last {edit}" if edit.told else ""


def _last(edit: LastEdit) -> str:
    return f"; last changed {edit}" if edit.told else ""


def listed(refs: Iterable[Ref]) -> str:
    """Give names, joined by commas."""
    return ", ".join(map(str, refs))


def last_steps(paths: Iterable[Path], where: Places) -> str:
    """Name fields by their last step, and parts as people call them, each once."""
    found = ((path, where(path)) for path in paths)
    return ", ".join(sorted({str(path[-1]) if at.field else at.subject for path, at in found}))


def fields(paths: Iterable[Path], where: Places) -> str:
    """Name places, each once, and say how many more there are."""
    named = list(dict.fromkeys(where(path).words for path in paths))
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return ", ".join(named[:MOST_NAMED]) + more
