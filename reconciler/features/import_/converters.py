"""Documents of other tools as records: the only place that lists the tools. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reconciler.document import Json
from reconciler.errors import ExitCode
from reconciler.features.import_ import grafana, openslo, prometheus
from reconciler.features.import_.conversion import (
    Converted,
    Converter,
    FileDocuments,
    LeftBehind,
    named,
)
from reconciler.features.import_.names import Naming, with_unique_names
from reconciler.features.import_.records import ImportRecord, Left, id_given, judged
from reconciler.workspace.secret_scan import Withheld

CONVERTERS: Final[tuple[Converter, ...]] = (openslo, prometheus, grafana)
MOST_SAID: Final = 20


@dataclass(frozen=True, slots=True)
class Beside:
    """The context of a document: the documents of its file, and ids by names.

    Where there are ids, `met` collects the names of all resources that may have an id.
    """

    documents: FileDocuments = field(default_factory=FileDocuments)
    ids: Mapping[str, str] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)


ALONE: Final = Beside()


@dataclass(frozen=True, slots=True)
class Foreign:
    """A resource of another tool's document. It becomes a record once all resources are known."""

    made: Converted
    where: str


def converted_in(document: Json, where: str, beside: Beside) -> Iterator[Foreign | Left] | None:
    """Return the result of another tool's document, None if no converter recognises it."""
    converter = next((converter for converter in CONVERTERS if converter.recognise(document)), None)
    return None if converter is None else _pieces(converter, document, where, beside)


def _pieces(
    converter: Converter, document: Json, where: str, beside: Beside
) -> Iterator[Foreign | Left]:
    conversion = converter.convert(document, where, beside.documents)
    yield from (Foreign(converted, where) for converted in conversion.made)
    for left_behind in conversion.left_behind:
        yield Left(
            left_behind.what,
            left_behind.why,
            ExitCode.PARTIAL if left_behind.is_whole else ExitCode.DONE,
        )


def records_of(
    foreign: Sequence[Foreign], withheld: Withheld, beside: Beside
) -> Iterator[ImportRecord | Left]:
    """Yield the records of all converted resources; no name depends on their order."""
    given = with_unique_names([resource.made for resource in foreign], beside.ids)
    if beside.ids:
        beside.met.update(given.met)
    yield from given.left
    for resource, naming in zip(foreign, given.each, strict=True):
        called = f"{resource.made.kind.name} `{named(naming.handle)}` ({resource.where})"
        if naming.why_not:
            code = ExitCode.DONE if naming.is_twin else ExitCode.INVALID
            yield Left(called, naming.why_not, code)
            continue
        record = _record(resource, naming, withheld)
        yield record
        if isinstance(record, ImportRecord):
            left = resource.made.left_behind
            yield from (
                Left(f"{called}, {left_behind.what}", left_behind.why) for left_behind in left
            )


def _record(foreign: Foreign, naming: Naming, withheld: Withheld) -> ImportRecord | Left:
    made = foreign.made
    remote_id = id_given(made.kind, made.name, foreign.where, naming.remote_id)
    if isinstance(remote_id, Left):
        return remote_id
    if remote_id is None and made.kind.id_form.required:
        reason = (
            "the API cannot create one: make one in the web interface, whatever it says, and "
            f"give its id with --id '{named(naming.handle)}=ID'"
        )
        what = f"{made.kind.name} `{named(naming.handle)}` ({foreign.where})"
        return Left(what, reason, ExitCode.PARTIAL)
    comments = {**made.comments}
    if made.left_behind:
        comments[()] = _said(made.left_behind)
    record = ImportRecord(
        kind=made.kind,
        spec=made.spec,
        remote_id=remote_id,
        where=foreign.where,
        comments=comments,
        suffix=naming.mark,
        is_converted=True,
    )
    return judged(record, withheld)


def _said(left: Sequence[LeftBehind]) -> str:
    """Return the comment on what was left behind, to be put above the manifest's content."""
    lines = [f"- {left_behind.what}: {left_behind.why}" for left_behind in left[:MOST_SAID]]
    more = [f"- and {len(left) - MOST_SAID} more"] if len(left) > MOST_SAID else []
    return "\n".join(("Not taken over, or only nearly:", *lines, *more))
