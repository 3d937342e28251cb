"""Names of manifests from titles: readable, stable and unique. Pure."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reconciler.document import Json, digest
from reconciler.errors import ExitCode
from reconciler.features.import_.conversion import Converted, named
from reconciler.features.import_.records import Left
from reconciler.model import Ref, RemoteId

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
        """The mark among resources of one title; it does not depend on what else is imported."""
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
    cut = name[: LONGEST + 1].rpartition("-")[0]
    return cut or name[:LONGEST]


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
    """Return the names that a resource may have by itself, the most specific first."""
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
    """Return the stem of each file; with `together`, where kinds share a folder, all are unique."""
    count = Counter(ref.name for ref in refs)
    return {
        ref: f"{ref.name}-{kind_word(ref.kind)}" if together and count[ref.name] > 1 else ref.name
        for ref in refs
    }


FIRST = "severity"
MOST_NAMED = 10
TWIN = "the same is in these documents twice: one manifest is made of both"
_SELECTS = re.compile(r"(.+)\[([^\[\]]+)\]", re.DOTALL)


@dataclass(slots=True, eq=False)
class Naming:
    """The names of a resource: `handle` for people and `--id`, `mark` in its manifest's name.

    `remote_id` is the id that it was assigned, "" for none. A twin, or a resource with a reason in
    `why_not`, is not imported.
    """

    made: Converted
    handle: str
    mark: str = ""
    remote_id: str = ""
    why_not: str = ""
    is_twin: bool = False


@dataclass(frozen=True, slots=True)
class UniqueNames:
    """The names of each resource, the names `met` that `--id` accepts, and the ids `left` over."""

    each: Sequence[Naming]
    met: set[str] = field(default_factory=set)
    left: list[Left] = field(default_factory=list)


def with_unique_names(made: Sequence[Converted], ids: Mapping[str, str]) -> UniqueNames:
    """Return the names of each resource, with its own id of `ids`.

    Resources of one name are distinguished by severity, else by the first different label in
    alphabetical order, else by digits of their digests.
    """
    result = UniqueNames([Naming(resource, resource.name) for resource in made])
    firsts = [*_without_twins(result.each)]
    alike: dict[tuple[str, str], list[Naming]] = defaultdict(list)
    for naming in firsts:
        alike[naming.made.kind.name, plain_name(naming.made.name)].append(naming)
    for group in alike.values():
        if len(group) > 1:
            for naming, mark in zip(group, marks_of(group), strict=True):
                naming.handle = f"{naming.made.name}[{mark}]"
                naming.mark = "" if naming.made.labels is None else mark
    if ids:
        _hand_out(firsts, ids, result)
    return result


def _without_twins(given: Sequence[Naming]) -> Iterator[Naming]:
    """Yield the resources without repetitions; a resource without labels stays."""
    seen: set[tuple[str, str, str]] = set()
    for naming in given:
        made = naming.made
        key = (made.kind.name, made.name, made.digest)
        if made.labels is not None and key in seen:
            naming.why_not, naming.is_twin = TWIN, True
        else:
            seen.add(key)
            yield naming


def marks_of(given: Sequence[Naming]) -> list[str]:
    """Return a mark for each of the resources of one name, all unique."""
    made = [naming.made for naming in given]
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


def _hand_out(firsts: Sequence[Naming], ids: Mapping[str, str], result: UniqueNames) -> None:
    """Assign each id to its resource; an id that fits several resources of a kind is left."""
    by_name: dict[str, list[Naming]] = defaultdict(list)
    for naming in firsts:
        result.met.update((naming.made.name, naming.handle))
        by_name[naming.made.name].append(naming)
    owners: dict[tuple[str, str], list[Naming]] = defaultdict(list)
    for key, remote_id in ids.items():
        found = by_name.get(key) or _selected(key, by_name)
        if found:
            result.met.add(key)
        of_kind: dict[str, list[Naming]] = defaultdict(list)
        for naming in found:
            of_kind[naming.made.kind.name].append(naming)
        for kind, namings in of_kind.items():
            if len(namings) > 1:
                result.left.append(_ambiguous(key, kind, namings))
                continue
            owners[kind, remote_id.lower()].append(namings[0])
            namings[0].remote_id = remote_id
    _refuse_shared(owners)


def _selected(key: str, by_name: Mapping[str, Sequence[Naming]]) -> list[Naming]:
    """Return the resources for `NAME[LABEL]`: a mark, the value of a label, or `label=value`."""
    found = _SELECTS.fullmatch(key)
    if found is None:
        return []
    same = by_name.get(found[1], ())
    labelled = [(naming, naming.made.labels or {}) for naming in same]
    return [naming for naming in same if naming.handle == key][:1] or [
        naming
        for naming, labels in labelled
        if found[2] in (*labels.values(), *map("=".join, labels.items()))
    ]


def _ambiguous(key: str, kind: str, namings: Sequence[Naming]) -> Left:
    shown = ", ".join(f"`{named(naming.handle)}`" for naming in namings[:MOST_NAMED])
    more = f" and {len(namings) - MOST_NAMED} more" if len(namings) > MOST_NAMED else ""
    reason = f"{len(namings)} of {kind} are called so: name one of {shown}{more}"
    return Left(f"--id `{named(key)}`", reason, ExitCode.INVALID)


def _refuse_shared(owners: Mapping[tuple[str, str], Sequence[Naming]]) -> None:
    """Refuse resources that share an id, and resources with several ids."""
    for (_, remote_id), namings in owners.items():
        for naming in namings:
            others = [named(other.handle) for other in namings if other is not naming]
            if others:
                naming.why_not = f"its id {named(remote_id)} is given to `{others[0]}` too"
    counts = Counter(naming for namings in owners.values() for naming in {*namings})
    for naming, count in counts.items():
        if count > 1:
            naming.why_not = f"--id gives it {count} ids: {named(naming.made.name)} has one"
