"""Saved views over the wire: never read; created once, then replaced by id."""

from __future__ import annotations

import pytest
from harness.routes import VIEWS
from harness.sites import (
    VIEW_SPEC,
    Meddler,
    Site,
    actions,
    answer_with,
    assert_settled,
    lost_after,
    lost_before,
    manifest,
    outcomes,
    paths,
    unreachable,
)

from reconciler.document import Json
from reconciler.journal.entries import Settled
from reconciler.model import Evidence, InDoubt, Remembered, Unknown

ERRORS = manifest("SavedView/errors", VIEW_SPEC)
COMPACT = manifest("SavedView/errors", {**VIEW_SPEC, "isCompactMode": True})
RENAMED = manifest("SavedView/errors", {**VIEW_SPEC, "name": "All errors"})


def stored(site: Site) -> int:
    """Count the views that the service has."""
    (count,) = site.app.state.store.row("SELECT count(*) FROM saved_views")
    return int(count)


def requests(site: Site) -> list[tuple[str, str]]:
    """Give what was sent."""
    return [(one.method, one.path) for one in site.sent]


def test_create(site: Site) -> None:
    """A view is created with one request, remembered by its id, and never asked for."""
    first = site.change(ERRORS)
    site.apply(ERRORS)
    second = site.change(ERRORS)

    assert (first.action.word, first.evidence) == ("create", Evidence.NONE)
    assert isinstance(first.observation, Unknown)
    assert (second.action.word, second.evidence) == ("keep", Evidence.JOURNAL)
    assert isinstance(second.observation, Remembered)
    assert requests(site) == [("POST", VIEWS)]
    assert site.sent[0].body == VIEW_SPEC
    assert_settled(site, ERRORS)


def test_compact_view(site: Site) -> None:
    """`isCompactMode` needs a replace after the create, and the id is journaled in between."""
    site.apply(COMPACT)

    assert requests(site) == [("POST", VIEWS), ("PUT", f"{VIEWS}/1")]
    assert "isCompactMode" not in site.sent[0].body
    assert site.sent[1].body == {**VIEW_SPEC, "isCompactMode": True}
    assert site.entries() == [
        "started SavedView/errors",
        "identified SavedView/errors",
        "written SavedView/errors",
    ]
    assert_settled(site, COMPACT)


def test_id_on_disk_before_the_replace(site: Site) -> None:
    """When the replace is sent, the id stands in the journal already."""
    seen: list[list[str]] = []

    async def look(request: object, inner: object) -> object:
        seen.append(site.entries())
        return await inner.handle_async_request(request)  # type: ignore[attr-defined]  # a transport

    site.meddle("PUT", VIEWS + "/*", look)  # type: ignore[arg-type]  # as a meddler does

    site.apply(COMPACT)

    assert seen == [["started SavedView/errors", "identified SavedView/errors"]]


def test_replace(site: Site) -> None:
    """A change is one replace by id; the id is in the path and not in the body."""
    site.apply(ERRORS)
    site.forget()

    change = site.change(RENAMED)
    site.apply(RENAMED)

    assert (change.action.word, paths(change)) == ("update", [("name",)])
    assert requests(site) == [("PUT", f"{VIEWS}/1")]
    assert site.sent[0].body == RENAMED.spec
    assert_settled(site, RENAMED)


def test_declared_id(site: Site) -> None:
    """A declared id that nothing is known of is asserted."""
    theirs = site.outside("POST", VIEWS, VIEW_SPEC)
    known = manifest("SavedView/another", VIEW_SPEC, theirs["id"])

    change = site.change(known)
    site.apply(known)

    assert (change.action.word, change.evidence) == ("assert", Evidence.NONE)
    assert requests(site) == [("PUT", f"{VIEWS}/1")]
    assert_settled(site, known)


@pytest.mark.parametrize(
    "lose",
    [
        lost_after,
        lost_before,
        answer_with(500, carried_out=True),
        answer_with(200, {}, carried_out=True),
        answer_with(200, {"id": None}),
        answer_with(200, {"id": True}),
        answer_with(200, {"id": 0}),
        answer_with(200, {"id": -1}),
        answer_with(200, {"id": 2**31}),
        answer_with(200, {"id": 1.0}),
        answer_with(200, {"id": "1"}),
        answer_with(200, []),
        answer_with(200, "created"),
    ],
)
@pytest.mark.parametrize("declared", [ERRORS, COMPACT])
def test_lost_create(site: Site, lose: Meddler, declared: object) -> None:
    """A view whose answer was lost, or tells no usable id, is in doubt, and never sent twice."""
    assert declared in (ERRORS, COMPACT)
    site.meddle("POST", VIEWS, lose)

    applied = site.apply(COMPACT)
    made = site.plan(COMPACT)
    again = site.apply(plan=made)

    assert isinstance(applied.outcomes[0], InDoubt)
    assert applied.exit_codes == {7}
    assert actions(made) == {"SavedView/errors": "blocked"}
    assert [str(create.ref) for create in made.unsettled] == ["SavedView/errors"]
    assert outcomes(again) == {"SavedView/errors": "refused"}
    assert site.count("POST", VIEWS) == 1
    assert site.entries() == ["started SavedView/errors"]


@pytest.mark.parametrize("lose", [unreachable, answer_with(429)])
def test_create_that_surely_failed(site: Site, lose: Meddler) -> None:
    """A create that never reached the service is sent again, and makes one view."""
    site.meddle("POST", VIEWS, lose)

    site.apply(ERRORS)

    assert stored(site) == 1
    assert_settled(site, ERRORS)


@pytest.mark.parametrize(("remote_id", "views"), [(1, 1), (None, 2)])
def test_settled(site: Site, remote_id: int | None, views: int) -> None:
    """What a person says of a lost create decides whether there is another one."""
    site.meddle("POST", VIEWS, lost_after)
    site.apply(ERRORS)
    journal = site.journal
    with journal.locked():
        journal.append([Settled(at=journal.now(), ref=ERRORS.ref, remote_id=remote_id)])

    change = site.change(ERRORS)
    site.apply(ERRORS)

    assert change.action.word == ("create" if remote_id is None else "assert")
    assert stored(site) == views
    assert_settled(site, ERRORS)


@pytest.mark.parametrize("lose", [lost_after, lost_before, answer_with(503)])
def test_lost_replace(site: Site, lose: Meddler) -> None:
    """A replace without an answer is sent again."""
    site.apply(ERRORS)
    site.meddle("PUT", VIEWS + "/*", lose)

    assert outcomes(site.apply(RENAMED)) == {"SavedView/errors": "written"}
    assert_settled(site, RENAMED)


def test_all_answers_to_a_replace_lost(site: Site) -> None:
    """After a replace without any answer the view is asserted, whatever is declared then."""
    site.apply(ERRORS)
    site.meddle("PUT", VIEWS + "/*", *[lost_before] * 5)

    applied = site.apply(RENAMED)

    assert applied.exit_codes == {9}
    assert site.change(ERRORS).action.word == "assert"
    assert site.change(RENAMED).action.word == "assert"
    site.apply(RENAMED)
    assert_settled(site, RENAMED)


@pytest.mark.parametrize(
    ("lose", "exit_code"),
    [
        (answer_with(400, {"message": "not compact"}), 3),
        (answer_with(401), 10),
        (answer_with(307), 9),
    ],
)
def test_refused_second_request(site: Site, lose: Meddler, exit_code: int) -> None:
    """A view that was created and not finished is asserted by its id, never created again."""
    site.meddle("PUT", VIEWS + "/*", lose)

    applied = site.apply(COMPACT)
    change = site.change(COMPACT)
    site.apply(COMPACT)

    assert applied.exit_codes == {exit_code}
    assert (change.action.word, change.remote_id) == ("assert", 1)
    assert stored(site) == 1
    assert_settled(site, COMPACT)


def test_unfinished_orphan(site: Site) -> None:
    """A view that was created, never finished and is not declared any more is an orphan."""
    site.meddle("PUT", VIEWS + "/*", answer_with(400))
    site.apply(COMPACT)

    (orphan,) = site.plan().orphans

    assert (orphan.ref, orphan.remote_id) == (ERRORS.ref, 1)


def test_gone_view(site: Site) -> None:
    """A view that someone removed is refused when it is replaced, with the service's words."""
    site.apply(ERRORS)
    site.app.state.store.write("DELETE FROM saved_views")

    applied = site.apply(RENAMED)

    assert outcomes(applied) == {"SavedView/errors": "refused"}
    assert "saved view 1" in applied.outcomes[0].message


@pytest.mark.promise("P23")
@pytest.mark.parametrize("reply", [{}, [], {"id": None}, {"id": "1"}, {"name": "All errors"}])
def test_answer_without_a_view(site: Site, reply: Json) -> None:
    """A replace answered without its view may have happened or not, and is asserted again."""
    site.apply(ERRORS)
    site.meddle("PUT", VIEWS + "/*", answer_with(200, reply))

    applied = site.apply(RENAMED)

    assert outcomes(applied) == {"SavedView/errors": "unconfirmed"}
    assert applied.exit_codes == {9}
    assert (site.change(RENAMED).action.word, site.change(RENAMED).remote_id) == ("assert", 1)
    site.apply(RENAMED)
    assert_settled(site, RENAMED)


@pytest.mark.parametrize("reply", [{"id": 9}, {"id": 1, "name": 5}])
def test_odd_answer_to_a_replace(site: Site, reply: Json) -> None:
    """The id of a view is the one that was asked for, whatever the answer holds."""
    site.apply(ERRORS)
    site.meddle("PUT", VIEWS + "/*", answer_with(200, reply))

    site.apply(RENAMED)

    assert site.journal.history.of(ERRORS.ref).remote_id == 1
