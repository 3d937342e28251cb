"""Markers for fields of models that say what the service does with a field.

Pydantic's annotations give types and the bounds of the API document; these markers add what its
types cannot say. `shape.facts_of` reads them. Fields are written in snake case and sent in camel
case, as `group_by_keys` and `groupByKeys`. Also the fields of a manifest around `spec`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from reconciler.document import Json
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import REMOVE, Finding
from reconciler.syntax.expressions import EDITOR_PATTERN
from reconciler.syntax.suggestions import nearest, one_slip_from

if TYPE_CHECKING:
    from reconciler.syntax.parsed_text import DocumentText


class Choosing(Enum):
    """The need of an object for one field of each group of alternatives."""

    FREE = "none is needed"
    EXPECTED = "services are known to need one"
    REQUIRED = "one is required"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """An object that the service puts around a record where it stores, returns or accepts it.

    `steps` lead to the record; a 0 leads into a list of one item.
    """

    steps: tuple[str | int, ...]
    beside: tuple[str, ...] = ()
    """Other fields of the same answer, which are not about the record."""


Choices: TypeAlias = tuple[frozenset[str], ...]
"""Groups of fields that exclude each other."""


class Part(BaseModel):
    """An object of the API. Unknown fields are kept: the API document is not complete."""

    # Models are built late, so that a run builds only those of the kinds that it uses.
    model_config = ConfigDict(
        extra="allow", strict=True, frozen=True, alias_generator=to_camel, defer_build=True
    )

    alternatives: ClassVar[Choices] = ()
    """Groups of fields; an object has at most one field of each group."""

    choosing: ClassVar[Choosing] = Choosing.FREE
    """The need for one field of each group."""

    complete: ClassVar[bool] = True
    """Whether all its fields are known, so that any other field is worth a warning."""

    documented: ClassVar[bool] = True
    """Whether the API document shows its fields, so that a near miss is an error."""

    wrappers: ClassVar[tuple[Wrapper, ...]] = ()
    """Wrappers that may be around it if it was pasted from an answer or a request."""

    bare: ClassVar[str] = ""
    """The field that the service leaves out if it shows only the content of that field."""

    strays: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    """Fields often written into the content of `bare` by mistake, and their place next to it."""

    called: ClassVar[tuple[tuple[str, ...], ...]] = (("title",), ("displayName",), ("name",))
    """Paths of its name for people, on the wire: the first with a text is the name."""

    other_names: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Names of fields in other requests and answers, mapped to the names here."""

    read_only: ClassVar[ReadOnlyFields] = MappingProxyType({})
    """Fields that the service returns and a manifest must not declare; schemas leave them out."""


class ObservedPart(Part):
    """An object that was observed, and that is not in the API document (docs/assumptions.md)."""

    documented: ClassVar[bool] = False


class PartlyKnown(Part):
    """An object with more fields than the API document shows."""

    complete: ClassVar[bool] = False


class PartlyObserved(ObservedPart):
    """An observed object with more fields than were seen."""

    complete: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Keyed:
    """A list with items that are compared by the value at `identity`.

    If two items have the same identity, they are compared by position. For `distinct` items this is
    an error, as the service knows them only by the identity.
    """

    identity: tuple[str, ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Unordered:
    """A list that is a set: its order has no meaning."""


@dataclass(frozen=True, slots=True)
class Refers:
    """A field with the id of another resource; `kind` is the kind of that resource."""

    kind: str


class ReadOnlyReason(Enum):
    """The handling of a pasted field that a manifest must not declare."""

    DROPPED = "it says nothing that a manifest could mean"
    MOVED = "it is the id, which is in metadata"
    NEGATED = "another field says its opposite"
    UNLESS_TRUE = "it says nothing only as long as it is false"
    AS_LISTED = "it says nothing only where it agrees with the place in the list"
    STAYS = "what was meant is unknown"


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """A field that is an error in a manifest: `why` is the reason, `instead` the remedy.

    `said` describes it. `opposite` is the field with the opposite meaning, if it is negated.
    """

    said: str
    instead: str = REMOVE
    why: str = "is set by the service"
    fate: ReadOnlyReason = ReadOnlyReason.DROPPED
    opposite: str = ""


ReadOnlyFields: TypeAlias = Mapping[str, ReadOnly]
"""Fields that a manifest must not declare, by their names on the wire."""


@dataclass(frozen=True, slots=True)
class Observed:
    """An observed, undocumented field of a documented part: a near miss of it is a warning."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A field that services are known to require, though no document says so.

    With `in_kind`, the check of the kind reports it, also where the part around it is missing.
    """

    in_kind: bool = False


@dataclass(frozen=True, slots=True)
class Int64:
    """An int64, which is sent as text: both forms are accepted and compared as numbers."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Make the two forms one type, so that an error names no branch of a union."""
        return core_schema.custom_error_schema(
            handler(source), custom_error_type="int64_text", custom_error_message="not an int64"
        )


@dataclass(frozen=True, slots=True)
class AtMost:
    """A bound that services are known to have and the API document does not: a warning.

    A value beyond a `certain` bound is an error, as no service can work with it. For text and lists
    it bounds the length, for numbers the value. Source: docs/assumptions.md.
    """

    high: float | None = None
    low: float | None = None
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Formed:
    """A form of text that services are known to require: any other is a warning.

    If the form is `certain`, any other is an error, as no service can read it. If the text is a
    part of paths (`in_path`), a text that leads elsewhere is an error, and `repair` is the remedy.
    Source: docs/assumptions.md.
    """

    pattern: re.Pattern[str]
    words: str
    in_path: bool = False
    certain: bool = False
    repair: str = ""
    corrected: Callable[[str], str] = lambda _: ""
    """Returns another text in this form, "" if the meaning is unclear."""


class Unit(Enum):
    """The unit of a field, a number or its text; the value is the unit's sign."""

    PERCENT = "%"
    MILLISECONDS = "ms"
    SECONDS = "s"
    MINUTES = "min"

    def of(self, number: float) -> str:
        """Return a number with this unit: `99 %`, also for 99.0."""
        return f"{plain_number(number)} {self.value}"


def plain_number(number: float) -> str:
    """Return a number without a fraction that is zero, and without a negative exponent."""
    text = json.dumps(number)
    if "e-" in text:
        text = format(Decimal(text), "f")
    return text.removesuffix(".0")


_DURATION = re.compile(
    r"([0-9]{1,9}) ?"
    r"(?:(ms|[smhdw])|(s)ec(?:ond)?s?|(m)in(?:ute)?s?|(h)(?:ou)?rs?|(d)ays?|(w)eeks?)"
)
_LETTERS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_UNITS = {Unit.MILLISECONDS: 1, Unit.SECONDS: 1_000, Unit.MINUTES: 60_000}


def duration_in(unit: Unit | None, text: str) -> int | None:
    """Return a duration, as `15m` or `1 hour`, in whole units; None if that is impossible."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None or unit not in _UNITS:
        return None
    length = int(found[1]) * _LETTERS[next(filter(None, found.groups()[1:]))]
    count, rest = divmod(length, _UNITS[unit])
    return None if rest else count


class ValueCoverage(Enum):
    """The meaning of a value that is not in the list."""

    CLOSED = "there is none"
    KNOWN = "none is known"
    EXAMPLES = "there are others, which begin with the same prefix"


@dataclass(frozen=True)
class KnownValues:
    """An enumeration. Another value is an error only if the list is closed."""

    prefix: str
    values: tuple[str, ...]
    listing: ValueCoverage

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Offer the known values to editors; other text is valid unless the list is closed."""
        plain = handler(schema)
        others = plain.get("anyOf", [plain])
        if self.listing is ValueCoverage.CLOSED:
            others = [other for other in others if other.get("type") != "string"]
            others.insert(0, {"type": "string", "pattern": EDITOR_PATTERN})
        return {"anyOf": [{"enum": list(self.values)}, *others]}

    @cached_property
    def short(self) -> dict[str, str]:
        """The values by their distinct part: without the prefix and `_UNSPECIFIED`."""
        return {_SUFFIX.sub("", value.removeprefix(self.prefix)): value for value in self.values}

    @property
    def usual(self) -> str:
        """The first value with a meaning: `UNSPECIFIED` alone has none."""
        named = (value for value in self.values if value != f"{self.prefix}UNSPECIFIED")
        return next(named, self.values[0])

    def takes(self, value: str) -> bool:
        """Return whether a value is listed, or has the prefix of a list of examples."""
        is_example = self.listing is ValueCoverage.EXAMPLES and value.startswith(self.prefix)
        return value in self.values or is_example

    def near(self, value: str) -> str:
        """Return the listed value that was probably meant, "" if none is near."""
        return _near_value(self, value)


_SUFFIX = re.compile(r"(?<=.)(?:_OR)?_UNSPECIFIED$")
_SHORTEST_HEAD = 2


@lru_cache(maxsize=4096)
def _near_value(listed: KnownValues, value: str) -> str:
    spelled = {value.casefold(): value for value in listed.values}
    typed = value.casefold()
    slipped = typed if typed in spelled else one_slip_from(typed, spelled)
    if slipped:
        return spelled[slipped]
    # Only the distinct part is compared: the long prefix makes any two values alike.
    bare = _SUFFIX.sub("", value.removeprefix(listed.prefix))
    found = nearest(bare, listed.short)
    if found:
        return listed.short[found]
    if value.startswith(listed.prefix):
        return ""
    length = duration_in(Unit.MILLISECONDS, bare)
    if length is not None:
        windows = {_length_of(short): value for short, value in listed.short.items()}
        return windows.get(length, "")
    return nearest(value, listed.values) or _head_of(bare, listed)


def _length_of(short: str) -> int | None:
    """Return the milliseconds of the distinct part of a value: `MINUTES_10`, `28_DAYS`."""
    words = sorted(short.split("_"))
    return duration_in(Unit.MILLISECONDS, " ".join(words))


def _head_of(bare: str, listed: KnownValues) -> str:
    """Return the only value that begins with a text, as `28_DAYS` for `28d`."""
    head = bare.upper()
    heads = [
        value for short, value in listed.short.items() if short.replace("_", "").startswith(head)
    ]
    return heads[0] if len(heads) == 1 and len(head) >= _SHORTEST_HEAD else ""


def known(prefix: str, *values: str) -> KnownValues:
    """Return an enumeration of known values with a common prefix.

    If only the zero value is documented, there must be others.
    """
    listing = ValueCoverage.KNOWN if len(values) > 1 else ValueCoverage.EXAMPLES
    return KnownValues(prefix, tuple(prefix + value for value in values), listing)


def closed(prefix: str, *values: str) -> KnownValues:
    """Return a closed enumeration: the API document allows no other values."""
    return KnownValues(prefix, tuple(prefix + value for value in values), ValueCoverage.CLOSED)


def examples(prefix: str, *values: str) -> KnownValues:
    """Return an enumeration of observed values that no document lists."""
    return KnownValues(prefix, tuple(prefix + value for value in values), ValueCoverage.EXAMPLES)


UUID_PATTERN = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
LOWER_UUID_PATTERN = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
INT64_PATTERN = r"^-?[0-9]{1,19}$"
INT32_MAX = 2**31 - 1

FORMS = {UUID_PATTERN: "a uuid", LOWER_UUID_PATTERN: "a uuid in lower case"}
"""The names of the API document's patterns in messages."""


def own_id(said: str) -> ReadOnly:
    """Return the field of the id of a record."""
    return ReadOnly(said, "metadata.id", "is in metadata", ReadOnlyReason.MOVED)


Uuid: TypeAlias = Annotated[str, Field(pattern=UUID_PATTERN)]
LowerUuid: TypeAlias = Annotated[str, Field(pattern=LOWER_UUID_PATTERN)]
Int32: TypeAlias = Annotated[int, Field(ge=-(2**31), le=INT32_MAX)]
Int64Text: TypeAlias = Annotated[Annotated[str, Field(pattern=INT64_PATTERN)] | int, Int64()]
Opaque: TypeAlias = dict[str, Any]
"""An object with an inner shape that the API document does not show."""

Text: TypeAlias = str | None
Flag: TypeAlias = bool | None
Number: TypeAlias = float | None
TextList: TypeAlias = list[str] | None
StringMap: TypeAlias = dict[str, str] | None


class Empty(Part):
    """An object that means something by its presence, as `{all: {}}`."""


class IdValue(Part):
    """`{value}`: how the API wraps ids of nested objects and folders."""

    value: Text = None
    """The id itself; the API wraps ids of nested objects and folders in an object."""


@dataclass(frozen=True, slots=True)
class EnvelopeField:
    """One field: its purpose, the form of its value in words, and an example value.

    In the example, `KIND` and `ID` are replaced by those of the kind.
    """

    said: str
    form: str
    example: Json
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestKey:
    """A key of manifests of some kinds. Its value is never sent, and is in no digest.

    `read` gets the value with its expressions filled in, and the text that places it. `read`
    returns findings, and JSON for `Manifest.added`.
    """

    kinds: Collection[str]
    schema: dict[str, Any]
    read: Callable[[Json, DocumentText], tuple[Sequence[Finding], Json]]


MANIFEST_KEYS: Final = Rows[ManifestKey]("manifest-keys")
"""The key is a key of manifests; the words of a row are its purpose."""

MANIFEST: Final[dict[str, EnvelopeField]] = {
    "apiVersion": EnvelopeField(
        "The rules by which the manifest is read: always `reconciler/v1`.",
        "text",
        "reconciler/v1",
        required=True,
    ),
    "kind": EnvelopeField("What the manifest declares.", "text", "KIND", required=True),
    "metadata": EnvelopeField(
        "What this workspace knows of the resource; none of it is sent.",
        "mapping",
        {"name": "checkout"},
        required=True,
    ),
    "spec": EnvelopeField(
        "What the service shall hold, as the API writes it.", "mapping", {}, required=True
    ),
    "overrides": EnvelopeField(
        "What differs from `spec`, by environment: null takes a field away, items of lists with "
        "names merge by name, other lists are replaced.",
        "mapping of mapping by environment",
        {},
    ),
    "forEach": EnvelopeField(
        "Makes one resource of each item. `${each:KEY}` gives a value of the item.",
        "list of mappings",
        [],
    ),
    **{
        key: EnvelopeField(MANIFEST_KEYS.words(key), "list of mappings", [])
        for key in MANIFEST_KEYS
    },
}
"""The fields of a manifest."""

METADATA: Final[dict[str, EnvelopeField]] = {
    "name": EnvelopeField(
        "What this workspace calls the resource; one name per kind.",
        "text",
        "checkout",
        required=True,
    ),
    "id": EnvelopeField(
        "What the service calls the resource, in every environment.", "id of the kind", "ID"
    ),
    "ids": EnvelopeField(
        "What the service of each environment calls the resource, by the environment's name.",
        "mapping of id of the kind by environment",
        {"production": "ID"},
    ),
    "labels": EnvelopeField(
        "Labels of the resource in this workspace, text by name; the service does not see them.",
        "mapping of text by name",
        {"team": "payments"},
    ),
    "environments": EnvelopeField(
        "The environments that the manifest is for; all where it is left out.",
        "list of text",
        ["production"],
    ),
    "protect": EnvelopeField(
        "Refuses any change of the resource, until an earlier merge lifts this.",
        "true or false",
        example=True,
    ),
    "exempt": EnvelopeField(
        "Complaints that do not hold for this resource, by their codes, each with the reason why.",
        "mapping of text by code",
        {"L203": "it is watched by hand until the move"},
    ),
}
"""The fields of `metadata`."""
