"""Answers that end a run, reported with the setting that may be wrong. Source: docs/network.md."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal, TypeVar

from reconciler.api.replies import (
    LONGEST_MESSAGE,
    NotFound,
    Reply,
    is_page,
    meaning_of_404,
    message_of,
    phrase,
)
from reconciler.api.retry import Call, GiveUp
from reconciler.api.secret import Redaction
from reconciler.api.wire import Attempt
from reconciler.errors import (
    NotAuthorised,
    ReconcilerError,
    Redirected,
    Unavailable,
    UnreadableReply,
    WrongRoute,
)
from reconciler.model.assumptions import Assumptions

_Failure = TypeVar("_Failure", bound=ReconcilerError)
USUAL_PATH = Assumptions().base_path


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """How requests reach the API: settings that may be wrong."""

    base_path: str
    authorization: Literal["raw", "bearer"]

    def hint(self, reply: Reply) -> str:
        """Return what to change for an answer that a setting may cause; "" for any other."""
        if reply.status == HTTPStatus.UNAUTHORIZED:
            return self._key_hint
        return self.path_hint if leads_elsewhere(reply) else ""

    @property
    def path_hint(self) -> str:
        """Return what to check where an address is not that of the API."""
        if self.base_path != USUAL_PATH:
            added = self.base_path or "nothing"
            return f"check the base URL, to which {added} is added, as `api.basePath` says"
        return (
            f"check the base URL, to which {USUAL_PATH} is added, and `api.basePath`: "
            "some services have this API under a version number, as /mgmt/openapi/3"
        )

    @property
    def _key_hint(self) -> str:
        sent, wanted, other = "as it is", "`Bearer KEY`", "bearer"
        if self.authorization == "bearer":
            sent, wanted, other = "as `Bearer KEY`", "it as it is", "raw"
        return (
            f"the key went {sent}; where the service wants {wanted}, "
            f"set `authorization: {other}` in reconciler.yaml"
        )


def leads_elsewhere(reply: Reply) -> bool:
    """Return whether an answer is not of the API: a redirect, a page, an unknown route."""
    if reply.ok:
        return not reply.is_json and is_page(reply)
    if reply.status == HTTPStatus.NOT_FOUND:
        return meaning_of_404(reply) is NotFound.WRONG_ROUTE
    redirect = HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST
    return redirect or reply.status == HTTPStatus.NOT_IMPLEMENTED


def marked(error: _Failure, *, doubtful: bool) -> _Failure:
    """Mark an error if an earlier attempt may have been carried out, and return it."""
    error.doubtful |= doubtful
    return error


def gave_up(call: Call, attempt: Attempt, step: GiveUp, way: ApiAccess) -> Unavailable:
    """Return the error for a last attempt that failed, with the reason."""
    message = f"{call}: {attempt.why} ({step.why})"
    if attempt.reply is None or not attempt.reply.ok:
        return Unavailable(message)
    hint = way.hint(attempt.reply)
    return UnreadableReply(message + (f"; {hint}" if hint else ""))


def stopping(call: Call, reply: Reply, way: ApiAccess, redaction: Redaction) -> ReconcilerError:
    """Return the error for an answer that ends the run: a refused key, or another service."""
    message = message_of(reply, redaction)
    words = phrase(reply.status) + (f": {message}" if message else "")
    if reply.status == HTTPStatus.UNAUTHORIZED:
        message = f"the service does not accept the API key ({words}); {way.hint(reply)}"
        return NotAuthorised(message)
    if reply.status == HTTPStatus.FORBIDDEN:
        message = f"the API key lacks a permission for {call.method} {call.path} ({words})"
        return NotAuthorised(message, known=True)
    if reply.status == HTTPStatus.NOT_MODIFIED:
        return Redirected(
            f"{call} answered {words}, and nothing was asked that this answers: look for a cache "
            "between here and the service"
        )
    if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
        where = redaction(reply.location)[:LONGEST_MESSAGE] or "nowhere"
        return Redirected(
            f"{call} answered {phrase(reply.status)} to {where}; redirects are never "
            f"followed, as the key would go along: {way.path_hint}"
        )
    return wrong_route(call, way)


def wrong_route(call: Call, way: ApiAccess) -> WrongRoute:
    """Return the error for an address that answers, and is not the API."""
    return WrongRoute(f"{call.url} is not a path of the management API: {way.path_hint}")
