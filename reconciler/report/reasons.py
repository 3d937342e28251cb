"""Words of reasons and outcomes. Pure."""

import dataclasses
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from string import Formatter
from typing import Any, Final, TypeAlias

from reconciler import model
from reconciler.document import Path
from reconciler.kinds import BY_NAME
from reconciler.model.quoting import quoted
from reconciler.report.counts import describe_selection
from reconciler.report.labels import FieldLabel, Lists, facts_of_kind, places_in, spoken_place
from reconciler.report.words import first_few
from reconciler.runtime.advice import bring_back, from_journal, in_git, on_journal

MOST_NAMED = 4
LONGEST_VALUE = 160
SHORT_RUN = 8
"""Number of characters of a run's id that are shown. Any unique prefix names a run."""

FieldLabeler: TypeAlias = Callable[[Path], FieldLabel]
"""A function that returns the label of a path in the documents at hand."""

ValueMark: TypeAlias = Callable[[str], str]
"""A function that marks a foreign value in a sentence: `str` leaves it as it is."""

in_backticks: ValueMark = partial(quoted, longest=LONGEST_VALUE)
"""The mark of values in Markdown."""


def notes_of(change: model.Change) -> tuple[str, ...]:
    """Return the notes on a change, one sentence for each reason."""
    where = places_in(change)
    return tuple(words_of(reason, change.ref, where) for reason in change.reasons)


def reported_notes(change: model.Change, mark: ValueMark = str) -> tuple[str, ...]:
    """Return the notes on a change.

    For a new or kept resource, the notes that its evidence already shows are left out.
    """
    silent = change.action not in (model.Action.UPDATE, model.Action.BLOCKED)
    where = places_in(change)
    return tuple(
        words_of(reason, change.ref, where, mark)
        for reason in change.reasons
        if not (silent and _is_said_by_evidence(reason))
    )


def _is_said_by_evidence(reason: model.Reason) -> bool:
    """Return whether the evidence of a change that is not compared already implies the reason."""
    unremarkable = isinstance(reason, model.NeverWritten) and not reason.is_another
    return unremarkable or isinstance(reason, model.CannotBeAsked)


def drift_note(drift: model.Drift) -> str:
    """Return what the fields of a drift do not show; "" for nothing."""
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
"""Other causes need no words: the state shows them."""


def drift_age(drift: model.Drift) -> str:
    """Return since when a finding exists, "" where no drift was ever remembered."""
    if drift.is_new is None:
        return ""
    return f"{'new' if drift.is_new else 'known'} since {drift.since}"


WAYS = {"put-back": "put back", "take-over": "take over"}


def describe_remedy(remedy: model.Remedy) -> str:
    """Return a remedy for drift in words: ``put back: `reconciler apply a.yaml` ``."""
    before = f"{remedy.before} " if remedy.before else ""
    after = f", {remedy.after}" if remedy.after else ""
    return f"{WAYS[remedy.way]}: {before}`{remedy.command}`{after}"


NO_DRIFT_SEEN: Final = "whether anything drifted cannot be seen"


def look_notes(look: model.DriftReport) -> Iterator[str]:
    """Yield notes on a drift report as a whole: no journal, its selection, idle rules."""
    if not look.has_journal:
        yield f"{NO_DRIFT_SEEN}: {model.NoJournal.words}"
    if look.is_blind:
        yield f"declared resources have ids, so they may have been applied before: {bring_back()}"
    if look.selected is not None:
        yield describe_selection(look.selected)
    for rule in look.aimless:
        yield f"driftIgnore {in_backticks(rule)} is about nothing that is declared here"
    for rule in look.idle:
        yield f"driftIgnore {in_backticks(rule)} silenced nothing this time"


def message_of(outcome: model.Outcome) -> str:
    """Return the message of an outcome; "" for none."""
    if isinstance(outcome, model.Refused) and outcome.reasons:
        return words_of(outcome.reasons[0], outcome.ref)
    return outcome.message


def remedies_of(outcome: model.Outcome) -> tuple[str, ...]:
    """Return the remedies of an outcome; empty where none is needed or known."""
    return outcome.remedies if isinstance(outcome, model.Refused) else ()


def words_of(
    reason: model.Reason, ref: model.Ref, where: FieldLabeler = spoken_place, mark: ValueMark = str
) -> str:
    """Return one reason of a change as a sentence, with each foreign value marked."""
    settle = on_journal("settle", f"{ref} --id ID")
    return _filled(reason.words, reason, where, mark, settle=settle)


def _filled(
    template: str,
    reason: model.Reason | model.Remark,
    where: FieldLabeler = spoken_place,
    mark: ValueMark = str,
    **more: str,
) -> str:
    values = {field.name: getattr(reason, field.name) for field in dataclasses.fields(reason)}
    return _Words(where, mark).format(template, **more, **values)


class _Words(Formatter):
    """The formatter of reason templates: `{field}`, or `{field:form}`."""

    def __init__(self, where: FieldLabeler, mark: ValueMark) -> None:
        self._where, self._mark = where, mark

    def format_field(self, value: Any, format_spec: str) -> str:
        return _FORMS[format_spec](value, self._where, self._mark)


def listed(names: Iterable[object], mark: ValueMark = str) -> str:
    """Return names, joined by commas."""
    return ", ".join(mark(str(name)) for name in names)


def last_steps(paths: Iterable[Path], where: FieldLabeler, mark: ValueMark = str) -> str:
    """Return fields by their last step, and parts by their labels, each once."""
    found = ((path, where(path)) for path in paths)
    return listed(sorted({str(path[-1]) if at.field else at.subject for path, at in found}), mark)


def fields(paths: Iterable[Path], where: FieldLabeler, mark: ValueMark = str) -> str:
    """Return places, each once; after the first few, the number of the rest."""
    return first_few(list(dict.fromkeys(where(path).words for path in paths)), MOST_NAMED, mark)


_FORMS: Mapping[str, Callable[[Any, FieldLabeler, ValueMark], str]] = {
    "": lambda value, _, mark: mark(str(value)),
    "ours": lambda words, *_: words,
    "listed": lambda values, _, mark: listed(values, mark),
    "few": lambda refs, _, mark: first_few(refs, MOST_NAMED, mark),
    "first": lambda values, _, mark: first_few(values, MOST_NAMED, mark, "; "),
    "short": lambda runs, _, mark: listed((run[:SHORT_RUN] for run in runs), mark),
    "quoted": lambda texts, *_: " and ".join(
        map(quoted, [texts] if isinstance(texts, str) else texts)
    ),
    "someone": lambda actor, _, mark: mark(actor) if actor else "someone",
    "places": fields,
    "fields": last_steps,
    "edit": lambda edit, _, mark: edit.marked(mark),
    "by": lambda edit, _, mark: f", last {edit.marked(mark)}" if edit.told else "",
    "last": lambda edit, _, mark: f"; last changed {edit.marked(mark)}" if edit.told else "",
}
"""Formatters of a reason's fields, by the form that the template names."""


SHORT_COMMIT = 12
"""This many characters of a commit identify it in a command."""

COMMIT = re.compile("[0-9a-f]{7,64}")
"""A commit as a command may name it: a journal may contain any text."""


def describe_remark(remark: model.Remark, mark: ValueMark = str) -> str:
    """Return a remark on a plan as a whole in words, with each foreign value marked."""
    match remark:
        case model.RollsBack():
            return _rolling_back(remark, mark)
        case model.SignalsUnread(what=what, why=why):
            causes = (f"{signal}: {mark(reason)}" for signal, reason in zip(what, why, strict=True))
            return (
                "the track record is not complete, as the service did not show all: "
                f"{'; '.join(causes)}"
            )
        case _:
            return _filled(remark.words, remark, mark=mark)


def _rolling_back(remark: model.RollsBack, mark: ValueMark) -> str:
    """Return which run is rolled back, and that manifests stay as they are."""
    of = f", commit {mark(remark.commit[:SHORT_COMMIT])}" if remark.commit else ""
    by = f" by {mark(remark.actor)}" if remark.actor else ""
    kept = "; `--live` puts back what was live right before it" if remark.live_kept else ""
    was = "declared" if remark.state == "declared" else "live"
    back = (
        f"puts back what was {was} before the run {mark(remark.run[:SHORT_RUN])} "
        f"({mark(remark.command)}{by}, {mark(remark.at)}{of}){kept}"
    )
    stays = "; manifests stay as they are, and the next apply of them brings the change back"
    return back + stays if remark.refs else back


def after_rollback(remark: model.RollsBack, mark: ValueMark = str) -> Iterator[str]:
    """Yield how to change the manifests that still declare what is rolled back.

    First come the places, with the command that edits them; then the range of commits to search in
    git, as the commit of a run need not be the one with the change.
    """
    if not remark.refs:
        return
    if not remark.files:
        named = first_few(remark.refs, MOST_NAMED, mark)
        yield f"no manifest was found that still declares the change of {named}"
        return
    edited = [place for place in remark.places if place not in remark.by_hand]
    if edited:
        places = first_few(edited, MOST_NAMED, mark)
        yield f"`{_write_command(remark)}` edits what still declares the change: {places}"
    if remark.by_hand:
        places = first_few(remark.by_hand, MOST_NAMED, mark)
        why = "others use it too, or it cannot be placed"
        yield f"by hand or by `overrides:` ({why}): {places}"
    if not remark.places:
        places = first_few(remark.files, MOST_NAMED, mark)
        yield f"edit by hand what still declares the change: {places}"
    commit, _, dirty = remark.commit.partition("-")
    if not COMMIT.fullmatch(commit):
        return
    before = remark.commit_before.partition("-")[0]
    since = f"{before[:SHORT_COMMIT]}.." if COMMIT.fullmatch(before) and before != commit else ""
    # Edits that were not committed at the time can only be in a later commit.
    until, edits = (
        ("HEAD", ", or edits that were not committed then")
        if dirty
        else (commit[:SHORT_COMMIT], "")
    )
    paths = remark.files
    if len(paths) > MOST_NAMED:
        paths = (posixpath.commonpath(map(posixpath.dirname, paths)) or ".",)
    limited = f" -- {shlex.join(paths)}" if paths else ""
    yield f"look for the change in `{in_git('log', f'{since}{until}{limited}')}`{edits}"


def _write_command(remark: model.RollsBack) -> str:
    refs = map(str, remark.refs if len(remark.refs) <= MOST_NAMED else ())
    live = ["--live"] if remark.state == "live" else []
    words = [remark.run[:SHORT_RUN], *refs, *live, "--write"]
    return from_journal("rollback", shlex.join(words))
