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

from reconciler.assumptions import Assumptions
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


def stamp(at: datetime) -> str:
    """Give a time as the API writes it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Span:
    """From one moment on, and before another. It has both ends, as services may need them."""

    since: datetime
    until: datetime

    def holds(self, text: str) -> bool:
        """Tell whether a timestamp lies in it; one that cannot be read does."""
        at = moment(text)
        return at is None or self.since <= at < self.until


def range_filter(span: Span | None, assumptions: Assumptions) -> Json:
    """Give a range as the deployment takes it, empty for none."""
    return assumptions.range_filter(stamp(span.since), stamp(span.until)) if span else {}
