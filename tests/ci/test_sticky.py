"""One comment of ours for each environment and folder."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from asking import Turns, asking
from harness.forge import PERSON, TOKEN, FakeForge, Fault, secondary_limit

from reconciler.ci.forge import ForgeError, Marker, put, read_marker, standing

SCHEDULES = int(os.environ.get("COMMENT_SCHEDULES", "60"))
PULL = 7
DIGEST = "sha256:" + "ab" * 32
MARKER = Marker(
    environment="production",
    root="0123456789abcdef",
    digest=DIGEST,
    head="1" * 40,
    base="2" * 40,
    run=10,
)


def body(marker: Marker, text: str = "the plan") -> str:
    """Give a comment."""
    return f"{marker.line}\n{text}\n"


def test_first_comment() -> None:
    """Where there is no comment of ours, one is written."""
    forge = FakeForge()
    with asking(forge) as repository:
        written = put(repository, PULL, body(MARKER))

    assert written is not None
    assert [value["body"] for value in forge.visible(PULL)] == [body(MARKER)]


def test_only_update() -> None:
    """Where only an old comment is to be changed, no new one is made."""
    forge = FakeForge()
    with asking(forge) as repository:
        assert put(repository, PULL, body(MARKER), only_update=True) is None

    assert forge.comments == {}


def test_changed_in_its_place() -> None:
    """The next plan stands where the last one stood."""
    forge = FakeForge()
    later = body(replace(MARKER, run=11), "another plan")
    with asking(forge) as repository:
        put(repository, PULL, body(MARKER))
        put(repository, PULL, later)

    assert [value["body"] for value in forge.comments[PULL]] == [later]


def test_left_alone() -> None:
    """A body that stands there already is not written again."""
    forge = FakeForge()
    with asking(forge) as repository:
        put(repository, PULL, body(MARKER))
        put(repository, PULL, body(MARKER))

    assert not any(request.startswith("PATCH") for request in forge.requests)


def test_an_earlier_run_gives_way() -> None:
    """A run that began before the one that wrote last changes nothing."""
    forge = FakeForge()
    with asking(forge) as repository:
        put(repository, PULL, body(MARKER))
        put(repository, PULL, body(replace(MARKER, run=9), "an old plan"))

    assert [value["body"] for value in forge.comments[PULL]] == [body(MARKER)]


@pytest.mark.parametrize(
    "marker",
    [
        replace(MARKER, environment="staging"),
        replace(MARKER, root="fedcba9876543210"),
        replace(MARKER, environment="prod"),
        replace(MARKER, state="superseded"),
    ],
    ids=["environment", "root", "prefix", "superseded"],
)
def test_another_key(marker: Marker) -> None:
    """A comment of another environment or folder, or one that gave way, is not ours to change."""
    forge = FakeForge()
    forge.write(PULL, body(marker))
    with asking(forge) as repository:
        put(repository, PULL, body(MARKER))

    assert [value["body"] for value in forge.comments[PULL]] == [body(marker), body(MARKER)]


def test_a_copy_by_somebody_else() -> None:
    """A comment that looks like ours but was written by another user counts for nothing."""
    forge = FakeForge()
    forge.write(PULL, body(MARKER, "forged"), PERSON)
    with asking(forge) as repository:
        assert standing(repository, PULL, MARKER.key) is None
        put(repository, PULL, body(MARKER))

    assert [value["user"]["login"] for value in forge.comments[PULL]] == [
        "mallory",
        "github-actions[bot]",
    ]


def test_a_marker_further_down() -> None:
    """Only the first line is a marker: one that a manifest smuggled in is text."""
    forge = FakeForge()
    forge.write(PULL, f"hello\n{MARKER.line}\n")
    with asking(forge) as repository:
        assert standing(repository, PULL, MARKER.key) is None


def test_many_comments() -> None:
    """Our comment is found behind any number of others."""
    forge = FakeForge()
    for number in range(250):
        forge.write(PULL, f"comment {number}", PERSON)
    forge.write(PULL, body(MARKER))
    with asking(forge) as repository:
        found = standing(repository, PULL, MARKER.key)

    assert found is not None
    assert found.marker == MARKER
    assert sum(request.endswith("/comments") for request in forge.requests) == 3


def test_one_for_each_run() -> None:
    """With a comment for each run, the older ones are folded and lose their digest."""
    forge = FakeForge()
    with asking(forge) as repository:
        for run in (10, 11, 12):
            put(repository, PULL, body(replace(MARKER, run=run), f"plan {run}"), is_new=True)
        newest = standing(repository, PULL, MARKER.key, newest=True)

    assert [value["body"].splitlines()[1] for value in forge.visible(PULL)] == ["plan 12"]
    markers = [read_marker(value["body"]) for value in forge.comments[PULL]]
    assert [marker.digest for marker in markers if marker is not None] == ["", "", DIGEST]
    assert newest is not None
    assert newest.marker.run == 12


def test_a_lost_answer() -> None:
    """A comment whose answer was lost is looked for, and not written twice."""
    forge = FakeForge()
    forge.faults.append(Fault("POST", ".*/comments", 502, carried_out=True))
    with asking(forge) as repository:
        put(repository, PULL, body(MARKER))

    assert len(forge.comments[PULL]) == 1


def test_a_lost_request() -> None:
    """A comment that was not taken is written again."""
    forge = FakeForge()
    forge.faults.append(Fault("POST", ".*/comments", 502))
    with asking(forge) as repository:
        put(repository, PULL, body(MARKER))

    assert len(forge.comments[PULL]) == 1


def test_too_quick() -> None:
    """A secondary rate limit is waited for, whatever is asked."""
    forge, waited = FakeForge(), list[float]()
    forge.faults += [secondary_limit("GET", ".*/comments"), secondary_limit("POST", ".*/comments")]
    with asking(forge, waited=waited) as repository:
        put(repository, PULL, body(MARKER))

    assert len(forge.comments[PULL]) == 1
    assert len(waited) == 2


def test_a_comment_that_is_too_long() -> None:
    """What the forge refuses is raised with its own words."""
    with asking(FakeForge()) as repository, pytest.raises(ForgeError, match="Validation Failed"):
        put(repository, PULL, body(MARKER, "x" * 65_536))


def test_one_that_cannot_be_folded() -> None:
    """A comment that gave way has no digest, also where folding it fails."""
    forge = FakeForge()
    forge.write(PULL, body(MARKER))
    forge.write(PULL, body(MARKER, "twice"))
    with asking(forge) as repository:
        assert repository.own.id == 41898282
        forge.faults.append(Fault("POST", "/graphql", 502, times=9))
        put(repository, PULL, body(MARKER))

    markers = [read_marker(value["body"]) for value in forge.comments[PULL]]
    assert [marker.state for marker in markers if marker is not None] == ["planned", "superseded"]


Run = Callable[[Callable[[], None]], None]


def racing(forge: FakeForge, run: int, *, new: bool) -> Run:
    """Give a run that comments while another does."""

    def comment(before: Callable[[], None]) -> None:
        with asking(forge, TOKEN, before=before) as repository:
            said = body(replace(MARKER, run=run), f"plan {run}")
            put(repository, PULL, said, is_new=new)

    return comment


@pytest.mark.parametrize("new", [False, True], ids=["sticky", "new"])
@pytest.mark.parametrize("before", [0, 1, 2], ids=["first", "update", "doubled"])
def test_two_runs_at_once(before: int, *, new: bool) -> None:
    """However the requests of two runs fall, one comment stays visible, and one digest."""
    chance = random.Random(f"{before}{new}")  # noqa: S311 - no secret
    for _ in range(max(1, SCHEDULES // 6)):
        forge = FakeForge()
        for number in range(before):
            forge.write(PULL, body(replace(MARKER, run=1 + number)))
        order = [chance.randrange(2) for _ in range(24)]
        Turns(order).play(racing(forge, 10, new=new), racing(forge, 11, new=new))

        markers = [read_marker(value["body"]) for value in forge.comments[PULL]]
        live = [marker for marker in markers if marker is not None and marker.digest]
        assert len(forge.visible(PULL)) == len(live) == 1, order
        assert live[0].run in (10, 11), order
