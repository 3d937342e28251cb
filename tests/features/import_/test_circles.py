"""Which references lead back to where they come from."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reconciler.features.import_.match_declared import KnownRefs, circles_in
from reconciler.model import Ref

REFS = [Ref("Dashboard", name) for name in "abcdef"]
graphs = st.dictionaries(
    st.sampled_from(REFS), st.lists(st.sampled_from(REFS), max_size=4), max_size=6
)


def reachable(edges: dict[Ref, list[Ref]], start: Ref) -> set[Ref]:
    """Give what a resource leads to, itself only where it leads back."""
    found: set[Ref] = set()
    left = [*edges.get(start, [])]
    while left:
        ref = left.pop()
        if ref not in found:
            found.add(ref)
            left.extend(edges.get(ref, []))
    return found


@given(graphs)
def test_circles(edges: dict[Ref, list[Ref]]) -> None:
    """A reference is told to close a circle where it does, and nowhere else."""
    known = KnownRefs({}, circles_in(edges))

    for ref, others in edges.items():
        for other in others:
            closes = ref == other or ref in reachable(edges, other)
            assert known.leads_back(ref, other) == closes


def test_long_chain() -> None:
    """Neither a chain nor a circle of ten thousand is too long."""
    names = [Ref("Dashboard", f"d{number}") for number in range(10_000)]
    chain = {ref: [other] for ref, other in pairwise(names)}

    assert circles_in(chain) == {}
    assert len(circles_in({**chain, names[-1]: [names[0]]})) == len(names)
