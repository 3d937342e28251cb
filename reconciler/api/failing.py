"""Errors for what a request came to, in words for the person who must act."""

from __future__ import annotations

from http import HTTPStatus
from typing import TypeVar

from reconciler.api.call import Call
from reconciler.api.exchange import Attempt
from reconciler.api.replies import LONGEST_MESSAGE, Reply, message_of, phrase
from reconciler.api.retrying import GiveUp
from reconciler.api.secret import Redaction
from reconciler.errors import (
    NotAuthorised,
    ReconcilerError,
    Redirected,
    Unavailable,
    UnreadableReply,
    WrongRoute,
)

_Failure = TypeVar("_Failure", bound=ReconcilerError)


def marked(error: _Failure, *, doubtful: bool) -> _Failure:
    """Note on an error whether an earlier attempt may have been carried out."""
    error.doubtful |= doubtful
    return error


def gave_up(call: Call, attempt: Attempt, step: GiveUp) -> Unavailable:
    """Say that there is no attempt left, and why the last one failed."""
    said = f"{call}: {attempt.why} ({step.why})"
    is_success = attempt.reply is not None and attempt.reply.ok
    return UnreadableReply(said) if is_success else Unavailable(said)


def stopping(call: Call, reply: Reply, base_path: str, redaction: Redaction) -> ReconcilerError:
    """Say why an answer ends the run: the key is refused, or this is not the API."""
    said = message_of(reply, redaction)
    words = phrase(reply.status) + (f": {said}" if said else "")
    if reply.status == HTTPStatus.UNAUTHORIZED:
        return NotAuthorised(f"the service does not accept the API key ({words})")
    if reply.status == HTTPStatus.FORBIDDEN:
        said = f"the API key lacks a permission for {call.method} {call.path} ({words})"
        return NotAuthorised(said)
    if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
        where = redaction(reply.location)[:LONGEST_MESSAGE] or "nowhere"
        return Redirected(
            f"{call} answered {phrase(reply.status)} to {where}; redirects are never "
            "followed, as the key would go along: correct the base URL"
        )
    return wrong_route(call, base_path)


def wrong_route(call: Call, base_path: str) -> WrongRoute:
    """Say that the address answers, and is not the API."""
    return WrongRoute(
        f"{call.url} is not a path of the management API: check the base URL, "
        f"to which {base_path} is added"
    )
