"""Requests to the forge: what is tried again, what is told, and where the token goes."""

from __future__ import annotations

from typing import Any

import pytest
import respx
from asking import URL, asking
from harness.forge import PERSON, READ_ONLY, TOKEN, FakeForge, Fault, secondary_limit, served_forge

from reconciler.ci.forge import Client, Comment, ForgeError, Repository

PULL = 7
COMMENTS = "/repos/team/shop/issues/7/comments"


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_forge_that_stumbles(status: int) -> None:
    """A read is tried again after an error of the forge, with growing waits."""
    forge, waited = FakeForge(), list[float]()
    forge.faults.append(Fault("GET", COMMENTS, status, times=3))
    with asking(forge, waited=waited) as repository:
        assert repository.comments(PULL) == []

    assert waited == [1.0, 2.0, 4.0]


def test_a_forge_that_is_down() -> None:
    """After four attempts the failure is told with what the forge said."""
    forge = FakeForge()
    forge.faults.append(Fault("GET", COMMENTS, 503, {"message": "no \n servers"}, times=99))
    with asking(forge) as repository, pytest.raises(ForgeError, match="503: no servers") as failed:
        repository.comments(PULL)

    assert len(forge.requests) == 4
    assert failed.value.exit_code == 9


def test_a_lost_create_is_not_repeated() -> None:
    """A comment that may have been taken is not sent again by itself."""
    forge = FakeForge()
    forge.faults.append(Fault("POST", COMMENTS, 500, times=9))
    with asking(forge) as repository, pytest.raises(ForgeError) as failed:
        repository.create(PULL, "hello")

    assert failed.value.is_lost
    assert len(forge.requests) == 1


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"retry-after": "30"}, [30.0]),
        ({"retry-after": "0"}, [2.0]),
        ({"retry-after": "soon"}, [2.0]),
        ({"x-ratelimit-remaining": "0"}, [2.0]),
        ({}, [2.0]),
    ],
    ids=str,
)
@pytest.mark.parametrize("status", [403, 429])
def test_limits(status: int, headers: dict[str, str], waits: list[float]) -> None:
    """A rate limit is waited for as long as it says, whatever its status."""
    forge, waited = FakeForge(), list[float]()
    said = {"message": "You have exceeded a secondary rate limit."}
    forge.faults.append(Fault("GET", COMMENTS, status, said, headers))
    with asking(forge, waited=waited) as repository:
        repository.comments(PULL)

    assert waited == waits


def test_a_limit_for_an_hour() -> None:
    """Nobody waits longer than a minute, and a limit is no lack of rights."""
    forge, waited = FakeForge(), list[float]()
    fault = Fault("GET", COMMENTS, 403, {"message": "rate limit"}, {"retry-after": "3600"})
    forge.faults.append(fault)
    with asking(forge, waited=waited) as repository, pytest.raises(ForgeError) as failed:
        repository.comments(PULL)

    assert waited == []
    assert not failed.value.is_forbidden


def test_a_read_only_token() -> None:
    """A lack of rights is told at once, and is known for what it is."""
    forge, waited = FakeForge(), list[float]()
    with asking(forge, READ_ONLY, waited) as repository, pytest.raises(ForgeError) as failed:
        repository.create(PULL, "hello")

    assert failed.value.is_forbidden
    assert waited == []


def test_a_redirect() -> None:
    """A redirect is never followed: the token would go along."""
    forge = FakeForge()
    headers = {"location": "https://elsewhere.example.com/"}
    forge.faults.append(Fault("GET", COMMENTS, 301, None, headers))
    with asking(forge) as repository, pytest.raises(ForgeError, match="a redirect to https://else"):
        repository.comments(PULL)

    assert len(forge.requests) == 1


@pytest.mark.parametrize("answer", [{}, [], None, {"id": "7"}, {"id": True}, "x"], ids=str)
def test_odd_answers(answer: Any) -> None:
    """An answer of another form is a failure, never a traceback."""
    forge = FakeForge()
    forge.faults.append(Fault("PATCH", ".*", 200, answer))
    with asking(forge) as repository, pytest.raises(ForgeError):
        repository.edit(Comment(1, "", 0, ""), "hello")


def test_an_answer_that_is_no_list() -> None:
    """A listing that is none is a failure too."""
    forge = FakeForge()
    forge.faults.append(Fault("GET", COMMENTS, 200, {"message": "hello"}))
    with asking(forge) as repository, pytest.raises(ForgeError, match="a list"):
        repository.comments(PULL)


def test_who_we_are() -> None:
    """Our user is asked for in the way that a job's token allows."""
    with asking(FakeForge()) as repository:
        assert (repository.own.login, repository.own.id) == ("github-actions[bot]", 41898282)
    with asking(FakeForge(), PERSON) as repository:
        assert repository.own.login == "mallory"


def test_who_we_are_without_queries() -> None:
    """Where queries are not answered, a person's token is asked plainly, and a job's is known."""
    forge = FakeForge(faults=[Fault("POST", "/graphql", 404, times=9)])
    with asking(forge, PERSON) as repository:
        assert repository.own.login == "mallory"
    with asking(forge) as repository:
        assert repository.own.login == "github-actions[bot]"


def test_nobody_answers() -> None:
    """A forge that cannot be reached is told with its address, and never the token."""
    url = "http://127.0.0.1:9"
    with (
        Client(url, f"{url}/graphql", "canary-token", sleep=lambda _: None) as client,
        pytest.raises(ForgeError, match=r"127\.0\.0\.1:9") as failed,
    ):
        client.get("/user")

    assert "canary" not in f"{failed.value}{client}{failed.value!r}"
    assert not failed.value.is_lost


def test_a_real_port() -> None:
    """Over a real connection comments are paged, written, changed and folded."""
    with served_forge() as forge:
        for number in range(101):
            forge.write(PULL, str(number), PERSON)
        with Client(forge.url, f"{forge.url}/graphql", TOKEN) as client:
            repository = Repository(client, "team/shop")
            written = repository.create(PULL, "hello")
            changed = repository.edit(written, "hello again")
            repository.fold(changed)
            found = repository.comments(PULL)

    assert len(found) == 102
    assert found[-1].body == "hello again"
    assert forge.folded == {written.node}


MERGED = {"number": 7, "state": "closed", "merged_at": "2026-01-02T00:00:00Z"}


@pytest.mark.parametrize(
    ("pulls", "number"),
    [
        ([], None),
        ([{**MERGED, "base": {"ref": "main"}, "merge_commit_sha": "c"}], 7),
        ([{**MERGED, "base": {"ref": "main"}, "merge_commit_sha": "z"}], 7),
        ([{**MERGED, "base": {"ref": "release"}, "merge_commit_sha": "c"}], None),
        ([{"number": 7, "state": "open", "base": {"ref": "main"}, "merged_at": None}], None),
        (
            [
                {**MERGED, "base": {"ref": "main"}, "merge_commit_sha": "c"},
                {**MERGED, "number": 8, "base": {"ref": "main"}, "merge_commit_sha": "d"},
            ],
            7,
        ),
        (
            [
                {**MERGED, "base": {"ref": "main"}},
                {
                    **MERGED,
                    "number": 8,
                    "base": {"ref": "main"},
                    "merged_at": "2026-01-03T00:00:00Z",
                },
            ],
            8,
        ),
    ],
    ids=["none", "merge", "rebase", "backport", "open", "own", "newest"],
)
def test_the_pull_request_of_a_commit(pulls: list[dict[str, Any]], number: int | None) -> None:
    """It is the one that was merged into this branch: by its own commit, else the newest."""
    forge = FakeForge(pulls={"c": pulls})
    with asking(forge) as repository:
        assert repository.merged_from("c", "main") == number


def test_the_open_pull_request_of_a_commit() -> None:
    """It is the open one whose newest commit this is."""
    pulls = [
        {"number": 6, "state": "closed", "head": {"sha": "a"}},
        {"number": 7, "state": "open", "head": {"sha": "b"}},
        {"number": 8, "state": "open", "head": {"sha": "a"}},
    ]
    with asking(FakeForge(pulls={"a": pulls})) as repository:
        assert repository.open_at("a") == 8
        assert repository.open_at("b") is None


def test_a_body_that_is_no_json() -> None:
    """A page instead of an answer is a failure."""
    client = Client(URL, f"{URL}/graphql", TOKEN, sleep=lambda _: None)
    with respx.mock(base_url=URL) as forge, client:
        forge.get("/user").respond(text="<html>")
        with pytest.raises(ForgeError, match="not JSON"):
            client.get("/user")


def test_faults_are_of_one_kind() -> None:
    """The fake's own limit is one that the client waits for."""
    forge = FakeForge(faults=[secondary_limit("GET", COMMENTS, 2)])
    with asking(forge) as repository:
        assert repository.comments(PULL) == []
