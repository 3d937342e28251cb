"""Conformance of a service to the API document, and to what is assumed besides. Reads only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final, Literal, TypeAlias

import click
from pydantic import ConfigDict, Field, ValidationError, with_config
from typing_extensions import TypedDict

from reconciler.api.client import Api
from reconciler.api.replies import NotFound, Reply, meaning_of_404, message_of, phrase
from reconciler.api.retry import LOST_STATUSES
from reconciler.api.secret import Secret
from reconciler.cli import options
from reconciler.cli.console import data, json_data, stdout_style, words
from reconciler.document import Json, value_at
from reconciler.errors import ExitCode, InvalidInput, ReconcilerError, UnreadableReply, worst
from reconciler.features.doctor.command import (
    DISLIKED,
    NOBODY,
    REFUSED,
    Probe,
    asked,
    with_hint,
    without_manifests,
)
from reconciler.kinds import BY_NAME
from reconciler.kinds.assumed_reads import existing_in
from reconciler.kinds.dashboard.remote import BY_SLUG, DASHBOARDS
from reconciler.kinds.log_policy_set.remote import BULK_TEST, LOGS_ONLY
from reconciler.kinds.slo.remote import SLOS, VALIDATE
from reconciler.model.assumptions import POLICIES, Listing, Parameter, Reads
from reconciler.operations.open_project import Options, open_project
from reconciler.operations.open_session import Session, open_api, open_target
from reconciler.project import Environment, Service, choose_environment, unsafe_base_url
from reconciler.records import listings
from reconciler.records.record import Record
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style

Verdict = Literal["agrees", "differs", "untold"]
LONGEST_DETAIL = 160


@with_config(ConfigDict(extra="forbid"))
class AnswerDocument(TypedDict):
    """A question that `conformance` asked the service."""

    endpoint: int
    question: str
    verdict: Verdict
    detail: str


ConformanceDocument: TypeAlias = Annotated[
    list[AnswerDocument], Field(description="What `conformance --format json` prints.")
]


@dataclass(frozen=True, slots=True)
class ConformanceFinding:
    """The result of one check. `endpoint` is 0 for a read that only the project file declares.

    `untold` means that the data of this service cannot answer, or that the key lacks permission.
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
AGREES: Final[tuple[Verdict, str]] = ("agrees", "")


@dataclass(frozen=True, slots=True)
class ConformanceCheck:
    """One request, and the law that its answer should keep."""

    endpoint: int
    probe: Probe
    judge: Judge
    keyless: bool = False


PAGE: Mapping[str, Json] = {"pageSize": 2}
NO_SUCH_DASHBOARD = "reconcilerAsksForThis"
MEANINGS = {NotFound.WRONG_ROUTE: "a wrong path", NotFound.UNCLEAR: "anything, as it says nothing"}


def _unauthorised(answer: Answer) -> tuple[Verdict, str]:
    expected = answer.reply.status == HTTPStatus.UNAUTHORIZED
    return AGREES if expected else ("differs", answer.words)


def _absent(answer: Answer) -> tuple[Verdict, str]:
    if answer.reply.status != HTTPStatus.NOT_FOUND:
        return "differs", answer.words
    meaning = meaning_of_404(answer.reply)
    if meaning is NotFound.ABSENT:
        return AGREES
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
        return ("differs", "; ".join(problems[:3])) if problems else AGREES

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
    verdict = _records("policies", listings.LogPolicy)(answer)
    policies = value_at(answer.document, ("policies",))
    if verdict[0] != "agrees" or not isinstance(policies, list):
        return verdict
    orders = [value_at(policy, ("order",)) for policy in policies]
    if not all(isinstance(order, int) for order in orders):
        return "differs", "not every policy has an `order`"
    return AGREES


def _paged(member: str, record: type[Record], *, always: bool = True) -> Judge:
    """Return the judge of a page of two; with `always`, `pagination` has to be there."""

    def judge(answer: Answer) -> tuple[Verdict, str]:
        verdict = _records(member, record)(answer)
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
    nowhere = f"{DASHBOARDS}/{NO_SUCH_DASHBOARD}"
    policies = partial(Probe, method="GET", path=POLICIES, params=logs)
    return (
        ConformanceCheck(15, policies("without a key: 401"), _unauthorised, keyless=True),
        ConformanceCheck(15, policies("log policies, each with its order"), _policy_order),
        ConformanceCheck(5, Probe("a dashboard that is not there", "GET", nowhere), _absent),
        ConformanceCheck(
            6, Probe("a slug that is not there", "GET", f"{BY_SLUG}/reconciler-asks"), _absent
        ),
        ConformanceCheck(13, Probe("an SLO that is not there", "GET", f"{SLOS}/{NOBODY}"), _absent),
        ConformanceCheck(14, Probe("validating an SLO", "POST", VALIDATE, slo), _validated),
        ConformanceCheck(18, Probe("testing a log", "POST", BULK_TEST, tested), _tested),
        ConformanceCheck(
            2,
            Probe("alert events, two a page", "GET", listings.ALERT_EVENTS, params=page),
            _paged("events", listings.AlertEvent),
        ),
        ConformanceCheck(
            7,
            Probe("cases, two a page", "POST", listings.CASES, body_page),
            _paged("cases", listings.Case),
        ),
        ConformanceCheck(
            8,
            Probe("incidents, two a page", "POST", listings.INCIDENTS, {}, page),
            _paged("incidents", listings.Incident),
        ),
        ConformanceCheck(
            9,
            Probe("incident events, two a page", "GET", listings.EVENTS, params=page),
            _paged("items", listings.ExtendedIncidentEvent, always=False),
        ),
        ConformanceCheck(
            19,
            Probe("daily units", "POST", listings.DAILY_UNITS, usage),
            _records("units", listings.DailyUnits),
        ),
    )


COUNTED_NOBODY = 2**31 - 1


def assumed_questions(reads: Reads) -> Iterator[ConformanceCheck]:
    """Yield checks of the reads that only the project file declares; they have no number."""
    for name, read in reads.of_kinds.items():
        no_id = COUNTED_NOBODY if BY_NAME[name].id_form.counted else NOBODY
        words = f"`api.reads.{name}`, one that is not there"
        yield ConformanceCheck(0, Probe(words, "GET", read.path_of(str(no_id))), _absent)
    for name, listing in reads.lists.items():
        probe = Probe(f"`api.reads.lists.{name}`", "GET", listing.path)
        yield ConformanceCheck(0, probe, _listing(name, listing))


def _listing(name: str, listing: Listing) -> Judge:
    def judge(answer: Answer) -> tuple[Verdict, str]:
        if not answer.reply.ok:
            return "differs", answer.words
        try:
            found = existing_in(answer.document, name, BY_NAME[name].id_form, listing)
        except UnreadableReply as error:
            return "differs", str(error)
        return AGREES if found else ("untold", "it is empty here")

    return judge


def _validated(answer: Answer) -> tuple[Verdict, str]:
    if answer.reply.status in (*DISLIKED, HTTPStatus.NOT_FOUND):
        return "untold", answer.words
    if answer.is_bare:
        return AGREES
    listed = value_at(answer.document, ("alertsValidationResult",))
    return AGREES if isinstance(listed, list) else ("differs", answer.words)


def _tested(answer: Answer) -> tuple[Verdict, str]:
    results = value_at(answer.document, ("testPoliciesBulkResult",))
    if not isinstance(results, list) or len(results) != 1:
        return "differs", f"not one result for one row ({answer.words})"
    if not isinstance(value_at(results[0], ("matched",)), bool):
        return "differs", "a result has no `matched`"
    return AGREES


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
            if found.exit_code and question.probe.path == POLICIES:
                break
    return findings


async def _examined(api: Api, question: ConformanceCheck) -> ConformanceFinding:
    found = partial(ConformanceFinding, question.endpoint, question.probe.name)
    reply = await asked(api, question.probe)
    if isinstance(reply, ReconcilerError):
        return found("untold", str(reply), reply.exit_code)
    text = message_of(reply, api.redaction) if not reply.is_json or not reply.ok else ""
    words = phrase(reply.status) + (f": {text}"[:LONGEST_DETAIL] if text else "")
    if question.probe.path == POLICIES and not question.keyless:
        words = with_hint(api, reply, words)
    if reply.status in REFUSED and not question.keyless:
        return found("untold", words, 10)
    if reply.status in LOST_STATUSES:
        return found("untold", words, 9)
    return found(*question.judge(Answer(reply, words)))


_COLOURS = {"agrees": Colour.GREEN, "differs": Colour.RED, "untold": Colour.DIM}


@click.command
@click.option(
    "--base-url",
    metavar="URL",
    help="The address of the service to ask; by default that of the environment.",
)
@options.connected
@options.formats("text", "json")
def conformance(
    *,
    base_url: str | None,
    options: Options,
    form: str,
) -> int:
    """Ask a service what can be asked without changing it; exit with 2 where it differs.

    What its data cannot show is `untold`. Exits with 9 or 10 where a question got no answer.
    """
    found = asyncio.run(_found(_session(options, base_url)))
    differing = sum(finding.verdict == "differs" for finding in found)
    code = worst({finding.exit_code for finding in found} - {0}) or (
        ExitCode.DIFFERENT if differing else ExitCode.DONE
    )
    if form == "json":
        document: ConformanceDocument = [
            {
                "endpoint": finding.endpoint,
                "question": finding.question,
                "verdict": finding.verdict,
                "detail": finding.detail,
            }
            for finding in found
        ]
        json_data(document, ending=code)
    else:
        style = stdout_style(verbose=options.verbose)
        data("".join(_line(finding, style) for finding in found), ending=code)
    if not options.quiet:
        words(f"questions: {len(found)}, and {differing} differ")
    return code


def _line(finding: ConformanceFinding, style: Style) -> str:
    verdict = style.paint(finding.verdict.ljust(7), _COLOURS[finding.verdict])
    detail = f": {safe(finding.detail)}" if finding.detail else ""
    return f"{verdict}  {finding.endpoint or '-':>2}  {finding.question}{detail}\n"


def _session(options: Options, base_url: str | None) -> Session:
    if base_url is None:
        return open_target(options)
    why = unsafe_base_url(base_url)
    if why:
        raise InvalidInput(f"--base-url {why}")
    found = open_project(options)
    name, chosen = ("default", Environment())
    if options.environment is not None:
        name, chosen = choose_environment(found, options.environment)
    target = Service(base_url.rstrip("/"), chosen.authorization)
    return without_manifests(options, found, name, chosen, target)


async def _found(session: Session) -> list[ConformanceFinding]:
    async with open_api(session) as api:
        return await examine(api)
