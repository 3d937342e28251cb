"""What all records that are only read have in common: nothing unknown breaks them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    model_validator,
)
from pydantic.alias_generators import to_camel

from reconciler.document import Json


class Record(BaseModel):
    """A record of the service; names of fields are those of the wire, in snake_case.

    Unknown fields break nothing, nor do unknown values of enumerations, which
    are text here, nor null. `document` has all of it.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel)

    _document: dict[str, Json] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, sent: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        record = read(sent)
        if isinstance(sent, dict):
            record._document = sent  # noqa: SLF001 - its own class
        return record

    @property
    def document(self) -> dict[str, Json]:
        """The record as it came, with all that is not known of it."""
        return self._document


def _text(value: object) -> object:
    """Take null for no text; services write an enumeration value without a name as a number."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value) if isinstance(value, int | float) else value


def _list(value: object) -> object:
    if isinstance(value, list):
        return [item for item in value if item is not None]
    return [] if value is None else value


def _map(value: object) -> object:
    return {} if value is None else value


Text = Annotated[str, BeforeValidator(_text)]
Labels = Annotated[dict[str, Text], BeforeValidator(_map)]
OrEmpty = BeforeValidator(_list)


class KeyValue(Record):
    """One label of a list."""

    key: Text = ""
    value: Text = ""


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The values of an enumeration that are known, less their prefix; a service may have more.

    Source: api-facts.md, part 5.
    """

    prefix: str
    known: tuple[str, ...]


def moment(text: str) -> datetime | None:
    """Give the time that a timestamp or epoch seconds tell, in UTC; None where they tell none."""
    try:
        if text.isascii() and text.replace(".", "", 1).isdigit():
            return datetime.fromtimestamp(float(text), UTC)
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def within(text: str, since: datetime | None, until: datetime | None) -> bool:
    """Tell whether a timestamp lies in a range; one that cannot be read does."""
    at = moment(text)
    if at is None:
        return True
    return (since is None or at >= since) and (until is None or at < until)


def stamp(at: datetime) -> str:
    """Give a time as the API writes it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_range(since: datetime | None, until: datetime | None) -> dict[str, Json]:
    """Give `{from, to}` as far as it is bounded."""
    return {
        **({"from": stamp(since)} if since is not None else {}),
        **({"to": stamp(until)} if until is not None else {}),
    }
