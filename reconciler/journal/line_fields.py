"""How the fields of a journal's lines are read: each value as it may be, or not at all."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias, Union

from pydantic import Field, GetPydanticSchema
from pydantic_core import core_schema

from reconciler.addresses import is_part
from reconciler.document import Json, Missing, Path
from reconciler.errors import JournalError
from reconciler.resource import Ref, RemoteId

_SHOWN = 80

Document: TypeAlias = dict[str, Json]


def instance_of(kind: type) -> GetPydanticSchema:
    """Take values of a type as they are: pydantic's own texts may not hold half characters."""
    schema = core_schema.is_instance_schema(kind)
    return GetPydanticSchema(lambda _source, _handler: schema)


def read_by(function: Callable[[Any], object]) -> GetPydanticSchema:
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


Text = Annotated[str, instance_of(str)]
Said = Annotated[str, read_by(str)]
Flag = Annotated[bool, read_by(lambda value: value is True)]
Operation = Annotated[
    Literal["create", "replace"],
    read_by(lambda value: "create" if value == "create" else "replace"),
]
Count = Annotated[int, Field(strict=True)]
Object = Annotated[Document, instance_of(dict)]
RefText = Annotated[Ref, read_by(_ref)]
Id = Annotated[RemoteId | None, read_by(_remote_id)]
KnownId = Annotated[RemoteId, read_by(_known_id)]
Value = Annotated[Union[Json, Missing], instance_of(object)]  # noqa: UP007 - `Json` is a forward reference
Steps = Annotated[Path, read_by(_path)]
