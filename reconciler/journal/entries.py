"""What a journal says, entry by entry: one declaration, by which they are written and read.

The names and the order of the fields are those of the lines, in camel case. A field with a
default is left out of a line where it has that value. Source: docs/journal.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, Union, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    TypeAdapter,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import core_schema

from reconciler.addresses import is_part
from reconciler.document import ABSENT, Json, Missing, Path
from reconciler.errors import JournalError
from reconciler.resource import Ref, RemoteId

FORMAT = 1
_SHOWN = 80
_ADOPTED_BEFORE = "live was already as declared"

Document: TypeAlias = dict[str, Json]


def _instance_of(kind: type) -> GetPydanticSchema:
    """Take values of a type as they are: pydantic's own texts may not hold half characters."""
    schema = core_schema.is_instance_schema(kind)
    return GetPydanticSchema(lambda _source, _handler: schema)


def _read_by(function: Callable[[Any], object]) -> GetPydanticSchema:
    """Read a value by a function alone, which raises ValueError where it cannot."""
    schema = core_schema.no_info_plain_validator_function(function)
    return GetPydanticSchema(lambda _source, _handler: schema)


def _ref(value: Json) -> Ref:
    ref = Ref.parse(value) if isinstance(value, str) else None
    if ref is None:
        raise ValueError("Kind/name")
    return ref


def _remote_id(value: Json) -> RemoteId | None:
    if isinstance(value, str) and not is_part(value):
        raise JournalError(f"{value[:_SHOWN]!r} cannot be an id")
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return value
    raise ValueError("id")


def _known_id(value: Json) -> RemoteId:
    known = _remote_id(value)
    if known is None:
        raise ValueError("id")
    return known


def _path(value: Json) -> Path:
    if not isinstance(value, list):
        raise ValueError("path")  # noqa: TRY004 - pydantic passes other errors on
    return tuple(step for step in value if isinstance(step, str | int))


_Text = Annotated[str, _instance_of(str)]
_Said = Annotated[str, _read_by(str)]
_Flag = Annotated[bool, _read_by(lambda value: value is True)]
_Operation = Annotated[
    Literal["create", "replace"],
    _read_by(lambda value: "create" if value == "create" else "replace"),
]
_Count = Annotated[int, Field(strict=True)]
_Object = Annotated[Document, _instance_of(dict)]
_Ref = Annotated[Ref, _read_by(_ref)]
_Id = Annotated[RemoteId | None, _read_by(_remote_id)]
_KnownId = Annotated[RemoteId, _read_by(_known_id)]
_Value = Annotated[Union[Json, Missing], _instance_of(object)]  # noqa: UP007 - `Json` is a forward reference


def _in_lines(name: str) -> str:
    """Give what a field is called in lines."""
    return "from" if name == "origin" else to_camel(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    __pydantic_config__: ClassVar = ConfigDict(alias_generator=_in_lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(_Line):
    """The first line: what the journal is of.

    A journal that was compacted or moved `continues` one that ended with that sum.
    The digests of its secrets are salted with the name of the target, or with
    `sealed_for` where it was taken along from another address.
    """

    environment: str
    target: str
    created: str
    continues: str = ""
    sealed_for: str = ""


@dataclass(frozen=True, slots=True)
class Rewritten(_Line):
    """A field that the service stored otherwise than it was sent (docs/plan.md)."""

    path: Annotated[Path, _read_by(_path)]
    sent: _Value = ABSENT
    got: _Value = ABSENT


_Pairs = Annotated[
    tuple[Rewritten, ...], BeforeValidator(lambda value: value if isinstance(value, list) else [])
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWrite(_Line):
    """The last write that the service acknowledged.

    `revision` is what a read shows until somebody writes again, where it was told.
    """

    remote_id: _Id
    at: _Text
    declared: _Object
    rewritten: _Pairs
    revision: _Said = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry(_Line):
    at: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfResource(_Entry):
    ref: _Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfWrite(_OfResource):
    run: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry(_Entry):
    """A run begins: who applies what, from which commit. First entry of all that it appends.

    `outcomes` are counts by entry, which compacting fills in for what it drops.
    """

    entry: Literal["run"] = "run"
    run: _Text
    actor: _Text
    commit: _Text
    digest: _Text
    command: _Text
    outcomes: Mapping[_Text, _Count] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(_OfWrite):
    """About to be sent. `declared` is what the next merge starts from, secrets sealed.

    `seen` is the digest of the observation that the write rests on.
    """

    entry: Literal["started"] = "started"
    operation: _Operation
    remote_id: _Id
    request_id: _Text
    seen: _Text
    declared: _Object
    protect: _Flag = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified(_OfWrite):
    """The service has told the id, and the write is not finished yet, or not seen.

    `instead_of` is the id that was declared, where the service gave another.
    """

    entry: Literal["identified"] = "identified"
    remote_id: _KnownId
    instead_of: _Id = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEntry(_OfWrite):
    """The service acknowledged the write.

    `adopted` says that nothing was sent, as live was already as declared, and
    `revision` is what a read shows until somebody writes again, where it was told.
    `instead_of` is the id that was declared, where the service gave another.
    """

    entry: Literal["written"] = "written"
    remote_id: _Id
    message: _Said = ""
    adopted: _Flag = False
    revision: _Said = ""
    instead_of: _Id = None

    @model_validator(mode="before")
    @classmethod
    def _adopted(cls, document: Document) -> Document:
        """Read what told that it was adopted by its message, until that was a field of its own."""
        if "message" not in document:
            return document
        adopted = document.get("adopted") is True or document["message"] == _ADOPTED_BEFORE
        return {**document, "message": "", "adopted": True} if adopted else document


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(_OfWrite):
    """What a read after the write showed: the fields that are not as they were sent."""

    entry: Literal["stored"] = "stored"
    rewritten: _Pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEntry(_OfWrite):
    """The service said no, so nothing changed."""

    entry: Literal["refused"] = "refused"
    message: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(_OfResource):
    """A person said what became of a create; `remote_id` is None where it never happened."""

    entry: Literal["settled"] = "settled"
    remote_id: _Id


@dataclass(frozen=True, slots=True, kw_only=True)
class Override(_Entry):
    """A person applied more than a guard allows, and why."""

    entry: Literal["override"] = "override"
    reason: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(_OfResource):
    """What a compacted journal keeps of one resource, beside the writes in doubt before it.

    `last` is None where no write was ever acknowledged.
    """

    entry: Literal["kept"] = "kept"
    remote_id: _Id
    exists: _Flag
    attempts: _Count
    protect: _Flag
    instead_of: _Id = None
    # What is left out is None here, and null is refused.
    last: Annotated[LastWrite | None, GetPydanticSchema(lambda _, read: read(LastWrite))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed(_OfResource):
    """What was remembered as `was` is the memory of `ref` from here on.

    `run` is "" where a person said so, and not an apply.
    """

    entry: Literal["renamed"] = "renamed"
    was: _Ref
    run: _Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(_OfResource):
    """A person said that a resource is no concern of this journal any more."""

    entry: Literal["forgotten"] = "forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(_Entry):
    """The last line of a journal that goes on at another place; nothing uses this one again.

    `run` is that of the `Arrived` there.
    """

    entry: Literal["moved"] = "moved"
    run: _Text
    to: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived(_Entry):
    """The lines before this one were carried here from the place `origin`.

    As the last line it counts only once the journal at `origin` ends in the
    `Moved` of the same `run`: until then that one is the journal.
    """

    entry: Literal["arrived"] = "arrived"
    run: _Text
    origin: _Text


AboutWrites: TypeAlias = (
    Started | Identified | WrittenEntry | Stored | RefusedEntry | Settled | Kept
)
Entry: TypeAlias = AboutWrites | Renamed | Forgotten | RunEntry | Override | Moved | Arrived
ENTRY_NAMES: tuple[str, ...] = tuple(
    one.__dataclass_fields__["entry"].default for one in get_args(Entry)
)
"""What a line calls each, in the order of the union."""


@cache
def _reader() -> Callable[[Document], Entry]:
    """Give what reads entries. It takes ten milliseconds to make, so only once there is one."""
    adapter = TypeAdapter[Entry](Annotated[Entry, Field(discriminator="entry")])
    return adapter.validator.validate_python


@cache
def _fields(kind: type[_Line]) -> list[tuple[str, str, object]]:
    """Give each field of a line by its name here and there, and the value that is left out."""
    return [
        (one.name, _in_lines(one.name), {} if one.default_factory is dict else one.default)
        for one in fields(kind)
        if one.name != "entry"
    ]


def _document(line: _Line) -> Document:
    """Give the fields of a line. pydantic would write what no document may hold, as a secret."""
    known = _fields(type(line))  # type: ignore[arg-type]  # mypy knows no class as hashable here
    values = ((key, getattr(line, name), left_out) for name, key, left_out in known)
    return {key: _json(value) for key, value, left_out in values if value != left_out}


def _json(value: Any) -> Any:
    match value:
        case Ref():
            return str(value)
        case tuple():
            return [_json(one) for one in value]
        case _Line():
            return _document(value)
        case _:
            return value


def header_document(header: Header) -> Document:
    """Give a header's JSON form."""
    return {"journal": FORMAT, **_document(header)}


def parse_header(document: Document) -> Header:
    """Read the first line. Raises JournalError where it is none."""
    if document.get("journal") != FORMAT:
        raise JournalError("the first line is not the header of a journal of this version")
    named = _fields(Header)
    return Header(**{name: str(document.get(key, "")) for name, key, _ in named})


def entry_document(entry: Entry) -> Document:
    """Give an entry's JSON form."""
    return {"entry": entry.entry, **_document(entry)}


def parse_entry(document: Document, number: int) -> Entry:
    """Read any other line. Raises JournalError naming the line."""
    try:
        return _reader()(document)
    except JournalError as error:
        raise JournalError(f"line {number} of the journal cannot be understood: {error}") from error
    except ValueError as error:
        raise JournalError(f"line {number} of the journal cannot be understood") from error
