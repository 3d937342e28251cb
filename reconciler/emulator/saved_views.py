"""Saved views: endpoints 20 and 21. There is no read."""

import re

from reconciler.emulator.endpoint import Call, Endpoint, Resource
from reconciler.emulator.errors import InvalidRequestError, MissingObjectError
from reconciler.emulator.models.saved_view import CreateSavedView, SavedView
from reconciler.emulator.names import refuse_taken_name
from reconciler.emulator.reading import read
from reconciler.emulator.rendering import as_json, as_text

_TABLE = "saved_views (id INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL)"
_PATH = "/data-exploration/saved-views/v1"
_LARGEST_ID = 2**31 - 1
_NAMED = "SELECT 1 FROM saved_views WHERE json_extract(record, '$.name') = ? AND id <> ?"


def _create(call: Call, request: CreateSavedView) -> SavedView:
    refuse_taken_name(call, "saved view", request.name, _NAMED, 0)
    view_id = call.store.write("INSERT INTO saved_views (record) VALUES ('')")
    view = read(SavedView, {**as_json(request), "id": view_id})
    call.store.write("UPDATE saved_views SET record = ? WHERE id = ?", as_text(view), view_id)
    return view


def _replace(call: Call, request: SavedView) -> SavedView:
    view_id = _view_id(call.path["id"])
    refuse_taken_name(call, "saved view", request.name, _NAMED, view_id)
    if call.store.row("SELECT 1 FROM saved_views WHERE id = ?", view_id) is None:
        if call.profile.put_unknown == "missing":
            raise MissingObjectError("saved view", str(view_id))
        call.store.write("INSERT INTO saved_views (id, record) VALUES (?, '')", view_id)
    view = request.model_copy(update={"id": view_id})
    call.store.write("UPDATE saved_views SET record = ? WHERE id = ?", as_text(view), view_id)
    return view


def _view_id(text: str) -> int:
    if re.fullmatch(r"[1-9][0-9]{0,9}", text) and int(text) <= _LARGEST_ID:
        return int(text)
    raise InvalidRequestError(f"id: not an int32 from 1 to {_LARGEST_ID}")


SAVED_VIEWS = Resource(
    tables=(_TABLE,),
    endpoints=(
        Endpoint(20, "POST", _PATH, CreateSavedView, SavedView, _create),
        Endpoint(21, "PUT", _PATH + "/{id}", SavedView, SavedView, _replace),
    ),
)
