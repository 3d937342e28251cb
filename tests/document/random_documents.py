"""Random shapes, and documents that are near enough to one another to have much in common."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from reconciler.document import ABSENT, ANY, Json, Missing, Shape

KEYS = ("a", "b", "c", "d")
UNKNOWN_KEYS = ("u", "v")
NAMES = ("n1", "n2", "n3", "n4")
IDENTITIES = (("id",), ("id", "value"))

SCALARS: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, False, 0, 1, 2, 1.0, 2.5, 0.0, "", "x", "y", "1", "0", "KIND_UNSPECIFIED"]
)
KINDS: st.SearchStrategy[Json] = st.sampled_from(["", "KIND_UNSPECIFIED", "KIND_LOW", "OTHER"])
INT64: st.SearchStrategy[Json] = st.sampled_from([0, 1, 2, "0", "1", "2", "-1"])

OPAQUE: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)


def _objects(inner: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    fields = st.dictionaries(st.sampled_from(KEYS), inner, min_size=1, max_size=4)
    alternatives = st.sampled_from([(), (), (frozenset(("a", "b")),), (frozenset(("b", "c")),)])
    return st.builds(Shape, fields=fields, alternatives=alternatives)


def _keyed(inner: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    return st.builds(Shape, items=_objects(inner), identity=st.sampled_from(IDENTITIES))


SHAPES: st.SearchStrategy[Shape] = st.recursive(
    st.sampled_from(
        [
            *(ANY, ANY, Shape(numeric_text=True), Shape(unordered=True)),
            Shape(enumeration="KIND_"),
        ]
    ),
    lambda inner: st.one_of(
        _objects(inner),
        _keyed(inner),
        st.builds(Shape, items=inner),
        st.builds(Shape, values=inner),
    ),
    max_leaves=6,
)


def documents(shape: Shape) -> st.SearchStrategy[Json]:
    """Give documents that mostly have a shape, and sometimes anything at all.

    Sets hold plain values: a manifest with anything else in one is refused.
    """
    anything = SCALARS if _has_set(shape) else OPAQUE
    return st.one_of(_of(shape), _of(shape), _of(shape), anything)


def _has_set(shape: Shape) -> bool:
    inner = [*shape.fields.values(), *(one for one in (shape.items, shape.values) if one)]
    return shape.unordered or any(map(_has_set, inner))


def _of(shape: Shape) -> st.SearchStrategy[Json]:
    if shape.numeric_text or shape.enumeration:
        return INT64 if shape.numeric_text else KINDS
    if shape.unordered:
        return st.lists(st.sampled_from(NAMES), unique=True, max_size=4).map(list)
    if shape.identity:
        return _keyed_lists(shape)
    if shape.items is not None:
        return st.lists(_of(shape.items), max_size=3)
    if shape.values is not None:
        return st.dictionaries(st.sampled_from(KEYS), _of(shape.values), max_size=3)
    return _objects_of(shape) if shape.fields else OPAQUE


def _objects_of(shape: Shape) -> st.SearchStrategy[Json]:
    known = {key: documents(inner) for key, inner in shape.fields.items()}
    unknown = dict.fromkeys(UNKNOWN_KEYS, SCALARS)
    objects = st.fixed_dictionaries({}, optional={**known, **unknown})
    return objects.map(lambda made: _with_one_alternative(made, shape))


def _with_one_alternative(document: dict[str, Json], shape: Shape) -> dict[str, Json]:
    """Keep the first of each group: a document with two is refused before any merge."""
    for group in shape.alternatives:
        for extra in sorted(group & document.keys())[1:]:
            del document[extra]
    return document


def _keyed_lists(shape: Shape) -> st.SearchStrategy[Json]:
    names = st.lists(st.sampled_from(NAMES), unique=True, max_size=4)
    bodies = st.lists(_objects_of(shape.item), min_size=4, max_size=4)
    return st.tuples(names, bodies).map(
        lambda drawn: [
            {**_object(body), **_identified(name, shape)}
            for name, body in zip(drawn[0], drawn[1], strict=False)
        ]
    )


def _object(document: Json) -> dict[str, Json]:
    assert isinstance(document, dict)
    return document


def _identified(name: str, shape: Shape) -> dict[str, Json]:
    return {"id": name} if shape.identity == ("id",) else {"id": {"value": name}}


@dataclass(frozen=True)
class Case:
    """One resource: what was declared before, what is declared now, and what is live."""

    shape: Shape
    base: Json | Missing
    declared: Json
    live: Json | Missing


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Give any three documents of one shape; often two of them are one."""
    shape = draw(SHAPES)
    some = documents(shape)
    declared = draw(some)
    base = draw(st.one_of(st.just(ABSENT), st.just(declared), some))
    live = draw(st.one_of(st.just(ABSENT), st.just(declared), some, some))
    return Case(shape, base, declared, live)


@st.composite
def shaped_pairs(draw: st.DrawFn) -> tuple[Shape, Json, Json]:
    """Give two documents of one shape."""
    shape = draw(SHAPES)
    return shape, draw(documents(shape)), draw(documents(shape))


ROWS = Shape(
    items=Shape(fields={"id": ANY, "a": ANY, "items": Shape(items=ANY, identity=("id",))}),
    identity=("id",),
)
BOARD = Shape(
    fields={
        "title": ANY,
        "parts": Shape(items=Shape(fields={"id": ANY, "rows": ROWS}), identity=("id",)),
    }
)
"""Lists in lists in lists, whose items may move from one to another."""

ITEMS = tuple(f"item-{number}" for number in range(8))


@st.composite
def boards(draw: st.DrawFn, *, once: bool = True) -> Json:
    """Give a document of the shape `BOARD`, in which each item stands once, or maybe more often."""
    names = draw(st.lists(st.sampled_from(ITEMS), max_size=8, unique=once))
    drawn: list[Json] = [{"id": name, "b": draw(SCALARS)} for name in names]
    parts: list[Json] = []
    rows = iter(draw(st.permutations(["r1", "r2", "r3", "r4"])))
    for name in draw(st.permutations(["x", "y"]))[: draw(st.integers(0, 2))]:
        made: list[Json] = []
        for row in rows:
            taken = draw(st.integers(0, len(drawn)))
            inside, drawn = drawn[:taken], drawn[taken:]
            made.append({"id": row, "a": draw(SCALARS), "items": list(inside)})
            if draw(st.booleans()):
                break
        part: dict[str, Json] = {"id": name, "rows": made}
        parts.append(part)
    return {"title": draw(SCALARS), "parts": parts}
