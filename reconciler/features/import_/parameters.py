"""Exports of one resource from several environments as one manifest, with variables. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import chain, count

from reconciler.document import Json, Path, identical, value_at
from reconciler.features.import_.match_declared import kind_word, plain_name
from reconciler.features.import_.records import ImportRecord, Left
from reconciler.kinds.shape import NOTHING, Facts, facts_of, references_in
from reconciler.model import RemoteId
from reconciler.project import ProjectVariable
from reconciler.syntax.expressions import Expression, ExpressionKind, escaped, expression, parts_of

Values = tuple[ProjectVariable, ...]
"""The values at one place, one for each environment."""

_Differing = list[tuple[Path, Values | None]]
"""The places that differ, with their values; None for an inner id that is left out."""

Key = tuple[str, str]
_TOO_GENERAL = frozenset(
    ("value", "query", "name", "text", "title", "description", "promql", "luceneQuery", "id")
)


@dataclass(slots=True)
class Parameterised:
    """Joined records of several environments, and the variables that they need.

    `variables` are those that do not exist yet, by environment.
    """

    records: list[ImportRecord] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    variables: dict[str, dict[str, ProjectVariable]] = field(default_factory=dict)


class _ApartError(Exception):
    """A difference that is more than a single value; the argument of the error is the path."""


def parameterised(
    found: Mapping[str, Sequence[ImportRecord]],
    here: str,
    known: Mapping[str, Mapping[str, ProjectVariable]],
) -> Parameterised:
    """Return the records of environments, joined where only single values differ.

    Records are matched by kind and name. `here` is the environment of the journal at hand, and
    `known` are the variables of all environments of the project. Records that differ in form stay
    separate: a record for each environment, limited to it.
    """
    result = Parameterised()
    by_key: dict[Key, dict[str, list[ImportRecord]]] = defaultdict(lambda: defaultdict(list))
    for name, records in found.items():
        for record in records:
            title = plain_name(f"{record.title} {record.suffix}")
            key = record.kind.name, title or kind_word(record.kind.name)
            by_key[key][name].append(record)
    things = {
        (record.kind.name, record.remote_id): key
        for key, of in by_key.items()
        for record in chain.from_iterable(of.values())
        if record.remote_id is not None
    }
    naming = _Naming(tuple(found), known, result.variables)
    joined: list[tuple[dict[str, ImportRecord], _Differing]] = []
    for key, of in by_key.items():
        single = {
            name: records_of_name[0]
            for name, records_of_name in of.items()
            if len(records_of_name) == 1
        }
        if len(single) != len(found) or len(single) != len(of):
            result.records += [
                _only(record, name, here, "" if len(of) == 1 else name)
                for name, records_of_name in of.items()
                for record in records_of_name
            ]
            continue
        try:
            compared = _join(single, things)
        except _ApartError as apart:
            result.records += [_only(record, name, here, name) for name, record in single.items()]
            place = ".".join(map(str, apart.args[0])) or "its form"
            reason = f"differs in more than single values, at {place}: one manifest for each"
            result.left.append(Left(f"{key[0]} {key[1]}", reason))
            continue
        naming.note(key, compared)
        joined.append((single, compared))
    for single, differing in joined:
        result.records.append(_record(single, differing, naming, here))
    return result


def _only(record: ImportRecord, name: str, here: str, suffix: str) -> ImportRecord:
    ids = {} if record.remote_id is None else {name: record.remote_id}
    suffix = f"{record.suffix} {suffix}".strip()
    return replace(record, only=(name,), ids=ids, suffix=suffix, elsewhere=name != here)


def _join(
    single: Mapping[str, ImportRecord], things: Mapping[tuple[str, RemoteId], Key]
) -> _Differing:
    """Return the differences. Raises _ApartError."""
    records = [*single.values()]
    kind = records[0].kind
    named = {path: kind_name for path, kind_name, _ in references_in(records[0].spec, kind.spec)}
    found: _Differing = []
    for path, values in _differing([record.spec for record in records], Facts(part=kind.spec), ()):
        meant: set[Key | None] = {None}
        if values is not None and path in named:
            meant = {things.get((named[path], str(value))) for value in values}
        if None in meant or len(meant) > 1:
            found.append((path, values))
    return found


def _differing(
    values: Sequence[Json], facts: Facts, path: Path
) -> Iterator[tuple[Path, Values | None]]:
    first = values[0]
    if all(type(value) is type(first) and identical(value, first) for value in values):
        return
    objects = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    scalars = [value for value in values if isinstance(value, str | int | float)]
    if len(scalars) == len(values):
        yield path, tuple(scalars)
    elif len(objects) == len(values) and all(
        value.keys() == objects[0].keys() for value in objects
    ):
        fields = facts_of(facts.part) if facts.part is not None else {}
        for key in objects[0]:
            members = [value[key] for value in objects]
            yield from _differing(members, fields.get(key, facts.values or NOTHING), (*path, key))
    elif len(lists) == len(values) and len({*map(len, lists)}) == 1:
        own = facts.keyed.identity if facts.keyed is not None else ()
        for index, items in enumerate(zip(*lists, strict=True)):
            here: Path = (*path, index)
            for place, found in _differing(items, facts.items or NOTHING, here):
                # Each environment gave the item an id of its own, and keeps that id if no id is
                # written.
                is_own = own[:1] == ("id",) and place == (*here, *own)
                yield ((*here, "id"), None) if is_own else (place, found)
    else:
        raise _ApartError(path)


@dataclass(slots=True)
class _Naming:
    """Names of variables: the same values share one name, and existing variables come first."""

    environments: tuple[str, ...]
    known: Mapping[str, Mapping[str, ProjectVariable]]
    new: dict[str, dict[str, ProjectVariable]]
    uses: dict[Values, list[tuple[Key, Path]]] = field(default_factory=lambda: defaultdict(list))
    names: dict[Values, str] = field(default_factory=dict)

    def note(self, key: Key, differing: _Differing) -> None:
        """Add the uses of values, before any of them gets a name."""
        for path, values in differing:
            for piece in () if values is None else _pieces(values):
                if isinstance(piece, tuple):
                    self.uses[piece].append((key, path))

    def name_of(self, values: Values) -> str:
        known = self.names.get(values) or self._known(values)
        if not known:
            known = self._unused(self._wanted(values))
            for environment, value in zip(self.environments, values, strict=True):
                self.new.setdefault(environment, {})[known] = value
        self.names[values] = known
        return known

    def _known(self, values: Values) -> str:
        for name in self.known.get(self.environments[0], {}):
            held = [self.known.get(environment, {}).get(name) for environment in self.environments]
            if held == [*values] and [*map(type, held)] == [*map(type, values)]:
                return name
        return ""

    def _wanted(self, values: Values) -> str:
        environments = [environment.casefold() for environment in self.environments]
        if [str(value).casefold() for value in values] == environments:
            return "environment"
        uses = self.uses[values]
        steps = [str(step) for step in uses[0][1] if isinstance(step, str)]
        last = steps[-1]
        things = {key for key, _ in uses}
        last = re.sub(r"[^A-Za-z0-9_]", "", last) or "value"
        if len(things) > 1 and last not in _TOO_GENERAL:
            return last
        first, *rest = re.findall(r"[a-z0-9]+", min(things)[1]) or ["value"]
        head = f"v{first}" if first[0].isdigit() else first
        return "".join((head, *map(str.capitalize, rest), last[0].upper(), last[1:]))

    def _unused(self, wanted: str) -> str:
        taken = {*chain.from_iterable((*self.known.values(), *self.new.values()))}
        names = chain([wanted], (f"{wanted}{number}" for number in count(2)))
        return next(name for name in names if name not in taken)


def _pieces(values: Values) -> list[str | Values]:
    """Return texts in pieces: the shared texts, and the one word in which they differ."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) != len(values):
        return [values]
    split = [re.findall(r"[A-Za-z0-9]+|[^A-Za-z0-9]+", text) for text in texts]
    if len({len(words) for words in split}) != 1:
        return [values]
    columns = [*zip(*split, strict=True)]
    words = {column for column in columns if len(set(column)) > 1}
    if len(words) != 1:
        return [values]
    pieces: list[str | Values] = []
    for column in columns:
        if column in words:
            pieces.append(column)
        elif pieces and isinstance(pieces[-1], str):
            pieces[-1] += column[0]
        else:
            pieces.append(column[0])
    return pieces


def _written(values: Values, naming: _Naming) -> str:
    """Return the text to write in place of values; each environment resolves it to its own."""
    pieces = _pieces(values)
    written = "".join(
        expression(ExpressionKind.VARIABLE, naming.name_of(piece))
        if isinstance(piece, tuple)
        else escaped(piece)
        for piece in pieces
    )
    if len(pieces) > 1 and not _reads_back(written, pieces):
        return expression(ExpressionKind.VARIABLE, naming.name_of(values))
    return written


def _reads_back(written: str, pieces: Sequence[str | Values]) -> bool:
    read = [part for part in parts_of(written) if part != ""]
    texts = [part for part in read if isinstance(part, str)]
    names = sum(isinstance(part, Expression) for part in read)
    return (
        names == sum(isinstance(piece, tuple) for piece in pieces)
        and names + len(texts) == len(read)
        and "".join(texts) == "".join(piece for piece in pieces if isinstance(piece, str))
    )


def _record(
    single: Mapping[str, ImportRecord], differing: _Differing, naming: _Naming, here: str
) -> ImportRecord:
    record = single[here]
    left_out = {path for path, values in differing if values is None}
    spec = deepcopy(record.spec) if left_out else record.spec
    for *holder, key in left_out:
        item = value_at(spec, holder)
        assert isinstance(item, dict)  # noqa: S101 - the id was found in it
        del item[str(key)]
    known = {
        name: record.remote_id for name, record in single.items() if record.remote_id is not None
    }
    return replace(
        record,
        spec=spec,
        expressions={
            path: _written(values, naming) for path, values in differing if values is not None
        },
        ids=known,
        only=() if single.keys() >= naming.known.keys() else tuple(single),
    )
