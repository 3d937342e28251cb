"""Drift: whether live still has what was applied. Compared with the journal, not with manifests."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from reconciler.api.client import Api
from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Missing,
    Path,
    differences,
    digest,
    merge,
    stored_name,
    turned,
)
from reconciler.journal.entries import Drifted
from reconciler.journal.history import History, Memory
from reconciler.journal.line_fields import SeenDrift
from reconciler.kinds import BY_NAME
from reconciler.model import (
    Absent,
    Drift,
    DriftReport,
    Ignored,
    Manifest,
    Observation,
    Seen,
    Unread,
)
from reconciler.model import Remedy as Way
from reconciler.model.plan import DriftCause
from reconciler.planning.consequences import unexpected, unseen_in
from reconciler.planning.decide import (
    LiveRedaction,
    Older,
    OlderSecrets,
    no_seals,
    without_own_secrets,
)
from reconciler.planning.make_plan import identify
from reconciler.planning.observe import observe_all, proof
from reconciler.project.settings import DriftIgnore
from reconciler.redaction.redact import conceal, veiled
from reconciler.runtime.advice import (
    declared_id,
    is_added,
    on_files,
    on_journal,
    on_manifests,
    on_service,
)


async def find_drift(
    api: Api,
    manifests: Sequence[Manifest],
    history: History,
    salt: str,
    *,
    ignore: Sequence[DriftIgnore] = (),
    prove: bool = False,
    older: Older = no_seals,
) -> DriftReport:
    """Compare live with the last applied document of each manifest.

    Edits of manifests that were not applied yet are no drift, nor is a secret that got another
    value since. `salt` is the salt of the seals, and `older` returns the seals of all secrets that
    a resource ever held. What `ignore` covers is counted, and is no drift. With `prove`, target and
    key are checked even where nothing can be read. Raises what `Api.read` raises.
    """
    history = identify(manifests, history).history
    examined = [
        manifest
        for manifest in manifests
        if BY_NAME[manifest.ref.kind].readable_by(api.assumptions)
        and history.of(manifest.ref).last is not None
    ]
    observations = await observe_all(api, examined, history)
    if prove:
        await proof(api, manifests, observations.values())
    compared = [
        _drift(manifest, observations.get(manifest.ref), history.of(manifest.ref), salt, older)
        if BY_NAME[manifest.ref.kind].readable_by(api.assumptions)
        else Drift(
            ref=manifest.ref,
            source=manifest.source,
            state="unseen",
            note=BY_NAME[manifest.ref.kind].limits,
        )
        for manifest in sorted(manifests, key=lambda manifest: manifest.ref)
    ]
    by_ref = {manifest.ref: manifest for manifest in manifests}
    found = [
        _aged(_with_remedies(_without_ignored(drift, ignore), by_ref[drift.ref]), history)
        for drift in compared
    ]
    used = {ignored.rule for drift in found for ignored in drift.ignored}
    about = {
        rule.shown for rule in ignore if any(rule.is_about(ref.kind, ref.name) for ref in by_ref)
    }
    rules = dict.fromkeys(rule.shown for rule in ignore)
    begun, has_ids = history.begun, any(manifest.remote_id is not None for manifest in manifests)
    return DriftReport(
        tuple(found),
        since=history.looked or "",
        idle=tuple(rule for rule in rules if rule in about - used),
        aimless=tuple(rule for rule in rules if rule not in about),
        has_journal=begun,
        is_blind=prove and not begun and has_ids,
    )


def _drift(
    manifest: Manifest,
    observation: Observation | None,
    memory: Memory,
    salt: str,
    older: Older,
) -> Drift:
    kind = BY_NAME[manifest.ref.kind]
    ref, last = manifest.ref, memory.last
    found_as = partial(Drift, ref=ref, source=manifest.source)
    if last is None:
        return found_as(state="unapplied", note="the journal has no write of it")
    match observation:
        case Seen(document=document, edit=edit, overwritten=overwritten):
            declared = kind.remote.complete(manifest, observation, memory)
            live = conceal(document, declared, kind.shape)
            wanted = merge(ABSENT, last.declared, live, kind.shape)
            otherwise = [*unexpected(differences(live, wanted, kind.shape), memory, kind.shape)]
            unseen = unseen_in(observation, otherwise)
            visible = (
                difference
                for difference in otherwise
                if not observation.cannot_tell(difference.path)
            )
            found = tuple(without_own_secrets(visible, salt))
            lost = any(place in overwritten for place in unseen)
            notes = ["overwritten by someone since"] if overwritten else []
            notes.extend([f"live was last changed {edit}"] if (found or lost) and edit.told else [])
            # A value that is declared as a secret now may have been applied before it was a secret.
            written = (*memory.candidates, declared)
            secrets = OlderSecrets(older(ref, memory.remote_id), declared, salt)
            redaction = LiveRedaction(kind, live, written, secrets)
            drift = found_as(
                state="same",
                note="; ".join(notes),
                live=redaction.document(),
                unseen=unseen,
            )
            if not found and not lost:
                return drift
            shown = tuple(turned(redaction.differences(found)))
            return replace(
                drift,
                state="drifted",
                differences=shown,
                cause="edited" if lost else _cause(shown, observation, memory),
                edit=edit,
                applied=veiled(last.declared, written, kind.shape),
            )
        case Absent(why=why):
            return found_as(state="gone", note=why, cause="gone")
        case Unread(why=why, exit_code=exit_code):
            return found_as(
                state="unread",
                note=f"it could not be read: {why}",
                exit_code=exit_code,
                cause="unreadable",
            )
        case _:
            return found_as(state="unseen", note="it could not be asked for")


def _cause(found: Sequence[Difference], seen: Seen, memory: Memory) -> DriftCause:
    """Return whether others edited live, or the service stored our write in another form.

    There are two sure signs of the latter: the revision is still that of our last write, or every
    field has the same value in another form (32-bit number, trimmed, normalised).
    """
    last = memory.acknowledged
    untouched = last is not None and last.revision != "" and last.revision == seen.revision
    restated = all(_is_restated(difference.before, difference.after) for difference in found)
    return "rewritten" if untouched or restated else "edited"


_LARGEST_SINGLE = 3.4e38


def _is_restated(applied: Json | Missing, live: Json | Missing) -> bool:
    if isinstance(applied, str) and isinstance(live, str):
        return stored_name(applied) == stored_name(live)
    if isinstance(applied, bool) or isinstance(live, bool):
        return False
    if isinstance(applied, int | float) and isinstance(live, int | float):
        fits = max(abs(applied), abs(live)) < _LARGEST_SINGLE
        return fits and struct.pack("f", applied) == struct.pack("f", live)
    return False


def _without_ignored(drift: Drift, rules: Sequence[DriftIgnore]) -> Drift:
    about = [rule for rule in rules if rule.is_about(drift.ref.kind, drift.ref.name)]
    covered = [
        (difference, next((rule for rule in about if is_covered(rule, difference)), None))
        for difference in drift.differences
    ]
    ignored = tuple(
        Ignored(difference, rule.shown, rule.reason)
        for difference, rule in covered
        if rule is not None
    )
    left = tuple(difference for difference, rule in covered if rule is None)
    drift = replace(drift, differences=left, ignored=ignored)
    # Fields that can no longer be read still raise the alarm.
    if left or drift.unseen or not ignored:
        return drift
    return replace(drift, state="same", cause=None, note="")


def is_covered(rule: DriftIgnore, found: Difference) -> bool:
    """Return whether a rule covers all of a difference, which may be an added or removed object."""
    sides = [value for value in (found.before, found.after) if value is not ABSENT]
    return rule.covers(found.path) or (len(sides) == 1 and covers_ends(rule, sides[0], found.path))


def covers_ends(rule: DriftIgnore, value: Json | Missing, path: Path) -> bool:
    """Return whether a rule covers every field inside a value at a path."""
    return all(map(rule.covers, _ends(value, path)))


def _ends(value: Json | Missing, path: Path) -> Iterator[Path]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _ends(inner, (*path, key))
    else:
        yield path


def _with_remedies(drift: Drift, manifest: Manifest) -> Drift:
    if not drift.drifted:
        return drift
    # The resources that it refers to have to be read with it.
    apply = on_manifests("apply") if manifest.references else on_files("apply", drift.source.file)
    ways = _of_gone(manifest, apply) if drift.state == "gone" else _of_edited(drift, apply)
    return replace(drift, remedies=tuple(ways))


def _of_edited(drift: Drift, apply: str) -> Iterator[Way]:
    again = "which the service may store so again" if drift.cause == "rewritten" else ""
    yield Way("put-back", apply, after=again)
    if not is_added("adopt"):
        return
    item = drift.source.item
    # A resource made by a template has no text of its own that could be rewritten.
    first = "" if item is None else f"write it into {item} by hand, then"
    yield Way("take-over", on_service("adopt", str(drift.ref)), before=first)


def _of_gone(manifest: Manifest, apply: str) -> Iterator[Way]:
    kind = BY_NAME[manifest.ref.kind]
    forget = on_journal("forget", str(manifest.ref))
    first = ""
    if kind.id_form.required:
        first = f"make one in the web interface, write `{declared_id()}` into `metadata`, then"
    elif kind.cannot_create(manifest):
        first = f"take its id out of the manifest, run `{forget}`, then"
    yield Way("put-back", apply, before=first)
    yield Way("take-over", forget, before="remove its manifest, then")


def _aged(drift: Drift, history: History) -> Drift:
    """Add whether a finding is new since drift was last recorded, and since when it is known."""
    if not drift.is_finding or not history.looked:
        return drift
    known = history.drifts.get(drift.ref)
    if known is not None and known.how == _how(drift):
        return replace(drift, is_new=False, since=known.since)
    return replace(drift, is_new=True, since=history.looked)


def _how(drift: Drift) -> str:
    """Return a digest of how a resource drifted; it is constant for one that could not be read."""
    fields: list[Json] = [
        [list(difference.path), _reported(difference.before), _reported(difference.after)]
        for difference in drift.differences
    ]
    unseen: list[Json] = [list(path) for path in drift.unseen]
    return digest({"state": drift.state, "fields": fields, "unseen": unseen})


def _reported(value: Json | Missing) -> Json:
    return [] if value is ABSENT else [value]


def remembered(look: DriftReport, history: History, at: str) -> Drifted:
    """Return the journal entry of a drift report: findings that are new, and findings that ended.

    A resource that was not examined is never recorded as ended.
    """
    findings = {drift.ref: _how(drift) for drift in look.found if drift.is_finding}
    new = tuple(
        SeenDrift(ref=ref, how=how, since=at)
        for ref, how in findings.items()
        if ref not in history.drifts or history.drifts[ref].how != how
    )
    examined = {drift.ref for drift in look.found}
    over = tuple(ref for ref in sorted(history.drifts) if ref in examined and ref not in findings)
    return Drifted(at=at, found=new, over=over)
