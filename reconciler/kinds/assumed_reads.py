"""Documents of answers, and the reads that only `api: reads:` of the project file declares.

The API document shows none of them. Source: docs/assumptions.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from reconciler.api.replies import check_whole, items_of
from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.errors import UnclearAbsence, UnreadableReply
from reconciler.kinds.field_traits import Part
from reconciler.kinds.kind import IdForm, Kind
from reconciler.kinds.repairs import PasteRepair, repaired
from reconciler.kinds.shape import camel_case_known_fields, without_read_only
from reconciler.model import Manifest, Remembered, RemoteId, Unknown
from reconciler.model.assumptions import Listing, steps_of
from reconciler.runtime.connection import is_part

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.journal.history import Memory


_SHOWN = 80


def member(document: Json | Missing, name: str) -> dict[str, Json]:
    """Return the object under a name. Raises UnreadableReply if there is none."""
    value = document.get(name) if isinstance(document, dict) else None
    if not isinstance(value, dict):
        raise UnreadableReply(f"the answer has no object `{name}`")
    return value


def members(document: Json | Missing, name: str) -> list[dict[str, Json]]:
    """Return the objects of the list under a name.

    Raises UnreadableReply if there is no list, or if it contains anything but objects: a list that
    was not sent is not an empty list.
    """
    items = items_of(document, name)
    objects = [item for item in items if isinstance(item, dict)]
    if len(objects) != len(items):
        raise UnreadableReply(f"the answer's list `{name}` holds something else than objects")
    return objects


def all_members(document: Json | Missing, name: str) -> list[dict[str, Json]]:
    """Return the objects of a list that has to be complete, as an overwrite depends on it.

    Raises UnreadableReply if the answer announces more than it contains, and as `members` does.
    """
    found = members(document, name)
    check_whole(document, name)
    return found


def any_members(document: Json | Missing, name: str) -> list[dict[str, Json]]:
    """Return the objects of a list that an answer may leave out when it is empty.

    Raises UnreadableReply for anything but objects.
    """
    left_out = isinstance(document, dict) and document.get(name) is None
    return [] if left_out else members(document, name)


def texts(document: Json | Missing, name: str) -> list[str]:
    """Return the texts of the list under a name; an absent list is empty."""
    value = document.get(name) if isinstance(document, dict) else None
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text(document: Json | Missing, name: str) -> str:
    """Return the text under a name, "" if there is none."""
    value = document.get(name) if isinstance(document, dict) else None
    return value if isinstance(value, str) else ""


def given_id(document: Json | Missing, name: str) -> str:
    """Return the id under a name, "" if there is none.

    The id will be part of a path. Raises UnreadableReply for a text that cannot be in a path.
    """
    value = text(document, name)
    if value and not is_part(value):
        raise UnreadableReply(f"the answer's `{name}` cannot be an id: {value[:_SHOWN]!r}")
    return value


def created_id(manifest: Manifest, memory: Memory) -> RemoteId | None:
    """Return the declared id, or the id that the create returned.

    While a create is in doubt, an id from before it says nothing about its outcome.
    """
    if manifest.remote_id is None and memory.unsettled_create is None:
        return memory.remote_id
    return manifest.remote_id


def remembered(remote_id: RemoteId | None, memory: Memory, what: str) -> Remembered | Unknown:
    """Return the last acknowledged write of what the API cannot read, if it had this id."""
    last = memory.acknowledged
    if last is not None and remote_id is not None and last.remote_id == remote_id:
        return Remembered(remote_id, last.declared)
    return Unknown(remote_id, f"the API has no read of {what}")


def without(document: dict[str, Json], names: frozenset[str]) -> dict[str, Json]:
    """Return an object without the fields that only the service sets."""
    return {key: value for key, value in document.items() if key not in names}


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """One record as read: all of it, in the API's spelling, and the `spec` in it."""

    record: dict[str, Json]
    spec: dict[str, Json]


async def read_record(
    api: Api, name: str, model: type[Part], id_form: IdForm, remote_id: RemoteId
) -> ReadRecord | Missing:
    """Read a record as the project file says for its kind; ABSENT if it does not exist.

    If a 404 does not say what is missing, the list of the kind decides, if there is a list. Raises
    what `Api.read` raises, and UnreadableReply if the record is not where it should be.
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
    id_form.check(remote_id, value_at(record, ("id",)))
    spec = _object_at(record, read.spec, f"{setting}: the record at {path}", "spec")
    declared = _as_declared(spec, model, id_form, setting)
    return ReadRecord(camel_case_known_fields(record, model), declared)


def _object_at(document: Json | Missing, place: str | None, what: str, of: str) -> dict[str, Json]:
    found = value_at(document, steps_of(place))
    if isinstance(found, dict):
        return found
    where = f" at `{place}`" if place else ""
    raise UnreadableReply(f"{what} has no object{where}, where `{of}` should be")


def _as_declared(
    spec: dict[str, Json], model: type[Part], id_form: IdForm, setting: str
) -> dict[str, Json]:
    """Return `spec` as a manifest would declare it: without wrappers, in the API's spelling.

    Fields that only the service sets are dropped. Raises UnreadableReply for a document without
    `name`: every record has a name, so the setting leads to the wrong place.
    """
    document: Json = spec
    for made in PasteRepair(model, id_form, has_id=True).rounds(spec):
        document = repaired(document, made)
    assert isinstance(document, dict)  # noqa: S101 - an object stays an object
    document = without_read_only(document, model)
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
