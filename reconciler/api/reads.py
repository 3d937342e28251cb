"""The answers that an observation rests on, by which a later run finds out that nothing moved.

Source: docs/performance.md.
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
    """The documents that were read, in this order: their paths, and digests of the answers.

    With each stands the service's own name for the answer, "" where it gave none that may be
    used. `whole` is False once something was read that a path alone does not tell, that is not
    there or that nobody can read. `fetched` are answers that came already, for whoever reads
    them next.
    """

    made: list[tuple[str, str, str]] = field(default_factory=list)
    whole: bool = True
    fetched: dict[str, Reply] = field(default_factory=dict)

    def note(self, path: str, reply: Reply, *, plain: bool) -> None:
        """Note one answer; it is `plain` where asking for the path again would be the same."""
        if plain and reply.status == HTTPStatus.OK and reply.is_readable:
            self.made.append((path, digest_of(reply.body), strong_etag(reply.etag)))
        else:
            self.whole = False


READS: ContextVar[ReadLog | None] = ContextVar("READS", default=None)
"""Where the observation that runs notes its reads; None where nobody asks."""


_STRONG = re.compile(r'"[!#-~]{1,200}"')


def strong_etag(header: str) -> str:
    """Give an ETag that stands for the bytes of an answer; "" for a weak one or none."""
    return header if _STRONG.fullmatch(header) else ""


def digest_of(body: bytes) -> str:
    """Give the digest of an answer as it came."""
    return hashlib.sha256(body).hexdigest()
