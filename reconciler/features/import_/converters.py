"""Content of exports as records: resources by their shape, and documents of other tools. Pure.

`CONVERTERS` is the only list of the tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from pydantic.alias_generators import to_camel

from reconciler.document import Json
from reconciler.errors import ExitCode
from reconciler.features.import_ import grafana, openslo, prometheus
from reconciler.features.import_.conversion import ALONE, Beside, Converted, Converter, named
from reconciler.features.import_.names import Naming, with_unique_names
from reconciler.features.import_.records import ImportRecord, Left, id_given, judged, record_of
from reconciler.kinds import KINDS
from reconciler.kinds.judge_spec import kind_hinted, kind_like
from reconciler.kinds.kind import Kind
from reconciler.kinds.repairs import in_reported_order
from reconciler.kinds.shape import facts_at, facts_of
from reconciler.model import API_VERSION
from reconciler.workspace.expression_scope import Withheld

CONVERTERS: Final[tuple[Converter, ...]] = (openslo, prometheus, grafana)
MOST_SAID: Final = 20


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
    given = with_unique_names(foreign, beside.ids)
    if beside.ids:
        beside.met.update(given.met)
    yield from given.left
    for naming in given.each:
        made = naming.made
        called = f"{made.kind.name} `{named(naming.handle)}` ({made.where})"
        if naming.why_not:
            code = ExitCode.DONE if naming.is_twin else ExitCode.INVALID
            yield Left(called, naming.why_not, code)
            continue
        record = _record(naming, called, withheld)
        yield record
        if isinstance(record, ImportRecord):
            yield from (Left(f"{called}, {left.what}", left.why) for left in made.left_behind)


def _record(naming: Naming, called: str, withheld: Withheld) -> ImportRecord | Left:
    made = naming.made
    remote_id = id_given(made.kind, made.name, made.where, naming.remote_id)
    if isinstance(remote_id, Left):
        return remote_id
    if remote_id is None and made.kind.id_form.required:
        reason = (
            "the API cannot create one: make one in the web interface, whatever it says, and "
            f"give its id with --id '{named(naming.handle)}=ID'"
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
        suffix=naming.mark,
        is_converted=True,
    )
    return judged(record, withheld)


DEEPEST_WRAPPER = 4
MOST_RECORDS = 50_000
ParsedExport: TypeAlias = ImportRecord | Converted | Left


def found_in(
    document: Json, where: str, withheld: Withheld, beside: Beside = ALONE
) -> Iterator[ParsedExport]:
    """Yield the records of a document, and Left for content that is not recognised."""
    yield from _found(document, where, withheld, beside, DEEPEST_WRAPPER)


def _found(
    document: Json, where: str, withheld: Withheld, beside: Beside, depth: int
) -> Iterator[ParsedExport]:
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
    if not (inner and depth and len(inner) <= MOST_RECORDS):
        yield Left(where, "it holds nothing that is known here", ExitCode.INVALID)
        return
    for number, member in inner:
        place = f"{where}, {number}" if number else where
        yield from _found(member, place, withheld, beside, depth - 1)


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
    """Return a list as the single resource of a kind, if the service has it as one."""
    if not isinstance(document, list) or not document:
        return document
    for kind in KINDS:
        if kind.singleton and kind.destroyable:
            whole = in_reported_order({kind.destroyable[0]: document}, kind.spec)
            if kind_like(whole) is kind and all(map(partial(_is_member, kind), document)):
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
        for index, item in enumerate(document, 1):
            yield f"item {index}", item
    elif isinstance(document, dict):
        inner = {key: value for key, value in document.items() if isinstance(value, dict | list)}
        lists = {
            key: value
            for key, value in inner.items()
            if value and isinstance(value, list) and all(isinstance(item, dict) for item in value)
        }
        for key, value in lists.items():
            for index, item in enumerate(value, 1):
                yield f"{key} {index}", item
        if not lists and len(inner) == 1:
            yield from (("", value) for value in inner.values())
