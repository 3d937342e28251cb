"""Does live still hold what was applied? Compared with the journal, not with the manifests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reconciler.api.client import Api
from reconciler.concealing import conceal, shown, veiled
from reconciler.document import ABSENT, differences, merge, turned
from reconciler.journal.history import History, Memory
from reconciler.kinds import BY_NAME
from reconciler.planning.consequences import unexpected, unseen_in
from reconciler.planning.deciding import without_own_secrets
from reconciler.planning.identity import identify
from reconciler.planning.plan import observe_all, proof
from reconciler.resource import Absent, Drift, Manifest, Observation, Seen, Unread


async def find_drift(
    api: Api, manifests: Sequence[Manifest], history: History, salt: str, *, prove: bool = False
) -> tuple[Drift, ...]:
    """Compare live with the last applied document of each manifest.

    Edits of manifests that were not applied yet are no drift, nor is a secret
    that has another value by now; `salt` is that of the seals. With `prove`, target and
    key are tried even where nothing can be read. Raises what `Api.read` raises.
    """
    history = identify(manifests, history).history
    asked = [
        one
        for one in manifests
        if BY_NAME[one.ref.kind].readable_by(api.assumptions)
        and history.of(one.ref).last is not None
    ]
    observations = dict(
        zip((one.ref for one in asked), await observe_all(api, asked, history), strict=True)
    )
    if prove:
        await proof(api, manifests, observations.values())
    return tuple(
        _drift(manifest, observations.get(manifest.ref), history.of(manifest.ref), salt)
        if BY_NAME[manifest.ref.kind].readable_by(api.assumptions)
        else Drift(manifest.ref, manifest.source, "unseen", note=BY_NAME[manifest.ref.kind].limits)
        for manifest in sorted(manifests, key=lambda one: one.ref)
    )


def _drift(manifest: Manifest, observation: Observation | None, memory: Memory, salt: str) -> Drift:
    kind = BY_NAME[manifest.ref.kind]
    ref, source, last = manifest.ref, manifest.source, memory.last
    if last is None:
        return Drift(ref, source, "unapplied", note="the journal has no write of it")
    match observation:
        case Seen(document=document, edit=edit, overwritten=overwritten):
            declared = kind.complete(manifest, observation, memory)
            live = conceal(document, declared, kind.shape)
            wanted = merge(ABSENT, last.declared, live, kind.shape)
            otherwise = [*unexpected(differences(live, wanted, kind.shape), memory, kind.shape)]
            unseen = unseen_in(observation, otherwise)
            expected = (one for one in otherwise if not observation.cannot_tell(one.path))
            # What is declared a secret by now may have been one before anybody said so.
            written = (*memory.candidates, declared)
            hidden = shown(without_own_secrets(expected, salt), written, kind.shape)
            found = tuple(turned(hidden))
            lost = any(one in overwritten for one in unseen)
            notes = ["overwritten by someone since"] if overwritten else []
            notes.extend([f"live was last changed {edit}"] if (found or lost) and edit.told else [])
            note = "; ".join(notes)
            seen = veiled(live, written, kind.shape)
            state: Literal["same", "drifted"] = "drifted" if found or lost else "same"
            return Drift(ref, source, state, found, note, seen, unseen=unseen)
        case Absent(why=why):
            return Drift(ref, source, "gone", note=why)
        case Unread(why=why, exit_code=exit_code):
            note = f"it could not be read: {why}"
            return Drift(ref, source, "unread", note=note, exit_code=exit_code)
        case _:
            return Drift(ref, source, "unseen", note="it could not be asked for")
