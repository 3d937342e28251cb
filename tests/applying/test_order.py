from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reconciler.applying.run import batches
from reconciler.kinds import BY_NAME, KINDS, is_unfindable_create
from reconciler.model import (
    Action,
    Change,
    Evidence,
    Manifest,
    Ref,
    Source,
    Unknown,
)

SHOWN = [Action.KEEP, Action.CREATE, Action.UPDATE, Action.ASSERT, Action.BLOCKED]


@st.composite
def plans(draw: st.DrawFn) -> list[Change]:
    """Draw changes of all kinds whose references make no cycle."""
    changes: list[Change] = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from([*KINDS]))
        known = [change.ref for change in changes]
        references = draw(st.frozensets(st.sampled_from(known))) if known else frozenset()
        manifest = Manifest(
            Ref(kind.name, f"n{number}"),
            {},
            Source("a.yaml", 1),
            remote_id=None,
            labels={},
            references=references,
        )
        action = draw(st.sampled_from(SHOWN))
        changes.append(
            Change(
                ref=manifest.ref,
                manifest=manifest,
                action=action,
                evidence=Evidence.NONE,
                observation=Unknown(None, ""),
                declared={},
                body={},
            )
        )
    return draw(st.permutations(changes))


@given(plans())
def test_everything_once(changes: list[Change]) -> None:
    """What writes is in exactly one batch, of its own kind and no larger than that allows."""
    sent = list(batches(changes))

    refs = [change.ref for _, batch in sent for change in batch]
    assert sorted(refs) == sorted(change.ref for change in changes if change.action.writes)
    for kind, batch in sent:
        assert {change.ref.kind for change in batch} == {kind.name}
        assert 1 <= len(batch) <= kind.batch_size


@given(plans())
def test_references_first(changes: list[Change]) -> None:
    """What is referred to is sent before what refers to it, in an earlier batch."""
    place = {
        change.ref: number for number, (_, batch) in enumerate(batches(changes)) for change in batch
    }

    for change in changes:
        for ref in change.references:
            if ref in place and change.ref in place:
                assert place[ref] < place[change.ref]


@given(plans())
def test_lonely_creates(changes: list[Change]) -> None:
    """A create that cannot be looked up has a batch of its own."""
    for _, batch in batches(changes):
        assert len(batch) == 1 or not any(map(is_unfindable_create, batch))


@given(plans())
def test_order_of_kinds(changes: list[Change]) -> None:
    """Without references the kinds follow their table, and lonely creates come last."""
    free = [change for change in changes if not change.references]
    order = list(BY_NAME)

    keys = [
        (is_unfindable_create(batch[0]), order.index(kind.name)) for kind, batch in batches(free)
    ]

    assert keys == sorted(keys)
