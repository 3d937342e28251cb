"""Reads that only the project file declares, `api: reads:`: one record by its id, and lists.

The API document shows none of them. Source: docs/assumptions.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from reconciler.api.replies import check_whole
from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.errors import UnclearAbsence, UnreadableReply
from reconciler.kinds.field_traits import Part
from reconciler.kinds.id_forms import IdForm
from reconciler.kinds.kind import Kind
from reconciler.kinds.paste_repair import PasteRepair
from reconciler.kinds.repairs import repaired
from reconciler.kinds.shape import camel_case_known_fields, without_read_only
from reconciler.model import RemoteId
from reconciler.model.assumptions import Listing, steps_of
from reconciler.runtime.addresses import is_part

if TYPE_CHECKING:
    from reconciler.api.client import Api


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """One record as read: all of it, in the API's spelling, and the `spec` in it."""

    record: dict[str, Json]
    spec: dict[str, Json]


async def read_record(
    api: Api, name: str, model: type[Part], id_form: IdForm, remote_id: RemoteId
) -> ReadRecord | Missing:
    """Read the record of a kind that has a read in the project file; ABSENT if there is none.

    If a 404 does not say why, the list of the kind decides, if there is one. Raises what `Api.read`
    raises, and UnreadableReply if the record is not where it should be.
    """
    read = api.assumptions.reads.of_kinds[name]
    path = read.path_of(quote(str(remote_id), safe=""))
    try:
        answer = await api.read(path, assumed=True)
    except UnclearAbsence as unclear:
        await _settle_by_list(api, name, id_form, remote_id, unclear)
        return ABSENT
    if answer is ABSENT:
        return ABSENT
    setting = f"`api.reads.{name}`"
    record = _object_at(answer, read.record, f"{setting}: the answer to GET {path}", "record")
    id_form.check(remote_id, _reported_id(record))
    spec = _object_at(record, read.spec, f"{setting}: the record at {path}", "spec")
    camel_case = camel_case_known_fields(record, model)
    assert isinstance(camel_case, dict)  # noqa: S101 - an object stays an object
    return ReadRecord(camel_case, _as_declared(spec, model, id_form, setting))


def _reported_id(record: Json | Missing) -> Json | Missing:
    return value_at(record, ("id",))


def _object_at(document: Json | Missing, place: str | None, what: str, of: str) -> dict[str, Json]:
    found = value_at(document, steps_of(place))
    if isinstance(found, dict):
        return found
    where = f" at `{place}`" if place else ""
    raise UnreadableReply(f"{what} has no object{where}, where `{of}` should be")


def _as_declared(
    spec: dict[str, Json], model: type[Part], id_form: IdForm, setting: str
) -> dict[str, Json]:
    """Return it as a manifest would declare it: without wrappers, in the API's spelling.

    Fields that only the service sets are dropped. Raises UnreadableReply for a document without a
    name, which every record has: the setting leads to another place, and the record would look
    empty.
    """
    document: Json = spec
    for made in PasteRepair(model, id_form, has_id=True).rounds(spec):
        document = repaired(document, made)
    document = without_read_only(document, model)
    assert isinstance(document, dict)  # noqa: S101 - an object stays an object
    if not isinstance(document.get("name"), str):
        raise UnreadableReply(f"{setting}: what it leads to has no `name`, so it is no spec")
    return document


async def _settle_by_list(
    api: Api, name: str, id_form: IdForm, remote_id: RemoteId, unclear: UnclearAbsence
) -> None:
    """Check by the list of a kind that there is no such record; else raise `unclear`."""
    listing = api.assumptions.reads.lists.get(name)
    if listing is None:
        message = f"only a list of them could show whether `api.reads.{name}.path` is right"
        raise UnclearAbsence(f"{unclear}: {message}") from unclear
    listed = await _listed(api, name, id_form, listing)
    if id_form.normal(remote_id) in {existing.remote_id for existing in listed}:
        message = f"and {listing.path} lists it: check `api.reads.{name}.path`"
        raise UnclearAbsence(f"{unclear}, {message}") from unclear


@dataclass(frozen=True, slots=True)
class Existing:
    """One record of a list; `name` is "" if the list has none."""

    remote_id: RemoteId
    name: str


async def list_existing(api: Api, kind: Kind) -> tuple[Existing, ...] | None:
    """Return all records of a kind, in the order of the service; None if no list is declared.

    Raises what `Api.read` raises, and UnreadableReply for a list that is incomplete, or is not
    where the project file says.
    """
    listing = api.assumptions.reads.lists.get(kind.name)
    return None if listing is None else await _listed(api, kind.name, kind.id_form, listing)


async def _listed(api: Api, name: str, id_form: IdForm, listing: Listing) -> tuple[Existing, ...]:
    answer = await api.read(listing.path, assumed=True)
    return existing_in(answer, name, id_form, listing)


def existing_in(
    answer: Json | Missing, name: str, id_form: IdForm, listing: Listing
) -> tuple[Existing, ...]:
    """Return the records in an answer, each once. Raises UnreadableReply as `list_existing`."""
    what = f"`api.reads.lists.{name}`: the answer to GET {listing.path}"
    steps = steps_of(listing.items)
    items = value_at(answer, steps)
    if not isinstance(items, list):
        where = f" at `{listing.items}`" if listing.items else ""
        raise UnreadableReply(f"{what} has no list{where}")
    if steps:
        check_whole(value_at(answer, steps[:-1]), steps[-1])
        check_whole(answer, steps[0])
    found: dict[RemoteId, Existing] = {}
    for record in items:
        given = value_at(record, steps_of(listing.id))
        remote_id = None if given is ABSENT else id_form.parse(given)
        if remote_id is None or not is_part(str(remote_id)):
            raise UnreadableReply(
                f"{what} holds an item, and its `{listing.id}` is not {id_form.words}"
            )
        called = value_at(record, steps_of(listing.name))
        found[remote_id] = Existing(remote_id, called if isinstance(called, str) else "")
    return tuple(found.values())
