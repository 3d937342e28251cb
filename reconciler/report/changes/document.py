"""JSON of differences, manifest places and selections: a part of several documents."""

from typing import Annotated, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from reconciler.document import ABSENT, Difference, Operation
from reconciler.model import Selected, Source
from reconciler.redaction.templates import references_in


@with_config(ConfigDict(extra="ignore"))
class FieldDocument(TypedDict):
    """A field that a write would change; `before` or `after` is left out where it is absent."""

    path: Annotated[
        list[str | int],
        Field(description="Keys, identities of list items, or indices from 0."),
    ]
    operation: Annotated[
        Operation,
        Field(
            description="For a move, before and after are positions from 0; out of another list, "
            "before is the path of that list, ended by the position there."
        ),
    ]
    before: NotRequired[JsonValue]
    after: NotRequired[JsonValue]
    knownAfterApply: NotRequired[
        Annotated[bool, Field(description="The value holds an id that does not exist yet.")]
    ]


@with_config(ConfigDict(extra="ignore"))
class LabelDocument(TypedDict):
    """The words in which a report shows the place of a field."""

    subject: Annotated[str, Field(description="The part of the resource; empty for itself.")]
    field: Annotated[str, Field(description="The field of the part; empty for all of it.")]
    place: Annotated[str, Field(description="Where an item comes or moves to; else empty.")]


class PlannedField(FieldDocument):
    """A field that a write would change, with its words."""

    label: NotRequired[
        Annotated[
            LabelDocument, Field(description="Left out where the path alone gives the same words.")
        ]
    ]


@with_config(ConfigDict(extra="ignore"))
class SourceDocument(TypedDict):
    """The place of a manifest: a file relative to the project, and a line from 1."""

    file: str
    line: int
    item: NotRequired[
        Annotated[
            str, Field(description="Of a forEach: which of its items the resource is made of.")
        ]
    ]


@with_config(ConfigDict(extra="ignore"))
class SelectionDocument(TypedDict):
    """The selection of a run by `--select` and `--exclude`."""

    select: Annotated[list[str], Field(description="Alternatives; empty for all.")]
    exclude: Annotated[list[str], Field(description="Alternatives that are left out.")]
    leftOut: Annotated[int, Field(ge=0, description="How many resources were left out.")]


Limited: TypeAlias = Annotated[
    SelectionDocument, Field(description="Only where --select or --exclude limited it.")
]


def selection_document(selected: Selected) -> SelectionDocument:
    """Return the JSON form of a selection."""
    return {
        "select": [*selected.select],
        "exclude": [*selected.exclude],
        "leftOut": selected.left_out,
    }


def difference_document(difference: Difference) -> FieldDocument:
    """Return the JSON form of a difference."""
    document: FieldDocument = {
        "path": list(difference.path),
        "operation": difference.operation,
    }
    if difference.before is not ABSENT:
        document["before"] = difference.before
    if difference.after is not ABSENT:
        document["after"] = difference.after
        if references_in(difference.after):
            document["knownAfterApply"] = True
    return document


def source_document(source: Source) -> SourceDocument:
    """Return the JSON form of a manifest's place."""
    place: SourceDocument = {"file": source.file, "line": source.line}
    return place if source.item is None else {**place, "item": str(source.item)}
