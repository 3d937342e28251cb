"""What is found against what is declared already: what is new, and what each new thing is called.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from reconciler.errors import ExitCode
from reconciler.importing.names import Titled, named, own_names
from reconciler.importing.records import ImportRecord, Left
from reconciler.importing.references import KnownRefs, Mention, circles_in
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.model import Manifest, Ref, RemoteId
from reconciler.redaction.templates import references_in
from reconciler.workspace.envelope import LONGEST_NAME, NAME

ImportOrigin: TypeAlias = Literal["live", "export"]
Stretch: TypeAlias = tuple[int, int]
"""Where something is kept: the byte that it begins at, and how many there are."""

ObjectId: TypeAlias = tuple[str, RemoteId]
"""An object of the service: its kind, and its id, which is "" where there is only one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Brief:
    """A record less its document, so that thousands of them are short.

    The `spec` of `record` is empty; the document is a `stretch` of where it is kept. `mark`
    follows from what it holds, `slugs` are other identities by what people call them, and
    `mentions` are ids of others in it. `can_be_read` says whether the service can be asked for it.
    """

    record: ImportRecord
    title: str
    mark: str
    mentions: tuple[Mention, ...]
    slugs: tuple[tuple[str, str], ...]
    origin: ImportOrigin
    can_be_read: bool
    revision: str
    stretch: Stretch

    @property
    def kind(self) -> Kind:
        """The kind of it."""
        return self.record.kind

    @property
    def thing(self) -> ObjectId | None:
        """Which object it is, None where nothing tells."""
        if self.kind.singleton and not self.record.elsewhere:
            return self.kind.name, ""
        known = self.record.remote_id
        is_here = known is not None and not self.record.elsewhere
        return (self.kind.name, known) if is_here and known is not None else None

    @property
    def said(self) -> str:
        """What it is called in reports before it has a name."""
        name = f" `{self.title}`" if self.title else f" {self.record.remote_id or ''}".rstrip()
        return f"{self.kind.name}{name} ({self.record.where})"

    @property
    def is_remembered(self) -> bool:
        """Whether the journal is told of it: what was seen, and exports of what never can be."""
        if self.record.elsewhere or self.record.is_converted:
            return False
        return self.origin == "live" or (not self.can_be_read and self.thing is not None)


@dataclass(frozen=True, slots=True)
class NamedImport:
    """What is to be imported under a name."""

    brief: Brief
    ref: Ref


@dataclass(slots=True)
class Matched:
    """What is new, what is declared already by which manifest, and what stays out."""

    new: list[NamedImport] = field(default_factory=list)
    declared: list[tuple[Brief, Manifest]] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    known: KnownRefs = field(default_factory=lambda: KnownRefs({}))


@dataclass(frozen=True, slots=True)
class There:
    """What is declared, and what the journal remembers.

    `elsewhere` are manifests of other environments.
    """

    manifests: Sequence[Manifest]
    elsewhere: Sequence[Ref]
    history: History

    def id_of(self, manifest: Manifest) -> RemoteId | None:
        """Give the id of what a manifest is about, as far as it or the journal tells."""
        kind = BY_NAME[manifest.ref.kind]
        declared = kind.declared_id(manifest)
        known = self.history.of(manifest.ref).remote_id if declared is None else declared
        return None if known is None else kind.normal_id(known)

    def ids(self) -> dict[Ref, RemoteId]:
        """Map manifests to the ids that are known."""
        found = ((manifest.ref, self.id_of(manifest)) for manifest in self.manifests)
        return {ref: known for ref, known in found if known is not None}

    def objects(self) -> dict[ObjectId, Manifest]:
        """Map objects to the manifests that are about them."""
        found: dict[ObjectId, Manifest] = {}
        for manifest in self.manifests:
            known = self.id_of(manifest)
            if BY_NAME[manifest.ref.kind].singleton:
                found[manifest.ref.kind, ""] = manifest
            elif known is not None:
                found[manifest.ref.kind, known] = manifest
        return found

    def by_slug(self) -> dict[tuple[str, str, str], Manifest]:
        """Map other identities than ids to manifests."""
        return {
            (manifest.ref.kind, what, value.casefold()): manifest
            for manifest in self.manifests
            for what, value in BY_NAME[manifest.ref.kind].identities(manifest).items()
        }

    def remembered(self) -> dict[ObjectId, str]:
        """Map objects to the names that the journal knows them by, where no manifest has those."""
        taken = {*(manifest.ref for manifest in self.manifests), *self.elsewhere}
        found: dict[ObjectId, str] = {}
        for ref, memory in self.history.memories.items():
            kind = BY_NAME.get(ref.kind)
            fits = NAME.fullmatch(ref.name) is not None and len(ref.name) <= LONGEST_NAME
            if kind is None or ref in taken or memory.pending is not None or not fits:
                continue
            if kind.singleton:
                found[ref.kind, ""] = ref.name
            elif memory.remote_id is not None:
                found[ref.kind, kind.normal_id(memory.remote_id)] = ref.name
        return found

    def taken(self) -> set[Ref]:
        """Give the names that mean something already."""
        memories = self.history.memories.items()
        return {
            *(manifest.ref for manifest in self.manifests),
            *self.elsewhere,
            *(ref for ref, memory in memories if not memory.is_blank),
        }


def matched(found: Sequence[Brief], there: There) -> Matched:
    """Tell what of `found` is new, and give each new thing its name."""
    result = Matched()
    new = [*_not_declared(found, there, result)]
    taken, remembered = there.taken(), there.remembered()
    by_ref = {manifest.ref: manifest for manifest in there.manifests}
    things = [_titled(resource, remembered) for resource in new]
    for resource, titled, ref in zip(new, things, named(things, taken), strict=True):
        own = own_names(titled)
        away = next((ref for ref in own if ref in there.elsewhere), None)
        twin = next((ref for ref in own if ref in taken), None)
        if resource.record.elsewhere and away is not None:
            said = "it is declared for other environments already"
            result.left.append(Left(str(away), said))
        elif resource.thing is None and twin is not None:
            result.left.append(_twin(resource, twin, by_ref.get(twin)))
        else:
            result.new.append(NamedImport(resource, ref))
    result.known = _known(result.new, there)
    return result


def _titled(one: Brief, remembered: Mapping[ObjectId, str]) -> Titled:
    known_as = remembered.get(one.thing, "") if one.thing is not None else ""
    record = one.record
    return Titled(
        one.kind.name, one.title, record.remote_id, one.mark, known_as, suffix=record.suffix
    )


def _not_declared(found: Sequence[Brief], there: There, result: Matched) -> Iterator[Brief]:
    """Yield what no manifest is about, each thing once."""
    objects, slugs = there.objects(), there.by_slug()
    by_ref = {manifest.ref: manifest for manifest in there.manifests}
    seen: set[tuple[object, ...]] = set()
    for resource in found:
        keys = [(resource.kind.name, what, value.casefold()) for what, value in resource.slugs]
        manifest = objects.get(resource.thing) if resource.thing is not None else None
        manifest = manifest or next((slugs[key] for key in keys if key in slugs), None)
        if manifest is None and resource.thing is None:
            # What shares its title with others was named by what it holds.
            names = own_names(_titled(resource, {}))
            manifest = next((by_ref[ref] for ref in names if ref in by_ref), None)
        if manifest is not None:
            result.declared.append((resource, manifest))
            continue
        own = {resource.thing or (resource.kind.name, resource.mark, "content"), *keys}
        if own & seen:
            said = "it is imported from elsewhere in this run"
            result.left.append(Left(resource.said, said))
            continue
        seen |= own
        yield resource


def _twin(one: Brief, ref: Ref, manifest: Manifest | None) -> Left:
    where = f"is declared at {manifest.source}" if manifest is not None else "is known already"
    said = f"{ref} {where}, and nothing tells whether this is the same, as it has no id"
    return Left(one.said, said, ExitCode.INVALID)


def _known(new: Sequence[NamedImport], there: There) -> KnownRefs:
    refs = {pair: manifest.ref for pair, manifest in there.objects().items()}
    for candidate in new:
        for pair in things_of(candidate.brief):
            refs[pair] = candidate.ref
    edges: dict[Ref, list[Ref]] = {
        manifest.ref: sorted(references_in(manifest.spec)) for manifest in there.manifests
    }
    for candidate in new:
        meant = (
            refs.get((mention.kind, mention.remote_id)) for mention in candidate.brief.mentions
        )
        edges[candidate.ref] = [other for other in meant if other is not None]
    return KnownRefs(refs, circles_in(edges))


def things_of(one: Brief) -> Iterator[ObjectId]:
    """Yield the objects that it is, in each environment."""
    if one.thing is not None:
        yield one.thing
    for remote_id in one.record.ids.values():
        yield one.kind.name, remote_id


def not_imported(matched: Matched) -> dict[ObjectId, Ref]:
    """Map what is referred to by its id, and has no manifest, to one that refers to it."""
    lacking: dict[ObjectId, Ref] = {}
    for candidate in matched.new:
        for mention in candidate.brief.mentions:
            if matched.known.ref_of(mention) is None:
                lacking.setdefault((mention.kind, mention.remote_id), candidate.ref)
    return lacking
