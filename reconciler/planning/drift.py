"""Does live still hold what was applied? Compared with the journal, not with the manifests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from reconciler.api.door import Api
from reconciler.document import ABSENT, Difference, Operation, differences, merge
from reconciler.journal.history import History, Memory
from reconciler.kinds import BY_NAME
from reconciler.planning.deciding import shown
from reconciler.planning.observing import observe_all
from reconciler.planning.rewritten import unexpected
from reconciler.planning.veiling import veiled
from reconciler.resource import Absent, Drift, Manifest, Observation, Seen, Unknown
from reconciler.template import conceal, is_sealed_text, secrets_of


async def find_drift(
    api: Api, manifests: Sequence[Manifest], history: History, salt: str
) -> tuple[Drift, ...]:
    """Compare live with the last applied document of each manifest.

    Edits of manifests that were not applied yet are no drift, nor is a secret
    that has another value by now; `salt` is that of the seals. Raises what
    `Api.read` raises.
    """
    asked = [
        one
        for one in manifests
        if BY_NAME[one.ref.kind].readable and history.of(one.ref).last is not None
    ]
    observations = dict(
        zip((one.ref for one in asked), await observe_all(api, asked, history), strict=True)
    )
    return tuple(
        _drift(manifest, observations.get(manifest.ref), history.of(manifest.ref), salt)
        for manifest in sorted(manifests, key=lambda one: one.ref)
    )


def _drift(manifest: Manifest, observation: Observation | None, memory: Memory, salt: str) -> Drift:
    kind = BY_NAME[manifest.ref.kind]
    ref, source, last = manifest.ref, manifest.source, memory.last
    if not kind.readable:
        return Drift(ref, source, "unseen", note=kind.limits)
    if last is None:
        return Drift(ref, source, "unapplied", note="the journal has no write of it")
    match observation:
        case Seen(document=document, attribution=who):
            live = conceal(document, secrets_of(manifest.spec))
            wanted = merge(ABSENT, last.declared, live, kind.shape)
            expected = unexpected(differences(live, wanted, kind.shape), memory)
            # What is declared a secret by now may have been one before anybody said so.
            written = (*memory.candidates, kind.complete(manifest, observation))
            hidden = shown(_without_secrets(expected, salt), written, kind.shape)
            found = tuple(_turned(hidden))
            note = f"live was last changed {who}" if found and who else ""
            seen = veiled(live, written, kind.shape)
            return Drift(ref, source, "drifted" if found else "same", found, note, seen)
        case Absent(why=why):
            return Drift(ref, source, "gone", note=why)
        case Unknown(why=why, exit_code=exit_code) if exit_code:
            note = f"it could not be read: {why}"
            return Drift(ref, source, "unseen", note=note, exit_code=exit_code)
        case _:
            return Drift(ref, source, "unseen", note="it could not be asked for")


def _without_secrets(found: Iterable[Difference], salt: str) -> Iterator[Difference]:
    """Leave out what is the sealed secret itself."""
    for one in found:
        texts = isinstance(one.before, str) and isinstance(one.after, str)
        if not (texts and is_sealed_text(str(one.before), str(one.after), salt)):
            yield one


_OPPOSITE: dict[Operation, Operation] = {"add": "remove", "remove": "add"}


def _turned(found: Iterable[Difference]) -> Iterator[Difference]:
    for one in found:
        operation = _OPPOSITE.get(one.operation, one.operation)
        yield replace(one, before=one.after, after=one.before, operation=operation)
