"""Ids of other resources as `${ref:}`, if they are known and close no circle. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from reconciler.document import Json, Path
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import references_in
from reconciler.model import Ref, RemoteId
from reconciler.redaction.templates import written_out
from reconciler.syntax.expressions import ExpressionKind, expression


@dataclass(frozen=True, slots=True)
class Mention:
    """The id of another resource at a place of a document."""

    path: Path
    kind: str
    remote_id: RemoteId


def mentions_in(spec: Json, kind: Kind) -> Iterator[Mention]:
    """Yield the places where a document refers to others by id."""
    for path, other, value in references_in(spec, kind.spec):
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
    """Return the number of its circle of references for each resource that is in one.

    Circles that share a resource are one.
    """
    walk = _Walk(edges)
    for start in edges:
        if start not in walk.number:
            walk.from_(start)
    return walk.circles


@dataclass(slots=True)
class _Walk:
    """A depth-first walk that finds circles, without recursion.

    `number` is the order in which resources were met, `lowest` the earliest that each leads back
    to.
    """

    edges: Mapping[Ref, Iterable[Ref]]
    number: dict[Ref, int] = field(default_factory=dict)
    lowest: dict[Ref, int] = field(default_factory=dict)
    open: dict[Ref, None] = field(default_factory=dict)
    circles: dict[Ref, int] = field(default_factory=dict)

    def from_(self, start: Ref) -> None:
        trail = [(start, self._enter(start))]
        while trail:
            ref, rest = trail[-1]
            other = next(rest, None)
            if other is None:
                trail.pop()
                self._leave(ref, trail[-1][0] if trail else None)
            elif other not in self.number:
                trail.append((other, self._enter(other)))
            elif other in self.open:
                self.lowest[ref] = min(self.lowest[ref], self.number[other])

    def _enter(self, ref: Ref) -> Iterator[Ref]:
        self.number[ref] = self.lowest[ref] = len(self.number)
        self.open[ref] = None
        return iter([*self.edges.get(ref, ())])

    def _leave(self, ref: Ref, before: Ref | None) -> None:
        if before is not None:
            self.lowest[before] = min(self.lowest[before], self.lowest[ref])
        if self.lowest[ref] < self.number[ref]:
            return
        members: list[Ref] = []
        while not members or members[-1] != ref:
            members.append(self.open.popitem()[0])
        if len(members) > 1:
            self.circles.update(dict.fromkeys(members, len(self.circles)))
