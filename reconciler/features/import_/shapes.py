"""The content of an export by shape: records of any kind, lists of them, and wrappers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

from pydantic.alias_generators import to_camel

from reconciler.document import Json
from reconciler.errors import ExitCode
from reconciler.features.import_.converters import ALONE, Beside, Foreign, converted_in
from reconciler.features.import_.records import ImportRecord, Left, record_of
from reconciler.kinds import KINDS
from reconciler.kinds.judge_spec import kind_hinted, kind_like
from reconciler.kinds.kind import Kind
from reconciler.kinds.repairs import in_reported_order
from reconciler.kinds.shape import facts_at, facts_of
from reconciler.model import API_VERSION
from reconciler.workspace.secret_scan import Withheld

DEEPEST_WRAPPER = 4
MOST_RECORDS = 50_000
ParsedExport: TypeAlias = ImportRecord | Foreign | Left


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
        lists = {key: value for key, value in inner.items() if _is_listing(value)}
        for key, value in lists.items():
            for index, item in enumerate(value, 1):
                yield f"{key} {index}", item
        if not lists and len(inner) == 1:
            yield from (("", value) for value in inner.values())


def _is_listing(value: Json) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(element, dict) for element in value)
    )
