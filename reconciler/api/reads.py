"""Answers that an observation relies on.

With them a later run finds out that nothing changed. Source: docs/performance.md.
"""

from __future__ import annotations

import hashlib
import re
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus

from reconciler.api.replies import Reply


@dataclass(slots=True)
class ReadLog:
    """The documents that were read, in order: their paths, and digests of the answers.

    Each has the service's ETag of the answer, "" where there is no usable ETag. `whole` is False
    after a read that a path alone does not describe, or with an answer that is missing or
    unreadable. `fetched` are answers that came already, for the next read of them.
    """

    made: list[tuple[str, str, str]] = field(default_factory=list)
    whole: bool = True
    fetched: dict[str, Reply] = field(default_factory=dict)

    def note(self, path: str, reply: Reply, *, plain: bool) -> None:
        """Record one answer; `plain` means that a read of the path would be the same request."""
        if plain and reply.status == HTTPStatus.OK and reply.is_readable:
            self.made.append((path, digest_of(reply.body), strong_etag(reply.etag)))
        else:
            self.whole = False


READS: ContextVar[ReadLog | None] = ContextVar("READS", default=None)
"""Log for the reads of the present observation; None where none is wanted."""


_STRONG = re.compile(r'"[!#-~]{1,200}"')


def strong_etag(header: str) -> str:
    """Return an ETag that identifies the bytes of an answer; "" for a weak one or none."""
    return header if _STRONG.fullmatch(header) else ""


def digest_of(body: bytes) -> str:
    """Return the digest of an answer's raw bytes."""
    return hashlib.sha256(body).hexdigest()
