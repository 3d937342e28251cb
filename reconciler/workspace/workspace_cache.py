"""Cache of workspaces from unchanged files: encoding as text, and decoding.

Source: docs/performance.md.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from reconciler.document import Json, digest
from reconciler.kinds import BY_NAME
from reconciler.model import Exemption, Manifest, Member, Ref, Source, Unopened
from reconciler.project import ProjectFile
from reconciler.redaction.templates import RefHole, SecretHole, Template, is_plain, sum_of
from reconciler.runtime.cache import Cache, program
from reconciler.syntax.diagnostic import Advice, Complaint, Excerpt, Severity, Suppressed
from reconciler.syntax.files import Files, digest_of_file
from reconciler.workspace.build import SIDE_FILES
from reconciler.workspace.expression_scope import Scope, value_of_secret
from reconciler.workspace.workspace_checks import ALWAYS, wanted_checks

FORMAT = 7

FAST: Final = 1
"""The level of compression: level 2 takes twice as long and saves a tenth."""

CachedJson: TypeAlias = Any
"""A part of an entry, as parsed from JSON."""

CachedFields: TypeAlias = dict[str, Any]
"""The fields of a workspace by their names."""


_OF_MANIFESTS: Final = ("manifests", "left_out", "beside")
"""Fields of a workspace that hold manifests."""


class _Missed(Exception):
    """The entry is not valid for the current input."""


LEFT_OUT = frozenset(("salt", "today", "why_unset"))
"""Fields of a scope that are in no key. Seals are made again, an entry has its day, and a secret
that cannot be read causes a complaint, so that nothing is kept."""


def about_scope(scope: Scope, cache: Cache) -> dict[str, Json]:
    """Return each field of a scope except those of `LEFT_OUT`.

    For secrets it says only whether there are any: they are compared one by one.
    """
    withheld = scope.withheld
    values: dict[str, Json] = {
        name: cache.sign(f"{name}\0{value}") for name, value in sorted(withheld.values.items())
    }
    kept = {field.name: getattr(scope, field.name) for field in fields(scope)}
    return {
        **{name: value for name, value in kept.items() if name not in LEFT_OUT},
        "variables": dict(scope.variables),
        "secrets": scope.secrets is not None,
        "withheld": [list[Json](withheld.prefixes), values],
        "selection": [
            list[Json](scope.selection.flags()),
            list[Json](sorted(scope.selection.within or ())),
        ],
        "unread": list[Json](sorted(scope.unread)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A cache lookup by everything that decides a workspace, except the texts of files.

    `roots` are the folders that files may be in.
    """

    cache: Cache
    found: Files
    roots: tuple[Path, ...]
    settings: ProjectFile
    scopes: Sequence[Scope]

    @property
    def key(self) -> str:
        """Return the key of the entry."""
        about: dict[str, Json] = {
            "format": FORMAT,
            "program": program(),
            "root": str(self.found.root),
            "roots": [str(root) for root in self.roots],
            "files": [[str(file.path), file.name, file.named] for file in self.found.files],
            "settings": self.settings.model_dump(mode="json", by_alias=True),
            # Complaints about rules quote the lines of the project file.
            "written": _text_of(self.settings),
            "scopes": [about_scope(scope, self.cache) for scope in self.scopes],
        }
        return digest(about)

    @property
    def _days(self) -> list[str]:
        return [scope.today.isoformat() for scope in self.scopes]

    def get(self) -> Mapping[str, CachedFields] | None:
        """Return the fields of the workspaces by environment, or None if a file changed."""
        content = self.cache.get(self.key)
        if content is None:
            return None
        try:
            head, _, specs = content.partition(b"\n")
            entry = json.loads(head)
            if entry["days"] not in (None, self._days):
                return None
            for path, name, known in entry["read"]:
                if digest_of_file(Path(path), name, self.roots) != known:
                    return None
            read = tuple(Path(path) for path, *_ in entry["read"])
            kept = self._opened(entry, specs).items()
            return {name: {**values, "read": read} for name, values in kept}
        except (_Missed, ValueError, KeyError, TypeError, IndexError, RecursionError):
            return None

    def put(
        self, made: Sequence[CachedFields], read: Mapping[Path, tuple[str, str]]
    ) -> Mapping[str, CachedFields]:
        """Keep workspaces and the digests of the files that were read, unless there are errors.

        Returns their fields by environment as `get` will, with manifests that need less memory, or
        none.
        """
        if any(complaint.is_error for values in made for complaint in values["complaints"]):
            return {}
        closing = _Closing(self.cache)
        # Only exemptions, and checks that a setting asks for, end on a day.
        manifests = [
            manifest for kept in made for name in _OF_MANIFESTS for manifest in kept[name] or ()
        ]
        ends = any(key != ALWAYS for key in wanted_checks(self.settings)) or any(
            manifest.exempt for manifest in manifests
        )
        entry = {
            "days": self._days if ends else None,
            "read": [[str(path), name, known] for path, (name, known) in read.items()],
            "workspaces": [closing.kept(workspace) for workspace in made],
            "seals": closing.seals,
        }
        head = json.dumps(entry, separators=(",", ":"), default=_plain).encode()
        specs = b"".join(closing.specs)
        self.cache.put(self.key, b"".join([head, b"\n", specs]))
        return self._opened(json.loads(head), specs)

    def _opened(self, entry: CachedJson, specs: bytes) -> Mapping[str, CachedFields]:
        """Decode an entry for each environment. Raises _Missed if it is not valid."""
        return {
            scope.environment: _Opening(self.cache, scope, entry["seals"], specs).kept(workspace)
            for scope, workspace in zip(self.scopes, entry["workspaces"], strict=True)
        }


def _text_of(settings: ProjectFile) -> str:
    return "" if settings.written is None else digest(settings.written.document.lines.text)


@dataclass(slots=True)
class _Closing:
    """Encoder of workspaces. Of a secret it keeps the name, and a signature of its value.

    `specs` are the specs of the manifests, compressed one by one, so that each can be read alone.
    """

    cache: Cache
    seals: dict[str, str] = field(default_factory=dict)
    specs: list[bytes] = field(default_factory=list)
    _length: int = 0

    def kept(self, workspace: CachedFields) -> CachedFields:
        """Return the fields of a workspace for `json.dumps`."""
        values = dict(workspace)
        for name in _OF_MANIFESTS:
            if values[name] is not None:
                values[name] = [*map(self._manifest, values[name])]
        values["side_files"] = {
            name: SIDE_FILES.load(name).packed(content)
            for name, content in workspace["side_files"].items()
        }
        return values

    def _manifest(self, manifest: Manifest) -> CachedJson:
        holes: list[CachedJson] = []
        # Most specs have no template, and are written as they are.
        spec = manifest.spec if is_plain(manifest) else self._opened(manifest.spec, (), holes)
        text = zlib.compress(json.dumps(spec, separators=(",", ":")).encode(), FAST)
        begin, self._length = self._length, self._length + len(text)
        self.specs.append(text)
        declared_id = BY_NAME[manifest.ref.kind].declared_id(manifest)
        return [
            manifest.ref,
            [begin, self._length, sum_of(manifest), declared_id],
            manifest.source,
            manifest.remote_id,
            dict(manifest.labels),
            sorted(manifest.references),
            manifest.protect,
            dict(manifest.exempt),
            dict(manifest.added),
            holes,
        ]

    def _opened(self, value: Json, path: tuple[str | int, ...], holes: list[CachedJson]) -> Json:
        """Return a document with None in place of its templates, which are added to `holes`."""
        match value:
            case Template(parts=parts):
                holes.append([[*path], [*map(self._part, parts)]])
                return None
            case dict():
                return {
                    key: self._opened(member, (*path, key), holes) for key, member in value.items()
                }
            case list():
                return [
                    self._opened(element, (*path, at), holes) for at, element in enumerate(value)
                ]
            case _:
                return value

    def _part(self, part: str | SecretHole | RefHole) -> CachedJson:
        match part:
            case SecretHole(name=name, value=value):
                if value:
                    self.seals[name] = self.cache.sign(value)
                return ["secret", name, bool(value)]
            case RefHole(ref=ref):
                return ["ref", *ref]
            case _:
                return part


@dataclass(slots=True)
class _Opening:
    """Decoder of workspaces, with the secrets of this run."""

    cache: Cache
    scope: Scope
    seals: Mapping[str, str]
    specs: bytes

    def kept(self, held: CachedFields) -> CachedFields:
        values = dict(held)
        for name in _OF_MANIFESTS:
            if held[name] is not None:
                values[name] = tuple(map(self._manifest, held[name]))
        for name in ("complaints", "idle"):
            values[name] = tuple(map(_complained, held[name]))
        for name in ("elsewhere", "unselected"):
            values[name] = tuple(Ref(*ref) for ref in held[name])
        values["suppressed"] = tuple(
            Suppressed(_complained(complaint), why) for complaint, why in held["suppressed"]
        )
        values["side_files"] = {
            name: SIDE_FILES.load(name).unpacked(content)
            for name, content in held["side_files"].items()
        }
        return values

    def _manifest(self, held: CachedJson) -> Manifest:
        ref, place, source, remote_id, labels, references, protect, exempt, added, holes = held
        begin, end, total, declared_id = place
        # Filled in here, because a changed secret is a miss.
        filled = [(path, Template(tuple(map(self._part, parts)))) for path, parts in holes]
        opened = partial(_opened_spec, self.specs, begin, end, filled)
        file, line, column, item = source
        return Manifest(
            Ref(*ref),
            cast("dict[str, Json]", Unopened(opened, total, declared_id, not holes)),
            Source(file, line, column, _member(item)),
            remote_id=remote_id,
            labels=labels,
            references=frozenset(Ref(*reference) for reference in references),
            protect=protect,
            exempt={
                code: Exemption(why, None if day is None else date.fromisoformat(day))
                for code, (why, day) in exempt.items()
            },
            added=added,
        )

    def _part(self, held: CachedJson) -> str | SecretHole | RefHole:
        if isinstance(held, str):
            return held
        word, *rest = held
        if word == "ref":
            return RefHole(Ref(*rest))
        name, had_value = rest
        hole = value_of_secret(name, self.scope if had_value else self.scope.without_secrets)
        if had_value and self.cache.sign(hole.value) != self.seals[name]:
            raise _Missed
        return hole


def _opened_spec(
    specs: bytes, begin: int, end: int, filled: Sequence[tuple[Sequence[str | int], Template]]
) -> dict[str, Json]:
    """Return one `spec` with its templates in their places."""
    spec: dict[str, Json] = json.loads(zlib.decompress(specs[begin:end]))
    for path, template in filled:
        inside: Any = spec
        for step in path[:-1]:
            inside = inside[step]
        inside[path[-1]] = template
    return spec


def _plain(value: object) -> CachedJson:
    """Return what JSON has no form for as a list of its fields, a day as text."""
    match value:
        case date():
            return value.isoformat()
        case Severity():
            return value.value
        case Complaint(suggestion=suggestion):
            return [isinstance(suggestion, Advice), *_values_of(value)]
        case _:
            return _values_of(value)


def _values_of(record: Any) -> list[Any]:
    return [getattr(record, field.name) for field in fields(record)]


def _complained(held: CachedJson) -> Complaint:
    is_advice, file, line, column, code, message, meant, severity, *others, item, begun = held
    excerpt, ref, path, environments = others
    return Complaint(
        file,
        line,
        column,
        code,
        message,
        Advice(meant) if is_advice else meant,
        Severity(severity),
        None if excerpt is None else _excerpt(*excerpt),
        ref,
        tuple(path),
        tuple(environments),
        _member(item),
        begun,
    )


def _excerpt(lines: CachedJson, start: int, width: int) -> Excerpt:
    return Excerpt(tuple((number, text) for number, text in lines), start, width)


def _member(held: CachedJson) -> Member | None:
    return None if held is None else Member(*held)
