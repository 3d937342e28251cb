"""What follows when a request fails: one table. Source: failure-cases.md, part 3.

docs/security.md prints this table, and a test compares the two.
"""

from __future__ import annotations

from enum import Enum
from http import HTTPStatus

LIMITED_STATUS = 429
LOST_STATUSES = frozenset((408, 499, 500, 502, 503, 504, 520))
_BARRED_STATUSES = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class Request(Enum):
    """How often a request may happen, and who can tell whether it did."""

    READ = "read"
    """A GET, or a POST that only asks (7, 8, 14, 18, 19)."""
    REPLACE = "replace"
    """A PUT: done twice it is done once."""
    FINDABLE = "findable write"
    """Not to be done twice, but a listing or a look by name tells whether it was done."""
    BLIND = "blind create"
    """Not to be done twice, and nothing tells whether it was done."""


class Phase(Enum):
    """How far an attempt came. A limited one was heard, and surely not carried out."""

    NOT_SENT = "no byte was sent"
    LIMITED = "429"
    LOST = "lost after a byte was sent, or an answer that says nothing"
    BARRED = "401, 403"
    MISLED = "3xx, 501, no such route"
    REFUSED = "any other 4xx"
    ANSWERED = "an answer that says something"


class Verdict(Enum):
    """What is done next."""

    RETRY = "retry"
    RESOLVE = "look it up, then decide"
    LEAVE = "unsettled, never again"
    STOP = "stop the run"
    REFUSE = "refused"
    TAKE = "take the answer"


_SAME_FOR_ALL = {
    Phase.NOT_SENT: Verdict.RETRY,
    Phase.LIMITED: Verdict.RETRY,
    Phase.BARRED: Verdict.STOP,
    Phase.MISLED: Verdict.STOP,
    Phase.REFUSED: Verdict.REFUSE,
    Phase.ANSWERED: Verdict.TAKE,
}
RULES: dict[Request, dict[Phase, Verdict]] = {
    Request.READ: {**_SAME_FOR_ALL, Phase.LOST: Verdict.RETRY},
    Request.REPLACE: {**_SAME_FOR_ALL, Phase.LOST: Verdict.RETRY},
    Request.FINDABLE: {**_SAME_FOR_ALL, Phase.LOST: Verdict.RESOLVE},
    Request.BLIND: {**_SAME_FOR_ALL, Phase.LOST: Verdict.LEAVE},
}


def phase_of_status(status: int) -> Phase:
    """Tell how far an attempt came whose answer has this status."""
    if status == LIMITED_STATUS:
        return Phase.LIMITED
    if status in LOST_STATUSES:
        return Phase.LOST
    if status in _BARRED_STATUSES:
        return Phase.BARRED
    if status == HTTPStatus.NOT_IMPLEMENTED or status // 100 == HTTPStatus.MULTIPLE_CHOICES // 100:
        return Phase.MISLED
    return Phase.ANSWERED if status // 100 == HTTPStatus.OK // 100 else Phase.REFUSED
