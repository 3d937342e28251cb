"""`reconciler doctor` and `conformance`: what a run needs, and what a service answers to reads."""

from __future__ import annotations

import asyncio
import os
import ssl
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import click
from pydantic import ConfigDict, Field, ValidationError, with_config
from typing_extensions import TypedDict

from reconciler.api.client import Api
from reconciler.api.replies import NotFound, Reply, meaning_of_404, message_of, phrase
from reconciler.api.retry import LOST_STATUSES, Method
from reconciler.api.secret import Secret, key_from
from reconciler.api.wire import proxy_for
from reconciler.cli import options
from reconciler.cli.console import data, json_data, stdout_style, words
from reconciler.document import Json, value_at
from reconciler.errors import ExitCode, InvalidInput, ReconcilerError, UnreadableReply, worst
from reconciler.journal.entries import RunEntry
from reconciler.journal.journal import Journal
from reconciler.kinds import BY_NAME
from reconciler.kinds.assumed_reads import existing_in
from reconciler.kinds.dashboard.remote import BY_SLUG, DASHBOARDS
from reconciler.kinds.log_policy_set.remote import BULK_TEST, LOGS_ONLY
from reconciler.kinds.slo.remote import SLOS, VALIDATE
from reconciler.model.assumptions import POLICIES, Listing, Parameter, Reads
from reconciler.operations.offline import stand_in_scope
from reconciler.operations.open_project import (
    Options,
    lead_here,
    open_project,
    why_unconfirmed,
)
from reconciler.operations.open_session import Session, open_api, open_target, read_workspace
from reconciler.operations.secret_sources import named_secrets, secrets_of
from reconciler.project import (
    BASE_URL,
    Embedded,
    Environment,
    Project,
    Service,
    Target,
    choose_environment,
    choose_target,
    in_shard,
    unsafe_base_url,
)
from reconciler.records import listings
from reconciler.records.record import Record
from reconciler.report.safe import columns, safe
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import plural
from reconciler.runtime.advice import bring_back, on_journal
from reconciler.runtime.cache import open_cache
from reconciler.runtime.connection import KEY_VARIABLE
from reconciler.workspace.workspace import Workspace

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
    """One check. `exit_code` is used if the check failed."""

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
    return (
        Probe("log policies", "GET", POLICIES, params={"sourceType": LOGS_ONLY}),
        Probe("policy tests", "POST", BULK_TEST, {"metaFieldsValuesList": []}),
        Probe("dashboards", "GET", f"{BY_SLUG}/reconciler-doctor-asks", for_nothing=True),
        Probe("SLOs", "GET", f"{SLOS}/{NOBODY}", for_nothing=True),
        Probe("alert events", "GET", listings.ALERT_EVENTS, params=paged),
        Probe("cases", "POST", listings.CASES, {"pagination": page}),
        Probe("incidents", "POST", listings.INCIDENTS, {}, paged),
        Probe("incident events", "GET", listings.EVENTS, params=paged),
        Probe("data usage", "POST", listings.DAILY_UNITS, {"range": "RANGE_LAST_WEEK"}),
    )


async def check_service(api: Api) -> list[Check]:
    """Probe every group of reads, and compare the clocks. Raises nothing.

    Where the first answer shows that no other can succeed, only its check is returned.
    """
    first, *others = probes()
    opening = await asked(api, first)
    if isinstance(opening, ReconcilerError):
        return [Check("service", "failed", str(opening), opening.exit_code)]
    if opening.status == HTTPStatus.UNAUTHORIZED:
        detail = with_hint(api, opening, f"no: {_describe_reply(api, opening)}")
        return [Check("key accepted", "failed", detail, 10)]
    replies = [opening, *await asyncio.gather(*(asked(api, probe) for probe in others))]
    checks = [_judged(api, *pair) for pair in zip((first, *others), replies, strict=True)]
    # A wrong setting of the connection affects all checks, so the hint is given once.
    checks[0] = replace(checks[0], detail=with_hint(api, opening, checks[0].detail))
    return [*checks, _clock(api.clock_difference)]


async def asked(api: Api, probe: Probe) -> Reply | ReconcilerError:
    """Return the answer to a read, or why there is none."""
    pairs = [
        pair
        for name, value in (probe.params or {}).items()
        for pair in api.assumptions.parameter(name, value)
    ]
    try:
        return await api.probe(probe.method, probe.path, pairs, probe.body)
    except ReconcilerError as error:
        return error


def _describe_reply(api: Api, reply: Reply) -> str:
    text = message_of(reply, api.redaction)
    return phrase(reply.status) + (f": {text}" if text else "")


def with_hint(api: Api, reply: Reply, text: str) -> str:
    """Add a hint about a wrong setting, by the answer for the policy list, which always exists."""
    missing = reply.status == HTTPStatus.NOT_FOUND
    hint = api.path_hint if missing else api.hint(reply)
    return f"{text}; {hint}" if hint else text


def _judged(api: Api, probe: Probe, reply: Reply | ReconcilerError) -> Check:
    name = f"may read {probe.name}"
    if isinstance(reply, ReconcilerError):
        return Check(name, "failed", str(reply), reply.exit_code)
    if reply.ok and reply.is_readable:
        return Check(name, "ok", phrase(reply.status))
    if reply.ok:
        flaw = "the body is not JSON" if reply.is_whole else "it is a part of the answer only"
        return Check(name, "failed", f"{phrase(reply.status)}, but {flaw}", 9)
    if reply.status in NO_ROUTE:
        return _not_there(name, probe, reply)
    if reply.status in DISLIKED:
        text = f"answered, but did not like the question ({_describe_reply(api, reply)})"
        return Check(name, "warning", text)
    return Check(name, "failed", _describe_reply(api, reply), 10 if reply.status in REFUSED else 9)


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


def _clock(skew: float | None) -> Check:
    if skew is None:
        return Check("clock", "warning", "the service sends no Date to compare with")
    if abs(skew) <= SMALLEST_SKEW_SECONDS:
        return Check("clock", "ok", "the service's clock agrees")
    text = f"the service's clock is {abs(skew):,.0f} s {'ahead' if skew > 0 else 'behind'}"
    if abs(skew) > LARGEST_SKEW_SECONDS:
        return Check("clock", "warning", f"{text}: `--since` and journal times will be off")
    return Check("clock", "ok", text)


_MARGIN = " " * len("warning  ")
_COLOURS = {"ok": Colour.GREEN, "warning": Colour.YELLOW, "failed": Colour.RED}


@click.command
@options.connected
@options.formats("text", "json")
def doctor(*, options: Options, form: str) -> int:
    """Check project file, cache, target, key, permissions, clock, proxy, TLS and journal.

    Nothing is changed, and no secret is printed. Exits with the code of the worst problem that was
    found.
    """
    checks = _checks(options)
    code = worst({check.exit_code for check in checks if check.exit_code})
    if form == "json":
        document: DoctorDocument = [
            {"check": check.name, "state": check.state, "detail": check.detail} for check in checks
        ]
        return json_data(document, ending=code)
    style, widest = stdout_style(verbose=options.verbose), max(len(check.name) for check in checks)
    lines = [line for check in checks for line in _lines(check, widest, style)]
    return data("".join(f"{line}\n" for line in lines), ending=code)


def _lines(check: Check, widest: int, style: Style) -> Iterator[str]:
    """Yield the lines of one check; its detail is on lines below where one line is too short."""
    state = style.paint(check.state.ljust(len(_MARGIN) - 2), _COLOURS[check.state])
    beside = f"{check.name.ljust(widest)}  {safe(check.detail)}"
    if not style.terminal or len(_MARGIN) + columns(beside) <= style.width:
        yield f"{state}  {beside}"
        return
    yield f"{state}  {check.name}"
    yield from wrapped(check.detail, style, margin=_MARGIN + "  ")


def _failed(name: str, error: ReconcilerError) -> Check:
    return Check(name, "failed", str(error), error.exit_code)


def _checks(options: Options) -> list[Check]:
    """Return the checks in their order; a failed check ends those that depend on it."""
    try:
        project = open_project(options)
    except ReconcilerError as error:
        return [_failed("project file", error)]
    where = str(project.file) if project.file is not None else f"none; root {project.root}"
    checks = [Check("project file", "ok", where), _cache(project.root)]
    try:
        name, environment = choose_environment(project, options.environment)
        environment = in_shard(environment, options.shard)
        lead_here(options, project, name)
        checks.append(Check("environment", "ok", name))
        target = choose_target(project, name, environment, os.environ)
    except ReconcilerError as error:
        return [*checks, _failed("target", error)]
    session = without_manifests(options, project, name, environment, target)
    if isinstance(target, Service):
        where = f"{target.base_url}, from {'reconciler.yaml' if environment.base_url else BASE_URL}"
        way = [Check("target", "ok", where), _key(), _proxy(target), _tls(target)]
    else:
        way = [Check("target", "ok", f"the embedded emulator, {target.data}")]
    checks += [*way, *_journal(session, options), *_secrets(session)]
    if all(check.state != "failed" for check in way):
        checks += asyncio.run(_service(session))
    return checks


def without_manifests(
    options: Options, project: Project, name: str, environment: Environment, target: Target
) -> Session:
    """Return a session that has read no manifests, and knows only the secrets that they name."""
    return Session(
        project=project,
        name=name,
        environment=environment,
        target=target,
        workspace=Workspace(),
        whole=False,
        named=named_secrets(options, project, name, environment),
        waits=options.waits,
        reporter=options.reporter,
    )


def _key() -> Check:
    try:
        key_from(os.environ)
    except ReconcilerError as error:
        return _failed("key", error)
    return Check("key", "ok", f"present, from {KEY_VARIABLE}")


def _secrets(session: Session) -> Iterator[Check]:
    known = secrets_of(session.project, session.name, session.environment, os.environ)
    for name in known.places:
        if why := known.why(name):
            yield Check(f"secret {name}", "failed", why, ExitCode.INVALID)
        else:
            yield Check(f"secret {name}", "ok", f"present, from {known.origin(name)}")


def _proxy(target: Service) -> Check:
    proxy = proxy_for(target.base_url)
    if not proxy:
        return Check("proxy", "ok", "none for this target")
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return Check("proxy", "failed", "that of the environment is not a URL", ExitCode.USAGE)
    # Without its user name and password.
    return Check("proxy", "ok", f"{parts.scheme}://{parts.hostname}{port}")


def _cache(root: Path) -> Check:
    """Return the state of the cache. A run without a cache is slower, and otherwise the same."""
    cache = open_cache(os.environ, root)
    if not cache.is_on:
        return Check("cache", "warning", f"none: {cache.why_not}")
    count, size = cache.held()
    entries = plural(count, "entry", "entries")
    return Check("cache", "ok", f"{cache.folder}, {entries}, {size / 1e6:,.1f} MB")


def _tls(target: Service) -> Check:
    if target.base_url.startswith("http:"):
        return Check("TLS", "warning", "none: the target is on this machine")
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        if file or folder:
            ssl.create_default_context(cafile=file, capath=None if file else folder)
    except OSError as error:
        detail = f"the certificates of {file or folder} cannot be read: {error.strerror or error}"
        return Check("TLS", "failed", detail, ExitCode.USAGE)
    return Check("TLS", "ok", f"certificates of {file or folder or 'the bundled authorities'}")


def _journal(session: Session, options: Options) -> list[Check]:
    try:
        journal = session.journal(needed=True)
        holder = journal.holder()
    except ReconcilerError as error:
        return [_failed("journal", error)]
    if journal.header is None and not journal.torn:
        return [_no_journal(session, journal, options)]
    torn = "; the last line is torn, as by a crash" if journal.torn else ""
    detail = f"{journal.place}, {plural(len(journal.entries), 'entry', 'entries')}{torn}"
    runs = [entry for entry in journal.entries if isinstance(entry, RunEntry)]
    if runs:
        newest = max(runs, key=lambda run: run.at)
        detail += f"; the newest run: {newest.command} by {newest.actor} at {newest.at}"
    if journal.is_old_copy:
        detail += f"; an old copy, as the end of a run is missing: {bring_back('the newer one')}"
    unconfirmed = why_unconfirmed(journal)
    if unconfirmed:
        detail += f"; {unconfirmed}"
    is_open = _is_open_to_others(journal.place)
    if is_open:
        detail += "; others can write to it, so it proves nothing: take that away with `chmod o-w`"
    sound: CheckState = "warning" if torn or unconfirmed or is_open else "ok"
    code = ExitCode.JOURNAL if journal.is_old_copy else ExitCode.DONE
    checks = [Check("journal", "failed" if code else sound, detail, code)]
    unsettled = [*map(str, journal.history.unsettled())]
    if unsettled:
        settle = on_journal("settle", f"{unsettled[0]} --id ID", environment=session.name)
        ways = f"`{settle}`, or `--never-happened` in place of `--id ID`"
        detail = f"{', '.join(unsettled)}; say what became of each: {ways}"
        checks.append(Check("unsettled", "failed", detail, 7))
    lock = Check("lock", "warning", f"held by {holder}") if holder else Check("lock", "ok", "free")
    return [*checks, lock]


def _is_open_to_others(place: str) -> bool:
    """Return whether everyone can write to a journal; False where it is no file."""
    with suppress(OSError, ValueError):
        return bool(Path(place).stat().st_mode & stat.S_IWOTH)
    return False


def _no_journal(session: Session, journal: Journal, options: Options) -> Check:
    """Return the check of a missing journal: after a loss it is unknown what was applied."""
    known = 0 if isinstance(session.target, Embedded) else _declared_ids(session, options)
    if known:
        detail = f"{journal.why_missing}; {plural(known, 'declared resource')} with an id"
        return Check("journal", "warning", detail)
    return Check("journal", "ok", journal.why_missing)


def _declared_ids(session: Session, options: Options) -> int:
    """Return the number of declared resources with an id; 0 if the manifests cannot be read."""
    scope = stand_in_scope(session.name, session.environment.variables)
    try:
        workspace = read_workspace(options, session.project, scope)
    except ReconcilerError:
        return 0
    return sum(manifest.remote_id is not None for manifest in workspace.manifests)


async def _service(session: Session) -> list[Check]:
    try:
        async with open_api(session) as api:
            checks = await check_service(api)
    except ReconcilerError as error:
        return [_failed("service", error)]
    if isinstance(session.target, Embedded):
        # It uses the clock of this process, and there is no server that reports the time.
        return [check for check in checks if check.name != "clock"]
    return checks


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
    `exit_code` is used if there was no answer.
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
    nowhere = f"{DASHBOARDS}/reconcilerAsksForThis"
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


_VERDICT_COLOURS = {"agrees": Colour.GREEN, "differs": Colour.RED, "untold": Colour.DIM}


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
    verdict = style.paint(finding.verdict.ljust(7), _VERDICT_COLOURS[finding.verdict])
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
