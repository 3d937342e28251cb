"""Which shard a resource belongs to, and what may move it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.errors import InvalidInput, UsageError
from reconciler.kinds import BY_NAME
from reconciler.model import Manifest, Ref, Source
from reconciler.project import Environment, Shard, check_filled, in_shard, read_shard
from reconciler.workspace.selection import homes_of, read_selection

NAMES = st.sampled_from([f"r{number}" for number in range(12)])
LINKS = st.lists(st.tuples(NAMES, NAMES), max_size=14)


def declared(links: list[tuple[str, str]]) -> list[Manifest]:
    """Give manifests by what each refers to."""
    targets: dict[str, set[Ref]] = {}
    for name, other in links:
        targets.setdefault(name, set()).add(Ref("SLO", other))
        targets.setdefault(other, set())
    return [
        Manifest(ref=Ref("SLO", name), source=Source("a.yaml", 1), spec={}, references=found)
        for name, refs in targets.items()
        if (found := frozenset(refs)) is not None
    ]


def shards(links: list[tuple[str, str]], count: int) -> dict[str, list[int]]:
    """Give the shards that take each resource."""
    manifests = declared(links)
    homes = homes_of(manifests)
    bound = [
        read_selection([f"shard:{number}/{count}"], (), BY_NAME).at_homes(homes)
        for number in range(1, count + 1)
    ]
    return {
        manifest.ref.name: [
            at
            for at, some in enumerate(bound, 1)
            if some.takes(manifest.ref, manifest.source.file, manifest.labels)
        ]
        for manifest in manifests
    }


@given(LINKS, st.integers(1, 7))
def test_references_never_cross(links: list[tuple[str, str]], count: int) -> None:
    """Each resource is in one shard, and what it refers to is in the same."""
    found = shards(links, count)

    assert all(len(some) == 1 for some in found.values())
    assert all(found[text] == found[other] for text, other in links)


@given(LINKS, st.lists(st.tuples(NAMES, NAMES), max_size=6), st.integers(1, 7))
def test_what_is_unrelated_moves_nothing(
    links: list[tuple[str, str]],
    more: list[tuple[str, str]],
    count: int,
) -> None:
    """What is added without a reference to or from a resource leaves it there, in any order."""
    unrelated = [(f"z{text}", f"a{other}") for text, other in more]
    before, after = shards(links, count), shards([*unrelated, *reversed(links)], count)

    assert {name: after[name] for name in before} == before


def test_a_group_goes_where_its_smallest_name_leads() -> None:
    """A group that gets a smaller name goes where that name alone would be."""
    alone, grown = homes_of(declared([("m", "n")])), homes_of(declared([("m", "n"), ("n", "b")]))

    assert alone[Ref("SLO", "n")] == homes_of(declared([("m", "m")]))[Ref("SLO", "m")]
    assert grown[Ref("SLO", "m")] == homes_of(declared([("b", "b")]))[Ref("SLO", "b")]
    assert alone[Ref("SLO", "m")] != grown[Ref("SLO", "m")]


KEPT = [[1], [1], [3], [1], [3], [3], [3], [3]]


def test_where_names_lead_is_kept() -> None:
    """Names lead where they led in earlier releases: else each would change its journal."""
    found = shards([(f"r{number}", f"r{number}") for number in range(8)], 4)

    assert [found[f"r{number}"] for number in range(8)] == KEPT


@pytest.mark.parametrize(
    "text", ["", "0/4", "5/4", "2", "2/", "02/4", "1/257", "1/4/2", "a/b", "²/4"]
)
def test_no_shard(text: str) -> None:
    """What is no shard is refused as an option and in a term."""
    with pytest.raises(UsageError, match="is no shard"):
        read_shard(text)
    with pytest.raises(UsageError):
        read_selection([f"shard:{text}"], (), BY_NAME)


@pytest.mark.parametrize(
    ("select", "exclude"),
    [
        (("shard:1/4", "shard:2/4"), ()),
        (("shard:1/4", "kind=SLO"), ()),
        (("shard:1/4,shard:2/4",), ()),
        ((), ("shard:1/4",)),
    ],
)
def test_one_shard_at_a_time(select: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    """A selection of several shards, or of a shard and more, is refused: a run has one journal."""
    with pytest.raises(UsageError, match="shard"):
        read_selection(select, exclude, BY_NAME)


def test_parts_of_a_shard() -> None:
    """A part of a shard is in its journal, and is not the whole of it."""
    part = read_selection(["shard:2/4,kind=SLO", "kind=SavedView,shard:2/4"], (), BY_NAME)
    without = read_selection(["shard:2/4"], ["kind=SLO"], BY_NAME)

    assert (part.shard, without.shard) == (Shard(2, 4), Shard(2, 4))
    assert not part.is_shard
    assert not without.is_shard
    assert read_selection(["shard:2/4"], (), BY_NAME).is_shard
    assert not read_selection(["kind=SLO"], (), BY_NAME).is_shard


@pytest.mark.parametrize(
    "journal", ["a/{shard}.jsonl", "git:refs/reconciler/{shard}", "s3://bucket/prod-{shard}"]
)
def test_a_journal_for_each_shard(journal: str) -> None:
    """Each place of a journal may be one for each shard, and is refused where none is selected."""
    environment = Environment(journal=journal)
    places = {in_shard(environment, Shard(number, 4)).journal for number in range(1, 5)}

    assert len(places) == 4
    for place in places:
        check_filled(str(place))
    with pytest.raises(InvalidInput, match="no shard is selected"):
        check_filled(journal)


@pytest.mark.parametrize("journal", [None, "journal.jsonl", "s3://bucket/prod"])
def test_a_setting_that_is_not_filled(journal: str | None) -> None:
    """Without {shard} every shard has the one journal."""
    assert in_shard(Environment(journal=journal), Shard(2, 4)).journal == journal
