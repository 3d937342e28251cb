"""What arrives in a query string: texts, and how models read them.

The reader in `querying` gives a tree whose leaves are lists of texts. A model of
a query is an ordinary model whose fields take such leaves. Bounds of a page
are the emulator's own, as the API document shows none.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from reconciler.emulator.models.wire import Int32, WireObject, bounds

LARGEST_PAGE = 1000


def only(sent: object) -> object:
    """Give the text of a parameter that came once."""
    return sent[0] if isinstance(sent, list) and len(sent) == 1 else sent


def _flag(sent: object) -> object:
    match only(sent):
        case "true":
            return True
        case "false":
            return False
        case other:
            return other


def _integer(sent: object) -> object:
    text = only(sent)
    if isinstance(text, str) and text.isascii() and text.removeprefix("-").isdigit():
        return int(text[:20])
    return text


def _several(sent: object) -> list[object]:
    return sent if isinstance(sent, list) else [sent]


def _map(sent: object) -> object:
    """Join what dots took apart: `k8s.pod` is one key of a map."""
    if not isinstance(sent, dict):
        return sent
    flat: dict[str, object] = {}
    for key, value in sent.items():
        if isinstance(value, dict):
            joined = _map(value)
            flat |= {f"{key}.{rest}": inner for rest, inner in joined.items()}  # type: ignore[attr-defined]  # a dict gives a dict
        else:
            flat[key] = _several(value)
    return flat


def _objects(sent: object) -> object:
    """Turn columns into rows: the n-th value of each field is of the n-th object."""
    if not isinstance(sent, dict):
        return sent
    columns = {name: _several(values) for name, values in sent.items()}
    longest = max((len(values) for values in columns.values()), default=0)
    return [
        {name: values[row] for name, values in columns.items() if row < len(values)}
        for row in range(longest)
    ]


def _moment(sent: object) -> object:
    """Bring a timestamp to the one spelling that sorts as time does."""
    text = only(sent)
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise PydanticCustomError("timestamp", "not a timestamp") from None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


Text = Annotated[str, BeforeValidator(only)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Moment = Annotated[
    str,
    BeforeValidator(_moment),
    Field(json_schema_extra={"format": "date-time"}),
]
PageSize = Annotated[Int32, BeforeValidator(_integer), bounds(1, LARGEST_PAGE)]
TextMap = Annotated[dict[str, list[str]], BeforeValidator(_map)]
Objects = BeforeValidator(_objects)


class TimeRange(WireObject):
    """From one moment on, and before another."""

    from_: Annotated[Moment | None, Field(alias="from")] = None
    to: Moment | None = None

    def holds(self, moment: str) -> bool:
        """Whether a timestamp lies inside; the end does not."""
        return (self.from_ or "") <= moment and (self.to is None or moment < self.to)


class PageRequest(WireObject):
    """Which page; the size is needed (docs/assumptions.md)."""

    page_size: PageSize
    page_token: Text = ""


class OptionalPageRequest(WireObject):
    """Which page, where the size may be left out."""

    page_size: PageSize = 100
    page_token: Text = ""


class FieldOrder(WireObject):
    """One criterion of a sort order."""

    field_name: Text = ""
    direction: Text = ""


class PageInfo(WireObject):
    """How many there are in all, and how to go on; no token on the last page."""

    next_page_token: str = ""
    total_size: Int32 = 0


def any_of(wanted: list[Any], value: object) -> bool:
    """Whether a value is among those wanted; an empty list wants any."""
    return not wanted or value in wanted
