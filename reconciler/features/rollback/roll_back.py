"""Roll back: manifests with the state before a run, from the journal, planned like any others.

Manifests in files are not read: they may be wrong, and the seals in the journal name their secrets.
A guard refuses later writes that would bring back what was rolled back. Source: docs/guards.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

from reconciler import model
from reconciler.document import ABSENT, Json, Missing, Shape, by_identity
from reconciler.errors import ReconcilerError, UsageError
from reconciler.features.rollback.write_back import WayBack
from reconciler.journal.entries import Entry, Started
from reconciler.journal.history import History, Memory, RunSummary, runs_of
from reconciler.journal.journal import Journal
from reconciler.journal.line_fields import are_edited
from reconciler.journal.writes import (
    MOST_NAMED,
    Before,
    before_run,
    chosen_run,
    commit_before,
    ids_since,
    is_apply,
    is_compacted,
)
from reconciler.kinds import BY_NAME
from reconciler.kinds.judge_spec import unacceptable
from reconciler.model.guards import ARGUMENTS, EXPLICIT_LEVEL, REVIEW_LEVEL, ResourceRemedy
from reconciler.model.quoting import listed, quoted
from reconciler.operations.open_session import Session, files_naming
from reconciler.operations.secret_sources import secrets_of
from reconciler.planning.consequences import blocked_change, members_by_name
from reconciler.planning.decide import PlanTarget
from reconciler.planning.guards import PlanUnderGuard, UnderReview
from reconciler.planning.guards.plan_limits import allowing, overriding, reviewing, splitting
from reconciler.planning.make_plan import plan_digest
from reconciler.project import Guards
from reconciler.project.settings import UNDOES_ROLLBACK
from reconciler.redaction.templates import pointing, references_in, resolve, secret_values, unsealed
from reconciler.report.reasons import SHORT_RUN
from reconciler.runtime.advice import from_journal
from reconciler.workspace.expression_scope import Scope, Withheld, withheld_from
from reconciler.workspace.workspace import Workspace

ROLLBACK: Final = "rollback"
"""The beginning of a rollback's command in the journal; the id of the run follows."""


def with_restored(
    made: model.Plan,
    place: PlanTarget,
    found: Found,
    remark: model.RollsBack,
    beside: Sequence[model.Manifest],
) -> model.Plan:
    """Return the plan of the whole rollback, from the plan of the resources that are put back.

    `beside` are the other known resources.
    """
    changes = [*(_said(change, found) for change in made.declared), *found.blocked]
    changes.sort(key=lambda change: (_order(change), change.ref.name))
    return replace(
        made,
        changes=(*changes, *made.orphans),
        digest=plan_digest(place, changes, made.selected),
        remarks=(remark, *made.remarks),
        beside=tuple(manifest.ref for manifest in beside),
        perhaps_beside=(),
    )


def _said(change: model.Change, found: Found) -> model.Change:
    """Add the state to which a resource is put back, and its members that are created again."""
    put_back = found.said[change.ref]
    # A rollback of a rollback brings back what the first one removed, and says so itself.
    others = [reason for reason in change.reasons if not isinstance(reason, model.UndoesRollback)]
    # The first reason of a blocked change is why it is blocked.
    at = len(others) if change.action is model.Action.BLOCKED else 0
    reasons: list[model.Reason] = [*others[:at], put_back, *others[at:]]
    kind, live = BY_NAME[change.ref.kind], change.observation
    is_update = change.action is model.Action.UPDATE and kind.destroyable
    if is_update and isinstance(live, model.Seen):
        there = members_by_name(kind, live.document)
        made = tuple(name for name in members_by_name(kind, change.body) if name not in there)
        reasons.extend([model.MadeAnew(made)] if made else [])
    declared = found.owned.get(change.ref, change.declared)
    return replace(change, declared=declared, reasons=tuple(reasons))


def at_places_of(document: Json, declared: Json | Missing, shape: Shape) -> Json:
    """Return the parts of a whole document at the places that are declared.

    A declared list is declared whole. What is not declared stays undeclared, so that no later apply
    removes it because it is no longer declared.
    """
    if isinstance(document, dict) and isinstance(declared, dict):
        return {
            key: at_places_of(value, declared[key], shape.at(key))
            for key, value in document.items()
            if key in declared
        }
    if isinstance(document, list) and isinstance(declared, list):
        theirs, ours = by_identity(document, shape), by_identity(declared, shape)
        if theirs is not None and ours is not None:
            return [
                at_places_of(item, ours[name], shape.item) if name in ours else item
                for name, item in theirs.items()
            ]
    return document


def states_before(
    session: Session, journal: Journal, name: str, refs: Sequence[model.Ref], *, live: bool
) -> Found:
    """Return the states before a run, of `refs` or of all that it wrote. Raises as `before_of`."""
    run = chosen_run(journal, name)
    secrets: Mapping[str, str] | None = session.secrets
    if secrets is None:
        secrets = secrets_of(session.project, session.name, session.environment, os.environ)
    found = Found(journal, run, session.project.root, live, secrets)
    written = [before for before in before_run(journal.entries, run) if before.ref.kind in BY_NAME]
    chosen = _chosen(journal, run, written, refs)
    for before in chosen:
        found.take(before)
    found.live_kept = not live and any(before.live is not None for before in chosen)
    _point(found)
    return found


def before_of(
    session: Session,
    journal: Journal,
    name: str,
    refs: Sequence[model.Ref] = (),
    *,
    live: bool = False,
) -> Session:
    """Return a session with manifests that declare the state before a run.

    `name` is the id of the run, the beginning of its id, or `last`. Without `refs`, all resources
    that the run wrote are restored. `live` restores the live documents from right before the run,
    where they are kept, instead of the declared documents.

    Raises UsageError where there is no such run, where several match, where it wrote nothing of the
    wanted resources, or where the journal no longer knows what it wrote.
    """
    found = states_before(session, journal, name, refs, live=live)
    beside = _beside(journal.history, found)
    remark = _remark(session, found)
    return replace(
        session,
        workspace=Workspace(manifests=tuple(found.manifests)),
        others=tuple(beside),
        rework=partial(with_restored, found=found, remark=remark, beside=beside),
        recorded_as=f"{ROLLBACK} {found.run.entry.run[:SHORT_RUN]}",
    )


def way_back(session: Session, found: Found) -> WayBack:
    """Return the edits by which the manifests declare the states before a run again."""
    history = found.journal.history
    ids = {ref: known.remote_id for ref, known in history.memories.items() if known.remote_id}
    wanted: dict[model.Ref, dict[str, Json]] = {
        manifest.ref: resolve(found.owned.get(manifest.ref, manifest.spec), ids)
        for manifest in found.manifests
    }
    scope = Scope(
        session.name,
        session.environment.variables,
        found.secrets,
        salt=lambda: found.journal.salt,
        withheld=found.withheld,
        ruled=False,
        may_lack=True,
    )
    return WayBack(session=session, history=history, scope=scope, wanted=wanted)


def _remark(session: Session, found: Found) -> model.RollsBack:
    run = found.run
    applied = is_apply(run)
    back = way_back(session, found)
    back.files()
    by_hand = back.places_left()
    places = sorted({*back.places(), *by_hand})
    lost = sorted(ref for ref in back.why if ref not in back.values)
    unread = files_naming(session.project, lost) if lost else ()
    lives = any(put_back.state == "live" for put_back in found.said.values())
    return model.RollsBack(
        run=run.entry.run,
        at=run.entry.at,
        command=run.entry.command or "apply",
        actor=run.entry.actor,
        # A rollback runs in a commit, but its manifests come from the journal and not from it.
        commit=run.entry.commit if applied else "",
        live_kept=found.live_kept,
        state="live" if lives or (found.live and not found.said) else "declared",
        commit_before=commit_before(found.journal.entries, run) if applied else "",
        files=tuple(dict.fromkeys((*(file for file, _ in places), *unread))),
        refs=tuple(sorted(manifest.ref for manifest in found.manifests)),
        places=tuple(f"{file}:{line}" for file, line in places),
        by_hand=tuple(f"{file}:{line}" for file, line in by_hand),
    )


@dataclass(slots=True)
class Found:
    """The states before a `run` that a rollback restores, collected resource by resource.

    `live_kept` means that the journal has the live documents of that time, and that the declared
    documents are restored instead. `said` is the reason of each. `owned` are the documents that
    the journal will record as declared, where that is only a part of the restored document.
    `blocked` are the changes that cannot be put back.
    """

    journal: Journal
    run: RunSummary
    root: Path
    live: bool
    secrets: Mapping[str, str] = field(repr=False)
    live_kept: bool = False
    manifests: list[model.Manifest] = field(default_factory=list)
    blocked: list[model.Change] = field(default_factory=list)
    said: dict[model.Ref, model.PutBack] = field(default_factory=dict)
    owned: dict[model.Ref, dict[str, Json]] = field(default_factory=dict)
    withheld: Withheld = field(default_factory=lambda: withheld_from(os.environ))

    def take(self, before: Before) -> None:
        """Add the earlier state of one resource, or why it cannot be restored."""
        backup, memory = before.backup, self.journal.history.of(before.ref)
        if self.live and backup is not None and backup.live is not None:
            if backup.unseen:
                self._block(before, model.NotSeenThen(backup.unseen))
                return
            # Without a declaration before the run, the present one counts.
            last = before.last if before.last is not None else memory.last
            declared = {} if last is None else last.declared
            owned = at_places_of(backup.live, declared, BY_NAME[before.ref.kind].shape)
            source = model.PutBack("live", backup.at, before.later)
            self._put_back(before, backup.live, source, owned)
        elif before.last is not None:
            source = model.PutBack("declared", before.last.at, before.later)
            self._put_back(before, before.last.declared, source)
        elif before.created:
            self._block(before, model.MadeByRun(memory.remote_id))
        else:
            is_live = before.live is not None
            self._block(before, model.NothingBefore(compacted=before.compacted, live=is_live))

    def _put_back(
        self,
        before: Before,
        document: dict[str, Json],
        source: model.PutBack,
        owned: Json = None,
    ) -> None:
        spec, lost = unsealed(document, self._secret, self.journal.salt)
        if lost or any(self.withheld.findings(spec)):
            self._block(before, model.SecretsLost(tuple(sorted(lost - {""}))))
            return
        found = [*unacceptable(BY_NAME[before.ref.kind], spec)]
        if found:
            errors = tuple(f"{finding.message} [{finding.code}]" for finding in found)
            self._block(before, model.FailsChecks(tuple(finding.path for finding in found), errors))
            return
        self.manifests.append(self._manifest(before, spec))
        self.said[before.ref] = source
        if isinstance(owned, dict):
            opened, _ = unsealed(owned, self._secret, self.journal.salt)
            is_whole = secret_values(spec) != secret_values(opened)
            self.owned[before.ref] = spec if is_whole else opened

    def _secret(self, name: str) -> str:
        if self.withheld.why(name, ""):
            return ""
        secret = self.secrets.get(name, "")
        return "" if self.withheld.why(name, secret) else secret

    def _manifest(self, before: Before, spec: dict[str, Json]) -> model.Manifest:
        memory = self.journal.history.of(before.ref)
        place = Path(self.journal.place)
        inside = place.relative_to(self.root) if place.is_relative_to(self.root) else None
        source = model.Source(str(inside or self.journal.place), before.line)
        plain = model.Manifest(before.ref, spec, source, protect=memory.protected)
        known = memory.remote_id if memory.instead_of is None else memory.instead_of
        declared = replace(plain, remote_id=known)
        kind = BY_NAME[before.ref.kind]
        # Some kinds cannot create an object again with its old id. Without the id they can.
        forbidden = known is not None and not kind.id_form.required and kind.cannot_create(declared)
        return plain if forbidden else declared

    def _block(self, before: Before, reason: model.Reason) -> None:
        manifest = self._manifest(before, {})
        known = model.Unknown(self.journal.history.of(before.ref).remote_id, "")
        self.blocked.append(blocked_change(manifest, {}, known, model.Evidence.NONE, reason))


def _point(found: Found) -> None:
    """Write references in place of ids, or new ids where ids have changed.

    The journal has ids in place of references. A document refers only to resources of kinds that
    are applied earlier, so there is no circle.
    """
    journal, owned = found.journal, found.owned
    since = {str(old): str(new) for old, new in ids_since(journal.entries, found.run).items()}
    targets: dict[str, model.Ref | str] = {**since}
    by_kind = groupby(sorted(found.manifests, key=_order), _order)
    found.manifests = []
    for _, manifests in by_kind:
        refs: dict[str, model.Ref] = {}
        for manifest in manifests:
            ref, spec = manifest.ref, pointing(manifest.spec, targets)
            found.manifests.append(replace(manifest, spec=spec, references=references_in(spec)))
            if ref in owned:
                owned[ref] = pointing(owned[ref], targets)
            refs[str(journal.history.of(ref).remote_id)] = ref
        targets |= {**refs, **{old: refs[new] for old, new in since.items() if new in refs}}


def _order(about: model.Manifest | model.Change) -> int:
    return [*BY_NAME].index(about.ref.kind)


def _chosen(
    journal: Journal, run: RunSummary, found: Sequence[Before], refs: Sequence[model.Ref]
) -> list[Before]:
    """Return the wanted resources of those that a run wrote.

    Where no resource is named, those that the run only recorded in the journal are left out, unless
    they were declared otherwise before. Raises UsageError for a resource that the run did not
    write.
    """
    if not refs:
        chosen = [before for before in found if before.last is not None or not before.adopted]
        if not chosen:
            raise UsageError(f"the run {run.entry.run} {_nothing_in(journal, run)}")
        return chosen
    by_ref = {before.ref: before for before in found}
    strange = [ref for ref in refs if ref not in by_ref]
    if strange:
        known = listed([str(before.ref) for before in found], MOST_NAMED)
        wrote = f"it wrote {known}" if found else f"it {_nothing_in(journal, run)}"
        raise UsageError(f"the run {run.entry.run} did not write {strange[0]}: {wrote}")
    return [by_ref[ref] for ref in dict.fromkeys(refs)]


def _nothing_in(journal: Journal, run: RunSummary) -> str:
    if is_compacted(journal.entries, run):
        return (
            "was before the journal was compacted: what it wrote, and what was declared before "
            "it, is no longer known"
        )
    return "wrote nothing, so there is nothing to roll back"


def _beside(history: History, found: Found) -> list[model.Manifest]:
    """Return the resources in the journal that a rollback does not examine.

    An object with two names, as in an old journal, counts as examined under both.
    """
    examined = {
        *(manifest.ref for manifest in found.manifests),
        *(change.ref for change in found.blocked),
    }
    about = {_object(ref, history.of(ref)) for ref in examined}
    return [
        model.Manifest(
            ref, memory.last.declared, model.Source(found.journal.place, 1), memory.remote_id
        )
        for ref, memory in history.memories.items()
        if memory.exists and memory.last is not None and ref.kind in BY_NAME
        if ref not in examined and _object(ref, memory) not in about
    ]


def _object(ref: model.Ref, memory: Memory) -> tuple[str, model.RemoteId | None]:
    kind, known = BY_NAME[ref.kind], memory.remote_id
    return ref.kind, None if known is None or kind.singleton else kind.id_form.normal(known)


_KEEP: Final = "keep what was rolled back"


def _all(_: str, refs: Sequence[model.Ref]) -> Collection[model.Ref]:
    return refs


def _edited(session: Session, undone: str, refs: Sequence[model.Ref]) -> Collection[model.Ref]:
    try:
        states = states_before(session, session.journal(), undone, refs, live=False)
    except ReconcilerError:
        return ()
    return {ref for file in way_back(session, states).files() for ref in file.refs}


async def with_undone(asked: PlanUnderGuard) -> model.Plan:
    """Return the plan with an objection for each rollback of a resource that it would undo."""
    session = asked.session
    edited = partial(_edited, session) if isinstance(session, Session) else _all
    found = undone_rollbacks(
        asked.plan, asked.environment.guards, asked.review, asked.entries, edited=edited
    )
    return replace(asked.plan, guarded=(*asked.plan.guarded, *found))


def undone_rollbacks(
    plan: model.Plan,
    guards: Guards,
    review: UnderReview,
    entries: Callable[[], Sequence[Entry]] = tuple,
    *,
    edited: Callable[[str, Sequence[model.Ref]], Collection[model.Ref]] = _all,
) -> tuple[model.GuardViolation, ...]:
    """Return one objection for each rollback of a resource that a write would undo.

    Its level is review where the reviewed change edits every such field, else explicit. `entries`
    reads those of the journal, and `edited` finds what `rollback RUN --write` edits.
    """
    if UNDOES_ROLLBACK in guards.allow:
        return ()
    found = [
        (change, reason)
        for change in plan.changes
        for reason in (change.reasons if change.action.writes else ())
        if isinstance(reason, model.UndoesRollback)
    ]
    if not found:
        return ()
    restoring = _restoring(entries())
    runs: dict[str, list[model.Ref]] = {}
    for change, reason in found:
        if undone := restoring.get((change.ref, reason.at)):
            runs.setdefault(undone, []).append(change.ref)
    written = {(ref, undone) for undone, refs in runs.items() for ref in edited(undone, refs)}
    objections = [
        _objection(
            change,
            reason,
            plan.environment,
            _how_to_keep(
                change.ref,
                undone
                if (change.ref, undone := restoring.get((change.ref, reason.at))) in written
                else None,
            ),
        )
        for change, reason in found
    ]
    listed = review.listed(objections) if review.listed is not None else ()
    base = review.base() if review.base is not None else None
    ids = {change.ref: change.remote_id for change in plan.declared if change.remote_id is not None}
    return tuple(
        objection
        if objection.key in listed or _is_edited(change, reason, base, ids)
        else replace(objection, own_level=EXPLICIT_LEVEL, remedies=objection.remedies[1:])
        for objection, (change, reason) in zip(objections, found, strict=True)
    )


def _objection(
    change: model.Change, reason: model.UndoesRollback, environment: str, keeping: str
) -> model.GuardViolation:
    fields = "1 field" if len(reason.paths) == 1 else f"{len(reason.paths)} fields"
    who, words = reason.actor or "someone", " would bring back what {} rolled back at {}, in {}"
    return model.GuardViolation(
        ref=change.ref,
        said=words.format(quoted(who), quoted(reason.at), fields),
        figures=words.format(who, reason.at, fields),
        remedies=(
            reviewing(),
            keeping,
            splitting(change.ref),
            allowing(UNDOES_ROLLBACK, environment),
            overriding(UNDOES_ROLLBACK),
        ),
        code=UNDOES_ROLLBACK,
        own_level=REVIEW_LEVEL,
    )


def _restoring(entries: Sequence[Entry]) -> dict[tuple[model.Ref, str], str]:
    """Map resources and times of rollbacks to the run that was rolled back.

    `rollback RUN --write` edits the manifests to declare the same. A resource is left out where the
    journal lacks the run, or where the rollback did not restore the declaration before the run.
    """
    runs = runs_of(entries)
    found: dict[tuple[model.Ref, str], str] = {}
    for run in runs:
        undone = run.entry.command.removeprefix(f"{ROLLBACK} ")
        named = [other for other in runs if other.entry.run.startswith(undone)]
        if undone == run.entry.command or len(named) != 1:
            continue
        before = {state.ref: state.last for state in before_run(entries, named[0])}
        written = (entry for entry in entries[run.begins : run.ends] if isinstance(entry, Started))
        for entry in written:
            last = before.get(entry.ref)
            if last is not None and last.declared == entry.declared:
                found |= {(entry.ref, taken.at): undone for taken in entry.takes_back}
    return found


def _how_to_keep(ref: model.Ref, undone: str | None) -> str:
    if undone is None:
        return f"{_KEEP}: revert the change in the manifests"
    return ResourceRemedy(
        *(
            f"{_KEEP}: `{from_journal('rollback', f'{undone} {refs} --write')}` edits the "
            "manifests, and lists what is to be edited by hand"
            for refs in (ref, ARGUMENTS)
        )
    )


def _is_edited(
    change: model.Change,
    reason: model.UndoesRollback,
    base: Mapping[model.Ref, Json] | None,
    ids: Mapping[model.Ref, model.RemoteId],
) -> bool:
    if base is None or change.manifest is None:
        return False
    before = base.get(change.ref, ABSENT)
    if before is not ABSENT:
        before = resolve(before, ids)
        # A reference to a resource outside this part of the plan has no id: it may be unchanged.
        if references_in(before):
            return False
    shape = BY_NAME[change.ref.kind].shape
    return are_edited(reason.paths, before, change.manifest.spec, shape)
