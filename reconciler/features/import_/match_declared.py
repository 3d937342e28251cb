"""Matching of imports with declared manifests: what is new, its names, and who refers to whom.

Ids of other resources become `${ref:}`, if they are known and close no circle. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Literal, TypeAlias

from reconciler.document import Json, Path
from reconciler.errors import ExitCode
from reconciler.features.import_.names import Titled, names_for, own_names
from reconciler.features.import_.records import ImportRecord, Left
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import references_in as mentioned_in
from reconciler.model import Manifest, Ref, RemoteId
from reconciler.redaction.templates import references_in, written_out
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.workspace.envelope import LONGEST_NAME, NAME


@dataclass(frozen=True, slots=True)
class Mention:
    """The id of another resource at a place of a document."""

    path: Path
    kind: str
    remote_id: RemoteId


def mentions_in(spec: Json, kind: Kind) -> Iterator[Mention]:
    """Yield the places where a document refers to others by id."""
    for path, other, value in mentioned_in(spec, kind.spec):
        remote_id = BY_NAME[other].id_form.parse(value)
        if remote_id is not None:
            yield Mention(path, other, remote_id)


@dataclass(frozen=True, slots=True)
class KnownRefs:
    """The resource of each object, and the resources that form circles."""

    refs: Mapping[tuple[str, RemoteId], Ref]
    circles: Mapping[Ref, int] = field(default_factory=dict)

    def ref_of(self, mention: Mention) -> Ref | None:
        """Return the resource that a mention refers to, None where it is unknown."""
        return self.refs.get((mention.kind, mention.remote_id))

    def leads_back(self, ref: Ref, other: Ref) -> bool:
        """Return whether a reference would close a circle with others."""
        return ref == other or (
            ref in self.circles and self.circles[ref] == self.circles.get(other, -1)
        )


IN_A_CIRCLE = "{ref} leads back here, and references may not form a circle: so its id is here"


def with_references(
    spec: dict[str, Json],
    ref: Ref,
    mentions: Iterable[Mention],
    known: KnownRefs,
    expressions: Mapping[Path, str],
) -> tuple[dict[str, Json], dict[Path, str]]:
    """Return a document to write: known ids as references, and all other text escaped.

    `expressions` are those that it contains already. The second result are comments on ids that
    have to stay.
    """
    references = dict(expressions)
    comments: dict[Path, str] = {}
    for mention in mentions:
        other = known.ref_of(mention)
        if other is None or mention.path in expressions:
            continue
        if known.leads_back(ref, other):
            comments[mention.path] = IN_A_CIRCLE.format(ref=other)
        else:
            references[mention.path] = expression(ExpressionKind.REFERENCE, str(other))
    written = _written(spec, (), references) if references else written_out(spec)
    assert isinstance(written, dict)  # noqa: S101 - an object stays one
    return written, comments


def _written(value: Json, path: Path, references: Mapping[Path, str]) -> Json:
    if isinstance(value, dict):
        return {key: _written(member, (*path, key), references) for key, member in value.items()}
    if isinstance(value, list):
        return [
            _written(element, (*path, index), references) for index, element in enumerate(value)
        ]
    return references[path] if path in references else written_out(value)


def circles_in(edges: Mapping[Ref, Iterable[Ref]]) -> dict[Ref, int]:
    """Return, for each resource in a circle of references, the number of that circle.

    Circles that share a resource are one.
    """
    back: dict[Ref, list[Ref]] = defaultdict(list)
    for ref, others in edges.items():
        for other in others:
            back[other].append(ref)
    circles: dict[Ref, int] = {}
    met: set[Ref] = set()
    # Kosaraju: from the last resource to the first, all that still lead to it are its circle.
    for start in reversed([*_walked(edges, edges, set())]):
        members = [*_walked([start], back, met)]
        if len(members) > 1:
            circles.update(dict.fromkeys(members, len(circles)))
    return circles


def _walked(
    starts: Iterable[Ref], edges: Mapping[Ref, Iterable[Ref]], met: set[Ref]
) -> Iterator[Ref]:
    """Yield the resources that were not met yet, each after all that it leads to."""
    for start in starts:
        trail = [] if start in met else [(start, iter(edges.get(start, ())))]
        met.add(start)
        while trail:
            ref, rest = trail[-1]
            other = next((other for other in rest if other not in met), None)
            if other is None:
                trail.pop()
                yield ref
            else:
                met.add(other)
                trail.append((other, iter(edges.get(other, ()))))


ImportOrigin: TypeAlias = Literal["live", "export"]
Stretch: TypeAlias = tuple[int, int]
"""A part of a file: its first byte, and its number of bytes."""

ObjectId: TypeAlias = tuple[str, RemoteId]
"""An object of the service: its kind, and its id, which is "" where there is only one object."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Brief:
    """A record without its document, so that thousands of them use little memory.

    The `spec` of `record` is empty; the document is a `stretch` of the file that stores it. `mark`
    is derived from its content, `slugs` are other identities that people use, and `mentions` are
    ids of other resources in it. `can_be_read` means that the service can return it.
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
        """The kind of the record."""
        return self.record.kind

    @property
    def thing(self) -> ObjectId | None:
        """The object of the service, None where it is unknown."""
        if self.kind.singleton and not self.record.elsewhere:
            return self.kind.name, ""
        known = self.record.remote_id
        is_here = known is not None and not self.record.elsewhere
        return (self.kind.name, known) if is_here and known is not None else None

    @property
    def said(self) -> str:
        """The name in reports before the import has a name."""
        name = f" `{self.title}`" if self.title else f" {self.record.remote_id or ''}".rstrip()
        return f"{self.kind.name}{name} ({self.record.where})"

    @property
    def is_remembered(self) -> bool:
        """Return whether the import journals it: read live, or not readable and with a known id."""
        if self.record.elsewhere or self.record.is_converted:
            return False
        return self.origin == "live" or (not self.can_be_read and self.thing is not None)


@dataclass(frozen=True, slots=True)
class NamedImport:
    """A record to import, with its name; `file` is its place, once that is chosen."""

    brief: Brief
    ref: Ref
    file: File = File()


@dataclass(slots=True)
class Matched:
    """New records, records that a manifest declares already, and records that are left out."""

    new: list[NamedImport] = field(default_factory=list)
    declared: list[tuple[Brief, Manifest]] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    known: KnownRefs = field(default_factory=lambda: KnownRefs({}))


@dataclass(frozen=True, slots=True)
class There:
    """The declared manifests, and the memory of the journal.

    `elsewhere` are manifests of other environments.
    """

    manifests: Sequence[Manifest]
    elsewhere: Sequence[Ref]
    history: History

    def id_of(self, manifest: Manifest) -> RemoteId | None:
        """Return the id of a manifest's object, from the manifest or the journal."""
        kind = BY_NAME[manifest.ref.kind]
        declared = kind.declared_id(manifest)
        known = self.history.of(manifest.ref).remote_id if declared is None else declared
        return None if known is None else kind.normal_id(known)

    def ids(self) -> dict[Ref, RemoteId]:
        """Return the known ids by manifest."""
        found = ((manifest.ref, self.id_of(manifest)) for manifest in self.manifests)
        return {ref: known for ref, known in found if known is not None}

    def objects(self) -> dict[ObjectId, Manifest]:
        """Return the manifests by object."""
        found: dict[ObjectId, Manifest] = {}
        for manifest in self.manifests:
            known = self.id_of(manifest)
            if BY_NAME[manifest.ref.kind].singleton:
                found[manifest.ref.kind, ""] = manifest
            elif known is not None:
                found[manifest.ref.kind, known] = manifest
        return found

    def by_slug(self) -> dict[tuple[str, str, str], Manifest]:
        """Return the manifests by identities other than ids."""
        return {
            (manifest.ref.kind, what, value.casefold()): manifest
            for manifest in self.manifests
            for what, value in BY_NAME[manifest.ref.kind].identities(manifest).items()
        }

    def remembered(self) -> dict[ObjectId, str]:
        """Return the journal's name for each object, where no manifest has that name."""
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
        """Return the names that are in use."""
        memories = self.history.memories.items()
        return {
            *(manifest.ref for manifest in self.manifests),
            *self.elsewhere,
            *(ref for ref, memory in memories if not memory.is_blank),
        }


def matched(found: Sequence[Brief], there: There) -> Matched:
    """Return `found` divided into new, declared and left out; new records get names."""
    result = Matched()
    new = [*_not_declared(found, there, result)]
    taken, remembered = there.taken(), there.remembered()
    by_ref = {manifest.ref: manifest for manifest in there.manifests}
    things = [_titled(resource, remembered) for resource in new]
    for resource, titled, ref in zip(new, things, names_for(things, taken), strict=True):
        own = own_names(titled)
        away = next((ref for ref in own if ref in there.elsewhere), None)
        twin = next((ref for ref in own if ref in taken), None)
        if resource.record.elsewhere and away is not None:
            reason = "it is declared for other environments already"
            result.left.append(Left(str(away), reason))
        elif resource.thing is None and twin is not None:
            same = by_ref.get(twin)
            where = f"is declared at {same.source}" if same is not None else "is known already"
            reason = f"{twin} {where}, and it is unknown whether this is the same, as it has no id"
            result.left.append(Left(resource.said, reason, ExitCode.INVALID))
        else:
            result.new.append(NamedImport(resource, ref))
    result.known = _known(result.new, there)
    return result


def _titled(brief: Brief, remembered: Mapping[ObjectId, str]) -> Titled:
    known_as = remembered.get(brief.thing, "") if brief.thing is not None else ""
    record = brief.record
    return Titled(
        brief.kind.name, brief.title, record.remote_id, brief.mark, known_as, suffix=record.suffix
    )


def _not_declared(found: Sequence[Brief], there: There, result: Matched) -> Iterator[Brief]:
    """Yield the records without a manifest, each object once."""
    objects, slugs = there.objects(), there.by_slug()
    by_ref = {manifest.ref: manifest for manifest in there.manifests}
    seen: set[tuple[object, ...]] = set()
    for resource in found:
        keys = [(resource.kind.name, what, value.casefold()) for what, value in resource.slugs]
        manifest = objects.get(resource.thing) if resource.thing is not None else None
        manifest = manifest or next((slugs[key] for key in keys if key in slugs), None)
        if manifest is None and resource.thing is None:
            # Records that share a title were named by their content.
            names = own_names(_titled(resource, {}))
            manifest = next((by_ref[ref] for ref in names if ref in by_ref), None)
        if manifest is not None:
            result.declared.append((resource, manifest))
            continue
        own = {resource.thing or (resource.kind.name, resource.mark, "content"), *keys}
        if own & seen:
            reason = "it is imported from elsewhere in this run"
            result.left.append(Left(resource.said, reason))
            continue
        seen |= own
        yield resource


def _known(new: Sequence[NamedImport], there: There) -> KnownRefs:
    refs = {pair: manifest.ref for pair, manifest in there.objects().items()}
    for candidate in new:
        brief = candidate.brief
        if brief.thing is not None:
            refs[brief.thing] = candidate.ref
        # Ids of other environments belong to the same resource.
        refs |= {(brief.kind.name, other): candidate.ref for other in brief.record.ids.values()}
    edges: dict[Ref, list[Ref]] = {
        manifest.ref: sorted(references_in(manifest.spec)) for manifest in there.manifests
    }
    for candidate in new:
        meant = (
            refs.get((mention.kind, mention.remote_id)) for mention in candidate.brief.mentions
        )
        edges[candidate.ref] = [meant_ref for meant_ref in meant if meant_ref is not None]
    return KnownRefs(refs, circles_in(edges))


def not_imported(matched: Matched) -> dict[ObjectId, Ref]:
    """Return the objects that imports refer to and that have no manifest, each with a referrer."""
    lacking: dict[ObjectId, Ref] = {}
    for candidate in matched.new:
        for mention in candidate.brief.mentions:
            if matched.known.ref_of(mention) is None:
                lacking.setdefault((mention.kind, mention.remote_id), candidate.ref)
    return lacking
