"""Permissions that a run needs from the service, checked with reads only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.api.client import Api
from reconciler.api.replies import NotFound, Reply, meaning_of_404, message_of, phrase
from reconciler.api.retry import Method
from reconciler.document import Json
from reconciler.errors import ExitCode, ReconcilerError
from reconciler.kinds.dashboard.remote import BY_SLUG
from reconciler.kinds.log_policy_set.remote import BULK_TEST, LOGS_ONLY
from reconciler.kinds.slo.remote import SLOS
from reconciler.model.assumptions import POLICIES, Parameter
from reconciler.records.listings import ALERT_EVENTS, CASES, DAILY_UNITS, EVENTS, INCIDENTS

CheckState: TypeAlias = Literal["ok", "warning", "failed"]


@with_config(ConfigDict(extra="forbid"))
class CheckDocument(TypedDict):
    """A check of `doctor`."""

    check: str
    state: CheckState
    detail: str


DoctorDocument: TypeAlias = Annotated[
    list[CheckDocument], Field(description="What `doctor --format json` prints.")
]


MADE_UP = (
    "asked for an id that does not exist, and the answer says so: path and key are right; "
    "this shows nothing about ids that exist"
)
NOBODY = "00000000-0000-4000-8000-000000000000"
SMALLEST_SKEW_SECONDS = 2
LARGEST_SKEW_SECONDS = 60
REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
DISLIKED = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
NO_ROUTE = (HTTPStatus.NOT_FOUND, HTTPStatus.NOT_IMPLEMENTED)


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `exit_code` counts where it failed."""

    name: str
    state: CheckState
    detail: str
    exit_code: int = ExitCode.DONE


@dataclass(frozen=True, slots=True)
class Probe:
    """A read; its answer shows whether the key may do it.

    `for_nothing` reads what does not exist, so that a 404 is the expected answer.
    """

    name: str
    method: Method
    path: str
    body: Json = None
    params: Mapping[Parameter, Json] | None = None
    for_nothing: bool = False


def probes() -> tuple[Probe, ...]:
    """Return a harmless read for each group of operations; the first shows whether any can work."""
    page: dict[str, Json] = {"pageSize": 1}
    paged: Mapping[Parameter, Json] = {"pagination": page}
    slug = f"{BY_SLUG}/reconciler-doctor-asks"
    return (
        Probe("log policies", "GET", POLICIES, params={"sourceType": LOGS_ONLY}),
        Probe("policy tests", "POST", BULK_TEST, {"metaFieldsValuesList": []}),
        Probe("dashboards", "GET", slug, for_nothing=True),
        Probe("SLOs", "GET", f"{SLOS}/{NOBODY}", for_nothing=True),
        Probe("alert events", "GET", ALERT_EVENTS, params=paged),
        Probe("cases", "POST", CASES, {"pagination": page}),
        Probe("incidents", "POST", INCIDENTS, {}, paged),
        Probe("incident events", "GET", EVENTS, params=paged),
        Probe("data usage", "POST", DAILY_UNITS, {"range": "RANGE_LAST_WEEK"}),
    )


async def check_service(api: Api, now: datetime) -> list[Check]:
    """Probe every group of reads, and compare the clocks. Raises nothing.

    Where the first answer shows that no other can succeed, only its check is returned.
    """
    first, *others = probes()
    opening = await _ask(api, first)
    if isinstance(opening, ReconcilerError):
        return [Check("service", "failed", str(opening), opening.exit_code)]
    if opening.status == HTTPStatus.UNAUTHORIZED:
        detail = with_hint(api, opening, f"no: {_describe(api, opening)}")
        return [Check("key accepted", "failed", detail, 10)]
    replies = [opening, *await asyncio.gather(*(_ask(api, probe) for probe in others))]
    checks = [_judged(api, *pair) for pair in zip((first, *others), replies, strict=True)]
    # A wrong setting of the connection affects all checks, so the hint is given once.
    checks[0] = replace(checks[0], detail=with_hint(api, opening, checks[0].detail))
    heard = [reply for reply in replies if isinstance(reply, Reply)]
    return [*checks, _clock(heard, now)]


async def asked(
    api: Api,
    method: Method,
    path: str,
    params: Mapping[Parameter, Json] | None,
    body: Json,
) -> Reply | ReconcilerError:
    """Return the answer to a read, or why there is none."""
    pairs = [
        pair
        for name, value in (params or {}).items()
        for pair in api.assumptions.parameter(name, value)
    ]
    try:
        return await api.probe(method, path, pairs, body)
    except ReconcilerError as error:
        return error


async def _ask(api: Api, probe: Probe) -> Reply | ReconcilerError:
    return await asked(api, probe.method, probe.path, probe.params, probe.body)


def _describe(api: Api, reply: Reply) -> str:
    text = message_of(reply, api.redaction)
    return phrase(reply.status) + (f": {text}" if text else "")


def with_hint(api: Api, reply: Reply, text: str) -> str:
    """Add a hint about a wrong setting, by the answer for the policy list, which always exists."""
    missing = reply.status == HTTPStatus.NOT_FOUND
    hint = api.way.path_hint if missing else api.way.hint(reply)
    return f"{text}; {hint}" if hint else text


def _judged(api: Api, probe: Probe, reply: Reply | ReconcilerError) -> Check:
    name = f"may read {probe.name}"
    if isinstance(reply, ReconcilerError):
        return Check(name, "failed", str(reply), reply.exit_code)
    if reply.ok:
        return _answered(name, reply)
    if reply.status in NO_ROUTE:
        return _not_there(name, probe, reply)
    if reply.status in DISLIKED:
        text = f"answered, but did not like the question ({_describe(api, reply)})"
        return Check(name, "warning", text)
    return Check(name, "failed", _describe(api, reply), 10 if reply.status in REFUSED else 9)


def _answered(name: str, reply: Reply) -> Check:
    if reply.is_readable:
        return Check(name, "ok", phrase(reply.status))
    flaw = "the body is not JSON" if reply.is_whole else "it is a part of the answer only"
    text = f"{phrase(reply.status)}, but {flaw}"
    return Check(name, "failed", text, 9)


def _not_there(name: str, probe: Probe, reply: Reply) -> Check:
    if reply.status == HTTPStatus.NOT_FOUND and probe.for_nothing:
        match meaning_of_404(reply):
            case NotFound.ABSENT:
                return Check(name, "ok", MADE_UP)
            case NotFound.UNCLEAR:
                return Check(name, "warning", "404 without a message, which may mean anything")
            case NotFound.WRONG_ROUTE:
                pass
    return Check(name, "failed", f"{phrase(reply.status)}: no such path", 9)


def _clock(replies: Sequence[Reply], now: datetime) -> Check:
    dated = next((reply.date for reply in replies if reply.date), "")
    try:
        skew = (parsedate_to_datetime(dated) - now).total_seconds()
    except (ValueError, TypeError):
        return Check("clock", "warning", "the service sends no Date to compare with")
    if abs(skew) <= SMALLEST_SKEW_SECONDS:
        return Check("clock", "ok", "the service's clock agrees")
    text = f"the service's clock is {abs(skew):,.0f} s {'ahead' if skew > 0 else 'behind'}"
    if abs(skew) > LARGEST_SKEW_SECONDS:
        return Check("clock", "warning", f"{text}: `--since` and journal times will be off")
    return Check("clock", "ok", text)
