"""Following page tokens. Source: docs/assumptions.md."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from harness.wire import collected
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.errors import UnreadableReply
from reconciler.records.record import IDLE_PAGES, PAGE_SIZE, Allowance, PageShape, Record, follow


def followed(
    pages: Sequence[Json],
    limit: int | None = None,
    holds: Callable[[Record], bool] | None = None,
    required: Sequence[str] = (),
) -> tuple[list[Json], list[dict[str, Json]]]:
    """Follow pages of plain records; gives their documents and what was asked for."""
    asked: list[dict[str, Json]] = []
    left = list(pages)

    async def fetch(pagination: dict[str, Json]) -> Json:
        asked.append(pagination)
        return left.pop(0)

    async def run() -> list[Record]:
        return await collected(
            follow(fetch, PageShape("items", Record, required), limit, holds or (lambda _: True))
        )

    return [dict(record.document) for record in asyncio.run(run())], asked


def pages_of(sizes: list[int]) -> list[Json]:
    """Give pages of so many records each, numbered through; the last one has no token."""
    pages: list[Json] = []
    number = 0
    for index, size in enumerate(sizes):
        items: list[Json] = [{"number": number + place} for place in range(size)]
        number += size
        token = f"t{index}" if index + 1 < len(sizes) else ""
        pages.append({"items": items, "pagination": {"nextPageToken": token, "totalSize": 99}})
    return pages


def numbers(records: list[Json]) -> list[Json]:
    return [record["number"] for record in records if isinstance(record, dict)]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_all_pages(sizes: list[int]) -> None:
    """However records are spread over pages, empty ones too, each comes once and in order."""
    records, asked = followed(pages_of(sizes))

    assert numbers(records) == list(range(sum(sizes)))
    assert asked == [
        {"pageSize": PAGE_SIZE, **({"pageToken": f"t{index - 1}"} if index else {})}
        for index in range(len(sizes))
    ]


@pytest.mark.parametrize("total", [3, "3", 3.0, 2.5])
def test_less_than_announced(total: Json) -> None:
    """A listing that announces more than it holds is cut, however the number is written."""
    page: Json = {"items": [{}, {}], "pagination": {"totalSize": total}}
    allowed = Allowance(9)

    async def fetch(_: dict[str, Json]) -> Json:
        return page

    async def read(*, whole: bool) -> list[Record]:
        listing = PageShape("items", Record, ())
        return await collected(follow(fetch, listing, None if whole else allowed, whole=whole))

    assert (len(asyncio.run(read(whole=False))), allowed.cut) == (2, True)
    with pytest.raises(UnreadableReply):
        asyncio.run(read(whole=True))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(1, 20))
def test_limit(sizes: list[int], limit: int) -> None:
    """A limit gives exactly so many, and asks for no page after the one that fills it."""
    records, asked = followed(pages_of(sizes), limit)

    assert numbers(records) == list(range(min(limit, sum(sizes))))
    needed = next(
        (index for index in range(len(sizes)) if sum(sizes[: index + 1]) >= limit), len(sizes) - 1
    )
    assert len(asked) == needed + 1


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(1, 5))
def test_limit_counts_what_holds(sizes: list[int], limit: int) -> None:
    """Records that do not hold use up nothing of the limit."""
    records, _ = followed(
        pages_of(sizes), limit, lambda one: numbers([dict(one.document)])[0] in range(1, 99, 2)
    )

    assert numbers(records) == list(range(1, sum(sizes), 2))[:limit]


def page_of(number: int, *items: Json) -> Json:
    """Give a page that another one follows, whose token is new."""
    return {"items": list(items), "pagination": {"nextPageToken": f"t{number}"}}


ONE: Json = {"id": "a", "number": 1}
OTHER: Json = {"id": "b", "number": 2}
NAMELESS: Json = {"number": 1}


@pytest.mark.parametrize("items", [(), (ONE, OTHER), (NAMELESS,)])
def test_ever_new_tokens(items: tuple[Json, ...]) -> None:
    """Pages without end, each with a token of its own and nothing new, end as an error."""
    pages = [page_of(number, *items) for number in range(2 * IDLE_PAGES)]

    with pytest.raises(UnreadableReply, match="pages in a row held nothing"):
        followed(pages)
    with pytest.raises(UnreadableReply, match="pages in a row held nothing"):
        followed(pages, 1000)


def test_idle_pages_between() -> None:
    """Pages without records are no end, as long as something comes in between."""
    pages: list[Json] = []
    for number in range(4):
        pages += [page_of(1000 * number + one) for one in range(IDLE_PAGES - 1)]
        pages.append(page_of(10_000 + number, {"id": str(number), "number": number}))
    pages.append({"items": [], "pagination": {}})

    records, _ = followed(pages)

    assert numbers(records) == [0, 1, 2, 3]


def test_pages_that_moved() -> None:
    """A record that two pages hold comes once, unless it has no id, or changed in between."""
    changed: Json = {"id": "a", "number": 3}
    pages: list[Json] = [
        page_of(1, ONE, NAMELESS),
        page_of(2, ONE, OTHER, NAMELESS),
        {"items": [changed], "pagination": {}},
    ]

    records, _ = followed(pages)

    assert records == [ONE, NAMELESS, OTHER, NAMELESS, changed]


def test_a_record_again_hides_no_other() -> None:
    """What comes twice is not counted twice against what the listing announces."""
    announced: Json = {"items": [ONE], "pagination": {"totalSize": 2}}

    async def fetch(_: dict[str, Json]) -> Json:
        return pages.pop(0)

    pages = [page_of(1, ONE), announced]
    allowed = Allowance()
    asyncio.run(collected(follow(fetch, PageShape("items", Record), allowed)))

    assert (allowed.cut, allowed.missing) == (True, 1)


@pytest.mark.parametrize("between", [0, 1, 5])
def test_repeated_token(between: int) -> None:
    """A token that comes again is an error, also after others: it would never end."""
    tokens = ["again", *(f"t{index}" for index in range(between)), "again"]
    pages: list[Json] = [
        {"items": [{}], "pagination": {"nextPageToken": token}} for token in tokens
    ]

    with pytest.raises(UnreadableReply, match="the page token `again` came twice"):
        followed([*pages, {"items": []}])


@pytest.mark.parametrize(
    "pagination",
    [{}, {"pagination": None}, {"pagination": {}}, {"pagination": {"nextPageToken": None}}],
)
def test_no_token_ends(pagination: dict[str, Json]) -> None:
    """Without a token, or without `pagination` at all, the page is the last one."""
    assert followed([{"items": [{"number": 0}], **pagination}])[0] == [{"number": 0}]


@pytest.mark.parametrize("token", [7, True, ["t"], {"t": 1}])
def test_strange_token(token: Json) -> None:
    """A token that is no text is an error: to stop there would hide the rest."""
    with pytest.raises(UnreadableReply, match="page token"):
        followed([{"items": [], "pagination": {"nextPageToken": token}}])


@pytest.mark.promise("P23")
@pytest.mark.parametrize("left_out", [{}, {"items": None}])
@pytest.mark.parametrize("pagination", [{}, {"totalSize": 0, "nextPageToken": ""}])
def test_left_out_list(left_out: dict[str, Json], pagination: Json) -> None:
    """A page that has its `pagination`, and nothing in it, may leave an empty list out."""
    assert followed([{**left_out, "pagination": pagination}])[0] == []


@pytest.mark.promise("P23")
@pytest.mark.parametrize("left_out", [{}, {"items": None}, {"other": 1}])
@pytest.mark.parametrize(
    "pagination",
    [
        {},
        {"pagination": None},
        {"pagination": []},
        {"pagination": {"totalSize": 3}},
        {"pagination": {"nextPageToken": "t"}},
    ],
)
def test_missing_list(left_out: dict[str, Json], pagination: dict[str, Json]) -> None:
    """A page that holds no list, and does not say either that it is empty, is an error."""
    with pytest.raises(UnreadableReply, match="no list `items`"):
        followed([{**left_out, **pagination}, {"items": []}])


@pytest.mark.promise("P23")
@pytest.mark.parametrize("page", [{}, {"items": None, "pagination": {}}, {"pagination": {}}])
def test_required_list(page: Json) -> None:
    """A list that the document requires is never taken for empty when it is missing."""
    with pytest.raises(UnreadableReply, match="no list `items`"):
        followed([page], required=["items"])


@pytest.mark.promise("P23")
@pytest.mark.parametrize("pagination", [{}, {"pagination": None}, {"pagination": "t"}])
def test_required_pagination(pagination: dict[str, Json]) -> None:
    """Where the document requires `pagination`, a page without it may not be the last one."""
    with pytest.raises(UnreadableReply, match="no object `pagination`"):
        followed([{"items": [{}], **pagination}], required=["items", "pagination"])


@pytest.mark.parametrize("page", [[], None, 1, "x", {"items": {}}, {"items": "x"}])
def test_page_of_another_form(page: Json) -> None:
    """A page that is not an object with a list is an error, not an empty listing."""
    with pytest.raises(UnreadableReply, match="no list `items`"):
        followed([page])


@pytest.mark.parametrize("item", [None, 1, "x", []])
def test_record_of_another_form(item: Json) -> None:
    """A record that is not an object is an error that names the record."""
    with pytest.raises(UnreadableReply, match="a Record of the answer cannot be read"):
        followed([{"items": [item]}])
