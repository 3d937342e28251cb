"""Reads that only the project file tells of: one record by its id, and lists. `api: reads:`.

The API document shows none of them. Source: docs/assumptions.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from reconciler.addresses import is_part
from reconciler.api.replies import check_whole
from reconciler.assumptions import Listing, steps_of
from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.errors import UnclearAbsence, UnreadableReply
from reconciler.kinds.field_traits import Part
from reconciler.kinds.id_forms import IdForm
from reconciler.kinds.kind import Kind
from reconciler.kinds.paste_repair import PasteRepair
from reconciler.kinds.repairs import repaired
from reconciler.kinds.shape import camel_case_known_fields, without_read_only
from reconciler.model import RemoteId

if TYPE_CHECKING:
    from reconciler.api.client import Api


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """One record as it was read: all of it, in the API's spelling, and what of it is `spec`."""

    record: dict[str, Json]
    spec: dict[str, Json]


async def read_record(
    api: Api, name: str, model: type[Part], id_form: IdForm, remote_id: RemoteId
) -> ReadRecord | Missing:
    """Read the record of a kind whose project file says where; ABSENT where there is none.

    A 404 that does not say why is settled by the list of the kind, where there is one. Raises
    what `Api.read` raises, and UnreadableReply where the record is not where it should be.
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
    id_form.check(remote_id, _told_id(record))
    spec = _object_at(record, read.spec, f"{setting}: the record at {path}", "spec")
    told = camel_case_known_fields(record, model)
    assert isinstance(told, dict)  # noqa: S101 - an object stays one
    return ReadRecord(told, _as_declared(spec, model, id_form, setting))


def _told_id(record: Json | Missing) -> Json | Missing:
    return value_at(record, ("id",))


def _object_at(within: Json | Missing, place: str | None, what: str, of: str) -> dict[str, Json]:
    found = value_at(within, steps_of(place))
    if isinstance(found, dict):
        return found
    where = f" at `{place}`" if place else ""
    raise UnreadableReply(f"{what} has no object{where}, where `{of}` should be")


def _as_declared(
    spec: dict[str, Json], model: type[Part], id_form: IdForm, setting: str
) -> dict[str, Json]:
    """Give it as a manifest would declare it: out of wrappers, in the API's spelling.

    What only the service sets is dropped. Raises UnreadableReply for a document that
    holds none of what every one has: another place was meant, and it would look wiped.
    """
    document: Json = spec
    for made in PasteRepair(model, id_form, has_id=True).rounds(spec):
        document = repaired(document, made)
    document = without_read_only(document, model)
    assert isinstance(document, dict)  # noqa: S101 - an object stays one
    if not isinstance(document.get("name"), str):
        raise UnreadableReply(f"{setting}: what it leads to has no `name`, so it is no spec")
    return document


async def _settle_by_list(
    api: Api, name: str, id_form: IdForm, remote_id: RemoteId, unclear: UnclearAbsence
) -> None:
    """Find out by the list of a kind that there is no such record; raise `unclear` where not."""
    listing = api.assumptions.reads.lists.get(name)
    if listing is None:
        said = f"whether `api.reads.{name}.path` is right cannot be told without a list of them"
        raise UnclearAbsence(f"{unclear}: {said}") from unclear
    listed = await _listed(api, name, id_form, listing)
    if id_form.normal(remote_id) in {existing.remote_id for existing in listed}:
        said = f"and {listing.path} lists it: check `api.reads.{name}.path`"
        raise UnclearAbsence(f"{unclear}, {said}") from unclear


@dataclass(frozen=True, slots=True)
class Existing:
    """What a list tells of one record; `name` is "" where it tells none."""

    remote_id: RemoteId
    name: str


async def list_existing(api: Api, kind: Kind) -> tuple[Existing, ...] | None:
    """Give all there is of a kind, in the order of the service; None where no list is known.

    Raises what `Api.read` raises, and UnreadableReply for a list that is not whole, or is not
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
    """Give what an answer lists, each record once. Raises UnreadableReply as `list_existing`."""
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
    for item in items:
        told = value_at(item, steps_of(listing.id))
        remote_id = None if told is ABSENT else id_form.parse(told)
        if remote_id is None or not is_part(str(remote_id)):
            raise UnreadableReply(
                f"{what} holds an item whose `{listing.id}` is not {id_form.words}"
            )
        called = value_at(item, steps_of(listing.name))
        found[remote_id] = Existing(remote_id, called if isinstance(called, str) else "")
    return tuple(found.values())
