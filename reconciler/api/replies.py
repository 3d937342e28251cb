"""Answers of the service: its error messages, kinds of 404, and lists that must be whole.

And a log of the answers that an observation relies on: with them a later run finds out that nothing
changed (docs/performance.md).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from typing import NoReturn

from reconciler.document import Json, Missing, Path, value_at
from reconciler.errors import UnreadableReply

LONGEST_MESSAGE = 500
_LOOKED_THROUGH = 16 * LONGEST_MESSAGE
NO_SUCH_ROUTE = 5
_ESCAPE = re.compile(
    r"\\\\"  # an escaped backslash begins no other escape
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole pair
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer, read to its end. `document` is None where the body is not JSON.

    `doubtful` means that an earlier attempt of the request may have been carried out.
    """

    status: int
    body: bytes
    is_json: bool
    content_type: str = ""
    document: Json = None
    location: str = ""
    retry_after: str | None = None
    date: str = ""
    etag: str = ""
    doubtful: bool = False
    content_range: str | None = None
    same: bool = False
    """Whether the answer is the same as the known one, and was therefore not parsed."""

    @property
    def is_whole(self) -> bool:
        """Return whether the answer is not marked as partial (206, `Content-Range`)."""
        return self.status != HTTPStatus.PARTIAL_CONTENT and self.content_range is None

    @property
    def is_readable(self) -> bool:
        """Return whether the whole document is available."""
        return self.is_json and self.is_whole

    @property
    def ok(self) -> bool:
        """Return whether the status is any 2xx."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


def make_reply(status: int, body: bytes, headers: Mapping[str, str]) -> Reply:
    """Return a reply of these parts; names of headers are in lower case."""
    try:
        document, is_json = _READER.decode(_with_whole_characters(body)), True
    except (ValueError, RecursionError):
        document, is_json = None, False
    return Reply(
        status=status,
        body=body,
        content_type=headers.get("content-type", ""),
        document=document,
        is_json=is_json,
        location=headers.get("location", ""),
        retry_after=headers.get("retry-after"),
        date=headers.get("date", ""),
        etag=headers.get("etag", ""),
        content_range=headers.get("content-range"),
    )


def _with_whole_characters(body: bytes) -> str:
    """Decode a body, with U+FFFD in place of half characters, which no file can hold.

    Services written for UTF-16 cut texts in the middle of an emoji. Raises ValueError for a body
    that is not UTF-8; the JSON parser would accept half characters.
    """
    text = body.decode("utf-8-sig")
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(lambda found: "\\ufffd" if found["half"] else found.group(), text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_READER = json.JSONDecoder(parse_constant=_refuse)


def message_of(reply: Reply, hide: Callable[[str], str] = str) -> str:
    """Return the service's message, unchanged; "" where there is none.

    `hide` removes secrets that the service repeats, before a cut could leave half a secret.
    """
    document = reply.document
    if isinstance(document, dict):
        error = document.get("error")
        inner = error.get("message") if isinstance(error, dict) else error
        for message in (document.get("message"), inner, document.get("detail")):
            if isinstance(message, str) and message:
                return _cut(hide(message[:_LOOKED_THROUGH]))
    return _cut(hide(reply.body[:_LOOKED_THROUGH].decode("utf-8", "replace").strip()))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + " […]"


class NotFound(Enum):
    """Meanings of a 404 to a read."""

    ABSENT = "absent"
    WRONG_ROUTE = "wrong route"
    UNCLEAR = "unclear"


def meaning_of_404(reply: Reply) -> NotFound:
    """Return whether a 404 means a missing object or a missing route."""
    document = reply.document
    if isinstance(document, dict):
        message = document.get("message")
        if message == "Not Found: Not Found":
            return NotFound.WRONG_ROUTE
        if document.get("code") == NO_SUCH_ROUTE and message == "Not Found":
            return NotFound.WRONG_ROUTE
        return NotFound.ABSENT
    return NotFound.WRONG_ROUTE if is_page(reply) else NotFound.UNCLEAR


def is_page(reply: Reply) -> bool:
    """Return whether a reply is a page for people, which the API never sends."""
    return "html" in reply.content_type or reply.body.lstrip()[:1] == b"<"


def unreadable(reply: Reply, request: str, hide: Callable[[str], str]) -> str:
    """Return why a successful reply is unreadable; `hide` removes secrets from its headers."""
    if not reply.is_whole:
        part = f" (Content-Range: {hide(reply.content_range)[:80]})" if reply.content_range else ""
        return f"{request} answered {phrase(reply.status)} with a part only{part}"
    content_type = hide(reply.content_type.partition(";")[0][:80]) or "no content type"
    return (
        f"{request} answered {phrase(reply.status)} with a body that is not JSON "
        f"({content_type}, {len(reply.body):,} bytes)"
    )


def phrase(status: int) -> str:
    """Return a status with its phrase, as `404 Not Found`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def items_of(reply: Json | Missing, member: str) -> list[Json]:
    """Return a list that an answer must have.

    Raises UnreadableReply where there is none: `{}` is no empty listing.
    """
    items = value_at(reply, (member,))
    if not isinstance(items, list):
        raise UnreadableReply(f"the answer has no list `{member}`")
    return items


_MORE = frozenset(
    ("more", "hasmore", "hasnext", "hasnextpage", "truncated", "istruncated", "partial")
)
_PAGES = frozenset(("totalpages", "pagecount", "pages"))
_COUNTS = frozenset(
    ("total", "totalsize", "totalcount", "totalitems", "totalelements", "totalresults", "count")
)


def check_whole(reply: Json | Missing, member: str) -> None:
    """Raise UnreadableReply where an answer announces more than its list `member` holds."""
    found = reply.get(member) if isinstance(reply, dict) else None
    held = len(found) if isinstance(found, list) else 0
    for path, announced in _reported_with(reply, member):
        name = str(path[-1]).replace("_", "").replace("-", "").lower()
        counted = name in _COUNTS or name == f"total{member}".lower()
        has_pages = name in _PAGES and _number(announced) > 1
        has_next = (name.startswith("next") or name in _MORE) and bool(announced)
        if (counted and _number(announced) > held) or has_pages or has_next:
            message = f"the answer's list `{member}` holds {held}, and `{'.'.join(map(str, path))}`"
            raise UnreadableReply(f"{message} says there are more: a part of a list is no list")


def _reported_with(reply: Json | Missing, member: str) -> Iterator[tuple[Path, Json]]:
    """Yield the fields of an answer next to its list, and the fields inside those."""
    waiting: list[tuple[Path, Json]] = []
    if isinstance(reply, dict):
        waiting = [((key,), value) for key, value in reply.items() if key != member]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, dict):
            waiting.extend(((*path, key), inner) for key, inner in value.items())


def _number(value: Json) -> float:
    """Return a count; services write large counts as text."""
    if isinstance(value, str):
        return float(value) if value.isascii() and value.isdigit() else 0
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


@dataclass(slots=True)
class ReadLog:
    """The documents that were read, in order: their paths, and digests of the answers.

    `made` has path, digest and ETag of each answer; the ETag is "" where none is usable. `whole` is
    False after a read that its path alone does not describe, and after an answer that is not a
    readable 200. `fetched` has answers by path; the next read of that path uses them.
    """

    made: list[tuple[str, str, str]] = field(default_factory=list)
    whole: bool = True
    fetched: dict[str, Reply] = field(default_factory=dict)

    def note(self, path: str, reply: Reply, *, plain: bool) -> None:
        """Record one answer; `plain` means that the path alone describes the request."""
        if plain and reply.status == HTTPStatus.OK and reply.is_readable:
            # A weak ETag does not identify the bytes of an answer.
            etag = reply.etag if _STRONG.fullmatch(reply.etag) else ""
            self.made.append((path, digest_of(reply.body), etag))
        else:
            self.whole = False


READS: ContextVar[ReadLog | None] = ContextVar("READS", default=None)
"""Log for the reads of the present observation; None where none is wanted."""


_STRONG = re.compile(r'"[!#-~]{1,200}"')


def digest_of(body: bytes) -> str:
    """Return the digest of an answer's raw bytes."""
    return hashlib.sha256(body).hexdigest()
