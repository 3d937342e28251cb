"""A stored resource as the `spec` of a manifest, or why it cannot be one.

Values of secrets are replaced by `${secret:}` where possible; else the resource is refused.
Documents of other tools are converted first: what has no counterpart is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

from reconciler.api.secret import SHORTEST_REDACTED, Redaction
from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Path,
    each_text,
    texts_at,
    value_at,
    with_value,
)
from reconciler.errors import ExitCode
from reconciler.kinds.field_traits import IdValue, Part
from reconciler.kinds.judge_spec import SpecReport, judge
from reconciler.kinds.kind import Kind
from reconciler.kinds.repairs import MOST_ROUNDS, MoveId, PasteRepair, in_reported_order, repaired
from reconciler.kinds.shape import Facts, facts_of, in_usual_order, members_of
from reconciler.model import RemoteId
from reconciler.redaction.templates import SecretHole, Template, seal, written_out
from reconciler.report.safe import safe
from reconciler.syntax.diagnostic import Finding, Severity
from reconciler.workspace.compose import UnwritableError, check_writable
from reconciler.workspace.expression_scope import SHORTEST_FOUND_INSIDE, Scope, Withheld, fill
from reconciler.workspace.layout import describe_unreported

LITERAL_KEY = "M313"
MISSING = "M302"
NO_ID = "it has no id, which this kind needs"
GIVE_ID = (
    'give the id that it has in the service: add `"id": "<uuid>"` next to its content in the '
    "export, or say `--id NAME=UUID` with its name"
)
MOST_COMMENTS = 1_000
MOST_SHOWN = 200
NO_IDS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRecord:
    """A resource that will become a manifest; `spec` lacks the fields that only answers have.

    `where` describes where it was found. `comments` are put above their places, by their paths in
    `spec`. `keys` are findings about literals that look like keys. `untold` are fields that an
    answer lacked: the path of their parent, and their name. `expressions` are written instead of
    values, by the paths of the values. `ids` are the ids by environment, if there are several.
    `only` are the environments that the manifest is limited to, for the reason `why_only`. `suffix`
    makes the name unique. `elsewhere` means that the record is not for the environment of this run.
    `is_converted` means that it comes from another tool, so the service may not have it.
    `is_minimal` means that `minimal` left out fields.
    """

    kind: Kind
    spec: dict[str, Json]
    remote_id: RemoteId | None
    where: str
    comments: Mapping[Path, str] = field(default_factory=dict)
    keys: tuple[Finding, ...] = ()
    untold: tuple[tuple[Path, str], ...] = ()
    expressions: Mapping[Path, str] = field(default_factory=dict)
    ids: Mapping[str, RemoteId] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    why_only: str = ""
    suffix: str = ""
    elsewhere: bool = False
    is_converted: bool = False
    is_minimal: bool = False

    @property
    def title(self) -> str:
        """The title, "" where it has none."""
        value = value_at(self.spec, self.kind.title)
        return value if isinstance(value, str) else ""

    @property
    def called(self) -> str:
        """The name in reports before the import has a name."""
        shown = f"`{self.title}`" if self.title else str(self.remote_id or "")
        return f"{self.kind.name} {shown}".strip()


@dataclass(frozen=True, slots=True)
class Left:
    """An input that is not imported, and why; exit code 0 means that this is no failure.

    `remedy` may be shared by many inputs. `found` are the kind of an object that is only mentioned,
    and how to import an object of that kind.
    """

    what: str
    why: str
    exit_code: int = ExitCode.DONE
    remedy: str = ""
    found: tuple[str, str] | None = None


def id_given(kind: Kind, name: str, where: str, given: str) -> RemoteId | Left | None:
    """Return an id that a person passed, None for "", and Left for a text that is no id."""
    known = kind.id_form.typed(given) if given else None
    if not given or known is not None:
        return known
    reason = f"`{given[:MOST_SHOWN]}` is no id of it: it must be {kind.id_form.words}"
    return Left(f"{kind.name} `{name[:MOST_SHOWN]}` ({where})", reason, ExitCode.INVALID)


def record_of(
    document: Json, kind: Kind, where: str, withheld: Withheld, ids: Mapping[str, str] = NO_IDS
) -> ImportRecord | Left:
    """Return a stored resource of a kind as a record, or Left with the reason why it cannot be one.

    Wrappers, read-only fields and other spellings are removed as by `validate --fix`, and the id is
    kept. A resource without an id gets the id that `ids` has for its name.
    """
    mould = PasteRepair(kind.spec, kind.id_form, has_id=False)
    document = in_reported_order(document, kind.spec)
    remote_id: RemoteId | None = None
    for _ in range(MOST_ROUNDS):
        made = mould.next_round(document)
        if not made:
            break
        for repair in made:
            if isinstance(repair, MoveId):
                remote_id = _id_at(kind, document, repair.path)
        document = in_reported_order(repaired(document, made), kind.spec)
    spec = document if isinstance(document, dict) else {}
    if kind.inner_id and remote_id is None:
        remote_id = _id_at(kind, spec, kind.inner_id)
    spec = with_value(spec, kind.inner_id, ABSENT)  # type: ignore[assignment]  # an object
    record = ImportRecord(kind=kind, spec=spec, remote_id=remote_id, where=where)
    if remote_id is None and record.title:
        given = id_given(kind, record.title, where, ids.get(record.title, ""))
        if isinstance(given, Left):
            return given
        record = replace(record, remote_id=given)
    return judged(record, withheld)


def judged(record: ImportRecord, withheld: Withheld) -> ImportRecord | Left:
    """Return a record that a manifest can hold, with its comments; or Left with the reason."""
    kind, spec = record.kind, record.spec
    if kind.id_form.required and record.remote_id is None:
        return replace(_refused(record, NO_ID), remedy=GIVE_ID)
    try:
        check_writable(spec)
    except UnwritableError as error:
        return _refused(record, f"{error.why}{_at(error.path)}")
    report = judge(kind, spec, spec, has_id=True)
    findings = [*report.findings, *withheld.findings(spec)]
    wrong = next((finding for finding in findings if finding.severity is Severity.ERROR), None)
    if wrong is not None:
        return _refused(record, f"{wrong.message}{_at(wrong.path)} [{wrong.code}]")
    return replace(
        record,
        spec=in_usual_order(spec, kind.spec),
        comments={**dict(islice(_missing(record, report), MOST_COMMENTS)), **record.comments},
        keys=tuple(finding for finding in findings if finding.code == LITERAL_KEY),
    )


def minimal(record: ImportRecord) -> ImportRecord:
    """Return a record without the fields that a service fills in by itself.

    A flag that is usually on stays, and so does what a comment or an expression is about. The next
    plan keeps the resource either way, as what is left out equals absent.
    """
    stays = {*record.comments, *record.expressions, *(key.path for key in record.keys)}
    stays |= {essential.path for essential in record.kind.essentials if essential.usual}
    spec = _unfilled(record.spec, Facts(part=record.kind.spec), (), stays)
    return replace(record, spec=spec, is_minimal=spec != record.spec)


def _unfilled(value: Any, facts: Facts, path: Path, stays: AbstractSet[Path]) -> Any:
    """Return a value without what a service fills in.

    Fields in an object at a path in `stays` are kept.
    """
    filled = frozenset[str]() if facts.part is None or path in stays else _filled_in(facts.part)
    rest = {
        member.step: _unfilled(member.value, member.facts, (*path, member.step), stays)
        for member in members_of(value, facts)
        if not (
            member.step in filled
            and (member.value in (None, "", [], {}) or member.value is False)
            and (*path, member.step) not in stays
        )
    }
    if isinstance(value, list) and not facts.unordered:
        return [*rest.values()] or value
    return rest if isinstance(value, dict) and (facts.part or facts.values) else value


@cache
def _filled_in(part: type[Part]) -> frozenset[str]:
    """Return the fields of a part that a service fills in with false, "", [] or {} if not sent.

    Those are the documented fields that a write may lack and that may have such a value. The zeros
    of numbers and of enumerations are no such values, as they may be meant.
    """
    required = {
        info.alias or name for name, info in part.model_fields.items() if info.is_required()
    }
    return frozenset(
        name
        for name, facts in facts_of(part).items()
        if part is not IdValue
        and not (facts.observed or facts.needed or facts.form or facts.listed or facts.part)
        and not (facts.bound and facts.bound.low)
    ).difference(required, frozenset[str]().union(*part.alternatives))


def _missing(record: ImportRecord, report: SpecReport) -> Iterator[tuple[Path, str]]:
    """Yield comments on fields that a write needs and the record lacks, with their places."""
    untold: dict[Path, list[str]] = {}
    for path, name in record.untold:
        untold.setdefault(path, []).append(name)
    # Normally nothing is repaired here; then missing fields are in the report already.
    is_whole = report.spec is record.spec and all(
        finding.code != MISSING for finding in report.findings
    )
    for finding in () if is_whole else record.kind.check(record.spec):
        if finding.code == MISSING and finding.path not in untold:
            yield finding.path, f"{finding.message}; add it before this is changed"
    yield from ((path, describe_unreported(names)) for path, names in untold.items())


def _refused(record: ImportRecord, why: str) -> Left:
    return Left(f"{record.called} ({record.where})", why, ExitCode.INVALID)


def _at(path: Path) -> str:
    return f", at {'.'.join(map(str, path))[:200]}" if path else ""


def _id_at(kind: Kind, document: Json, path: Path) -> RemoteId | None:
    value = value_at(document, path)
    return None if value is ABSENT else kind.id_form.parse(value)


IN_A_NAME = "what it is called, or its id, holds the value of a secret that the manifests name"
IN_A_VARIABLE = "a variable that it needs would hold the value of a secret that the manifests name"
IN_THE_WAY = (
    "it holds the value of a secret that the manifests name where no `${secret:}` can be: in "
    "the name of a field, in a number, or spelled in another way"
)


@dataclass(frozen=True, slots=True)
class Hiding:
    """The secrets that manifests name, by name; `salt` returns the salt of their seals.

    A value of fewer than eight characters is only found as a whole text, and a value of fewer than
    four is never found.
    """

    values: Mapping[str, str]
    salt: Callable[[], str]
    _names: dict[str, str] = field(init=False, default_factory=dict, repr=False)
    _inside: re.Pattern[str] | None = field(init=False, default=None, repr=False)
    _filter: Redaction = field(init=False, default_factory=Redaction, repr=False)

    def __post_init__(self) -> None:
        for name, value in sorted(self.values.items(), reverse=True):
            if len(value) >= SHORTEST_REDACTED:
                self._names[value] = name
        long = [name for name in self._names if len(name) >= SHORTEST_FOUND_INSIDE]
        if long:
            found = "|".join(map(re.escape, sorted(long, key=lambda value: (-len(value), value))))
            object.__setattr__(self, "_inside", re.compile(f"({found})"))
        for value in long:
            self._filter.add(value)

    def record(self, record: ImportRecord) -> ImportRecord:
        """Return a record with seals in place of secrets, and the expressions to write for them."""
        if not self.values:
            return record
        spec = self.hidden(record.spec)
        places = dict(self.written(spec))
        return replace(
            record,
            spec=spec,
            expressions={**record.expressions, **places},
            comments={path: self.without(comment) for path, comment in record.comments.items()},
            keys=tuple(key for key in record.keys if key.path not in places),
        )

    def hidden(self, document: dict[str, Json]) -> dict[str, Json]:
        """Return a document with seals in place of secrets."""
        if not self._names:
            return document
        changed = each_text(document, self._text)
        assert isinstance(changed, dict)  # noqa: S101 - an object stays one
        return changed

    def _text(self, text: str) -> str:
        if text in self._names:
            return Template((self._hole(text),))
        if self._inside is None or self._inside.search(text) is None:
            return text
        # The pattern is one group, so every second part is the value of a secret.
        parts = enumerate(self._inside.split(text))
        return Template(tuple(self._hole(part) if nth % 2 else part for nth, part in parts if part))

    def _hole(self, value: str) -> SecretHole:
        name = self._names[value]
        return SecretHole(name, value, seal(value, name, self.salt()))

    def written(self, document: Json) -> Iterator[tuple[Path, str]]:
        """Yield the expressions to write for the seals in a document that `hidden` returned."""
        for path, text in texts_at(document):
            if isinstance(text, Template):
                yield path, str(written_out(text))

    def without(self, text: str) -> str:
        """Return a text for people without any secret."""
        return self._filter(text)

    def lies_in(self, text: str) -> bool:
        """Return whether a text contains a secret, in any spelling."""
        return text in self._names or self._filter(text) != text

    def why_not(self, record: ImportRecord) -> str:
        """Return why a record cannot be written without a secret in clear, "" where it can."""
        if not self._names:
            return ""
        ids = (*record.ids.values(), *([] if record.remote_id is None else [record.remote_id]))
        if any(self.lies_in(str(id_)) for id_ in (record.title, *ids)):
            return IN_A_NAME
        hidden = self.hidden(record.spec)
        places = dict(self.written(hidden))
        if not places.keys().isdisjoint(record.expressions):
            return IN_A_VARIABLE
        return "" if self._stays_hidden(hidden) else IN_THE_WAY

    def _stays_hidden(self, value: Json) -> bool:
        match value:
            case dict():
                return not any(map(self.lies_in, value)) and all(
                    map(self._stays_hidden, value.values())
                )
            case list():
                return all(map(self._stays_hidden, value))
            case Template():
                pieces = (part for part in value.parts if isinstance(part, str))
                # A `$` before the text may escape it.
                read = fill(str(written_out(value)), Scope("", {}, self.values, self.salt))
                is_read_back = not read.findings and read.document == value
                return is_read_back and not any(map(self.lies_in, pieces))
            case str():
                return not self.lies_in(value)
            case bool() | None:
                return True
            case _:
                return str(value) not in self._names


_Value = TypeVar("_Value")

MOST_MADE = 5_000
"""Resources of one document; the rest is left behind and reported."""

MOST_LEFT = 1_000
"""Parts that are named, as many as the panels of the largest dashboard; more are counted."""

MOST_FIELDS = 200
NOTHING_ALIKE = "no counterpart that is taken over"
LONGEST_NAMED = 120
MOST_DIGITS = 15


@dataclass(slots=True)
class Converted:
    """A resource as the `spec` of a manifest; each of the `comments` is put above its place.

    `left_behind` are parts of its source that a manifest cannot express, or not exactly. `where` is
    its place, which is added once the converter is done.

    Resources of one `name` get different manifest names by their `labels`, else by the `digest` of
    their source. `labels` is None for a resource that has no labels. `handle` is then its name for
    people and `--id`, and `mark` is added to the name of its manifest. `remote_id` is the id that
    `--id` gives it, "" for none. A twin, or a resource with a reason in `why_not`, is not imported.
    """

    kind: Kind
    name: str
    spec: dict[str, Json]
    comments: Mapping[Path, str] = field(default_factory=dict)
    left_behind: tuple[Left, ...] = ()
    labels: Mapping[str, str] | None = None
    digest: str = ""
    where: str = ""
    handle: str = ""
    mark: str = ""
    remote_id: str = ""
    why_not: str = ""
    is_twin: bool = False


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a document; `left_behind` are parts that belong to no resource."""

    made: tuple[Converted, ...] = ()
    left_behind: tuple[Left, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """The context of a document: the documents of its file, and ids by names.

    If there are ids, `met` collects the names of all resources that may get an id.
    """

    documents: Sequence[Json] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)


ALONE: Final = Beside()


class Converter(Protocol):
    """A module that knows one other tool."""

    def recognise(self, document: Json) -> bool:
        """Return whether a document belongs to the tool."""

    def convert(self, document: Json, source: str, beside: Beside = ALONE) -> Conversion:
        """Return the result of a document; a document in another form is left behind."""


class Fields:
    """An object of a document that records which of its fields were read.

    A field counts as read if its value has the requested type. If it is read as an object, or as a
    list of objects, each of its fields counts by itself.
    """

    __slots__ = ("_inner", "_read", "document")

    def __init__(self, document: Json) -> None:
        self.document: dict[str, Json] = document if isinstance(document, dict) else {}
        self._read: set[str] = set()
        self._inner: dict[str, list[Fields]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self.document

    def value(self, key: str) -> Json:
        """Return a value of any type, None for none."""
        self._read.add(key)
        return self.document.get(key)

    def text(self, key: str) -> str:
        """Return a text, "" for anything else."""
        value = self.document.get(key)
        return self._noted(key, value) if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        """Return whether a field is true."""
        value = self.document.get(key)
        return isinstance(value, bool) and self._noted(key, value)

    def number(self, key: str) -> Decimal | None:
        """Return a number, None for anything else."""
        number = number_of(self.document.get(key))
        return None if number is None else self._noted(key, number)

    def scalar(self, key: str) -> str | None:
        """Return a plain value as a text, None for anything else."""
        value = self.document.get(key)
        if isinstance(value, bool):
            return self._noted(key, str(value).lower())
        return self._noted(key, str(value)) if isinstance(value, str | int | float) else None

    def scalars(self) -> Iterator[tuple[str, str]]:
        """Yield the plain values of all fields, as texts by their keys."""
        for key in self.document:
            if (value := self.scalar(key)) is not None:
                yield key, value

    def inner(self, *path: str) -> Fields:
        """Return an object at a path; an empty object for anything else."""
        fields = self
        for key in path:
            value = fields.document.get(key)
            if not isinstance(value, dict):
                return Fields({})
            fields = fields._inner.setdefault(key, [Fields(value)])[0]
        return fields

    def each(self, key: str) -> list[Fields]:
        """Return the objects of a list; none for anything else."""
        value = self.document.get(key)
        if key not in self._inner and isinstance(value, list):
            self._inner[key] = [Fields(element) for element in value if isinstance(element, dict)]
        return self._inner.get(key, []) if isinstance(value, list) else []

    def take(self, *keys: str) -> None:
        """Record plain values as read that the manifest has in another way, or does not need."""
        for key in keys:
            self.scalar(key)

    def take_all(self) -> None:
        """Count every field as read."""
        self._read.update(self.document)
        for key in self.document.keys() & self._inner.keys():
            for fields in self._inner[key]:
                fields.take_all()

    def unread(self) -> Iterator[str]:
        """Yield the names of the fields that were not read, without empty fields."""
        for key, value in self.document.items():
            if key in self._inner:
                for fields in self._inner[key]:
                    yield from (f"{key}.{name}" for name in fields.unread())
                elements = value if isinstance(value, list) else []
                if key not in self._read and not all(isinstance(item, dict) for item in elements):
                    yield key
            elif key not in self._read and value not in (None, "", [], {}):
                yield key

    def without(self, key: str) -> Fields:
        """Return the fields without `key`; reads of either are recorded in both."""
        rest = Fields({name: value for name, value in self.document.items() if name != key})
        rest._read, rest._inner = self._read, self._inner
        return rest

    def _noted(self, key: str, value: _Value) -> _Value:
        self._read.add(key)
        return value


class Notes:
    """Parts that are left behind, in the order in which they were found, each once.

    Parts above the limit are counted. Fields that were not read come last.
    """

    def __init__(self) -> None:
        self._left: dict[Left, None] = {}
        self._unread: dict[Left, None] = {}
        self._more = 0

    def leave(self, what: str, why: str, *, is_whole: bool = False) -> None:
        """Note what is not imported: a part, or a whole rule, SLO or dashboard, named safely."""
        code = ExitCode.PARTIAL if is_whole else ExitCode.DONE
        self._note(self._left, Left(safe(what), safe(why), code))

    def unread(self, called: str, fields: Fields) -> None:
        """Add the unread fields of an object, in one line, and count them as read."""
        names = [*dict.fromkeys(fields.unread())]
        fields.take_all()
        shown = [named(name) for name in names[:MOST_FIELDS]]
        if len(names) > MOST_FIELDS:
            shown.append(f"and {len(names) - MOST_FIELDS:,} more fields")
        if shown:
            text = safe(": ".join(filter(None, (called, ", ".join(shown)))))
            self._note(self._unread, Left(text, NOTHING_ALIKE))

    def _note(self, where: dict[Left, None], left: Left) -> None:
        if left in where or len(where) < MOST_LEFT:
            where[left] = None
        else:
            self._more += 1

    @property
    def all(self) -> tuple[Left, ...]:
        """All parts that were added."""
        more = (Left(f"{self._more:,} more", "too many to name"),) if self._more else ()
        return (*self._left, *self._unread, *more)


def text_at(document: Json, *path: str) -> str:
    """Return a text at a path, "" where there is none."""
    value = value_at(document, path)
    return value if isinstance(value, str) else ""


def number_of(value: Json | Missing) -> Decimal | None:
    """Return a number, from a number or a text; else None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    is_usual = number.is_finite() and (not number or abs(number.adjusted()) <= MOST_DIGITS)
    return number if is_usual else None


def plain(number: Decimal) -> int | float:
    """Return a number as JSON writes it."""
    return int(number) if number == number.to_integral_value() else float(number)


_DURATION = re.compile(
    r"(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?"
)
_SECONDS = (604_800, 86_400, 3_600, 60, 1)


def seconds_of(text: str) -> int | None:
    """Return a duration such as `1h30m` in seconds, None for any other text."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    return sum(
        int(count) * number for count, number in zip(found.groups(), _SECONDS, strict=True) if count
    )


def named(text: str) -> str:
    """Return a foreign name for a report, cut where it is very long."""
    shown = safe(" ".join(text[: 4 * LONGEST_NAMED].split()))
    return shown if len(shown) <= LONGEST_NAMED else f"{shown[:LONGEST_NAMED]}…"


def bracketed(query: str) -> str:
    """Return a query in brackets; a line break keeps a comment from hiding the closing bracket."""
    query = query.strip()
    return f"({query}\n)" if "#" in query else f"({query})"
