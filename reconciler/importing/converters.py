"""Documents of other tools as records: the one place that knows which tools there are. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reconciler.document import Json
from reconciler.errors import ExitCode
from reconciler.importing import grafana, openslo, prometheus
from reconciler.importing.conversion import Converted, Converter, FileDocuments, LeftBehind, named
from reconciler.importing.records import ImportRecord, Left, id_given, judged
from reconciler.importing.unique_names import Naming, told_apart
from reconciler.workspace.secret_scan import Withheld

CONVERTERS: Final[tuple[Converter, ...]] = (openslo, prometheus, grafana)
MOST_SAID: Final = 20


@dataclass(frozen=True, slots=True)
class Beside:
    """What a document does not say itself: those of its file, and ids by names.

    Where there are ids, `met` has the names of everything that was met and may have one.
    """

    documents: FileDocuments = field(default_factory=FileDocuments)
    ids: Mapping[str, str] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)


ALONE: Final = Beside()


@dataclass(frozen=True, slots=True)
class Foreign:
    """A resource made of a document of another tool, which is a record once all are known."""

    made: Converted
    where: str


def converted_in(document: Json, where: str, beside: Beside) -> Iterator[Foreign | Left] | None:
    """Return what a document of another tool becomes, None for one that is of none."""
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
    """Yield the records of all that was converted, by names that do not depend on its order."""
    given = told_apart([one.made for one in foreign], beside.ids)
    if beside.ids:
        beside.met.update(given.met)
    yield from given.left
    for one, mine in zip(foreign, given.each, strict=True):
        called = f"{one.made.kind.name} `{named(mine.handle)}` ({one.where})"
        if mine.why_not:
            code = ExitCode.DONE if mine.is_twin else ExitCode.INVALID
            yield Left(called, mine.why_not, code)
            continue
        record = _record(one, mine, withheld)
        yield record
        if isinstance(record, ImportRecord):
            left = one.made.left_behind
            yield from (
                Left(f"{called}, {left_behind.what}", left_behind.why) for left_behind in left
            )


def _record(foreign: Foreign, mine: Naming, withheld: Withheld) -> ImportRecord | Left:
    one = foreign.made
    remote_id = id_given(one.kind, one.name, foreign.where, mine.remote_id)
    if isinstance(remote_id, Left):
        return remote_id
    if remote_id is None and one.kind.id_form.required:
        said = (
            "the API cannot create one: make one in the web interface, whatever it says, and "
            f"give its id with --id '{named(mine.handle)}=ID'"
        )
        what = f"{one.kind.name} `{named(mine.handle)}` ({foreign.where})"
        return Left(what, said, ExitCode.PARTIAL)
    comments = {**one.comments}
    if one.left_behind:
        comments[()] = _said(one.left_behind)
    record = ImportRecord(
        kind=one.kind,
        spec=one.spec,
        remote_id=remote_id,
        where=foreign.where,
        comments=comments,
        suffix=mine.mark,
        is_converted=True,
    )
    return judged(record, withheld)


def _said(left: Sequence[LeftBehind]) -> str:
    """Give what was left behind as it stands above the manifest's content."""
    lines = [f"- {left_behind.what}: {left_behind.why}" for left_behind in left[:MOST_SAID]]
    more = [f"- and {len(left) - MOST_SAID} more"] if len(left) > MOST_SAID else []
    return "\n".join(("Not taken over, or only nearly:", *lines, *more))
