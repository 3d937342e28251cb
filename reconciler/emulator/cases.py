"""Cases: endpoint 7, a listing only.

Values of one filter are alternatives, filters add up. The API document
says so of endpoint 7.
"""

import json
from collections.abc import Iterable

from reconciler.emulator.endpoint import Call, Endpoint, Resource
from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.models.case import (
    AssigneeFilter,
    Case,
    CaseFilters,
    CaseListReply,
    CaseListRequest,
    CaseOrder,
    KeyValues,
)
from reconciler.emulator.models.query import any_of
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.paging import Criterion, Listing, criterion
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.store import Store

_TABLE = "cases (id TEXT PRIMARY KEY, record TEXT NOT NULL)"
_USUAL_PAGE = 50
_STATUS = "CASE_STATUS_"
_FIELDS = ("createTime", "updateTime", "priority", "state", "status", "title")
_TEXTS = ("title", "description", "readableId")


def keep_case(store: Store, case: Case) -> None:
    """Store a case in place of the one with its id."""
    store.write("INSERT OR REPLACE INTO cases VALUES (?, ?)", case.id, as_text(case))


def cases_in(store: Store) -> list[JsonObject]:
    """Give all cases as they are stored."""
    return [json.loads(record) for (record,) in store.rows("SELECT record FROM cases")]


def _list(call: Call, request: CaseListRequest) -> Rendered:
    _check_statuses(call, request.filters.statuses)
    found = [case for case in cases_in(call.store) if _passes(case, request.filters)]
    listing = Listing(found, (_order(request.order_by),), "id", request)
    wanted = request.pagination
    page = listing.page(wanted.page_size or _USUAL_PAGE, wanted.page_token, skip=wanted.skip)
    return as_text({"cases": page.records, "pagination": page.info})


def _check_statuses(call: Call, statuses: Iterable[str]) -> None:
    """Refuse a status that does not stand as the profile says."""
    wanted = call.profile.case_statuses
    for index, status in enumerate(statuses):
        if wanted != "either" and status.startswith(_STATUS) != (wanted == "prefixed"):
            raise InvalidRequestError(f"filters.statuses[{index}]: {status!r} is not {wanted}")


def _order(order: CaseOrder) -> Criterion:
    """Turn `CASE_ORDER_BY_FIELD_CREATE_TIME` into the field `createTime`."""
    first, *rest = order.field.removeprefix("CASE_ORDER_BY_FIELD_").lower().split("_")
    name = first + "".join(word.title() for word in rest)
    field = "" if name == "unspecified" else name
    return criterion(field, order.direction, known=_FIELDS, default="createTime")


def _passes(case: JsonObject, filters: CaseFilters) -> bool:
    return (
        any_of(filters.categories, case["category"])
        and any_of(filters.priorities, case["priority"])
        and any_of(filters.states, case["state"])
        and any_of([_status(status) for status in filters.statuses], case["status"])
        and _has_pairs(case.get("groupings", []), filters.groupings)
        and _has_pairs(case.get("labels", []), filters.labels)
        and _has_assignee(case, filters.assignees)
        and _has_text(case, filters.text_search)
    )


def _status(sent: str) -> str:
    """Take `ACKNOWLEDGED`, as the API document has it, and the whole value too."""
    return _STATUS + sent.removeprefix(_STATUS)


def _has_pairs(pairs: list[JsonObject], wanted: Iterable[KeyValues]) -> bool:
    return all(
        any(
            pair["key"] == key_values.key and any_of(key_values.values, pair["value"])
            for pair in pairs
        )
        for key_values in wanted
    )


def _has_assignee(case: JsonObject, wanted: list[AssigneeFilter]) -> bool:
    holder = case.get("assignee", {}).get("userId")
    return not wanted or any(
        assignee_filter.user_id == holder
        if assignee_filter.user_id
        else assignee_filter.unassigned is None or holder is None
        for assignee_filter in wanted
    )


def _has_text(case: JsonObject, text: str) -> bool:
    return any(text.casefold() in case.get(field, "").casefold() for field in _TEXTS)


CASES = Resource(
    tables=(_TABLE,),
    endpoints=(
        Endpoint(
            7,
            "POST",
            "/cases/cases/v1",
            CaseListRequest,
            CaseListReply,
            _list,
            permission="case:Read",
            only_reads=True,
        ),
    ),
)
