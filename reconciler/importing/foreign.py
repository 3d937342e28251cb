"""Documents of other tools as records: the one place that knows which tools there are. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reconciler.document import Json
from reconciler.errors import ExitCode
from reconciler.importing import grafana, openslo, prometheus
from reconciler.importing.converting import Converted, Converter, LeftBehind, named
from reconciler.importing.records import Left, Record, id_given, judged
from reconciler.manifests.withholding import Withheld

CONVERTERS: Final[tuple[Converter, ...]] = (openslo, prometheus, grafana)
MOST_SAID: Final = 20


@dataclass(frozen=True, slots=True)
class Beside:
    """What a document does not say itself: those of its file, and ids by names.

    Where there are ids, `met` takes the names of everything that was met and may have one.
    """

    documents: Sequence[Json] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)


ALONE: Final = Beside()


def converted_in(
    document: Json, where: str, withheld: Withheld, beside: Beside
) -> Iterator[Record | Left] | None:
    """Give what a document of another tool becomes, None for one that is of none."""
    converter = next((one for one in CONVERTERS if one.recognise(document)), None)
    return None if converter is None else _records(converter, document, where, withheld, beside)


def _records(
    converter: Converter, document: Json, where: str, withheld: Withheld, beside: Beside
) -> Iterator[Record | Left]:
    conversion = converter.convert(document, where, beside.documents)
    for one in conversion.made:
        if beside.ids:
            beside.met.add(one.name)
        record = _record(one, where, withheld, beside.ids)
        yield record
        if isinstance(record, Record):
            called = f"{one.kind.name} `{named(record.title)}` ({where})"
            yield from (Left(f"{called}, {each.what}", each.why) for each in one.left_behind)
    yield from (Left(each.what, each.why) for each in conversion.left_behind)


def _record(
    one: Converted, where: str, withheld: Withheld, ids: Mapping[str, str]
) -> Record | Left:
    remote_id = id_given(one.kind, one.name, where, ids)
    if isinstance(remote_id, Left):
        return remote_id
    if remote_id is None and one.kind.id_form.required:
        said = (
            "the API cannot create one: make one in the web interface, whatever it says, and "
            f"give its id with --id '{named(one.name)}=ID'"
        )
        return Left(f"{one.kind.name} `{named(one.name)}` ({where})", said, ExitCode.INVALID)
    comments = {**one.comments}
    if one.left_behind:
        comments[()] = _said(one.left_behind)
    record = Record(
        kind=one.kind,
        spec=one.spec,
        remote_id=remote_id,
        where=where,
        comments=comments,
        is_converted=True,
    )
    return judged(record, withheld)


def _said(left: Sequence[LeftBehind]) -> str:
    """Give what was left behind as it stands above the manifest's content."""
    lines = [f"- {one.what}: {one.why}" for one in left[:MOST_SAID]]
    more = [f"- and {len(left) - MOST_SAID} more"] if len(left) > MOST_SAID else []
    return "\n".join(("Not taken over, or only nearly:", *lines, *more))
