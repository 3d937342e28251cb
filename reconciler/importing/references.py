"""Ids of other resources as `${ref:}`, as far as they are known and lead in no circle. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from reconciler.document import Json, Path
from reconciler.expressions import Word, escaped, expression
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import references_in
from reconciler.resource import Ref, RemoteId


@dataclass(frozen=True, slots=True)
class Mention:
    """The id of another resource at a place of a document."""

    path: Path
    kind: str
    remote_id: RemoteId


def mentions_in(spec: Json, kind: Kind) -> Iterator[Mention]:
    """Yield where a document names others by their ids."""
    for path, other, value in references_in(spec, kind.spec):
        remote_id = BY_NAME[other].id_form.parse(value)
        if remote_id is not None:
            yield Mention(path, other, remote_id)


@dataclass(frozen=True, slots=True)
class Known:
    """Which object is which resource, and which resources lead back to each other."""

    refs: Mapping[tuple[str, RemoteId], Ref]
    circles: Mapping[Ref, int] = field(default_factory=dict)

    def ref_of(self, mention: Mention) -> Ref | None:
        """Give the resource that is meant, None where it is not known."""
        return self.refs.get((mention.kind, mention.remote_id))

    def leads_back(self, ref: Ref, other: Ref) -> bool:
        """Tell whether one reference would close a circle with others."""
        return ref == other or (
            ref in self.circles and self.circles[ref] == self.circles.get(other, -1)
        )


IN_A_CIRCLE = "{ref} leads back here, and references may not form a circle: so its id stands here"


def with_references(
    spec: dict[str, Json],
    ref: Ref,
    mentions: Iterable[Mention],
    known: Known,
    expressions: Mapping[Path, str],
) -> tuple[dict[str, Json], dict[Path, str]]:
    """Give a document as it is written: known ids as references, all other text meant as text.

    `expressions` are those that stand there already. Beside the document stand the comments at
    ids that have to stay.
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
            references[mention.path] = expression(Word.REFERENCE, str(other))
    written = _written(spec, (), references)
    assert isinstance(written, dict)  # noqa: S101 - an object stays one
    return written, comments


def _written(value: Json, path: Path, references: Mapping[Path, str]) -> Json:
    if isinstance(value, dict):
        return {key: _written(one, (*path, key), references) for key, one in value.items()}
    if isinstance(value, list):
        return [_written(one, (*path, index), references) for index, one in enumerate(value)]
    if path in references:
        return references[path]
    return escaped(value) if isinstance(value, str) else value


def circles_in(edges: Mapping[Ref, Iterable[Ref]]) -> dict[Ref, int]:
    """Number the circles of a graph: what is in one with others has its number. No recursion."""
    order, low = dict[Ref, int](), dict[Ref, int]()
    stack: list[Ref] = []
    waiting: set[Ref] = set()
    circles: dict[Ref, int] = {}
    for start in edges:
        if start in order:
            continue
        work = [(start, iter([*edges[start]]))]
        order[start] = low[start] = len(order)
        stack.append(start)
        waiting.add(start)
        while work:
            ref, rest = work[-1]
            other = next(rest, None)
            if other is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[ref])
                if low[ref] == order[ref]:
                    _close(ref, stack, waiting, circles)
            elif other not in order:
                order[other] = low[other] = len(order)
                stack.append(other)
                waiting.add(other)
                work.append((other, iter([*edges.get(other, ())])))
            elif other in waiting:
                low[ref] = min(low[ref], order[other])
    return circles


def _close(ref: Ref, stack: list[Ref], waiting: set[Ref], circles: dict[Ref, int]) -> None:
    """Take what belongs together off the stack; one alone is in no circle."""
    members: list[Ref] = []
    while not members or members[-1] != ref:
        members.append(stack.pop())
        waiting.discard(members[-1])
    if len(members) > 1:
        number = len(circles)
        circles.update(dict.fromkeys(members, number))
