"""Sources of an import: the service, or exports; resources are recognised by their shape.

The records are stored until they are named. `CONVERTERS` is the only list of the tools.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from pydantic.alias_generators import to_camel

from reconciler.document import Json, Missing, value_at
from reconciler.document import Path as Place
from reconciler.errors import (
    ExitCode,
    NotAuthorised,
    ReconcilerError,
    ServiceRefused,
    UnreadableReply,
    UsageError,
)
from reconciler.features.import_ import grafana, openslo, prometheus
from reconciler.features.import_.match_declared import (
    Brief,
    ImportOrigin,
    content_mark,
    mentions_in,
    packed,
    with_unique_names,
)
from reconciler.features.import_.parameters import parameterised
from reconciler.features.import_.records import (
    ALONE,
    Beside,
    Converted,
    Converter,
    ImportRecord,
    Left,
    id_given,
    judged,
    minimal,
    named,
    record_of,
)
from reconciler.journal.history import History, Memory
from reconciler.kinds import KINDS
from reconciler.kinds.assumed_reads import list_existing
from reconciler.kinds.judge_spec import kind_hinted, kind_like
from reconciler.kinds.kind import Kind, observe
from reconciler.kinds.repairs import in_reported_order
from reconciler.kinds.shape import facts_at, facts_of
from reconciler.model import API_VERSION, Absent, Manifest, Observation, Ref, Seen, Source
from reconciler.model.assumptions import Assumptions
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session, open_api
from reconciler.project import ProjectVariable
from reconciler.records.listings import (
    CaseFilter,
    EventFilter,
    IncidentEventFilter,
    list_alert_events,
    list_cases,
    list_incident_events,
)
from reconciler.runtime.advice import on_service
from reconciler.runtime.progress import Deed, Waits
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import find_files
from reconciler.syntax.parsed_text import Reading, complaints_of_text
from reconciler.syntax.suggestions import nearest, shortened
from reconciler.workspace.expression_scope import Withheld, withheld_from
from reconciler.workspace.workspace import sources_of

if TYPE_CHECKING:
    from reconciler.api.client import Api


CONVERTERS: Final[tuple[Converter, ...]] = (openslo, prometheus, grafana)
MOST_SAID: Final = 20


def brief_of(
    record: ImportRecord,
    origin: ImportOrigin,
    revision: str,
    *,
    assumptions: Assumptions,
    is_minimal: bool,
) -> Brief:
    """Return a record without its document, which is kept as JSON."""
    record = minimal(record) if is_minimal else record
    nameless = Manifest(Ref(record.kind.name, ""), record.spec, Source("", 1))
    slugs = record.kind.identities(nameless)
    # Hashing the whole document is slow, and an id alone identifies its object.
    is_told_by_content = record.remote_id is None or record.elsewhere
    return Brief(
        record=replace(record, spec={}),
        title=record.title,
        said=f"{record.called} ({record.where})",
        mark=content_mark(record.spec if is_told_by_content else record.remote_id),
        mentions=tuple(mentions_in(record.spec, record.kind)),
        slugs=tuple((label, slug) for label, slug in slugs.items() if slug),
        origin=origin,
        can_be_read=record.kind.readable_by(assumptions),
        revision=revision,
        document=packed(record.spec),
    )


def converted_in(document: Json, where: str, beside: Beside) -> list[Converted | Left] | None:
    """Return the result of another tool's document, None if no converter recognises it."""
    converter = next((converter for converter in CONVERTERS if converter.recognise(document)), None)
    if converter is None:
        return None
    conversion = converter.convert(document, where, beside)
    made = (replace(converted, where=where) for converted in conversion.made)
    return [*made, *conversion.left_behind]


def records_of(
    foreign: Sequence[Converted], withheld: Withheld, beside: Beside
) -> Iterator[ImportRecord | Left]:
    """Yield the records of all converted resources; no name depends on their order."""
    resources, left_over = with_unique_names(foreign, beside.ids, beside.met)
    yield from left_over
    for made in resources:
        called = f"{made.kind.name} `{named(made.handle)}` ({made.where})"
        if made.why_not:
            code = ExitCode.DONE if made.is_twin else ExitCode.INVALID
            yield Left(called, made.why_not, code)
            continue
        record = _record(made, called, withheld)
        yield record
        if isinstance(record, ImportRecord):
            yield from (Left(f"{called}, {left.what}", left.why) for left in made.left_behind)


def _record(made: Converted, called: str, withheld: Withheld) -> ImportRecord | Left:
    remote_id = id_given(made.kind, made.name, made.where, made.remote_id)
    if isinstance(remote_id, Left):
        return remote_id
    if remote_id is None and made.kind.id_form.required:
        reason = (
            "the API cannot create one: make one in the web interface, whatever it says, and "
            f"give its id with --id '{named(made.handle)}=ID'"
        )
        return Left(called, reason, ExitCode.PARTIAL)
    comments = {**made.comments}
    if made.left_behind:
        left = [f"- {left.what}: {left.why}" for left in made.left_behind]
        more = [f"- and {len(left) - MOST_SAID} more"] if len(left) > MOST_SAID else []
        head = "Not taken over, or only nearly:"
        comments[()] = "\n".join((head, *left[:MOST_SAID], *more))
    record = ImportRecord(
        kind=made.kind,
        spec=made.spec,
        remote_id=remote_id,
        where=made.where,
        comments=comments,
        suffix=made.mark,
        is_converted=True,
    )
    return judged(record, withheld)


DEEPEST_WRAPPER = 4
MOST_RECORDS_OF_A_FILE = 50_000
Keep: TypeAlias = Callable[[ImportRecord, ImportOrigin, str], Brief]
"""Returns a record without its document, by its origin and its revision, "" for none."""

ParsedExport: TypeAlias = ImportRecord | Converted | Left


def found_in(
    document: Json,
    where: str,
    withheld: Withheld,
    beside: Beside = ALONE,
    depth: int = DEEPEST_WRAPPER,
) -> Iterator[ParsedExport]:
    """Yield the records of a document, and Left for content that is not recognised.

    Wrappers are opened down to a `depth`.
    """
    read = converted_in(document, where, beside)
    if read is not None:
        yield from read
        return
    if isinstance(document, dict) and document.get("apiVersion") == API_VERSION:
        yield Left(where, "it is a manifest already")
        return
    whole = _as_whole(document)
    kind = kind_like(whole) or kind_hinted(whole)
    if kind is not None:
        record = record_of(whole, kind, where, withheld, beside.ids)
        if isinstance(record, ImportRecord):
            beside.met.add(record.title)
        yield record
        return
    inner = [*_members(document)]
    if not (inner and depth and len(inner) <= MOST_RECORDS_OF_A_FILE):
        yield Left(where, "it holds nothing that is known here", ExitCode.INVALID)
        return
    for number, member in inner:
        place = f"{where}, {number}" if number else where
        yield from found_in(member, place, withheld, beside, depth - 1)


def documents_in(document: Json, depth: int = DEEPEST_WRAPPER) -> Iterator[Json]:
    """Yield a document, or the members of a list: a list is the documents of one file."""
    is_list = isinstance(document, dict) and document.get("kind") == "List"
    members = document.get("items") if isinstance(document, dict) and is_list else document
    if isinstance(members, list) and depth:
        for member in members:
            yield from documents_in(member, depth - 1)
    else:
        yield document


def _as_whole(document: Json) -> Json:
    """Return a list as one resource, if the service keeps the whole list as a single resource.

    The list may be the only list in a wrapper without objects.
    """
    inner = [document] if not isinstance(document, dict) else document.values()
    lists = [value for value in inner if value and isinstance(value, list | dict)]
    if len(lists) != 1 or not isinstance(lists[0], list):
        return document
    for kind in KINDS:
        if kind.singleton and kind.destroyable:
            whole = in_reported_order({kind.destroyable[0]: lists[0]}, kind.spec)
            if kind_like(whole) is kind and all(map(partial(_is_member, kind), lists[0])):
                return whole
    return document


def _is_member(kind: Kind, item: Json) -> bool:
    """Return whether an item belongs to a kind's list, and is no resource of another kind."""
    part = facts_at(kind.spec, (*kind.destroyable, 0)).part
    if part is None or not isinstance(item, dict) or kind_hinted(item) is not None:
        return False
    inner = facts_of(part)[part.bare].part if part.bare else None
    held = item.get(part.bare, item) if part.bare else item
    known = facts_of(inner or part).keys() - {"id", "name", "description"}
    return isinstance(held, dict) and not known.isdisjoint(map(to_camel, held))


def _members(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield the items of a list, or of the lists and objects inside a wrapper."""
    if isinstance(document, list):
        yield from ((f"item {index}", item) for index, item in enumerate(document, 1))
    elif isinstance(document, dict):
        inner = {key: value for key, value in document.items() if isinstance(value, dict | list)}
        lists = {
            key: value
            for key, value in inner.items()
            if value and isinstance(value, list) and all(isinstance(item, dict) for item in value)
        }
        for key, value in lists.items():
            yield from ((f"{key} {index}", item) for index, item in enumerate(value, 1))
        if not lists and len(inner) == 1:
            yield from (("", value) for value in inner.values())


NO_LIST = (
    "no list of them is known here: import each by its id, or with `import --from` from exports, "
    "or say under `api: reads: lists:` where this deployment has one"
)
EMPTY = "warning: the file is empty, so nothing of it is imported [M113]"
MOST_LISTED = 2_000
"""Records of each listing that are read; the same alerts appear again and again in them."""
NO_READ = (
    "it is unknown how to read them: import exports of them with `import --from`, or say under "
    "`api: reads:` where this deployment has a read"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToImport:
    """Resources to import: objects of the service by their id or name, or exports.

    With `environments`, there is one path of exports for each, and they become manifests with
    variables. `ids` are the ids of documents that hold none, by their names. `to` is the folder to
    write to, None for the usual. With `minimal`, what a service fills in by itself is left out.
    """

    live: tuple[tuple[Kind, str], ...] = ()
    exports: tuple[Path, ...] = ()
    everything: bool = False
    environments: tuple[str, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    to: Path | None = None
    keep_json: bool = False
    minimal: bool = False
    dry_run: bool = False


@dataclass(slots=True)
class Gathered:
    """Records of an import, and what cannot be imported.

    `variables` are those that the records need, by environment. `mentioned` are alerts that the
    service mentions elsewhere, by their ids, with a text about each.
    """

    briefs: list[Brief] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    variables: Mapping[str, Mapping[str, ProjectVariable]] = field(default_factory=dict)
    mentioned: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        # On exit, `asyncio.run` makes a text of the value that it returns.
        return f"Gathered({len(self.briefs)} briefs)"

    def take(self, found: Brief | Left) -> None:
        """Add a record or the reason why there is none."""
        if isinstance(found, Left):
            self.left.append(found)
        else:
            self.briefs.append(found)


def gather(options: Options, session: Session, sources: ToImport, history: History) -> Gathered:
    """Read all wanted records.

    Raises UsageError for unknown environments, for kinds that cannot be read here and for invalid
    ids. Raises errors that concern the service as a whole.
    """
    _check_wanted(sources.live, session)
    withheld = withheld_from(os.environ)
    keep = partial(brief_of, assumptions=session.environment.api, is_minimal=sources.minimal)
    if sources.live or sources.everything:
        return asyncio.run(_from_service(session, sources, history, withheld, keep))
    root, gathered = session.project.root.resolve(), Gathered()
    beside = Beside(ids=sources.ids)
    if not sources.environments:
        for left in read_exports(sources.exports, root, withheld, options.waits, beside):
            gathered.take(left if isinstance(left, Left) else keep(left, "export", ""))
        gathered.left.extend(_ids_of_nothing(beside))
        return gathered
    environments = session.project.settings.environments
    _check_environments(sources.environments, environments, session.name)
    found: dict[str, list[ImportRecord]] = {}
    for name, path in zip(sources.environments, sources.exports, strict=True):
        read = [*read_exports([path], root, withheld, options.waits, beside)]
        found[name] = [record for record in read if isinstance(record, ImportRecord)]
        gathered.left.extend(left for left in read if isinstance(left, Left))
    gathered.left.extend(_ids_of_nothing(beside))
    known = {name: environment.variables for name, environment in environments.items()}
    joined = parameterised(found, session.name, known)
    gathered.variables = joined.variables
    gathered.left.extend(joined.left)
    gathered.briefs.extend(keep(record, "export", "") for record in joined.records)
    return gathered


def _ids_of_nothing(beside: Beside) -> Iterator[Left]:
    """Yield the given ids with a name that no document has."""
    for name in beside.ids:
        if name not in beside.met:
            near = nearest(name, beside.met)
            hint = f"; did you mean `{named(near)}`?" if near else ""
            message = f"no document holds anything of that name{hint}"
            yield Left(f"--id `{named(name)}`", message, ExitCode.INVALID)


async def _from_service(
    session: Session, sources: ToImport, history: History, withheld: Withheld, keep: Keep
) -> Gathered:
    async with open_api(session) as api:
        if not sources.everything:
            return await read_live(api, sources.live, history, withheld, keep)
        wanted, left = await list_all(api)
        gathered = await read_live(api, wanted, history, withheld, keep)
        gathered.left.extend(left)
        gathered.mentioned = await mentioned_alerts(api)
        return gathered


def _check_wanted(wanted: Sequence[tuple[Kind, str]], session: Session) -> None:
    for kind, name in wanted:
        if not kind.readable_by(session.environment.api):
            raise UsageError(
                f"`{kind.noun}` cannot be imported from the service: the API document has no read "
                f"of it. Where this deployment has one, say so in environments.{session.name} of "
                f"reconciler.yaml, as `api: {{reads: {{{kind.name}: {{path: …}}}}}}`; else export "
                "it in the web interface, and import that file: `import --from PATH`"
            )
        if not kind.singleton and not kind.findable and kind.id_form.typed(name) is None:
            raise UsageError(f"`{name}` is no id of this kind: it must be {kind.id_form.words}")


def _check_environments(names: Sequence[str], known: Collection[str], here: str) -> None:
    unknown = next((name for name in names if name not in known), "")
    if unknown:
        near = shortened(unknown, known)
        hint = f"; did you mean `{near}`?" if near else ""
        raise UsageError(f"`{unknown}` is no environment of reconciler.yaml{hint}")
    if here not in names or len(set(names)) < len(names):
        raise UsageError(
            f"--parameterise wants different environments, and that of this run among them: "
            f"choose one of {', '.join(names)} with -e, not `{here}`"
        )


async def read_live(
    api: Api,
    wanted: Sequence[tuple[Kind, str]],
    history: History,
    withheld: Withheld,
    keep: Keep,
) -> Gathered:
    """Read each object by its id or name, concurrently; the API client limits the concurrency.

    An error about a single object becomes a remark. An error about the service is raised.
    """
    kinds = {(kind.name, name): kind for kind, name in wanted}
    found: dict[tuple[str, str], Brief | Left] = {}

    async def read(kind: Kind, name: str) -> None:
        # The journal's knowledge of a kind's only object.
        known = (
            memory
            for ref, memory in history.memories.items()
            if kind.singleton and ref.kind == kind.name and memory.last is not None
        )
        memory = next(known, Memory())
        seen: Observation | ReconcilerError = Absent()
        for probe in _probes(kind, name):
            seen = await observe(kind, api, probe, memory)
            if not isinstance(seen, Absent):
                break
        outcome = _record_seen(kind, name, seen, withheld)
        revision = seen.revision if isinstance(seen, Seen) else ""
        found[kind.name, name] = (
            outcome if isinstance(outcome, Left) else keep(outcome, "live", revision)
        )
        step.done += 1

    with api.waits.step(Deed.READING, total=len(kinds)) as step:
        async with asyncio.TaskGroup() as group:
            for (_, name), kind in kinds.items():
                group.create_task(read(kind, name))
    gathered = Gathered()
    for key in kinds:
        gathered.take(found[key])
    return gathered


async def list_all(api: Api) -> tuple[list[tuple[Kind, str]], list[Left]]:
    """Return the ids that the service lists, and the kinds that it cannot list."""
    found: list[tuple[Kind, str]] = []
    left: list[Left] = []
    for kind in KINDS:
        names = await _listed(api, kind)
        if isinstance(names, Left):
            left.append(names)
        else:
            found.extend((kind, name) for name in names)
    return found, left


async def _listed(api: Api, kind: Kind) -> Sequence[str] | Left:
    """Return the ids of a kind's objects; else why they cannot be listed."""
    if kind.singleton:
        return (kind.name,)
    if not kind.readable_by(api.assumptions):
        return Left(kind.name, NO_READ)
    try:
        existing = await list_existing(api, kind)
    except (UnreadableReply, ServiceRefused) as error:
        return Left(kind.name, str(error), error.exit_code)
    if existing is None:
        return Left(kind.name, NO_LIST)
    return [str(found.remote_id) for found in existing]


def _probes(kind: Kind, name: str) -> Sequence[Manifest]:
    """Return manifests for finding the object: by its id, then by the slug of its name."""
    by_name = Manifest(Ref(kind.name, name), {}, Source("", 1))
    known = kind.id_form.typed(name)
    by_id = [replace(by_name, remote_id=known)] if known is not None else []
    return [*by_id, by_name] if kind.findable or not by_id else by_id


def _record_seen(
    kind: Kind, name: str, seen: Observation | ReconcilerError, withheld: Withheld
) -> ImportRecord | Left:
    called = kind.name if kind.singleton else f"{kind.name} {name}"
    match seen:
        case Seen():
            known = seen.remote_id
            record = ImportRecord(
                kind=kind,
                spec=seen.document,
                remote_id=None if known is None else kind.id_form.normal(known),
                where="live",
                untold=tuple(_unreported(seen, kind)),
            )
            return judged(record, withheld)
        case Absent(why=why):
            return Left(called, why, ExitCode.INVALID)
        case ReconcilerError():
            return Left(called, str(seen), seen.exit_code)
        case _:
            return Left(called, f"it cannot be read. {kind.limits}", ExitCode.INVALID)


def _unreported(seen: Seen, kind: Kind) -> Iterator[tuple[Place, str]]:
    for path in seen.unseen:
        shape, place = kind.shape, list[str | int]()
        value: Json | Missing = seen.document
        for nth, step in enumerate(path):
            at: str | int | None = None
            if isinstance(value, list):
                named = (value_at(element, shape.identity) == step for element in value)
                at = next((nth for nth, is_it in enumerate(named) if is_it), None)
                shape = shape.item
            elif isinstance(value, dict) and step in value:
                at, shape = step, shape.at(str(step))
            if at is None:
                yield tuple(place), ".".join(map(str, path[nth:]))
                break
            place.append(at)
            value = value_at(value, (at,))


def read_exports(
    paths: Sequence[Path], root: Path, withheld: Withheld, waits: Waits, beside: Beside
) -> Iterator[ImportRecord | Left]:
    """Read files and folders of exports, and yield their records; their ids are in `beside`.

    Documents of other tools come last, as their names depend on all of them.
    """
    foreign: list[Converted] = []
    for path in paths:
        files = find_files([path], root)
        sources = sources_of([path], root)
        yield from map(_unread, files.complaints)
        for file in waits.each(Deed.LOADING, files.files):
            reading = sources.read(file.path, file.name, is_json=file.is_json)
            if isinstance(reading, Reading) and not reading.has_errors:
                for parsed in _in_file(file.name, reading, withheld, beside):
                    if isinstance(parsed, Converted):
                        foreign.append(parsed)
                    else:
                        yield parsed
            elif isinstance(reading, Reading):
                complaints = complaints_of_text(file.name, reading)
                yield _unread(next(complaint for complaint in complaints if complaint.is_error))
            else:
                yield _unread(reading)
        if not files.files and not files.complaints:
            yield Left(str(path), "it holds no file of JSON or YAML", ExitCode.INVALID)
    yield from records_of(foreign, withheld, beside)


def _in_file(
    name: str, reading: Reading, withheld: Withheld, beside: Beside
) -> Iterator[ParsedExport]:
    documents = [document for document in reading.documents if document.value is not None]
    if not documents:
        yield Left(name, EMPTY)
    values = [export for document in documents for export in documents_in(document.value)]
    beside = replace(beside, documents=values)
    for number, document in enumerate(documents, 1):
        where = f"{name}, document {number}" if len(documents) > 1 else name
        yield from found_in(document.value, where, withheld, beside)


def _unread(complaint: Complaint) -> Left:
    place = f"{complaint.file}:{complaint.line}" if complaint.line else complaint.file
    return Left(place, f"{complaint.message} [{complaint.code}]", ExitCode.INVALID)


def how_to_get(kind: Kind, assumptions: Assumptions, remote_id: str) -> str:
    """Return how to import an object that is only mentioned."""
    if kind.readable_by(assumptions):
        # A value that begins with a dash would be read as an option.
        words = f"-- {remote_id}" if remote_id[0] == "-" else remote_id
        return f"`{on_service(f'import {kind.noun}', words)}`"
    return "export it in the web interface, and import that file with `import --from`"


async def mentioned_alerts(api: Api) -> dict[str, str]:
    """Map the ids of alerts that incidents, cases and alert events mention to a text about each.

    A listing that the key may not read, or that is unreadable, counts as empty. Raises errors that
    concern the whole service.
    """
    found: dict[str, str] = {}
    for listing in (_in_incidents, _in_cases, _in_events):
        try:
            async for alert, text in listing(api):
                if alert:
                    found.setdefault(alert.lower(), text)
        except NotAuthorised as refused:
            if not refused.known:
                raise
        except (ServiceRefused, UnreadableReply):
            continue
    return found


async def _in_incidents(api: Api) -> AsyncIterator[tuple[str, str]]:
    async for event in list_incident_events(api, IncidentEventFilter(), MOST_LISTED):
        metadata = event.incident_event_extended_metadata
        if metadata is not None:
            called = f" `{metadata.alert_name}`" if metadata.alert_name else ""
            yield metadata.alert_id, f"an incident is of this alert{called}"


async def _in_cases(api: Api) -> AsyncIterator[tuple[str, str]]:
    async for case in list_cases(api, CaseFilter(), MOST_LISTED):
        for indicator in case.alert_indicators:
            yield indicator.alert_id, f"the case `{case.title}` is of this alert"


async def _in_events(api: Api) -> AsyncIterator[tuple[str, str]]:
    async for event in list_alert_events(api, EventFilter(), MOST_LISTED):
        for alert_id in event.alert_ids:
            yield alert_id, "an alert event is of this alert"
