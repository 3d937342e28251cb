"""Conformance of a service to the API document, and to what is assumed besides. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Literal, TypeAlias

from pydantic import ValidationError

from reconciler.api.client import Api
from reconciler.api.replies import NotFound, Reply, meaning_of_404, message_of, phrase
from reconciler.api.retry import LOST_STATUSES, Method
from reconciler.api.secret import Secret
from reconciler.document import Json, value_at
from reconciler.errors import ExitCode, ReconcilerError, UnreadableReply
from reconciler.features.doctor.permissions import DISLIKED, NOBODY, REFUSED
from reconciler.kinds import BY_NAME
from reconciler.kinds.assumed_reads import existing_in
from reconciler.kinds.dashboard.remote import BY_SLUG, DASHBOARDS
from reconciler.kinds.log_policy_set.remote import BULK_TEST, LOGS_ONLY
from reconciler.kinds.slo.remote import SLOS, VALIDATE
from reconciler.model.assumptions import POLICIES, Listing, Parameter, Reads
from reconciler.records.alert_events import ALERT_EVENTS, AlertEvent
from reconciler.records.case_records import CASES, Case
from reconciler.records.data_usage import DAILY_UNITS, DailyUnits
from reconciler.records.incident_records import EVENTS, INCIDENTS, ExtendedIncidentEvent, Incident
from reconciler.records.log_policies import LogPolicy
from reconciler.records.record import Record

Verdict = Literal["agrees", "differs", "untold"]
LONGEST_DETAIL = 160


@dataclass(frozen=True, slots=True)
class ConformanceFinding:
    """The result of one check. `endpoint` is 0 for a read that only the project file declares.

    `untold` means that the data of this service has no answer, or that this key may not ask.
    `exit_code` counts where there was no answer.
    """

    endpoint: int
    question: str
    verdict: Verdict
    detail: str = ""
    exit_code: int = ExitCode.DONE


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and its content in words without secrets."""

    reply: Reply
    words: str

    @property
    def document(self) -> Json:
        """The document of a success, else null."""
        return self.reply.document if self.reply.ok else None

    @property
    def is_bare(self) -> bool:
        """Return whether a success is empty: empty lists may be left out (docs/assumptions.md)."""
        return isinstance(self.document, dict) and not self.document.keys() - {"pagination"}


Judge: TypeAlias = Callable[[Answer], "tuple[Verdict, str]"]


@dataclass(frozen=True, slots=True)
class ConformanceCheck:
    """One request, and the law that its answer should keep."""

    endpoint: int
    words: str
    method: Method
    path: str
    judge: Judge
    params: Mapping[Parameter, Json] | None = None
    body: Json = None
    keyless: bool = False


PAGE: Mapping[str, Json] = {"pageSize": 2}
NO_SUCH_DASHBOARD = "reconcilerAsksForThis"
MEANINGS = {NotFound.WRONG_ROUTE: "a wrong path", NotFound.UNCLEAR: "anything, as it says nothing"}


def _unauthorised(answer: Answer) -> tuple[Verdict, str]:
    expected = answer.reply.status == HTTPStatus.UNAUTHORIZED
    return ("agrees", "") if expected else ("differs", answer.words)


def _absent(answer: Answer) -> tuple[Verdict, str]:
    if answer.reply.status != HTTPStatus.NOT_FOUND:
        return "differs", answer.words
    meaning = meaning_of_404(answer.reply)
    if meaning is NotFound.ABSENT:
        return "agrees", ""
    return "differs", f"what is not there looks like {MEANINGS[meaning]} ({answer.words})"


def _records(member: str, record: type[Record]) -> Judge:
    def judge(answer: Answer) -> tuple[Verdict, str]:
        items = value_at(answer.document, (member,))
        if answer.is_bare:
            return "untold", f"`{member}` is left out, as an empty list may be"
        if not isinstance(items, list):
            return "differs", f"there is no list `{member}` ({answer.words})"
        if not items:
            return "untold", f"`{member}` is empty here"
        problems = list(dict.fromkeys(_problems(items, record)))
        return ("differs", "; ".join(problems[:3])) if problems else ("agrees", "")

    return judge


def _problems(items: list[Json], record: type[Record]) -> Iterator[str]:
    known = {info.alias or name for name, info in record.model_fields.items()}
    extra: set[str] = set()
    for item in items:
        try:
            record.model_validate(item)
        except ValidationError as invalid:
            first = invalid.errors(include_url=False, include_input=False)[0]
            yield f"{'.'.join(map(str, first['loc'])) or 'a record'}: {first['msg']}"
        if isinstance(item, dict):
            extra |= item.keys() - known
    if extra:
        yield f"fields that the document does not show: {', '.join(sorted(extra))}"


def _policy_order(answer: Answer) -> tuple[Verdict, str]:
    verdict = _records("policies", LogPolicy)(answer)
    policies = value_at(answer.document, ("policies",))
    if verdict[0] != "agrees" or not isinstance(policies, list):
        return verdict
    orders = [value_at(policy, ("order",)) for policy in policies]
    if not all(isinstance(order, int) for order in orders):
        return "differs", "not every policy has an `order`"
    return "agrees", ""


def _paged(member: str, record: type[Record], *, always: bool = True) -> Judge:
    """Return the judge of a page of two; with `always`, `pagination` has to be there."""
    inner = _records(member, record)

    def judge(answer: Answer) -> tuple[Verdict, str]:
        verdict = inner(answer)
        items = value_at(answer.document, (member,))
        if verdict[0] == "differs" or not isinstance(items, list):
            return verdict
        if len(items) > 2:  # noqa: PLR2004 - the page that was asked for
            return "differs", f"a page of 2 holds {len(items)}"
        if always and not isinstance(value_at(answer.document, ("pagination",)), dict):
            return "differs", "there is no `pagination`"
        return verdict

    return judge


def questions() -> tuple[ConformanceCheck, ...]:
    """Return all checks. None of them changes anything."""
    slo: Json = {
        "id": NOBODY,
        "name": "reconciler asks",
        "targetThresholdPercentage": 99,
        "windowBasedMetricSli": {
            "query": {"query": "vector(1)"},
            "window": "WINDOW_SLO_WINDOW_1_MINUTE",
            "comparisonOperator": "COMPARISON_OPERATOR_GREATER_THAN",
            "threshold": 0,
        },
    }
    row: Json = {
        "applicationNameValues": "reconciler",
        "subsystemNameValues": "reconciler",
        "severityValues": "SEVERITY_INFO",
    }
    logs: Mapping[Parameter, Json] = {"sourceType": LOGS_ONLY}
    page: Mapping[Parameter, Json] = {"pagination": dict(PAGE)}
    body_page: Json = {"pagination": dict(PAGE)}
    usage: Json = {"range": "RANGE_LAST_WEEK"}
    tested: Json = {"metaFieldsValuesList": [row]}
    events = _paged("events", AlertEvent)
    incidents = _paged("incidents", Incident)
    incident_events = _paged("items", ExtendedIncidentEvent, always=False)
    nowhere = f"{DASHBOARDS}/{NO_SUCH_DASHBOARD}"
    return (
        ConformanceCheck(
            15, "without a key: 401", "GET", POLICIES, _unauthorised, logs, keyless=True
        ),
        ConformanceCheck(
            15, "log policies, each with its order", "GET", POLICIES, _policy_order, logs
        ),
        ConformanceCheck(5, "a dashboard that is not there", "GET", nowhere, _absent),
        ConformanceCheck(
            6, "a slug that is not there", "GET", f"{BY_SLUG}/reconciler-asks", _absent
        ),
        ConformanceCheck(13, "an SLO that is not there", "GET", f"{SLOS}/{NOBODY}", _absent),
        ConformanceCheck(14, "validating an SLO", "POST", VALIDATE, _validated, body=slo),
        ConformanceCheck(18, "testing a log", "POST", BULK_TEST, _tested, body=tested),
        ConformanceCheck(2, "alert events, two a page", "GET", ALERT_EVENTS, events, page),
        ConformanceCheck(
            7, "cases, two a page", "POST", CASES, _paged("cases", Case), body=body_page
        ),
        ConformanceCheck(8, "incidents, two a page", "POST", INCIDENTS, incidents, page, {}),
        ConformanceCheck(9, "incident events, two a page", "GET", EVENTS, incident_events, page),
        ConformanceCheck(
            19, "daily units", "POST", DAILY_UNITS, _records("units", DailyUnits), body=usage
        ),
    )


COUNTED_NOBODY = 2**31 - 1


def assumed_questions(reads: Reads) -> Iterator[ConformanceCheck]:
    """Yield checks of the reads that only the project file declares; they have no number."""
    for name, read in reads.of_kinds.items():
        no_id = COUNTED_NOBODY if BY_NAME[name].id_form.counted else NOBODY
        words = f"`api.reads.{name}`, one that is not there"
        yield ConformanceCheck(0, words, "GET", read.path_of(str(no_id)), _absent)
    for name, listing in reads.lists.items():
        judge = _listing(name, listing)
        yield ConformanceCheck(0, f"`api.reads.lists.{name}`", "GET", listing.path, judge)


def _listing(name: str, listing: Listing) -> Judge:
    def judge(answer: Answer) -> tuple[Verdict, str]:
        if not answer.reply.ok:
            return "differs", answer.words
        try:
            found = existing_in(answer.document, name, BY_NAME[name].id_form, listing)
        except UnreadableReply as error:
            return "differs", str(error)
        return ("agrees", "") if found else ("untold", "it is empty here")

    return judge


def _validated(answer: Answer) -> tuple[Verdict, str]:
    if answer.reply.status in (*DISLIKED, HTTPStatus.NOT_FOUND):
        return "untold", answer.words
    if answer.is_bare:
        return "agrees", ""
    listed = value_at(answer.document, ("alertsValidationResult",))
    return ("agrees", "") if isinstance(listed, list) else ("differs", answer.words)


def _tested(answer: Answer) -> tuple[Verdict, str]:
    results = value_at(answer.document, ("testPoliciesBulkResult",))
    if not isinstance(results, list) or len(results) != 1:
        return "differs", f"not one result for one row ({answer.words})"
    if not isinstance(value_at(results[0], ("matched",)), bool):
        return "differs", "a result has no `matched`"
    return "agrees", ""


async def examine(api: Api) -> list[ConformanceFinding]:
    """Make every check, one after the other.

    A failed check raises nothing. Where the service cannot be reached at all, or refuses the key,
    the first check with the key is the last.
    """
    keyless = replace(api, key=Secret(""), transport=api.transport)
    findings = []
    async with keyless:
        for question in (*questions(), *assumed_questions(api.assumptions.reads)):
            found = await _examined(keyless if question.keyless else api, question)
            findings.append(found)
            if found.exit_code and question.path == POLICIES:
                break
    return findings


def _hint(api: Api, question: ConformanceCheck, reply: Reply) -> str:
    """Return a hint about a wrong setting.

    It is given once: with the key, the list of policies always exists.
    """
    if question.path != POLICIES or question.keyless:
        return ""
    return api.way.path_hint if reply.status == HTTPStatus.NOT_FOUND else api.way.hint(reply)


async def _examined(api: Api, question: ConformanceCheck) -> ConformanceFinding:
    params = [
        pair
        for name, value in (question.params or {}).items()
        for pair in api.assumptions.parameter(name, value)
    ]
    endpoint, words = question.endpoint, question.words
    try:
        reply = await api.probe(question.method, question.path, params, question.body)
    except ReconcilerError as error:
        return ConformanceFinding(endpoint, words, "untold", str(error), error.exit_code)
    text = message_of(reply, api.redaction) if not reply.is_json or not reply.ok else ""
    words_of_reply = phrase(reply.status) + (f": {text}"[:LONGEST_DETAIL] if text else "")
    hint = _hint(api, question, reply)
    answer = Answer(reply, words_of_reply + (f"; {hint}" if hint else ""))
    if reply.status in REFUSED and not question.keyless:
        return ConformanceFinding(endpoint, words, "untold", answer.words, 10)
    if reply.status in LOST_STATUSES:
        return ConformanceFinding(endpoint, words, "untold", answer.words, 9)
    verdict, detail = question.judge(answer)
    return ConformanceFinding(endpoint, words, verdict, detail)
