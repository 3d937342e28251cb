"""Names of imports, and their matching with declared manifests: what is new, who refers to whom.

Names come from titles: readable, stable and unique. Ids of other resources become `${ref:}`, if
they are known and close no circle. Pure.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as File
from typing import Literal, TypeAlias

from reconciler.document import Json, Path, digest, value_at, with_value
from reconciler.errors import ExitCode
from reconciler.features.import_.records import Converted, ImportRecord, Left, named
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import references_in as mentioned_in
from reconciler.model import Manifest, Ref, RemoteId
from reconciler.redaction.templates import references_in, written_out
from reconciler.report.words import first_few
from reconciler.runtime.advice import declared_id
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.workspace.envelope import LONGEST_NAME, NAME

LONGEST = 60
"""Characters of a name before its mark: a title may be a whole sentence."""

MARK = 8
_RESERVED = frozenset(
    (
        *("con", "prn", "aux", "nul", "reconciler"),
        *(f"{device}{number}" for device in ("com", "lpt") for number in range(10)),
    )
)
"""Names that some system forbids for files, and the name of the project file."""


@dataclass(frozen=True, slots=True)
class Titled:
    """The input of a name: kind, title, and id or content."""

    kind: str
    title: str
    remote_id: RemoteId | None
    content: str
    known_as: str = ""
    """The name that is known already."""

    suffix: str = ""
    """The end of the name, where another resource has the same title."""

    @property
    def mark(self) -> str:
        """The mark that distinguishes resources of one title, independent of other imports."""
        plain = re.sub(r"[^a-z0-9]+", "", str(self.remote_id or "").lower())[:MARK]
        return plain or self.content[:MARK]


def content_mark(spec: Json) -> str:
    """Return digits derived from the content of a document."""
    return digest(spec).removeprefix("sha256:")


def plain_name(title: str) -> str:
    """Return a title as a name: Latin letters, lower case, words joined; "" where none is left."""
    text = title
    if not text.isascii():
        from anyascii import anyascii  # noqa: PLC0415 - only for titles that need it

        text = anyascii(text[: 4 * LONGEST])
    words = re.findall(r"[a-z0-9]+", text[: 8 * LONGEST].replace("'", "").lower())
    name = "-".join(words)
    if len(name) <= LONGEST:
        return name
    return name[: LONGEST + 1].rpartition("-")[0] or name[:LONGEST]


def kind_word(kind: str) -> str:
    """Return a kind's name in the form used in names: `log-policy-set`, `slo`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()


def names_for(things: Sequence[Titled], taken: Container[Ref]) -> list[Ref]:
    """Return a name for each resource, in order; `taken` are names in use.

    Resources of one kind and title are distinguished by their ids, so that no name depends on the
    order or the number of resources.
    """
    plain = [_plain(titled) for titled in things]
    count = Counter((titled.kind, name) for titled, name in zip(things, plain, strict=True))
    refs: dict[int, Ref] = {}
    used: set[Ref] = set()
    for index, (titled, name) in enumerate(zip(things, plain, strict=True)):
        ref = Ref(titled.kind, titled.known_as or name)
        alone = titled.known_as or (count[titled.kind, name] == 1 and ref not in taken)
        if alone and ref not in used:
            refs[index] = ref
            used.add(ref)
    ordered = sorted(
        enumerate(things), key=lambda pair: (str(pair[1].remote_id or ""), pair[1].content)
    )
    for index, titled in ordered:
        if index not in refs:
            marked = (Ref(titled.kind, f"{plain[index]}-{mark}") for mark in _marks(titled))
            refs[index] = next(ref for ref in marked if ref not in taken and ref not in used)
            used.add(refs[index])
    return [refs[index] for index in range(len(things))]


def own_names(titled: Titled) -> tuple[Ref, ...]:
    """Return the names that a resource may have if no other has them, the most specific first."""
    name = _plain(titled)
    marked = (
        Ref(titled.kind, f"{name}-{mark}") for mark in (titled.content[: 2 * MARK], titled.mark)
    )
    return (*marked, Ref(titled.kind, name))


def _plain(titled: Titled) -> str:
    name = plain_name(titled.title) or kind_word(titled.kind)
    if suffix := plain_name(titled.suffix):
        # The suffix is added after the cut, as it must not be cut off.
        name = f"{name}-{suffix}"
    return f"{name}-{kind_word(titled.kind)}" if name in _RESERVED else name


def _marks(titled: Titled) -> Iterator[str]:
    yield from (titled.mark, titled.content[: 2 * MARK])
    yield from (f"{titled.mark}-{number}" for number in itertools.count(2))


def file_names(refs: Sequence[Ref], *, together: bool) -> Mapping[Ref, str]:
    """Return the stem of each file name.

    With `together`, as kinds share a folder, all stems are unique.
    """
    count = Counter(ref.name for ref in refs)
    return {
        ref: f"{ref.name}-{kind_word(ref.kind)}" if together and count[ref.name] > 1 else ref.name
        for ref in refs
    }


FIRST = "severity"
MOST_NAMED = 10
TWIN = "the same is in these documents twice: one manifest is made of both"
_SELECTS = re.compile(r"(.+)\[([^\[\]]+)\]", re.DOTALL)


def with_unique_names(
    made: Sequence[Converted], ids: Mapping[str, str], met: set[str]
) -> tuple[list[Converted], list[Left]]:
    """Return the resources with their names and their ids from `ids`, and the ids that fit none.

    The names that `--id` accepts are added to `met`.

    Resources of one name are distinguished by severity, else by the first different label in
    alphabetical order, else by digits of their digests.
    """
    named_all = [replace(resource, handle=resource.name) for resource in made]
    firsts = [*_without_twins(named_all)]
    alike: dict[tuple[str, str], list[Converted]] = defaultdict(list)
    for resource in firsts:
        alike[resource.kind.name, plain_name(resource.name)].append(resource)
    for group in alike.values():
        if len(group) > 1:
            for resource, mark in zip(group, marks_of(group), strict=True):
                resource.handle = f"{resource.name}[{mark}]"
                resource.mark = "" if resource.labels is None else mark
    return named_all, [*_hand_out(firsts, ids, met)] if ids else []


def _without_twins(given: Sequence[Converted]) -> Iterator[Converted]:
    """Yield the resources without repetitions; a resource without labels stays."""
    seen: set[tuple[str, str, str]] = set()
    for made in given:
        key = (made.kind.name, made.name, made.digest)
        if made.labels is not None and key in seen:
            made.why_not, made.is_twin = TWIN, True
        else:
            seen.add(key)
            yield made


def marks_of(made: Sequence[Converted]) -> list[str]:
    """Return a mark for each of the resources of one name, all unique."""
    holders: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for nth, resource in enumerate(made):
        for name, value in (resource.labels or {}).items():
            holders[name].append((nth, value))
    marks = [""] * len(made)
    for name in sorted(holders, key=lambda name: (name != FIRST, name)):
        count = Counter(plain_name(value) for _, value in holders[name])
        for nth, value in holders[name]:
            if not marks[nth] and "{{" not in value and count[plain_name(value)] == 1:
                marks[nth] = value if plain_name(value) else ""
    count = Counter(map(plain_name, marks))
    digests = [resource.digest or content_mark(resource.spec) for resource in made]
    return [
        mark if count[plain_name(mark)] == 1 and mark else digest[:MARK]
        for mark, digest in zip(marks, digests, strict=True)
    ]


def _hand_out(firsts: Sequence[Converted], ids: Mapping[str, str], met: set[str]) -> Iterator[Left]:
    """Assign each id to its resource; yield those that fit several resources of a kind."""
    by_name: dict[str, list[Converted]] = defaultdict(list)
    for made in firsts:
        met.update((made.name, made.handle))
        by_name[made.name].append(made)
    given: list[tuple[Converted, str]] = []
    for key, remote_id in ids.items():
        found = by_name.get(key) or _selected(key, by_name)
        if found:
            met.add(key)
        of_kind: dict[str, list[Converted]] = defaultdict(list)
        for made in found:
            of_kind[made.kind.name].append(made)
        for kind, alike in of_kind.items():
            if len(alike) > 1:
                yield _ambiguous(key, kind, alike)
            else:
                given.append((alike[0], remote_id.lower()))
                alike[0].remote_id = remote_id
    _refuse_shared(given)


def _selected(key: str, by_name: Mapping[str, Sequence[Converted]]) -> list[Converted]:
    """Return the resources for `NAME[LABEL]`: a mark, the value of a label, or `label=value`."""
    found = _SELECTS.fullmatch(key)
    if found is None:
        return []
    same = by_name.get(found[1], ())
    labelled = [(made, made.labels or {}) for made in same]
    return [made for made in same if made.handle == key][:1] or [
        made
        for made, labels in labelled
        if found[2] in (*labels.values(), *map("=".join, labels.items()))
    ]


def _ambiguous(key: str, kind: str, alike: Sequence[Converted]) -> Left:
    shown = first_few([f"`{named(made.handle)}`" for made in alike], MOST_NAMED)
    reason = f"{len(alike)} of {kind} are called so: name one of {shown}"
    return Left(f"--id `{named(key)}`", reason, ExitCode.INVALID)


def _refuse_shared(given: Sequence[tuple[Converted, str]]) -> None:
    """Refuse resources that share an id, and resources with several ids."""
    for made, remote_id in given:
        ids = {known for other, known in given if other is made}
        others = [
            other.handle
            for other, known in given
            if other is not made and other.kind is made.kind and known == remote_id
        ]
        if len(ids) > 1:
            made.why_not = f"--id gives it {len(ids)} ids: {named(made.name)} has one"
        elif others:
            made.why_not = f"its id {named(remote_id)} is given to `{named(others[0])}` too"


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
    """Return a document to write, with known ids as references, and all other text escaped.

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
    written: Json = written_out(spec)
    for path, text in references.items():
        written = with_value(written, path, text)
    assert isinstance(written, dict)  # noqa: S101 - an object stays one
    return written, comments


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
# The documents were parsed from text, so they hold no circle.
_WRITER = json.JSONEncoder(check_circular=False)


def packed(document: Json) -> bytes:
    """Return a document as JSON, which takes a tenth of its memory."""
    return _WRITER.encode(document).encode()


ObjectId: TypeAlias = tuple[str, RemoteId]
"""An object of the service: its kind, and its id, which is "" where there is only one object."""


def object_of(kind: Kind, known: RemoteId | None) -> ObjectId | None:
    """Return the object with an id, None where it is unknown."""
    known = "" if kind.singleton else known
    return None if known is None else (kind.name, known)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Brief:
    """A record without its document, so that thousands of them use little memory.

    The `spec` of `record` is empty, and `document` is its JSON. `mark` is derived from its content,
    `slugs` are other identities that people use, and `mentions` are ids of other resources in it.
    `can_be_read` means that the service can return it.
    """

    record: ImportRecord
    title: str
    said: str
    mark: str
    mentions: tuple[Mention, ...]
    slugs: tuple[tuple[str, str], ...]
    origin: ImportOrigin
    can_be_read: bool
    revision: str
    document: bytes = field(repr=False)

    @property
    def spec(self) -> dict[str, Json]:
        """The document of the record."""
        spec: dict[str, Json] = json.loads(self.document)
        return spec

    @property
    def whole(self) -> ImportRecord:
        """The record with its document."""
        return replace(self.record, spec=self.spec)

    @property
    def kind(self) -> Kind:
        """The kind of the record."""
        return self.record.kind

    @property
    def thing(self) -> ObjectId | None:
        """The object of the service, None where it is unknown."""
        return None if self.record.elsewhere else object_of(self.kind, self.record.remote_id)

    @property
    def is_remembered(self) -> bool:
        """Return whether the import journals it: read live, or not readable and with a known id."""
        if self.record.elsewhere or self.record.is_converted:
            return False
        return self.origin == "live" or (not self.can_be_read and self.thing is not None)


@dataclass(frozen=True, slots=True)
class NamedImport:
    """A record to import, with its name; `file` is its place, once that is chosen.

    `written` are the files that were written for it.
    """

    brief: Brief
    ref: Ref
    file: File = File()
    written: tuple[File, ...] = ()


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
        return None if known is None else kind.id_form.normal(known)

    def ids(self) -> dict[Ref, RemoteId]:
        """Return the known ids by manifest."""
        found = ((manifest.ref, self.id_of(manifest)) for manifest in self.manifests)
        return {ref: known for ref, known in found if known is not None}

    def without_ids(self) -> dict[Ref, Manifest]:
        """Return the manifests without a known id, by their names and by their titles as names."""
        found: dict[Ref, Manifest] = {}
        for manifest in self.manifests:
            kind = BY_NAME[manifest.ref.kind]
            if not kind.singleton and self.id_of(manifest) is None:
                title = value_at(manifest.spec, kind.title)
                name = plain_name(title) if isinstance(title, str) else ""
                found[manifest.ref] = manifest
                found.setdefault(Ref(kind.name, name or manifest.ref.name), manifest)
        return found

    def objects(self) -> dict[ObjectId, Manifest]:
        """Return the manifests by object."""
        found = (
            (object_of(BY_NAME[manifest.ref.kind], self.id_of(manifest)), manifest)
            for manifest in self.manifests
        )
        return {known: manifest for known, manifest in found if known is not None}

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
            known = memory.remote_id
            thing = object_of(kind, None if known is None else kind.id_form.normal(known))
            if thing is not None:
                found[thing] = ref.name
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
    unknown = there.without_ids()
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
        elif (same := next((unknown[ref] for ref in own if ref in unknown), None)) is not None:
            reason = (
                f"{same.ref} at {same.source} has its name, and no id in this environment: if both "
                f"are the same, write `{declared_id(str(resource.record.remote_id))}` into its "
                "`metadata`; else change one of the names"
            )
            result.left.append(Left(resource.said, reason, ExitCode.PARTIAL))
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
            result.left.append(Left(resource.said, "it is imported from elsewhere in this run"))
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
