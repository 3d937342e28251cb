"""The places that `rollback --write` leaves because others use them, with users and overrides.

An override is proposed only if the manifest then declares what is wanted, read as any run reads it.
Source: docs/rollback.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Shape,
    by_identity,
    overlay,
    same,
)
from reconciler.features.rollback.write_back import (
    NewValue,
    Place,
    SharedPlace,
    WayBack,
    drafted,
)
from reconciler.kinds import BY_NAME
from reconciler.model import Ref
from reconciler.redaction.templates import pointing, written_out
from reconciler.workspace.compose import UnwritableError, laid_out
from reconciler.workspace.manifest_edits import Edited, WovenError
from reconciler.workspace.reuse import OVERRIDES


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplaced:
    """A resource with a manifest that is not edited in full, and why.

    `places` are those that others use too. `override` is the text of `overrides:` with which its
    manifest, in `file`, declares what is wanted in this environment alone; "" if there is none.
    `lacking` is the field by which overrides merge items, where items of the manifest lack it.
    """

    ref: Ref
    why: str
    places: tuple[SharedPlace, ...] = ()
    override: str = ""
    lacking: str = ""
    file: str = ""


def left_of(back: WayBack) -> list[Unplaced]:
    """Return the resources that are not edited in full, in order. Call it after `back.files()`."""
    _add_users(back)
    patches = {ref: _Patch(back, ref) for ref in back.shared}
    overrides = _holding(
        back, {ref: found for ref, patch in patches.items() if (found := patch.override())}
    )
    return [
        Unplaced(
            ref=ref,
            why=why,
            places=back.shared_places(ref) if ref in back.shared else (),
            override=_text(overrides[ref]) if ref in overrides else "",
            lacking=patches[ref].lacking if ref in patches else "",
            file=back.declared[ref][0].source.file if ref in back.declared else "",
        )
        for ref, why in sorted(back.why.items())
    ]


def _add_users(back: WayBack) -> None:
    """Add the other environments of a resource to the users of its fields.

    Fields that another resource of this environment uses were not searched in other environments.
    """
    users, paths = back.users_elsewhere(_draft(back))
    for ref in back.shared.keys() & users:
        for path, known in back.shared[ref].items():
            if any(path[: len(other)] == other[: len(path)] for other in paths[ref]):
                known.difference_update([user for user in known if user.ref == ref])
                known.add(users[ref])


def _draft(back: WayBack) -> list[Edited]:
    """Return the files with the shared fields as wanted, as far as they can be written."""
    project, wanted = back.session.project.file, dict[Ref, list[NewValue]]()
    for ref in back.shared:
        with suppress(WovenError, KeyError, IndexError, RecursionError):
            wanted[ref] = back.values_of(ref, back.with_shared(ref), in_place=False)
    with suppress(WovenError):
        return drafted(wanted)
    # The users of a variable below an anchor are known.
    others = {
        ref: [new for new in values if new[0].script.path != project]
        for ref, values in wanted.items()
    }
    with suppress(WovenError):
        return drafted(others)
    return []


@dataclass(slots=True)
class _Patch:
    """An override with the shared fields as wanted: of each item its identity and what differs.

    `lacking` is the identity that items of the manifest lack.
    """

    back: WayBack
    ref: Ref
    lacking: str = ""

    def override(self) -> Json:
        """Return the `overrides:` of the manifest, None for no text."""
        back, (manifest, original) = self.back, self.back.declared[self.ref]
        if manifest.source.item is not None or original.script.path.suffix == ".json":
            return None
        shape, wanted = BY_NAME[self.ref.kind].exact_shape, back.with_shared(self.ref)
        patch = self._towards(manifest.spec, back.now(manifest), wanted, shape)
        new = written_out(pointing({back.session.name: patch}, back.targets(self.ref)))
        known = Place(original.script, original.nth, (OVERRIDES,)).value
        return overlay(known, new)  # type: ignore[return-value]  # `new` is there

    def _towards(
        self, written: Json | Missing, now: Json | Missing, wanted: Json, shape: Shape
    ) -> Json:
        """Return the patch of a part; `now` is what is `written`, completed."""
        if isinstance(written, dict) and isinstance(now, dict) and isinstance(wanted, dict):
            changed = {
                key: self._towards(
                    written.get(key, ABSENT), now.get(key, ABSENT), value, shape.at(key)
                )
                for key, value in wanted.items()
                if not same(now.get(key, ABSENT), value, shape.at(key))
            }
            return {**changed, **dict.fromkeys(key for key in now if key not in wanted)}
        if isinstance(written, list) and isinstance(now, list) and isinstance(wanted, list):
            return self._items(written, now, wanted, shape)
        return wanted

    def _items(
        self, written: list[Json], now: list[Json], wanted: list[Json], shape: Shape
    ) -> Json:
        mine, old, new = (by_identity(items, shape) for items in (written, now, wanted))
        if mine is None and shape.identity:
            self.lacking = ".".join(shape.identity)
        if mine is None or old is None or new is None:
            return wanted
        return [
            overlay(  # type: ignore[misc]  # an item is there
                _identity_only(item, shape.identity),
                self._towards(mine.get(name, ABSENT), old.get(name, ABSENT), item, shape.item),
            )
            for name, item in new.items()
            if not same(old.get(name, ABSENT), item, shape.item)
        ]


def _identity_only(item: Json, path: tuple[str, ...]) -> Json:
    if not path or not isinstance(item, dict):
        return item
    return {path[0]: _identity_only(item[path[0]], path[1:])}


def _holding(back: WayBack, overrides: Mapping[Ref, Json]) -> dict[Ref, Json]:
    """Return the overrides with which the manifests declare what is wanted."""
    if not overrides:
        return {}
    try:
        files = drafted(
            {
                ref: [(Place(original.script, original.nth, (OVERRIDES,)), override)]
                for ref, override in overrides.items()
                for _, original in (back.declared[ref],)
            }
        )
    except WovenError:
        good: Sequence[Ref] = ()
    else:
        now = {manifest.ref: manifest for manifest in back.after(files).manifests}
        good = [
            ref
            for ref in overrides
            if ref in now
            and same(back.now(now[ref]), back.with_shared(ref), BY_NAME[ref.kind].exact_shape)
        ]
    if good or len(overrides) == 1:
        return {ref: overrides[ref] for ref in good}
    refs = [*overrides]
    halves = refs[: len(refs) // 2], refs[len(refs) // 2 :]
    return {
        ref: override
        for half in halves
        for ref, override in _holding(back, {ref: overrides[ref] for ref in half}).items()
    }


def _text(override: Json) -> str:
    try:
        return laid_out({OVERRIDES: override})
    except UnwritableError:
        return ""
